"""Held-out scores that are equal in exact arithmetic tie, whatever computes them: rational retraining is the twin."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold
from tests.referee.exact import Fraction

from rocmax import AUCRLS, AUCRLSCV, RLS, RLSCV
from rocmax.estimators._folds import dealt
from rocmax.metrics import roc_auc_score

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def solved(matrix, rhs):
    """Solve a system of fractions by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, rhs, strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return np.array([row[-1] / row[k] for k, row in enumerate(rows)])


def held_out(X, y, w, alpha, held, pairwise):
    """Return the exact scores of the rows `held` by the model of the others, from its midpoint."""
    rest = np.setdiff1d(np.arange(len(y)), held)
    pos, neg = (rest[y[rest] == label] for label in (1, 0))
    if pairwise:
        i, j = (index.ravel() for index in np.meshgrid(pos, neg))
        rows, weight, target = X[i] - X[j], w[i] * w[j], 2
    else:
        rows, weight, target = X[rest], w[rest], 2 * y[rest] - 1
    ridge = np.array([[alpha * (a == b) for a in range(X.shape[1])] for b in range(X.shape[1])])
    coef = solved((rows.T * weight) @ rows + ridge, rows.T @ (weight * target))
    means = [w[side] @ (X[side] @ coef) / w[side].sum() for side in (pos, neg) if pairwise]
    return X[held] @ coef - sum(means) / 2


def exact_auc(X, y, w, alpha, folds, pairwise, *, pairs):
    """Return the AUC of pooled folds; folds of pairs count each pair by its own model."""
    scores, won, total = np.array([Fraction()] * len(y)), Fraction(), Fraction()
    for held in folds:
        scores[held] = held_out(X, y, w, alpha, held, pairwise)
        if pairs:
            won += w[held].prod() * (1 + np.sign(scores[held[0]] - scores[held[1]])) / 2
            total += w[held].prod()
    for i, j in np.argwhere(np.logical_and.outer(y == 1, y == 0)) if not pairs else ():
        won += w[i] * w[j] * Fraction(1 + int(np.sign(scores[i] - scores[j])), 2)
        total += w[i] * w[j]
    return float(won / total)


def folds_of(way, X, y, rng):
    """Return what a model is given as cv and as groups, and the samples that each fold holds out."""
    n, groups = len(y), rng.permutation(len(y)) // 2
    same = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    if way == "leave-pair-out":
        return way, None, np.argwhere(np.outer(y == 1, y == 0))
    if way == "leave-one-out":
        return way, same, [np.flatnonzero(same == k) for k in range(same.max() + 1)]
    if way == 2:  # equal rows are one cluster
        fold = dealt(same, y, 2, 0)
        return way, same, [np.flatnonzero(fold == k) for k in range(2)]
    if way == "list":
        halves = np.array_split(rng.permutation(n), 2)
        return [(np.setdiff1d(np.arange(n), half), half) for half in halves], None, halves
    return way, groups, [test for _, test in way.split(X, y, groups)]


WAYS = [2, "list", KFold(2), StratifiedKFold(2), GroupKFold(2), LeaveOneOut(), "leave-one-out", "leave-pair-out"]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_equal_scores_tie_as_in_exact_retraining(seed, way):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 11)), (1, 2, 3, 9)[seed % 4]
    X = rng.integers(-2, 3, (max(2, n // 3), d))[rng.integers(0, max(2, n // 3), n)]
    y, w = np.zeros(n, dtype=int), rng.integers(1, 3, n) if seed % 3 == 0 else np.ones(n, dtype=int)
    y[rng.permutation(n)[: n // 2]] = 1
    alpha = 4.0 ** rng.integers(-4, 5)
    given, groups, folds = folds_of(way, X, y, rng)
    exact = [np.array([[Fraction(int(v)) for v in row] for row in X]), np.array([Fraction(int(v)) for v in w])]
    Y = np.column_stack([y, 1 - y])
    for model, pairwise in ((RLSCV, False), (AUCRLSCV, True)):
        if pairwise and min(len(np.unique(np.delete(y, fold))) for fold in folds) < 2:
            continue  # a fold trains on one class, and is refused
        expected = exact_auc(exact[0], y, exact[1], Fraction(alpha), folds, pairwise, pairs=way == "leave-pair-out")
        for kernel, matrix, labels in (("linear", X, y), ("precomputed", X @ X.T, y), ("linear", X, Y)):
            found = model([alpha], cv=given, kernel=kernel)
            found.fit(matrix, labels, w if seed % 3 == 0 else None, groups=groups)
            assert np.ravel(found.cv_auc_)[0] == pytest.approx(expected, abs=1e-12), (model, kernel)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_equal_rows_tie_at_a_tiny_alpha(kernel):
    """Where rounding is amplified by 1 / alpha: labels of equal rows differ, and all scores are of two rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2, 40))[rng.integers(0, 2, 30)]
    y = np.arange(30) % 2
    pairs, scores = AUCRLS(1e-9, kernel=kernel, gamma=0.01).leave_pair_out(X, y)
    same = (X[pairs[:, 0]] == X[pairs[:, 1]]).all(axis=1)
    np.testing.assert_array_equal(scores[same, 0], scores[same, 1])
    for model in (RLSCV, AUCRLSCV):
        for cv in ("leave-pair-out", [(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))]):
            few = model([1e-9], cv=cv, kernel=kernel, gamma=0.01).fit(X, y).cv_auc_[0]
            assert few == pytest.approx(model([1e-3], cv=cv, kernel=kernel, gamma=0.01).fit(X, y).cv_auc_[0], abs=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("model, one", [(RLSCV, RLS), (AUCRLSCV, AUCRLS)])
def test_a_model_whose_classes_have_the_same_rows_is_zero(model, one, kernel):
    """At a tiny alpha its rounding is far above that of other models."""
    rng = np.random.default_rng(0)
    kinds, same, other = rng.normal(size=(3, 5)), rng.integers(0, 3, 6), rng.integers(0, 3, 12)
    row, y = np.concatenate([same, same, other]), np.concatenate([np.repeat([1, 0], 6), np.arange(12) % 2])
    first, last = np.arange(12), np.arange(12, 24)
    for alpha in np.logspace(-9, 1, 6):
        found = model([alpha], cv=[(first, last), (last, first)], kernel=kernel, gamma=0.1).fit(kinds[row], y)
        scores = one(alpha, kernel=kernel, gamma=0.1).fit(kinds[other], y[last]).decision_function(kinds)
        assert found.cv_auc_[0] == pytest.approx(roc_auc_score(y, np.append(scores[same], [*scores[same], *[0] * 12])))
