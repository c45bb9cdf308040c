"""The twin of the score intervals of an AUC or a partial AUC, for all models at once by NumPy and SciPy.

The components of few positives that are all ranked alike do not vary, and the variance is near 0 if the estimate is
near 0 or 1: intervals from them are far too short. As Newcombe does for an AUC, a family of curves gives the variance
at each value: ``R(x) = Phi(a + b Phi^-1(x))`` for all a, with b the slope of the least-squares line through the probits
of the rates, shrunk towards 1 as if by `_PRIOR` more samples. Over FPR in [l, h] of width w, with U the false positive
rate at a positive's score and G that at a negative's, a curve has

    theta = int_l^h R(x) dx / w
    V10   = var min(1, max(0, (h - U) / w))
    V01   = var R(min(h, max(l, G))) / w^2

The mean of the empirical curve is not that curve: with k of n negatives above the threshold, the next one sets it, and
the false positive rate is Beta(k + 1, n - k). The mean of the estimate is

    E = int_0^1 R(u) (B(h, u) - B(l, u)) du / w,    B(x, u) = P(X < j) + (n x - j) P(X = j),

j = floor(n x), X binomial of n - 1 trials of probability u; with one or two negatives in the range that is far from
theta. The positives' part of the estimate is skewed, too: a z above 1 grows by ``(z^2 - 1) / 6`` of the skewness
(Cornish and Fisher) at the end that the skewness makes easier to reach.

Many components are a better guide: the model's variance of each class is multiplied by ``(p + (k - 1) ratio) /
(p + k - 1)``, where ratio is the variance of the k components over the model's at the estimate. For the negatives
k = n w, the number in the range. Of 40 and more p = 10. Of fewer, a smaller variance is believed later, with p up to
50, and a greater one sooner, with p down to 3: among ten, a kind of sample that is one of ten is missing in one case of
three, and the variance with it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from tests.referee import few
from tests.referee.few import quadrature

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits, Tails, around, last_held, sided
from rocmax.metrics.intervals._score import Area

# Samples that the model's variance counts for, where the components' is greater, and where it is less.
_PRIOR, _GREATER, _LESS = 10.0, 3.0, 50.0
_SEVERAL = 40  # components, from which on either counts as `_PRIOR`
_EDGE = 12.0  # distance of a from a curve of height 1/2 in the middle of the range: beyond it areas are 0 or 1
_ROUNDING = 1e-12  # of areas near 1, where the last digits must not look like a limit
_KNOWN = 400  # negatives in the range: with more, E is theta to all purposes
_LINE = 4096  # points are enough for a line
_PLACES = 48  # heights that are tried if distances may fall again


class _Values(NamedTuple):
    """Properties of curves with heights a and one slope b."""

    theta: F64
    mean: F64  # of the estimate
    v10: F64
    v01: F64
    skew10: F64  # the third central moment


class Held(NamedTuple):
    """What is measured on curves of some heights, and the estimate's mean, variance and third central moment there."""

    theta: F64
    mean: F64
    variance: F64
    third: F64


def fitted(curve: _core.Curve, mirrored: bool, each: bool = False) -> float:
    """Return the slope of the line through the curve between normal quantiles, by least squares; NaN without one.

    The line is that through the points at all distinct scores or, if `each`, at all negatives between two positives.
    """
    _, pos, neg = curve.steps()
    up_to = np.where(pos == 0, neg, 1.0).astype(np.intp)[:: -1 if mirrored else 1].cumsum() if each else None  # points
    if mirrored:  # the classes are exchanged
        pos, neg = neg[::-1], pos[::-1]
    # Rates ascend: those between 0 and 1 are neighbours.
    start = max(int(np.argmax(each > 0)) for each in (pos, neg))
    stop = min(len(each) - 1 - int(np.argmax(each[::-1] > 0)) for each in (pos, neg))
    if up_to is not None:
        start, stop = int(up_to[start - 1]) if start else 0, int(up_to[stop]) - 1
    inner = np.arange(start, stop, 1 + max(stop - start, 0) // _LINE)
    if len(inner) < 2:
        return float("nan")
    if up_to is None:
        # Sums between the scores that are taken, not at all scores.
        places = np.concatenate([[0], inner[:-1] + 1])
        sums = [np.add.reduceat(each[: inner[-1] + 1], places).cumsum() for each in (pos, neg)]
    else:
        step = np.searchsorted(up_to, inner, "right")
        sums = [each.cumsum()[step] for each in (pos, neg)]
        sums[0 if mirrored else 1] -= up_to[step] - 1 - inner  # the negatives of the step that are not reached
    tpr, fpr = (part / each.sum() for part, each in zip(sums, (pos, neg), strict=True))
    known = (tpr < 1.0) & (fpr < 1.0)
    if np.count_nonzero(known) < 2:  # by rounding
        return float("nan")
    x, y = special.ndtri(fpr[known]), special.ndtri(tpr[known])
    x -= x.mean()
    spread = x @ x
    return float(x @ y / spread) if spread > 1e-12 else 1.0


def _reached(rate: float, n: int, u: F64) -> F64:
    """B(x, u): the mean share of a step that has begun when the false positive rate is u, in steps of 1 / n."""
    j = int(np.floor(n * rate + 1e-9))
    # P(X <= k), not by special.bdtr, which is NaN from 2^31 trials on.
    below, up_to = (
        special.betaincc(k + 1, n - 1 - k, u) if 0 <= k < n - 1 else np.full_like(u, k >= 0) for k in (j - 1, j)
    )
    return np.asarray(below + max(n * rate - j, 0.0) * (up_to - below))


def model(b: F64, n_neg: float, low: float, high: float) -> Callable[[F64], _Values]:
    """Values of the curves with slopes `b`, as a function of their heights a, of shape (..., n_curves)."""
    width = high - low
    x, weight = quadrature(low, high)
    ends = np.clip([low, high], 1e-300, 1 - 1e-16)
    probits = special.ndtri(np.concatenate([x, ends]))
    exact = n_neg * width <= _KNOWN and width < 1
    if exact:
        n = few.whole(n_neg)
        reach = [6 * np.sqrt(rate * (1 - rate) / n) + 12 / n for rate in (low, high)]
        cuts = np.clip([low - reach[0], low, (low + high) / 2, high, high + reach[1]], 0.0, 1.0)
        pieces = [quadrature(*ends) for ends in pairwise(cuts) if ends[0] < ends[1]]
        u, du = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        du = du * (_reached(high, n, u) - _reached(low, n, u)) / width
        wide = special.ndtri(u)

    # The mean, and those of the highest of two and of three negatives.
    means = np.stack([weight * p * ((high - x) / width) ** (p - 1) / width for p in (1, 2, 3)], axis=1)

    def at(a: F64) -> _Values:
        rates = special.ndtr(a[..., None] + b[:, None] * probits)
        inside, first, last = rates[..., :-2], rates[..., -2] * (low > 0), np.where(high < 1, rates[..., -1], 1.0)
        moments = inside @ means
        theta, square, cube = moments[..., 0], moments[..., 1], moments[..., 2]
        lowest = low / width * first + theta + (1 - high) / width * last
        squares = (low * first**2 + inside**2 @ weight + (1 - high) * last**2) / width**2
        mean = special.ndtr(a[..., None] + b[:, None] * wide) @ du if exact else theta
        v10, v01 = np.maximum(square - theta**2, 0.0), np.maximum(squares - lowest**2, 0.0)
        return _Values(theta, mean, v10, v01, cube - 3 * theta * square + 2 * theta**3)

    return at


def score(
    estimate: F64, parts: tuple[F64, F64], slopes: F64, sizes: tuple[float, float], area: Area
) -> tuple[F64, Limits]:
    """Variance at the estimate, and the limits of all theta with ``(E(theta) - estimate)^2 <= z^2 V(theta)``.

    `parts` are the components' variances over the sizes of the classes, positives first; the part of a class of one is
    ignored. `slopes` are b of the measured curve.
    """
    least, most = area.bounds
    span = most - least
    share = np.clip((estimate - least) / span, 0.0, 1.0)
    if area.mirrored:
        parts, sizes = parts[::-1], sizes[::-1]
    at = model(slopes, sizes[1], area.low, area.high)
    # Two at once cost as much as one: the heights of the curves with this area and this mean, then both ends.
    share = np.stack([share, share])
    middle = -slopes * special.ndtri((area.low + area.high) / 2)
    first, last = (np.stack([middle, middle]) + side * _EDGE for side in (-1, 1))

    def short(a: F64) -> F64:
        values = at(a)
        return np.asarray(share + _ROUNDING - np.stack([values.theta[0], values.mean[1]]))

    of_area, start = last_held(first, last, short)
    known = sizes[0], max(1.0, sizes[1] * (area.high - area.low))
    found = at(of_area)
    ratios = [
        _ratio(part / span**2 * size, modelled, count)
        for part, size, modelled, count in zip(parts, sizes, (found.v10, found.v01), known, strict=True)
    ]

    def variance(values: _Values) -> F64:
        return np.asarray(ratios[0] * values.v10 / sizes[0] + ratios[1] * values.v01 / sizes[1])

    if area.high - area.low < 1.0 and few.decide(sizes[1], area.low, area.high):
        limits = few.limits(share[0], slopes, sizes, (area.low, area.high))
        return span**2 * variance(found), limits.moved(least, span, area.bounds, estimate)

    def law(a: F64) -> Held:
        values = at(a)
        return Held(values.theta, values.mean, variance(values), ratios[0] ** 1.5 * values.skew10 / sizes[0] ** 2)

    # The distance of steep curves over a range near 0 or 1 can fall again on the way out.
    steps = [sizes[1] * rate for rate in (area.low, 1.0 - area.high) if rate > 0]
    n_places = _PLACES if steps and (4 * slopes**2 > min(steps)).any() else 0
    limits = by_distance(law, share[0], start, np.stack([first[0], last[0]]), n_places)
    return span**2 * variance(found), limits.moved(least, span, area.bounds, estimate)


def by_distance(law: Callable[[F64], Held], share: F64, start: F64, outer: F64, n_places: int = 0) -> Limits:
    """Return the limits up to the outermost curve that is not rejected.

    `start` is the height whose mean is the estimate, `outer` the least and the greatest height; `n_places` heights
    between them are tried.
    """
    inner = np.stack([start, start])

    def place(k: Any) -> F64:
        return np.asarray(inner + k / max(n_places, 1) * (outer - inner))

    def spread(values: Held) -> tuple[F64, F64]:
        """Return the standard error, and the skewness at the lower end, per unit of z^2 - 1."""
        error = np.sqrt(values.variance)
        return error, np.asarray(values.third / np.maximum(error, 1e-100) ** 3 / 6)

    def ends(z: Any) -> tuple[F64, F64]:
        z = np.atleast_1d(z)[..., None, :]  # an axis for both ends
        side = np.array([[1.0], [-1.0]])  # of the lower end and of the upper

        def gap(a: F64) -> F64:
            values = law(a)
            error, skew = spread(values)
            reach = z + np.clip(side * skew * np.maximum(z**2 - 1, 0.0), 0.0, z)
            return np.asarray(reach * error + _ROUNDING - side * (share - values.mean))

        last = np.zeros_like(inner)
        for k in range(1, n_places + 1):
            last = np.where(gap(place(k)) >= 0, k, last)
        then = place(np.minimum(last + 1, n_places)) if n_places else outer
        low, high = np.moveaxis(np.clip(law(last_held(place(last), then, gap)).theta, 0.0, 1.0), -2, 0)
        return around(low, share, high)

    def distance(a: F64) -> F64:
        values = law(a)
        error, skew = spread(values)
        apart = share - values.mean
        reach = np.maximum(np.abs(apart) - _ROUNDING, 0.0) / np.maximum(error, 1e-100)
        return np.asarray(np.sign(apart) * _unskewed(reach, np.sign(apart) * skew))

    def tails(value: float) -> Tails:
        a = last_held(outer[:1], outer[1:], lambda a: value - law(a).theta)
        low, high = np.repeat(distance(a), 2, axis=0)
        for k in range(1, n_places + 1):
            beyond, far = distance(place(k)), np.abs(place(k) - inner) > np.abs(a - inner)
            low = np.where(far[0], np.minimum(low, beyond[0]), low)
            high = np.where(far[1], np.maximum(high, beyond[1]), high)
        return sided(np.where(share > value, low, high), share - value)

    return Limits(ends, tails)


def _unskewed(reach: F64, skew: F64) -> F64:
    """Return the z with ``reach = z + min(z, skew (z^2 - 1))`` where z and skew are more than 1 and 0, or reach."""
    c = np.maximum(skew, 0.0)
    z = 2 * (reach + c) / (1 + np.sqrt(1 + 4 * c * (reach + c)))
    return np.where(reach > 1, np.maximum(z, reach / 2), reach)


def _ratio(found: F64, modelled: F64, count: float) -> F64:
    """Variance of the components over the model's, shrunk towards 1 if there are few."""
    ratio = np.divide(found, modelled, out=np.ones_like(modelled), where=modelled > 1e-12)
    scarcity, known = max(0.0, 1.0 - count / _SEVERAL), max(count - 1, 0.0)
    prior = _PRIOR + scarcity * (np.where(ratio > 1, _GREATER, _LESS) - _PRIOR)
    return np.asarray((prior + known * ratio) / (prior + known))
