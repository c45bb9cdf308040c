"""Bins of a curve: scores of one key and the weight of either class there.

An array of shape (4, n_bins), by ascending scores: the lowest and the highest score, the weights of the positives and
of the negatives. The key is the place of the score among all floating-point numbers, less its last bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64

NONE: F64 = np.empty((4, 0))
_SIGN = np.uint64(1 << 63)
_HALF = np.float64(0.5).view(np.uint64)
_LEAST = np.float64(2.0**-54).view(np.uint64)  # stands for a rest of 0: all others are larger


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


def pushed(runs: tuple[F64, ...], run: F64, shift: int) -> tuple[F64, ...]:
    """Add bins to runs of them, each at least twice as long as the next: a bin is copied once a doubling."""
    while runs and runs[-1].shape[1] < 2 * run.shape[1]:
        *left, last = runs
        runs, run = tuple(left), pooled([last, run], shift)
    return (*runs, run)


def pooled(runs: list[F64], shift: int) -> F64:
    """Put bins together, as one those whose keys agree but for the last `shift` bits."""
    bins = np.concatenate(runs, axis=1)
    keys = _keys(bins) >> np.uint64(shift) if shift else bins[0]
    order = np.argsort(keys, kind="stable")  # which merges what is in order
    keys, bins = keys[order], bins[:, order]
    if (keys[1:] != keys[:-1]).all():
        return bins
    first = _first(keys)
    reductions = (np.minimum, np.maximum, np.add, np.add)
    with np.errstate(over="ignore"):
        return np.stack([reduction.reduceat(row, first) for reduction, row in zip(reductions, bins, strict=True)])


def limited(bins: F64, shift: int, max_bins: int) -> tuple[F64, int]:
    """Drop as few bits of the keys as leave `max_bins` bins, and return how many have been dropped in all."""
    while bins.shape[1] > max_bins:
        # Neighbours are told apart by their highest bit that differs: see how many must go. Without the bit below it
        # the conversion to float64 does not round it up.
        keys = _keys(bins)
        differing = keys[1:] ^ keys[:-1]
        bits = np.sort(np.frexp((differing & ~(differing >> np.uint64(1))).astype(np.float64))[1])
        shift = max(shift + 1, int(bits[-max_bins]))
        bins = pooled([bins], shift)
    return bins, shift


def error_bound(bins: F64) -> float:
    """Return the most that pairs within bins of several scores can move the AUC."""
    low, high, pos, neg = bins
    wide = low < high
    if not (wide.any() and pos.any() and neg.any()):
        return 0.0
    return float(0.5 * (pos[wide] @ neg[wide]) / (pos.sum() * neg.sum()))


def _first(keys: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return the places where blocks of equal keys begin."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))


def _keys(bins: F64) -> NDArray[np.uint64]:
    """Whole numbers in the order of the scores.

    Scores are told apart by their leading bits the better the nearer they are to 0; where all are probabilities, so are
    those near 1: from 1/2 on it is 1 - s, which is exact, that is counted down.
    """
    score = bins[0] + 0.0
    bits = score.view(np.uint64)
    if (bins[0] >= 0.0).all() and (bins[1] <= 1.0).all():
        rest = np.maximum((1.0 - score).view(np.uint64), _LEAST)
        return np.asarray(np.where(score < 0.5, bits, _HALF + (_HALF - np.minimum(rest, _HALF))))
    return np.asarray(np.where(bits & _SIGN, ~bits, bits | _SIGN))
