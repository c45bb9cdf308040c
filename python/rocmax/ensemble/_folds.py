"""One set of folds for all families."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from rocmax._parameters import shown
from rocmax._runtime.threads import one_at_a_time
from rocmax._typing import AnyArray, Bool
from rocmax.estimators._folds import Fold, check_folds

# Folds of fewer rows are drawn again, up to so many times.
_MANY, _MOST = 1000, 4


def folds_of(cv: Any, X: Any, positive: Bool, groups: Any, seed: int, split_params: dict[str, Any]) -> list[Fold]:
    """Return the rows to train on and to score.

    A number stands for stratified folds, drawn at random and, of fewer than 1,000 rows, again and again up to four
    times; with groups, of whole groups, once. All else is scikit-learn's: a splitter is given X, the labels and groups.
    """
    y = positive.astype(int)
    if isinstance(cv, str | bytes | bytearray):
        raise ValueError(f"cv must be a number of folds, a splitter or a list of (train, test), got {shown(cv)}")
    if cv is not None and not isinstance(cv, Integral):
        with one_at_a_time():
            params = split_params if groups is None else {"groups": groups, **split_params}
            return _with_both(check_folds(check_cv(cv, y, classifier=True).split(X, y, **params), len(y)), positive)
    n = _number(cv)
    least = int(np.bincount(y, minlength=2).min())
    if least < n:
        raise ValueError(f"cv={shown(n)} folds need as many samples of each class, got {least} of one; use fewer folds")
    with one_at_a_time():
        if groups is not None:
            n_groups = len(np.unique(groups))
            if n_groups < n:
                raise ValueError(f"cv={n} folds need as many groups, got {n_groups}; use fewer folds")
            by_group = StratifiedGroupKFold(n, shuffle=True, random_state=seed)
            return _with_both(check_folds(by_group.split(y, y, groups), len(y)), positive)
        repeats = min(_MOST, -(-_MANY // len(y)))
        splitter = RepeatedStratifiedKFold(n_splits=n, n_repeats=repeats, random_state=seed)
        return check_folds(splitter.split(y, y), len(y))


def _number(cv: Any) -> int:
    n = 5 if cv is None else int(cv)
    if isinstance(cv, bool) or n < 2:
        raise ValueError(f"cv must be at least 2 folds, a splitter or a list of (train, test), got {shown(cv)}")
    return n


def _with_both(folds: list[Fold], positive: Bool) -> list[Fold]:
    """Return the folds, each of which needs both classes."""
    for k, fold in enumerate(folds):
        for rows, use in zip(fold, ("train on", "score"), strict=True):
            if len(np.unique(positive[rows])) < 2:
                raise ValueError(f"cv: fold {k} has one class only to {use}; use fewer folds, or stratified ones")
    return folds


def growth(folds: list[Fold], n: int) -> float:
    """Return how many times more rows there are in all than a fold trains on: 5/4 of five folds, at most 3/2."""
    return min(1.5, n / float(np.mean([len(train) for train, _ in folds])))


def pooled(folds: list[Fold], scores: list[AnyArray], n: int) -> AnyArray:
    """Return the mean score of each row over the folds that score it, NaN where none does."""
    total, count = np.zeros(n), np.zeros(n)
    for (_, rows), found in zip(folds, scores, strict=False):
        np.add.at(total, rows, found)
        np.add.at(count, rows, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


def parts_of(positive: Bool, groups: Any, seed: int) -> list[AnyArray]:
    """Return five parts of the rows of like shares of positives; fewer where a class or the groups are few, or none."""
    y = positive.astype(int)
    fewest = min(int(np.bincount(y, minlength=2).min()), len(y) if groups is None else len(np.unique(groups)))
    n = min(5, fewest // 2)
    if n < 2:
        return []
    with one_at_a_time():
        if groups is None:
            return [part for _, part in StratifiedKFold(n, shuffle=True, random_state=seed).split(y, y)]
        splitter = StratifiedGroupKFold(n, shuffle=True, random_state=seed)
        parts = [part for _, part in splitter.split(y, y, groups)]
    rest = [np.delete(y, part) for part in parts]
    return parts if all(0 < of.sum() < len(of) for of in rest) else []
