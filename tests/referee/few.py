"""The twin of the limits of a partial AUC or a rate that depends on fewer than five negatives.

The estimate is ``S = sum_k s_k K_k / m``: K_k of the m positives score above the negative with k negatives above it,
and s_k is the share of the range between k / n and (k + 1) / n; for a rate at f there is one step, k = floor(n f). On
the curve ``R(x) = Phi(a + b Phi^-1(x))`` the false positive rates U_k at these negatives are order statistics of n
uniform numbers. Given them, S is a mean of m independent terms, each with mean and variance

    mu = sum_k s_k R(U_k),    v = sum_kl s_k s_l R(min(U_k, U_l)) - mu^2.

S is treated as the share of successes among m mu (1 - mu) / v trials of probability mu, which is exact for one step.
The mean over U gives the probability that S is below the estimate, plus half that it equals it (mid-p). It decreases
with a, so the values that are not rejected form an interval, and the test is dual to it.

A value is rejected if the curves of both slopes of :class:`rocmax.metrics.Score` reject it: two standard errors of the
logarithm of a ratio of standard deviations, three where only the slope leads from the data to the range.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW, Limits, Tails, around, counted, dual, last_held, sided, wilson

_EDGE = 12.0  # |a|: beyond it all rates are 0 or 1
_ERRORS, _BEYOND = 2.0, 3.0  # of the slope, to either side; where the range lies beyond the data
_PRIOR, _KNOWN = 5.0, 10.0  # samples that the prior slope 1 counts for, and at most those of the whole curve
_POINTS = 32  # for one step; twice as many for several
_MODELS = 64  # at a time: O(models points steps) memory
_LEAST, _LAST = 1e-300, 1 - 1e-16  # probabilities with finite quantiles
_ROUNDING = 1e-12
_HEIGHTS, _SECANTS = 32, 6  # of the table; from its heights on
_SETTLED, _SURE = 1e-8, 6.0  # the last step of secants, whose error is of a higher order; quantiles above rounding
_MOST = 1e6  # trials per positive

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def n_limiting(n_neg: float, low: float, high: float) -> float:
    """Return how many negatives are expected in the range [low, high], or beyond the threshold at low = high."""
    return counted(n_neg * (high - low if low < high else min(low, 1.0 - low)))


def decide(n_neg: float, low: float, high: float) -> bool:
    """Whether the area over [low, high], or the rate at low = high, depends on so few negatives."""
    return n_limiting(n_neg, low, high) < FEW


def whole(size: float) -> int:
    """Return a class size as a whole number of at least 1; sums of weights and effective sizes are none."""
    return max(1, int(np.floor(size + 0.5 + 1e-9)))


def quadrature(low: float, high: float) -> tuple[F64, F64]:
    """Nodes and weights, denser at both ends."""
    t = np.pi * (_NODES + 1) / 2
    width = (high - low) / 2
    return low + width * (1 - np.cos(t)), width * np.sin(t) * np.pi / 2 * _WEIGHTS


def _value(low: float, high: float) -> Callable[[F64, F64], F64]:
    """Return the mean height over [low, high], or the height at low = high, of curves of heights a and slopes b."""
    if low == high:
        return lambda a, b: np.asarray(special.ndtr(a + b * special.ndtri(low)))
    x, weight = quadrature(low, high)
    probits = special.ndtri(np.clip(x, _LEAST, _LAST))
    return lambda a, b: np.asarray(special.ndtr(a[..., None] + b[..., None] * probits) @ weight / (high - low))


def order_statistics(n_neg: float, low: float, high: float) -> tuple[F64, F64, F64]:
    """Points U of shape (n_points, n_steps), their weights, and the shares s of the steps."""
    n = whole(n_neg)
    first = min(int(np.floor(n * low + 1e-9)), n - 1)
    last = max(first, min(int(np.ceil(n * high - 1e-9)), n) - 1) if low < high else first
    steps = np.arange(first, last + 1)
    shares = np.maximum(np.minimum(high, (steps + 1) / n) - np.maximum(low, steps / n), 0.0)
    shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(steps), 1 / len(steps))
    # The last follows a regular grid, denser at both ends; the others below it follow Richtmyer's sequence.
    n_points = _POINTS * min(2, len(steps))
    count = np.arange(n_points) + 0.5
    at = count / n_points
    weight = np.sin(np.pi * at)
    u = np.empty((n_points, len(steps)))
    u[:, -1] = special.betaincinv(last + 1, n - last, (1 - np.cos(np.pi * at)) / 2)
    for column, prime in zip(range(len(steps) - 2, -1, -1), (2, 3, 5, 7, 11, 13), strict=False):
        u[:, column] = u[:, column + 1] * (count * np.sqrt(prime) % 1.0) ** (1 / steps[column + 1])
    return u, weight / weight.sum(), shares


def at_most(sizes: tuple[float, float], span: tuple[float, float]) -> Callable[[F64, F64, F64], F64]:
    """Return the mid-p probability of an estimate below a share, on curves of heights a and slopes b."""
    u, weight, shares = order_statistics(sizes[1], *span)
    probits = special.ndtri(np.clip(u, _LEAST, _LAST))

    def probability(a: F64, b: F64, share: F64) -> F64:
        x = a[..., None, None] + b[..., None, None] * probits
        rates, rest = special.ndtr(x), special.ndtr(-x) * shares  # 1 - rates cancels near 1
        mean, left = np.clip(rates @ shares, _LEAST, _LAST), np.maximum(rest.sum(axis=-1), _LEAST)
        trials = np.full_like(mean, sizes[0])
        if len(shares) > 1:
            later = np.cumsum(rest[..., ::-1], axis=-1)[..., ::-1]
            variance = (rates * (2 * later - rest)) @ shares  # of R(min(U, V)) - R(U) R(V), which is R(U) (1 - R(V))
            trials *= np.clip(mean * left / np.maximum(variance, _LEAST), 1.0, _MOST)
        hits = trials * share[..., None]
        some, missed = share[..., None] > _ROUNDING, share[..., None] < 1 - _ROUNDING
        up_to = np.where(missed, special.betainc(np.where(missed, trials - hits, 1.0), hits + 1, left), 1.0)
        below = np.where(some, special.betainc(trials - hits + 1, np.where(some, hits, 1.0), left), 0.0)
        return np.asarray((up_to + below) @ weight / 2)

    return probability


def _heights(less: Callable[[F64, F64, F64], F64], b: F64, share: F64, edges: F64, z: F64) -> F64:
    """Return the heights, of shape (..., 2, 2, n_models), at which ``less(a, b, share)`` is Phi(z) and Phi(-z).

    Secants start from two heights of a table; where they do not settle, or rounding decides, it is :func:`last_held`.
    """
    height = edges[0] + np.linspace(0.0, 1.0, _HEIGHTS)[:, None, None] * (edges[1] - edges[0])
    level = special.ndtri(np.clip(less(height, b, share), _LEAST, _LAST))
    wanted = np.array([1.0, -1.0])[:, None, None] * z + np.zeros_like(edges)
    count = np.sum([row >= wanted for row in level], axis=0)
    found = np.where(count == 0, edges[0], edges[1])
    inside = np.nonzero((count > 0) & (count < _HEIGHTS) | (wanted > _SURE))
    column, want, k = inside[-2:], wanted[inside], np.clip(count[inside], 1, _HEIGHTS - 1)
    slope, held = b[column], share[column]
    x, y = height[k - 1, *column], height[k, *column]
    near, far = level[k - 1, *column] - want, level[k, *column] - want
    part = np.divide(near, near - far, out=np.zeros_like(x), where=near != far)
    last, apart, at = x.copy(), near, x + part * (y - x)
    todo = np.flatnonzero(np.abs(want) <= _SURE)
    for _ in range(_SECANTS):
        here, before, f = at[todo], last[todo], apart[todo]
        now = special.ndtri(np.clip(less(here, slope[todo], held[todo]), _LEAST, _LAST)) - want[todo]
        move = np.divide(now * (here - before), now - f, out=np.zeros_like(now), where=now != f)
        last[todo], apart[todo], at[todo] = here, now, np.clip(here - move, x[todo], y[todo])
        todo = todo[np.abs(at - last)[todo] > _SETTLED]
    rest = np.abs(want) > _SURE
    rest[todo] = True
    if rest.any():
        low, slope, held, size = want[rest] > 0, slope[rest], held[rest], np.abs(want[rest])
        ends = np.where(size > _SURE, np.stack([edge[column][rest] for edge in edges]), np.stack([x[rest], y[rest]]))

        def gap(a: F64) -> F64:
            below = less(a, slope, held)
            tail = np.where(low, 1 - below, below)
            return np.asarray(special.ndtri(np.clip(tail, _LEAST, _LAST)) + size)

        at[rest] = last_held(np.where(low, ends[1], ends[0]), np.where(low, ends[0], ends[1]), gap)
    found[inside] = at
    return np.asarray(found)


def limits(estimate: F64, slopes: F64, sizes: tuple[float, float], span: tuple[float, float]) -> Limits:
    """Return the limits of mean heights over `span`, or of heights at its ends if these are equal.

    At 0 the lower limit is 0, the height of every such curve, and the upper one Wilson's of the height at the first
    negative, because no curve is higher at 0 than there.
    """
    if span[1] == 0.0:

        def below(z: Any) -> tuple[F64, F64]:
            high = np.asarray(wilson(estimate * sizes[0], sizes[0], z)[1])
            return np.zeros_like(high), high

        return Limits(below, dual(estimate, below))
    value, less = _value(*span), at_most(sizes, span)
    known = min(sizes[0] * sizes[1] / (sizes[0] + sizes[1]), _KNOWN)
    errors = _BEYOND if n_limiting(sizes[1], *span) < 1 else _ERRORS
    spread = np.exp(errors * np.sqrt(0.5 / (known + _PRIOR)))
    rates = order_statistics(sizes[1], *span)[0]
    outer = special.ndtri(np.clip([min(rates.min(), span[0]), max(rates.max(), span[1])], _LEAST, _LAST))
    blocks = [slice(start, start + _MODELS) for start in range(0, len(estimate), _MODELS)]

    def curves(block: slice) -> tuple[F64, F64, F64]:
        """Slopes and estimates of shape (2, n_models), and the heights of curves that are 0 and 1 throughout."""
        b = slopes[block] * np.array([[1 / spread], [spread]])
        return b, np.broadcast_to(estimate[block], b.shape), np.stack([-_EDGE - b * outer[1], _EDGE - b * outer[0]])

    def ends(z: Any) -> tuple[F64, F64]:
        z = np.atleast_1d(z)[..., None, None, :] + np.zeros_like(estimate)  # axes for both ends and for the slopes

        def of_block(block: slice) -> F64:
            b, share, edges = curves(block)
            low, high = np.moveaxis(value(_heights(less, b, share, edges, z[..., block]), b), -3, 0)
            return np.stack([low.min(axis=-2), high.max(axis=-2)])

        low, high = np.clip(np.concatenate([of_block(block) for block in blocks], axis=-1), 0.0, 1.0)
        return around(low, estimate, high)

    def distance(null: float, block: slice) -> F64:
        b, share, edges = curves(block)
        found = less(last_held(edges[0], edges[1], lambda a: null - value(a, b)), b, share)
        below, above = np.clip([found.max(axis=0), 1 - found.min(axis=0)], _LEAST, _LAST)
        return np.asarray(np.where(estimate[block] < null, special.ndtri(below), -special.ndtri(above)))

    def tails(null: float) -> Tails:
        return sided(np.concatenate([distance(null, block) for block in blocks]), estimate - null)

    return Limits(ends, tails)
