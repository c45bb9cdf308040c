"""Pooled scores of folds, and the parts of the rows that estimate the ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from rocmax._runtime.threads import one_at_a_time
from rocmax._typing import AnyArray, Bool
from rocmax.estimators._folds import Fold


def growth(folds: list[Fold], n: int) -> float:
    """Return the number of rows over those a fold trains on: 5/4 for five folds, at most 3/2."""
    return min(1.5, n / float(np.mean([len(train) for train, _ in folds])))


def pooled(folds: list[Fold], scores: list[AnyArray], n: int) -> AnyArray:
    """Return the mean score of each row over the folds that score it; NaN if none does."""
    total, count = np.zeros(n), np.zeros(n)
    for (_, rows), found in zip(folds, scores, strict=False):
        np.add.at(total, rows, found)
        np.add.at(count, rows, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


def parts_of(positive: Bool, groups: Any, seed: int) -> list[AnyArray]:
    """Return five stratified parts of the rows; with few rows of a class or few groups, fewer parts or none."""
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
