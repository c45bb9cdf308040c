"""surrogate_risk against definitions over all pairs and all orderings."""

import numpy as np
import pytest

import reference_risks
from rocmax import PartialAUCSVC, surrogate_risk
from rocmax.metrics import Samples

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.2, 0.5), (0.4, 1.0)]


def scored(seed, n=30):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    scores = 2.0 * rng.standard_normal(n) if seed % 2 else rng.integers(-3, 4, n) / 2.0  # the latter with ties
    return rng.permutation(y), scores


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
def test_values_are_those_of_the_definitions_and_weights_repeat(surrogate, fpr_range):
    for seed in range(6):
        y, scores = scored(seed)
        found = surrogate_risk(y, scores, fpr_range, surrogate)
        expected = getattr(reference_risks, surrogate)(y, scores, fpr_range)
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.subgradient.sum() == pytest.approx(0.0, abs=1e-12)
        weight = np.random.default_rng(seed).integers(0, 3, len(y))
        weight[[np.argmax(y), np.argmin(y)]] = 1
        one = surrogate_risk(y, scores, fpr_range, surrogate, sample_weight=weight)
        rows = np.repeat(np.arange(len(y)), weight)
        other = surrogate_risk(y[rows], scores[rows], fpr_range, surrogate)
        assert one.value == pytest.approx(other.value, abs=1e-12)
        if surrogate in ("tight", "naive"):
            total = np.bincount(rows, other.subgradient, len(y))
            np.testing.assert_allclose(one.subgradient, total, atol=1e-12)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("surrogate", ["tight", "naive"])
def test_counts_are_the_most_violated_ordering(surrogate, fpr_range):
    for seed in range(6):
        y, scores = scored(seed)
        s, t = scores[y], np.sort(scores[~y])[::-1]
        low, high = reference_risks.ranks(len(t), fpr_range)
        _, subgradient, counts = surrogate_risk(y, scores, fpr_range, surrogate)
        last, pairs = (high if surrogate == "tight" else len(t)), len(s) * (high - low)
        r = np.arange(last + 1)
        gains = np.append(0.0, np.cumsum(t))[r] - np.outer(s, r) + np.maximum(0, np.minimum(r, high) - low)
        of_counts = gains[np.arange(len(s)), counts[y].astype(int)]
        np.testing.assert_allclose(of_counts, gains.max(axis=1), atol=1e-12)
        falling = np.sort(counts[~y])[::-1]
        np.testing.assert_array_equal(falling, [(counts[y] > k).sum() for k in range(len(t))])
        np.testing.assert_allclose(subgradient, np.where(y, -counts, counts) / pairs, atol=1e-15)


def test_it_trains_the_machine_and_reads_labels_and_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 1).astype(int)
    model = PartialAUCSVC((0.0, 0.2), surrogate="tight", C=10.0, tol=1e-6).fit(X, y)
    scores = model.decision_function(X)
    found = surrogate_risk(y, scores, (0.0, 0.2))
    assert 0.5 * float(np.square(model.coef_).sum()) + 10.0 * found.value == pytest.approx(model.objective_, rel=1e-6)
    assert surrogate_risk(Samples(y, scores), None, (0.0, 0.2))[0] == found.value
    assert surrogate_risk(np.where(y, "case", "none"), scores, (0.0, 0.2), pos_label="case").value == found.value
    for given, message in [
        (((0.0, 0.2), "auc"), "surrogate must be one of 'tight', 'naive', 'hinge', 'ramp', 'dc', got 'auc'"),
        (((0.5, 0.2),), "fpr_range must"),
    ]:
        with pytest.raises(ValueError, match=message):
            surrogate_risk(y, scores, *given)
    with pytest.raises(ValueError, match=r"y_score must be finite, got nan at index 0$"):
        surrogate_risk(y, np.full(200, np.nan), (0.0, 0.2))
