"""Whom to label, for a measure of a ranking, when scores are free and labels are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import F64, named_columns, number, require_finite, scores
from rocmax._files import written
from rocmax._parameters import shown
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.samples._sample import Kept, Sample
from rocmax.metrics.samples._samples import Samples, Value
from rocmax.metrics.variances._resample import seed_of

_LIGHT = 1e-13  # the weight of a labelled negative among the positives, so that its gain is known too
_STUDIES = 10  # simulated
_STRATUM = 10  # labels of a stratum, at least
_NEAR = 20  # labels of neighbours whose share of positives is taken
_LEAST = 5.0  # positives that a plan should find below the cut


class Expectation(NamedTuple):
    """What a plan is expected to find: the measure, the width of its 95 % interval, positives below the alerts."""

    estimate: Any
    width: Any
    n_found: float


class LabelPlan(Value):
    """Which rows to label, and what each stands for; :func:`label_plan` makes it.

    Label the rows in the order of `rows`, and measure with ``Samples(labels, scores, plan=plan)``. The order may be
    stopped once the alerts and two rows of every stratum are labelled: rows are drawn from all strata in turn, so that
    n labels in place of N have intervals about ``sqrt(N / n)`` times as wide.

    >>> import numpy as np
    >>> from rocmax.metrics import RecallAt, Samples, infer, label_plan
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(20_000) < 0.05
    >>> scores = rng.normal(size=20_000) + 2 * truth
    >>> plan = label_plan(scores, 1_000, alerts=200, random_state=0)
    >>> print(infer(Samples(truth[plan.rows], scores, plan=plan), RecallAt(0.05)))
    recall among the highest 5 % = 0.499 [0.398, 0.601] (95 % CI)
    labels in strata, Cochran 1977; 944.7 positive, 1.906e+04 negative samples, estimated from 1,000 labels

    Attributes
    ----------
    rows : ndarray of int of shape (budget,)
        The rows to label, by position: first those that are labelled for certain, the highest scores first.
    weight : ndarray of shape (budget,)
        How many rows each stands for.
    stratum : ndarray of int of shape (budget,)
        Its stratum; rows that are labelled for certain are strata of their own.
    """

    rows: NDArray[np.intp]
    weight: F64
    stratum: NDArray[np.intp]
    _score: NDArray[Any]
    _names: tuple[str, ...] | None
    _rank: F64
    _strata: NDArray[np.intp]  # of every row
    _n_certain: int

    def _of_rows(self, n: int) -> LabelDesign:
        """Return the design if the first n rows are labelled, and their labels are not known yet."""
        rows, whole = self.rows[:n], np.bincount(self._strata).astype(np.float64)
        size = np.bincount(self._strata[rows], minlength=len(whole)).astype(np.float64)
        return LabelDesign(self._rank, self._strata, size, whole, rows, np.zeros(n))

    def labelled(self, y_true: Any, like: Sample) -> Sample:
        """Return samples of these labels; `like` has the scores of all rows."""
        design, score = self._of_rows(len(y_true)), like.score
        if score.shape != self._score.shape or not np.array_equal(score, self._score):
            wanted = f"the scores that the plan was made of, all {len(self._score):,} rows of them"
            raise ValueError(f"y_score must be {wanted}")
        if len(y_true) > len(self.rows) or (np.minimum(design.whole, 2) > design.size).any():
            least = self._n_certain + 2 * (len(design.whole) - self._n_certain)
            wanted = f"the labels of plan.rows, {len(self.rows):,} or at least the first {least:,} of them"
            raise ValueError(f"y_true must have {wanted}, got {len(y_true):,}")
        return design._replace(labels=np.asarray(y_true == y_true.max(), dtype=np.float64)).sample(score, like)

    def of(self, names: str | Sequence[str]) -> LabelPlan:
        """Return the plan for one of its models, or for some of them in this order."""
        wanted = [names] if isinstance(names, str) else [*names]
        if self._names is None or not set(wanted) <= set(self._names):
            raise ValueError(f"the plan was made for {shown(self._names)}, not for {shown(wanted)}")
        score = self._score[:, [self._names.index(name) for name in wanted]]
        own = (score[:, 0], None) if isinstance(names, str) else (score, tuple(wanted))
        return LabelPlan._of(self.rows, self._strata, self._rank, *own)

    def measured(self, y_true: Any) -> Any:
        """Return the samples of these labels and of the scores that the plan was made of."""
        score = self._score if self._names is None else dict(zip(self._names, self._score.T, strict=True))
        return Samples(y_true, score, plan=self)

    def expect(self, measure: Any = "auc", *, prevalence: float, slope: float = 1.0) -> Expectation:
        """Return the expected estimate and width of the interval of a study by this plan.

        Parameters
        ----------
        measure : Measure or str, default="auc"
            What will be inferred.
        prevalence : float
            The share of positives in all rows.
        slope : float, default=1.0
            How fast positives thin out: their odds fall with the rank to the power of -slope. 0 is a useless model.

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
        """
        from scipy.optimize import brentq
        from scipy.special import expit

        from rocmax.metrics.measures import as_measure
        from rocmax.metrics.methods.planned import Planned

        measure = as_measure(measure)
        number(prevalence, "prevalence", "in (0, 1)", lambda share: 0 < share < 1)
        number(slope, "slope", "of at least 0", lambda power: 0 <= power < np.inf)
        falls = slope * np.log(self._rank)
        level = brentq(lambda a: expit(a - falls).mean() - prevalence, -40.0, 40.0 + falls.max())
        chance, rng = expit(level - falls)[self.rows], np.random.default_rng(0)
        n_found = float(chance[self.weight > 1.0].sum())
        if n_found < _LEAST and (self.weight > 1.0).any():
            budget = self._n_certain + np.ceil((len(self.rows) - self._n_certain) * _LEAST / n_found)
            raise ValueError(
                f"{n_found:.1f} positives are expected among the labels that are not certain, at a prevalence of"
                f" {prevalence:g}, fewer than five: plan a budget of {min(budget, len(self._score)):,.0f}"
            )
        design, like = self._of_rows(len(self.rows)), Sample(np.zeros(0), self._score, None, 0)
        drawn = [design._replace(labels=np.where(rng.random(len(chance)) < chance, 1.0, 0.0)) for _ in range(_STUDIES)]
        with catch_warnings():
            simplefilter("ignore", CoverageWarning)
            studies = [Planned().estimate(one.sample(self._score, like), measure) for one in drawn]
        found = [(one.estimate, np.subtract(*one.limits.at(0.95)[::-1])) for one in studies if one.refused is None]
        if 2 * len(found) < _STUDIES:
            refused = next(one.refused for one in studies if one.refused is not None)
            raise ValueError(f"{_STUDIES - len(found)} of {_STUDIES} simulated studies have no interval: {refused}")
        estimate, width = np.mean(found, axis=0)
        return Expectation(*((estimate, width) if self._score.ndim > 1 else (estimate.item(), width.item())), n_found)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of `row`, `weight` and `stratum`, in the order of labelling."""
        import pandas as pd

        return pd.DataFrame({"row": self.rows, "weight": self.weight, "stratum": self.stratum})

    def save(self, path: str | Path) -> None:
        """Write the plan to a file, with the scores; :meth:`load` reads it."""
        names, rank, score = np.array(self._names or [], dtype=str), self._rank, self._score
        with written(Path(path)) as file:
            np.savez_compressed(file, rows=self.rows, strata=self._strata, rank=rank, score=score, names=names)

    @classmethod
    def load(cls, path: str | Path) -> LabelPlan:
        """Return a plan that :meth:`save` wrote."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as held:
                names = tuple(map(str, held["names"])) or None
                rows, strata, rank, score = (held[name] for name in ("rows", "strata", "rank", "score"))
            n, own = len(score), np.sort(rows)
            good = rows.dtype.kind == strata.dtype.kind == "i" and strata.shape == rank.shape == (n,)
            good = good and min(own[0], strata.min()) >= 0 and max(own[-1], strata.max()) < n and np.diff(own).all()
            good = good and np.bincount(strata).all() and 1 <= rank.min() <= rank.max() <= n
            if not good or (names is not None and score.shape[1:] != (len(names),)) or not np.isfinite(score).all():
                raise ValueError("rows, strata, ranks, scores and names do not fit each other")
            return cls._of(rows, strata, rank, score, names)
        except OSError:
            raise
        except Exception as error:  # of zip files that are cut off or changed, and of their arrays
            raise ValueError(f"{path} is not a plan written by LabelPlan.save") from error

    @classmethod
    def _of(cls, rows: Any, strata: Any, rank: Any, score: Any, names: Any) -> LabelPlan:
        whole = np.bincount(strata)
        size = np.bincount(strata[rows], minlength=len(whole))
        plan, weight = cls.__new__(cls), (whole / np.maximum(size, 1))[strata[rows]]
        held = {"_score": score, "_names": names, "_rank": rank, "_strata": strata}
        plan._set(rows=rows, weight=weight, stratum=strata[rows], _n_certain=int((whole == 1).sum()), **held)
        return plan

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        n = len(np.unique(self._strata)) - self._n_certain
        return f"LabelPlan({len(self):,} of {len(self._score):,} rows: {self._n_certain:,} for certain, {n:,} strata)"


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
        Seed of the draws and of the order of tied scores.

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
    sums of ``1 / sqrt(rank)``; the rank is that by the model that ranks a row highest. The design gains nothing for the
    AUC, which all rows decide alike, and most where few rows at the top decide. O(n log n) time, O(n) memory.
    """
    columns, names = named_columns(y_score, "", "y_score")
    score = scores(columns, "y_score")
    require_finite(score, "y_score", columns=names)
    if (np.ptp(score, axis=0) == 0.0).any():
        raise ValueError("y_score must rank the rows: one score for all has nothing to plan")
    n, rng = len(score), np.random.default_rng(seed_of(random_state))
    budget, alerts = _count(budget, "budget", n), 0 if alerts is None else _count(alerts, "alerts", n)
    rank = np.full(n, n)
    for column in np.atleast_2d(score.T):
        order = np.lexsort((rng.random(n), -column))
        rank[order] = np.minimum(rank[order], np.arange(1, n + 1))
    order = np.argsort(rank, kind="stable")
    size, certain = 1.0 / np.sqrt(rank[order]), rank[order] <= alerts
    while True:  # rows that would be drawn more than once are labelled for certain
        n_certain = int(certain.sum())
        left, least = budget - n_certain, min(_STRATUM, n - n_certain)
        if left < least:
            raise ValueError(f"budget={budget} must exceed the {n_certain:,} alerts by {least} labels or more")
        more = ~certain & (left * size >= size[~certain].sum())
        if not more.any():
            break
        certain |= more
    rest, n_strata = order[~certain], max(left // _STRATUM, 1)
    reached = np.cumsum(size[~certain])
    own = np.minimum((reached - size[~certain] / 2) / reached[-1:] * n_strata, n_strata - 1).astype(np.intp)
    strata = np.empty(n, dtype=np.intp)
    strata[order[certain]] = np.arange(certain.sum())
    strata[rest] = own + int(certain.sum())
    drawn, turn = [], []
    whole = np.bincount(own, minlength=n_strata)
    share = np.minimum(whole, left // n_strata)
    for k in range(n_strata - 1, -1, -1):  # what is left over goes to the largest strata
        share[k] += min(left - int(share.sum()), whole[k] - share[k], 1 if share[:k].sum() else left)
    for members, count in zip(np.split(rest, np.cumsum(whole)[:-1]), share.tolist(), strict=True):
        drawn.append(rng.permutation(members)[:count])
        turn.append(np.arange(count) + rng.random())
    rows = np.concatenate([order[certain], *(np.concatenate(drawn)[np.argsort(np.concatenate(turn), kind="stable")],)])
    return LabelPlan._of(rows, strata, rank.astype(np.float64), score, names)


def _count(value: Any, name: str, most: int) -> int:
    domain = f"that is whole, from 1 to the {most:,} rows"
    return int(number(value, name, domain, lambda x: 1 <= x <= most and x % 1 == 0))


class LabelDesign(NamedTuple):
    """Strata of all rows, and the rows that are labelled, or will be."""

    rank: F64  # of every row, by the model that ranks it highest
    stratum: NDArray[np.intp]  # of every row
    size: F64  # how many rows of each stratum are labelled
    whole: F64  # how many there are
    rows: NDArray[np.intp]  # that are labelled
    labels: F64  # 1 and 0

    @property
    def places(self) -> NDArray[np.intp]:
        """The strata of the labelled rows."""
        return self.stratum[self.rows]

    @property
    def weight(self) -> F64:
        """How many rows a labelled one stands for."""
        return (self.whole / self.size)[self.places]

    def sample(self, score: NDArray[Any], like: Sample) -> Sample:
        """Return positives by their weights, and all rows by what these leave of negatives; each model has its own."""
        y = np.repeat([True, False], [len(self.rows), len(score)])
        score = np.asfortranarray(np.concatenate([score[self.rows], score]))
        weight = self.weights_of(score if score.ndim == 1 else score[:, 0])
        return like._replace(y=y, score=score, weight=weight, plan=self, kept=Kept(y, score, weight))

    def weights_of(self, score: NDArray[Any]) -> F64:
        """Return the weights of the positives and of all rows of one model.

        The ranks of all rows are known. A row that may be labelled has the share of negatives among its labelled
        neighbours in the order of this model, between their means linear in the logarithm of the rank.
        """
        n = len(self.rows)
        left, weight, positive = np.ones(len(score) - n), *np.zeros((2, len(score) - n))
        weight[self.rows], positive[self.rows] = self.weight, self.labels * self.weight
        left[self.rows] -= self.labels
        order = np.argsort(-score[n:], kind="stable")
        if len(order := order[(self.size < self.whole)[self.stratum[order]]]):  # each of the others is known
            place, at = np.log(np.arange(len(order)) + 0.5), np.flatnonzero(weight[order])
            starts = _NEAR * np.arange(max(len(at) // _NEAR, 1))
            near = np.stack([weight[order], positive[order], weight[order] * place])[:, at]
            total, found, places = np.add.reduceat(near, starts, axis=1)
            left[order] = 1.0 - np.interp(place, places / total, found / total)
        return np.concatenate([np.maximum(positive[self.rows], _LIGHT), left])

    def moved(self, sample: Sample, measure: Any) -> tuple[F64, F64]:
        """Return by model what a positive in each labelled row adds in place of a negative, and the row's part.

        Its part in the error of the estimate: the positives are weighted, and the negatives are all rows but the share
        of positives among neighbours, from which the label differs.
        """
        gains, parts, n = [], [], len(self.rows)
        for one in sample.models():
            (row,), each = measure.influences(one)[1], []
            classes = (row[:n], row[n:]), (one.weights[:n], one.weights[n:])
            for values, weight, moved in zip(*classes, measure.by_totals(one), strict=True):
                each.append((values - np.average(values, weights=weight) + moved) / weight.sum())
            positive, negative, left = each[0], each[1][self.rows], one.weights[n:][self.rows]
            gains.append(positive - negative)
            parts.append(positive * self.labels - negative * (self.labels - 1.0 + left))
        return np.array(gains), np.array(parts)

    def covariance(self, gains: F64, parts: F64) -> F64:
        """Return the covariance of the estimates of models over the draws of the labelled rows.

        One pseudo positive, whose chances fall with the inverse of the rank, is added, so that strata in which none was
        found have a variance.
        """
        share = self.size / self.whole
        mean = np.array([np.bincount(self.places, row, len(share)) for row in parts]) / self.size
        spread = self.whole**2 * (1.0 - share) / self.size / np.maximum(self.size - 1.0, 1.0)
        apart = (parts - mean[:, self.places]) * np.sqrt(spread)[self.places]
        left = (1.0 - share[self.places]) / self.rank[self.rows]
        chance = left / max(left.sum(), np.finfo(float).tiny)
        pseudo = gains * self.weight * np.sqrt(chance * (1.0 - share[self.places]))
        return np.asarray(apart @ apart.T + pseudo @ pseudo.T)

    def effective(self, gains: F64, drawn: bool) -> F64:
        """Return the effective numbers of found positives: of models on the diagonal, of differences beside it.

        Those of positives that were `drawn` have the certain ones with weight 0.
        """
        each = gains[:, None] - gains[None] if len(gains) > 1 else np.zeros((1, 1, len(self.rows)))
        np.einsum("iik->ik", each)[:] = gains
        c = np.abs(each) * self.weight * self.labels
        c = c * np.sqrt(1.0 - (self.size / self.whole)[self.places]) if drawn else c
        total, square = c.sum(axis=-1), (c**2).sum(axis=-1)
        return np.asarray(np.divide(total**2, square, out=np.zeros_like(total), where=square > 0))
