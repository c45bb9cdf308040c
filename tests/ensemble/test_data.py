"""What the folds of an ensemble's families share."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from rocmax._runtime.settings import using
from rocmax.ensemble._data import Folds, HopelessError, Run
from rocmax.ensemble._models import ExtraTrees, raw_scores


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n = 2500
    positive = rng.random(n) < 0.3
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(np.zeros(n), positive))
    of = Folds(np.zeros((n, 1)), positive, None, None, positive, folds, (0.0, 0.1), 0, 2.0)
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


@pytest.mark.parametrize("kind", ["plain", "weights", "missing", "sparse"])
def test_trees_of_folds_are_those_of_a_forest(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    positive = X[:, 0] + rng.normal(size=300) > 0.5
    weight = 2.0 ** rng.integers(-1, 3, 300) if kind == "weights" else None  # sums are exact: pure leaves are pure
    if kind in ("missing", "sparse"):
        X[rng.random(X.shape) < 0.2] = np.nan if kind == "missing" else 0.0
    X = sparse.csr_array(X) if kind == "sparse" else X
    folds = list(StratifiedKFold(5).split(np.zeros(300), positive))
    data = Folds(X, positive, weight, None, positive, folds, (0.0, 0.5), 7, 2.0)
    with using(forest_trees=(10, 6)):
        found = ExtraTrees().cross_fit(data, Run(1, None, lambda step: None))
    coded, expected = data.coded("trees")[1], []
    for train, test in folds:
        forest = ExtraTreesClassifier(6, min_samples_leaf=found.chosen["min_samples_leaf"], random_state=7)
        forest.fit(coded[train], positive[train], None if weight is None else weight[train])
        expected.append(raw_scores(forest, coded[test]))
    np.testing.assert_allclose(found.scores, data.result(expected, log_odds=True).scores, atol=1e-9)
