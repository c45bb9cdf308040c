"""Limits of differences from those of both estimates and their correlation: see :class:`Profile`.

With theta(u) the value at which the interval of an estimate ends at the normal quantile u (its lower end at -1.96 for
95 %, the estimate at 0), the lower limit of a difference at quantile z is the least ``theta_A(u) - theta_B(v)`` with
``u^2 - 2 r u v + v^2 = z^2 (1 - r^2)``: u = z cos(t) and v = z cos(t + arccos r), t from pi to 2 pi - arccos r, because
theta increases. The limits of every estimate are computed once, at `_ALL` quantiles, and interpolated, so a pair
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
_GRID = np.linspace(0.0, 1.0, 25)  # of the ellipse
_AROUND = np.array([-1, 0, 1])
_AT_ONCE = 2**13  # limits at a time
_MOST = 1e100  # the squares of greater numbers overflow
_KNOWN = 4.0  # degrees of freedom of a correlation of 1/2 that is half believed
_EQUAL = 1e-12  # a correlation so near to 1 is that of equal components


class _Arms(NamedTuple):
    """Limits of estimates as cubic polynomials between levels: first the lower limits of each, then the upper ones.

    `pieces` has their coefficients, least and greatest values, of shape (6, 2 n_estimates (n_levels - 1)); `gap` is
    half of what was between both limits at level 0.
    """

    pieces: F64
    z: F64
    gap: F64

    def at(self, rows: NDArray[np.intp], u: F64) -> F64:
        """Return the limits of estimates at quantiles."""
        size, last = np.abs(u), len(self.z) - 2
        k = np.minimum(np.arcsinh(size / 2) / _STEP, last).astype(np.intp)
        t = np.minimum(np.maximum((size - self.z[k]) / (self.z[k + 1] - self.z[k]), 0.0), 1.0)
        v, rise, bend, twist, low, high = self.pieces[:, (2 * rows + (u > 0)) * (last + 1) + k]
        return np.asarray(np.minimum(np.maximum(v + t * (rise + t * (bend + t * twist)), low), high))


def quantiles(k: Any) -> Any:
    """Return the k-th quantile of the table: closer together near 0."""
    return 2 * np.sinh(_STEP * k)


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
        slopes, width = np.gradient(values, z[:, 0], axis=2, edge_order=2), np.diff(z[:, 0])
        v, w, rise, fall = values[..., :-1], values[..., 1:], slopes[..., :-1] * width, slopes[..., 1:] * width
        bend, twist = 3 * (w - v) - 2 * rise - fall, rise + fall - 2 * (w - v)
        pieces = np.stack([v, rise, bend, twist, np.minimum(v, w), np.maximum(v, w)])
        return _Arms(pieces.reshape(6, -1), z[:, 0], gap)

    def of_pairs(pairs: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Limits:
        first, second = pairs
        difference, angle = estimate[first] - estimate[second], np.arccos(correlation[first, second])

        def least(one: NDArray[np.intp], other: NDArray[np.intp]) -> Callable[[int, F64], F64]:
            """Return the function whose value is the least difference of a true value of `one` and one of `other`."""
            rows, apart = np.stack([one, other])[:, :, None], np.resize(angle, one.shape)[:, None]
            pairs, off = np.arange(len(one))[:, None], np.sqrt(np.sin(apart[:, 0]))

            def around(share: F64) -> F64:
                t = np.pi + share * (np.pi - apart)
                return np.asarray(np.cos([t, t + apart]))

            grid = around(_GRID)

            def at_level(n_levels: int, z: F64) -> F64:
                arm, z = arms(n_levels), z[:, None]
                found = np.subtract(*arm.at(rows, z * grid))
                k = np.minimum(np.maximum(found.argmin(axis=1), 1), len(_GRID) - 2)[:, None]
                before, at, after = found[pairs, k + _AROUND].T[:, :, None]
                bend = before - 2 * at + after  # the minimum of a parabola through three points
                move = np.divide(before - after, 2 * bend, out=np.zeros_like(bend), where=bend > 0)
                lowest = np.subtract(*arm.at(rows, z * around(_GRID[k] + np.clip(move, -1.0, 1.0) * _GRID[1])))
                # Equal models are off by the same part of the gap, others each by their own.
                return np.asarray(np.minimum(found.min(axis=1), lowest[:, 0]) - off * (arm.gap[one] + arm.gap[other]))

            return at_level

        def ends(z: Any) -> tuple[F64, F64]:
            n_levels = _NEAR if np.max(z) <= quantiles(_NEAR - 2) else _ALL
            both = least(np.append(first, second), np.append(second, first))
            low, high = both(n_levels, np.resize(z, 2 * len(first))).reshape(2, -1)
            return np.clip(low, -span, difference), np.clip(-high, difference, span)

        def tails(null: float) -> Tails:
            side = np.sign(difference - null)
            held = least(np.where(side > 0, first, second), np.where(side > 0, second, first))
            for n_levels in (_NEAR, _ALL):
                far = np.full_like(difference, quantiles(n_levels - 2))

                def gap(z: F64, n_levels: int = n_levels) -> F64:
                    left = held(n_levels, z) - side * null
                    # Where both intervals have reached their bounds, their difference is held at every level.
                    return np.where(left == 0, -1e-300, np.maximum(left, -1.0))

                z = last_held(np.zeros_like(far), far, gap)
                if (z < far).all():
                    break
            return tails_of(side * z, 1.0, Law())

        return Limits(ends, within(-span, span, tails))

    return of_pairs
