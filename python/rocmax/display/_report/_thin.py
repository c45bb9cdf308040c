"""The points of a ROC curve that a page needs: those that a screen can show, and the best one at each rate."""

from typing import NamedTuple

import numpy as np

from rocmax._typing import F64

_CELLS = 1000  # along a curve: about a pixel each
_POINTS = 8000  # all curves together, but each has at least a fifth of the cells above
_FINEST = 1e-5  # rate on the slider


class Points(NamedTuple):
    """Vertices of a curve: both rates at each threshold."""

    fpr: F64
    tpr: F64
    threshold: F64


def thinned(curve: Points, low: float, high: float, n_curves: int) -> Points:
    """Return the vertices between two FPRs that a screen can show; they stay exact.

    A curve only rises, so its length in the city-block metric is rise plus run. Marks at equal distances divide it, and
    the vertices on either side of a mark are kept: all others lie within one such distance of a kept one.
    """
    first = max(int(np.searchsorted(curve.fpr, low)) - 1, 0)
    last = min(int(np.searchsorted(curve.fpr, high, side="right")) + 1, len(curve.fpr))
    part = Points(*(values[first:last] for values in curve))
    cells = min(_CELLS, max(_CELLS // 5, _POINTS // n_curves))
    if len(part.fpr) <= 2 * cells:
        return part
    rise = part.tpr[-1] - part.tpr[0]
    length = (part.fpr - part.fpr[0]) / (part.fpr[-1] - part.fpr[0])
    length += (part.tpr - part.tpr[0]) / (rise if rise > 0 else 1.0)
    after = np.searchsorted(length, np.linspace(0.0, length[-1], cells + 1))
    kept = np.union1d(after, np.maximum(after - 1, 0))
    return Points(*(values[kept] for values in part))


def stops(n_neg: float, fpr_range: tuple[float, float]) -> F64:
    """Return the rates of the slider: 0, two-digit rates from about one negative up, and the ends of the range."""
    least = max(_FINEST, min(0.1, 1.0 / n_neg))
    decades = range(int(np.floor(np.log10(least))), 0)
    two_digits = [float(f"{digits}e{decade - 1}") for decade in decades for digits in range(10, 100)]
    return np.unique([0.0, *(rate for rate in two_digits if rate >= least), 1.0, *fpr_range])


def best_at(curve: Points, fpr: F64) -> Points:
    """Return the vertex with the highest TPR at or below each FPR; among equal ones, with the highest threshold."""
    highest = curve.tpr[np.searchsorted(curve.fpr, fpr, side="right") - 1]
    place = np.searchsorted(curve.tpr, highest)
    return Points(*(values[place] for values in curve))
