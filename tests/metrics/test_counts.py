"""Counts of samples by score, as databases give them, against the samples themselves."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rocmax import metrics
from rocmax.metrics import AUC, AveragePrecision, PartialAUC, ROCAccumulator
from rocmax.metrics.measures import as_measure

MEASURED = [
    *(as_measure(name) for name in ("auc", "scored_auc", "equal_error_rate", "bedroc", "rie")),
    AveragePrecision(),
    PartialAUC((0.1, 0.4)),
    PartialAUC(tpr_range=(0.5, 0.9)),
    PartialAUC((0.0, 0.5), tpr_range=(0.2, 0.9)),
    metrics.TPRAtFPR(0.2),
    metrics.EnrichmentFactor(0.1),
    metrics.PrecisionAt(20),
]


def grouped(y, s, w=None):
    """Return what `SELECT s, sum(w * y), sum(w * (1 - y)) GROUP BY s` gives."""
    w = np.ones(len(y)) if w is None else w
    score, place = np.unique(s, return_inverse=True)
    return score, np.bincount(place, w * y), np.bincount(place, w * ~y)


def draw(seed, n=400):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y, np.round(rng.normal(size=n) + y, 1), rng.integers(0, 4, n), rng.random(n)


@pytest.mark.parametrize("kind", ["none", "counts", "parts"])
@pytest.mark.parametrize("measure", MEASURED, ids=repr)
@pytest.mark.filterwarnings("ignore:alpha times the share of positives")
def test_counts_give_what_the_samples_give(measure, kind):
    y, s, counts, parts = draw(3)
    w = {"none": None, "counts": counts, "parts": parts}[kind]
    held = ROCAccumulator.from_counts(*grouped(y, s, w))
    rows = ROCAccumulator().update(y, s, sample_weight=w)
    expected = metrics.infer(y, s, measure, sample_weight=w, weight_kind="frequency")
    found = held.result(measure, weight_kind="frequency")
    assert found.method == expected.method
    for name in ("estimate", "variance", "confidence_interval"):
        value = getattr(found, name)
        assert value == pytest.approx(getattr(expected, name), rel=1e-11, abs=1e-12), name
        if kind != "parts":  # whole numbers add up in any order
            assert value == getattr(rows.result(measure, weight_kind="frequency"), name), name


@pytest.mark.parametrize("method", ["delong", "logit-delong", "score", "newcombe"])
def test_every_method_of_counts(method):
    y, s, _, _ = draw(4)
    found = ROCAccumulator.from_counts(*grouped(y, s)).result(method=method, null_value=0.7)
    expected = metrics.infer(y, s, method=method, null_value=0.7)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.confidence_interval == pytest.approx(expected.confidence_interval, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.integers(1, 5))
def test_rows_of_one_score_are_added_in_any_order(seed, weighted, n_parts):
    rng = np.random.default_rng(seed)
    y, s, _, w = draw(seed, 120)
    s[rng.random(120) < 0.2] = -0.0
    s[rng.random(120) < 0.2] = 0.0
    place = rng.integers(0, n_parts, 120)
    parts = [grouped(y[place == k], s[place == k], w[place == k] if weighted else None) for k in range(n_parts)]
    rows = np.concatenate([np.stack(part) for part in parts], axis=1)
    rows = np.concatenate([rows, [[7.5, 7.5], [0, 0], [0, 0]]], axis=1)  # nobody has this score
    rows = rows[:, rng.permutation(rows.shape[1])]
    found, expected = (
        ROCAccumulator.from_counts(*rows),
        ROCAccumulator().update(y, s, sample_weight=w if weighted else None),
    )
    np.testing.assert_allclose(found.masses, expected.masses, rtol=0, atol=0 if not weighted else 1e-12)
    for ours, theirs in zip(found.curve(), expected.curve(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_counts_of_machines_are_merged_and_go_on():
    y, s, _, _ = draw(5)
    parts = [ROCAccumulator.from_counts(*grouped(y[k::3], s[k::3])) for k in range(2)]
    total = parts[0].merge(parts[1]).update(y[2::3], s[2::3])
    assert total.result(PartialAUC((0.0, 0.2))) == ROCAccumulator().update(y, s).result(PartialAUC((0.0, 0.2)))
    named = ROCAccumulator.from_counts(*grouped(y, s), pos_label="case")
    assert named.result().pos_label == "case"
    assert named.merge(ROCAccumulator(pos_label="case").update(["case"], [9.0])).masses.sum() == len(y) + 1


def test_arrays_of_engines_are_taken():
    y, s, _, _ = draw(6)
    score, pos, neg = grouped(y, s)
    expected = ROCAccumulator.from_counts(score, pos, neg).masses
    decimals = np.array([Decimal(int(count)) for count in pos], dtype=object)
    np.testing.assert_array_equal(
        ROCAccumulator.from_counts(score.tolist(), decimals, neg.astype(int)).masses, expected
    )
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"score": score, "n_pos": pos.astype(int), "n_neg": neg})
    np.testing.assert_array_equal(ROCAccumulator.from_counts(**frame.to_dict()).masses, expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_pos": [1, -2, 1]}, "n_pos must be counts of 0 or more, got -2 at index 1; count labels by comparison"),
        ({"n_neg": [1, 2, np.nan]}, "n_neg must be counts of 0 or more, got nan at index 2"),
        ({"n_pos": [1, None, 2]}, "n_pos must be counts of 0 or more, got nan at index 1"),
        ({"n_pos": [1, np.inf, 2]}, "n_pos must be counts of 0 or more, got inf at index 1"),
        ({"n_pos": [1, 2]}, r"n_pos must have shape \(3,\), got \(2,\)"),
        ({"n_pos": ["a", "b", "c"]}, "n_pos must be numeric"),
        ({"score": [0.1, np.nan, 0.2]}, r"score must be finite, got nan at index 1; .*\(WHERE score IS NOT NULL\)"),
        ({"score": [0.1, 0.3, -np.inf]}, "score must be finite, got -inf at index 2"),
        ({"score": [[0.1, 0.3, 0.4]]}, "score must be one-dimensional"),
        ({"score": np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])}, "score has 1 masked values"),
    ],
)
def test_bad_counts_are_named(given, message):
    good = {"score": [0.1, 0.3, 0.2], "n_pos": [1, 1, 2], "n_neg": [3, 0, 1]}
    with pytest.raises(ValueError, match=message):
        ROCAccumulator.from_counts(**(good | given))


def test_counts_of_one_class_say_so():
    with pytest.raises(ValueError, match="must have had positives and negatives before a result"):
        ROCAccumulator.from_counts([0.1, 0.2], [0, 0], [1, 2]).result(AUC())
    assert ROCAccumulator.from_counts([], [], []).n_bins == 0


def test_an_empty_accumulator_says_so():
    for empty in (ROCAccumulator(), ROCAccumulator(max_error=0.01), ROCAccumulator.from_counts([1.0], [0], [0])):
        for call in (empty.result, empty.curve):
            with pytest.raises(ValueError, match="before a result, got weights of 0 and 0"):
                call()
    assert repr(ROCAccumulator(max_error=0.01, pos_label="x")) == "ROCAccumulator(max_error=0.01, pos_label='x')"
    assert repr(ROCAccumulator()) == "ROCAccumulator()"


def test_counts_of_no_score_leave_single_scores_single():
    score, t = np.array([0.25, 0.03], np.float32), 0.03  # the second is below 0.03 in float64
    none = ROCAccumulator.from_counts([], [], [])
    for one in (ROCAccumulator(), none):
        found = one.update([0, 1], score).merge(none).result(metrics.NetBenefit(t), method="score")
        assert found.estimate == pytest.approx(0.5 - 0.5 * t / (1 - t))
