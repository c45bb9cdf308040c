"""Choose among models by their held-out partial AUCs and the standard errors of paired differences."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._typing import F64, AnyArray, Bool
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.samples._arguments import Arguments

#: Measures between 0 and 1 whose difference is at most this are equal: sums of millions of terms round by less.
SAME = 1e-12
# The difference of two equal variances is about this share of them, by rounding.
_ROUNDING = 1e-14


def are_best(values: F64) -> Bool:
    """Mark, along the last axis, the values that are equal to the greatest."""
    return np.asarray(values >= values.max(axis=-1, keepdims=True) - SAME)


def first_best(values: F64) -> Any:
    """Return the index, along the last axis, of the first value that is equal to the greatest."""
    return are_best(values).argmax(axis=-1)


class Standing(NamedTuple):
    """The held-out partial AUC of a candidate, and its paired difference from the best one (DeLong)."""

    partial_auc: float
    standard_error: float
    difference: float
    difference_error: float
    kept: bool  # whether it is worse by at most `lead` standard errors of the difference


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
    """Compare candidates by held-out scores; keep those within `lead` errors of the best, all if these are NaN."""
    value, covariance = _covariance(positive, scores, fpr_range, weight, groups, n_threads)
    best = int(np.argmax(value))
    variance = np.diagonal(covariance)
    of_difference = variance + variance[best] - 2.0 * covariance[best]
    error = np.sqrt(np.where(of_difference <= _ROUNDING * (variance + variance[best]), 0.0, of_difference))  # or NaN
    own, difference = np.sqrt(np.maximum(variance, 0.0)), value - value[best]
    columns = value, own, difference, error, ~(difference < -lead * error)
    return [Standing(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def paired_difference(
    positive: Bool, scores: F64, others: F64, fpr_range: tuple[float, float], *, weight: F64 | None = None
) -> tuple[float, float]:
    """Return the difference of partial AUCs from that, or the mean of those, of others, and DeLong's standard error."""
    others = np.atleast_2d(others)
    value, covariance = _covariance(positive, [scores, *others], fpr_range, weight, None, 1)
    contrast = np.append(1.0, np.full(len(others), -1.0 / len(others)))
    variance = contrast @ covariance @ contrast
    if np.isnan(variance):
        return float("nan"), float("nan")
    return float(contrast @ value), float(np.sqrt(max(variance, 0.0)))


def is_better(difference: float, standard_error: float, errors: float) -> bool:
    """Whether a difference exceeds `errors` standard errors and rounding; False if the standard error is NaN."""
    return bool(difference > max(errors * standard_error, SAME))


def smoothed(means: F64) -> F64:
    """Return the means of each value and its two neighbours, with weights 1/2, 1/4 and 1/4."""
    padded = np.pad(means, 1, mode="edge")
    return np.asarray((padded[:-2] + 2.0 * padded[1:-1] + padded[2:]) / 4.0)


def correction_of_folds(sizes: Sequence[tuple[Any, Any]]) -> float:
    """Return the error of the mean over k folds per deviation, sqrt(1/k + n_test/n_train) (Nadeau, Bengio 2003)."""
    ratio = float(np.mean([test / train for train, test in sizes]))
    return float(np.sqrt(1.0 / len(sizes) + ratio)) if len(sizes) > 1 else 0.0


def error_over_folds(differences: F64, correction: float) -> Any:
    """Return the standard error of the mean over folds, the first axis."""
    return correction * differences.std(axis=0, ddof=1) if len(differences) > 1 else 0.0


def _covariance(
    positive: Bool,
    scores: Sequence[F64],
    fpr_range: tuple[float, float],
    weight: F64 | None,
    groups: AnyArray | None,
    n_threads: int,
) -> tuple[F64, F64]:
    """Return the partial AUCs and their covariance matrix, NaN if a class has one row, or all are one cluster."""
    columns: list[Any] = [np.ascontiguousarray(of, dtype=np.float64) for of in scores]
    key = PartialAUC(fpr_range).in_core
    one_cluster = groups is not None and len(np.unique(groups)) < 2
    if one_cluster or min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        values = [_core.Curve(positive, of, weight, n_threads).measure(key) for of in columns]
        return np.array(values), np.full((len(columns), len(columns)), np.nan)
    if groups is not None:
        return _clustered(positive, columns, fpr_range, weight, groups)
    sampling = weight is not None
    value, of_positives, of_negatives = _core.covariance(positive, columns, weight, sampling, key, n_threads)
    return np.asarray(value), np.asarray(of_positives + of_negatives).reshape(len(columns), -1)


def _clustered(
    positive: Bool, columns: list[Any], fpr_range: tuple[float, float], weight: F64 | None, groups: AnyArray
) -> tuple[F64, F64]:
    """Return the same for clusters of dependent rows (Obuchowski, 1997)."""
    measure = PartialAUC(fpr_range)
    names, group = np.unique(groups, return_inverse=True)
    values, sums = [], []
    for column in columns:
        data = Arguments(positive, column, weight, remedy="").of_two_classes()
        values.append(_core.Curve(positive, column, weight, 1).measure(measure.in_core))
        sums.append(np.bincount(group, influence_of(data, measure), len(names)))
    of_group = np.array(sums)
    return np.array(values), len(names) / (len(names) - 1) * of_group @ of_group.T
