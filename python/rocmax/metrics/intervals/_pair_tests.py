"""Tests of the difference of every pair of estimates."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._hypothesis import Hypothesis, adjusted
from rocmax.metrics.intervals._interval import Law, percentiles, wald_limits
from rocmax.metrics.methods.base import Covariance
from rocmax.metrics.results._comparison import PairComparison
from rocmax.metrics.results._inference import ConfidenceInterval

# Pairs that are tested at a time: the replicates of all might not fit in memory.
_PAIRS = 256


def pair_tests(
    found: Covariance,
    freedom: F64 | None,
    names: tuple[str, ...],
    hypothesis: Hypothesis,
    level: float,
    bounds: tuple[float, float],
    adjust: str | None,
) -> tuple[PairComparison, ...]:
    """Return the test of every pair of models.

    `freedom` is ``var^2 / (N - 1)`` of each model of independent samples, `bounds` are those of the measure.
    """
    first, second = np.triu_indices(len(names), 1)
    parts = []
    for start in range(0, len(first), _PAIRS):
        some = first[start : start + _PAIRS], second[start : start + _PAIRS]
        parts.append(_differences(found, freedom, some, hypothesis, level, bounds))
    difference, error, low, high, statistic, df, pvalue = np.concatenate(parts, axis=1)
    for value in difference[(difference != 0) & (error == 0)]:
        message = (
            f"the difference of {value:.3g} has a variance of 0 because the classes are separated: its p-value"
            " of 0 and its interval are too optimistic"
        )
        warnings.warn(CoverageWarning(message), stacklevel=4)
    columns = (difference, error, low, high, statistic, df, pvalue, adjusted(pvalue, adjust))
    rows = zip(first.tolist(), second.tolist(), *(column.tolist() for column in columns), strict=True)
    return tuple(
        PairComparison(names[a], names[b], change, spread, ConfidenceInterval(least, most), *tested)
        for a, b, change, spread, least, most, *tested in rows
    )


def _differences(
    found: Covariance,
    freedom: F64 | None,
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]],
    hypothesis: Hypothesis,
    level: float,
    bounds: tuple[float, float],
) -> F64:
    """Return the columns of some pairs; limits and p-values come from the replicates if there are any.

    They are difference, standard error, lower and upper limit, statistic, degrees of freedom and p-value.
    """
    first, second = pairs
    estimate, matrix, replicates = found
    difference, variance, df = estimate[first] - estimate[second], np.diagonal(matrix), None
    error = _error_of(variance[first], variance[second], matrix[first, second])
    if freedom is not None:
        spread, total = freedom[first] + freedom[second], (variance[first] + variance[second]) ** 2
        df = np.divide(total, spread, out=np.full_like(total, np.inf), where=spread > 0)
    span = bounds[1] - bounds[0]
    limits = wald_limits(difference, error, Law(df), (-span, span))
    if replicates is not None:
        limits = percentiles(replicates[:, first] - replicates[:, second], limits.tails)
    statistic, pvalue = hypothesis.test(limits.tails)
    columns = (difference, error, *limits.ends(level), statistic, np.inf if df is None else df, pvalue)
    return np.array([np.broadcast_to(column, difference.shape) for column in columns])


def _error_of(first: F64, second: F64, covariance: F64) -> F64:
    """Return the standard errors of differences, from variances and covariances."""
    variance = first + second - 2 * covariance
    # The rounding error of equal variances that cancel.
    return np.sqrt(np.where(variance > 1e-14 * (first + second), variance, 0.0))
