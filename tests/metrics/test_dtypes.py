"""Thresholds given as numbers compare in the scores' dtype, as `scores >= t` does; midpoints separate neighbours."""

import numpy as np
import pytest

from rocmax.estimators._base import choose_threshold
from rocmax.metrics import Bootstrap, NetBenefit, compare, infer, operating_point

RNG = np.random.default_rng(0)
P = np.round(RNG.random(2000), 2)
Y = (RNG.random(2000) < P).astype(int)
GRID = np.arange(1, 100) / 100


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("higher", [True, False])
def test_thresholds_compare_in_the_dtype_of_the_scores(dtype, higher):
    p = (P if higher else -P).astype(dtype)
    grid = GRID if higher else -GRID
    called = np.array([p >= t if higher else p <= t for t in grid.tolist()])
    wanted = called[:, Y == 1].mean(axis=1)
    found = operating_point(Y, p, threshold=grid.tolist(), higher_is_better=higher)
    np.testing.assert_allclose(found.tpr, wanted, rtol=1e-14)
    np.testing.assert_array_equal(found.threshold, grid)
    one = operating_point(Y, p, threshold=float(grid[2]), higher_is_better=higher)
    assert one.tpr == pytest.approx(wanted[2], rel=1e-14) and one.threshold == grid[2]


def test_net_benefit_compares_in_the_dtype_of_the_scores():
    p = P.astype(np.float32)
    for t in GRID[::7].tolist():
        called = p >= t
        wanted = (called & (Y == 1)).mean() - (called & (Y == 0)).mean() * t / (1 - t)
        measure = NetBenefit(t)
        assert measure(Y, p) == pytest.approx(wanted, abs=1e-14)
        assert infer(Y, p, measure).estimate == pytest.approx(wanted, abs=1e-14)
        assert compare(Y, {"a": p, "b": 1 - p}, measure).estimates["a"] == pytest.approx(wanted, abs=1e-14)
    drawn = infer(Y, p, NetBenefit(0.03), method=Bootstrap(20), random_state=0)
    assert drawn.estimate == infer(Y, p, NetBenefit(0.03)).estimate


@pytest.mark.parametrize("low", [0.1, 1.0, 0.3, 5e-324, -0.7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_midpoints_separate_neighbouring_numbers(low, dtype):
    negative = dtype(low)
    for steps in (1, 2, 3):
        positive = negative
        for _ in range(steps):
            positive = np.nextafter(positive, dtype(np.inf))
        scores = np.array([negative, negative, positive, positive], dtype=dtype)
        found = operating_point([0, 0, 1, 1], scores, threshold="midpoint")
        assert (found.tpr, found.fpr) == (1.0, 0.0)
        np.testing.assert_array_equal(scores >= found.threshold, [False, False, True, True])
        turned = operating_point([0, 0, 1, 1], -scores, threshold="midpoint", higher_is_better=False)
        np.testing.assert_array_equal(-scores <= turned.threshold, [False, False, True, True])
        wide = scores.astype(np.float64)
        cut = choose_threshold(wide, np.array([False, False, True, True]), "midpoint")
        np.testing.assert_array_equal(wide >= cut, [False, False, True, True])
