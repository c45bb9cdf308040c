"""Score intervals on binormal curves, whose limits the core computes: see `rust/core/src/interval/`."""

from typing import Any, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW, Limits, Tails, counted, dual, sided, wilson
from rocmax.metrics.samples._sample import Sample

_PRIOR, _SLOPES = 10.0, (0.2, 5.0)  # samples that the prior slope 1 counts for, and the least and the greatest slope


class Area(NamedTuple):
    """The measured area over a range of the curve or, if `mirrored`, of the curve with the classes exchanged."""

    low: float
    high: float
    mirrored: bool
    bounds: tuple[float, float]  # of the measure


def slope_of(one: Sample, count: float, mirrored: bool = False) -> float:
    """Return the slope of one model's curve, moved towards 1; `count` samples show it."""
    each = one.few_positives  # as the curve may have merged them
    return shrunk(one.once(("slope", mirrored), lambda: one.ranking().slope(mirrored, each)), count)


def shrunk(fit: float | None, count: float) -> float:
    """Return a fitted slope moved towards 1; `count` is the size of the smaller class."""
    if fit is None:
        return 1.0
    return min(max((_PRIOR + count * fit) / (_PRIOR + count), _SLOPES[0]), _SLOPES[1])


def score(
    estimate: F64, parts: tuple[F64, F64], slopes: F64, sizes: tuple[float, float], area: Area, threads: int
) -> tuple[F64, Limits]:
    """Return the variance at the estimate, by the `parts` of the classes and the curves' `slopes`, and the limits."""
    least, most = area.bounds
    span = most - least
    share = np.clip((estimate - least) / span, 0.0, 1.0)
    pos, neg = (part / span**2 for part in parts)
    if area.mirrored:
        pos, neg, sizes = neg, pos, sizes[::-1]
    found = _core.ScoreLimits.area(share, pos, neg, slopes, sizes, (area.low, area.high), threads)
    return span**2 * found.variance, limits_of(found, share).moved(least, span, area.bounds, estimate)


def limits_of(found: _core.ScoreLimits, share: F64) -> Limits:
    """Return the core's limits of shares."""

    def ends(z: Any) -> tuple[F64, F64]:
        at = np.ascontiguousarray(np.broadcast_to(z, np.broadcast_shapes(np.shape(z), share.shape)), dtype=np.float64)
        low, high = found.ends(at.ravel()).reshape(2, *at.shape)
        return low, high

    def tails(null: float) -> Tails:
        return sided(found.distances(null), share - null)

    return Limits(ends, tails)


def few_decide(n_neg: float, rate: float) -> bool:
    """Whether so few negatives are expected beyond the threshold of a rate that its limits are :func:`few_limits`."""
    return counted(n_neg * min(rate, 1.0 - rate)) < FEW


def few_limits(share: F64, slopes: F64, sizes: tuple[float, float], rate: float, threads: int) -> Limits:
    """Return the limits of the true rates at an FPR that few negatives decide; no curve is above 0 at 0."""
    if rate == 0.0:

        def below(z: Any) -> tuple[F64, F64]:
            high = np.asarray(wilson(share * sizes[0], sizes[0], z)[1])
            return np.zeros_like(high), high

        return Limits(below, dual(share, below))
    return limits_of(_core.ScoreLimits.few(share, slopes, sizes, (rate, rate), threads), share)
