"""Limits of a measure of the ranking, by the distribution of its estimate on binormal curves.

On the curve ``R(x) = Phi(a + b Phi^-1(x))`` positives are a + Z and negatives b W, of standard normal Z and W. Of every
draw of m + n of them the value of the measure increases with a, so there is a first a, a_j, at which draw j reaches the
estimate, and a last a at which it does not exceed it; :class:`rocmax.metrics.Score` says what follows, and what b_j is.

A cut is reached if the c-th positive scores above the r-th negative, so that a_j is a difference of two order
statistics. Of a mean over the positives a_j is searched for; order statistics are drawn at the `_EVERY` ranks next to
either end and at geometric ones from there to the middle, so that the cost hardly grows with the numbers of samples.
What the mean is with all positives first is added exactly, or the ranks left out would count where the classes are
nearly separated. The draws depend on these numbers alone: results are the same for any number of threads and models.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, around, normal_cdf, normal_quantile, sided

_DRAWS = 2000
_KNOWN, PRIOR = 10.0, 5.0  # samples that the fitted slope counts for at most, and those of the prior
_ROOM = 1 << 23  # draws that are kept, of some sizes or of many small ones
_HELD: dict[tuple[int, int], Any] = {}
_EVERY, _GROWTH = 32, 0.1  # ranks from an end that are all drawn, and the logarithm of the ratio of those further in
_EDGE = 14.0  # |a|: beyond it all rates are 0 or 1
_RANKS = 500  # of positives, where the difference of the rates is read
_LEVELS = np.linspace(-3.0, 3.0, 121)  # normal quantiles; beyond them probits of the limits are continued as lines
_LEAST, _MOST = 1e-15, 1 - 1e-15  # shares with finite probits
_ROUNDING = 1e-9  # of counts
_TINY = 1e-12  # a variance
_SAME = 1e-12  # shares that differ by rounding


class Curves(NamedTuple):
    """Heights a and slopes b of binormal curves, one a draw."""

    a: F64
    b: F64


def places_of(tpr: float, fpr: float, sizes: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return c and r: rates at a cut are reached, or exceeded, if the c-th positive scores above the r-th negative."""
    hits, errors = sizes[0] * tpr, sizes[1] * fpr
    first = int(np.ceil(hits - _ROUNDING)), int(np.floor(errors + _ROUNDING)) + 1
    return first, (int(np.floor(hits + _ROUNDING)) + 1, int(np.ceil(errors - _ROUNDING)))


def at_cut(tpr: float, fpr: float, slope: float, sizes: tuple[float, float]) -> tuple[Curves, Curves]:
    """Return the first and the last curves for the rates at a cut that moves with the samples."""
    counts, b = (whole(sizes[0]), whole(sizes[1])), slope * np.exp(_log_slopes(sizes))
    first, last = (Curves(_separated(place, b, counts), b) for place in places_of(tpr, fpr, counts))
    return first, last


def at_mean(
    gains: tuple[_core.Gain, _core.Gain],
    shares: Sequence[float],
    slopes: Sequence[float],
    sizes: tuple[float, float],
    threads: int,
) -> list[F64]:
    """Return the tables of means over the positives, one for each model; gains are those of samples and of curves."""
    m, n = map(whole, sizes)
    (tpr, weights, positives), (_, jumps, negatives) = _drawn(m, n)
    drawn = m, (tpr, weights), positives, jumps, negatives, _log_slopes(sizes)
    models = np.array(shares, dtype=np.float64), np.array(slopes, dtype=np.float64)
    return list(_core.mean_tables(gains, *drawn, *models, threads).reshape(len(shares), -1))


def at_difference(apart: float, slope: float, sizes: tuple[float, float]) -> tuple[Curves, Curves]:
    """Return the first and the last curves for the largest difference of the rates at a threshold.

    It is reached with c positives and at most ``n (c / m - apart)`` negatives above the threshold, and exceeded with
    fewer: a draw reaches it on the least of the curves on which it does so at some c.
    """
    (m, n), b = map(whole, sizes), slope * np.exp(_log_slopes(sizes))
    hits, positives = _highest(m)
    errors = n * (hits / m - apart)
    ranks = np.stack([np.floor(errors + _ROUNDING) + 1, np.ceil(errors - _ROUNDING)])
    known = (ranks >= 1) & (ranks <= n)
    heights = np.where(ranks > n, -_EDGE, _EDGE)[:, None] * np.ones((_DRAWS, 1))  # beyond n no negative is in the way
    places, back = np.unique(ranks[known].astype(int), return_inverse=True)
    if len(places):
        which, column = np.nonzero(known)
        negatives = _at_ranks(_generator(5, n), places, n)[:, back]
        heights[which, :, column] = (b[:, None] * negatives - positives[:, column]).T
    first, last = (Curves(np.clip(each.min(axis=1), -_EDGE, _EDGE), b) for each in heights)
    return first, last


@lru_cache(maxsize=2)
def _highest(m: int) -> tuple[NDArray[np.int_], F64]:
    """Return the ranks of positives where the difference of the rates is read, and draws of them."""
    hits = np.unique(np.linspace(1, m, min(m, _RANKS)).astype(int))
    return hits, _at_ranks(_generator(4, m), hits, m)


def difference_on(curves: Curves) -> F64:
    """Return the largest differences of the rates on curves: where both densities are equal, or 0."""
    a, b = curves
    # Half the logarithm of their ratio is a quadratic function of the negatives' deviate z: u z^2 / 2 + v z + w = 0.
    u, v, w = b**2 - 1.0, a * b, a**2 / 2 - np.log(b)
    root = v + np.where(v < 0, -1.0, 1.0) * np.sqrt(np.maximum(v**2 - 2 * u * w, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.stack([-2 * w / root, -root / u])
        apart = normal_cdf(a + b * at) - normal_cdf(at)
    return np.asarray(np.nanmax([*apart, np.zeros_like(a)], axis=0))


class Inverse(NamedTuple):
    """An estimate as a share, and the true shares on the curves of all draws; the measure is a line of them."""

    share: float
    table: F64  # their variance and, at `_LEVELS`, the probits of their quantiles, of the first and the last curves
    law: Law = Law()
    shift: float = 0.0
    scale: float = 1.0
    stretch: float = 1.0  # of normal quantiles

    def estimate(self, bounds: tuple[float, float]) -> float:
        """Return the estimate of the measure."""
        return min(max(self.shift + self.scale * self.share, bounds[0]), bounds[1])

    @property
    def variance(self) -> float:
        """The variance of the measure's confidence distribution."""
        return (self.scale * self.stretch) ** 2 * float(self.table[0])

    def widened(self, variance: float, count: float) -> "Inverse":
        """Return a wider distribution if the components of a class of `count` samples have a greater variance."""
        excess = variance / max(self.variance, _TINY) - 1.0
        return self._replace(stretch=(1.0 + (count - 1.0) / (count + 2.0) * max(excess, 0.0)) ** 0.5)

    def limits(self, bounds: tuple[float, float]) -> Limits:
        """Return the limits of the measure; `law` takes the place of the normal distribution."""
        share = float(round(self.share)) if abs(self.share - round(self.share)) < _SAME else self.share
        law, estimate, (low, high) = self.law, np.array([share]), self.table[1:].reshape(2, -1)

        def ends(z: Any) -> tuple[F64, F64]:
            reach = self.stretch * law.reach(np.asarray(z, dtype=np.float64)) * np.ones(1)
            shares = normal_cdf(np.stack([_along(-reach, _LEVELS, low), _along(reach, _LEVELS, high)]))
            return around(shares[0], estimate, shares[1])

        def tails(null: Any) -> Tails:
            null = share if abs(null - share) < _SAME else null
            at = np.atleast_1d(normal_quantile(np.clip(null, _LEAST, _MOST)))
            distance = _along(at, low if null < share else high, _LEVELS) / self.stretch
            return sided(-distance, estimate - null, law)

        return Limits(ends, tails).moved(self.shift, self.scale, bounds, self.estimate(bounds))


def _along(x: F64, xs: F64, ys: F64) -> F64:
    """Return the line through points with ascending xs, beyond which it goes on as the chord of the last third."""
    third = len(xs) // 3
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        below = ys[0] + (x - xs[0]) * (ys[third] - ys[0]) / (xs[third] - xs[0])
        above = ys[-1] + (x - xs[-1]) * (ys[-1] - ys[-1 - third]) / (xs[-1] - xs[-1 - third])
    found = np.where(x < xs[0], below, np.where(x > xs[-1], above, np.interp(x, xs, ys)))
    return np.where(np.isnan(found), np.where(x < xs[0], ys[0], ys[-1]), found)  # infinity times 0


def whole(size: float) -> int:
    """Return a class size as a whole number of at least 1; sums of weights and effective sizes are none."""
    return max(1, int(np.floor(size + 0.5 + 1e-9)))


def _log_slopes(sizes: tuple[float, float]) -> F64:
    """Return the logarithm of the slope of every draw over the fitted one."""
    known = min(sizes[0] * sizes[1] / (sizes[0] + sizes[1]), _KNOWN)
    error = (2.0 / (known + PRIOR)) ** 0.5  # two standard errors of the logarithm of a ratio of deviations
    return np.asarray(error * _DEVIATES)


def _generator(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(key))


_DEVIATES = _generator(0).standard_normal(_DRAWS)


def _separated(place: tuple[int, int], b: F64, sizes: tuple[int, int]) -> F64:
    """Return the heights at which the c-th positive scores as the r-th negative."""
    (c, r), (m, n) = place, sizes
    if c > m or r < 1:
        return np.full(_DRAWS, _EDGE)
    if c < 1 or r > n:
        return np.full(_DRAWS, -_EDGE)
    return np.asarray(np.clip(b * _at_rank(2, r, n) - _at_rank(1, c, m), -_EDGE, _EDGE))


@lru_cache(maxsize=64)
def _at_rank(key: int, rank: int, size: int) -> F64:
    """Return draws of an order statistic, as normal deviates."""
    return np.asarray(-normal_quantile(_generator(key, rank, size).beta(rank, size + 1 - rank, _DRAWS)))


def _drawn(m: int, n: int) -> tuple[tuple[F64, F64, F64], tuple[F64, F64, F64]]:
    """Return ranks, weights and draws of the positives and of the negatives, which are kept for other models."""
    if (found := _HELD.get((m, n))) is None:
        rng = _generator(3, m, n)
        found = _HELD[m, n] = _ordered(rng, m), _ordered(rng, n)
        while sum(one[2].size for pair in list(_HELD.values()) for one in pair) > _ROOM and len(_HELD) > 1:
            _HELD.pop([*_HELD, (m, n)][0], None)  # the oldest, of a copy: other threads hold draws meanwhile
    return found


def _at_ranks(rng: np.random.Generator, ranks: NDArray[np.int_], size: int) -> F64:
    """Return draws of the order statistics at some ranks, greatest first, as normal deviates."""
    gaps = np.diff(ranks, prepend=0, append=size + 1)
    sums = np.cumsum(rng.standard_gamma(gaps, (_DRAWS, len(gaps))), axis=1)
    return np.asarray(-normal_quantile(sums[:, :-1] / sums[:, -1:]))


def _ordered(rng: np.random.Generator, size: int) -> tuple[F64, F64, F64]:
    """Return ranks and weights of order statistics, shares of `size` whose mean is that of a line, and their draws."""
    half = (size + 1) // 2
    ranks = np.arange(1, min(half, _EVERY) + 1)
    if half > _EVERY:
        ranks = np.append(ranks, np.geomspace(_EVERY, half, 2 + int(np.log(half / _EVERY) / _GROWTH)).astype(int))
    ranks = np.unique(np.append(ranks, size + 1 - ranks))
    gaps = np.diff(ranks, prepend=0, append=size + 1)
    return ranks / size, (gaps[1:] + gaps[:-1]) / (2 * size), _at_ranks(rng, ranks, size).ravel()
