"""Paths that are fitted on the training part of each fold and scored on the rest, in parallel."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import as_float, shown
from rocmax._runtime.settings import settings
from rocmax._runtime.threads import blas_threads
from rocmax._selection import error_over_folds, is_better
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import Design, RowSpace, Space, SubsetDesign, as_design, halves, is_stored
from rocmax.estimators._base import Data, middle_of_classes
from rocmax.estimators._callbacks import Task
from rocmax.estimators._folds import Fold
from rocmax.estimators._machine import CertifiedRanker
from rocmax.estimators._training import Training
from rocmax.metrics import PartialAUC
from rocmax.solvers import SolverResult

# The largest number of steps per C and fold. With 50, and _LEARNT at .35, 36 of 38 choices on 14 tables were the same
# and two a little poorer, in 1.5 times the time.
_MOST_STEPS = 20
# The relative gap at which a fit that stalls is lost; at smaller ones it is as good as the numbers allow.
_LOST = 0.01
# A path ends at a model whose risk is at most this share of the zero model's; or at most _LEARNT of it, if the mean
# score is _BEHIND standard errors below that of a smaller C. Scores may fall where a model has learnt less: on spambase
# that of the full range by .6 errors from C = .01 to .1, before it rises by a quarter; if small features rank best,
# over several C.
_FITTED, _LEARNT, _BEHIND = 0.02, 0.6, 0.5


def check_one_score(estimator: Any) -> None:
    """Raise unless `scoring` is one measure."""
    if isinstance(estimator.scoring, dict | list | tuple | set):
        raise ValueError(f"scoring must be one measure, as a name or a callable, got {shown(estimator.scoring)}")
    if estimator.scoring is not None:
        check_scoring(estimator, estimator.scoring)


class Validation:
    """The models of all folds of one data set, linear in its `features` or in a row space, and their scores."""

    def __init__(
        self,
        estimator: CertifiedRanker,
        data: Data,
        features: Any,
        *,
        folds: list[Fold],
        score_params: dict[str, Any],
        space: Space = None,
    ) -> None:
        self._estimator: Any = estimator
        self._X, self._positive, self._weight = data
        self._space, self._features = space, features
        self._folds, self._score_params = folds, score_params
        # All folds are held at a time: whether these would be too many copies of rows.
        self._whole = is_stored(features) or features.size > settings().fold_values
        self._stop = threading.Event()
        self._ended = False  # whether the paths of a surrogate end before larger C
        self._shares = np.zeros(len(folds))  # the risk of the last model of each fold, relative to the zero model's
        # Of each surrogate, C and fold: the coefficients or, if these are fewer, the held-out scores; and their zero.
        self._kept: dict[tuple[str, int, int], tuple[F64, float]] = {}

    def scores(
        self, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task, correction: float = 0.0
    ) -> F64:
        """Return the scores, of shape (n_folds, n_surrogates, n_Cs); each fold is a part of `task`.

        All folds fit one C before the next, so that they end a path together, given the `correction` of errors.
        """
        workers = min(threads, len(self._folds))
        inner = max(1, threads // workers)
        scores = np.empty((len(self._folds), len(surrogates), len(Cs)))
        folds = [self._fold(number, surrogates, Cs, inner, task) for number in range(len(self._folds))]
        # Ctrl-C reaches only the main thread; a flag passes it on to the folds.
        with blas_threads(inner), ThreadPoolExecutor(workers) as pool:
            try:
                for k, column in np.ndindex(scores.shape[1:]):
                    futures = [pool.submit(next, fold) for fold in folds]
                    # Scorers run in this thread, as scikit-learn's change the warning filters of the process.
                    found = zip(futures, self._folds, strict=True)
                    scores[:, k, column] = [self._scored(future.result(), rows) for future, (_, rows) in found]
                    behind = self._shares.max() <= _LEARNT and _is_behind(scores[:, k, : column + 1], correction)
                    self._ended = column + 1 < len(Cs) and (self._ended or behind)
                for fold in folds:
                    next(fold, None)
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        return scores

    def held_out(self, surrogate: str, column: int) -> Data:
        """Return all held-out samples with scores (X) at a value of C, from the middle of the classes of each model."""
        scores = []
        for number, (_, rows) in enumerate(self._folds):
            kept, zero = self._kept[surrogate, column, number]
            scores.append((kept if len(kept) == len(rows) else self._part(rows)[0].scores(kept)) - zero)
        data = Data(None, self._positive, self._weight).take(np.concatenate([rows for _, rows in self._folds]))
        return data._replace(X=np.concatenate(scores))

    def _fold(
        self, number: int, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task
    ) -> Iterator[Any]:
        """Yield the score of each surrogate and C; with `scoring`, the fitted attributes that it needs."""
        rows, rows_test = self._folds[number]
        design, positive, weight = self._part(rows, halved=True)
        test, positive_test, weight_test = self._part(rows_test)

        def data() -> dict[str, Any]:
            metadata = None if weight is None else {"sample_weight": weight}
            return {"X": self._X[rows], "y": self._labels(positive), "metadata": metadata}

        part = task.subtask("fold", n_subtasks=len(surrogates) * len(Cs), number=number, data=data)
        fpr_range = rate_range(self._estimator.fpr_range, "fpr_range")
        measured = PartialAUC(fpr_range).in_core
        training = Training(design, _core.Problem(positive, weight), fpr_range, threads, proves=False)

        known = Data(None, positive, weight), self._space
        steps = min(self._estimator.max_iter, _MOST_STEPS)
        for surrogate in surrogates:
            path = training.path(surrogate, Cs, tol=self._estimator.tol, max_iter=steps, callback=self._check)
            last: SolverResult | None = None
            for column in range(len(Cs)):
                one = part.subtask("fit")
                if last is None or not (self._ended or _is_last(last)):
                    last = next(path)
                    model, self._shares[number] = last.model, _risk_left(last)
                    held = test.scores(model.vector)
                    if self._estimator.scoring is None:
                        score = _core.Curve(positive_test, held, weight_test, 1).measure(measured)
                    else:
                        score = self._estimator._attributes(model, *known)
                    kept = min(held, model.vector, key=len), middle_of_classes(model.scores, positive, weight)
                self._kept[surrogate, column, number] = kept
                one.end(partial(self._estimator._attributes, model, *known))
                yield score
        part.end()

    def _check(self, *_: Any) -> None:
        if self._stop.is_set():
            raise InterruptedError

    def _part(self, rows: AnyArray, *, halved: bool = False) -> tuple[Design, Bool, F64 | None]:
        """Return features, labels and weights of rows; features in a file, or many, or `halved`, are not copied."""
        X = self._features
        if isinstance(self._space, RowSpace):
            design: Design = self._space.design(rows)
        else:
            whole = self._whole or (halved and halves(X, len(rows)))
            design = SubsetDesign(as_design(X), rows) if whole else as_design(X[rows])
        return design, self._positive[rows], None if self._weight is None else self._weight[rows]

    def _labels(self, positive: Bool) -> AnyArray:
        return np.asarray(self._estimator.classes_[positive.astype(int)])

    def _scored(self, found: Any, rows: AnyArray) -> float:
        """Return the score of the model of a fold on its held-out rows."""
        if self._estimator.scoring is None:
            return float(found)
        own = {name: rows_of(value, rows, len(self._positive)) for name, value in self._score_params.items()}
        fitted = clone(self._estimator)
        fitted.classes_, fitted.n_features_in_ = self._estimator.classes_, self._estimator.n_features_in_
        fitted.__dict__.update(found)
        X, labels = self._X[rows], self._labels(self._positive[rows])
        value = check_scoring(fitted, self._estimator.scoring)(fitted, X, labels, **own)
        if not isinstance(value, Real) or not isfinite(as_float(value)):
            scoring = shown(self._estimator.scoring)
            raise ValueError(f"scoring={scoring} must return one finite number, got {shown(value)}")
        return float(value)


def _risk_left(found: SolverResult) -> float:
    """Return the risk of a model as a share of that of the zero model."""
    return (found.objective - 0.5 * found.model.norm) / found.zero_objective


def _is_last(found: SolverResult) -> bool:
    """Whether a larger C has nothing to fit: hardly any risk is left, or rounding hides it."""
    return _risk_left(found) <= _FITTED or (found.status == "stalled" and found.gap > _LOST)


def _is_behind(scores: F64, correction: float) -> bool:
    """Whether the last of some values of C, the second axis, is worse than the best; False for a single fold."""
    lead = scores[:, scores.mean(axis=0).argmax()] - scores[:, -1]
    return correction > 0.0 and is_better(lead.mean(), error_over_folds(lead, correction), _BEHIND)


def rows_of(value: Any, rows: AnyArray, n_samples: int) -> Any:
    """Return the given rows of a value with an entry per sample; other values unchanged."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_samples:
        return np.asarray(value)[rows]
    return value
