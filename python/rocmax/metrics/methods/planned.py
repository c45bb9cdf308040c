"""Intervals and differences of samples that were labelled by a plan."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.cuts import PrecisionAt
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, binary, without_limits
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Kept, Sample
from rocmax.metrics.variances._components import Shared, freedom_of

_LEAST = 5.0  # effective positives
_FREEDOM = 3.0  # at least: 3.2, 4.5 and 5.5 above 0, 1 and 2 found ones, of which Poisson's limits are 3.7, 4.6 and 5.2
_LIGHT = 1e-13  # the weight of a labelled negative among the positives, so that its gain is known too
_TINY = np.finfo(float).tiny
_NEAR = 20  # labels of neighbours whose share of positives is taken
_TOP = 2_000  # `thinned` keeps every row of less than twice this rank, half of the rows up to thrice, and so on


class LabelDesign(NamedTuple):
    """Strata of all rows, and those rows that are labelled, or will be."""

    rank: F64  # of every row, by the model that ranks it highest
    stratum: NDArray[np.intp]  # of every row
    size: F64  # how many rows of each stratum are labelled
    whole: F64  # how many there are
    rows: NDArray[np.intp]  # that are labelled
    mass: F64  # how many rows each stands for in the order of a model, 1 if all are there
    labels: F64 = np.zeros(0)  # 1 and 0

    @property
    def places(self) -> NDArray[np.intp]:
        """The strata of the labelled rows."""
        return self.stratum[self.rows]

    @property
    def weight(self) -> F64:
        """How many rows a labelled one stands for."""
        return (self.whole / self.size)[self.places]

    def thinned(self) -> "tuple[NDArray[np.intp], LabelDesign]":
        """Return which rows are labelled or among the highest, with some of the others, and the design of these."""
        kept = self.rank % np.maximum(self.rank // _TOP, 1.0) == 0.0
        kept[self.rows] = True
        place, stratum = np.flatnonzero(kept), self.stratum[kept]
        mass = (self.whole / np.bincount(stratum))[stratum]
        rows = np.searchsorted(place, self.rows)
        return place, self._replace(rank=self.rank[kept], stratum=stratum, rows=rows, mass=mass)

    def sample(self, positive: NDArray[np.bool_], like: Sample) -> Sample:
        """Return positives by their weights, and all rows by what these leave of negatives; each model has its own."""
        design, score = self._replace(labels=positive.astype(np.float64)), like.score
        y = np.repeat([True, False], [len(positive), len(score)])
        score = np.asfortranarray(np.concatenate([score[self.rows], score]))
        weight = design.weights_of(score if score.ndim == 1 else score[:, 0])
        held = Kept(y, score, weight)
        return like._replace(y=y, score=score, weight=weight, weight_kind="planned", plan=design, kept=held)

    def weights_of(self, score: NDArray[Any]) -> F64:
        """Return the weights of the positives and of all rows of one model.

        The ranks of all rows are known. A row that may be labelled has the share of negatives among its labelled
        neighbours in the order of this model, between their means linear in the logarithm of the rank.
        """
        n = len(self.rows)
        left, weight, positive = self.mass.copy(), *np.zeros((2, len(self.mass)))
        weight[self.rows], positive[self.rows] = self.weight, self.labels * self.weight
        left[self.rows] *= 1.0 - self.labels
        order = np.argsort(-score[n:], kind="stable")
        if len(order := order[(self.size < self.whole)[self.stratum[order]]]):  # each of the others is known
            place, at = np.log(np.cumsum(self.mass[order]) - 0.5), np.flatnonzero(weight[order])
            starts = _NEAR * np.arange(max(len(at) // _NEAR, 1))
            near = np.stack([weight[order], positive[order], weight[order] * place])[:, at]
            total, found, places = np.add.reduceat(near, starts, axis=1)
            left[order] = self.mass[order] * (1.0 - np.interp(place, places / total, found / total))
        return np.concatenate([np.maximum(positive[self.rows], _LIGHT), left])

    def moved(self, sample: Sample, measure: Measure) -> tuple[F64, F64]:
        """Return by model what a positive in each labelled row adds in place of a negative, and the row's part.

        Its part in the error of the estimate: the positives are weighted, and the negatives are all rows but the share
        of positives among neighbours, from which the label differs.
        """
        gains, parts, n = [], [], len(self.rows)
        for one in sample.models():
            (row,), weight = measure.influences(one)[1], one.weights
            positive, negative = (
                (row[k] - np.average(row[k], weights=weight[k]) + moved) / weight[k].sum()
                for k, moved in zip((slice(n), slice(n, None)), measure.by_totals(one), strict=True)
            )
            negative, left = negative[self.rows], (weight[n:] / self.mass)[self.rows]
            gains.append(positive - negative)
            others = (self.labels - 1.0 + left) * _NEAR / (_NEAR - 1.0)  # the row is one of its neighbours
            parts.append(positive * self.labels - negative * others)
        return np.array(gains), np.array(parts)

    def spread(self, gains: F64, parts: F64) -> tuple[F64, F64, F64]:
        """Return the covariance of models over the draws of labels, and effective numbers of positives: found, drawn.

        One pseudo positive, whose chances fall with the inverse of the rank, is added, so that strata in which none was
        found have a variance. Numbers are of models on the diagonal, of differences beside it.
        """
        left, places = 1.0 - self.size / self.whole, self.places
        mean = np.array([np.bincount(places, row, len(left)) for row in parts]) / self.size
        spread = self.whole**2 * left / self.size / np.maximum(self.size - 1.0, 1.0)
        apart = (parts - mean[:, places]) * np.sqrt(spread)[places]
        chance = left[places] / self.rank[self.rows]
        pseudo = gains * self.weight * np.sqrt(chance / max(chance.sum(), _TINY) * left[places])
        each = np.abs(gains[:, None] - gains[None] + np.eye(len(gains))[..., None] * gains) * self.weight * self.labels
        of_draws = each * np.sqrt(left[places])
        counts = [c.sum(axis=-1) ** 2 / np.maximum((c**2).sum(axis=-1), _TINY) for c in (each, of_draws)]
        return np.asarray(apart @ apart.T + pseudo @ pseudo.T), counts[0], counts[1]


@dataclass(frozen=True)
class Planned(Method):
    """Log-odds with Student's t, for labels in strata that a :class:`LabelPlan` chose (Cochran, 1977).

    The variance is the sum of that of the samples if all were labelled and of that over the draws of labels in strata,
    ``sum N_h^2 (1 - n_h / N_h) s_h^2 / n_h``, and one pseudo positive. s_h^2 is the variance in stratum h of
    ``p y - n (y - q)``, p and n the derivatives of the measure by positives and by negatives, y the label, q the share
    of positives among neighbours in the order of the model. t has the degrees of freedom of Welch and Satterthwaite:
    the second variance has three or more, those of the effective number of drawn positives, ``(sum c)^2 / sum c^2`` of
    their contributions c, and the pseudo positive. Fewer than five effective positives, those labelled for certain
    among them, are refused.
    """

    name: ClassVar[str] = "planned"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.COMPONENTS})
    planned: ClassVar[bool] = True

    def check(self, measure: Measure, data: Known, takers: dict[str, type[Method]]) -> None:
        if data.weight_kind != "planned":
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
        drawn, found, freedom = data.plan.spread(*data.plan.moved(data, measure))
        refused = _refused(data, measure, estimate, np.diagonal(found).min())
        if refused is not None:
            warn(CoverageWarning(f"{measure} has no interval: {refused}", refused))
            return Covariance(estimate, np.full_like(pos, np.nan), refused=refused)
        known, of_draws = np.full_like(pos, np.inf), np.maximum(freedom + 1.0, _FREEDOM)
        parts = [Shared(pos + neg, known), Shared(drawn, of_draws)]
        return Covariance(estimate, pos + neg + drawn, parts if drawn.any() else parts[:1])  # if all are labelled


def _refused(data: Sample, measure: Measure, estimate: Any, effective: float) -> str | None:
    """Return why the labels carry no interval."""
    plan = data.plan
    if isinstance(measure, PrecisionAt):
        unknown = np.delete(np.arange(len(plan.stratum)), plan.rows) - len(plan.stratum)  # all rows are the last
        for one in data.models():
            ranking = measure.weights(one)
            if (one.score[unknown] >= ranking.score[measure.cut(ranking).place]).any():
                return f"{measure} needs the labels of all samples above its cut: plan with alerts"
    if at := [bound for bound in measure.bounds if np.isclose(estimate, bound, rtol=0.0, atol=1e-9).any()]:
        return f"an estimate of {at[0]:g} has no interval by a plan"
    if effective < _LEAST:
        n, wanted = plan.size.sum(), np.ceil(plan.size.sum() * _LEAST / max(effective, _TINY))
        more = f": some {wanted:,.0f} labels would find five" if wanted <= plan.whole.sum() else ""
        return f"{effective:.1f} effective positives among {n:,.0f} labels are fewer than five{more}"
    return None
