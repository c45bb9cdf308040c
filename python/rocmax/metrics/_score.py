"""Score intervals of an AUC or a partial AUC: the variance is taken at the interval's ends, not at the estimate.

Few positives all ranked alike have components that do not vary, and an estimate near 0 or 1 a variance near 0; an
interval built on them is far too short. As Newcombe does for an AUC, let a curve of one parameter say what the variance
is at a value: ``TPR = FPR^c`` (scores with exponential distributions, the curve behind Hanley and McNeil's variance).
Over FPR in [a, b], with U the false positive rate at a positive's score and G that at a negative's, it gives

    theta = (b^(c+1) - a^(c+1)) / ((c+1) (b-a))
    V10   = var min(1, max(0, (b - U) / (b - a)))
    V01   = var min(b, max(a, G))^c / (b - a)^2

Where components are many they know better: the model's variance of each class is multiplied by how much larger the
components' variance is than the model's at the estimate, weighted by the number k of samples against a prior worth
`_PRIOR` of them: ``(_PRIOR + (k - 1) ratio) / (_PRIOR + k - 1)``. Of the negatives those in the range count,
k = n (b - a).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rocmax.metrics._interval import Law, bisect
from rocmax.metrics._measure import Measure
from rocmax.metrics._validation import F64

# Of 3, 8 and 20 the smallest kept the coverage of few positives and lost least with many.
_PRIOR = 3.0
_LOG_C = (-30.0, 30.0)  # on this side of an area of 1 - 1e-13 and beyond any that is not 0


def model(c: F64, low: float, high: float) -> tuple[F64, F64, F64]:
    """Theta, V10 and V01 of the curves with exponents `c`."""
    width = high - low

    def moment(p: F64) -> F64:
        return np.asarray((high**p - low**p) / p)

    theta = moment(c + 1) / width
    won, height = low**c, high**c
    # The integral of ((high - u) / width)^2 times the density c u^(c - 1).
    inner = high**2 * (height - won) - c * (2 * high * moment(c + 1) - moment(c + 2))
    v10 = won + inner / width**2 - theta**2
    mean = low * won + moment(c + 1) + (1 - high) * height
    square = low * won**2 + moment(2 * c + 1) + (1 - high) * height**2
    return theta, np.maximum(v10, 0.0), np.maximum(square - mean**2, 0.0) / width**2


def score(
    estimate: F64, pos: F64, neg: F64, sizes: tuple[float, float], measure: Measure, level: float
) -> tuple[F64, F64, F64]:
    """Variance at the estimate, and the ends: all theta with ``(theta - estimate)^2 <= z^2 V(theta)``.

    `pos` and `neg` are the components' variances over the sizes of the classes; those of a single sample are not read.
    """
    span = measure.most - measure.least
    share = np.clip((estimate - measure.least) / span, 0.0, 1.0)
    parts = (pos, neg)
    if measure.name.startswith("sensitivity"):  # the curve with its classes changed
        parts, sizes = parts[::-1], sizes[::-1]
    low, high = measure.low, measure.high
    start = np.full_like(share, _LOG_C[0]), np.full_like(share, _LOG_C[1])
    log_c = bisect(*start, lambda u: model(np.exp(u), low, high)[0] > share)
    at_estimate = model(np.exp(log_c), low, high)[1:]
    known = sizes[0], max(1.0, sizes[1] * (high - low))
    ratios = [
        _ratio(part / span**2 * size, modelled, count)
        for part, size, modelled, count in zip(parts, sizes, at_estimate, known, strict=True)
    ]

    def variance(v10: F64, v01: F64) -> F64:
        return np.asarray(ratios[0] * v10 / sizes[0] + ratios[1] * v01 / sizes[1])

    z = float(Law().quantile(0.5 + level / 2))

    def within(u: F64) -> NDArray[np.bool_]:
        theta, v10, v01 = model(np.exp(u), low, high)
        return np.asarray((theta - share) ** 2 <= z**2 * variance(v10, v01))

    # A larger exponent is a smaller area.
    ends = [model(np.exp(bisect(log_c, outer, within)), low, high)[0] for outer in start[::-1]]
    below = np.where(share <= 0, 0.0, np.minimum(ends[0], share))
    above = np.where(share >= 1, 1.0, np.maximum(ends[1], share))
    return span**2 * variance(*at_estimate), measure.least + span * below, measure.least + span * above


def _ratio(found: F64, modelled: F64, count: float) -> F64:
    """Variance of the components over the model's, drawn towards 1 the more the fewer there are."""
    if count <= 1:
        return np.ones_like(modelled)
    ratio = np.divide(found, modelled, out=np.ones_like(modelled), where=modelled > 1e-12)
    return np.asarray((_PRIOR + (count - 1) * ratio) / (_PRIOR + count - 1))
