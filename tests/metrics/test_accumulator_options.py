"""ROCAccumulator: low scores for positives, and missing values."""

import pickle

import numpy as np
import pytest

from rocmax.metrics import FPRAtTPR, NetBenefit, ROCAccumulator, TPRAtFPR, infer, roc_curve

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 300)
S = np.round(rng.normal(size=300) - Y, 1)
W = rng.integers(1, 4, 300).astype(float)


def parts(accumulator, y, s, w):
    for rows in np.array_split(np.arange(len(y)), 7):
        accumulator.update(y[rows], s[rows], sample_weight=None if w is None else w[rows])
    return accumulator


@pytest.mark.parametrize("measure", ["auc", TPRAtFPR(0.1), FPRAtTPR(0.9)])
@pytest.mark.parametrize("weight", [None, W])
def test_low_scores_for_positives_are_those_of_infer(measure, weight):
    found = parts(ROCAccumulator(higher_is_better=False), Y, S, weight)
    expected = infer(Y, S, measure, sample_weight=weight, higher_is_better=False)
    for accumulator in (found, pickle.loads(pickle.dumps(found)), ROCAccumulator(higher_is_better=False).merge(found)):
        one = accumulator.result(measure)
        assert (one.estimate, one.higher_is_better) == (expected.estimate, False)
        assert one.threshold == expected.threshold
        np.testing.assert_allclose(one.confidence_interval, expected.confidence_interval)


@pytest.mark.parametrize("max_error", [None, 1e-4])
def test_thresholds_compare_with_single_scores_as_in_numpy(max_error):
    p = np.round(rng.random(20_000), 2).astype(np.float32)
    y = (rng.random(20_000) < p).astype(int)
    found = parts(ROCAccumulator(max_error=max_error), y, p, None)
    score, place = np.unique(p, return_inverse=True)
    pos, neg = (np.bincount(place, y == label, len(score)) for label in (1, 0))
    counted = ROCAccumulator.from_counts(score, pos, neg)
    for t in (np.arange(1, 100) / 100).tolist():
        acted = p >= t
        expected = np.mean(acted & (y == 1)) - np.mean(acted & (y == 0)) * t / (1 - t)
        for one in (
            found,
            pickle.loads(pickle.dumps(found)),
            ROCAccumulator(max_error=max_error).merge(found),
            counted,
        ):
            assert one.result(NetBenefit(t), method="delong").estimate == pytest.approx(expected)
    one = found.update([0, 1], [0.25, 0.75])  # in float64, and so are all from now on
    acted = p.astype(float) >= 0.03
    assert one.result(NetBenefit(0.03)).estimate == pytest.approx(
        ((acted & (y == 1)).sum() + 1 - ((acted & (y == 0)).sum() + 1) * 0.03 / 0.97) / 20_002
    )


def test_curve_and_counts_of_low_scores():
    found = parts(ROCAccumulator(higher_is_better=False), Y, S, None)
    fpr, tpr, thresholds = roc_curve(Y, -S, drop_intermediate=False)
    for one, expected in zip(found.curve(), (fpr, tpr, -thresholds), strict=True):
        np.testing.assert_array_equal(one, expected)
    values = np.unique(S)
    counts = [[((value == S) & (label == Y)).sum() for value in values] for label in (1, 0)]
    counted = ROCAccumulator.from_counts(values, *counts, higher_is_better=False)
    assert counted.merge(ROCAccumulator(higher_is_better=False)).result().estimate == found.result().estimate
    np.testing.assert_array_equal(counted.masses, found.masses)


def test_bins_of_low_scores_keep_the_bound():
    many = rng.normal(size=40_000) - np.repeat([0, 1], 20_000)
    y = np.repeat([0, 1], 20_000)
    found = ROCAccumulator(max_error=0.01, higher_is_better=False).update(y, many).result()
    least, most = found.estimate_bounds
    assert least <= infer(y, many, higher_is_better=False).estimate <= most


def test_missing_samples_are_dropped_and_counted():
    y, s, w = Y.astype(float), S.copy(), W.copy()
    y[3], s[100:143], w[200] = np.nan, np.nan, np.nan  # the third part has no sample that is complete
    with pytest.raises(ValueError, match="got nan at index"):
        parts(ROCAccumulator(), Y, s, None)
    found = parts(ROCAccumulator(missing="drop"), y, s, w)
    result, expected = found.result(), infer(y, s, sample_weight=w, missing="drop")
    assert (result.estimate, result.n_dropped) == (expected.estimate, expected.n_dropped)
    assert result.n_dropped == 45 and "45 dropped with missing values" in result.summary()
    merged = ROCAccumulator().merge(found).merge(found)
    assert merged.result().n_dropped == 90
    assert repr(ROCAccumulator(missing="drop", higher_is_better=False)) == (
        "ROCAccumulator(higher_is_better=False, missing='drop')"
    )


def test_dask_partitions_take_the_options():
    da = pytest.importorskip("dask.array")
    s = np.where(np.arange(300) % 50 == 7, np.nan, S)
    arrays = (da.from_array(values, chunks=100) for values in (Y, s))
    found = ROCAccumulator(missing="drop", higher_is_better=False).update(*arrays).result()
    expected = infer(Y, s, missing="drop", higher_is_better=False)
    assert (found.estimate, found.n_dropped) == (expected.estimate, 6)


def test_options_are_checked():
    with pytest.raises(ValueError, match="higher_is_better must be True or False, got 'no'"):
        ROCAccumulator(higher_is_better="no")
    with pytest.raises(ValueError, match=r"missing must be one of 'raise', 'drop', got 'omit'"):
        ROCAccumulator(missing="omit")
    with pytest.raises(ValueError, match="higher_is_better must agree, got True and False"):
        ROCAccumulator().merge(ROCAccumulator(higher_is_better=False))
