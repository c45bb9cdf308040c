"""Repeated cross-validation: the same samples in several rows."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from rocmax.exceptions import CoverageWarning
from rocmax.metrics import AUC, PartialAUC, cross_validated_auc

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 200)
X = rng.normal(size=(200, 5)) + 0.6 * Y[:, None]
GUARD = {"match": "look like a repeated cross-validation; repeats add no samples"}


def rows_of(splits, y=Y, x=X, refit=False):
    """Return fold, index, label and score of every held-out row, fold after fold."""
    found = []
    pairs = np.arange(len(y)) // 2 if isinstance(splits, StratifiedGroupKFold) else None
    for k, (train, test) in enumerate(splits.split(x, y, pairs)):
        score = GaussianNB().fit(x[train], y[train]).predict_log_proba(x[test])[:, 1] if refit else x[test].sum(axis=1)
        found.append(np.column_stack([np.full(len(test), k), test, y[test], score]))
    fold, index, label, score = np.concatenate(found).T
    return fold.astype(int), index.astype(int), label.astype(int), score


@pytest.mark.parametrize("of", [lambda cv: cv, lambda cv: cv.split(X, Y), lambda cv: list(cv.split(X, Y))])
def test_splits_are_not_folds(of):
    cv = StratifiedKFold(4)
    with pytest.raises(ValueError, match=r"fold must be the fold of each sample, got .*fold\[test\] = k"):
        cross_validated_auc(Y, X[:, 0], fold=of(cv))
    fold = np.empty(len(Y))
    for k, (_, test) in enumerate(cv.split(X, Y)):
        fold[test] = k
    assert cross_validated_auc(Y, X[:, 0], fold=tuple(fold)).n_folds == 4


def test_repeats_are_as_wide_as_one():
    fold, _, y, s = rows_of(StratifiedKFold(5, shuffle=True, random_state=0), refit=True)
    once = cross_validated_auc(y, s, fold=fold)
    fold, index, y, s = rows_of(RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0), refit=True)
    found = cross_validated_auc(y, s, fold=fold, groups=index)
    assert found.standard_error == pytest.approx(once.standard_error, rel=0.1)
    assert (found.n_folds, found.n_groups) == (50, 200)
    with pytest.warns(CoverageWarning, **GUARD):
        alone = cross_validated_auc(y, s, fold=fold)
    assert alone.standard_error < 0.4 * once.standard_error and alone.estimate == found.estimate
    # Ten copies of one cross-validation are that cross-validation.
    fold, index, y, s = rows_of(StratifiedKFold(5))
    copies = np.repeat(np.arange(10), 200)
    many = cross_validated_auc(
        np.tile(y, 10), np.tile(s, 10), fold=np.tile(fold, 10) + 5 * copies, groups=np.tile(index, 10)
    )
    assert many.standard_error == pytest.approx(cross_validated_auc(y, s, fold=fold).standard_error, rel=1e-12)


@pytest.mark.parametrize("measure", [AUC(), PartialAUC((0, 0.3)), AUC(multi_class="ovr", average=None)])
def test_clusters_of_one_change_nothing(measure):
    fold, _, y, s = rows_of(KFold(4))
    scores = s if measure.multi_class == "raise" else np.column_stack([-s, s])
    plain, each = (cross_validated_auc(y, scores, measure, fold=fold, groups=of) for of in (None, rng.permutation(200)))
    np.testing.assert_allclose(each.variance, plain.variance, rtol=1e-12)


def test_clusters_are_summed():
    """The variance from the table of all pairs of each fold, and from that of several classes."""
    fold, index, y, s = rows_of(RepeatedKFold(n_splits=4, n_repeats=2, random_state=0))
    influence = np.zeros(400)
    for k in range(8):
        pos, neg = (np.flatnonzero((fold == k) & (y == label)) for label in (1, 0))
        right = s[pos][:, None] > s[neg]
        influence[pos] = (right.mean(axis=1) - right.mean()) / y.mean() / np.sqrt((fold == k).sum())
        influence[neg] = (right.mean(axis=0) - right.mean()) / (1 - y.mean()) / np.sqrt((fold == k).sum())
    expected = np.sum(np.bincount(index // 3, influence) ** 2) / (8 * 400)
    assert cross_validated_auc(y, s, fold=fold, groups=index // 3).variance == pytest.approx(expected, rel=1e-12)
    several = cross_validated_auc(y, np.column_stack([-s, s]), AUC(multi_class="ovo"), fold=fold, groups=index // 3)
    assert several.variance == pytest.approx(expected, rel=1e-12)


def test_what_looks_like_repeats():
    def warned(y, fold, **options):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            cross_validated_auc(y, rng.normal(size=len(y)), fold=fold, **options)
        return any(GUARD["match"] in str(one.message) for one in found)

    for repeated in (RepeatedKFold, RepeatedStratifiedKFold):
        for n_splits, n_repeats, size in ((5, 3, 197), (3, 2, 199), (5, 10, 200)):
            fold, index, y, _ = rows_of(
                repeated(n_splits=n_splits, n_repeats=n_repeats, random_state=0), Y[:size], X[:size]
            )
            assert warned(y, fold) and not warned(y, fold, groups=index)
    fold = rng.permutation(np.arange(200) % 5)
    for offset in (0, 5):  # rows in the order of the samples
        assert warned(np.tile(Y, 3), np.tile(fold, 3) + offset * np.repeat(np.arange(3), 200))
    for splits in (
        KFold(7),
        StratifiedKFold(7),
        StratifiedKFold(4),
        StratifiedKFold(10),
        StratifiedGroupKFold(6),
        KFold(12),
    ):
        for size in (200, 199, 198, 194):
            fold, index, y, _ = rows_of(splits, Y[:size], X[:size])
            assert not warned(y, fold)
            assert not warned(Y[:size], fold[np.argsort(index)])
    assert not warned(np.arange(200) % 2, np.arange(200) // 40)
    assert not warned(np.arange(200) % 2, np.arange(200) // 2 % 5)
    assert not warned(np.tile(Y[:40], 5), np.arange(200) // 40)  # labels that are simulated fold by fold


def test_leave_one_out_is_named():
    with pytest.raises(ValueError, match="fold 0 lacks a class; use fewer folds"):
        cross_validated_auc(Y, X[:, 0], fold=np.arange(200))
    with pytest.raises(ValueError, match="fold 0 lacks a class; use fewer folds"):
        cross_validated_auc(Y, X[:, :2], AUC(multi_class="ovr"), fold=np.arange(200))
