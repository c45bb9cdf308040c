"""What the folds of an ensemble's families share."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from rocmax.ensemble._data import Data, HopelessError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n = 2500
    positive = rng.random(n) < 0.3
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(np.zeros(n), positive))
    of = Data(np.zeros((n, 1)), positive, None, None, positive, folds, (0.0, 0.1), 0, 2.0)
    of.best = 1.5 * positive + rng.normal(size=n)
    return of


def test_folds_on_different_scales_do_not_stop_a_family(data):
    scores = [scale * data.best[data.folds[k][1]] + offset for k, scale, offset in ((0, 1.0, 0.0), (1, 1e4, 1e3))]
    data.check_hope(scores)
    noise = np.random.default_rng(1).normal(size=data.n)
    with pytest.raises(HopelessError):
        data.check_hope([noise[data.folds[k][1]] for k in (0, 1)])


def test_once_keeps_the_first_folds_that_score_each_row_once(data):
    once = data.once()
    assert len(once.folds) == 5 and once.shared is data.shared
    assert np.array_equal(np.sort(np.concatenate([rows for _, rows in once.folds])), np.arange(data.n))
    assert once.once() is once
