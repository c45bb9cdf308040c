"""The twin of the tables of means over the positives: searches in a table of all cells of all draws, by NumPy."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from tests.referee.few import quadrature

from rocmax._checks.samples import F64
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.intervals._inversion import Curves, whole

Gain = Callable[[Any, Any], Any]

_DRAWS = 2000
_FIRST, _LAST, _CELLS = -4.0, 6.0, 1000  # deviates of negatives are rounded to a cell
_EDGE = 14.0  # |a|: beyond it all rates are 0 or 1
_HALVINGS = 16  # of the search for a
_AT_ONCE = 2**15  # positives, whose places stay in the cache from one halving to the next
_CLOSE = 1e-6  # to the estimate
_LEVELS = np.linspace(-3.0, 3.0, 121)  # normal quantiles
_LEAST, _MOST = 1e-15, 1 - 1e-15  # shares with finite probits

_TPR, _WEIGHTS = quadrature(0.0, 1.0)
_ABOVE = -special.ndtri(_TPR)  # deviates of positives


def table(first: F64, last: F64) -> F64:
    """Return the variance of shares, and the probits of their quantiles, of the first and of the last."""
    shares = special.ndtr(_LEVELS)
    probits = [special.ndtri(np.clip(np.quantile(values, shares), _LEAST, _MOST)) for values in (first, last)]
    return np.concatenate([[np.concatenate([first, last]).var()], *probits])


def at_mean(gain: Gain, estimate: float, slope: float, sizes: tuple[float, float]) -> tuple[Curves, Curves]:
    """Return the first and the last curves for a mean over the positives."""
    drawn, b = drawn_of(*map(whole, sizes)), slope * np.exp(inversion._log_slopes(sizes))
    unit = _CELLS / ((_LAST - _FIRST) * b)  # cells per unit of a
    place = drawn.positives * unit[:, None] - _FIRST * _CELLS / (_LAST - _FIRST) + 0.5
    place = place.astype(np.float32)
    start = np.arange(0, _DRAWS * _CELLS, _CELLS)[:, None]
    m = whole(sizes[0])
    left_out = gain(np.arange(1, m + 1) / m, np.zeros(m)).mean() - gain(drawn.tpr, 0.0 * drawn.tpr) @ drawn.weights

    def at(a: F64, rows: Any) -> F64:
        moved = place[rows] + (a * unit[rows]).astype(np.float32)[:, None]
        cell = np.clip(moved, 0, _CELLS - 1).astype(np.intp)
        gained = np.einsum("ij,j->i", gain(drawn.tpr, drawn.fpr[cell + start[rows]]), drawn.weights)
        return np.asarray(left_out + gained)

    def search(low: F64, rows: Any, reached: Callable[[F64], Any]) -> F64:
        """Return the first a from `low` on whose value has reached what it must, or _EDGE."""
        high = np.full_like(low, _EDGE)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            held = reached(at(middle, rows))
            low, high = np.where(held, low, middle), np.where(held, middle, high)
        return high

    first, last = np.full((2, _DRAWS), -_EDGE)
    size = max(1, _AT_ONCE // place.shape[1])
    for begin in range(0, _DRAWS, size):
        block = slice(begin, begin + size)
        first[block] = last[block] = search(first[block], block, lambda value: value >= estimate - _CLOSE)
        rows = begin + np.flatnonzero(at(first[block], block) <= estimate + _CLOSE)
        last[rows] = search(first[rows], rows, lambda value: value > estimate + _CLOSE)
    return Curves(first, b), Curves(last, b)


def mean_on(gain: Gain, curves: Curves) -> F64:
    """Return the means of a gain over the positives of curves."""
    fpr = special.ndtr(-(_ABOVE + curves.a[:, None]) / curves.b[:, None])
    return np.asarray(np.einsum("ij,j->i", gain(_TPR, fpr), _WEIGHTS))


class _Draws(NamedTuple):
    """Positives as deviates at some ranks; negatives as their share above the cells of a grid of deviates, row by row.

    `tpr` are the shares of the positives at or above these ranks, `weights` the shares that each stands for.
    """

    positives: F64
    tpr: NDArray[np.float32]
    weights: NDArray[np.float32]
    fpr: NDArray[np.float32]


@lru_cache(maxsize=2)
def drawn_of(m: int, n: int) -> _Draws:
    (tpr, weights, positives), (_, jumps, negatives) = inversion._drawn(m, n)
    positives, negatives = positives.reshape(_DRAWS, -1), negatives.reshape(_DRAWS, -1)
    cell = np.clip((negatives - _FIRST) * _CELLS / (_LAST - _FIRST), 0, _CELLS - 1).astype(np.intp)
    cell += np.arange(0, _DRAWS * _CELLS, _CELLS)[:, None]
    inside = np.bincount(cell.ravel(), np.broadcast_to(jumps, cell.shape).ravel(), _DRAWS * _CELLS)
    above = np.cumsum(inside.reshape(_DRAWS, _CELLS)[:, ::-1], axis=1)[:, ::-1]
    return _Draws(positives, *(part.astype(np.float32) for part in (tpr, weights, above.ravel())))
