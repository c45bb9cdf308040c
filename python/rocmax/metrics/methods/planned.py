"""Intervals and differences of samples that were labelled by a plan."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.cuts import PrecisionAt
from rocmax.metrics.methods.base import Covariance, Interval, Method, binary, without_limits
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared, freedom_of

_LEAST = 5.0  # effective positives
_FREEDOM = 3.0  # at least: 3.2, 4.5 and 5.5 above 0, 1 and 2 found ones, of which Poisson's limits are 3.7, 4.6 and 5.2
_KNOWN = 1e9  # degrees of freedom of the ranks of all rows
_LIGHT = 1e-13  # the weight of a labelled negative among the positives, so that its gain is known too
_TINY = np.finfo(float).tiny
_NEAR = 20  # labels of neighbours whose share of positives is taken
_TOP = 2_000  # `thinned` keeps every row of less than twice this rank, half of the rows up to thrice, and so on


class LabelDesign:
    """Strata of all rows, and those rows that are labelled, or will be.

    `rank` and `stratum` are of every row, `rank` by the model that ranks it highest; `rows` are labelled, and `labels`
    are theirs; `mass` is how many rows each stands for in the order of a model, 1 if all are there. Worked out: the
    strata of the labelled rows (`places`), how many rows of each stratum there are (`whole`), how many of them are
    labelled (`size`), and how many rows a labelled one stands for (`weight`).
    """

    def __init__(self, rank: F64, stratum: NDArray[np.intp], rows: NDArray[np.intp], mass: F64, labels: Any = None):
        self.rank, self.stratum, self.rows, self.mass, self.labels = rank, stratum, rows, mass, labels
        self.places, self.whole = stratum[rows], np.bincount(stratum, mass)
        self.size = np.bincount(self.places, minlength=len(self.whole))
        self.weight = self.whole[self.places] / self.size[self.places]

    def thinned(self) -> "tuple[NDArray[np.intp], LabelDesign]":
        """Return which rows are labelled or among the highest, with some of the others, and the design of these."""
        kept = self.rank % np.maximum(self.rank // _TOP, 1.0) == 0.0
        kept[self.rows] = True
        place, stratum = np.flatnonzero(kept), self.stratum[kept]
        mass = (self.whole / np.bincount(stratum))[stratum]
        return place, LabelDesign(self.rank[kept], stratum, np.searchsorted(place, self.rows), mass)

    def sample(self, labels: NDArray[np.bool_], like: Sample) -> Sample:
        """Return positives by their weights, and all rows by what these leave of negatives; each model has its own."""
        design = LabelDesign(self.rank, self.stratum, self.rows[: len(labels)], self.mass, labels)
        y = np.repeat([True, False], [len(labels), len(like.score)])
        score = np.asfortranarray(np.concatenate([like.score[design.rows], like.score]))
        weight = design.weights_of(score[:, 0] if like.many else score)
        return like._replace(y=y, weight=weight, weight_kind="planned", plan=design).scored(score)

    def weights_of(self, score: NDArray[Any]) -> F64:
        """Return the weights of the positives and of all rows of one model.

        The ranks of all rows are known. A row that may be labelled has the share of negatives among its labelled
        neighbours in the order of this model, between their means linear in the logarithm of the rank.
        """
        left, weight, positive = self.mass.copy(), *np.zeros((2, len(self.mass)))
        weight[self.rows], positive[self.rows] = self.weight, self.labels * self.weight
        left[self.rows] *= 1.0 - self.labels
        order = np.argsort(-score[len(self.rows) :], kind="stable")
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
            classes = zip(np.split(row, [n]), np.split(weight, [n]), measure.by_totals(one), strict=True)
            positive, negative = ((c - np.average(c, weights=w) + moved) / w.sum() for c, w, moved in classes)
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
        left, size = 1.0 - 1.0 / self.weight, self.size[self.places]
        mean = np.array([np.bincount(self.places, row)[self.places] for row in parts]) / size
        apart = (parts - mean) * self.weight * np.sqrt(left * size / np.maximum(size - 1.0, 1.0))
        chance = left / self.rank[self.rows]
        pseudo = gains * self.weight * np.sqrt(chance / max(chance.sum(), _TINY) * left)
        each = np.abs(gains[:, None] - gains[None] + np.eye(len(gains))[..., None] * gains) * self.weight * self.labels
        counts = [c.sum(axis=-1) ** 2 / np.maximum((c**2).sum(axis=-1), _TINY) for c in (each, each * np.sqrt(left))]
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

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        spread = self.covariance(binary(sample), measure)
        if spread.refused is not None:
            return without_limits(spread.estimate, self.name, spread.refused)
        variance = np.diagonal(spread.matrix).copy()
        limits, _ = log_odds(spread.estimate, variance, np.diagonal(freedom_of(spread.parts)), measure.bounds)
        return Interval(spread.estimate, variance, limits, self.name)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        estimate = np.concatenate([measure.estimates(one) for one in data.models()])  # each with its own weights
        drawn, found, freedom = data.plan.spread(*data.plan.moved(data, measure))
        refused = _refused(data, measure, estimate, np.diagonal(found).min())
        if refused is not None:
            warn(CoverageWarning(f"{measure} has no interval: {refused}", refused))
            return Covariance(estimate, np.full_like(drawn, np.nan), refused=refused)
        _, pos, neg = measure.covariance(data)
        known, of_draws = np.full_like(pos, _KNOWN), np.maximum(freedom + 1.0, _FREEDOM)
        return Covariance(estimate, pos + neg + drawn, [Shared(pos + neg, known), Shared(drawn, of_draws)])


def _refused(data: Sample, measure: Measure, estimate: Any, effective: float) -> str | None:
    """Return why the labels carry no interval."""
    plan = data.plan
    if isinstance(measure, PrecisionAt):
        for one in data.models():
            ranking, score = measure.weights(one), one.score[len(plan.rows) :]
            above = score >= ranking.score[measure.cut(ranking).place]
            if above.sum() > above[plan.rows].sum():
                wanted = max(measure.alerts(data.totals), plan.mass @ above)
                return f"{measure} needs the labels of all samples above its cut: plan with alerts={wanted:.0f}"
    if effective < _LEAST:
        n, wanted = len(plan.rows), np.ceil(len(plan.rows) * _LEAST / max(effective, 1e-9))
        more = f": some {wanted:,.0f} labels would find five" if wanted <= plan.whole.sum() else ""
        return f"{effective:.1f} effective positives among {n:,} labels are fewer than five{more}"
    if at := [bound for bound in measure.bounds if np.isclose(estimate, bound, rtol=0.0, atol=1e-9).any()]:
        return f"an estimate of {at[0]:g} has no interval by a plan"
    return None
