"""Tests of subgroups: differences of means, and the test that all are equal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits, dual, satterthwaite
from rocmax.metrics.intervals._joint import joint_test
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.subgroups._estimates import HALF, Estimates, SubgroupTest, pooled, settled

_SHRINKAGE = 10.0  # samples that the mean of the variances counts as


def contrasts(found: Estimates, first: F64, second: F64, measure: Measure) -> tuple[F64, F64, Limits]:
    """Return differences of means, with two lists of shares (n_differences, n_subgroups), their errors and limits.

    The interval combines theirs (Zou and Donner, 2008): with r the correlation of the means,
    ``d - sqrt((a - a_low)^2 - 2 r (a - a_low) (b_high - b) + (b_high - b)^2)`` is its lower limit. The p-value is the
    least level at which it excludes 0. Estimates of measures other than shares of pairs are :func:`settled`.
    """
    calm = of_populations(found if measure.counts_pairs else settled(found, measure))
    # Newcombe's intervals are too narrow in the tails that adjusted p-values of many subgroups need.
    a, b = (pooled(calm, share, measure, wider=True) for share in (first, second))
    own, other, apart = first @ found.estimate, second @ found.estimate, first - second
    d, error = own - other, np.sqrt(np.maximum(calm.product(apart, apart), 0.0))
    both = np.sqrt(a.variance * b.variance)
    r = np.divide(calm.product(first, second), both, out=np.zeros_like(both), where=both > 0)

    def ends(z: Any) -> tuple[F64, F64]:
        (a_low, a_high), (b_low, b_high) = a.limits.ends(z), b.limits.ends(z)
        down = _combined(own - a_low, b_high - other, r)
        return d - down, d + _combined(a_high - own, other - b_low, r)

    return d, error, Limits(ends, dual(d, ends))


def _combined(one: F64, other: F64, r: F64) -> F64:
    """Return ``sqrt(one^2 - 2 r one other + other^2)`` for distances, which may be infinite."""
    one, other = np.maximum(one, 0.0), np.maximum(other, 0.0)
    infinite = np.isinf(one) | np.isinf(other)
    x, y = np.where(infinite, 0.0, one), np.where(infinite, 0.0, other)
    found = np.hypot(x - r * y, np.sqrt(np.maximum(1 - r**2, 0.0)) * y)
    return np.where(infinite, np.inf, found)


def of_populations(found: Estimates) -> Estimates:
    """Return estimates whose variances include that of the prevalence, as if it were known from as many samples."""
    if found.of_prevalence is None:
        return found
    added, v, n = found.of_prevalence, found.variance, found.sizes.sum(axis=1)
    freedom = satterthwaite((v, added), (found.freedom, np.maximum(n - 1, 1.0)), found.freedom)
    return found._replace(variance=v + added, freedom=freedom, of_prevalence=None)


def equality(found: Estimates, measure: Measure) -> SubgroupTest:
    """Test that all subgroups have the same value: Welch's (1951) analysis of variance.

    ``F = sum w (x - mean)^2 / (k - 1) / (1 + 2 (k - 2) / (k^2 - 1) L)``, x the estimates, w the inverses of their
    variances and ``L = sum (1 - w / sum w)^2 / v``, v the degrees of freedom of the variances, has k - 1 and
    ``(k^2 - 1) / (3 L)`` degrees of freedom. Of two tests the one with the larger p-value is returned: that of
    :func:`settled` estimates on the log-odds scale, which alone is liberal where positives vary more than negatives,
    and that of variances of either class's components shrunk to their mean over subgroups, liberal where these differ.
    """
    kept = found.known
    own, shrunk = _of_own(found, kept, measure), _shrunk(found, kept)
    if shrunk is None or np.isnan(own.pvalue):
        return own
    shrunk = of_populations(shrunk)
    other = welch(shrunk, kept, np.ones(len(kept)), shrunk.estimate)
    return own if own.pvalue >= other.pvalue else other


def _of_own(found: Estimates, kept: NDArray[np.bool_], measure: Measure) -> SubgroupTest:
    """Test equality with the own variance of every subgroup."""
    least, most = measure.bounds
    if not np.isfinite(least) or (not np.isfinite(most) and (found.estimate[kept] <= least).any()):
        found = of_populations(found)
        return welch(found, kept, np.ones(len(kept)), found.estimate)
    found = of_populations(settled(found, measure))
    span = most - least if np.isfinite(most) else 1.0
    share = np.where(kept, (found.estimate - least) / span, HALF)
    if not np.isfinite(most):
        return welch(found, kept, 1 / share, np.log(share))
    return welch(found, kept, 1 / (span * share * (1 - share)), special.logit(share))


def _shrunk(found: Estimates, kept: NDArray[np.bool_]) -> Estimates | None:
    """Return estimates with the variances of a class shrunk to their mean, as if by so many samples more."""
    if found.parts is None or found.crossed is not None or np.count_nonzero(kept) < 2:
        return None
    sizes = found.sizes
    freedom = np.where(kept[:, None], sizes - 1, 0.0)
    mean = (freedom * found.parts * sizes).sum(axis=0) / freedom.sum(axis=0)
    if not (mean > 0).any():
        return None
    parts = (freedom * found.parts + _SHRINKAGE * mean / sizes) / (freedom + _SHRINKAGE)
    return found._replace(variance=parts.sum(axis=1), freedom=satterthwaite(parts.T, (freedom + _SHRINKAGE).T))


def welch(found: Estimates, kept: NDArray[np.bool_], slope: F64, x: F64) -> SubgroupTest:
    """Test that the values x, of which the covariance is that of the estimates times the slopes, are equal."""
    kept = kept & (found.variance > 0)
    k = int(np.count_nonzero(kept))
    if k < 2:
        return SubgroupTest(np.nan, 0, np.nan, np.nan, k)
    x, v, variance = x[kept], found.freedom[kept], found.variance[kept] * slope[kept] ** 2
    if found.crossed is not None:
        spread = found.covariance[np.ix_(kept, kept)] * np.outer(slope[kept], slope[kept])
        # Hotelling's T^2 of as many vectors as there are clusters.
        joint = joint_test(np.diff(np.eye(k), axis=0), x, spread)
        rank, n = joint.df, found.crossed - 1
        left = n - rank + 1
        if rank < 1 or left < 1:
            return SubgroupTest(np.nan, rank, np.nan, np.nan, k)
        f = joint.statistic * left / (n * rank)
        return SubgroupTest(f, rank, left, float(special.fdtrc(rank, left, f)), k)
    w = variance.min() / variance
    q = float((w * (x - w @ x / w.sum()) ** 2).sum() / variance.min())
    rest = float(((1 - w / w.sum()) ** 2 / v).sum())
    f = q / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * rest)
    left = (k**2 - 1) / (3 * rest) if rest > 0 else np.inf
    p = float(special.fdtrc(k - 1, left, f)) if np.isfinite(left) else float(special.chdtrc(k - 1, q))
    return SubgroupTest(f, k - 1, left, p, k)
