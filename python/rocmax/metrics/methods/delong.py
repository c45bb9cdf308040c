"""Intervals and covariances by components: DeLong's, its log-odds form, and Wu's; Newcombe's; of binormal curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals import _interval
from rocmax.metrics.intervals._interval import FEW, Law, Limits, Tails
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Interval, Method, binary
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import covariance_of, decided, most_freedom, variance_parts
from rocmax.metrics.variances._effective import sizes_of_models
from rocmax.metrics.variances._multiclass import covariance_of_classes, variance_of_classes

_ROUNDING = 1e-13  # of shares
#: Measures of a part or a point of the curve, if they are not of all of it.
OF_PART = frozenset({Trait.AREA, Trait.RATE, Trait.RANKING, Trait.THRESHOLD})
_LEAST_FREEDOM = 0.01  # with fewer degrees of freedom quantiles overflow


@dataclass(frozen=True)
class Newcombe(Method):
    """Score interval of the AUC (Newcombe, 2006, method 5), which holds with few positives and for a perfect ranking.

    Notes
    -----
    All A with ``(A - AUC)^2 <= z^2 V(A)``: V(A) is Hanley and McNeil's variance made symmetric in the classes, which
    needs no components. Clusters and sampling weights have their effective class sizes.
    """

    name: ClassVar[str] = "newcombe"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.AUC})
    sampling = groups = counts = True

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        data = binary(sample)
        estimate, of_pair = measure.estimates(data), per_pair(sizes_of_models(data, measure))
        return Interval(estimate, newcombe_variance(estimate, *of_pair), newcombe_limits(estimate, *of_pair), self.name)


def per_pair(sizes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return 1 / (m n) and ((m+n)/2 - 1) / (m n)."""
    n_pos, n_neg = sizes
    return 1 / (n_pos * n_neg), ((n_pos + n_neg) / 2 - 1) / (n_pos * n_neg)


def newcombe_variance(auc: F64, one: Any, more: Any) -> F64:
    """Return ``A (1-A) (one + more ((1-A)/(2-A) + A/(1+A)))``, Hanley and McNeil's variance made symmetric."""
    return np.asarray(auc * (1 - auc) * (one + more * ((1 - auc) / (2 - auc) + auc / (1 + auc))))


def newcombe_limits(auc: F64, one: Any, more: Any) -> Limits:
    """Return the limits of all A with ``|A - auc| <= z sqrt(V(A))``, V the variance at A: never a point."""

    def ends(z: Any) -> tuple[F64, F64]:
        def gap(a: F64) -> F64:
            return np.asarray(z * np.sqrt(newcombe_variance(a, one, more)) - np.abs(a - auc))

        low, high = (_interval.last_held(auc, np.full_like(auc, outer), gap) for outer in (0.0, 1.0))
        return low, high

    def tails(null: float) -> Tails:
        return _interval.tails_of(auc - null, np.sqrt(newcombe_variance(np.full_like(auc, null), one, more)), Law())

    return Limits(ends, _interval.within(0.0, 1.0, tails))


@dataclass(frozen=True)
class _ByComponents(Method):
    """Base of the methods whose variance is a sum of parts, one for each class."""

    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.COMPONENTS})
    sampling = groups = pairs = classes = counts = True

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        if isinstance(sample, Classes):
            most = (sample.n_groups or np.inf) - 1.0
            return self.of_parts(*variance_of_classes(sample, measure), measure, most)
        return self.of_parts(*variance_parts(sample, measure), measure, most_freedom(sample))

    @classmethod
    def needs_many(cls, measure: Measure) -> bool:
        return True

    def of_parts(
        self, estimate: F64, parts: Sequence[F64], sizes: Sequence[Any], measure: Measure, most: float = np.inf
    ) -> Interval:
        """Return the interval from the parts of either class in the variance, of at most `most` degrees of freedom."""
        variance = np.maximum(np.sum(parts, axis=0), 0.0)
        limits = _interval.wald_limits(estimate, np.sqrt(variance), Law(), measure.bounds)
        return Interval(estimate, variance, limits, self.name)


@dataclass(frozen=True)
class DeLong(_ByComponents):
    """Normal intervals from the variance of the components (DeLong et al., 1988): those of most other software.

    >>> from rocmax.metrics import infer
    >>> infer([0] * 20 + [1] * 20, [*range(20), *range(10, 30)], method="delong").summary()
    'AUC 0.875 (95 % CI 0.773-0.977; DeLong et al. 1988; 20 positive, 20 negative samples).'

    Notes
    -----
    The variance is ``S10 / m + S01 / n``, and intervals end at the bounds of the measure. S10 and S01 are the variances
    (divisors m - 1 and n - 1) of the components of the m positives and the n negatives; with groups it is Obuchowski's
    variance for clusters (1997).
    """

    name: ClassVar[str] = "delong"

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        if isinstance(sample, list):
            return Covariance(*covariance_of_classes(sample, measure))
        estimate, matrix, parts = covariance_of(sample, measure)
        return Covariance(estimate, matrix, decided(parts, sample, measure))


@dataclass(frozen=True)
class LogitDeLong(_ByComponents):
    """DeLong's variance (1988) on the log-odds scale, with Student's t: intervals that cover also with few samples.

    The degrees of freedom are those of Welch and Satterthwaite, for the effective number of samples with sampling
    weights, and for the number of clusters with groups. An AUC of 0 or 1, or with fewer than five samples in a class,
    gets Newcombe's interval; another measure with two bounds that does not vary has Wilson's of a share of the smaller
    class. For a measure without an upper bound the logarithm replaces the log-odds.
    """

    name: ClassVar[str] = "logit-delong"

    @classmethod
    def needs_many(cls, measure: Measure) -> bool:
        return bool(OF_PART & measure.traits) and Trait.AUC not in measure.traits

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        if measure.counts_pairs and isinstance(sample, Sample) and not sample.of_pairs and min(sample.counted) == 1:
            return Newcombe().estimate(sample, measure)
        return super().estimate(sample, measure)

    def of_parts(
        self, estimate: F64, parts: Sequence[F64], sizes: Sequence[Any], measure: Measure, most: float = np.inf
    ) -> Interval:
        limits, source = logit(estimate, parts, sizes, measure, most)
        return super().of_parts(estimate, parts, sizes, measure)._replace(limits=limits, source=source)


@dataclass(frozen=True)
class Wu(_ByComponents):
    """Variance of the scored AUC (Wu et al., 2007, Theorem 6): ``(n-1)/n S10/m + (m-1)/m S01/n``."""

    name: ClassVar[str] = "wu"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.SCORED})
    groups = pairs = classes = False

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        estimate, (pos, neg), (n_pos, n_neg) = variance_parts(binary(sample), measure)
        parts = (n_neg - 1) / n_neg * pos, (n_pos - 1) / n_pos * neg
        return self.of_parts(estimate, parts, (n_pos, n_neg), measure)


def logit(
    estimate: F64, parts: Sequence[F64], sizes: Sequence[Any], measure: Measure, most: float = np.inf
) -> tuple[Limits, str | None]:
    """Return the limits that :class:`LogitDeLong` describes, and the name of the method if another gives all."""
    variance = np.sum(parts, axis=0)
    freedom = np.minimum(_interval.satterthwaite(parts, [np.asarray(size) - 1.0 for size in sizes]), most)
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    fewest = np.minimum.reduce(list(sizes))
    if not measure.counts_pairs:
        if not np.isfinite(measure.bounds).all():
            return limits, None
        least, most_value = measure.bounds
        believed = measure.least_variance * (estimate - least) * (most_value - estimate) / fewest
        flat = ~inside | (variance < believed)
        of_flat = _interval.of_share(estimate, fewest, measure.bounds)
        return _interval.either(flat, of_flat, limits), "wilson" if flat.all() else None
    # With several classes, the smallest is compared with all others.
    others = np.sum(np.broadcast_arrays(*sizes), axis=0) - fewest
    few = ~inside | (fewest < FEW)
    of_few = newcombe_limits(estimate, *per_pair((fewest, others)))
    return _interval.either(few, of_few, limits), "newcombe" if few.all() else None


def log_odds(
    estimate: F64, variance: F64, freedom: F64, bounds: tuple[float, float]
) -> tuple[Limits, NDArray[np.bool_]]:
    """Return the limits on the log-odds scale, and a mask of the estimates that have log-odds and a variance."""
    least, most = bounds
    bounded = np.isfinite(most)
    span = most - least if bounded else 1.0
    share = (estimate - least) / span
    rest = 1 - share if bounded else np.ones_like(share)
    at_bound = _ROUNDING if bounded else 0.0
    inside = (share > at_bound) & (rest > at_bound) & (variance > (at_bound * span) ** 2)
    freedom = np.where(inside, freedom, 1.0)
    scale: Any = (lambda x: np.log(x) - np.log1p(-x)) if bounded else np.log
    back: Any = (lambda x: 1.0 / (1.0 + np.exp(-x))) if bounded else np.exp
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        error = np.sqrt(variance) / (span * share * rest)
    certain = freedom > _LEAST_FREEDOM

    def ends(z: Any) -> tuple[F64, F64]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            reach = np.where(certain, Law(freedom).reach(z), np.inf) * error
            low, high = (np.where(inside, back(scale(share) + side * reach), share) for side in (-1, 1))
        low, high = least + span * low, least + span * high
        return np.minimum(low, estimate), np.maximum(high, estimate)

    def tails(null: float) -> Tails:
        at = (null - least) / span
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(inside, scale(share) - scale(at), share - at)
        known = np.where(inside, np.where(certain, error, np.inf), 0.0)
        return _interval.tails_of(distance, known, Law(freedom))

    return Limits(ends, _interval.within(least, most, tails)), inside


@dataclass(frozen=True)
class Obuchowski(Method):
    """Variance of the area under a binormal curve (Obuchowski and McClish, 1997), and normal intervals.

    The curve is a least-squares line through the probits of the rates inside the unit square. For the AUC it is pROC's
    line, which depends on the choice of the positive class: prefer "delong".
    """

    name: ClassVar[str] = "obuchowski"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.AREA})

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        data = binary(sample)
        assert isinstance(measure, CurveMeasure)
        from rocmax.metrics.measures._smooth import fitted_variance  # scipy takes a while to import

        estimate, variance = measure.estimates(data), fitted_variance(data, measure)
        limits = _interval.wald_limits(estimate, np.sqrt(variance), Law(), measure.bounds)
        return Interval(estimate, variance, limits, self.name)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        assert isinstance(measure, CurveMeasure)
        from rocmax.metrics.measures._smooth import fitted_covariance

        return Covariance(measure.estimates(data), fitted_covariance(data, measure))
