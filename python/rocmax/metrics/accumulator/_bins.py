"""Bins of a curve: scores and the weight of either class there.

An array of shape (4, n_bins): the lowest and the highest score, the weights of the positives and of the negatives. Bins
of one score are exact. Bins of several (:func:`reduced`) share the leading bits of their scores, and others may lie
within.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64

NONE: F64 = np.empty((4, 0))


def counted(score: F64, pos: F64, neg: F64) -> F64:
    """Return a bin for every distinct score; samples without weight are as if absent."""
    kept = pos + neg > 0
    if not kept.all():
        score, pos, neg = score[kept], pos[kept], neg[kept]
    if not len(score):
        return NONE
    score = score + 0.0  # -0.0 becomes 0.0
    if (score[1:] > score[:-1]).all():
        return np.stack([score, score, pos, neg])
    order = np.argsort(score)
    score = score[order]
    first = _first(score)
    score = score[first]
    with np.errstate(over="ignore"):  # what is beyond all numbers is refused when it is measured
        return np.stack([score, score, *(np.add.reduceat(weight[order], first) for weight in (pos, neg))])


def counted_once(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> F64:
    """Count samples of weight 1; of both classes by the core, in a third of the time."""
    if positive.all() or not positive.any():
        return counted(score.astype(np.float64), positive.astype(np.float64), (~positive).astype(np.float64))
    value, pos, neg = (row[::-1] for row in _core.Curve(positive, score, None, 1).steps())
    return np.stack([value, value, pos, neg])


def pushed(runs: tuple[F64, ...], run: F64) -> tuple[F64, ...]:
    """Add bins to runs of them, each at least twice as long as the next: a bin is copied once a doubling."""
    while runs and runs[-1].shape[1] < 2 * run.shape[1]:
        *left, last = runs
        runs, run = tuple(left), pooled([last, run])
    return (*runs, run)


def pooled(runs: list[F64]) -> F64:
    """Put bins together, equal ones as one."""
    bins = np.concatenate(runs, axis=1)
    stable = is_exact(bins)  # which merges what is in order
    bins = bins[:, np.argsort(bins[0], kind="stable") if stable else np.lexsort((bins[1], bins[0]))]
    new = (bins[:2, 1:] != bins[:2, :-1]).any(axis=0)
    if new.all():
        return bins
    first = np.flatnonzero(np.concatenate([[True], new]))
    low, high, pos, neg = bins
    with np.errstate(over="ignore"):
        return np.stack([low[first], high[first], *(np.add.reduceat(weight, first) for weight in (pos, neg))])


def reduced(runs: tuple[F64, ...], max_error: float) -> F64:
    """Put bins together and pool scores as far as an error allows, by the core."""
    low, high, pos, neg = np.ascontiguousarray(np.concatenate(runs, axis=1))
    return _core.pool_bins(low, high, pos, neg, max_error)


def is_exact(bins: F64) -> bool:
    """Whether every bin has one score."""
    return bool((bins[0] == bins[1]).all())


def laid(bins: F64, extent: tuple[float, float], pos_up: float, neg_up: float) -> F64:
    """Return bins of one score each: of the weight of either class a share is laid at the highest score of its bin.

    Half of both classes is the estimate. With all positives at the highest and all negatives at the lowest scores the
    curve is the highest that the samples can have, the other way round the lowest. `extent` are the least and the
    greatest score of all.
    """
    if is_exact(bins):
        return bins
    low, high, pos, neg = bins
    score = np.clip(np.concatenate([low, high]), *extent)
    return counted(score, *(np.concatenate([w * (1 - up), w * up]) for w, up in ((pos, pos_up), (neg, neg_up))))


def _first(keys: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return the places where blocks of equal keys begin."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
