"""Whom to label, for a measure of a ranking, when scores are free and labels are not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import F64, check_level, named_columns, require_finite, scores
from rocmax._files import written
from rocmax._parameters import check_count
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.methods.base import Known
from rocmax.metrics.methods.planned import LabelDesign, Planned
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._sample import Sample, verify
from rocmax.metrics.samples._samples import Value
from rocmax.metrics.variances._resample import seed_of

_STUDIES = 10  # simulated
_STRATUM = 10  # labels of a stratum, at least
_LEAST = 5.0  # positives that a plan should find below the cut
_HELD = "scores", "strata", "rows"  # what a file of a plan holds


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

        from rocmax.metrics.measures import as_measure

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
