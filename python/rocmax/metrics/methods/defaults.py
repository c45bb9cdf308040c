"""The one place where methods are chosen: those of the best measured coverage (benches/python/coverage_metrics.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rocmax.metrics.measures.auc import Gini
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import AveragePrecision, MeanMeasure
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, joined
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import OF_PART, DeLong, LogitDeLong
from rocmax.metrics.methods.planned import Planned
from rocmax.metrics.methods.score import Score
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared, covariance_of, decided, freedom_of, range_part
from rocmax.metrics.variances._effective import is_design
from rocmax.metrics.variances._multiclass import covariance_of_classes

_MANY = 10_000  # samples that decide: with more, all intervals are the same to all purposes
_SOME = 1_000  # the same for areas and average precision, unless the classes are nearly separated
_LEAST_ERROR = 0.15  # of the log-odds of an estimate, from which its distribution is skewed


def default_method(measure: Measure, data: Known, sizes: tuple[float, float] | None = None) -> Method:
    """Return the default for one model; without the `sizes` of the classes that of few samples."""
    if data.weight_kind == "planned":
        return Planned()
    if Trait.COMPONENTS not in measure.traits:
        return Bootstrap()
    whole = Trait.AUC in measure.traits or isinstance(measure, Gini)
    many = False
    if sizes is not None and (whole or measure == AveragePrecision()):  # that of a lower prevalence reads the corner
        many = min(sizes) >= _SOME
    elif sizes is not None and isinstance(measure, MeanMeasure):
        many = min(measure.near(sizes), min(measure.limiting_sizes(sizes))[0]) >= _MANY
    ranked = data.pairs and (whole or measure.traits & {Trait.RANKING, Trait.THRESHOLD})
    if measure.traits & OF_PART and not (ranked or data.classes or many):
        return Score()
    return LogitDeLong() if measure.bounds[0] > -float("inf") else DeLong()


def estimated(method: Method | None, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
    """Return the intervals by a method, or by the default: with many samples that of few if classes nearly separate."""
    if method is not None:
        return method.estimate(sample, measure, seed)
    data, sizes = Known.of(sample), None if isinstance(sample, Classes) else sample.effective
    usual, of_few = default_method(measure, data, sizes), default_method(measure, data)
    interval = usual.estimate(sample, measure, seed)
    if isinstance(sample, Classes) or usual == of_few or (normal := is_normal(interval, measure.bounds)).all():
        return interval
    ways = [usual if known else of_few for known in normal]
    return joined(
        [way.estimate(one, measure) for way, one in zip(ways, sample.models(), strict=True)], method=of_few.name
    )


def estimated_jointly(sample: Sample, measure: Measure, estimate: Any, parts: Sequence[Shared]) -> Interval:
    """Return the intervals of models that are compared, if they are normal from the parts of their covariance."""
    data, sizes = Known.of(sample), sample.effective
    least = _SOME if Trait.AREA in measure.traits else _MANY
    many = not any(np.isinf(measure.bounds)) and min(measure.limiting_sizes(sizes))[0] >= least
    if not is_design(sample) and (many or default_method(measure, data, sizes) == LogitDeLong()):
        variances = [np.diagonal(part.matrix) for part in parts]
        interval = LogitDeLong().of_parts(estimate, variances, sample.totals, measure)
        if default_method(measure, data) == LogitDeLong() or is_normal(interval, measure.bounds).all():
            return interval
    return estimated(None, sample, measure)


def is_normal(interval: Interval, bounds: tuple[float, float], error: float = _LEAST_ERROR) -> NDArray[np.bool_]:
    """Whether the log-odds (without an upper bound, the logarithms) of each estimate have less than this error."""
    least, most = bounds
    share, rest = interval.estimate - least, (most - interval.estimate) / (most - least) if np.isfinite(most) else 1.0
    return np.asarray(np.sqrt(interval.variance) < error * share * rest)


@dataclass(frozen=True)
class Profile(Method):
    """Interval of a difference from the intervals of both models and their correlation: the default of `compare`.

    >>> from rocmax.metrics import Profile, compare
    >>> y, s = [0] * 20 + [1] * 20, {"new": [*range(20), *range(10, 30)], "old": [*range(20), *range(8, 28)]}
    >>> compare(y, s) == compare(y, s, method="profile") == compare(y, s, method=Profile())
    True

    Notes
    -----
    With u and v the normal quantiles at which the intervals that :func:`infer` gives by default end at a and b (0 at
    the estimates, -1.96 at the lower ends of 95 %), it contains all ``a - b`` with

    ``(u^2 - 2 r u v + v^2) / (1 - r^2) <= z^2``,

    z the normal quantile of the confidence level. The p-value is the least level at which the interval excludes the
    null difference. r is the correlation of the components, shrunk to ``r / (1 + 2 (1 - r) (4 / df)^2)`` with the
    degrees of freedom (Welch and Satterthwaite) of the variance of the difference, those of the samples that differ
    where r exceeds 0.9; of models of independent samples it is 0. Estimates with few possible values have limits that
    begin apart at level 0; ``(1 - r^2)^(1/4)`` of both gaps is added. Joint tests and means of subgroups come from
    DeLong's covariance. Where fewer than five samples of a class are in the range of a partial area, the jackknife's,
    over ``1 + 3 / (2 k + 1)``, replaces the part of that class, k the samples expected up to the end of the range. Of
    rates, one of the m samples of the class that is called counts as called by each model on its own.

    Where 1,000 samples decide a partial area, or 10,000 another measure with two bounds, u and v are those of intervals
    by "logit-delong", unless the classes are nearly separated.

    With normal intervals and many samples, it is DeLong's interval. Like MOVER (Zou and Donner, 2008) [1]_ and
    Newcombe's (1998) [2]_, it has a width where a model separates the classes, and holds if one of the measures is near
    its bound. MOVER takes either variance at the far end of an interval: of highly correlated models it is up to four
    times as wide.

    It overcovers for measures with few possible values; "delong" covers 50 to 65 % of such differences of 5 positives
    (``benches/python/results/coverage.md``, by ``benches/python/yardstick.py``).

    References
    ----------
    .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27, 2008. :doi:`10.1002/sim.3095`
    .. [2] R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
       paired data", Statistics in Medicine 17, 1998.
       :doi:`10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C`
    """

    name: ClassVar[str] = "profile"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.COMPONENTS})
    sampling = groups = pairs = classes = counts = True

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        if isinstance(sample, list):
            estimate, _, parts = covariance_of_classes(sample, measure)
            matrix, own = np.asarray(sum(part.matrix for part in parts)), own_intervals(sample, measure)
            return Covariance(estimate, matrix, parts, own=own, freedom=freedom_of(parts))
        estimate, matrix, parts = covariance_of(sample, measure)
        if (few := range_part(sample, measure)) is not None:
            parts[few[0]] = parts[few[0]]._replace(matrix=few[1])
            matrix = parts[0].matrix + parts[1].matrix
        if isinstance(measure, Rate):  # that all of few samples are called alike does not show that others are
            k = int(measure.mirrored)
            called = parts[k].matrix / sample.effective[k]
            matrix = matrix - called + np.diag(np.diagonal(called))
        own = estimated_jointly(sample, measure, estimate, parts)
        return Covariance(estimate, matrix, decided(parts, sample, measure), own=own, freedom=freedom_of(parts))

    def independent(self, samples: Sequence[Sample], measure: Measure) -> Covariance:
        """Return estimates and variances of models of independent samples."""
        own = own_intervals(samples, measure)
        matrix = np.diag(own.variance)
        return Covariance(own.estimate, matrix, own=own, freedom=np.full_like(matrix, np.inf))


def own_intervals(samples: Sequence[Sample | Classes], measure: Measure) -> Interval:
    """Return the default intervals of models with a sample each."""
    return joined([estimated(None, one, measure) for one in samples])
