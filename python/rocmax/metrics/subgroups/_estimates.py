"""Statistics of subgroups: pooled estimates, differences and the test that all are equal.

All are functions of the subgroups' estimates, of their covariance, which is 0 between subgroups without a common
cluster, and of the degrees of freedom of their variances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW, Law, Limits, critical, tails_of, wald, within
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
_HALF = 0.5  # a pair, or a sample, that is neither won nor lost


class Estimates(NamedTuple):
    """Estimates of subgroups.

    Attributes
    ----------
    estimate, freedom : ndarray of shape (n_subgroups,)
        The measure and the degrees of freedom of its variance.
    covariance : ndarray of shape (n_subgroups, n_subgroups)
        Diagonal unless clusters cross subgroups.
    sizes : ndarray of shape (n_subgroups, 2)
        Positives and negatives: their number, or their effective number where weights are sampling weights.
    crossed : float or None
        Number of clusters, where they cross subgroups.
    """

    estimate: F64
    covariance: F64
    freedom: F64
    sizes: F64
    crossed: float | None = None

    @property
    def variance(self) -> F64:
        """Variances of the estimates."""
        return np.diagonal(self.covariance)


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


def pooled(found: Estimates, share: F64, measure: Measure, *, wider: bool = False) -> Interval:
    """Return the mean of subgroups with these shares.

    The interval is on the log-odds scale, with the degrees of freedom of Welch and Satterthwaite. If a class has fewer
    than five samples, or the variance is 0, a share of pairs has Newcombe's interval, with the mean of his variances in
    the subgroups, or the union of both if `wider`; other measures without variance have that of :func:`settled`
    estimates.
    """
    estimate, variance = _mean(found, share)
    freedom = np.array([_freedom(found, share, variance[0])])
    if measure.bounds[0] == -np.inf:
        limits = _student(estimate, np.sqrt(variance), Law(freedom), measure.bounds)
        return Interval(estimate, variance, limits, "delong")
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    held = share > 0
    if measure.counts_pairs and (not inside[0] or found.sizes[held].sum(axis=0).min() < FEW):
        few = _newcombe(estimate, share[held], found.sizes[held])
        limits = _both(few, limits) if wider and inside[0] else few
    elif not inside[0]:
        calm = settled(found, measure)
        moved, spread = _mean(calm, share)
        freedom = np.array([_freedom(calm, share, spread[0])])
        limits = _holding(float(estimate[0]), float(moved[0]), log_odds(moved, spread, freedom, measure.bounds)[0])
    return Interval(estimate, variance, limits, "logit-delong")


def _mean(found: Estimates, share: F64) -> tuple[F64, F64]:
    """Return the mean of subgroups with these shares, and its variance."""
    return np.array([share @ found.estimate]), np.array([max(share @ found.covariance @ share, 0.0)])


def settled(found: Estimates, measure: Measure) -> Estimates:
    """Return estimates of a measure with two bounds, each with a variance above 0.

    In a subgroup at a bound, or without variance, half a pair (half a sample of the smaller class for measures other
    than shares of pairs) is added as lost and half as won.
    """
    least, most = measure.bounds
    if not np.isfinite([least, most]).all():
        return found
    span = most - least
    estimate, spread, freedom = found.estimate.copy(), found.covariance.copy(), found.freedom.copy()
    for k in np.flatnonzero((found.variance <= _CLOSE * span**2) | (estimate <= least) | (estimate >= most)):
        size = found.sizes[k]
        n = size.prod() if measure.counts_pairs else size.min()
        share = ((estimate[k] - least) / span * n + _HALF) / (n + 1)
        own = newcombe_variance(share, tuple(size)) if measure.counts_pairs else share * (1 - share) / n
        estimate[k], freedom[k] = least + span * share, max(size.min() - 1, 1.0)
        spread[k], spread[:, k] = 0.0, 0.0
        spread[k, k] = own * span**2
    return found._replace(estimate=estimate, covariance=spread, freedom=freedom)


def _both(one: Limits, other: Limits) -> Limits:
    """Return the limits of the union of two intervals."""

    def ends(level: float) -> tuple[F64, F64]:
        (low, high), (lower, higher) = one.ends(level), other.ends(level)
        return np.minimum(low, lower), np.maximum(high, higher)

    return Limits(ends, other.tails)


def _holding(estimate: float, moved: float, limits: Limits) -> Limits:
    """Return limits about an estimate that was moved, extended to the original."""

    def ends(level: float) -> tuple[F64, F64]:
        low, high = limits.ends(level)
        return np.minimum(low, estimate), np.maximum(high, estimate)

    return Limits(ends, lambda null: limits.tails(moved if (null - estimate) * (null - moved) < 0 else null))


def _freedom(found: Estimates, share: F64, variance: float) -> float:
    """Return the degrees of freedom of the variance of a mean."""
    if found.crossed is not None:
        return found.crossed - 1
    spent = float((((share**2 * found.variance) ** 2) / found.freedom).sum())
    return variance**2 / spent if spent > 0 else np.inf


def _student(estimate: F64, error: F64, law: Law, bounds: tuple[float, float]) -> Limits:
    def ends(level: float) -> tuple[F64, F64]:
        reach = law.quantile(0.5 + level / 2) * error
        return np.maximum(estimate - reach, bounds[0]), np.minimum(estimate + reach, bounds[1])

    return Limits(ends, within(*bounds, wald(estimate, error, law)))


def _newcombe(estimate: F64, share: F64, sizes: F64) -> Limits:
    """Return the limits of all A with ``|A - estimate| <= z sqrt(sum of share^2 V(A))``, V Newcombe's variance."""
    n_pos, n_neg = sizes.T
    at = float(estimate[0])

    def error(a: float) -> float:
        return float(np.sqrt(newcombe_variance(np.asarray(a), (n_pos, n_neg)) @ share**2))

    def ends(level: float) -> tuple[F64, F64]:
        z = critical(level)

        def gap(a: float) -> float:
            return z * error(a) - abs(a - at)

        from scipy import optimize  # takes a while to import

        # At the estimate itself the gap is 0 where that is 0 or 1.
        near = [at + side * _CLOSE for side in (-1, 1)]
        found = [
            optimize.brentq(gap, outer, inner, xtol=1e-13) if (inner - outer) * side > 0 and gap(inner) > 0 else at
            for outer, inner, side in zip((0.0, 1.0), near, (1, -1), strict=True)
        ]
        return np.array(found[:1]), np.array(found[1:])

    return Limits(ends, within(0.0, 1.0, lambda null: tails_of(estimate - null, error(null), Law())))


def difference(
    found: Estimates, names: tuple[Any, Any], first: F64, second: F64, measure: Measure, level: float
) -> SubgroupDifference:
    """Return the difference of the means with two lists of shares, its p-value not yet adjusted.

    The interval combines theirs (Zou and Donner, 2008): with r the correlation of the means,
    ``d - sqrt((a - a_low)^2 - 2 r (a - a_low) (b_high - b) + (b_high - b)^2)`` is its lower limit. The p-value is the
    least level at which it excludes 0. Estimates of measures other than shares of pairs are :func:`settled`.
    """
    calm = found if measure.counts_pairs else settled(found, measure)
    # Newcombe's intervals are too narrow in the tails that adjusted p-values of many subgroups need.
    a, b = (pooled(calm, share, measure, wider=True) for share in (first, second))
    own, other = float(first @ found.estimate), float(second @ found.estimate)
    d, contrast = own - other, first - second
    error = float(np.sqrt(max(float(contrast @ calm.covariance @ contrast), 0.0)))
    both = float(np.sqrt(a.variance * b.variance)[0])
    r = float(first @ calm.covariance @ second / both) if both > 0 else 0.0

    def ends(z: float) -> tuple[float, float]:
        at = 1 - 2 * float(special.ndtr(-z))
        (a_low, a_high), (b_low, b_high) = ([float(end[0]) for end in one.limits.ends(at)] for one in (a, b))
        down, up = max(own - a_low, 0.0), max(a_high - own, 0.0)
        other_up, other_down = max(b_high - other, 0.0), max(other - b_low, 0.0)
        return (
            d - float(np.sqrt(max(down**2 - 2 * r * down * other_up + other_up**2, 0.0))),
            d + float(np.sqrt(max(up**2 - 2 * r * up * other_down + other_down**2, 0.0))),
        )

    pvalue = _pvalue(d, ends)
    return SubgroupDifference(*names, d, error, ConfidenceInterval(*ends(critical(level))), pvalue, pvalue)


def _pvalue(d: float, ends: Callable[[float], tuple[float, float]]) -> float:
    """Return the least level at which an interval excludes 0."""
    side = 0 if d > 0 else 1

    def gap(z: float) -> float:
        return float(ends(z)[side] * np.sign(d))

    if d == 0 or gap(_NEAREST) <= 0:
        return 1.0
    if gap(_FARTHEST) > 0:
        return float(2 * special.ndtr(-_FARTHEST))
    from scipy import optimize  # takes a while to import

    return float(2 * special.ndtr(-optimize.brentq(gap, _NEAREST, _FARTHEST, xtol=1e-8)))


def equality(found: Estimates, measure: Measure) -> SubgroupTest:
    """Test that all subgroups have the same value: Welch's (1951) analysis of variance on the log-odds scale.

    ``F = sum w (x - mean)^2 / (k - 1) / (1 + 2 (k - 2) / (k^2 - 1) L)``, x the log-odds, w the inverses of their
    variances and ``L = sum (1 - w / sum w)^2 / v``, v the degrees of freedom of the variances, has k - 1 and
    ``(k^2 - 1) / (3 L)`` degrees of freedom. Estimates are :func:`settled`.
    """
    kept = np.array([has_variance(min(sizes)) for sizes in found.sizes.tolist()], dtype=bool)
    least, most = measure.bounds
    if not np.isfinite(least) or (not np.isfinite(most) and (found.estimate[kept] <= least).any()):
        return welch(found, kept, np.ones(len(kept)), found.estimate)
    found = settled(found, measure)
    span = most - least if np.isfinite(most) else 1.0
    share = np.where(kept, (found.estimate - least) / span, _HALF)
    if not np.isfinite(most):
        return welch(found, kept, 1 / share, np.log(share))
    return welch(found, kept, 1 / (span * share * (1 - share)), special.logit(share))


def welch(found: Estimates, kept: NDArray[np.bool_], slope: F64, x: F64) -> SubgroupTest:
    """Test that the values x, of which the covariance is that of the estimates times the slopes, are equal."""
    kept = kept & (found.variance > 0)
    k = int(np.count_nonzero(kept))
    if k < 2:
        return SubgroupTest(np.nan, 0, np.nan, np.nan, k)
    x, v = x[kept], found.freedom[kept]
    spread = (found.covariance * np.outer(slope, slope))[np.ix_(kept, kept)]
    if found.crossed is not None:
        # Hotelling's T^2 of as many vectors as there are clusters.
        joint = joint_test(np.diff(np.eye(k), axis=0), x, spread)
        rank, n = joint.df, found.crossed - 1
        left = n - rank + 1
        if rank < 1 or left < 1:
            return SubgroupTest(np.nan, rank, np.nan, np.nan, k)
        f = joint.statistic * left / (n * rank)
        return SubgroupTest(f, rank, left, float(special.fdtrc(rank, left, f)), k)
    w = 1 / np.diagonal(spread)
    w = w / w.max()
    q = float((w * (x - w @ x / w.sum()) ** 2).sum() * (1 / np.diagonal(spread)).max())
    rest = float(((1 - w / w.sum()) ** 2 / v).sum())
    f = q / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * rest)
    left = (k**2 - 1) / (3 * rest) if rest > 0 else np.inf
    p = float(special.fdtrc(k - 1, left, f)) if np.isfinite(left) else float(special.chdtrc(k - 1, q))
    return SubgroupTest(f, k - 1, left, p, k)
