"""Whom to label where scores are free and labels are not, and intervals and differences of what was labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import F64, check_level, named_columns, require_finite, scores
from rocmax._files import written
from rocmax._parameters import check_count
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.cuts import PrecisionAt
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, binary, without_limits
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample, verify
from rocmax.metrics.samples._samples import Value
from rocmax.metrics.variances._components import Shared, freedom_of
from rocmax.metrics.variances._resample import seed_of

_STUDIES = 10  # simulated
_STRATUM = 10  # labels of a stratum, at least
_HELD = "scores", "strata", "rows"  # what a file of a plan holds
_LEAST = 5.0  # effective positives, or those that a plan should find below the cut
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

    def thinned(self) -> tuple[NDArray[np.intp], LabelDesign]:
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


class Expectation(NamedTuple):
    """What a plan is expected to find: the measure, the width of its 95 % interval, positives below the alerts."""

    estimate: Any
    width: Any
    n_found: float


class LabelPlan(Value):
    """Which rows to label, and what each stands for; :func:`label_plan` makes it.

    Label the rows in the order of `rows`, and measure with ``Samples(labels, scores, plan=plan)``. The order may be
    stopped once the alerts and two rows of every stratum are labelled: rows are drawn from all strata in turn, so that
    n labels in place of N have intervals about ``sqrt(N / n)`` times as wide. Plans are equal if they have
    the same scores, strata, and rows in the same order.

    >>> import numpy as np
    >>> from rocmax.metrics import RecallAt, Samples, infer, label_plan
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.05
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = label_plan(scores, 1_000, alerts=200, random_state=0)
    >>> print(infer(Samples(truth[plan.rows], scores, plan=plan), RecallAt(0.05)))
    recall among the highest 5 % = 0.512 [0.404, 0.618] (95 % CI)
    labels in strata, Cochran 1977; 878.3 positive, 1.913e+04 negative samples, estimated from 1,000 labels

    Attributes
    ----------
    rows : ndarray of int of shape (budget,)
        The rows to label, by position: first those that are labelled for certain, the highest scores first.
    weight : ndarray of shape (budget,)
        How many rows each stands for.
    stratum : ndarray of int of shape (budget,)
        Its stratum; rows that are labelled for certain are strata of their own.
    scores : ndarray of shape (n_rows,) or (n_rows, n_models)
        The scores that the plan was made of.
    strata : ndarray of int of shape (n_rows,)
        The strata of all rows.
    """

    rows: NDArray[np.intp]
    weight: F64
    stratum: NDArray[np.intp]
    scores: NDArray[Any]
    strata: NDArray[np.intp]
    _design: LabelDesign

    def labelled(self, given: Arguments) -> Sample:
        """Return samples of labels, given with the scores of all rows, of all models or of some."""
        if not (given.sample_weight is given.groups is given.by is None and given.higher_is_better is True):
            raise ValueError("plan has weights and strata of its own, of high scores: pass labels and scores alone")
        remedy = "label all rows of the plan, or stop before it"
        like = given._replace(y_score=np.arange(np.size(given.y_true)), remedy=remedy).of_two_classes()
        verify(like)
        columns, names = named_columns(given.y_score)
        y, like = like.y, like._replace(score=scores(columns), model_names=names)
        known = [*np.atleast_2d(self.scores.T)]
        if not all(any(np.array_equal(one, own) for own in known) for one in np.atleast_2d(like.score.T)):
            wanted = f"the scores that the plan was made of, all {len(self.scores):,} rows of them"
            raise ValueError(f"y_score must be {wanted}")
        fewest = np.minimum(self._design.whole, 2).sum()
        if not fewest <= len(y) <= len(self.rows):
            wanted = f"the labels of plan.rows, {len(self.rows):,} or at least the first {fewest:,.0f} of them"
            raise ValueError(f"y_true must have {wanted}, got {len(y):,}")
        return self._design.sample(y == y.max(), like)

    def expect(self, measure: Any = "auc", *, prevalence: float) -> Expectation:
        """Return the expected estimate and width of the interval of a study by this plan.

        Parameters
        ----------
        measure : Measure or str, default="auc"
            What will be inferred.
        prevalence : float
            The share of positives in all rows.

        Returns
        -------
        Expectation
            `estimate` and `width` of the 95 % interval, means of ten simulated studies (arrays for several models), and
            `n_found`, the expected number of positives among the labels that are not certain.

        Raises
        ------
        ValueError
            If fewer than five positives are expected among the labels that are not certain, or most of the
            simulated studies have no interval.

        Notes
        -----
        The odds of a positive fall with the inverse of the rank. Of ranks beyond 4,000 the studies hold the labelled
        rows and some others, which stand for the rest.
        """
        from scipy.optimize import brentq
        from scipy.special import expit

        Planned().check(measure := as_measure(measure), Known("planned"), {})
        check_level(prevalence, "prevalence")
        kept, design = self._design.thinned()
        fall, mass = np.log(design.rank), design.mass
        level = brentq(lambda level: np.average(expit(level - fall), weights=mass) - prevalence, -600.0, 80.0)
        chance, drawn = expit(level - fall)[design.rows], self.weight > 1.0
        n_found = float(chance[drawn].sum())
        if n_found < _LEAST and drawn.any():
            budget = (~drawn).sum() + np.ceil(drawn.sum() * _LEAST / n_found)
            few = f"{n_found:.1f} positives are expected among the labels that are not certain, fewer than five, at a"
            raise ValueError(f"{few} prevalence of {prevalence:g}: plan {min(budget, len(self.scores)):,.0f} labels")
        found = np.random.default_rng(0).random((_STUDIES, len(chance))) < chance
        if (n_negative := len(chance) - found.sum(axis=1).max()) < 2:
            raise ValueError(f"a simulated study has {n_negative} negative labels at a prevalence of {prevalence:g}")
        like = Sample(np.zeros(0), self.scores[kept], None, 0)
        with catch_warnings(action="ignore", category=CoverageWarning):
            intervals = [Planned().estimate(design.sample(labels, like), measure) for labels in found]
        widths = [(one.estimate, np.subtract(*one.limits.at(0.95)[::-1])) for one in intervals if one.refused is None]
        if 2 * len(widths) < _STUDIES:
            refused = next(one.refused for one in intervals if one.refused is not None)
            raise ValueError(f"{_STUDIES - len(widths)} of {_STUDIES} simulated studies have no interval: {refused}")
        estimate, width = np.mean(widths, axis=0) if like.many else np.mean(widths, axis=(0, 2)).tolist()
        return Expectation(estimate, width, n_found)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of `row`, `weight` and `stratum`, in the order of labelling."""
        import pandas as pd

        return pd.DataFrame({"row": self.rows, "weight": self.weight, "stratum": self.stratum})

    def save(self, path: str | Path) -> None:
        """Write the plan to a file, with the scores; :meth:`load` reads it."""
        with written(Path(path)) as file:
            np.savez_compressed(file, **{name: getattr(self, name) for name in _HELD})

    @classmethod
    def load(cls, path: str | Path) -> LabelPlan:
        """Return a plan that :meth:`save` wrote."""
        with Path(path).open("rb") as file:
            try:
                held = np.load(file, allow_pickle=False)
                score, strata, rows = (held[name] for name in _HELD)
                plan = cls._of(score, _ranks(score), strata, rows)
                # The first refuses indices that are negative, or no integers.
                if np.bincount(rows).max() > 1 or not plan._design.size.all() or not np.isfinite(score).all():
                    raise ValueError("rows do not fit the strata")
                return plan
            except Exception as error:  # of zip files that are cut off or changed, and of their arrays
                raise ValueError(f"{path} is not a plan written by LabelPlan.save") from error

    @classmethod
    def _of(cls, score: NDArray[Any], rank: F64, strata: NDArray[np.intp], rows: NDArray[np.intp]) -> LabelPlan:
        plan, design = cls.__new__(cls), LabelDesign(rank, strata, rows, np.ones(len(rank)))
        plan._set(rows=rows, weight=design.weight, stratum=design.places, scores=score, strata=strata, _design=design)
        return plan

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, LabelPlan)
        return same and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _HELD)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        whole = self._design.whole
        n = int((whole == 1).sum())
        return f"LabelPlan({len(self):,} of {len(self.scores):,} rows: {n:,} for certain, {len(whole) - n:,} strata)"


def label_plan(
    y_score: ArrayLike | Mapping[str, ArrayLike], budget: int, *, alerts: int | None = None, random_state: Any = None
) -> LabelPlan:
    """Plan whom to label, so that rates, partial areas, precision and recall are known best.

    Use it when labels are scarce. :class:`LabelPlan` shows the measurement after the labels are there.

    >>> from rocmax.metrics import label_plan
    >>> plan = label_plan(range(1_000), 200, alerts=50, random_state=0)
    >>> plan, plan.rows[:3].tolist()  # the alerts first
    (LabelPlan(200 of 1,000 rows: 50 for certain, 15 strata), [999, 998, 997])

    Parameters
    ----------
    y_score : array-like of shape (n_rows,) or (n_rows, n_models), or mapping
        The scores of all rows, of one model or of several that will be compared; high scores are for positives.
    budget : int
        How many rows can be labelled.
    alerts : int, default=None
        Label so many of the highest scores of every model for certain, such as the alerts that are reviewed anyway.
    random_state : int, Generator or None, default=None
        Seed of the draws.

    Returns
    -------
    LabelPlan
        Which rows to label, in which order.

    Raises
    ------
    ValueError
        If the budget exceeds the rows, or leaves fewer than ten labels below the alerts, or a model is constant.

    Notes
    -----
    After the alerts, rows are drawn in strata of consecutive ranks with equal numbers of labels, ten or more, and equal
    sums of ``1 / sqrt(rank)``; the rank is that by the model that ranks a row highest, and tied rows are ranked in
    their order. The design gains nothing for the AUC, which all rows decide alike, and most where few rows at the top
    decide. O(n log n) time, O(n) memory.
    """
    columns, names = named_columns(y_score, "", "y_score")
    score = scores(columns, "y_score")
    require_finite(score, "y_score", columns=names)
    if len(score) < 2 or (np.ptp(score, axis=0) == 0.0).any():
        raise ValueError("y_score must rank the rows: one score for all has nothing to plan")
    n, rng, rank = len(score), np.random.default_rng(seed_of(random_state)), _ranks(score)
    budget, alerts = check_count("budget", budget, n), 0 if alerts is None else check_count("alerts", alerts, n)
    order = np.argsort(rank, kind="stable")
    size, start = 1.0 / np.sqrt(rank[order]), int((rank <= alerts).sum())
    total = np.cumsum(size[::-1])[::-1]  # of a row and all after it
    often = np.arange(budget - start, budget - n, -1) * size[start:] >= total[start:]
    # Rows that would be drawn more than once are labelled for certain.
    first = start + int(np.argmin(np.append(often, False)))
    left, least = budget - first, min(_STRATUM, n - first)
    if left < least:
        raise ValueError(f"budget={budget} must exceed the {first:,} rows labelled for certain by {least} or more")
    n_strata, rest = max(left // _STRATUM, min(left, 1)), order[first:]
    reached = 1.0 - (total[first:] - size[first:] / 2) / total[first : first + 1]
    stratum = np.minimum(reached * n_strata, n_strata - 1).astype(np.intp)
    whole = np.bincount(stratum, minlength=n_strata)
    share = np.minimum(whole, np.diff(np.arange(n_strata + 1) * left // max(n_strata, 1)))
    room = np.cumsum([0, *(whole - share)[::-1]])  # in the largest strata, for what others cannot take
    share += np.diff(np.minimum(room, left - share.sum()))[::-1]
    mixed = np.lexsort((rng.random(n - first), stratum))
    turn = np.arange(n - first) - (np.cumsum(whole) - whole)[stratum]  # of a row in its stratum, once they are mixed
    place = np.where(turn < share[stratum], turn + rng.random(n_strata)[stratum], np.inf)
    strata = np.concatenate([np.arange(first), first + stratum])[np.argsort(order)]
    rows = np.concatenate([order[:first], rest[mixed[np.argsort(place, kind="stable")[:left]]]])
    return LabelPlan._of(score, rank, strata, rows)


def _ranks(score: NDArray[Any]) -> F64:
    """Return the rank of every row, from 1, by the model that ranks it highest."""
    ranks = [np.argsort(np.argsort(-column, kind="stable")) for column in np.atleast_2d(score.T)]
    return np.asarray(np.min(ranks, axis=0) + 1.0)
