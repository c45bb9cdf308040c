"""The area under the ROC curve over the logarithm of the false positive rate (Mysinger and Shoichet, 2010).

``LogAUC = int_low^high R(x) dlog10(x) / log10(high / low)`` of the curve R with straight lines between its points
(x_k, y_k), one a distinct score, integrated exactly: of a line with slope s from (x0, y0) to (x1, y1) the integral over
ln x is ``(y0 - s x0) ln(x1 / x0) + s (x1 - x0)``. If the points move by (dx_k, dy_k), the integral over ln x changes by
``int (dy dx - dx dy) / x`` along the curve; a sample moves all points from its own on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking, from_here


class _Pieces(NamedTuple):
    """The lines between the points of a curve: where each begins, how far it goes, and its part in the range."""

    x: F64
    y: F64
    run: F64
    rise: F64
    first: F64  # shares of the line
    last: F64


def _pieces(ranking: Ranking, low: float, high: float) -> _Pieces:
    run, rise = ranking.shares()[::-1]
    x, y = (np.concatenate([[0.0], np.cumsum(step)[:-1]]) for step in (run, rise))
    x[1:], y[1:] = np.minimum(x[1:], 1.0), np.minimum(y[1:], 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = ((end - x) / run for end in (low, high))
    flat = run == 0
    inside = (low <= x) & (x < high)
    first = np.where(flat, np.where(inside, 0.0, 1.0), np.clip(first, 0.0, 1.0))
    return _Pieces(x, y, run, rise, first, np.where(flat, 1.0, np.maximum(np.clip(last, 0.0, 1.0), first)))


def value(ranking: Ranking, low: float, high: float) -> float:
    """Return the area, divided by that of a curve of height 1. O(n) after the sort."""
    x, y, run, rise, first, last = _pieces(ranking, low, high)
    used = (run > 0) & (last > first)
    x, y, run, rise, first, last = (part[used] for part in (x, y, run, rise, first, last))
    start = np.maximum(x + first * run, low)
    width = np.log1p((last - first) * run / start)
    # The height where the part begins, and what the line rises from there.
    area = (y + first * rise) * width + rise / run * ((last - first) * run - start * width)
    return float(np.clip(area.sum() / np.log(high / low), 0.0, 1.0))


def components(ranking: Ranking, low: float, high: float) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score. O(n) after the sort."""
    x, _, run, rise, first, last = _pieces(ranking, low, high)
    start = np.maximum(x + first * run, low)
    length = last - first
    # int dt / x and int t dt / x, t the share of the line, over the part in the range.
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.where(run > 0, np.log1p(length * run / start) / run, length / start)
        bent = np.where(run > 0, (length - x * whole) / run, (last**2 - first**2) / 2 / start)
    # Short lines: the difference above has no digits left.
    middle = (first + last) / 2
    short = length * run < 1e-6 * start
    bent = np.where(short, middle * whole, bent)
    of_end, of_start = bent, whole - bent

    def summed(step: F64) -> F64:
        coefficient = step * of_end + np.append((step * of_start)[1:], 0.0)
        return from_here(coefficient) / np.log(high / low)

    return summed(run), -summed(rise)
