"""Confidence limits, the tests that are dual to them, and the distributions of both.

A p-value is the least level at which the interval, or its end on one side, excludes the value. Distributions are the
core's, as SciPy takes half a second to import. So is the search for limits of differences (:class:`Profile`), on the
ellipse of joint limits; it takes the limits of every estimate at the levels up to the first of `_LEVELS` that suffices.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64

_LEVELS = 12, 18, 36  # up to z = 2.3, 4.8 and 30, and one beyond, for the slope there
_AT_ONCE = 2**13  # limits at a time
_MOST = 1e100  # the squares of greater numbers overflow
_KNOWN = 4.0  # degrees of freedom of a correlation of 1/2 that is half believed
_EQUAL = 1e-12  # a correlation so near to 1 is that of equal components
_ROUNDING = 1e-12
_CLOSE = 1e-13  # to the ends of intervals
_NEAREST, _FARTHEST = 1e-9, 8.2  # standard errors: a probability within, or beyond, is that of rounding
_DEEP = 1e3  # differences: a limit that far beyond a value counts as no farther
_MOST_STEPS = 200  # of a search; bisection alone takes 48 on the widest
FEW = 5  # with fewer samples in a class the variance of its components is unreliable: see `methods.delong`

#: What a positive gains, by the shares of the positives at or above it and of the negatives above it.
Gain = _core.Gain


class Law(NamedTuple):
    """The standard normal distribution, or Student's t with `df` degrees of freedom."""

    df: Any = None

    def cdf(self, x: Any) -> Any:
        """Probability below `x`."""
        return normal_cdf(x) if self.df is None else _each(_core.student_cdf, self.df, x)

    def quantile(self, p: Any) -> Any:
        """Return the point with probability `p` below it."""
        return normal_quantile(p) if self.df is None else _each(_core.student_quantile, self.df, p)

    def reach(self, z: Any) -> Any:
        """Return the point with the probability beyond it that the normal distribution has beyond `z`."""
        return z if self.df is None else np.abs(self.quantile(normal_cdf(-np.asarray(z))))


def normal_cdf(x: Any) -> Any:
    """Return the probability of the standard normal distribution below x."""
    return _each(_core.normal_cdf, x)


def normal_quantile(p: Any) -> Any:
    """Return the point with this probability below it."""
    return _each(_core.normal_quantile, p)


def _each(function: Callable[..., F64], *numbers: Any) -> Any:
    """Return a function of the core for each of the numbers, which are broadcast."""
    arrays = np.broadcast_arrays(*numbers) if len(numbers) > 1 else [np.asarray(numbers[0])]
    found = function(*(np.ascontiguousarray(array, dtype=np.float64).ravel() for array in arrays))
    return found.reshape(arrays[0].shape)[()]


def satterthwaite(parts: Sequence[Any] | F64, freedom: Sequence[Any] | F64, without: Any = np.inf) -> F64:
    """Return the degrees of freedom of a sum V of variances v, ``1 / sum (v / V)^2 / f``; parts of 0 spend none."""
    total, pairs = sum(parts), zip(parts, freedom, strict=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        spent = sum(np.where(v > 0, np.true_divide(v, total) ** 2 / f, 0.0) for v, f in pairs)
        return np.where(spent > 0, 1 / spent, without)


class Tails(NamedTuple):
    """The distance of an estimate from a value in standard errors, and the p-values of being less and greater."""

    statistic: Any
    less: Any
    greater: Any


class Limits(NamedTuple):
    """The interval of a method at every level, and the tails that are dual to it.

    A level is given as its normal quantile z, 1.96 for 95 %: one, or an array whose last axis is that of the models.
    """

    ends: Callable[[Any], tuple[F64, F64]]
    tails: Callable[[float], Tails]

    def at(self, level: float) -> tuple[F64, F64]:
        """Return the interval with this confidence."""
        return self.ends(critical(level))

    def moved(self, shift: float, scale: float, bounds: tuple[float, float], estimate: Any) -> "Limits":
        """Return the limits of ``shift + scale x``, which lies in `bounds`; they hold its estimate, however rounded."""

        def ends(z: Any) -> tuple[F64, F64]:
            low, high = (shift + scale * end for end in self.ends(z)[:: 1 if scale > 0 else -1])
            return np.minimum(low, estimate), np.maximum(high, estimate)

        def tails(null: float) -> Tails:
            statistic, less, greater = self.tails((null - shift) / scale)
            return Tails(statistic, less, greater) if scale > 0 else Tails(-statistic, greater, less)

        return Limits(ends, within(*bounds, tails))


def counted(number: float) -> float:
    """Return a rounded product or sum that counts samples: 5 of them are not few, 5 less rounding would be."""
    whole = round(number)
    return float(whole) if abs(number - whole) < 1e-9 * number else number


def around(low: F64, share: F64, high: F64) -> tuple[F64, F64]:
    """Return limits of shares that contain the estimates; those of 0 and 1 end there."""
    low = np.where(share <= 0, 0.0, np.minimum(low, share))
    return low, np.where(share >= 1, 1.0, np.maximum(high, share))


def tails_of(distance: Any, error: Any, law: Law) -> Tails:
    """Tails of a distance with a standard error; a distance of 0 with an error of 0 is no evidence."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        statistic = np.where(distance == 0, 0.0, np.true_divide(distance, error))[()]
    none = (distance == 0) & (error == 0)
    less, greater = (np.where(none, 1.0, law.cdf(side * statistic))[()] for side in (1, -1))
    return Tails(statistic, less, greater)


def wald(estimate: Any, error: Any, law: Law) -> Callable[[float], Tails]:
    """Return the tails of an estimate with a standard error."""
    return lambda null: tails_of(estimate - null, error, law)


def dual(at: F64, ends: Callable[[Any], tuple[F64, F64]], farthest: float = _FARTHEST) -> Callable[[float], Tails]:
    """Return the tails of values: the least levels, up to `farthest`, at which their intervals exclude another."""

    def tails(null: float) -> Tails:
        apart = at - null
        size = np.where(apart == 0, 1.0, np.abs(apart))

        def gap(z: F64) -> F64:
            low, high = ends(z)
            return np.clip(np.where(apart > 0, low - null, null - high) / size, -_DEEP, _DEEP)

        near = np.full_like(at, _NEAREST)
        none = (apart == 0) | (gap(near) <= 0)
        z = last_held(near, np.full_like(at, farthest), lambda z: np.where(none, 1.0, gap(z)))
        return tails_of(np.sign(apart) * np.where(none, 0.0, z), 1.0, Law())

    return tails


def within(least: float, most: float, tails: Callable[[float], Tails]) -> Callable[[float], Tails]:
    """Return tails that reject every value outside of the bounds."""

    def known(null: float) -> Tails:
        if least <= null <= most:
            return tails(null)
        return Tails(np.inf, 1.0, 0.0) if null < least else Tails(-np.inf, 0.0, 1.0)

    return known


def widened(limits: Limits, below: float, above: float, bounds: tuple[float, float]) -> Limits:
    """Return limits that hold if the estimate is too high by up to `below` or too low by up to `above`."""

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        return np.maximum(low - below, bounds[0]), np.minimum(high + above, bounds[1])

    def tails(null: float) -> Tails:
        higher, lower = limits.tails(null + below), limits.tails(null - above)
        statistic = np.maximum(higher.statistic, 0.0) + np.minimum(lower.statistic, 0.0)
        return Tails(statistic, lower.less, higher.greater)

    return Limits(ends, within(*bounds, tails))


@lru_cache
def critical(level: float) -> float:
    """Return z with probability `level` between -z and z."""
    return float(Law().quantile(0.5 + level / 2))


def wald_limits(estimate: Any, error: Any, law: Law, bounds: tuple[float, float]) -> Limits:
    """Estimate -+ quantile times standard error, within the bounds of what is estimated."""

    def ends(z: Any) -> tuple[F64, F64]:
        reach = law.reach(z) * error
        return np.maximum(estimate - reach, bounds[0]), np.minimum(estimate + reach, bounds[1])

    return Limits(ends, within(*bounds, wald(estimate, error, law)))


def sided(distance: F64, apart: F64, law: Law | None = None) -> Tails:
    """Tails of a distance in standard errors; it counts only with the sign of `apart`, so that intervals hold 0."""
    held = np.where(apart > 0, np.maximum(distance, 0.0), np.where(apart < 0, np.minimum(distance, 0.0), 0.0))
    return tails_of(held, 1.0, law or Law())


def percentiles(
    values: F64,
    distance: Callable[[float], Tails],
    moved: Callable[[F64], F64] = lambda p: p,
    back: Callable[[F64], F64] = lambda p: p,
) -> Limits:
    """Return the percentiles of bootstrap replicates (n_resamples, n_models) as limits.

    `moved` corrects percentiles and `back` is its inverse. The one-sided p-value is the share of replicates beyond the
    value, interpolated between two replicates as in :func:`numpy.quantile`, and at least 1 / (n_resamples + 1). The
    statistic is that of `distance`.
    """

    def ends(z: Any) -> tuple[F64, F64]:
        beyond = 1 - Law().cdf(z)
        tails = moved(np.array([[beyond], [1 - beyond]]) * np.ones(values.shape[1]))
        low, high = np.array([np.quantile(row, tail) for row, tail in zip(values.T, tails.T, strict=True)]).T
        return low, high

    def tails(null: float) -> Tails:
        first, last = np.array([_places(np.sort(row), null) for row in values.T]).T
        least = 1 / (len(values) + 1)
        less, greater = np.maximum(1 - back(first), least), np.maximum(back(last), least)
        return Tails(distance(null).statistic, less, greater)

    return Limits(ends, tails)


def _places(ordered: F64, value: float) -> tuple[float, float]:
    """Return the first and the last p in [0, 1] whose quantile is `value`, or the p between its neighbours."""
    steps = len(ordered) - 1

    def between(after: int) -> float:
        if after in (0, len(ordered)):
            return float(after > 0)
        low, high = ordered[after - 1], ordered[after]
        return float((after - 1 + (value - low) / (high - low)) / steps)

    slack = _ROUNDING * ordered[-1] - _ROUNDING * ordered[0]  # the range itself may overflow
    first, after = int(np.searchsorted(ordered, value - slack)), int(np.searchsorted(ordered, value + slack, "right"))
    return (first / steps, (after - 1) / steps) if first < after else (between(first), between(after))


def either(first: NDArray[np.bool_], one: Limits, other: Limits) -> Limits:
    """Return the limits of one method for the marked estimates, and of another for the rest."""
    if first.all() or not first.any():
        return one if first.all() else other

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = np.where(first, one.ends(z), other.ends(z))
        return low, high

    def tails(null: float) -> Tails:
        pairs = zip(one.tails(null), other.tails(null), strict=True)
        return Tails(*(np.where(first, a, b) for a, b in pairs))

    return Limits(ends, tails)


def stacked(parts: Sequence[Limits]) -> Limits:
    """Return the limits of several models from those of each."""
    if len(parts) == 1:
        return parts[0]

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = (np.concatenate(side, axis=-1) for side in zip(*(one.ends(z) for one in parts), strict=True))
        return low, high

    def tails(null: float) -> Tails:
        found = zip(*(one.tails(null) for one in parts), strict=True)
        return Tails(*(np.concatenate([np.atleast_1d(x) for x in column]) for column in found))

    return Limits(ends, tails)


def of_models(intervals: Sequence[tuple[Any, Any, Limits]]) -> tuple[F64, F64, Limits]:
    """Return estimates, variances and limits of several models from those of each."""
    estimate, variance, limits = zip(*intervals, strict=True)
    return np.hstack(estimate), np.hstack(variance), stacked(limits)


def of_share(estimate: F64, size: Any, bounds: tuple[float, float], law: Law | None = None) -> Limits:
    """Return Wilson's limits, which have a width also without variance, of a measure as a share of `size` samples."""
    least, span, law = bounds[0], bounds[1] - bounds[0], law or Law()
    share = np.clip((estimate - least) / span, 0.0, 1.0)
    limits = Limits(
        lambda z: wilson(share * size, size, law.reach(z)),
        lambda at: tails_of(share - at, np.sqrt(at * (1 - at) / size), law),
    )
    return limits.moved(least, span, bounds, estimate)


def of_rates(
    at: Callable[..., Any],
    rates: Sequence[float],
    sizes: Sequence[float],
    bounds: tuple[float, float],
    law: Law | None = None,
    farthest: float = _FARTHEST,
) -> Limits:
    """Return the limits of a function of independent rates by Wilson's of each (MOVER: Zou and Donner, 2008)."""
    value, law = at(*rates), law or Law()

    def ends(z: Any) -> tuple[F64, F64]:
        z, below, above = law.reach(np.atleast_1d(z)), 0.0, 0.0
        for k, (rate, size) in enumerate(zip(rates, sizes, strict=True)):
            changed = ([*rates[:k], end, *rates[k + 1 :]] for end in wilson(rate * size, size, z))
            moved = [at(*each) - value for each in changed]
            below = below + np.minimum(np.minimum(*moved), 0.0) ** 2
            above = above + np.maximum(np.maximum(*moved), 0.0) ** 2
        return np.maximum(value - np.sqrt(below), bounds[0]), np.minimum(value + np.sqrt(above), bounds[1])

    return Limits(ends, within(*bounds, dual(np.array([value]), ends, farthest)))


def no_width(low: Any, high: Any, bounds: tuple[float, float]) -> Any:
    """Mark intervals that are no wider than rounding, that of their own ends if the measure has no two bounds."""
    span = bounds[1] - bounds[0]
    return np.asarray(high) - low <= _ROUNDING * (span if np.isfinite(span) else np.maximum(np.abs(low), np.abs(high)))


def wilson(k: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Return the ends of all rates p with ``(k/n - p)^2 <= z^2 p (1 - p) / n`` (Wilson, 1927)."""
    middle, reach = k + z**2 / 2, z * np.sqrt(k * (n - k) / n + z**2 / 4)
    low, high = (middle - reach) / (n + z**2), (middle + reach) / (n + z**2)
    return np.where(k == 0, 0.0, low)[()], np.where(k == n, 1.0, high)[()]


def last_held(inner: F64, outer: F64, gap: Callable[[F64], F64]) -> F64:
    """Return points from `inner` to `outer` where a continuous `gap` falls below 0, or `outer` (Chandrupatla, 1997)."""
    fx, fy = np.maximum(gap(inner), 0.0), gap(outer)
    x, y, fx, fy = (np.array(part) for part in np.broadcast_arrays(inner, outer, fx, fy))
    inner, outer = x, y
    if not (np.isfinite(fx) & np.isfinite(fy)).all():
        raise ValueError(f"an interval's ends need numbers to search between, got {x} with {fx} and {y} with {fy}")
    whole = fy >= 0
    share = np.full_like(inner, 0.5)  # of the way from x, the last point, to y, on the other side
    for _ in range(_MOST_STEPS):
        way = y - x
        least = _CLOSE / np.maximum(np.abs(way), _CLOSE)
        if (whole | (least >= 0.5)).all():
            break
        at = x + np.minimum(np.maximum(share, least), 1 - least) * way
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


def shrunk(matrix: F64, freedom: F64) -> F64:
    """Return the correlations that :class:`Profile` takes, by the degrees of freedom of the differences."""
    error = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    both = np.outer(error, error)
    r = np.clip(np.divide(matrix, both, out=np.zeros_like(matrix), where=both > 0), -1.0, 1.0)
    apart = np.where(r < 1.0 - _EQUAL, 1.0 - r, 0.5)
    return np.asarray(r / (1.0 + 2.0 * apart * (_KNOWN / freedom) ** 2))


def profile(
    estimate: F64, limits: Limits, correlation: F64, span: float
) -> Callable[[tuple[NDArray[np.intp], NDArray[np.intp]]], Limits]:
    """Return the function of pairs of places that gives the limits of their difference, which is at most `span`."""
    known = np.empty((2, 0, len(estimate)))

    @cache
    def profiles(n_levels: int) -> _core.Profiles:
        nonlocal known
        few = max(1, _AT_ONCE // len(estimate))
        for start in range(known.shape[1], n_levels, few):
            z = [[_core.Profiles.level(k)] for k in range(start, min(start + few, n_levels))]
            known = np.concatenate([known, np.clip(limits.ends(np.array(z)), -_MOST, _MOST)], axis=1)
        return _core.Profiles(len(estimate), *known[:, :n_levels].reshape(2, -1))

    def of_pairs(pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Limits:
        first, second = pairs
        difference, angle = estimate[first] - estimate[second], np.arccos(correlation[first, second])

        def ends(z: Any) -> tuple[F64, F64]:
            known = next((n for n in _LEVELS if np.max(z) <= _core.Profiles.level(n - 2)), _LEVELS[-1])
            quantiles = np.ascontiguousarray(np.broadcast_to(z, difference.shape), dtype=np.float64)
            low, high = (profiles(known).ends(*both, angle, quantiles) for both in (pairs, pairs[::-1]))
            return np.clip(low, -span, difference), np.clip(-high, difference, span)

        def tails(null: float) -> Tails:
            side = np.sign(difference - null)
            one, other = np.where(side > 0, pairs, pairs[::-1])
            for n_levels in _LEVELS:
                far = _core.Profiles.level(n_levels - 2)
                z = profiles(n_levels).distances(one, other, angle, side * null, far)
                if (z < far).all():
                    break
            return tails_of(side * z, 1.0, Law())

        return Limits(ends, within(-span, span, tails))

    return of_pairs
