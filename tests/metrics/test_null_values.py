"""One measure tested against a number: every p-value is dual to the interval of its method."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from profiles import cases
from rocmax.metrics import (
    AUC,
    Bootstrap,
    EqualErrorRate,
    FPRAtTPR,
    MarginAUC,
    NetBenefit,
    PartialAUC,
    RecallAt,
    ROCAccumulator,
    TPRAtFPR,
    compare,
    infer,
    mrmc_analysis,
)

pytestmark = pytest.mark.filterwarnings("ignore:there are", "ignore:the interval has zero width")
N = 90
FEW = {"method": Bootstrap(500), "random_state": 0}


def samples(seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.4
    return y, np.round(rng.normal(size=N) + y, digits), np.round(rng.normal(size=N) + 0.7 * y, digits)


METHODS = {
    "delong": {"method": "delong"},
    "logit": {"method": "logit-delong"},
    "newcombe": {"method": "newcombe"},
    "score": {"method": "score"},
    "obuchowski": {"method": "obuchowski"},
    "partial by delong": {"method": "delong", "measure": PartialAUC((0, 0.3))},
    "partial by logit": {"method": "logit-delong", "measure": PartialAUC((0, 0.3))},
    "partial by score": {"method": "score", "measure": PartialAUC((0, 0.3))},
    "mcclish": {"method": "score", "measure": PartialAUC((0.1, 0.5), normalize="mcclish")},
    "sensitivities": {"method": "score", "measure": PartialAUC(tpr_range=(0.6, 1.0), normalize=None)},
    "tpr": {"method": "score", "measure": TPRAtFPR(0.3)},
    "fpr": {"method": "score", "measure": FPRAtTPR(0.7)},
    "tpr by logit": {"method": "logit-delong", "measure": TPRAtFPR(0.3)},
    "scored": {"method": "logit-delong", "measure": "scored_auc"},
    "wu": {"method": "wu", "measure": "scored_auc"},
    "margin": {"measure": MarginAUC(0.2)},
    "weights": {"sample_weight": 1.0 + np.arange(N) % 3},
    "sampling": {"sample_weight": 0.5 + np.arange(N) % 3, "weight_kind": "sampling"},
    "groups": {"groups": np.arange(N) // 2},
    # Of a measure whose replicates have no ties; of others see below.
    "percentile": FEW | {"measure": "scored_auc"},
    "bca": FEW | {"measure": "scored_auc", "method": Bootstrap(500, interval="bca")},
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("level", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)
def test_tests_are_dual_to_intervals(options, level, seed):
    y, s, _ = samples(seed, digits=1 if "method" not in options else 4)
    low, high = infer(y, s, confidence_level=level, **options).confidence_interval
    for end, side in ((low, "greater"), (high, "less")):
        one = infer(y, s, null_value=end, alternative=side, **options)
        assert one.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
        assert (one.null_value, one.alternative) == (end, side)
        assert infer(y, s, null_value=end, **options).pvalue == pytest.approx(1 - level, abs=1e-10)
    middle, reach = (low + high) / 2, (high - low) / 2
    within = {"null_value": middle, "alternative": "equivalence"}
    touching = infer(y, s, margin=reach, **options, **within)
    assert touching.pvalue == pytest.approx((1 - level) / 2, abs=1e-10)
    assert touching.margin == reach
    assert infer(y, s, margin=1.5 * reach, **options, **within).pvalue < (1 - level) / 2


SHIFTS = [(0, 2, 9), (1, 1, 2), (0, 9, 9), (9, 9, 9)]  # of the positives of three subgroups


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("groups", [None, np.tile(np.arange(12), 3)], ids=["apart", "crossed"])
@pytest.mark.parametrize("measure", [AUC(), TPRAtFPR(0.3), EqualErrorRate(), NetBenefit(0.2), MarginAUC(0.2)], ids=str)
def test_tests_of_small_subgroups_are_dual_to_intervals(measure, groups):
    """The pooled measure too, where a subgroup holds one sample of a class or separates the classes."""
    n_tested, by = 0, np.repeat(np.arange(3), 12)
    for seed, n_pos in enumerate(cases((1, 5), (1, 3, 5, 5))):
        rng = np.random.default_rng(seed)
        y = np.tile(np.arange(12) < n_pos, 3)
        s = np.round(rng.normal(size=36) + np.array(SHIFTS[seed])[by] * y, rng.integers(0, 3))
        given = {"y_true": y, "y_score": expit(s), "measure": measure, "by": by, "groups": groups}
        found = infer(**given)
        ends = found.confidence_interval
        for null in () if found.no_interval else (end + step for end in ends for step in (-1e-6, 1e-6)):
            if found.measure.bounds[0] < null < found.measure.bounds[1]:
                pvalue = infer(**given, null_value=null).pvalue
                assert (pvalue < 0.05) == is_outside(ends, null, "two-sided"), (seed, null)
                n_tested += 1
    assert n_tested > cases(2, 4)


@pytest.mark.filterwarnings("ignore:all resamples have", "ignore:average precision is biased")
@pytest.mark.parametrize("method", ["logit-delong", FEW["method"]], ids=["logit", "bootstrap"])
@pytest.mark.parametrize("measure", [PartialAUC((0, 0.3)), "average_precision", TPRAtFPR(0.3), RecallAt(5)], ids=str)
def test_tests_of_separated_classes_are_dual_to_intervals(measure, method):
    y = np.arange(40) < 10
    given = {"y_true": y, "y_score": np.sin(np.arange(40)) + 3 * y, "measure": measure, "method": method}
    low, high = infer(**given, random_state=0).confidence_interval
    assert low < high
    assert infer(**given, random_state=0, null_value=low).pvalue == pytest.approx(0.05, abs=1e-10)


@pytest.mark.parametrize("groups", [None, np.arange(N) // 2], ids=["apart", "clusters"])
@pytest.mark.parametrize("measure", [PartialAUC((0, 0.3)), TPRAtFPR(0.2), "average_precision"], ids=str)
def test_several_models_are_tested_as_each_alone(measure, groups):
    y, a, b = samples()
    given = {"measure": measure, "groups": groups, "null_value": 0.4}
    scores = np.column_stack([a, b, a > 1])
    found = infer(y, scores, **given)
    for one, statistic, pvalue in zip(scores.T, found.statistic, found.pvalue, strict=True):
        alone = infer(y, one, **given)
        assert (statistic, pvalue) == pytest.approx((alone.statistic, alone.pvalue), abs=1e-9)


def is_outside(interval, value, alternative):
    return (alternative != "less" and value < interval.low) or (alternative != "greater" and value > interval.high)


@pytest.mark.parametrize("digits", [0, 3])
@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_percentiles_reject_what_they_leave_out(kind, digits):
    """At every level of a grid: the p-value is at most alpha if, and only if, the interval does not hold the value."""
    y, s, _ = samples(2, digits)
    # So small samples that the replicates have many ties.
    y, s = y[:20], s[:20]
    what = {"method": Bootstrap(500, interval=kind), "random_state": 0}
    nulls = np.unique(np.concatenate([np.linspace(0.3, 1.0, 29), infer(y, s, **what).replicates[:20]]))
    for alternative in ("two-sided", "less", "greater"):
        tails = 1 if alternative == "two-sided" else 2
        alphas = np.array([0.0113, 0.031, 0.05, 0.1003, 0.25, 0.4])
        intervals = [infer(y, s, confidence_level=1 - tails * a, **what).confidence_interval for a in alphas]
        for null in nulls:
            found = infer(y, s, null_value=null, alternative=alternative, **what)
            outside = [is_outside(interval, null, alternative) for interval in intervals]
            np.testing.assert_array_equal(found.pvalue <= alphas, outside, err_msg=f"{alternative} {null}")


@pytest.mark.parametrize(("measure", "paired"), [("auc", True), ("auc", False), ("scored_auc", True)])
def test_bootstrapped_differences_reject_what_they_leave_out(measure, paired):
    y, a, b = samples(1)
    given = (y if paired else {"a": y, "b": samples()[0]}), {"a": a, "b": b}, measure
    alphas = np.array([0.011, 0.0503, 0.1, 0.3])
    for alternative in ("two-sided", "less", "greater"):
        tails = 1 if alternative == "two-sided" else 2
        intervals = [compare(*given, confidence_level=1 - tails * alpha, **FEW).confidence_interval for alpha in alphas]
        found = compare(*given, alternative=alternative, **FEW)
        outside = [is_outside(interval, 0.0, alternative) for interval in intervals]
        np.testing.assert_array_equal(found.pvalue <= alphas, outside)
    for margin in np.linspace(0.02, 0.4, 20):
        found = compare(*given, alternative="non-inferiority", margin=margin, **FEW)
        outside = [is_outside(interval, -margin, "greater") for interval in intervals]
        np.testing.assert_array_equal(found.pvalue <= alphas, outside)
    same = compare(*given, alternative="equivalence", margin=max(np.abs(intervals[1])), **FEW)
    assert same.pvalue == pytest.approx(alphas[1], abs=1e-10)


def test_bootstrapped_pairs_are_comparisons():
    y, a, b = samples(1)
    joint = compare(y, np.column_stack([a, b]), adjust=None, **FEW)
    one = compare(y, {"a": a, "b": b}, **FEW)
    assert joint.pvalue == pytest.approx(one.pvalue, abs=1e-12)
    # A reader study's bootstrap gives covariances only: its tests and intervals are those of Student's t.
    case = np.tile(np.arange(N), 4)
    study = {
        "y_true": np.tile(y, 4),
        "y_score": np.concatenate([a, b, b[::-1], a + b]),
        "reader": np.repeat([0, 1, 0, 1], N),
        "modality": np.repeat([0, 0, 1, 1], N),
        "case": case,
        "covariance": "bootstrap",
        "n_resamples": 100,
        "random_state": 0,
    }
    level = 1 - mrmc_analysis(**study).pvalue
    ends = mrmc_analysis(**study, confidence_level=level).differences[0].confidence_interval
    assert np.abs(ends).min() == pytest.approx(0.0, abs=1e-10)


def test_statistics_are_those_of_the_formulas():
    y, s, _ = samples()
    found = infer(y, s, method="delong", null_value=0.6)
    assert found.statistic == (found.estimate - 0.6) / found.standard_error
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(found.statistic)), rel=1e-12)
    found = infer(y, s, method="newcombe", null_value=0.6)
    a, m, n = 0.6, y.sum(), (~y).sum()
    variance = a * (1 - a) / (m * n) * (1 + ((m + n) / 2 - 1) * ((1 - a) / (2 - a) + a / (1 + a)))
    assert found.statistic == pytest.approx((found.estimate - 0.6) / np.sqrt(variance), rel=1e-12)
    # A rate is binomial where the threshold is known: far more negatives than positives. Below 0.7 it is skewed.
    rng = np.random.default_rng(0)
    y, s = np.repeat([True, False], [20, 200_000]), rng.normal(size=200_020)
    found = infer(y, s, TPRAtFPR(0.5), method="score", null_value=0.7)
    error, z = np.sqrt(0.7 * 0.3 / 20), -found.statistic
    skew = (0.7 - 0.3) / np.sqrt(20 * 0.7 * 0.3)
    assert z + skew * (z**2 - 1) / 6 == pytest.approx((0.7 - found.estimate) / error, rel=1e-2)


@pytest.mark.parametrize("options", [METHODS["delong"], METHODS["logit"], METHODS["partial by score"]])
def test_many_models_and_classes(options):
    y, a, b = samples(3)
    many = infer(y, np.column_stack([a, b]), null_value=0.55, alternative="greater", **options)
    for k, s in enumerate((a, b)):
        one = infer(y, s, null_value=0.55, alternative="greater", **options)
        assert many.statistic[k] == pytest.approx(one.statistic, rel=1e-9)
        assert many.pvalue[k] == pytest.approx(one.pvalue, rel=1e-9)
    if "measure" in options:
        return
    classes = np.arange(N) % 3
    scores = np.random.default_rng(0).normal(size=(N, 3)) + np.eye(3)[classes]
    for average in ("macro", None):
        what = {"measure": AUC(multi_class="ovr", average=average), **options}
        low = infer(classes, scores, confidence_level=0.9, **what).confidence_interval.low
        null = float(np.min(low))
        found = infer(classes, scores, null_value=null, alternative="greater", **what).pvalue
        assert np.max(found) == pytest.approx(0.05, abs=1e-10)
    boot = infer(classes, scores, AUC(multi_class="ovr"), null_value=0.5, **FEW)
    assert boot.pvalue == 2 / 501  # no replicate in 500 lies beyond


def test_the_ends_of_what_a_measure_can_be():
    y, s = np.repeat([0, 1], [12, 15]), np.arange(27.0)
    for method in ("delong", "logit-delong", "newcombe", "score"):
        assert infer(y, s, method=method, null_value=1.0).pvalue == 1.0
        assert infer(y, s, method=method, null_value=0.0).pvalue < 1e-10
        assert infer(y, s, method=method, null_value=0.5).pvalue < 1e-3
        # No area is above 1: only the lower end can fail.
        near = {"alternative": "equivalence", "margin": 0.3}
        assert infer(y, s, method=method, null_value=0.9, **near).pvalue == (
            infer(y, s, method=method, null_value=0.9 - 0.3, alternative="greater").pvalue
        )
    with pytest.warns(UserWarning, match="all resamples have the same value"):
        assert infer(y, s, null_value=0.5, **FEW).pvalue < 1e-3


def test_data_in_parts_are_tested_alike():
    y, s, _ = samples()
    held = ROCAccumulator().update(y, s)
    for options in ({}, {"measure": PartialAUC((0, 0.3))}, {"measure": TPRAtFPR(0.3)}, {"method": "newcombe"}):
        whole = infer(y, s, null_value=0.6, alternative="less", **options)
        assert held.result(**options, null_value=0.6, alternative="less").pvalue == pytest.approx(
            whole.pvalue, rel=1e-9
        )


def test_the_test_in_words():
    y, s, other = samples()
    found = infer(y, s, null_value=0.5)
    assert str(found).splitlines()[0].endswith("(95 % CI), p < 0.001 (two-sided test against 0.5)")
    assert found.summary().endswith(", p < 0.001 (two-sided test against 0.5).")
    assert found.to_dict()["pvalue"] == found.rows()[0]["pvalue"] == found.pvalue
    many = infer(y, np.column_stack([s, other]), null_value=0.7, alternative="greater")
    assert [row["pvalue"] for row in many.rows()] == many.pvalue.tolist()
    assert many.summary().count("p of a one-sided test, greater than 0.7") == 1 and many.summary().count(", p = ") == 2


def test_no_value_no_test():
    y, s, _ = samples()
    found = infer(y, s)
    assert (found.statistic, found.pvalue, found.null_value, found.alternative) == (None, None, None, None)


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.4)), TPRAtFPR(0.3)], ids=str)
def test_level_of_one_sided_tests(measure):
    """A test that the measure is greater than what it is rejects about one time in twenty."""
    curve = stats.norm.sf(stats.norm.isf(np.linspace(0, 0.4, 4001)[1:]) - 1)
    truth = {
        AUC(): stats.norm.cdf(np.sqrt(0.5)),
        PartialAUC((0, 0.4)): curve.mean(),
        TPRAtFPR(0.3): stats.norm.sf(stats.norm.isf(0.3) - 1),
    }[measure]
    rng = np.random.default_rng(0)
    y, n = np.repeat([0, 1], 60), cases(150, 500)
    rejected = sum(
        infer(y, rng.normal(size=120) + y, measure, null_value=truth, alternative="greater").pvalue < 0.05
        for _ in range(n)
    )
    assert cases(0.005, 0.02) <= rejected / n <= cases(0.1, 0.09)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"null_value": 1.2}, r"null_value must be a number that the measure can be, in \[0, 1\], got 1.2"),
        ({"null_value": "half"}, "null_value must be a number"),
        ({"null_value": np.inf, "measure": "scored_auc"}, "null_value must be a number"),
        ({"alternative": "less"}, "alternative='less' needs a null_value"),
        (
            {"null_value": 0.5, "alternative": "equivalence"},
            "margin goes with alternative='non-inferiority'",
        ),
        ({"null_value": 0.5, "margin": 0.1}, "margin goes with alternative='non-inferiority'"),
        ({"null_value": 0.5, "alternative": "unlike"}, "alternative must be one of"),
    ],
)
def test_bad_hypotheses_are_refused(options, message):
    y, s, _ = samples()
    with pytest.raises(ValueError, match=message):
        infer(y, s, **options)


@pytest.mark.parametrize("measure", ["auc", PartialAUC((0, 0.2))])
@pytest.mark.parametrize(("alternative", "end"), [("greater", 0), ("less", 1)])
def test_a_one_sided_bound_is_an_end_of_a_wider_interval(measure, alternative, end):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    s = rng.normal(size=120) + y
    bound = infer(y, s, measure, confidence_level=0.9).confidence_interval[end]
    found = infer(y, s, measure, null_value=bound, alternative=alternative)
    assert found.pvalue == pytest.approx(0.05, rel=1e-6)
    assert found.confidence_interval == infer(y, s, measure).confidence_interval
