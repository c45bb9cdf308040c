"""Equal choices: the first, or the one the documentation names, and never the one that rounding favours."""

import numpy as np
import pytest

from rocmax._selection import first_best, is_better
from rocmax.boosting._classifier import Rounds, smoothed
from rocmax.estimators._partial_cv import _choose
from rocmax.estimators._rls_cv import _best


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 0.999])
def test_of_equal_rounds_the_first_is_the_best(value):
    rounds = Rounds(np.arange(4) < 2, None, (0.0, 1.0), 1000, 1)
    for n in range(1, 300):
        rounds.values = [value] * n
        assert rounds.best == min(n, 6)  # fewer have no mean of their own


@pytest.mark.parametrize("seed", range(5))
def test_means_of_rounds_do_not_depend_on_the_rounds_before(seed):
    rng = np.random.default_rng(seed)
    pattern = rng.random(23)
    values = np.concatenate([rng.random(500), pattern, rng.random(700), pattern])
    found = smoothed(values)
    np.testing.assert_array_equal(found[505:518], found[1228:1241])
    windows = [values[max(k - 5, 0) : k + 6] for k in range(len(values))]
    np.testing.assert_allclose(found, [np.mean(window) for window in windows], rtol=0, atol=1e-15)


def test_of_equal_objectives_the_first_is_chosen():
    # A lead that is rounding is none, be its standard error 0.
    for errors in (0.0, 2.0):
        assert not is_better(1e-16, 0.0, errors) and not is_better(0.0, 0.01, errors)


def test_of_equal_values_of_c_and_alpha_the_named_one_is_chosen():
    folds = np.array([0.83, 0.7, 0.89, 0.1, 0.2])
    orders = np.array([np.roll(folds, k) for k in range(5)]).T
    assert len(set(orders.sum(axis=0))) > 1  # equal numbers in another order: the sums differ by rounding
    assert _choose(orders[:, None, :], ("tight",), "best", 0.0) == (0, 0)
    assert _choose(orders[:, :, None], ("tight",) * 5, "best", 0.0)[0] == 0
    assert _best(np.array([1.0, 3.0, 2.0]), np.array([0.9, 0.9 - 1e-16, 0.9 + 2e-16])) == 1
    assert first_best(orders.sum(axis=0)) == 0
