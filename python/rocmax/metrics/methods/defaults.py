"""The one place where methods are chosen: those of the best measured coverage (benches/python/coverage_metrics.py)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax.metrics.measures.auc import Gini
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import AveragePrecision, MeanMeasure
from rocmax.metrics.methods.base import Interval, Known, Method, joined
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import OF_PART, DeLong, LogitDeLong
from rocmax.metrics.methods.planned import Planned
from rocmax.metrics.methods.score import Score
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared
from rocmax.metrics.variances._effective import is_design

_MANY = 10_000  # samples that decide: with more, all intervals are the same to all purposes
_SOME = 1_000  # the same for areas and average precision, unless the classes are nearly separated
_LEAST_ERROR = 0.15  # of the log-odds of an estimate, from which its distribution is skewed


def default_method(measure: Measure, data: Known, sizes: tuple[float, float] | None = None) -> Method:
    """Return the default for one model; without the `sizes` of the classes that of few samples."""
    if data.planned:
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
