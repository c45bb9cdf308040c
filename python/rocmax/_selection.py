"""Choosing among models by their held-out partial AUCs, with the standard errors of paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._typing import F64, AnyArray, Bool
from rocmax.metrics._components import influences
from rocmax.metrics._measure import parse_measure
from rocmax.metrics._partial import curve_area
from rocmax.metrics._validation import sample

# Rounding leaves about this much of two equal variances.
_ROUNDING = 1e-14


class Standing(NamedTuple):
    """A candidate among others.

    Attributes
    ----------
    partial_auc, standard_error : float
        Its held-out partial AUC.
    difference, difference_error : float
        That less the best candidate's, and the standard error of the paired difference (DeLong).
    kept : bool
        Whether it is not worse than the best by more than `lead` of these.
    """

    partial_auc: float
    standard_error: float
    difference: float
    difference_error: float
    kept: bool


def standings(
    positive: Bool,
    scores: Sequence[F64],
    fpr_range: tuple[float, float],
    *,
    lead: float = 2.0,
    weight: F64 | None = None,
    groups: AnyArray | None = None,
    n_threads: int = 1,
) -> list[Standing]:
    """Return how each candidate stands: keep all that are not worse than the best by more than `lead` standard errors.

    The best candidate is the one of the greatest partial AUC, of several the first. Where a class has one row only
    there are no standard errors (NaN) and every candidate is kept. O(K n log n + K^2 n) for K candidates.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,)
        Which rows are positive.
    scores : sequence of ndarray of shape (n_samples,)
        The held-out scores of each candidate, of the same rows.
    fpr_range : (float, float)
        The range of false positive rates.
    lead : float, default=2.0
        Standard errors of the difference.
    weight : ndarray of shape (n_samples,), default=None
        Sampling weights above 0.
    groups : ndarray of shape (n_samples,), default=None
        Clusters of dependent rows.
    n_threads : int, default=1
        Threads; nothing depends on them.
    """
    value, covariance = _covariance(positive, scores, fpr_range, weight, groups, n_threads)
    best = int(np.argmax(value))
    variance = np.diagonal(covariance)
    of_difference = variance + variance[best] - 2.0 * covariance[best]
    of_difference = np.where(of_difference > _ROUNDING * (variance + variance[best]), of_difference, 0.0)
    of_difference = np.where(np.isnan(variance), np.nan, of_difference)
    error = np.sqrt(of_difference)
    difference = value - value[best]
    kept = ~(difference < -lead * error)
    own = np.sqrt(np.maximum(variance, 0.0))
    return [
        Standing(float(value[k]), float(own[k]), float(difference[k]), float(error[k]), bool(kept[k]))
        for k in range(len(value))
    ]


def takes_lead(
    positive: Bool,
    scores: Sequence[F64],
    fpr_range: tuple[float, float],
    *,
    lead: float = 2.0,
    weight: F64 | None = None,
    groups: AnyArray | None = None,
    n_threads: int = 1,
) -> int:
    """Return the candidate to take where the first is the default: the best of those that are better beyond `lead`.

    A rival replaces the default where its partial AUC is greater by more than `lead` standard errors of the paired
    difference; of several rivals the best, and without any the default, 0. Parameters as of :func:`standings`.
    """
    value, covariance = _covariance(positive, scores, fpr_range, weight, groups, n_threads)
    variance = np.diagonal(covariance)
    error = np.sqrt(np.maximum(variance + variance[0] - 2.0 * covariance[0], 0.0))
    leading = [k for k in range(1, len(value)) if value[k] - value[0] > lead * error[k]]
    return max(leading, key=lambda k: value[k], default=0)


def _covariance(
    positive: Bool,
    scores: Sequence[F64],
    fpr_range: tuple[float, float],
    weight: F64 | None,
    groups: AnyArray | None,
    n_threads: int,
) -> tuple[F64, F64]:
    """Return the partial AUCs and their covariance matrix, NaN where a class has one row only."""
    columns: list[Any] = [np.ascontiguousarray(of, dtype=np.float64) for of in scores]
    key = curve_area(fpr_range, None, "width")
    if min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        values = [_core.Curve(positive, of, weight, n_threads).measure(*key) for of in columns]
        return np.array(values), np.full((len(columns), len(columns)), np.nan)
    if groups is not None:
        return _clustered(positive, columns, fpr_range, weight, groups)
    kind = "frequency" if weight is None else "sampling"
    value, of_positives, of_negatives = _core.covariance(positive, columns, weight, kind, *key, n_threads)
    return np.asarray(value), np.asarray(of_positives + of_negatives).reshape(len(columns), -1)


def _clustered(
    positive: Bool, columns: list[Any], fpr_range: tuple[float, float], weight: F64 | None, groups: AnyArray
) -> tuple[F64, F64]:
    """Return the same where rows of one group depend on each other: by what each group adds (Obuchowski, 1997)."""
    measure: Any = parse_measure("auc", fpr_range=fpr_range)
    names, group = np.unique(groups, return_inverse=True)
    values, sums = [], []
    for column in columns:
        data = sample(positive, column, weight)
        values.append(_core.Curve(positive, column, weight, 1).measure(*measure.key))
        sums.append(np.bincount(group, influences(data, measure), len(names)))
    of_group = np.array(sums)
    return np.array(values), len(names) / max(len(names) - 1, 1) * of_group @ of_group.T
