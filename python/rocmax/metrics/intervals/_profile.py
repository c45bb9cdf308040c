"""Limits of differences from those of both estimates and their correlation: see :class:`Profile`.

The core searches on the ellipse of the joint limits (`rust/core/src/interval/profile.rs`). It takes the limits of every
estimate at the levels up to the first of `_LEVELS` that suffices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, tails_of, within

_LEVELS = 12, 18, 36  # up to z = 2.3, 4.8 and 30, and one beyond, for the slope there
_AT_ONCE = 2**13  # limits at a time
_MOST = 1e100  # the squares of greater numbers overflow
_KNOWN = 4.0  # degrees of freedom of a correlation of 1/2 that is half believed
_EQUAL = 1e-12  # a correlation so near to 1 is that of equal components


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
