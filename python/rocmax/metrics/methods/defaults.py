"""The default methods: those of the best measured coverage (benches/python/coverage_metrics.py)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax.metrics.measures.auc import Gini
from rocmax.metrics.measures.average_precision import AveragePrecision
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import MeanMeasure
from rocmax.metrics.methods.base import Data, Interval, Method, binary, joined
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import OF_PART, DeLong, LogitDeLong
from rocmax.metrics.methods.planned import Planned
from rocmax.metrics.methods.score import Score
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample

MANY = 10_000  # samples that decide: with more, all intervals are the same to all purposes
SOME = 1_000  # the same for areas and average precision, unless the classes are nearly separated
_LEAST_ERROR = 0.15  # of the log-odds of an estimate, from which its distribution is skewed


@dataclass(frozen=True)
class OfMany(LogitDeLong):
    """The default with many samples: "logit-delong", or "score" where the classes are nearly separated."""

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        found, data = super().estimate(sample, measure, seed), binary(sample)
        normal = is_normal(found, measure)
        if normal.all():
            return found
        ways = [LogitDeLong() if known else Score() for known in normal]
        each = [way.estimate(one, measure) for way, one in zip(ways, data.models(), strict=True)]
        return joined(each)._replace(method=Score.name)


def is_normal(found: Interval, measure: Measure, error: float = _LEAST_ERROR) -> NDArray[np.bool_]:
    """Whether the log-odds (without an upper bound, the logarithms) of each estimate have less than this error."""
    least, most = measure.bounds
    share, rest = found.estimate - least, (most - found.estimate) / (most - least) if np.isfinite(most) else 1.0
    return np.asarray(np.sqrt(found.variance) < error * share * rest)


def default_method(measure: Measure, data: Data, sizes: tuple[float, float] | None = None) -> Method:
    """Return the default for one model; `sizes` are those of the classes, if they are known."""
    if data.planned:
        return Planned()
    if Trait.COMPONENTS not in measure.traits:
        return Bootstrap()
    whole = Trait.AUC in measure.traits or isinstance(measure, Gini)
    many = False
    if sizes is not None and (whole or measure == AveragePrecision()):  # that of a lower prevalence reads the corner
        many = min(sizes) >= SOME
    elif sizes is not None and isinstance(measure, MeanMeasure):
        many = min(measure.near(sizes), min(measure.limiting_sizes(sizes))[0]) >= MANY
    ranked = data.pairs and (whole or measure.traits & {Trait.RANKING, Trait.THRESHOLD})
    if measure.traits & OF_PART and not (ranked or data.classes):
        return OfMany() if many else Score()
    return LogitDeLong() if measure.bounds[0] > -float("inf") else DeLong()
