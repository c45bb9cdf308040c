"""Paths fitted on the training part of each fold and scored on the rest, folds in parallel."""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv

from rocmax import _core
from rocmax._parameters import as_float, shown
from rocmax._runtime.threads import blas_threads, one_at_a_time
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import Design, Landmarks, SubsetDesign, as_design, is_stored
from rocmax.estimators._base import Data
from rocmax.estimators._callbacks import Task
from rocmax.estimators._certified import CertifiedRanker
from rocmax.estimators._training import Training
from rocmax.metrics import partial_auc_score
from rocmax.solvers import Model

Fold = tuple[AnyArray, AnyArray]  # rows to train on, rows to score

# Folds of fewer samples than _MANY are repeated, up to _MOST times: C is chosen by the luck of one split otherwise.
# Measured on hepatitis, wpbc and breast-cancer (155 to 286 rows, [0.02, 0.05]), four repeats are worth 0.01 to 0.02.
_MANY, _MOST = 1000, 4
# Surrogates that are not convex are validated at this multiple of `tol`. Measured on a9a, ijcnn1 and letter, C = 10 to
# 10,000: a third of the steps, and test partial AUCs that are higher as often as lower.
_ROUGHER = {"hinge": 10.0, "ramp": 10.0}
# Steps for each C of a fold. Measured on letter, phoneme, mammography and sick, where the range is learnt: at most 99.
# Samples fitted without error, because they are few or have more features, may take a thousand.
_MOST_STEPS = 150


def split(cv: Any, X: Any, labels: AnyArray, weight: F64 | None, params: dict[str, Any]) -> tuple[list[Fold], int]:
    """Return the folds of scikit-learn's `cv`, and their number of repeats, above 1 only if `cv` is a number.

    A number splits the samples of positive weight alone; a splitter receives every sample.
    """
    number = cv is None or isinstance(cv, Integral)
    if isinstance(cv, str | bytes | bytearray):
        raise ValueError(f"cv must be a number of folds, a splitter or a list of (train, test), got {shown(cv)}")
    kept = np.arange(len(labels)) if weight is None or not number else np.flatnonzero(weight > 0)
    labels = labels[kept]
    with one_at_a_time():
        splitter = check_cv(cv, labels, classifier=True)
    least = np.unique(labels, return_counts=True)[1].min()
    if number and least < splitter.n_splits:
        raise ValueError(
            f"cv={shown(splitter.n_splits)} folds need {shown(splitter.n_splits)} samples of each class, got {least} "
            "of one; use fewer folds"
        )
    repeats = min(_MOST, -(-_MANY // len(labels))) if number else 1
    if repeats > 1:
        splitter = RepeatedStratifiedKFold(n_splits=splitter.n_splits, n_repeats=repeats, random_state=0)
    with one_at_a_time():
        folds = list(splitter.split(labels, labels) if number else splitter.split(X, labels, **params))
    if number:
        folds = [(kept[train], kept[test]) for train, test in folds]
    return check_folds(folds, X.shape[0], weight), repeats


def check_folds(folds: Iterable[Any], n_samples: int, weight: F64 | None = None) -> list[Fold]:
    """Return the folds of any splitter as indices; none may lack samples of positive weight."""
    every = np.arange(n_samples)
    found = []
    for k, fold in enumerate(folds):
        try:
            train, test = (every[_index(rows)] for rows in fold)
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(
                f"cv: fold {k} must be a pair, the rows to train on and those to score, each as indices below "
                f"n_samples={n_samples} or as a mask: {error}"
            ) from error
        for rows, use in ((train, "train on"), (test, "score")):
            if not len(rows) or (weight is not None and not np.any(weight[rows] > 0)):
                raise ValueError(f"cv: fold {k} has no sample of positive weight to {use}, got {len(rows)} rows")
        found.append((train, test))
    if not found:
        raise ValueError("cv must yield at least one fold, got none")
    return found


def _index(rows: Any) -> AnyArray:
    found: AnyArray = np.asarray(rows)
    return found if found.size else found.astype(np.intp)


def check_one_score(estimator: Any) -> None:
    """Raise unless `scoring` is one measure."""
    if isinstance(estimator.scoring, dict | list | tuple | set):
        raise ValueError(f"scoring must be one measure, as a name or a callable, got {shown(estimator.scoring)}")
    if estimator.scoring is not None:
        check_scoring(estimator, estimator.scoring)


class Validation:
    """The folds of one data set: their models and scores.

    `estimator` has fpr_range, scoring, tol, max_iter, threshold and classes_; of `score_params`, those with an entry
    per sample are cut to the fold. With `landmarks` the models are linear in their features instead of X.
    """

    def __init__(
        self,
        estimator: CertifiedRanker,
        X: Any,
        positive: Bool,
        weight: F64 | None,
        *,
        folds: list[Fold],
        score_params: dict[str, Any],
        landmarks: Landmarks | None = None,
    ) -> None:
        for k, fold in enumerate(folds):
            for rows in fold:
                counted = rows if weight is None else rows[weight[rows] > 0]
                if len(np.unique(positive[counted])) < 2:
                    raise ValueError(f"cv: fold {k} leaves one class only; use fewer folds or stratified ones")
        self._estimator: Any = estimator
        self._X, self._positive, self._weight = X, positive, weight
        self._features = X if landmarks is None else landmarks.features(X)
        self._landmarks = landmarks
        self._folds, self._score_params = folds, score_params
        self._stop = threading.Event()

    def scores(self, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task) -> F64:
        """Return the scores, of shape (n_folds, n_surrogates, n_Cs); all folds are parts of `task`."""
        workers = min(threads, len(self._folds))
        inner = max(1, threads // workers)
        self._stop.clear()
        # Ctrl-C reaches the main thread only: the flag takes it to the folds.
        with blas_threads(inner), ThreadPoolExecutor(workers) as pool:
            futures = [
                pool.submit(self._fold, number, surrogates, Cs, inner, task) for number in range(len(self._folds))
            ]
            try:
                # A scorer of the user's is called here: scikit-learn's change the warning filters of the process.
                found = zip(futures, self._folds, strict=True)
                return np.array([self._scored(future.result(), rows) for future, (_, rows) in found])
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _fold(
        self, number: int, surrogates: tuple[str, ...], Cs: list[float], threads: int, task: Task
    ) -> list[list[Any]]:
        """Return the score of each surrogate and C; what makes a fitted ranker of it, where `scoring` is to say."""
        rows, rows_test = self._folds[number]
        design, positive, weight = self._part(rows)
        test = self._part(rows_test)

        def data() -> dict[str, Any]:
            metadata = None if weight is None else {"sample_weight": weight}
            return {"X": self._X[rows], "y": self._labels(positive), "metadata": metadata}

        part = task.subtask("fold", n_subtasks=len(surrogates) * len(Cs), number=number, data=data)
        training = Training(design, _core.Problem(positive, weight), self._estimator.fpr_range, threads)

        def attributes(model: Model) -> dict[str, Any]:
            found: dict[str, Any] = self._estimator._attributes(model, Data(None, positive, weight), self._landmarks)
            return found

        def found(surrogate: str) -> Iterator[Any]:
            tol = self._estimator.tol * _ROUGHER.get(surrogate, 1.0)
            steps = min(self._estimator.max_iter, _MOST_STEPS)
            path = training.path(surrogate, Cs, tol=tol, max_iter=steps, callback=self._check)
            for _ in Cs:
                one = part.subtask("fit")
                model = next(path).model
                yield self._partial_auc(model, test) if self._estimator.scoring is None else attributes(model)
                one.end(partial(attributes, model))

        every = [list(found(surrogate)) for surrogate in surrogates]
        part.end()
        return every

    def _check(self, *_: Any) -> None:
        if self._stop.is_set():
            raise InterruptedError

    def _part(self, rows: AnyArray) -> tuple[Design, Bool, F64 | None]:
        """Return the features, which are positive, and the weights of some rows; features in a file stay there."""
        X = self._features
        design = SubsetDesign(as_design(X), rows) if is_stored(X) else as_design(X[rows])
        return design, self._positive[rows], None if self._weight is None else self._weight[rows]

    def _labels(self, positive: Bool) -> AnyArray:
        return np.asarray(self._estimator.classes_[positive.astype(int)])

    def _partial_auc(self, model: Model, test: tuple[Design, Bool, F64 | None]) -> float:
        design, positive, weight = test
        fpr_range, scores = self._estimator.fpr_range, design.scores(model.vector)
        return float(partial_auc_score(positive, scores, fpr_range=fpr_range, sample_weight=weight, n_jobs=1))

    def _scored(self, found: list[list[Any]], rows: AnyArray) -> list[list[float]]:
        """Return the scores of what a fold has found, whose rows to score are given."""
        if self._estimator.scoring is None:
            return found
        X, labels = self._X[rows], self._labels(self._positive[rows])
        own = {name: rows_of(value, rows, len(self._positive)) for name, value in self._score_params.items()}
        return [[self._score(attributes, X, labels, own) for attributes in some] for some in found]

    def _score(self, attributes: dict[str, Any], X: Any, labels: AnyArray, params: dict[str, Any]) -> float:
        fitted = clone(self._estimator)
        fitted.classes_, fitted.n_features_in_ = self._estimator.classes_, self._estimator.n_features_in_
        fitted.__dict__.update(attributes)
        value = check_scoring(fitted, self._estimator.scoring)(fitted, X, labels, **params)
        if not isinstance(value, Real) or not isfinite(as_float(value)):
            scoring = shown(self._estimator.scoring)
            raise ValueError(f"scoring={scoring} must return one finite number, got {shown(value)}")
        return float(value)


def rows_of(value: Any, rows: AnyArray, n_samples: int) -> Any:
    """Return the given rows of a value that has one for each sample, others as they are."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_samples:
        return np.asarray(value)[rows]
    return value
