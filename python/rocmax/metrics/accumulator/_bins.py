"""Bins of a curve: arrays of shape (4, n_bins) of lowest and highest score, weight of positives and of negatives.

Bins of one score are exact. The scores in a bin of several (:func:`reduced`) share their leading bits; other bins may
lie within it.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.dask import in_memory
from rocmax._checks.missing import oriented
from rocmax._checks.samples import F64, require_finite, scores, weights

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


def of_counts(score: Any, n_pos: Any, n_neg: Any, lower: bool) -> tuple[F64, bool]:
    """Return the bins of checked scores and numbers of samples of either class, and whether the scores are float32."""
    score, n_pos, n_neg = in_memory(score=score, n_pos=n_pos, n_neg=n_neg)
    given = scores(score, "score")
    value = given.astype(np.float64, copy=False)
    if value.ndim != 1:
        raise ValueError(f"score must be one-dimensional, got an array of shape {value.shape}")
    counts = [_class_counts(each, len(value), name) for name, each in (("n_pos", n_pos), ("n_neg", n_neg))]
    missing = np.isnan(value)
    if missing.any():
        raise ValueError(
            f"score must be finite, got nan at index {int(np.argmax(missing))}; leave samples without a score out"
            " (WHERE score IS NOT NULL)"
        )
    require_finite(value, "score")
    return counted(oriented(value, lower), *counts), given.dtype == np.float32 or not len(given)


def _class_counts(values: Any, n_scores: int, name: str) -> F64:
    """Check the counts, or total weights, of a class."""
    counts = weights(values, n_scores, name)
    missing = np.isnan(counts)
    if missing.any():
        raise ValueError(
            f"{name} must be a count, got nan at index {int(np.argmax(missing))}: a sum over no labels is NULL; leave"
            " rows without a label out, or write coalesce(sum(...), 0)"
        )
    require_finite(counts, name)
    if (counts < 0).any():
        index = int(np.argmax(counts < 0))
        raise ValueError(
            f"{name} must be 0 or more, got {counts[index]:g} at index {index}: count labels of -1 and 1 by comparison,"
            " such as sum(CASE WHEN y = 1 THEN 1 ELSE 0 END)"
        )
    return counts


def distinct_labels(y: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, one or two numbers without a sort."""
    if y.dtype.kind in "biuf":
        least, most = y.min(), y.max()
        if ((y == least) | (y == most)).all():
            return [least.item(), most.item()]
    return list(np.unique(y).tolist())
