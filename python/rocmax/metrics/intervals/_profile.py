"""Limits of differences from those of both estimates and their correlation: see :class:`Profile`.

With theta(u) the value at which the interval of an estimate ends at the normal quantile u (its lower end at -1.96 for
95 %, the estimate at 0), the lower limit of a difference at quantile z is the least ``theta_A(u) - theta_B(v)`` with
``u^2 - 2 r u v + v^2 = z^2 (1 - r^2)``: u = z cos(t) and v = z cos(t + arccos r), t from pi to 2 pi - arccos r, because
theta increases. The limits of every estimate are computed once, at `_LEVELS` quantiles, and interpolated, so a pair
costs no more than arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, last_held, tails_of, within

_STEP = 0.1  # of arcsinh(z / 2)
_NEAR, _ALL = 18, 36  # levels: up to z = 4.8 and 30, and one beyond, for the slope there
_POINTS = 25  # of the ellipse
_AT_ONCE = 2**13  # limits at a time
_MOST = 1e100  # the squares of greater numbers overflow
_KNOWN = 4.0  # degrees of freedom of a correlation of 1/2 that is half believed
_EQUAL = 1e-12  # a correlation so near to 1 is that of equal components


class _Arms(NamedTuple):
    """Values and slopes of the limits of estimates, each of shape (n_estimates, 2, n_levels), the lower ones first.

    `gap` is half of what was between the two at level 0.
    """

    values: F64
    slopes: F64
    gap: F64

    def of(self, rows: NDArray[Any]) -> _Arms:
        return _Arms(self.values[rows], self.slopes[rows], self.gap[rows])

    def at(self, u: F64) -> F64:
        """Return the limits at quantiles of shape (n_estimates, n_points), by cubic interpolation."""
        size, arm = np.abs(u), (u > 0).astype(np.intp)
        place = np.clip(np.arcsinh(size / 2) / _STEP, 0.0, self.values.shape[2] - 1.0)
        k = np.minimum(place.astype(np.intp), self.values.shape[2] - 2)
        rows = np.arange(len(u))[:, None]
        start, end = quantiles(k), quantiles(k + 1)
        width = end - start
        t = np.clip((size - start) / width, 0.0, 1.0)
        v, w = self.values[rows, arm, k], self.values[rows, arm, k + 1]
        rise, fall = (self.slopes[rows, arm, k + step] * width for step in (0, 1))
        found = v + t**2 * (3 - 2 * t) * (w - v) + t * (1 - t) * ((1 - t) * rise - t * fall)
        return np.asarray(np.clip(found, np.minimum(v, w), np.maximum(v, w)))


def quantiles(k: Any) -> Any:
    """Return the k-th quantile of the table: closer together near 0."""
    return 2 * np.sinh(_STEP * k)


def shrunk(matrix: F64, freedom: F64) -> F64:
    """Return the correlations of estimates, ``r / (1 + 2 (1 - r) (4 / df)^2)``, by the freedom df of their difference.

    Those of few degrees of freedom are next to unknown, and taken as true they give intervals that are too short. Of
    nearly equal models the variance of the difference grows by ``1 + 2 (4 / df)^2``; where they are equal in all
    samples, 1 - r is taken as 1 / 2.
    """
    error = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    both = np.outer(error, error)
    r = np.clip(np.divide(matrix, both, out=np.zeros_like(matrix), where=both > 0), -1.0, 1.0)
    apart = np.where(r < 1.0 - _EQUAL, 1.0 - r, 0.5)
    return np.asarray(r / (1.0 + 2.0 * apart * (_KNOWN / freedom) ** 2))


def profile(
    estimate: F64, limits: Limits, correlation: F64, span: float
) -> Callable[[tuple[NDArray[np.intp], NDArray[np.intp]]], Limits]:
    """Return a function that gives the limits of ``estimate[first] - estimate[second]`` for pairs of places.

    `span` is the greatest difference. Tails are the least levels at which the interval excludes a value.
    """

    @cache
    def arms(n_levels: int) -> _Arms:
        z = quantiles(np.arange(n_levels))[:, None]
        few = max(1, _AT_ONCE // len(estimate))
        found = np.concatenate([limits.ends(z[start : start + few]) for start in range(0, n_levels, few)], axis=1)
        low, high = np.clip(found, -_MOST, _MOST)
        # Of an estimate with few possible values the lower and the upper limit begin apart; here both in the middle.
        inside = (low[0] > low[-1]) & (high[0] < high[-1])  # not at a bound, where a limit stays
        gap = np.where(inside, (high[0] - low[0]) / 2, 0.0)
        values = np.stack([low + gap, high - gap]).transpose(2, 0, 1)
        return _Arms(values, np.gradient(values, z[:, 0], axis=2, edge_order=2), gap)

    def of_pairs(pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Limits:
        first, second = pairs
        difference, angle = estimate[first] - estimate[second], np.arccos(correlation[first, second])[:, None]

        def least(n_levels: int, one: NDArray[np.intp], other: NDArray[np.intp], z: Any) -> F64:
            """Return the least difference of a true value of `one` and a true value of `other`."""
            a, b = arms(n_levels).of(one), arms(n_levels).of(other)
            z = np.broadcast_to(z, one.shape)[:, None]

            def change(share: F64) -> F64:
                t = np.pi + share * (np.pi - angle)
                return a.at(z * np.cos(t)) - b.at(z * np.cos(t + angle))

            grid = np.linspace(0.0, 1.0, _POINTS)
            found = change(np.broadcast_to(grid, (len(one), _POINTS)))
            k = np.clip(found.argmin(axis=1), 1, _POINTS - 2)[:, None]
            before, at, after = (np.take_along_axis(found, k + step, axis=1) for step in (-1, 0, 1))
            bend = before - 2 * at + after  # the minimum of a parabola through three points
            move = np.divide(before - after, 2 * bend, out=np.zeros_like(bend), where=bend > 0)
            lowest = change(grid[k] + np.clip(move, -1.0, 1.0) * grid[1])
            # Equal models are off by the same part of the gap, others each by their own.
            apart = np.sqrt(np.sin(angle[:, 0])) * (a.gap + b.gap)
            return np.asarray(np.minimum(found.min(axis=1), lowest[:, 0]) - apart)

        def ends(z: Any) -> tuple[F64, F64]:
            n_levels = _NEAR if np.max(z) <= quantiles(_NEAR - 2) else _ALL
            low, high = least(n_levels, first, second, z), -least(n_levels, second, first, z)
            return np.clip(low, -span, difference), np.clip(high, difference, span)

        def tails(null: float) -> Tails:
            side = np.sign(difference - null)
            one, other = np.where(side > 0, first, second), np.where(side > 0, second, first)
            for n_levels in (_NEAR, _ALL):
                far = np.full_like(difference, quantiles(n_levels - 2))

                def gap(z: F64, n_levels: int = n_levels) -> F64:
                    left = least(n_levels, one, other, z) - side * null
                    # Where both intervals have reached their bounds, their difference is held at every level.
                    return np.where(left == 0, -1e-300, np.maximum(left, -1.0))

                z = last_held(np.zeros_like(far), far, gap)
                if (z < far).all():
                    break
            return tails_of(side * z, 1.0, Law())

        return Limits(ends, within(-span, span, tails))

    return of_pairs
