"""Score intervals on binormal curves, whose limits `rust/core/src/interval/` computes, and effective sizes."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW, Limits, Tails, counted, dual, sided, wilson
from rocmax.metrics.samples._sample import Sample

PRIOR = 3.0  # clusters, or weighted samples

_STEADY, _SLOPES = 10.0, (0.2, 5.0)  # samples that the prior slope 1 counts for, and the least and the greatest slope


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
    return min(max((_STEADY + count * fit) / (_STEADY + count), _SLOPES[0]), _SLOPES[1])


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
    core_limits = _core.ScoreLimits.area(share, pos, neg, slopes, sizes, (area.low, area.high), threads)
    return span**2 * core_limits.variance, limits_of(core_limits, share).moved(least, span, area.bounds, estimate)


def limits_of(found: _core.ScoreLimits, share: F64) -> Limits:
    """Return the core's limits of shares."""

    @cache  # means over subgroups ask for the same level again
    def level(z: float) -> F64:
        return found.ends(np.full(share.size, z)).reshape(2, *share.shape)

    def ends(z: Any) -> tuple[F64, F64]:
        if np.ndim(z) == 0:
            low, high = level(float(z)).copy()
            return low, high
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


class Units(NamedTuple):
    """The clusters of a class, or its weighted samples: sums of components, and the greatest 1 / n."""

    sums: F64
    of_one: float  # the variance of the components
    most: float
    known: float  # at most so many decide V
    n_units: int

    @property
    def freedom(self) -> float:
        """How many of them decide V: its degrees of freedom."""
        return freedom_of_squares(float(self.sums @ self.sums), float(self.sums**2 @ self.sums**2), self.n_units)

    @property
    def size(self) -> float:
        """The effective size of the class."""
        found = self.most
        variance = float(self.sums @ self.sums) * self.n_units / max(self.n_units - 1, 1)
        if variance > 0:
            known = min(self.freedom, 1.0 / self.most, self.known)
            found = (PRIOR * self.most + known / (1.0 + self.of_one / variance)) / (PRIOR + known)
        return counted(1.0 / found)


def freedom_of_squares(second: float, fourth: float, count: float) -> float:
    """Return the degrees of freedom of a sum of `count` squares (Satterthwaite, 1946) from those of powers 2 and 4."""
    spare = fourth / second**2 - 1.0 / count if second**2 > 0 else np.inf
    return min(2.0 / spare, count) if spare > 0 else float(count)


def greatest(weight: F64, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the greatest weight that a positive and a negative may have."""
    classes = weight[positive], weight[~positive]
    pos, neg = (float(of_class.max()) for of_class in classes)
    apart = min(pos, neg) < max(float(of_class.min()) for of_class in classes)
    return (pos, neg) if apart else (max(pos, neg), max(pos, neg))


def prevalence_size(sample: Sample) -> float:
    """Return the effective number of samples for the prevalence, a ratio of sums of sampling weights."""
    share, pi = sample.weights / sum(sample.totals), sample.totals[0] / sum(sample.totals)
    most = float(share.max())
    known = min(pi, 1.0 - pi) / most  # heavy samples of one class alone show no variance
    return Units(share * (sample.positive - pi), pi * (1.0 - pi), most, known, sample.n_counted).size
