"""Limits of differences from those of the estimates, for pairs of estimates without a variance.

MOVER (Zou and Donner, 2008) for uncorrelated estimates: ``d - sqrt((a - a_low)^2 + (b_high - b)^2)`` is the lower limit
of ``d = a - b``, and the upper one likewise. It has a width where both models separate the classes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, tails_of, within

_NEAREST, _FARTHEST = 1e-9, 8.2  # standard errors: a probability within, or beyond, is that of rounding


def mover(estimate: F64, limits: Limits, pairs: tuple[NDArray[np.intp], NDArray[np.intp]], span: float) -> Limits:
    """Return the limits of ``estimate[first] - estimate[second]``; their tails are the least levels that exclude."""
    first, second = pairs
    d = estimate[first] - estimate[second]

    @cache
    def ends(level: float) -> tuple[F64, F64]:
        low, high = limits.ends(level)
        down, up = np.maximum(estimate - low, 0.0), np.maximum(high - estimate, 0.0)
        return (
            np.maximum(d - np.hypot(down[first], up[second]), -span),
            np.minimum(d + np.hypot(up[first], down[second]), span),
        )

    def distance(null: float, k: int) -> float:
        """Return z of the interval of one pair that ends at the value."""
        from scipy import optimize  # takes a while to import

        side = float(np.sign(d[k] - null))

        def gap(z: float) -> float:
            end = ends(1 - 2 * float(special.ndtr(-z)))[0 if side > 0 else 1]
            return float(side * (end[k] - null))

        if not side or gap(_NEAREST) <= 0:
            return 0.0
        if gap(_FARTHEST) > 0:
            return side * _FARTHEST
        return float(side * optimize.brentq(gap, _NEAREST, _FARTHEST, xtol=1e-8))

    def tails(null: float) -> Tails:
        return tails_of(np.array([distance(null, k) for k in range(len(d))]), 1.0, Law())

    return Limits(ends, within(-span, span, tails))
