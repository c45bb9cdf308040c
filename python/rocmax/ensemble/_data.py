"""The data that all families learn from and share."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from rocmax import _core
from rocmax._selection import Standing, smoothed, standings
from rocmax._tables._coder import TableCoder
from rocmax._tables._decide import decided
from rocmax._tables._forms import is_frame
from rocmax._tables._schema import Schema
from rocmax._typing import F64, AnyArray, Bool
from rocmax.ensemble._run import SMALL, Run, quietly
from rocmax.estimators._base import Data
from rocmax.estimators._calibrated import sigmoid
from rocmax.estimators._folds import Fold
from rocmax.estimators._repeats import dealt
from rocmax.metrics import PartialAUC

# From this number of rows on, three folds choose as well as five, in half the time: 0.001 (standard error 0.001) better
# on [0, 0.05] over phoneme, mammography, spambase, a9a and covtype, two or three splits, at most 8,000 training rows.
_FEW_FOLDS = 2000


def n_folds(n_rows: int) -> int:
    """Return the number of folds by default."""
    return 3 if n_rows >= _FEW_FOLDS else 5


def growth(folds: list[Fold], n: int) -> float:
    """Return the number of rows over those a fold trains on: 5/4 for five folds, 3/2 for three, at most that."""
    return min(1.5, n / float(np.mean([len(train) for train, _ in folds])))


def pooled(folds: list[Fold], scores: list[AnyArray], n: int) -> AnyArray:
    """Return the mean score of each row over the folds that score it; NaN if none does."""
    total, count = np.zeros(n), np.zeros(n)
    for (_, rows), found in zip(folds, scores, strict=False):
        np.add.at(total, rows, found)
        np.add.at(count, rows, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


def parts_of(positive: Bool, groups: Any, seed: int) -> list[AnyArray]:
    """Return five stratified parts of the rows; with few rows of a class or few groups, fewer parts or none."""
    y = positive.astype(int)
    fewest = min(int(np.bincount(y, minlength=2).min()), len(y) if groups is None else len(np.unique(groups)))
    n = min(5, fewest // 2)
    if n < 2:
        return []
    fold = dealt(np.arange(len(y)) if groups is None else groups, y, n, seed)
    parts = [np.flatnonzero(fold == k) for k in range(n)]
    rest = [np.delete(y, part) for part in parts]
    return parts if all(0 < of.sum() < len(of) for of in rest) else []


# The number of folds after which a hopeless family is stopped, the standard errors beyond `lead` by which it must be
# worse than the best so far, and the number of rows from which on this is tried: with fewer, every family is cheap.
_FIRST, _HOPELESS, _MANY = 2, 1.0, 2000
# Differences of the log-odds of positives between folds that do not matter.
_EQUAL = 0.01


class HopelessError(Exception):
    """A family is too bad after the first folds to be kept."""

    def __init__(self, scores: F64) -> None:
        super().__init__()
        self.scores = scores


@dataclass(eq=False)
class Found:
    """The result of a family on the folds."""

    scores: F64  # the out-of-fold score of each row; NaN if there is none
    chosen: dict[str, Any] = field(default_factory=dict)  # the parameters selected by the folds
    state: Any = None  # anything the refit needs
    curve: tuple[float, float] = (1.0, 0.0)  # (slope, offset) of `scores` as a function of those of the models

    def raw(self) -> F64:
        """Return the scores on the scale of the models."""
        slope, offset = self.curve
        return (self.scores - offset) / slope if slope > 0 else self.scores


def composed(curve: tuple[float, float], first: tuple[float, float]) -> tuple[float, float]:
    """Return the line that applies `curve` after `first`."""
    return curve[0] * first[0], curve[0] * first[1] + curve[1]


@dataclass(eq=False)
class Folds:
    """Rows, labels, weights and folds, and the encodings that families share."""

    X: Any
    positive: Bool
    weight: F64 | None
    groups: AnyArray | None
    labels: AnyArray
    folds: list[Fold]
    fpr_range: tuple[float, float]
    seed: int
    lead: float
    schema: Schema | None = None  # what the columns are; decided when they are first coded
    best: F64 | None = None  # the out-of-fold scores of the best family so far
    _coded: dict[str, tuple[TableCoder, Any]] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)  # objects of a library, for its families

    def coded(self, kind: str) -> tuple[TableCoder, Any]:
        """Return the coder of the table for "trees" or "linear" models, and its encoding of all rows."""
        if self.schema is None and is_frame(self.X):
            self.schema = decided(self.X)
        if kind not in self._coded:
            coder = TableCoder(kind, self.schema)
            X = coder.fit_transform(self.X) if kind == "trees" else quietly(lambda: coder.fit_transform(self.X))
            self._coded[kind] = coder, X
        return self._coded[kind]

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.positive)

    def samples(self, X: Any, rows: Any = slice(None)) -> Data:
        """Return some rows, in an encoding X of the table."""
        return Data(X, self.positive, self.weight).take(rows)

    def partial_auc(self, rows: AnyArray, scores: F64) -> float:
        """Return the partial AUC of some rows."""
        _, positive, weight = self.samples(None, rows)
        return float(_core.Curve(positive, scores, weight, 1).measure(self._key))

    @cached_property
    def _key(self) -> Any:
        return PartialAUC(self.fpr_range).in_core

    def standings(self, rows: AnyArray, scores: list[F64], lead: float, n_threads: int = 1) -> list[Standing]:
        """Compare scores of some rows."""
        _, positive, weight = self.samples(None, rows)
        groups = None if self.groups is None else self.groups[rows]
        return standings(positive, scores, self.fpr_range, lead=lead, weight=weight, groups=groups, n_threads=n_threads)

    def over_folds(self, run: Run, function: Callable[[int], F64], *, small: bool) -> list[F64]:
        """Return the function of each fold; raise HopelessError if the first ones suffice to drop the family."""

        def checked(k: int) -> F64:
            run.check()
            return function(k)

        found: list[F64] = []
        for some in self.stages():
            found += run.map(checked, some, run.n_threads if small else 1)
            run.progress(len(found), len(self.folds))
            self.check_hope(found)
        return found

    def best_of_path(self, run: Run, path: Callable[[int], list[F64]]) -> tuple[list[F64], int, float]:
        """Return the scores of the folds at the best place of a path, the place, and its mean partial AUC."""
        scores: dict[int, list[F64]] = {}
        values: dict[int, list[float]] = {}

        def best_of_fold(k: int) -> F64:
            scores[k] = path(k)
            values[k] = [self.partial_auc(self.folds[k][1], one) for one in scores[k]]
            return scores[k][int(np.argmax(values[k]))]

        quietly(lambda: self.over_folds(run, best_of_fold, small=True))
        folds = range(len(self.folds))
        means = np.mean([values[k] for k in folds], axis=0)
        best = int(np.argmax(smoothed(means) if len(means) > 2 else means))
        return [scores[k][best] for k in folds], best, float(means[best])

    def stages(self) -> list[range]:
        """Return the first folds and the others, if it may be clear after the first that a family is hopeless."""
        n = len(self.folds)
        return [range(n)] if self.best is None or not self._may_stop else [range(_FIRST), range(_FIRST, n)]

    @property
    def _may_stop(self) -> bool:
        """Whether the first folds are to be looked at alone."""
        return self.n >= _MANY and len(self.folds) > _FIRST

    def check_hope(self, scores: list[F64]) -> None:
        """Raise HopelessError if a family is far worse on the first folds than the best so far."""
        if self.best is None or not self._may_stop or len(scores) > _FIRST:
            return
        own, _ = self._levelled(scores)  # the scales of two folds may differ, more so if each chose its C
        rows = np.flatnonzero(np.isfinite(own))
        if not self.standings(rows, [self.best[rows], own[rows]], self.lead + _HOPELESS)[1].kept:
            raise HopelessError(own)

    def found(
        self, scores: list[F64], chosen: dict[str, Any] | None = None, state: Any = None, *, log_odds: bool = False
    ) -> Found:
        """Return the result of the folds: their scores pooled, or their adjusted log-odds if folds are not alike."""
        if self.alike:
            if log_odds:
                scores = self._of_equal_shares(scores)
            return Found(pooled(self.folds, scores, self.n), chosen or {}, state)
        level, curve = self._levelled(scores)
        return Found(level, chosen or {}, state, curve)

    @property
    def alike(self) -> bool:
        """Whether every row is scored equally often, unlike by folds in the order of time, whose models differ more."""
        counts = np.bincount(np.concatenate([rows for _, rows in self.folds]), minlength=self.n)
        return bool(np.all(counts == counts[0]))

    def _of_equal_shares(self, scores: list[F64]) -> list[F64]:
        """Return log-odds as if folds had the overall share of positives: scores would rank folds, not classes."""
        whole, *odds = (self.samples(None, rows).log_odds for rows in (slice(None), *(rows for rows, _ in self.folds)))
        if np.ptp(odds) < _EQUAL:
            return scores
        # Rounded, so that scores that are equal in every fold stay equal.
        return [np.round(of - (own - whole), 12) for of, own in zip(scores, odds, strict=True)]

    def _levelled(self, scores: list[F64]) -> tuple[F64, tuple[float, float]]:
        """Return the pooled logits of the folds, each with its own logistic curve, and the mean curve."""
        curves = []
        for of, (_, held) in zip(scores, self.folds, strict=False):
            curves.append(sigmoid(of, *self.samples(None, held)[1:]))
        level = [slope * of + offset for (slope, offset), of in zip(curves, scores, strict=True)]
        slope, offset = np.mean(curves, axis=0)
        return pooled(self.folds, level, self.n), (float(slope), float(offset))

    def first_folds(self) -> "tuple[Folds, Folds | None]":
        """Return the data with the folds that suffice to choose by, and with the others, None if all are needed."""
        if not self._may_stop:
            return self, None
        return replace(self, folds=self.folds[:_FIRST]), replace(self, folds=self.folds[_FIRST:])

    def mean_partial_auc(self, scores: list[F64]) -> float:
        """Return the mean over the folds of the partial AUC."""
        pairs = zip(self.folds, scores, strict=True)
        return float(np.mean([self.partial_auc(held, of) for (_, held), of in pairs]))

    def once(self) -> "Folds":
        """Return the data with the first folds that score each row at most once."""
        count = np.zeros(self.n, dtype=int)
        for k, (_, rows) in enumerate(self.folds):
            count[rows] += 1
            if count.max() > 1:
                return replace(self, folds=self.folds[:k])
        return self

    def is_small(self, X: Any) -> bool:
        """Whether folds in parallel are faster than threads in each fold."""
        numbers: int = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]  # type: ignore[attr-defined]
        return numbers < SMALL
