"""Lists of near pairs, and the machine over them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from rocmax import AUCSVC
from rocmax.estimators._pairs import kernel_pairs, neighbor_pairs


def reference(X, y, k, rule):
    """Every distance, from the definition."""
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)

    def nearest(row):
        others = np.flatnonzero(y != y[row])
        return others[np.argsort(squared[row][others], kind="stable")[:k]]

    positives, negatives = np.flatnonzero(y), np.flatnonzero(y == 0)
    by_negatives = {(i, j) for j in negatives for i in nearest(j)}
    used = {i for i, _ in by_negatives} if rule == "two-step" else positives
    pairs = {(i, j) for i in used for j in nearest(i)}
    return sorted(pairs | by_negatives if rule == "symmetric" else pairs)


@pytest.mark.parametrize("rule", ["two-step", "symmetric"])
@pytest.mark.parametrize("seed", range(8))
def test_lists_are_those_of_brute_force_with_ties_and_copies(rule, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(60, 2)).astype(float) if seed % 2 else rng.standard_normal((60, 3))
    y = (rng.random(60) < 0.3).astype(int)
    k = int(rng.integers(1, 12))
    expected = reference(X, y, k, rule)
    for samples in (X, sp.csr_array(X), np.asfortranarray(X)):
        assert list(zip(*map(list, neighbor_pairs(samples, y == 1, k, rule, 2)), strict=True)) == expected
    assert list(zip(*map(list, kernel_pairs(X @ X.T, y == 1, k, rule)), strict=True)) == expected


@pytest.mark.parametrize("rule", ["two-step", "symmetric"])
def test_more_neighbors_than_samples_are_all_pairs(rule):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 3 == 0
    i, j = neighbor_pairs(X, y, 1000, rule, 1)
    assert len(i) == 10 * 20 == len({*zip(i, j, strict=True)})
    full = AUCSVC(20.0, tol=1e-8).fit(X, y)
    listed = AUCSVC(20.0, tol=1e-8, pairs="neighbors", n_neighbors=1000, neighbor_rule=rule).fit(X, y)
    assert listed.objective_ == pytest.approx(full.objective_, rel=1e-7)
    assert listed.n_pairs_ == full.n_pairs_ == 200


@pytest.mark.parametrize("rule", ["two-step", "symmetric"])
def test_pairs_of_a_precomputed_kernel_train_the_same_machine(rule):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((50, 3)), rng.random(50) < 0.4
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 3)
    given = {"pairs": "neighbors", "n_neighbors": 4, "neighbor_rule": rule, "tol": 1e-8}
    own, other = AUCSVC(gamma="auto", **given).fit(X, y), AUCSVC(kernel="precomputed", **given).fit(K, y)
    assert own.n_pairs_ == other.n_pairs_ < 400
    np.testing.assert_allclose(own.decision_function(X), other.decision_function(K), atol=1e-6)


def test_a_large_search_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((6000, 10)), np.arange(6000) % 2 == 0
    i, j = neighbor_pairs(X, y, 3, "two-step", 2)
    near = NearestNeighbors(n_neighbors=3).fit(X[y]).kneighbors(X[~y], return_distance=False)
    used = np.flatnonzero(y)[np.unique(near)]
    near = NearestNeighbors(n_neighbors=3).fit(X[~y]).kneighbors(X[used], return_distance=False)
    expected = {(a, b) for a, row in zip(used, np.flatnonzero(~y)[near], strict=True) for b in row}
    assert {*zip(i, j, strict=True)} == expected


@pytest.mark.parametrize("rule", ["two-step", "symmetric"])
@pytest.mark.parametrize("structure", [0.0, 1.0])
def test_the_machine_over_a_list_is_the_explicit_dual(rule, structure):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((80, 3)), (rng.random(80) < 0.4).astype(int)
    X += y[:, None]
    given = {"pairs": "neighbors", "n_neighbors": 4, "neighbor_rule": rule, "structure": structure, "tol": 1e-8}
    auto = AUCSVC(300.0, **given).fit(X, y)
    reference = AUCSVC(300.0, **given, solver="cvxopt").fit(X, y)
    assert auto.objective_ == pytest.approx(reference.objective_, rel=1e-6)
    assert auto.n_pairs_ == reference.n_pairs_
    i, j = auto.support_pairs_.T
    al, cap = auto.pair_dual(i, j), 300.0 / auto.n_pairs_
    assert np.all(al > 0) and np.all(al <= cap * (1 + 1e-12))
    scores = auto.decision_function(X)
    slack = 1.0 - scores[i] + scores[j]
    assert np.all(slack >= -1e-3) and np.all(np.abs(slack[al < 0.999 * cap]) <= 1e-3)
    assert auto.pair_dual(np.flatnonzero(y), np.flatnonzero(y == 0)[0]).shape == (y.sum(),)
