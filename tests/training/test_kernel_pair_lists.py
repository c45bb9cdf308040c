"""Lists of near pairs, and the machine over them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from rocmax import AUCSVC, _core
from rocmax._runtime.settings import using
from rocmax.estimators._pairwise import neighbor_pairs


def near(X, y, k, rule, **options):
    return neighbor_pairs(X, _core.Problem(y == 1), k, rule, 2, **options).rows().T


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
        assert list(zip(*near(samples, y, k, rule), strict=True)) == expected
    assert list(zip(*near(X @ X.T, y, k, rule, kernel=True), strict=True)) == expected


@pytest.mark.parametrize("rule", ["two-step", "symmetric"])
def test_more_neighbors_than_samples_are_all_pairs(rule):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 3 == 0
    i, j = near(X, y, 1000, rule)
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
    i, j = near(X, y, 3, "two-step")
    of_negatives = NearestNeighbors(n_neighbors=3).fit(X[y]).kneighbors(X[~y], return_distance=False)
    used = np.flatnonzero(y)[np.unique(of_negatives)]
    found = NearestNeighbors(n_neighbors=3).fit(X[~y]).kneighbors(X[used], return_distance=False)
    expected = {(a, b) for a, row in zip(used, np.flatnonzero(~y)[found], strict=True) for b in row}
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


def data(seed, n=80):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.standard_normal((n, 3)) + y[:, None], y


@pytest.mark.parametrize("pairs", ["random", "neighbors"])
@pytest.mark.parametrize("solver", ["auto", "cvxopt"])
def test_a_list_of_the_same_pairs_trains_the_same_machine(pairs, solver):
    X, y = data(3)
    given = {"tol": 1e-8, "solver": solver}
    own = AUCSVC(300.0, pairs=pairs, n_pairs=150, n_neighbors=3, random_state=1, **given).fit(X, y)
    if pairs == "random":
        rows = _core.PairList.random(_core.Problem(y == 1), 150, 1, 1).rows()
    else:
        rows = near(X, y, 3, "two-step").T
    listed = AUCSVC(300.0, pairs=rows[::-1], **given).fit(X, y)
    assert own.n_pairs_ == listed.n_pairs_ == len(rows) <= 150
    np.testing.assert_array_equal(own.decision_function(X), listed.decision_function(X))
    np.testing.assert_array_equal(own.support_pairs_, listed.support_pairs_)
    assert {*map(tuple, own.support_pairs_)} <= {*map(tuple, rows)}


def test_random_pairs_are_ten_per_sample_or_all_and_the_first_of_more():
    X, y = data(4)
    n_pairs = int(y.sum() * (1 - y).sum())
    counts = [
        AUCSVC(10.0, pairs="random", n_pairs=n, random_state=0, tol=1e-2).fit(X, y).n_pairs_ for n in (None, 10**9)
    ]
    assert counts == [800, n_pairs]
    every, full = (AUCSVC(10.0, pairs=pairs, n_pairs=10**9, tol=1e-8).fit(X, y) for pairs in ("random", "all"))
    assert every.objective_ == pytest.approx(full.objective_, rel=1e-7)
    fits = [AUCSVC(10.0, pairs="random", random_state=5, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert fits[0].dual_coef_.tobytes() == fits[1].dual_coef_.tobytes()


@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"structure": 0.5}], ids=str)
def test_the_support_of_all_pairs_is_those_with_a_multiplier(options):
    X, y = data(5)
    model = AUCSVC(30.0, tol=1e-6, **options).fit(X, y)
    pos, neg = np.flatnonzero(y), np.flatnonzero(y == 0)
    al = model.pair_dual(pos[:, None], neg)
    rows, columns = np.nonzero(al)
    np.testing.assert_array_equal(model.support_pairs_, np.column_stack([pos[rows], neg[columns]]))
    assert 0 < len(rows) < al.size
    scores = model.decision_function(X)
    i, j = model.support_pairs_.T
    assert (scores[i] - scores[j]).max() <= 1.0 + 1e-3 and al.sum() <= 30.0 * (1 + 1e-9)
    with (
        using(memory=32 * len(rows) - 1),
        pytest.raises(MemoryError, match=r"support_pairs_ of [0-9,]+ pairs .*pair_dual"),
    ):
        _ = model.support_pairs_


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("some", "pairs must be one of 'all', 'neighbors', 'random', got 'some'"),
        (None, r"pairs must be 'all', 'neighbors', 'random' or an array of shape \(n_pairs, 2\), got None"),
        ([[1, 2, 3]], r"array of shape \(n_pairs, 2\), got an array of shape \(1, 3\)"),
        (np.empty((0, 2), dtype=int), "pairs must be at least one, got none"),
        ([[1.0, 2.0]], r"pairs\[:, 0\] must be whole numbers, .* got 1.0"),
        ([[0, 99]], r"pairs\[:, 1\] must be .* got 99"),
        ([[0, 2]], r"pairs\[:, 1\] must be .* rows of negative training samples, got 2"),
        ([[0, 1], [2, 3], [0, 1]], r"pairs must be listed once each, got \(0, 1\) twice"),
    ],
)
def test_lists_that_are_none_are_refused(pairs, message):
    y = np.arange(10) % 2 == 0
    with pytest.raises(ValueError, match=message):
        AUCSVC(pairs=pairs).fit(np.arange(10.0)[:, None], y)
    with pytest.raises(ValueError, match="n_pairs must be"):
        AUCSVC(pairs="random", n_pairs=0).fit(np.arange(10.0)[:, None], y)


def test_multipliers_that_would_take_many_steps_are_named(monkeypatch):
    monkeypatch.setattr("rocmax.estimators._pairwise._STEPS", 1)
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(130, 23)), np.arange(130) % 5 < 2
    with pytest.warns(ConvergenceWarning, match="within tol; that of its multipliers .* has a gap of"):
        model = AUCSVC(100, n_jobs=1).fit(X, y)
    assert model.dual_gap_ <= model.tol < 0.1
