"""Samples that carry no interval: the estimate and the reason are printed, and a method by name gives an interval."""

import json
import re
from io import BytesIO

import numpy as np
import pytest

from rocmax.display import write_report
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import (
    Bootstrap,
    FPRAtTPR,
    LogAUC,
    PartialAUC,
    ROCAccumulator,
    SmoothedAUC,
    TPRAtFPR,
    auc_sample_size,
    compare,
    cross_validated_auc,
    infer,
    mrmc_analysis,
)

REFUSED = [
    (TPRAtFPR(0), "score", "no negatives beyond the threshold, however many there are"),
    (FPRAtTPR(1), "score", "no positives beyond the threshold, however many there are"),
    (TPRAtFPR(0.002), "score", "only 0.2 negatives beyond the threshold, an interval needs 0.3"),
    (PartialAUC((0.0, 0.002)), "score", "only 0.2 negatives in the range, an interval needs 0.3"),
    (LogAUC(0.0001, 0.1), "score", "only 0.01 negatives below FPR 0.0001, an interval needs 0.05"),
    (SmoothedAUC("hull"), "bootstrap", "the area under the concave hull is biased upwards"),
    (SmoothedAUC("density"), "bootstrap", "kernel densities move the classes closer together"),
]
KEPT = [TPRAtFPR(0.003), PartialAUC((0.0, 0.003)), LogAUC(0.001, 0.1)]


def data():
    rng, y = np.random.default_rng(0), np.arange(120) < 20
    return y, rng.normal(size=(120, 3)) + y[:, None]


def quietly(function, *args, **options):
    with pytest.warns(CoverageWarning):
        return function(*args, **options)


@pytest.mark.parametrize(("measure", "method", "reason"), REFUSED, ids=repr)
def test_the_point_is_printed_with_the_reason(measure, method, reason):
    y, s = data()
    with pytest.warns(CoverageWarning, match=rf"has no interval: {reason}.*; method='{method}' gives one"):
        found = infer(y, s[:, 0], measure, null_value=0.5)
    assert found.estimate == measure(y, s[:, 0])
    assert found.no_interval == reason
    assert np.isnan([*found.confidence_interval, found.standard_error, found.pvalue]).all()
    line = str(found).splitlines()[0]
    assert f"(no 95 % CI: {reason}" in line and "not available" not in line and "p " not in line
    untested = f"(no 95 % CI: {reason}, and no two-sided test against 0.5"
    assert untested in line and f"{untested}; 20 positive, 100 negative samples)" in found.summary()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["confidence_interval"] == [None, None] and plain["no_interval"] == reason
    assert found.rows()[0]["no_interval"] == reason
    assert found.references == []
    several = quietly(infer, y, s, measure)
    assert reason in str(several).splitlines()[0] and reason in several.summary() and "no two-sided" not in str(several)
    np.testing.assert_array_equal(several.estimate, measure(y, s))


@pytest.mark.parametrize(("measure", "method", "reason"), REFUSED, ids=repr)
def test_differences_have_no_test_either(measure, method, reason):
    y, s = data()
    two = quietly(compare, y, s[:, :2], measure)
    apart = quietly(compare, {"a": y, "b": y}, {"a": s[:, 0], "b": s[:, 1]}, measure)
    for found in (two, apart):
        assert found.difference == pytest.approx(measure(y, s[:, 0]) - measure(y, s[:, 1]), abs=1e-15)
        assert np.isnan([*found.confidence_interval, found.pvalue]).all() and found.covariance is None
        assert f"(no 95 % CI: {reason}, and no test" in str(found).splitlines()[0]
        assert f"no 95 % CI: {reason}, and no test; 20 positive" in found.summary()
    three = quietly(compare, y, s, measure)
    assert len(three.pairs) == 3 and three.joint is None and reason in str(three)
    assert [row["no_interval"] for row in three.rows()] == [reason] * 3
    json.dumps(three.to_dict(), allow_nan=False)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize(("measure", "method", "reason"), REFUSED, ids=repr)
def test_a_method_by_name_gives_one(measure, method, reason):
    y, s = data()
    if measure == SmoothedAUC("density"):  # seconds of densities; the hull has the default's
        method = Bootstrap(100)
    low, high = infer(y, s[:, 0], measure, method=method, random_state=0).confidence_interval
    assert low < high
    differences = {"score": "profile"}.get(method, method)
    tested = compare(y, s[:, :2], measure, method=differences, random_state=0)
    assert tested.confidence_interval.low < tested.confidence_interval.high and 0 < tested.pvalue <= 1


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("measure", KEPT, ids=repr)
def test_a_little_more_data_carry_one(measure):
    y, s = data()
    found = infer(y, s[:, 0], measure)
    assert found.no_interval is None and found.confidence_interval.low < found.confidence_interval.high
    assert "no_interval" not in found.rows()[0]


def test_effective_sizes_decide():
    """Clusters of equal scores are as few negatives as there are clusters."""
    y, s = data()
    positive, score, group = np.repeat(y, 5), np.repeat(s[:, 0], 5), np.repeat(np.arange(120), 5)
    assert infer(y, s[:, 0], TPRAtFPR(0.01)).no_interval is None
    few = quietly(infer, positive, score, TPRAtFPR(0.002), groups=group)
    assert few.no_interval is not None and "an interval needs 0.3" in few.no_interval


def test_a_subgroup_without_an_interval_leaves_the_pooled_one_out():
    y, s = data()
    by = np.where(np.arange(120) % 6 == 0, "small", np.where(np.arange(120) % 2, "a", "b"))
    found = quietly(infer, y, s[:, 0], TPRAtFPR(0.01), by=by)
    why = found.subgroups["small"].no_interval
    assert "only 0.16 negatives" in why and found.no_interval == "subgroup small has none"
    assert np.isnan(found.pool("equal").standard_error) and found.equality.n_compared == 2
    rows = {row["subgroup"]: row["no_interval"] for row in found.rows()}
    assert rows == {"a": "", "b": "", "small": why, "pooled": "subgroup small has none"}
    assert f"(no 95 % CI: {why}; 4 positive, 16 negative samples)" in found.summary() and why in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    for columns in (s[:, :2], s):
        tested = quietly(compare, y, columns, TPRAtFPR(0.01), by=by)
        assert tested.no_interval == "subgroup small has none" and why in str(tested)
        assert tested.equality.n_compared == 2 and 0 < tested.equality.pvalue < 1
        json.dumps(tested.to_dict(), allow_nan=False)


def test_counts_and_reports():
    y, s = data()
    reason = REFUSED[3][2]
    counted = quietly(ROCAccumulator().update(y, s[:, 0]).result, PartialAUC((0.0, 0.002)))
    assert counted.no_interval == reason
    file = BytesIO()
    by = np.arange(120) % 2
    quietly(write_report, file, y, {"a": s[:, 0], "b": s[:, 1]}, fpr_range=(0.0, 0.002), by=by)
    page = file.getvalue().decode()
    assert f"no interval: {reason}" in page and not re.search(r"<td>[^<]*nan", page)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.CoverageWarning")
def test_pooled_rates_sum_score_intervals():
    """Their limits at level 0 and at 95 %, summed with the shares; one negative beyond a threshold is too few."""
    y, s = data()
    by = np.arange(120) % 2
    found = infer(y, s[:, 0], TPRAtFPR(0.1), by=by, null_value=0.5)
    ends = np.array(
        [
            infer(y[by == k], s[by == k, 0], TPRAtFPR(0.1), confidence_level=level).confidence_interval
            for level in (1e-9, 0.95)
            for k in (0, 1)
        ]
    ).reshape(2, 2, 2)
    middle, low, high = ends[0], ends[1, :, 0], ends[1, :, 1]
    expected = (
        middle[:, 0].mean() - np.hypot(*(middle[:, 0] - low)) / 2,
        middle[:, 1].mean() + np.hypot(*(high - middle[:, 1])) / 2,
    )
    assert found.confidence_interval == pytest.approx(expected, abs=1e-6)
    assert found.pool("pairs").confidence_interval == pytest.approx(expected, abs=1e-6)
    for end in found.confidence_interval:
        at = [infer(y, s[:, 0], TPRAtFPR(0.1), by=by, null_value=end + step).pvalue for step in (-1e-4, 1e-4)]
        assert min(at) <= 0.05 <= max(at)
    one = infer(y, s[:, 0], TPRAtFPR(0.03), by=by)
    reason = "subgroup 0 has only 1.5 negatives beyond the threshold, a pooled rate needs 2"
    assert one.no_interval == reason and all(each.no_interval is None for each in one.subgroups.values())
    assert compare(y, s, TPRAtFPR(0.03), by=by).no_interval == reason
    assert infer(y, s[:, 0], TPRAtFPR(0.03), by=by, method="score").no_interval is None


def test_a_reason_counts_effective_samples_and_a_warning_all_of_them():
    rng = np.random.default_rng(0)
    pairs = np.array([(i, j) for i in range(30) for j in range(i + 1, 30)])
    y = rng.random(len(pairs)) < 0.1
    s = rng.normal(size=len(y)) + 2.0 * y
    for high in (0.01, 0.0005):  # of 391 negatives 3.9 are in the range, or .2, which are too few as well
        with pytest.warns(CoverageWarning, match="has no interval") as caught:
            found = infer(y, s, PartialAUC((0.0, high)), groups=pairs)
        assert found.no_interval is not None and found.no_interval.endswith("an interval needs 0.3 (effective numbers)")
        assert high < 0.01 or not any("below 1 / n_neg" in str(one.message) for one in caught)


def test_a_test_of_equality_names_the_subgroup_without_an_interval():
    y, s = np.repeat([True, False], 60), np.random.default_rng(4).normal(size=120) + np.repeat([1.0, 0.0], 60)
    by = np.tile(np.repeat(["many", "few"], [50, 10]), 2)
    with pytest.warns(CoverageWarning, match="has no interval"):
        found = infer(y, s, PartialAUC((0.0, 0.02)), by=by)
    assert "no test, because subgroup few has no interval" in str(found) and "''" not in str(found)


@pytest.mark.parametrize("average", ["macro", None])
@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        (TPRAtFPR, "no negatives beyond the threshold, however many there are"),
        (
            lambda fpr, **of: PartialAUC((0, fpr + 0.003), **of),
            "only 0.24 negatives in the range, an interval needs 0.3",
        ),
    ],
)
def test_several_classes_have_none_if_one_comparison_has_none(measure, reason, average):
    y, s = np.arange(120) % 3, data()[1]
    asked = measure(0, multi_class="ovr", average=average)
    with pytest.warns(CoverageWarning, match=rf"{reason}.*; method='logit-delong' gives one"):
        found = infer(y, s, asked)
    assert found.no_interval == reason and reason in str(found) and np.isnan([*found.confidence_interval]).all()
    np.testing.assert_array_equal(found.estimate, asked(y, s))
    json.dumps(found.to_dict(), allow_nan=False)
    fold = np.arange(120) // 3 % 4
    assert quietly(cross_validated_auc, y, s, asked, fold=fold).no_interval.startswith("a fold has ")
    if average is not None:
        tested = quietly(compare, y, {"a": s, "b": -s}, asked)
        assert tested.no_interval == reason and tested.difference == asked(y, s) - asked(y, -s)


def test_no_number_of_negatives_suffices_at_an_edge():
    """Neither more samples, nor clusters, weights and subgroups, and no study is planned for it."""
    y, s = np.tile(data()[0], 50), np.random.default_rng(1).normal(size=6000)
    for measure in (TPRAtFPR(0), FPRAtTPR(1)):
        reason = measure.refusal((1.0, 1.0))
        for options in (
            {"groups": np.arange(6000) // 7},
            {"sample_weight": np.arange(6000) % 5 + 0.5, "weight_kind": "sampling"},
            {"by": np.arange(6000) % 2},
        ):
            found = quietly(infer, y, s, measure, **options)
            one = found.subgroups[0] if "by" in options else found
            assert one.no_interval == reason and found.no_interval is not None
        for plan in (
            lambda measure=measure: auc_sample_size(0.9, measure=measure),
            lambda measure=measure: auc_sample_size(pilot=(y, s), measure=measure),
        ):
            with pytest.raises(ValueError, match=f"has no test to plan: {reason}; plan for a less extreme rate"):
                plan()


def test_folds_with_few_samples():
    y, s = data()
    fold = np.arange(120) % 5
    found = quietly(cross_validated_auc, y, s[:, 0], TPRAtFPR(0.01), fold=fold)
    assert found.no_interval == "a fold has only 0.2 negatives beyond the threshold, an interval needs 0.3"
    assert np.isnan([*found.confidence_interval, found.standard_error]).all() and 0 <= found.estimate <= 1
    assert cross_validated_auc(y, s[:, 0], TPRAtFPR(0.1), fold=fold).no_interval is None


def test_readers_with_few_cases():
    y, s = data()
    study = {
        "reader": np.tile(np.repeat(["a", "b"], 120), 2),
        "modality": np.repeat(["x", "y"], 240),
        "case": np.tile(np.arange(120), 4),
    }
    ratings = np.concatenate([s[:, 0], s[:, 1], s[:, 2], s[:, 0] + s[:, 1]])
    found = quietly(mrmc_analysis, np.tile(y, 4), ratings, TPRAtFPR(0.002), **study)
    assert found.no_interval == REFUSED[2][2] and found.no_interval in str(found)
    assert np.isnan([found.pvalue, *found.differences[0].confidence_interval]).all()
    assert np.isnan([one.standard_error for one in found.mean_inference]).all()
    assert "Note" not in found.summary() and "nan" not in found.summary()
    assert f" No interval and no test: {found.no_interval}." in found.summary()
    json.dumps(found.to_dict(), allow_nan=False)
    named = mrmc_analysis(np.tile(y, 4), ratings, TPRAtFPR(0.002), covariance="jackknife", **study)
    assert named.no_interval is None and named.pvalue >= 0
