"""Confidence intervals of one measure, and the distributions that they and the tests read.

From special functions: `scipy.stats` takes a second to import and a tenth of a millisecond for a quantile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax.metrics._measure import Measure
from rocmax.metrics._validation import F64

_CLOSE = 4e-15  # to the ends of intervals
_MOST_STEPS = 200  # of a search: by halves alone the widest takes 52

_LEAST_FREEDOM = 0.01  # the quantiles of fewer degrees are beyond numbers

# Below this size of a class the variance of its components says too little: see `logit`.
_FEW = 5


class Law(NamedTuple):
    """The standard normal distribution, or Student's t with `df` degrees of freedom."""

    df: Any = None

    def cdf(self, x: Any) -> Any:
        """Probability below `x`."""
        return special.ndtr(x) if self.df is None else special.stdtr(self.df, x)

    def quantile(self, p: Any) -> Any:
        """Return the point with probability `p` below it."""
        return special.ndtri(p) if self.df is None else special.stdtrit(self.df, p)


def critical(level: float) -> float:
    """Return z with probability `level` between -z and z."""
    return float(Law().quantile(0.5 + level / 2))


def normal(estimate: F64, variance: F64, measure: Measure, level: float) -> tuple[F64, F64]:
    """Estimate -+ z standard errors, within the values that the measure can take."""
    reach = critical(level) * np.sqrt(variance)
    return np.maximum(estimate - reach, measure.least), np.minimum(estimate + reach, measure.most)


def logit(estimate: F64, parts: Sequence[F64], sizes: Sequence[Any], measure: Measure, level: float) -> tuple[F64, F64]:
    """Log-odds of the estimate -+ t standard errors, t with the degrees of Welch and Satterthwaite.

    Of a measure without an upper bound the log, which is what log-odds tend to as their bound grows. The components of
    fewer than five samples, or of samples that are all ranked alike, have a variance that is as good as unknown. There
    the interval of an AUC, with a margin or without, is that of :func:`newcombe`.
    """
    bounded = np.isfinite(measure.most)
    span = measure.most - measure.least if bounded else 1.0
    share = (estimate - measure.least) / span
    rest = 1 - share if bounded else np.ones_like(share)
    variance = np.sum(parts, axis=0)
    inside = (share > 0) & (rest > 0) & (variance > 0)
    scale, back = (special.logit, special.expit) if bounded else (np.log, np.exp)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # A part of 0 takes no degree of freedom, be there but one sample for it.
        spent = [
            np.where(part > 0, (part / variance) ** 2 / (size - 1), 0.0)
            for part, size in zip(parts, sizes, strict=True)
        ]
        freedom = np.where(inside, 1 / np.sum(spent, axis=0), 1.0)
        quantile = np.where(freedom > _LEAST_FREEDOM, Law(freedom).quantile(0.5 + level / 2), np.inf)
        reach = quantile * np.sqrt(variance) / (span * share * rest)
        low, high = (np.where(inside, back(scale(share) + side * reach), share) for side in (-1, 1))
    low, high = measure.least + span * low, measure.least + span * high
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    if measure.name in ("auc", "margin"):
        fewest = np.minimum.reduce(list(sizes))
        unknown = ~inside | (fewest < _FEW)
        if unknown.any():  # of several classes the fewest stand against all others
            others = np.sum(np.broadcast_arrays(*sizes), axis=0) - fewest
            low, high = np.where(unknown, newcombe(estimate, (fewest, others), level), (low, high))
    return low, high


def newcombe_variance(auc: F64, sizes: tuple[Any, Any]) -> F64:
    """Return ``A (1-A) / (m n) (1 + ((m+n)/2 - 1) ((1-A)/(2-A) + A/(1+A)))``.

    Hanley and McNeil's variance, that of scores with exponential distributions, made symmetric in
    the classes (Newcombe, 2006, method 5).
    """
    n_pos, n_neg = sizes
    spread = (1 - auc) / (2 - auc) + auc / (1 + auc)
    return np.asarray(auc * (1 - auc) * (1 + ((n_pos + n_neg) / 2 - 1) * spread) / (n_pos * n_neg))


def newcombe(auc: F64, sizes: tuple[Any, Any], level: float) -> tuple[F64, F64]:
    """Return the ends of all A with ``|A - auc| <= z sqrt(V(A))``, V the variance of :func:`newcombe_variance`.

    Like Wilson's interval of a proportion it takes the variance at its own ends, so that it does
    not shrink to a point at an AUC of 0 or 1.
    """
    z = critical(level)

    def gap(a: F64) -> F64:
        return z * np.sqrt(newcombe_variance(a, sizes)) - np.abs(a - auc)

    low, high = (last_held(auc, np.full_like(auc, outer), gap) for outer in (0.0, 1.0))
    return np.where(auc <= 0, 0.0, low), np.where(auc >= 1, 1.0, high)


def wilson(k: float, n: float, z: float) -> tuple[float, float]:
    """Return the ends of all rates p with ``(k/n - p)^2 <= z^2 p (1 - p) / n`` (Wilson, 1927)."""
    middle, reach = k + z**2 / 2, z * np.sqrt(k * (n - k) / n + z**2 / 4)
    return (0.0 if k == 0 else (middle - reach) / (n + z**2)), (1.0 if k == n else (middle + reach) / (n + z**2))


def last_held(inner: F64, outer: F64, gap: Callable[[F64], F64]) -> F64:
    """Points from `inner` to `outer` where a continuous `gap` falls below 0, or `outer`; at `inner` it is 0 or more.

    Inverse quadratic interpolation through the last three points where that is safe, bisection elsewhere (Chandrupatla,
    1997).
    """
    x, fx, y, fy = inner, np.maximum(gap(inner), 0.0), outer, gap(outer)
    if not (np.isfinite(fx) & np.isfinite(fy)).all():
        raise ValueError(f"an interval's ends need numbers to search between, got {x} with {fx} and {y} with {fy}")
    whole = fy >= 0
    share = np.full_like(inner, 0.5)  # of the way from x, the last point, to y, on the other side
    for _ in range(_MOST_STEPS):
        with np.errstate(divide="ignore"):
            least = np.minimum(_CLOSE / np.abs(y - x), 0.5)
        if (whole | (least == 0.5)).all():
            break
        at = x + np.clip(share, least, 1 - least) * (y - x)
        f = gap(at)
        same = (f >= 0) == (fx >= 0)
        z, fz = np.where(same, x, y), np.where(same, fx, fy)
        y, fy = np.where(same, y, x), np.where(same, fy, fx)
        x, fx = at, f
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (x - y) / (z - y), (fx - fy) / (fz - fy)
            quadratic = fx / (fy - fx) * fz / (fy - fz) + (z - x) / (y - x) * fx / (fz - fx) * fy / (fz - fy)
            safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        share = np.where(safe, quadratic, 0.5)
    return np.where(whole, outer, x)
