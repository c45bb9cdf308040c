"""Score intervals from a variance that is known as a quadratic function of the true value.

The limits are the values x with ``(estimate - x)^2 = q^2 V(x)``, ``V(x) = c0 + c1 x + c2 x^2`` and q the quantile of
the normal distribution or of Student's t. Wilson's interval of a proportion has ``V(x) = x (1 - x) / n``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, satterthwaite, tails_of, within

# Number of samples that the prior variance, x (1 - x) of a proportion, counts for. Intervals covered with 3 and 6; with
# 1 they undercovered for ten positives.
_PRIOR = 3.0
_NORMAL = 1e9  # degrees of freedom of the normal distribution
_ROUNDING = 1e-12
_MOST = 1e60  # quantile: its fourth power must not overflow


class Spread(NamedTuple):
    """An estimate, and its variance as a function of the true value, which lies in `bounds`."""

    estimate: float
    coefficients: tuple[float, float, float]
    freedom: float = _NORMAL
    bounds: tuple[float, float] = (0.0, 1.0)

    def moved(self, shift: float, scale: float) -> Spread:
        """Return the spread of ``shift + scale x``."""
        c0, c1, c2 = self.coefficients
        moved = scale**2 * c0 - scale * shift * c1 + shift**2 * c2, scale * c1 - 2 * shift * c2, c2
        bounds = shift + scale * self.bounds[0], shift + scale * self.bounds[1]
        return Spread(shift + scale * self.estimate, moved, self.freedom, bounds)


def wilson(estimate: float, shares: tuple[float, float], sizes: tuple[float, float]) -> Spread:
    """Return the spread ``x (1 - x) (shares[0] / m + shares[1] / n)``, with the degrees of Welch and Satterthwaite."""
    parts = [share / size for share, size in zip(shares, sizes, strict=True)]
    rate = sum(parts)
    freedom = satterthwaite(parts, [max(size - 1.0, 1e-9) for size in sizes])
    return Spread(estimate, (0.0, rate, -rate), min(float(freedom), _NORMAL))


def drawn(estimate: float, squares: Sequence[float] | F64, sizes: tuple[float, float]) -> Spread:
    """Return the spread of a measure between 0 and 1, by the sums of the squares of its centred components.

    The variances of the components, divided by ``x (1 - x)``, are shrunk towards 1 as if by three more samples. The
    positives' is at most 1 because their components lie between 0 and 1.
    """
    near = float(np.clip(estimate, 0.5 / (sizes[0] + 1.0), 1.0 - 0.5 / (sizes[0] + 1.0)))
    shares = [
        (_PRIOR + square / (near * (1.0 - near))) / (_PRIOR + max(size - 1.0, 0.0))
        for square, size in zip(squares, sizes, strict=True)
    ]
    return wilson(estimate, (min(shares[0], 1.0), shares[1]), sizes)


def limits_of(spreads: Sequence[Spread], bounds: tuple[float, float]) -> tuple[F64, F64, Limits]:
    """Return the estimates of all models, their variances and their limits."""
    estimate = np.array([spread.estimate for spread in spreads])
    c0, c1, c2 = np.array([spread.coefficients for spread in spreads]).T
    least, most = np.array([spread.bounds for spread in spreads]).T
    law = Law(np.array([spread.freedom for spread in spreads]))

    def variance(x: F64 | float) -> F64:
        possible = (x >= least - _ROUNDING) & (x <= most + _ROUNDING)
        return np.where(possible, np.maximum(c0 + c1 * x + c2 * np.square(x), 0.0), 0.0)

    def ends(z: Any) -> tuple[F64, F64]:
        q = np.minimum(law.reach(z), _MOST)  # with one sample in a class it overflows
        a, b, c = 1 - q**2 * c2, -2 * estimate - q**2 * c1, estimate**2 - q**2 * c0
        root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
        low, high = (np.clip((-b + side * root) / (2 * a), least, most) for side in (-1, 1))
        return np.minimum(low, estimate), np.maximum(high, estimate)

    def tails(null: float) -> Tails:
        return tails_of(estimate - null, np.sqrt(variance(null)), law)

    return estimate, variance(estimate), Limits(ends, within(*bounds, tails))
