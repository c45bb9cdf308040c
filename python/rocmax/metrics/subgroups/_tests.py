"""Tests of subgroups: differences of means, and the test that all are equal."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits, dual, satterthwaite
from rocmax.metrics.intervals._joint import f_tail, freedom_of_parts, joint_test
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.subgroups._estimates import HALF, Estimates, SubgroupTest, pooled, settled

_SHRINKAGE = 10.0  # samples that the mean of the variances counts as
_ALIKE = 2  # the greatest size of a class over the least


def contrasts(estimates: Estimates, first: Any, second: Any, measure: Measure) -> tuple[F64, F64, Limits]:
    """Return differences of means with two kinds of shares, of no common subgroup, their errors and limits.

    The interval combines theirs (Zou and Donner, 2008): with r the correlation of the means,
    ``d - sqrt((a - a_low)^2 - 2 r (a - a_low) (b_high - b) + (b_high - b)^2)`` is its lower limit. The p-value is the
    least level at which it excludes 0. Estimates of measures other than shares of pairs are :func:`settled`.
    """
    calm = of_populations(estimates if measure.counts_pairs else settled(estimates, measure))
    # Newcombe's intervals are too narrow in the tails that adjusted p-values of many subgroups need.
    a, b = (pooled(calm, share, measure, wider=True) for share in (first, second))
    own, other, shared = first.total(estimates.estimate), second.total(estimates.estimate), calm.product(first, second)
    d, error = own - other, np.sqrt(np.maximum(a.variance + b.variance - 2 * shared, 0.0))
    both = np.sqrt(a.variance * b.variance)
    r = np.divide(shared, both, out=np.zeros_like(both), where=both > 0)

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


def of_populations(estimates: Estimates) -> Estimates:
    """Return estimates whose variances include that of the prevalence, as if it were known from as many samples."""
    if estimates.of_prevalence is None:
        return estimates
    added, v, n = estimates.of_prevalence, estimates.variance, estimates.sizes.sum(axis=1)
    freedom = satterthwaite((v, added), (estimates.freedom, np.maximum(n - 1, 1.0)), estimates.freedom)
    return estimates._replace(variance=v + added, freedom=freedom, of_prevalence=None)


def equality(estimates: Estimates, measure: Measure) -> SubgroupTest:
    """Test that all subgroups have the same value: Welch's (1951) analysis of variance.

    ``F = sum w (x - mean)^2 / (k - 1) / (1 + 2 (k - 2) / (k^2 - 1) L)``, x the estimates, w the inverses of their
    variances and ``L = sum (1 - w / sum w)^2 / v``, v the degrees of freedom of the variances, has k - 1 and
    ``(k^2 - 1) / (3 L)`` degrees of freedom. Of two tests the one with the larger p-value is returned: that of
    :func:`settled` estimates, liberal where positives vary more than negatives, and that of variances of either class's
    components shrunk to their mean over subgroups, liberal where these differ. The first is on the log-odds scale, on
    which small subgroups hardly ever differ; of shares of pairs in subgroups of about one size, where unequal variances
    matter least, it is on the arcsine scale.
    """
    kept = estimates.known
    own, shrunk = _of_own(estimates, kept, measure), _shrunk(estimates, kept)
    if shrunk is None or np.isnan(own.pvalue):
        return own
    shrunk = of_populations(shrunk)
    other = welch(shrunk, kept, np.ones(len(kept)), shrunk.estimate)
    return own if own.pvalue >= other.pvalue else other


def _of_own(estimates: Estimates, kept: NDArray[np.bool_], measure: Measure) -> SubgroupTest:
    """Test equality with the own variance of every subgroup."""
    least, most = measure.bounds
    if not np.isfinite(least) or (not np.isfinite(most) and (estimates.estimate[kept] <= least).any()):
        estimates = of_populations(estimates)
        return welch(estimates, kept, np.ones(len(kept)), estimates.estimate)
    estimates = of_populations(settled(estimates, measure))
    span = most - least if np.isfinite(most) else 1.0
    share = np.where(kept, (estimates.estimate - least) / span, HALF)
    if not np.isfinite(most):
        return welch(estimates, kept, 1 / share, np.log(share))
    sizes = estimates.sizes[kept]
    if measure.counts_pairs and kept.any() and (sizes.max(axis=0) <= _ALIKE * sizes.min(axis=0)).all():
        return welch(estimates, kept, 0.5 / np.sqrt(share * (1 - share)), np.arcsin(np.sqrt(share)))
    return welch(estimates, kept, 1 / (span * share * (1 - share)), np.log(share / (1 - share)))


def _shrunk(estimates: Estimates, kept: NDArray[np.bool_]) -> Estimates | None:
    """Return estimates with the variances of a class shrunk to their mean, as if by so many samples more."""
    if estimates.parts is None or estimates.crossed is not None or np.count_nonzero(kept) < 2:
        return None
    sizes = estimates.sizes
    freedom = np.where(kept[:, None], sizes - 1, 0.0)
    mean = (freedom * estimates.parts * sizes).sum(axis=0) / freedom.sum(axis=0)
    if not (mean > 0).any():
        return None
    parts = (freedom * estimates.parts + _SHRINKAGE * mean / sizes) / (freedom + _SHRINKAGE)
    return estimates._replace(variance=parts.sum(axis=1), freedom=satterthwaite(parts.T, (freedom + _SHRINKAGE).T))


def welch(estimates: Estimates, kept: NDArray[np.bool_], slope: F64, x: F64) -> SubgroupTest:
    """Test that the values x, of which the covariance is that of the estimates times the slopes, are equal."""
    kept = kept & (estimates.variance > 0)
    k = int(np.count_nonzero(kept))
    if k < 2:
        return SubgroupTest(np.nan, 0, np.nan, np.nan, k)
    x, v, variance = x[kept], estimates.freedom[kept], estimates.variance[kept] * slope[kept] ** 2
    if estimates.crossed is not None:
        if k > estimates.crossed:
            return SubgroupTest(np.nan, k - 1, np.nan, np.nan, k)
        spread = estimates.covariance[np.ix_(kept, kept)] * np.outer(slope[kept], slope[kept])
        # Hotelling's T^2 of as many vectors as there are clusters.
        joint = joint_test(np.diff(np.eye(k), axis=0), x, spread, [(spread, estimates.crossed - 1)])
        return SubgroupTest(*(joint[:4] if joint.df else (np.nan, 0, np.nan, np.nan)), k)
    w = variance.min() / variance
    q = float((w * (x - w @ x / w.sum()) ** 2).sum() / variance.min())
    rest = float(((1 - w / w.sum()) ** 2 / v).sum())
    f = q / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * rest)
    left = (k**2 - 1) / (3 * rest) if rest > 0 else np.inf
    return SubgroupTest(f, k - 1, left, f_tail(k - 1, left, f), k)


def johansen(x: F64, spreads: F64, parts: Sequence[tuple[Sequence[tuple[F64, Any]], float]]) -> SubgroupTest:
    """Test that the rows of x with these covariances are equal: Welch's analysis of variance of vectors.

    ``T = sum (x - mean)' W (x - mean)``, W the inverse of a covariance with v degrees of freedom and the mean weighted
    by it, has (k - 1) p = q degrees of freedom; ``T / (q + 2 A - 6 A / (q + 2))`` is F with q and
    ``q (q + 2) / (3 A)``, ``A = sum (tr(R^2) + tr(R)^2) / (2 v)`` with ``R = I - (sum W)^-1 W`` (Johansen, 1980).
    """
    w = np.linalg.inv(spreads)
    total = w.sum(axis=0)
    apart = x - np.linalg.solve(total, np.einsum("gij,gj->i", w, x))
    t, q = float(np.einsum("gi,gij,gj->", apart, w, apart)), (len(x) - 1) * x.shape[1]
    rest = 0.0
    for own, (every, most) in zip(w, parts, strict=True):
        r = np.eye(len(own)) - np.linalg.solve(total, own)
        root = np.linalg.cholesky(own)
        v = freedom_of_parts([(root.T @ part @ root, float(np.min(df))) for part, df in every], most)
        rest += float(np.trace(r @ r) + np.trace(r) ** 2) / (2 * v)
    f, left = t / (q + 2 * rest - 6 * rest / (q + 2)), q * (q + 2) / (3 * rest)
    return SubgroupTest(f, q, left, f_tail(q, left, f), len(x))
