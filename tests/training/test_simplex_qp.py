"""The quadratic program over the cuts: optimal to rounding, whatever the cuts, the start and the total."""

import numpy as np
import pytest

from rocmax._core import minimise_on_simplex

TOTALS = [1e-6, 1.0, 1e4, 1e8]


def cuts(kind, rng, k, dim):
    """Return vectors and offsets."""
    vectors, gain = rng.standard_normal((k, dim)), rng.standard_normal(k) * 10.0 ** rng.integers(-6, 3)
    if kind == "duplicated":
        vectors = vectors[rng.integers(0, 1 + k // 3, k)]
    elif kind == "of rank 2":
        vectors = vectors[:, :2] @ rng.standard_normal((2, dim))
    elif kind == "of many scales":
        vectors *= 10.0 ** rng.uniform(-3, 3, (k, 1))
    elif kind == "nearly equal":
        vectors = vectors[:1] + 1e-5 * vectors
    elif kind == "with zero":
        vectors[0], gain[0] = 0.0, 0.0
    elif kind == "all zero":
        vectors[:] = 0.0
    elif kind == "of a hinge":
        samples, w = rng.standard_normal((50, dim)) + 0.5, np.zeros(dim)
        for i in range(k):
            active = samples @ w < 1.0
            vectors[i], gain[i] = -samples[active].sum(axis=0) / 50, active.mean()
            w = w + 0.3 * rng.standard_normal(dim) - 0.5 * vectors[i]
    return vectors, gain


@pytest.mark.parametrize("total", TOTALS)
@pytest.mark.parametrize(
    "kind",
    [
        "random",
        "duplicated",
        "of rank 2",
        "of many scales",
        "nearly equal",
        "with zero",
        "all zero",
        "of a hinge",
    ],
)
def test_no_feasible_direction_descends(kind, total):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        vectors, gain = cuts(kind, rng, int(rng.integers(1, 80)), int(rng.integers(2, 60)))
        gram, start = vectors @ vectors.T, np.zeros(len(gain))
        if seed % 2:
            start[rng.integers(len(start))] = total
        else:  # supports that depend on each other
            start = rng.random(len(start)) * (rng.random(len(start)) < 0.5) + 1e-3
            start *= total / start.sum()
        weights = minimise_on_simplex(gram, gain, total, start, 0.0)
        assert np.all(weights >= 0) and weights.sum() == pytest.approx(total, rel=1e-13)
        # By convexity this gap bounds how far the value is from the minimum.
        gradient = gram.astype(np.longdouble) @ weights - gain
        gap = weights @ (gradient - gradient.min())
        assert gap <= 1e-12 * total * (np.abs(gain).max() + np.max(np.abs(gram) @ weights))


def test_equal_cuts_share_one_weight():
    gram, gain = np.ones((5, 5)), np.array([1.0, 2.0, 2.0, 2.0, 0.0])
    weights = minimise_on_simplex(gram, gain, 3.0, np.array([3.0, 0, 0, 0, 0]), 0.0)
    assert weights[1:4].sum() == pytest.approx(3.0)


def test_a_solution_stays_and_a_loose_tolerance_stops_early():
    rng = np.random.default_rng(0)
    vectors, gain = cuts("of a hinge", rng, 60, 20)
    gram, start = vectors @ vectors.T, np.eye(60)[0] * 100.0
    solved = minimise_on_simplex(gram, gain, 100.0, start, 0.0)
    np.testing.assert_array_equal(minimise_on_simplex(gram, gain, 100.0, solved, 1e-9), solved)
    np.testing.assert_array_equal(minimise_on_simplex(gram, gain, 100.0, start, np.inf), start)


def test_bad_input_is_refused():
    one = np.array([1.0])
    with pytest.raises(ValueError, match="gram has length 4"):
        minimise_on_simplex(np.eye(2), one, 1.0, one, 0.0)
    with pytest.raises(ValueError, match="start has length 2"):
        minimise_on_simplex(np.eye(1), one, 1.0, np.array([0.5, 0.5]), 0.0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"^the inner products of the cuts must be finite, got"):
            minimise_on_simplex(np.array([[bad]]), one, 1.0, one, 0.0)
