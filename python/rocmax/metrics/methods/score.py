"""Methods without standard errors: score intervals, McNemar's test at a threshold, Venkatraman's of whole curves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics._references import cited
from rocmax.metrics.intervals._interval import Law, Limits, Tails, last_held, stacked, wilson
from rocmax.metrics.measures.at_threshold import AtThreshold
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, binary
from rocmax.metrics.methods.delong import OF_PART, DeLong
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample, explain
from rocmax.metrics.variances._components import covariance_of
from rocmax.metrics.variances._effective import effective_sizes, is_design
from rocmax.metrics.variances._resample import check_resamples

_TESTED = ("sensitivity", "specificity", "accuracy")


@cited("wilson", "dorfman")
@dataclass(frozen=True)
class Score(Method):
    """Score interval, the default of `infer`: all values whose own curve does not reject the estimate.

    >>> from rocmax.metrics import Score, infer
    >>> y, s = [0] * 20 + [1] * 20, [*range(20), *range(10, 30)]
    >>> infer(y, s) == infer(y, s, method="score") == infer(y, s, method=Score())
    True

    Notes
    -----
    For an AUC or a partial AUC, all values theta up to the outermost with
    ``(E(theta) - estimate)^2 <= z^2 (r V10(theta) / m + q V01(theta) / n)``. E is the mean of the estimate, and V10 and
    V01 are the variances of components, on the binormal curve of the samples' slope that has this theta. r and q move
    them towards DeLong's variances at the estimate as the samples grow (of fewer than 40, faster to a greater variance
    than to a smaller one, as a rare kind of sample may be missing). z is larger if the positives' part is skewed.
    Coverage holds with two to five positives, and with one sample in a class. The variance of an AUC is DeLong's.

    For the TPR at FPR f: take the lines of slope b between normal quantiles of the rates, b the slope of the curve near
    f. With r the rate of a line at ``q = (floor(n f) + 1) / (n + 1)``, the estimate is a share of m samples of
    probability ``Phi(Phi^-1(r) + s Z)``, Z standard normal and ``s = b sqrt(q (1 - q) / (n + 2)) / phi(Phi^-1(q))``.
    With its mean, variance V and skewness g, a line is kept if ``|estimate - mean| <= (z + g (z^2 - 1) / 6) sqrt(V)``;
    g counts only towards the end that it makes easier to reach, and its term is at most z. The interval is the set of
    TPRs at f of the lines kept.

    If scores near that threshold are tied, the limits are the outermost of Wilson's intervals of the TPR at all
    thresholds that may be the right one. Their FPR exceeds f, or the FPR of the next threshold falls below f, by no
    more than z standard errors ``sqrt(f (1 - f) / n)``; if by v of them, ``sqrt(z^2 - v^2)`` replaces z. Scores count
    as tied if at most 40 distinct ones lie within two standard errors and one negative of f, and either those with
    negatives hold more than 1.5 of them on average, or one score holds more of a class than two standard errors of its
    rate.

    For :class:`PrecisionAt`, :class:`RecallAt`, :class:`EnrichmentFactor`, :class:`EqualErrorRate`,
    :class:`AveragePrecision`, :class:`LogAUC`, :class:`RIE` and :class:`BEDROC`, draw m positives a + Z_i and n
    negatives b_j W_k, of standard normal Z and W, 2,000 times. With a_j the height a at which draw j reaches the
    estimate, the true values on the curves ``Phi(a_j + b_j Phi^-1(x))`` are a confidence distribution: its quantiles
    are the limits, its shares the p-values. If the estimate has few possible values, the lower limit takes the first
    such a, the upper one the last. b_j is the fitted slope, moved towards 1 as if ``min(m, n)`` samples showed it (at
    most ``(m + n) / alpha`` for RIE and BEDROC, and the negatives up to the greatest FPR for LogAUC), times
    ``exp(2 e_j / sqrt(2 h + 10))``, e_j standard normal and ``h = min(10, m n / (m + n))``. Of the last five, quantiles
    are those of Student's t with ``min(m, n) + 5`` degrees of freedom, and of the last four, means over the positives,
    intervals are wider where DeLong's variance is greater than that of the distribution, because the curve is then not
    binormal. The draws are the same for all samples of these sizes; a few milliseconds a model.
    :class:`NetBenefit` describes its own.

    Sampling weights estimate the class sizes, on which :class:`PrecisionAt`, :class:`RecallAt` and
    :class:`EnrichmentFactor` depend: their interval is Wilson's with Student's t for p, the measure over its greatest
    value, of ``n = p (1 - p) / V`` samples, V the linearised variance of the ratio of estimated totals (Hajek). As
    below, n is moved towards the number of rows of the greatest weight, for the precision among the alerts. With V of
    the components the same holds at a cut inside a tie so large that the sum above varies half as much as without ties.

    With clusters or sampling weights, m and n are effective sizes (Korn and Graubard, 1998): the numbers of independent
    samples whose components would vary as much, moved towards the number of clusters, or of samples of the greatest
    weight, if few of these decide. Single clusters and equal weights change nothing. With pairs of subjects they are
    the numbers of independent pairs whose shares beyond the threshold (of negatives, beyond one that 30 exceed) would
    vary as much (Aronow et al., 2015), divided by ``(t / z)^2``, t Student's quantile for the subjects that decide.

    With fewer than five negatives in the range, or beyond the threshold of a rate, the limits come from the
    distribution of the estimate, by order statistics: all theta of binormal curves on which an estimate so
    low, and one so high, has a probability (mid-p) of at least ``(1 - confidence_level) / 2``, for slopes within a
    factor of ``exp(2 / sqrt(2 h + 10))`` of the fitted one, ``h = min(10, m n / (m + n))``. At an FPR of 0 they are 0
    and Wilson's upper limit of the TPR at the highest negative, which is no less than that at 0. Below one negative the
    estimate lies beyond the data: a warning says so, and the factor is ``exp(3 / sqrt(2 h + 10))``. The least
    measured coverage of 95 % intervals is then 95.8 % (``benches/python/coverage_metrics.py 2000 few``).

    To invert a test whose variance is that at the tested value is Wilson's (1927) [1]_ idea for a share, and two normal
    distributions behind a curve are the binormal model (Dorfman and Alf, 1969) [2]_. To join them is this package's: no
    paper has these intervals, and their coverage is measured, not proved. Cite both papers and the package.
    """

    name: ClassVar[str] = "score"
    needs: ClassVar[frozenset[Trait]] = OF_PART
    sampling = groups = pairs = counts = extrapolates = True

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        data = binary(sample)
        scored: Any = measure  # `needs` ensures that it has score intervals
        interval: Callable[[Sample, tuple[float, float]], tuple[F64, F64, Limits]] = scored.score_interval
        if not is_design(data):
            return data.once((self, measure), lambda: Interval(*interval(data, data.totals), self.name))
        sizes = [effective_sizes(one, measure) for one in data.models()]
        intervals = [interval(one, own) for one, own in zip(data.models(), sizes, strict=True)]
        estimate, variance, limits = zip(*intervals, strict=True)
        error = np.concatenate(variance)
        if Trait.AUC in measure.traits and data.group is not None and min(data.counted) >= 2:
            # With what clusters of both classes share.
            error = DeLong().estimate(data, measure).variance
        return Interval(np.concatenate(estimate), error, stacked(limits), self.name, sizes=sizes)


@dataclass(frozen=True)
class McNemar(Method):
    """McNemar's exact test (1947) of two models of the same samples, for sensitivity, specificity or accuracy.

    Of the d samples that one model alone calls rightly, the first model has b, binomial of d and 1/2 if both are
    equally good. The interval of the difference is ``d (2 t - 1) / n`` for the limits of t of Clopper and Pearson, n
    the number of the samples that are called (positives, negatives or all), so that it excludes 0 where the test does.
    """

    name: ClassVar[str] = "mcnemar"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.THRESHOLD})
    share: ClassVar[float] = 1.0  # of the probability of b itself in a tail

    def check(self, measure: Measure, data: Known, takers: dict[str, type[Method]]) -> None:
        if not (isinstance(measure, AtThreshold) and measure.name in _TESTED):
            raise ValueError(f"method={self.name!r} needs AtThreshold(name, threshold) of {_TESTED}, got {measure!r}")
        super().check(measure, data, takers)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        assert isinstance(measure, AtThreshold)
        if data.weight is not None:
            raise ValueError(f"method={self.name!r} counts samples: it takes no weights")
        of_kind = np.array([measure.called(one) == one.positive for one in data.models()])
        right = of_kind[:, {"sensitivity": data.positive, "specificity": ~data.positive}.get(measure.name, slice(None))]
        both = right.astype(np.float64)
        alone = both @ (1.0 - both).T  # row by row, what the first model has right and the second has not
        size = right.shape[1]

        def pairwise(first: Any, second: Any) -> Limits:
            return self.limits(alone[first, second], alone[second, first], size)

        return Covariance(*covariance_of(data, measure))._replace(pairwise=pairwise)

    def limits(self, b: F64, c: F64, size: float) -> Limits:
        """Return the limits of ``(b - c) / size``, for the numbers of samples that one model alone has right."""
        from scipy import special  # takes a while to import

        d = b + c
        some, whole = d > 0, np.maximum(d, 1.0)

        def tail(k: F64, t: Any) -> F64:
            """Return the probability of k or more in d of probability t, with the share of that of k itself."""
            more = np.where(k < d, special.betainc(k + 1, np.maximum(d - k, 1.0), t), 0.0)
            least = np.where(k > 0, special.betainc(np.maximum(k, 1.0), d - k + 1, t), 1.0)
            return np.where(some, more + self.share * (least - more), 1.0)

        def ends(z: Any) -> tuple[F64, F64]:
            level, none = Law().cdf(-np.asarray(z, dtype=np.float64)), wilson(0.0, size, z)[1]
            middle = np.where(some, b / whole, 0.5)
            low = last_held(middle, np.zeros_like(middle), lambda t: tail(b, t) - level)
            high = last_held(middle, np.ones_like(middle), lambda t: tail(c, 1.0 - t) - level)
            # Models that never differ have the limits of none in as many samples.
            low, high = (np.where(some, d * (2 * t - 1) / size, s * none) for t, s in ((low, -1), (high, 1)))
            return low, high

        def tails(null: float) -> Tails:
            t = np.clip((null * size / whole + 1) / 2, 0.0, 1.0)
            return Tails((b - c - null * size) / np.sqrt(whole), tail(c, 1.0 - t), tail(b, t))

        return Limits(ends, tails)


@dataclass(frozen=True)
class McNemarMidP(McNemar):
    """The same with half of the probability of b in either tail (mid-p; Fagerland et al., 2013)."""

    name: ClassVar[str] = "mcnemar-midp"
    share: ClassVar[float] = 0.5


@dataclass(frozen=True)
class Venkatraman(Method):
    """Permutation test of equal ROC curves, not only of equal areas (Venkatraman and Begg, 1996; Venkatraman, 2000).

    Parameters
    ----------
    n_resamples : int, default=2000
        Number of permutations.

    Notes
    -----
    The statistic is ``E = 2 k int_0^1 |TPR_a(t) - TPR_b(t)| dt``, t the share of samples called positive and k that of
    positives, times n_samples^2 for models of the same samples, as in Venkatraman and Begg; ties count pro rata. The
    samples' places t are exchanged between the two scores of a sample or, for independent samples, between the samples
    of a class; the p-value is ``(1 + #{E* >= E}) / (1 + n_resamples)``.
    """

    name: ClassVar[str] = "venkatraman"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.AUC})

    n_resamples: int = 2000

    def __post_init__(self) -> None:
        check_resamples(self.n_resamples)

    @property
    def resampling(self) -> str:
        return f"{self.n_resamples:,} permutations"

    def distance(self, first: Sample, second: Sample, *, paired: bool, seed: int) -> tuple[float, float]:
        """Return the distance of two curves and its p-value."""
        for data in (first, second):
            explain(data)
        a, b = ((data.positive, data.score.astype(np.float64)) for data in (first, second))
        apart, permuted = _core.permuted_distances(*a, *b, paired, self.n_resamples, seed, first.threads)
        # Distances that differ by rounding only count as equal.
        as_large = np.count_nonzero(permuted >= apart * (1 - 1e-9))
        return apart * (len(first.y) ** 2 if paired else 1), float((1 + as_large) / (1 + self.n_resamples))
