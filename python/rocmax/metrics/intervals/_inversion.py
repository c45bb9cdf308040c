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

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._few import quadrature, whole
from rocmax.metrics.intervals._interval import Gain, Law, Limits, Tails, around, last_held, sided

_DRAWS = 2000
_KNOWN, PRIOR = 10.0, 5.0  # samples that the fitted slope counts for at most, and those of the prior
_EVERY, _GROWTH = 32, 0.1  # ranks from an end that are all drawn, and the logarithm of the ratio of those further in
_FIRST, _LAST, _CELLS = -4.0, 6.0, 1000  # deviates of negatives are rounded to a cell
_EDGE = 14.0  # |a|: beyond it all rates are 0 or 1
_HALVINGS = 16  # of the search for a
_RANKS = 500  # of positives, where the difference of the rates is read
_AT_ONCE = 2**15  # positives, whose places stay in the cache from one halving to the next
_CLOSE = 1e-6  # to the estimate
_LEVELS = np.linspace(-3.0, 3.0, 121)  # normal quantiles; beyond them probits of the limits are continued as lines
_LEAST, _MOST = 1e-15, 1 - 1e-15  # shares with finite probits
_ROUNDING = 1e-9  # of counts
_TINY = 1e-12  # a variance
_SAME = 1e-12  # shares that differ by rounding

_TPR, _WEIGHTS = quadrature(0.0, 1.0)
_ABOVE = -special.ndtri(_TPR)  # deviates of positives


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
    counts, b = (whole(sizes[0]), whole(sizes[1])), _slopes(slope, sizes)
    first, last = (Curves(_separated(place, b, counts), b) for place in places_of(tpr, fpr, counts))
    return first, last


def at_mean(gain: Gain, estimate: float, slope: float, sizes: tuple[float, float]) -> tuple[Curves, Curves]:
    """Return the first and the last curves for a mean over the positives."""
    drawn, b = _drawn(*map(whole, sizes)), _slopes(slope, sizes)
    unit = _CELLS / ((_LAST - _FIRST) * b)  # cells per unit of a
    place = drawn.positives * unit[:, None] - _FIRST * _CELLS / (_LAST - _FIRST) + 0.5
    place = place.astype(np.float32)
    start = np.arange(0, _DRAWS * _CELLS, _CELLS)[:, None]
    m = whole(sizes[0])
    left_out = gain(np.arange(1, m + 1) / m, np.zeros(m)).mean() - gain(drawn.tpr, 0.0 * drawn.tpr) @ drawn.weights

    def at(a: F64, rows: Any) -> F64:
        moved = place[rows] + (a * unit[rows]).astype(np.float32)[:, None]
        cell = np.clip(moved, 0, _CELLS - 1).astype(np.intp)
        gained = np.einsum("ij,j->i", gain(drawn.tpr, drawn.fpr[cell + start[rows]]), drawn.weights)
        return np.asarray(left_out + gained)

    def search(low: F64, rows: Any, reached: Callable[[F64], Any]) -> F64:
        """Return the first a from `low` on whose value has reached what it must, or _EDGE."""
        high = np.full_like(low, _EDGE)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            held = reached(at(middle, rows))
            low, high = np.where(held, low, middle), np.where(held, middle, high)
        return high

    first, last = np.full((2, _DRAWS), -_EDGE)
    size = max(1, _AT_ONCE // place.shape[1])
    for begin in range(0, _DRAWS, size):
        block = slice(begin, begin + size)
        first[block] = last[block] = search(first[block], block, lambda value: value >= estimate - _CLOSE)
        rows = begin + np.flatnonzero(at(first[block], block) <= estimate + _CLOSE)
        last[rows] = search(first[rows], rows, lambda value: value > estimate + _CLOSE)
    return Curves(first, b), Curves(last, b)


def at_difference(apart: float, slope: float, sizes: tuple[float, float]) -> tuple[Curves, Curves]:
    """Return the first and the last curves for the largest difference of the rates at a threshold.

    It is reached with c positives and at most ``n (c / m - apart)`` negatives above the threshold, and exceeded with
    fewer: a draw reaches it on the least of the curves on which it does so at some c.
    """
    (m, n), b = map(whole, sizes), _slopes(slope, sizes)
    hits = np.unique(np.linspace(1, m, min(m, _RANKS)).astype(int))
    errors = n * (hits / m - apart)
    ranks = np.stack([np.floor(errors + _ROUNDING) + 1, np.ceil(errors - _ROUNDING)])
    known = (ranks >= 1) & (ranks <= n)
    heights = np.where(ranks > n, -_EDGE, _EDGE)[:, None] * np.ones((_DRAWS, 1))  # beyond n no negative is in the way
    places, back = np.unique(ranks[known].astype(int), return_inverse=True)
    if len(places):
        positives = _at_ranks(_generator(4, m), hits, m)
        which, column = np.nonzero(known)
        negatives = _at_ranks(_generator(5, n), places, n)[:, back]
        heights[which, :, column] = (b[:, None] * negatives - positives[:, column]).T
    first, last = (Curves(np.clip(each.min(axis=1), -_EDGE, _EDGE), b) for each in heights)
    return first, last


def difference_on(curves: Curves) -> F64:
    """Return the largest differences of the rates on curves: where both densities are equal, or 0."""
    a, b = curves
    # Half the logarithm of their ratio is a quadratic function of the negatives' deviate z: u z^2 / 2 + v z + w = 0.
    u, v, w = b**2 - 1.0, a * b, a**2 / 2 - np.log(b)
    root = v + np.where(v < 0, -1.0, 1.0) * np.sqrt(np.maximum(v**2 - 2 * u * w, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.stack([-2 * w / root, -root / u])
        apart = special.ndtr(a + b * at) - special.ndtr(at)
    return np.asarray(np.nanmax([*apart, np.zeros_like(a)], axis=0))


def mean_on(gain: Gain, curves: Curves) -> F64:
    """Return the means of a gain over the positives of curves."""
    fpr = special.ndtr(-(_ABOVE + curves.a[:, None]) / curves.b[:, None])
    return np.asarray(np.einsum("ij,j->i", gain(_TPR, fpr), _WEIGHTS))


def rate_of_called(share: float, prevalence: float, curves: Curves) -> F64:
    """Return the true positive rates where curves call this share of all samples."""
    a, b = curves
    goal = special.ndtri(np.clip(share, _LEAST, _MOST))

    def gap(cut: F64) -> F64:
        called = prevalence * special.ndtr(a - cut) + (1 - prevalence) * special.ndtr(-cut / b)
        return np.asarray(goal - special.ndtri(np.clip(called, _LEAST, _MOST)))

    # Each class calls this share at one end.
    ends = np.sort([a - goal, -b * goal], axis=0)
    return np.asarray(special.ndtr(a - last_held(ends[1], ends[0], gap)))


class Inverse(NamedTuple):
    """An estimate as a share, and the true shares on the first and the last curves; the measure is a line of them."""

    share: float
    first: F64
    last: F64
    law: Law = Law()
    shift: float = 0.0
    scale: float = 1.0
    stretch: float = 1.0  # of normal quantiles

    def estimate(self, bounds: tuple[float, float]) -> float:
        """Return the estimate of the measure."""
        return float(np.clip(self.shift + self.scale * self.share, *bounds))

    @property
    def variance(self) -> float:
        """The variance of the measure's confidence distribution."""
        return float((self.scale * self.stretch) ** 2 * np.concatenate([self.first, self.last]).var())

    def widened(self, variance: float, count: float) -> Inverse:
        """Return a wider distribution if the components of a class of `count` samples have a greater variance.

        The curve is then not binormal; of few samples the variance is little known.
        """
        excess = variance / max(self.variance, _TINY) - 1.0
        return self._replace(stretch=float(np.sqrt(1.0 + (count - 1.0) / (count + 2.0) * max(excess, 0.0))))

    def limits(self, bounds: tuple[float, float]) -> Limits:
        """Return the limits of the measure; `law` takes the place of the normal distribution."""
        share = round(self.share) if abs(self.share - round(self.share)) < _SAME else self.share
        law, estimate, shares = self.law, np.array([float(share)]), special.ndtr(_LEVELS)
        low, high = (
            special.ndtri(np.clip(np.quantile(values, shares), _LEAST, _MOST)) for values in (self.first, self.last)
        )

        def ends(z: Any) -> tuple[F64, F64]:
            reach = self.stretch * law.reach(np.asarray(z, dtype=np.float64)) * np.ones(1)
            shares = (special.ndtr(_along(side * reach, _LEVELS, of)) for side, of in ((-1, low), (1, high)))
            return around(next(shares), estimate, next(shares))

        def tails(null: Any) -> Tails:
            null = share if abs(null - share) < _SAME else null
            at = np.atleast_1d(special.ndtri(np.clip(null, _LEAST, _MOST)))
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


def _slopes(slope: float, sizes: tuple[float, float]) -> F64:
    """Return the slopes of all draws."""
    known = min(sizes[0] * sizes[1] / (sizes[0] + sizes[1]), _KNOWN)
    error = np.sqrt(2.0 / (known + PRIOR))  # two standard errors of the logarithm of a ratio of deviations
    return np.asarray(slope * np.exp(error * _generator(0).standard_normal(_DRAWS)))


def _generator(*key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(key))


def _separated(place: tuple[int, int], b: F64, sizes: tuple[int, int]) -> F64:
    """Return the heights at which the c-th positive scores as the r-th negative."""
    (c, r), (m, n) = place, sizes
    if c > m or r < 1:
        return np.full(_DRAWS, _EDGE)
    if c < 1 or r > n:
        return np.full(_DRAWS, -_EDGE)
    positive, negative = (
        -special.ndtri(_generator(key, rank, size).beta(rank, size + 1 - rank, _DRAWS))
        for key, rank, size in ((1, c, m), (2, r, n))
    )
    return np.clip(b * negative - positive, -_EDGE, _EDGE)


class _Draws(NamedTuple):
    """Positives as deviates at some ranks; negatives as their share above the cells of a grid of deviates, row by row.

    `tpr` are the shares of the positives at or above these ranks, `weights` the shares that each stands for.
    """

    positives: F64
    tpr: NDArray[np.float32]
    weights: NDArray[np.float32]
    fpr: NDArray[np.float32]


@lru_cache(maxsize=2)
def _drawn(m: int, n: int) -> _Draws:
    rng = _generator(3, m, n)
    (tpr, weights, positives), (_, jumps, negatives) = _ordered(rng, m), _ordered(rng, n)
    cell = np.clip((negatives - _FIRST) * _CELLS / (_LAST - _FIRST), 0, _CELLS - 1).astype(np.intp)
    cell += np.arange(0, _DRAWS * _CELLS, _CELLS)[:, None]
    inside = np.bincount(cell.ravel(), np.broadcast_to(jumps, cell.shape).ravel(), _DRAWS * _CELLS)
    above = np.cumsum(inside.reshape(_DRAWS, _CELLS)[:, ::-1], axis=1)[:, ::-1]
    return _Draws(positives, *(part.astype(np.float32) for part in (tpr, weights, above.ravel())))


def _at_ranks(rng: np.random.Generator, ranks: NDArray[np.int_], size: int) -> F64:
    """Return draws of the order statistics at some ranks, greatest first, as normal deviates."""
    gaps = np.diff(ranks, prepend=0, append=size + 1)
    sums = np.cumsum(rng.standard_gamma(gaps, (_DRAWS, len(gaps))), axis=1)
    return np.asarray(-special.ndtri(sums[:, :-1] / sums[:, -1:]))


def _ordered(rng: np.random.Generator, size: int) -> tuple[F64, F64, F64]:
    """Return ranks and weights of order statistics, both as shares of `size`, and draws of them, greatest first.

    A mean with these weights is that of a line through the ranks.
    """
    half = (size + 1) // 2
    ranks = np.arange(1, min(half, _EVERY) + 1)
    if half > _EVERY:
        ranks = np.append(ranks, np.geomspace(_EVERY, half, 2 + int(np.log(half / _EVERY) / _GROWTH)).astype(int))
    ranks = np.unique(np.append(ranks, size + 1 - ranks))
    gaps = np.diff(ranks, prepend=0, append=size + 1)
    return ranks / size, (gaps[1:] + gaps[:-1]) / (2 * size), _at_ranks(rng, ranks, size)
