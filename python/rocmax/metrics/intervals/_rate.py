"""Slope of the curve and score intervals at a rate: the TPR at an FPR, and the reverse.

`python/docs/mathematics.md` ("The TPR at an FPR") has the slope b between normal quantiles and the mean q of the true
FPR at the threshold, which is Beta(k + 1, n - k) for k = floor(n f): its variance is q (1 - q) / (n + 2).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits, dual, normal_quantile, wilson
from rocmax.metrics.intervals._score import few_decide, few_limits, limits_of, shrunk
from rocmax.metrics.samples._sample import vertices

# Half the width of the window for the slope, in standard errors; coverage was as good with 1 and 3.
_WINDOW = 2.0
_LAST = float(np.nextafter(1.0, 0.0))  # the greatest rate below 1, and n / (n + 1) for any weights
# With more distinct scores in the window, or fewer samples at each, ties are negligible.
_FINE, _SEVERAL = 40, 1.5
_EDGE = 8.0  # standard errors
# Returns the measure of every model at a rate.
Curve = Callable[[float], F64]


class _Place(NamedTuple):
    """Where a curve is read, written as the true positive rate at a false positive rate."""

    rate: float
    estimate: F64
    slope: F64  # b, between normal quantiles
    shift: F64  # Phi^-1(q) - Phi^-1(f), times b
    q: float
    n_called: float  # samples of the class whose rate is measured
    n_setting: float  # of the class that sets the threshold


def _density(x: Any) -> Any:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _place(curve: Curve, at: float, mirrored: bool, sizes: tuple[float, float]) -> _Place:
    rate = min(1.0 - at, _LAST) if mirrored else at
    m, n = sizes[::-1] if mirrored else sizes

    def read(x: float) -> F64:
        return 1.0 - curve(1.0 - x) if mirrored else curve(x)

    def true_rate(x: float) -> float:
        return float(min(min(np.floor(n * x + 1e-9) + 1.0, n) / (n + 1.0), _LAST))

    estimate = 1.0 - curve(at) if mirrored else curve(at)  # first, because it refuses samples of one class
    ends = [float(end) for end in wilson(rate * n, n, _WINDOW)]
    heights = [read(end) for end in ends]
    across = true_rate(ends[1]) - true_rate(ends[0])
    count = np.minimum((heights[1] - heights[0]) * m, across * (n + 1))
    rise = normal_quantile(_inner(heights[1], m)) - normal_quantile(_inner(heights[0], m))
    run = normal_quantile(true_rate(ends[1])) - normal_quantile(true_rate(ends[0]))
    quotient = rise / run if across > 0 else np.ones_like(rise)
    slope = (1.0 + count * quotient) / (1.0 + count)
    q = true_rate(rate)
    return _Place(rate, estimate, slope, slope * (normal_quantile(q) - normal_quantile(rate)), q, m, n)


def _inner(rate: F64, size: float) -> F64:
    """Rates that are neither 0 nor 1."""
    return np.asarray(np.minimum((rate * size + 0.5) / (size + 1), _LAST))


def slopes(curve: Curve, at: float, mirrored: bool, sizes: tuple[float, float]) -> tuple[F64, F64]:
    """Return the factors of the components of positives and of negatives, one for each model."""
    place = _place(curve, at, mirrored, sizes)
    height = normal_quantile(_inner(place.estimate, place.n_called))
    steepness = place.slope * _density(height) / _density(normal_quantile(place.q))
    ones = np.ones_like(steepness)
    return (steepness, ones) if mirrored else (ones, steepness)


def score(
    curve: Curve, curves: Iterable[_core.Curve], at: float, mirrored: bool, sizes: tuple[float, float], threads: int
) -> tuple[F64, F64, Limits]:
    """Return estimate, variance and limits by the law of a share at an estimated threshold: see :class:`Score`."""
    place = _place(curve, at, mirrored, sizes)
    share = np.clip(place.estimate, 0.0, 1.0)
    # s, of the normal quantile of R at the threshold.
    error = place.slope * np.sqrt(place.q * (1 - place.q) / (place.n_setting + 2)) / _density(normal_quantile(place.q))
    found = _core.ScoreLimits.rate(share, place.shift, error, place.n_called, threads)
    estimate = 1 - place.estimate if mirrored else place.estimate
    kept = (1.0, -1.0, (0.0, 1.0)) if mirrored else (0.0, 1.0, (0.0, 1.0))  # the rate of the curve, or 1 less it
    few, near, slopes = few_decide(place.n_setting, place.rate), [], []
    for one in curves:  # each is sorted when it is reached and then let go: those of many models fill the memory
        near.append(_thresholds(one, place, mirrored))
        if few:
            slopes.append(shrunk(one.slope(mirrored, False), min(sizes)))
    if few:
        own = few_limits(share, np.array(slopes), (place.n_called, place.n_setting), place.rate, threads)
    else:
        own = limits_of(found, share)
    return estimate, found.variance, _of_ties(own, place, near).moved(*kept, estimate)


def _of_ties(limits: Limits, place: _Place, near: Sequence[tuple[F64, F64] | None]) -> Limits:
    """Return the limits of models without ties near the place, and of the others those of all thresholds there."""
    others = [(k, *one) for k, one in enumerate(near) if one is not None]
    if not others:
        return limits

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        z = np.broadcast_to(z, low.shape)
        for k, distance, rates in others:
            room = z[..., k, None] ** 2 - distance**2
            lower, upper = wilson(rates * place.n_called, place.n_called, np.sqrt(np.maximum(room, 0.0)))
            low[..., k] = np.where(room >= 0, lower, 1.0).min(axis=-1)
            high[..., k] = np.where(room >= 0, upper, 0.0).max(axis=-1)
        return low, high

    return Limits(ends, dual(place.estimate, ends))


def _thresholds(curve: _core.Curve, place: _Place, mirrored: bool) -> tuple[F64, F64] | None:
    """Return standard errors by which thresholds miss the rate, and the rates there; None if ties are negligible."""
    error = np.sqrt(place.rate * (1 - place.rate) / place.n_setting)
    if not error:
        return None
    reach, rule = _WINDOW * error + 1.0 / place.n_setting, _core.Rule.sensitivity if mirrored else _core.Rule.fpr
    ends = np.clip([place.rate - reach, place.rate + reach], 0.0, 1.0)
    cuts = [curve.cut(rule(float(1.0 - end if mirrored else end)))[1] for end in ends]
    if abs(cuts[1] - cuts[0]) > _FINE:
        return None
    _, pos, neg = curve.steps()
    parts = (neg[::-1], pos[::-1]) if mirrored else (pos, neg)
    fixed, called = vertices(*parts)
    sizes = place.n_called, place.n_setting
    counts = [part * (size / part.sum()) for part, size in zip(parts, sizes, strict=True)]  # whole ones stay whole
    inside = (fixed[1:] >= ends[0]) & (fixed[:-1] <= ends[1])
    most = np.sqrt(place.n_called), _WINDOW * error * place.n_setting
    heavy = any((of[inside] > max(_SEVERAL, two)).any() for of, two in zip(counts, most, strict=True))
    held = inside & (parts[1] > 0)
    if not heavy and counts[1][held].sum() <= _SEVERAL * np.count_nonzero(held):
        return None
    over = np.maximum(fixed, place.rate) - np.minimum(np.append(fixed[1:], np.inf), place.rate)
    near = over <= _EDGE * error
    return over[near] / error, called[near]
