"""The two-way partial area: the part of the area under the ROC curve with FPR in [a, b] and TPR in [c, d].

``A = int_a^b min(d - c, max(0, R(x) - c)) dx``. Let R reach c at x1 and d at x2, both clipped to [a, b]; then

    A = int_x1^x2 R(x) dx - c (x2 - x1) + (d - c) (b - x2).

The curve is straight between its vertices (x_k, y_k), one per block of ties. If these move by (dx_k, dy_k), A changes
by ``int dy dx - int dx dy`` along the part of the curve in the region. A sample of weight 1 in block j moves ``y_k`` (a
positive) or ``x_k`` (a negative) by ``(1[j <= k] - y_k) / m`` or ``(1[j <= k] - x_k) / n``: its component is the sum of
the vertices' coefficients from k = j on.
"""

from typing import NamedTuple

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.samples._sample import vertices

_EDGE = 1e-12  # rounding of rates, relative to themselves


class Region(NamedTuple):
    """Ranges of both rates."""

    fpr: tuple[float, float]
    tpr: tuple[float, float]

    @property
    def size(self) -> float:
        """The area of the rectangle."""
        return (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])


def area(curve: _core.Curve, region: Region) -> float:
    """Return the area of a curve in a region."""
    fpr, tpr = vertices(*curve.steps()[1:])
    (a, b), (c, d) = region
    low, high = (float(np.clip(_reached(fpr, tpr, height), a, b)) for height in (c, d))
    wide = high - low > max(4 * np.finfo(float).eps * high, 1e-99)
    below = curve.measure(_core.Measure.partial(low, high, _core.Normalize.none())) - c * (high - low) if wide else 0.0
    return float(np.clip(below + (d - c) * (b - high), 0.0, region.size))


def _reached(fpr: F64, tpr: F64, height: float) -> float:
    """Return the false positive rate at which a curve of these vertices reaches a height in [0, 1]."""
    k = min(int(np.searchsorted(tpr, height)), len(tpr) - 1)
    if k == 0:
        return 0.0
    rise = tpr[k] - tpr[k - 1]
    share = (height - tpr[k - 1]) / rise if rise > 0 else 1.0
    return float(fpr[k - 1] + min(share, 1.0) * (fpr[k] - fpr[k - 1]))


def of_blocks(curve: _core.Curve, region: Region) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score."""
    rates = vertices(*curve.steps()[1:])
    first, last, share = np.zeros(len(rates[0]) - 1), np.ones(len(rates[0]) - 1), np.ones(len(rates[0]) - 1)
    for at, (low, high) in zip(rates, region, strict=True):
        start, step = at[:-1], np.diff(at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ends = [
                np.where(step > 0, np.clip((end - start) / step, 0, 1), of) for end, of in ((low, 0.0), (high, 1.0))
            ]
        first, last = np.maximum(first, ends[0]), np.minimum(last, ends[1])
        # A piece along an edge is outside, as where a range of one rate ends; rates cannot go beyond 0 and 1.
        inside = ((start > low * (1 + _EDGE)) | (low == 0)) & ((start < high * (1 - _EDGE)) | (high == 1))
        share *= (step > 0) | inside
    last = np.maximum(first, last)
    of_end = share * (last**2 - first**2) / 2
    of_start = share * (last - first) - of_end

    def summed(step: F64) -> F64:
        coefficient = step * of_end + np.append((step * of_start)[1:], 0.0)
        return np.asarray(np.cumsum(coefficient[::-1])[::-1])

    return summed(np.diff(rates[0])), -summed(np.diff(rates[1]))
