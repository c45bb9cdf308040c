"""Intervals and differences of samples that were labelled by a plan."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.cuts import PrecisionAt
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, binary, without_limits
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared, freedom_of

_LEAST = 5.0  # effective positives


@dataclass(frozen=True)
class Planned(Method):
    """Log-odds with Student's t, for labels in strata that a :class:`LabelPlan` chose (Cochran, 1977).

    The variance is the sum of that of the samples if all were labelled and of that over the draws of labels in strata,
    ``sum N_h^2 (1 - n_h / N_h) s_h^2 / n_h``, and one pseudo positive. s_h^2 is the variance in stratum h of
    ``p y - n (y - q)``, p and n the derivatives of the measure by positives and by negatives, y the label, q the share of positives
    among neighbours in the order of the model. t has the degrees of freedom of Welch and Satterthwaite: the second
    variance has those of the effective number of drawn positives, ``(sum c)^2 / sum c^2`` of their contributions c, and
    the pseudo positive. Fewer than five effective positives, those labelled for certain among them, are refused.
    """

    name: ClassVar[str] = "planned"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.COMPONENTS})
    planned: ClassVar[bool] = True

    def check(self, measure: Measure, data: Known, takers: dict[str, type[Method]]) -> None:
        if not data.planned:
            raise ValueError("method='planned' takes the labels of a plan: Samples(labels, scores, plan=plan)")
        super().check(measure, data, takers)

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        spread = self.covariance(binary(sample), measure)
        if spread.refused is not None:
            return without_limits(spread.estimate, self.name, spread.refused)
        variance = np.diagonal(spread.matrix).copy()
        limits, _ = log_odds(spread.estimate, variance, np.diagonal(freedom_of(spread.parts)), measure.bounds)
        return Interval(spread.estimate, variance, limits, self.name)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        _, pos, neg = measure.covariance(data)
        estimate = np.concatenate([measure.estimates(one) for one in data.models()])  # each with its own weights
        gains, moved = data.plan.moved(data, measure)
        refused = _refused(data, measure, estimate, np.diagonal(data.plan.effective(gains, False)).min())
        if refused is not None:
            warn(CoverageWarning(f"{measure} has no interval: {refused}", refused))
            return Covariance(estimate, np.full_like(pos, np.nan), refused=refused)
        drawn, freedom = data.plan.covariance(gains, moved), data.plan.effective(gains, True) + 1.0
        return Covariance(
            estimate, pos + neg + drawn, [Shared(pos + neg, np.full_like(pos, np.inf)), Shared(drawn, freedom)]
        )


def _refused(data: Sample, measure: Measure, estimate: Any, effective: float) -> str | None:
    """Return why the labels carry no interval."""
    plan = data.plan
    if isinstance(measure, PrecisionAt):
        unknown = np.delete(np.arange(len(plan.stratum)), plan.rows) - len(plan.stratum)  # all rows are the last
        for one in data.models():
            ranking = measure.weights(one)
            if missing := np.count_nonzero(one.score[unknown] >= ranking.score[measure.cut(ranking).place]):
                needs = f"{measure} needs the labels of all samples above its cut"
                return f"{needs}, {missing:,} are missing: plan with alerts"
    if at := [bound for bound in measure.bounds if np.isclose(estimate, bound, rtol=0.0, atol=1e-9).any()]:
        return f"an estimate of {at[0]:g} has no interval by a plan"
    if effective < _LEAST:
        n, wanted = plan.size.sum(), np.ceil(plan.size.sum() * _LEAST / max(effective, np.finfo(float).tiny))
        more = f": some {wanted:,.0f} labels would find five" if wanted <= plan.whole.sum() else ""
        return f"{effective:.1f} effective positives among {n:,.0f} labels are fewer than five{more}"
    return None
