"""Statistics of subgroups: pooled estimates, differences and the test that all are equal.

All are functions of the subgroups' estimates, of their covariance, which is 0 between subgroups without a common
cluster, and of the degrees of freedom of their variances.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import (
    FEW,
    Law,
    Limits,
    Tails,
    either,
    last_held,
    satterthwaite,
    tails_of,
    wald_limits,
    within,
)
from rocmax.metrics.intervals._joint import joint_test
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods.base import Interval
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.methods.newcombe import newcombe_variance
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._sample import has_variance

#: Weights of a subgroup in a pooled estimate.
SHARES = ("pairs", "positives", "equal")
_NEAREST, _FARTHEST = 1e-9, 8.2  # standard errors: a probability within, or beyond, is that of rounding
_CLOSE = 1e-12  # to an estimate, or of a variance: within rounding of it, or of 0
_DEEP = 1e3  # differences: a limit that far beyond 0 counts as no farther
_SHRINKAGE = 10.0  # samples that the mean of the variances counts as
_HALF = 0.5  # a pair, or a sample, that is neither won nor lost


class Estimates(NamedTuple):
    """Estimates of subgroups.

    Attributes
    ----------
    estimate, variance, freedom : ndarray of shape (n_subgroups,)
        The measure, its variance and the degrees of freedom of that.
    sizes : ndarray of shape (n_subgroups, 2)
        Positives and negatives: their number, or their effective number where weights are sampling weights.
    crossed : float or None
        Number of clusters, where they cross subgroups.
    sums : sparse array of shape (n_subgroups, n_clusters) or None
        The share of every cluster in the deviation of an estimate: ``sums @ sums.T`` are the covariances there.
    parts : ndarray of shape (n_subgroups, 2) or None
        The parts of either class in the variances, where samples are independent and have components.
    of_prevalence : ndarray of shape (n_subgroups,) or None
        What the estimated prevalence adds to the variance, for measures that depend on it.
    """

    estimate: F64
    variance: F64
    freedom: F64
    sizes: F64
    crossed: float | None = None
    sums: Any = None
    parts: F64 | None = None
    of_prevalence: F64 | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which subgroups have a variance: two samples of either class, and an interval."""
        enough = [has_variance(min(sizes)) for sizes in self.sizes.tolist()]
        return np.array(enough, dtype=bool) & np.isfinite(self.variance)

    @property
    def covariance(self) -> F64:
        """Covariance of the estimates, of shape (n_subgroups, n_subgroups): diagonal unless clusters cross."""
        found = np.diag(self.variance) if self.sums is None else (self.sums @ self.sums.T).toarray()
        np.fill_diagonal(found, self.variance)
        return np.asarray(found)

    def product(self, first: F64, second: F64) -> F64:
        """Return the covariances of pairs of means, of shape (n_means,), from shares (n_means, n_subgroups)."""
        both = first * second
        found = both @ self.variance
        if self.sums is not None:
            found += ((self.sums.T @ first.T) * (self.sums.T @ second.T)).sum(axis=0) - both @ _squares(self.sums)
        return np.asarray(found)


def _squares(sums: Any) -> F64:
    """Return the sums of the squares of the rows of a sparse array."""
    return np.asarray((sums * sums).sum(axis=1)).ravel()


class SubgroupDifference(NamedTuple):
    """The difference of a subgroup and another one, or all others pooled.

    Attributes
    ----------
    subgroup, against : label
        The subgroup and the other one; `against` is "the rest" for all others.
    difference, standard_error : float
        Estimate of the subgroup minus that of the other, and its standard error.
    confidence_interval : ConfidenceInterval
        Interval of the difference (Zou and Donner, 2008).
    pvalue, pvalue_adjusted : float
        Two-sided: the least level at which the interval excludes 0; and adjusted for the number of differences.
    """

    subgroup: Any
    against: Any
    difference: float
    standard_error: float
    confidence_interval: ConfidenceInterval
    pvalue: float
    pvalue_adjusted: float


class PooledEstimate(NamedTuple):
    """A weighted mean of subgroups, its standard error and its interval."""

    estimate: float
    standard_error: float
    confidence_interval: ConfidenceInterval


class SubgroupTest(NamedTuple):
    """The test that all subgroups are equal: an F statistic.

    Attributes
    ----------
    statistic : float
        F; NaN where fewer than two subgroups can be compared.
    df, df_denominator : float
        Degrees of freedom: the number of compared subgroups less one, and those of the variances. An infinite
        denominator is a chi-square test.
    pvalue : float
        NaN without a test.
    n_compared : int
        Number of compared subgroups: those with two samples of either class.
    """

    statistic: float
    df: float
    df_denominator: float
    pvalue: float
    n_compared: int


def shares_of(totals: F64, weights: str) -> F64:
    """Return the weights of subgroups in a mean, by the totals (n_subgroups, 2) of their classes."""
    found = {"pairs": totals.prod(axis=1), "positives": totals[:, 0], "equal": np.ones(len(totals))}[weights]
    return np.asarray(found / found.sum())


def pooled(found: Estimates, shares: F64, measure: Measure, *, wider: bool = False) -> Interval:
    """Return means of subgroups with these shares, of shape (n_means, n_subgroups).

    Intervals are on the log-odds scale, with the degrees of freedom of Welch and Satterthwaite. If a class has fewer
    than five samples, or the variance is 0, a share of pairs has Newcombe's interval, with the mean of his variances in
    the subgroups, or the union of both if `wider`; other measures without variance have that of :func:`settled`
    estimates.
    """
    estimate, variance, freedom = _means(found, shares)
    if measure.bounds[0] == -np.inf:
        limits = wald_limits(estimate, np.sqrt(variance), Law(freedom), measure.bounds)
        return Interval(estimate, variance, limits, "delong")
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    if measure.counts_pairs:
        few = ~inside | (((shares > 0) @ found.sizes).min(axis=1) < FEW)
        limits = _with_newcombe(limits, few, inside & wider, estimate, shares, found.sizes)
    elif not inside.all():
        calm = settled(found, measure)
        moved, spread, freedom = _means(calm, shares)
        at = np.where(inside, estimate, moved)
        limits = either(inside, limits, _holding(estimate, at, log_odds(at, spread, freedom, measure.bounds)[0]))
    return Interval(estimate, variance, limits, "logit-delong")


def _means(found: Estimates, shares: F64) -> tuple[F64, F64, F64]:
    """Return means of subgroups with these shares, their variances and the degrees of freedom of these."""
    variance = np.maximum(found.product(shares, shares), 0.0)
    if found.crossed is not None:
        return shares @ found.estimate, variance, np.full(len(shares), found.crossed - 1)
    return shares @ found.estimate, variance, satterthwaite((shares**2 * found.variance).T, found.freedom)


def settled(found: Estimates, measure: Measure) -> Estimates:
    """Return estimates of a measure with two bounds, each with a variance above 0.

    In a subgroup at a bound, or without variance, half a pair (half a sample of the smaller class for measures other
    than shares of pairs) is added as lost and half as won.
    """
    least, most = measure.bounds
    if not np.isfinite([least, most]).all():
        return found
    span = most - least
    estimate, variance, freedom = found.estimate.copy(), found.variance.copy(), found.freedom.copy()
    moved = (found.variance <= _CLOSE * span**2) | (estimate <= least) | (estimate >= most)
    for k in np.flatnonzero(moved):
        size = found.sizes[k]
        n = size.prod() if measure.counts_pairs else size.min()
        share = ((estimate[k] - least) / span * n + _HALF) / (n + 1)
        own = newcombe_variance(share, tuple(size)) if measure.counts_pairs else share * (1 - share) / n
        estimate[k], variance[k], freedom[k] = least + span * share, own * span**2, max(size.min() - 1, 1.0)
    found = found._replace(estimate=estimate, variance=variance, freedom=freedom)
    return found if found.sums is None else found._replace(sums=(found.sums * ~moved[:, None]).tocsr())


def _with_newcombe(
    limits: Limits, few: NDArray[np.bool_], union: NDArray[np.bool_], estimate: F64, shares: F64, sizes: F64
) -> Limits:
    """Return limits with Newcombe's for the means marked as `few`, extended to the original where `union` is marked."""
    if not few.any():
        return limits
    # Means of as many subgroups as the largest; the others have shares of 0.
    order = np.argsort(shares[few] <= 0, axis=1, kind="stable")[:, : int((shares[few] > 0).sum(axis=1).max())]
    weight, (n_pos, n_neg) = np.take_along_axis(shares[few], order, axis=1) ** 2, np.moveaxis(sizes[order], 2, 0)
    at, both = estimate[few], union[few]
    at = np.where(at < _CLOSE, 0.0, np.where(at > 1 - _CLOSE, 1.0, at))  # sums of shares may exceed 1 by rounding

    def error(a: F64) -> F64:
        return np.asarray(np.sqrt((weight * newcombe_variance(a[..., None], (n_pos, n_neg))).sum(axis=-1)))

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        z = np.broadcast_to(z, low.shape)[..., few]
        with np.errstate(invalid="ignore", divide="ignore"):
            lower, upper = (
                last_held(at, np.full_like(at, outer), lambda a: z * error(a) - np.abs(a - at)) for outer in (0.0, 1.0)
            )
        low[..., few] = np.where(both, np.minimum(low[..., few], lower), np.where(at <= 0, 0.0, lower))
        high[..., few] = np.where(both, np.maximum(high[..., few], upper), np.where(at >= 1, 1.0, upper))
        return low, high

    def tails(null: float) -> Tails:
        own = tails_of(at - null, error(np.full_like(at, null)), Law())
        found = Tails(*(np.broadcast_to(side, few.shape).copy() for side in limits.tails(null)))
        for side, of_few in zip(found, own, strict=True):
            side[few] = np.where(both, side[few], of_few)
        return found

    return Limits(ends, within(0.0, 1.0, tails))


def _holding(estimate: F64, moved: F64, limits: Limits) -> Limits:
    """Return limits about estimates that were moved, extended to the original ones."""

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        return np.minimum(low, estimate), np.maximum(high, estimate)

    def tails(null: float) -> Tails:
        between = (null - estimate) * (null - moved) < 0
        none = Tails(np.zeros_like(moved), np.full_like(moved, 0.5), np.full_like(moved, 0.5))
        return Tails(*(np.where(between, *pair) for pair in zip(none, limits.tails(null), strict=True)))

    return Limits(ends, tails)


class _Contrasts(NamedTuple):
    """Differences of means, their standard errors, and their intervals at a normal quantile for each."""

    difference: F64
    error: F64
    ends: Callable[[Any], tuple[F64, F64]]

    def pvalues(self) -> F64:
        """Return the least levels at which the intervals exclude 0."""
        d = self.difference
        apart = np.where(d == 0, 1.0, np.abs(d))

        def gap(z: F64) -> F64:
            low, high = self.ends(z)
            # Relative to the difference; limits may be infinite.
            return np.clip(np.where(d > 0, low, -high) / apart, -_DEEP, _DEEP)

        near = np.full_like(d, _NEAREST)
        none = (d == 0) | (gap(near) <= 0)
        z = last_held(near, np.full_like(d, _FARTHEST), lambda z: np.where(none, 1.0, gap(z)))
        return np.where(none, 1.0, 2 * special.ndtr(-z))


def contrasts(found: Estimates, first: F64, second: F64, measure: Measure) -> _Contrasts:
    """Return the differences of the means with two lists of shares, each of shape (n_differences, n_subgroups).

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

    return _Contrasts(d, error, ends)


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
    share = np.where(kept, (found.estimate - least) / span, _HALF)
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
