"""Bins of a curve: arrays of shape (4, n_bins) of lowest and highest score, weight of positives and of negatives.

Bins of one score are exact. The scores in a bin of several (:func:`reduced`) share their leading bits; other bins may
lie within it.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64

NONE: F64 = np.empty((4, 0))


def counted(score: F64, pos: F64, neg: F64) -> F64:
    """Return a bin for every distinct score; samples of weight 0 are ignored."""
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
    return _summed(score, score, (weight[order] for weight in (pos, neg)), score[1:] != score[:-1])


def counted_once(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> F64:
    """Count samples of weight 1; if there are both classes by the core, in a third of the time."""
    if positive.all() or not positive.any():
        return counted(score.astype(np.float64), positive.astype(np.float64), (~positive).astype(np.float64))
    value, pos, neg = (row[::-1] for row in _core.Curve(positive, score, None, 1).steps())
    return np.stack([value, value, pos, neg])


def pushed(runs: tuple[F64, ...], run: F64) -> tuple[F64, ...]:
    """Add a run of bins; each run stays at least twice as long as the next, so that a bin is copied log n times."""
    while runs and runs[-1].shape[1] < 2 * run.shape[1]:
        *left, last = runs
        runs, run = tuple(left), pooled([last, run])
    return (*runs, run)


def pooled(runs: list[F64]) -> F64:
    """Merge runs of bins; equal bins become one."""
    bins = np.concatenate(runs, axis=1)
    # A stable sort merges sorted runs.
    bins = bins[:, np.argsort(bins[0], kind="stable") if is_exact(bins) else np.lexsort((bins[1], bins[0]))]
    new = (bins[:2, 1:] != bins[:2, :-1]).any(axis=0)
    return bins if new.all() else _summed(bins[0], bins[1], bins[2:], new)


def _summed(low: F64, high: F64, weights: Iterable[F64], new: NDArray[np.bool_]) -> F64:
    """Sum the weights of equal bins that follow each other; `new` marks the bins that differ from the one before."""
    first = np.flatnonzero(np.concatenate([[True], new]))
    with np.errstate(over="ignore"):  # an infinity is refused when it is measured
        return np.stack([low[first], high[first], *(np.add.reduceat(weight, first) for weight in weights)])


def reduced(runs: tuple[F64, ...], max_error: float) -> F64:
    """Merge runs of bins, and pool scores as far as the error allows."""
    low, high, pos, neg = np.ascontiguousarray(np.concatenate(runs, axis=1))
    return _core.pool_bins(low, high, pos, neg, max_error)


def is_exact(bins: F64) -> bool:
    """Whether every bin has one score."""
    return bool((bins[0] == bins[1]).all())


def laid(bins: F64, extent: tuple[float, float], pos_up: float, neg_up: float) -> F64:
    """Return bins of one score each: shares of the positives and of the negatives go to the highest score of their bin.

    Half of both classes is the estimate. All positives at the highest and all negatives at the lowest scores give the
    highest curve that the samples can have, the reverse the lowest. `extent` is the range of all scores.
    """
    if is_exact(bins):
        return bins
    low, high, pos, neg = bins
    score = np.clip(np.concatenate([low, high]), *extent)
    return counted(score, *(np.concatenate([w * (1 - up), w * up]) for w, up in ((pos, pos_up), (neg, neg_up))))
