"""Variances of areas under fitted binormal curves."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax.metrics.intervals._interval import Law, wald_limits
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Interval, Method, binary
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample


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
        from rocmax.metrics.variances._binormal import fitted_variance  # scipy takes a while to import

        estimate, variance = measure.estimates(data), fitted_variance(data, measure)
        return Interval(estimate, variance, wald_limits(estimate, np.sqrt(variance), Law(), measure.bounds), self.name)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        assert isinstance(measure, CurveMeasure)
        from rocmax.metrics.variances._binormal import fitted_covariance

        return Covariance(measure.estimates(data), fitted_covariance(data, measure))
