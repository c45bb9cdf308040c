"""Families of scikit-learn's models and of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from rocmax._checks.training import rows_of
from rocmax._runtime.memory import available_memory
from rocmax._runtime.settings import settings
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray
from rocmax.ensemble._data import Data, Found
from rocmax.ensemble._run import Run, quietly
from rocmax.ensemble._scores import raw_scores

# Candidates for the least number of rows per leaf. On a9a, with noisy classes, 4 gains 0.1; on phoneme 1 gains 0.1.
_LEAVES = (1, 4)
# Rows times trees between two checks of the clock, unless ten trees have only twice as many; bytes of a node.
_ROWS, _NODE = 50_000, 96
# The share of the available memory that a forest may take, and the most rows per leaf that keep it within.
_SHARE, _LARGEST_LEAF = 0.3, 32
_CS = tuple(np.logspace(-4, 2, 7))
# The largest number of features for Newton's method.
_NEWTON = 500


@dataclass(frozen=True)
class ExtraTrees:
    """Extremely randomised trees of scikit-learn; the mean over the folds chooses the rows of a leaf.

    With many rows, two folds choose.
    """

    name: str = "extra_trees"

    def cross_fit(self, data: Data, run: Run) -> Found:
        """Choose the rows of a leaf and return the out-of-fold scores."""
        _, X = data.coded("trees")
        small = data.is_small(X)
        n_threads = 1 if small else run.n_threads
        all_trees, fold_trees = settings().forest_trees

        first, rest = data.first_folds()
        begun: dict[tuple[int, int], ExtraTreesClassifier] = {}  # forests of the first folds, by rows of a leaf

        def scored(part: Data, leaf: int, n_trees: int) -> list[F64]:
            def held(k: int) -> F64:
                train, test = part.folds[k]
                forest = begun.pop((leaf, k), None) if part is first else None
                forest = self._grown(data, X, train, run, n_threads, n_trees, forest or self._forest(data, leaf))
                if n_trees < fold_trees:
                    begun[leaf, k] = forest
                return raw_scores(forest, X[test])

            return part.over_folds(run, held, small=small)

        least = leaf_size(data.n)
        leaves = sorted({max(least, leaf) for leaf in _LEAVES})
        tried = [first.mean_partial_auc(scored(first, leaf, fold_trees // 2)) for leaf in leaves]
        leaf = leaves[int(np.argmax(tried))]
        scores = scored(first, leaf, fold_trees)
        begun.clear()
        if rest is not None:
            data.check_hope(scores)
            scores += scored(rest, leaf, fold_trees)
        return data.found(scores, {"n_estimators": all_trees, "min_samples_leaf": leaf}, log_odds=True)

    def refit(self, data: Data, run: Run, found: Found) -> Pipeline:
        """Return the forest of all rows."""
        coder, X = data.coded("trees")
        forest, every = self._forest(data, found.chosen["min_samples_leaf"]), np.arange(data.n)
        (forest,) = run.map(
            lambda trees: self._grown(data, X, every, run, run.n_threads, trees, forest), [found.chosen["n_estimators"]]
        )
        return Pipeline([("table", coder), ("model", forest.set_params(warm_start=False))])

    @staticmethod
    def _forest(data: Data, leaf: int) -> ExtraTreesClassifier:
        return ExtraTreesClassifier(0, random_state=data.seed, warm_start=True, min_samples_leaf=leaf)

    @staticmethod
    def _grown(
        data: Data, X: Any, rows: AnyArray, run: Run, n_threads: int, n_trees: int, forest: ExtraTreesClassifier
    ) -> ExtraTreesClassifier:
        """Return a forest with so many trees, grown a few at a time."""
        part, positive, weight = data.samples(X, rows)
        step = max(10 if len(rows) <= 2 * _ROWS else n_threads, _ROWS // len(rows))
        for n in range(forest.n_estimators + step, n_trees + step, step):
            run.check()
            forest.set_params(n_estimators=min(n, n_trees), n_jobs=n_threads).fit(part, positive, weight)
        return forest.set_params(n_jobs=1)


def leaf_size(n_rows: int) -> int:
    """Return the least number of rows per leaf: 1 unless the forest would be too large."""
    most = _SHARE * available_memory()
    return int(min(_LARGEST_LEAF, max(1, np.ceil(settings().forest_trees[0] * 2 * n_rows * _NODE / max(most, 1)))))


def fits_memory(n_rows: int) -> bool:
    """Whether a forest of this many rows fits in memory."""
    return leaf_size(n_rows) < _LARGEST_LEAF


@dataclass(frozen=True)
class Logistic:
    """Logistic regression of scikit-learn; the mean partial AUC over the folds chooses C."""

    name: str = "logistic_regression"

    def cross_fit(self, data: Data, run: Run) -> Found:
        """Choose C and return the out-of-fold scores."""
        _, X = data.coded("linear")

        def path(k: int) -> list[F64]:
            train, test = data.folds[k]
            part, positive, weight = data.samples(X, train)
            model, found = self._model(part), []
            for C in _CS:
                run.check()
                model.set_params(C=C).fit(part, positive, weight)
                found.append(np.asarray(model.decision_function(X[test]), dtype=np.float64))
            return found

        scores, best, _ = data.best_of_path(run, path)
        return data.found(scores, {"C": float(_CS[best])}, log_odds=True)

    def refit(self, data: Data, run: Run, found: Found) -> Pipeline:
        """Return the model of all rows."""
        coder, X = data.coded("linear")

        def made(_: Any) -> LogisticRegression:
            return self._model(X).set_params(C=found.chosen["C"]).fit(X, data.positive, data.weight)

        (model,) = quietly(lambda: run.map(made, [None]))
        return Pipeline([("table", coder), ("model", model)])

    @staticmethod
    def _model(X: Any) -> LogisticRegression:
        newton = not sparse.issparse(X) and X.shape[1] <= _NEWTON
        return LogisticRegression(solver="newton-cholesky" if newton else "lbfgs", warm_start=True, max_iter=200)


@dataclass(frozen=True)
class Own:
    """A classifier of the user, which receives X unchanged."""

    name: str
    estimator: Any

    def cross_fit(self, data: Data, run: Run) -> Found:
        """Return the out-of-fold scores."""
        if data.weight is not None and self._weights_as is None:
            warn(
                f"the family {self.name!r} takes no sample_weight: it is trained without weights, compared with them",
                UserWarning,
            )

        def held(k: int) -> F64:
            train, test = data.folds[k]
            model = self._fitted(data, train)
            return raw_scores(model, rows_of(data.X, test))

        return data.found(data.over_folds(run, held, small=False))

    def refit(self, data: Data, run: Run, found: Found) -> Any:
        """Return the classifier of all rows."""
        (model,) = run.map(lambda _: self._fitted(data, np.arange(data.n)), [None])
        return model

    def _fitted(self, data: Data, rows: AnyArray) -> Any:
        part, _, weight = data.samples(data.X, rows)
        params = {} if weight is None else {self._weights_as: weight} if self._weights_as else {}
        return clone(self.estimator).fit(part, data.labels[rows], **params)

    @property
    def _weights_as(self) -> str | None:
        """The argument of ``fit``, or of the last step of a pipeline, that takes weights; None without one."""
        if has_fit_parameter(self.estimator, "sample_weight"):
            return "sample_weight"
        if isinstance(self.estimator, Pipeline):
            name, last = self.estimator.steps[-1]
            if has_fit_parameter(last, "sample_weight"):
                return "sample_weight" if get_config()["enable_metadata_routing"] else f"{name}__sample_weight"
        return None
