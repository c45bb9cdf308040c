"""The data that all families learn from, and the course of a fit: threads, time limit, reports, its stop."""

import threading
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config

from rocmax import _core
from rocmax._selection import Standing, smoothed, standings
from rocmax._tables._coder import TableCoder
from rocmax._tables._forms import is_frame
from rocmax._tables._schema import Schema, decided
from rocmax._typing import F64, AnyArray, Bool
from rocmax.estimators._base import Data, sigmoid
from rocmax.estimators._folds import Fold
from rocmax.metrics import PartialAUC

T = TypeVar("T")

# With fewer numbers than this, folds run in parallel and one thread grows each tree: threads of one tree would wait for
# each other after each split.
SMALL = 1_000_000


class EnsembleStep(NamedTuple):
    """A step of ``PartialAUCEnsembleClassifier.fit``, passed to its callback."""

    family: str
    stage: str  # "folds", or "refit" to all rows
    done: int  # finished parts of this stage: rounds of boosted trees, folds of other families
    total: int
    seconds: float  # since the fit began


class OutOfTimeError(Exception):
    """The time limit has passed."""


# What ends a family, and not the fit.
LIMITS = (OutOfTimeError, MemoryError)


class Run:
    """One fit; `report` is called with each step, in the thread that fits."""

    def __init__(self, n_threads: int, time_limit: float | None, report: Callable[[EnsembleStep], None]) -> None:
        self.n_threads = n_threads
        self._began, self._report = time.monotonic(), report
        self._limit = time_limit
        self.share = 1.0  # the usable share of the time limit
        self.limited = False  # whether work that is not finished by then is dropped
        self._stop = threading.Event()
        self.family, self.stage = "", "folds"

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds left."""
        return float("inf") if self._limit is None else self.share * self._limit - self.seconds

    def check(self) -> None:
        """Raise if the fit was stopped or its time is up; all work calls this at least once a second."""
        if self._stop.is_set():
            raise InterruptedError
        if self.limited and self.left <= 0:
            raise OutOfTimeError

    def progress(self, done: int, total: int) -> None:
        """Report a step."""
        self._report(EnsembleStep(self.family, self.stage, done, total, self.seconds))

    def map(
        self,
        function: Callable[[Any], T],
        items: Iterable[Any],
        workers: int = 1,
        begin: Callable[[], None] | None = None,
    ) -> list[T]:
        """Return the function of each item from threads that stop at `check` after Ctrl-C; each calls `begin` first."""
        settings = get_config()

        def work(item: Any) -> T:
            with config_context(**settings):
                return function(item)

        pool = ThreadPoolExecutor(max(1, workers), initializer=begin)
        try:
            futures: list[Future[T]] = [pool.submit(work, item) for item in items]
            done = [future.result() for future in futures]
        except BaseException as failure:
            over = isinstance(failure, LIMITS)
            if not over:
                self._stop.set()
            pool.shutdown(wait=over, cancel_futures=True)
            raise
        pool.shutdown()
        return done


def quietly(function: Callable[[], T]) -> T:
    """Call a function without the warnings of models that the user did not choose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


def pooled(folds: list[Fold], scores: list[AnyArray], n: int) -> AnyArray:
    """Return the mean score of each row over the folds that score it; NaN if none does."""
    total, count = np.zeros(n), np.zeros(n)
    for (_, rows), of_fold in zip(folds, scores, strict=False):
        np.add.at(total, rows, of_fold)
        np.add.at(count, rows, 1.0)
    return np.where(count > 0, total / np.maximum(count, 1.0), np.nan)


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
class FamilyResult:
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
        return float(_core.Curve(positive, scores, weight, 1).measure(PartialAUC(self.fpr_range).in_core))

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

        scores: list[F64] = []
        for some in self.stages():
            scores += run.map(checked, some, run.n_threads if small else 1)
            run.progress(len(scores), len(self.folds))
            self.check_hope(scores)
        return scores

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

    def result(
        self, scores: list[F64], chosen: dict[str, Any] | None = None, state: Any = None, *, log_odds: bool = False
    ) -> FamilyResult:
        """Return the result of the folds: their scores pooled, or their adjusted log-odds if folds are not alike."""
        counts = np.bincount(np.concatenate([rows for _, rows in self.folds]), minlength=self.n)
        if np.ptp(counts) == 0:  # unlike by folds in the order of time, whose models differ more
            if log_odds:
                scores = self._of_equal_shares(scores)
            return FamilyResult(pooled(self.folds, scores, self.n), chosen or {}, state)
        level, curve = self._levelled(scores)
        return FamilyResult(level, chosen or {}, state, curve)

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
