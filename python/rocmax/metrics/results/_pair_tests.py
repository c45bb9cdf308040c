"""Tests of the difference of every pair of estimates."""

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._hypothesis import Hypothesis, adjusted
from rocmax.metrics.intervals._interval import Law, either, no_width, percentiles, wald_limits
from rocmax.metrics.intervals._profile import profile, shrunk
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods.base import Covariance
from rocmax.metrics.results._comparison import PairComparison
from rocmax.metrics.results._inference import ConfidenceInterval

# Pairs that are tested at a time: the replicates of all might not fit in memory.
_PAIRS = 256
_NONE = 1e-24  # variance, over the square of the measure's span: that of rounding


def pair_tests(
    found: Covariance,
    freedom: F64 | None,
    names: tuple[str, ...],
    hypothesis: Hypothesis,
    level: float,
    bounds: tuple[float, float],
    adjust: str | None,
) -> tuple[PairComparison, ...]:
    """Return the test of every pair of models; `freedom` is ``var^2 / (N - 1)`` of each of independent samples."""
    first, second = np.triu_indices(len(names), 1)
    span, of_profile = bounds[1] - bounds[0], None
    if found.own is not None:
        r = np.eye(len(names)) if found.freedom is None else shrunk(found.matrix, found.freedom)
        of_profile = profile(found.estimate, found.own.limits, r, span)

    def differences(first: NDArray[np.intp], second: NDArray[np.intp]) -> list[F64]:
        """Return the columns of some pairs; limits and p-values come from profiles or replicates if there are any."""
        estimate, variance, df = found.estimate, np.diagonal(found.matrix), None
        difference, both = estimate[first] - estimate[second], variance[first] + variance[second]
        apart = both - 2 * found.matrix[first, second]
        error = np.sqrt(np.where(apart > 1e-14 * both, apart, 0.0))  # above the rounding of equal variances that cancel
        if freedom is not None:
            spread, total = freedom[first] + freedom[second], both**2
            df = np.divide(total, spread, out=np.full_like(total, np.inf), where=spread > 0)
        limits = wald_limits(difference, error, Law(df), (-span, span))
        if found.pairwise is not None:
            limits = found.pairwise(first, second)
        elif found.replicates is not None:
            limits = percentiles(found.replicates[:, first] - found.replicates[:, second], limits.tails)
        if of_profile is not None:
            certain = np.maximum(variance[first], variance[second]) <= _NONE * span**2
            drawn = found.replicates is not None
            limits = either(certain | (not drawn), of_profile((first, second)), limits)
        statistic, pvalue = hypothesis.test(limits.tails)
        columns = (difference, error, *limits.at(level), statistic, np.inf if df is None else df, pvalue)
        return [np.broadcast_to(column, difference.shape) for column in columns]

    blocks = (slice(start, start + _PAIRS) for start in range(0, len(first), _PAIRS))
    parts = [differences(first[block], second[block]) for block in blocks]
    difference, error, low, high, statistic, df, pvalue = np.concatenate(parts, axis=1)
    size = float(np.abs(found.estimate).max())  # of numbers that cancel
    flat = no_width(low, high, bounds if np.isfinite(bounds).all() else (0.0, size))
    certain = np.diagonal(found.matrix) <= _NONE * size**2
    flat &= (difference != 0) | (certain[first] & certain[second])  # models that rank all samples alike do not differ
    if flat.any():
        k = int(np.argmax(flat))
        message = (
            f"the difference of {difference[k]:.3g} between {names[first[k]]!r} and {names[second[k]]!r} has a variance"
            " of 0, as when both separate the classes: its interval and its p-value are too optimistic"
        )
        warn(CoverageWarning(message))
    columns = (difference, error, low, high, statistic, df, pvalue, adjusted(pvalue, adjust))
    rows = zip(first.tolist(), second.tolist(), *(column.tolist() for column in columns), strict=True)
    return tuple(
        PairComparison(names[a], names[b], change, spread, ConfidenceInterval(least, most), *tested)
        for a, b, change, spread, least, most, *tested in rows
    )


def unknown_width(found: Covariance, names: tuple[str, ...], level: float, measure: Measure) -> str | None:
    """Return why differences have no interval, and warn, if two models of an unbounded measure have no width."""
    if found.own is None or np.isfinite(measure.bounds).all():
        return None
    at = np.flatnonzero(no_width(*found.own.limits.at(level), measure.bounds))
    if len(at) < 2:
        return None
    one, other = (names[k] for k in at[:2])
    fact = f"models {one!r} and {other!r} have no variance and the {measure} no upper bound"
    warn(CoverageWarning(f"differences have no interval: {fact}; use a measure between bounds, such as AUC()", fact))
    return fact
