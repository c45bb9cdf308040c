"""Statistics of subgroups, from their estimates, covariance and degrees of freedom: means, and tests."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals import _interval as intervals
from rocmax.metrics.intervals._hypothesis import f_tail, freedom_of_parts, joint_test
from rocmax.metrics.intervals._interval import Law, Limits, Tails, either, satterthwaite
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.methods.base import Interval
from rocmax.metrics.methods.defaults import is_normal
from rocmax.metrics.methods.delong import log_odds, newcombe_limits, newcombe_variance, per_pair
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._sample import Sample, has_variance
from rocmax.metrics.variances._effective import is_design

#: Weights of a subgroup in a pooled estimate.
SHARES = ("pairs", "positives", "equal")
_CLOSE = 1e-12  # to an estimate, or of a variance: within rounding of it, or of 0
# Of the log-odds of a mean, from which the components' variances may be too uncertain; and of a rate whose threshold
# few samples set: sums of its score intervals, each skewed, are up to 1.9 times as wide as the mean varies.
_ERROR, _OF_FEW = 0.25, 0.5
HALF = 0.5  # a pair, or a sample, that is neither won nor lost
_SHRINKAGE = 10.0  # samples that the mean of the variances counts as
_ALIKE = 2  # the greatest size of a class over the least


class Shares(NamedTuple):
    """Shares of subgroups in means, of shape (n_means, n_subgroups)."""

    of: F64

    def total(self, values: F64, power: int = 1) -> F64:
        """Return the sums of values (n_subgroups, ...) times a power of the shares."""
        return np.asarray(self.of**power @ values)

    def held(self, sizes: F64) -> F64:
        """Return the sums of sizes over the subgroups that have a share."""
        return np.asarray((self.of > 0) @ sizes)


class Single(NamedTuple):
    """The shares of single subgroups, each a mean of its own."""

    places: NDArray[np.intp]

    def total(self, values: F64, power: int = 1) -> F64:
        return values[self.places]

    def held(self, sizes: F64) -> F64:
        return sizes[self.places]


class Rest(NamedTuple):
    """The shares of all other subgroups, by weight; sums over those before and those after do not cancel."""

    places: NDArray[np.intp]
    weight: F64

    def total(self, values: F64, power: int = 1) -> F64:
        found = self._others((self.weight**power * values.T).T)
        return np.asarray((found.T / self._others(self.weight) ** power).T)

    def held(self, sizes: F64) -> F64:
        return self._others(sizes)

    def _others(self, values: F64) -> F64:
        none = np.zeros_like(values[:1])
        before, after = (np.concatenate([none, np.cumsum(side, axis=0)]) for side in (values, values[::-1]))
        return np.asarray(before[self.places] + after[len(values) - 1 - self.places])


class Estimates(NamedTuple):
    """Estimates of subgroups, (n_subgroups,), their variances, and the degrees of freedom of these."""

    estimate: F64
    variance: F64
    freedom: F64
    sizes: F64  # (n_subgroups, 2): positives and negatives, effective numbers where weights are sampling weights
    crossed: float | None = None  # number of clusters, where they cross subgroups
    sums: Any = None  # sparse, (n_subgroups, n_clusters): shares of clusters, ``sums @ sums.T`` are the covariances
    parts: F64 | None = None  # (n_subgroups, 2): those of either class, of independent samples with components
    of_prevalence: F64 | None = None  # what the estimated prevalence adds to the variances
    ends: F64 | None = None  # (2, 2, n_subgroups): score limits at level 0 and the confidence level, if means sum them
    of_means: F64 | None = None  # the variances that means of subgroups take, if others: those of the components

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which subgroups have a variance: two samples of either class, and an interval."""
        return np.asarray(has_variance(self.sizes.min(axis=1)) & np.isfinite(self.variance))

    @property
    def covariance(self) -> F64:
        """Covariance of the estimates, of shape (n_subgroups, n_subgroups): diagonal unless clusters cross."""
        found = np.diag(self.variance) if self.sums is None else (self.sums @ self.sums.T).toarray()
        np.fill_diagonal(found, self.variance)
        return np.asarray(found)

    def product(self, first: Any, second: Any) -> F64:
        """Return the covariances of pairs of means, which are the same or have no subgroup in common."""
        if self.sums is None:
            return first.total(self.variance, 2) if first is second else np.zeros(len(first.total(self.variance)))
        both = first.of * second.of
        found = ((self.sums.T @ first.of.T) * (self.sums.T @ second.of.T)).sum(axis=0)
        squares = np.asarray((self.sums * self.sums).sum(axis=1)).ravel()
        return np.asarray(found + both @ (self.variance - squares))


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


def pooled(estimates: Estimates, shares: Any, measure: Measure, *, wider: bool = False) -> Interval:
    """Return means of subgroups with these shares.

    Intervals are on the log-odds scale, with the degrees of freedom of Welch and Satterthwaite. If a class has fewer
    than five samples, or the variance is 0, a share of pairs has Newcombe's interval, with the mean of his variances in
    the subgroups, or the union of both if `wider`; other measures without variance have that of :func:`settled`
    estimates.
    """
    if estimates.of_means is not None:
        estimates = estimates._replace(variance=estimates.of_means)
    estimate, variance, freedom = _means(estimates, shares)
    if measure.bounds[0] == -np.inf:
        limits = intervals.wald_limits(estimate, np.sqrt(variance), Law(freedom), measure.bounds)
        return Interval(estimate, variance, limits, "delong")
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    source = None
    if measure.counts_pairs:
        few = ~inside | (shares.held(estimates.sizes).min(axis=1) < intervals.FEW)
        source = "newcombe" if few.all() else None
        limits = _with_newcombe(limits, few, inside & wider, estimate, shares, estimates.sizes)
    elif not inside.all():
        calm = settled(estimates, measure)
        moved, spread, freedom = _means(calm, shares)
        at = np.where(inside, estimate, moved)
        limits = either(inside, limits, _holding(estimate, at, log_odds(at, spread, freedom, measure.bounds)[0]))
    return Interval(estimate, variance, limits, "logit-delong", source=source)


def needs_scores(mean: Interval, samples: Sequence[Sample], shares: F64, measure: Measure) -> bool:
    """Whether means need the sum of score intervals, because those by components, which skew, would undercover."""
    least, most = shares @ np.array([measure.reachable(one.totals) for one in samples])
    sizes = np.sum([one.effective for one in samples], axis=0)
    few = isinstance(measure, Rate) and sizes[1 - measure.mirrored] < sizes[int(measure.mirrored)]
    normal = is_normal(mean, (least, most), _OF_FEW if few else _ERROR).all()
    return of_unseen_range(samples, shares, measure) or not normal


def of_alerts(mean: Interval, samples: Sequence[Sample], shares: F64, measure: Measure) -> Interval:
    """Return means of a measure at k; Wilson's limits, of no more samples than alerts, if few are of one class."""
    if not getattr(measure, "pooled", False):
        return mean
    at_k: Any = measure
    least, most = shares @ np.array([measure.reachable(one.totals) for one in samples])
    counts = [min(one.effective[0], at_k.alerts(one.effective)) for one in samples]
    size = 1.0 / (shares**2 @ (1.0 / np.array(counts)))
    spread = (mean.estimate - least) * (most - mean.estimate)
    sizes = np.full_like(spread, size)
    np.divide(spread, mean.variance, out=sizes, where=(spread > 0) & (spread < mean.variance * size))
    few = ~is_normal(mean, (least, most), _ERROR)
    own = intervals.of_share(mean.estimate, sizes, (least, most))
    return mean._replace(limits=either(few, own, mean.limits), method="score")


def of_unseen_range(samples: Sequence[Sample], shares: F64, measure: Measure) -> bool:
    """Whether few clusters or weighted samples set the range of areas: how far, their components do not see."""
    if Trait.AREA not in measure.traits or not any(is_design(one) for one in samples):
        return False
    return bool(shares @ [measure.limiting_sizes(one.effective)[1][0] for one in samples] < intervals.FEW)


def summed(ends: F64, shares: F64) -> F64:
    """Return the limits (2, ...) of means from limits (2, 2, n_subgroups, ...) of subgroups, at level 0 and another.

    ``sum w m - sqrt(sum w^2 (m - low)^2)`` is the lower limit (MOVER of Zou and Donner, 2008), m the lower limit at
    level 0. For a score interval m is not the estimate: few negatives set a threshold whose true rate is another.
    """
    (low, high), (lower, upper) = ends
    down, up = (np.sqrt(np.tensordot(shares**2, part**2, 1)) for part in (low - lower, upper - high))
    return np.stack([np.tensordot(shares, low, 1) - down, np.tensordot(shares, high, 1) + up])


def of_scores(mean: Interval, parts: Sequence[Limits], shares: F64) -> Interval:
    """Return means of subgroups with the limits of their score intervals, :func:`summed`."""
    at = mean.estimate

    def ends(z: Any) -> tuple[F64, F64]:
        levels = [[one.ends(level) for one in parts] for level in (0.0 * np.asarray(z), z)]
        low, high = summed(np.array(levels).swapaxes(1, 2), shares)
        return np.minimum(low, at), np.maximum(high, at)

    return mean._replace(limits=Limits(ends, intervals.dual(at, ends)), method="score", source=None)


def _means(estimates: Estimates, shares: Any) -> tuple[F64, F64, F64]:
    """Return means of subgroups with these shares, their variances and the degrees of freedom of these."""
    estimate, variance = shares.total(estimates.estimate), np.maximum(estimates.product(shares, shares), 0.0)
    if estimates.crossed is not None:
        return estimate, variance, np.full(len(estimate), estimates.crossed - 1)
    spent = shares.total(np.where(estimates.variance > 0, estimates.variance**2 / estimates.freedom, 0.0), 4)
    return estimate, variance, np.divide(variance**2, spent, out=np.full_like(spent, np.inf), where=spent > 0)


def settled(estimates: Estimates, measure: Measure) -> Estimates:
    """Return estimates of a measure with two bounds, each with a variance above 0.

    In a subgroup at a bound, or without variance, half a pair (half a sample of the smaller class for measures other
    than shares of pairs) is added as lost and half as won. Other estimates of those measures are put at least an error
    from a bound.
    """
    least, most = measure.bounds
    if not np.isfinite([least, most]).all():
        return estimates
    span = most - least
    estimate, variance, freedom = estimates.estimate.copy(), estimates.variance.copy(), estimates.freedom.copy()
    moved = (estimates.variance <= _CLOSE * span**2) | (estimate <= least) | (estimate >= most)
    for k in np.flatnonzero(moved):
        size = estimates.sizes[k]
        n = size.prod() if measure.counts_pairs else size.min()
        share = ((estimate[k] - least) / span * n + HALF) / (n + 1)
        own = newcombe_variance(share, *per_pair(tuple(size))) if measure.counts_pairs else share * (1 - share) / n
        estimate[k], variance[k], freedom[k] = least + span * share, own * span**2, max(size.min() - 1, 1.0)
    if not measure.counts_pairs:  # log-odds grow without limit where an estimate is nearer to a bound than its error
        error = np.minimum(np.sqrt(variance), span / 2)
        estimate = np.where(moved, estimate, np.clip(estimate, least + error, most - error))
    estimates = estimates._replace(estimate=estimate, variance=variance, freedom=freedom, of_means=None)
    return estimates if estimates.sums is None else estimates._replace(sums=(estimates.sums * ~moved[:, None]).tocsr())


def _with_newcombe(
    limits: Limits, few: NDArray[np.bool_], union: NDArray[np.bool_], estimate: F64, shares: Any, sizes: F64
) -> Limits:
    """Return limits with Newcombe's for the means marked as `few`, extended to the original where `union` is marked."""
    if not few.any():
        return limits
    at, both = estimate[few], union[few]
    one, more = shares.total(np.stack(per_pair((sizes[:, 0], sizes[:, 1])), axis=1), 2)[few].T
    at = np.where(at < _CLOSE, 0.0, np.where(at > 1 - _CLOSE, 1.0, at))  # sums of shares may exceed 1 by rounding
    own = newcombe_limits(at, one, more)

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        lower, upper = own.ends(np.broadcast_to(z, low.shape)[..., few])
        low[..., few] = np.where(both, np.minimum(low[..., few], lower), np.where(at <= 0, 0.0, lower))
        high[..., few] = np.where(both, np.maximum(high[..., few], upper), np.where(at >= 1, 1.0, upper))
        return low, high

    def tails(null: float) -> Tails:
        found = Tails(*(np.broadcast_to(side, few.shape).copy() for side in limits.tails(null)))
        for side, of_few in zip(found, own.tails(null), strict=True):
            side[few] = np.where(both, side[few], of_few)
        return found

    return Limits(ends, intervals.within(0.0, 1.0, tails))


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

    return d, error, Limits(ends, intervals.dual(d, ends))


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
