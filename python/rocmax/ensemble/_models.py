"""Families of scikit-learn's models and of the user's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from rocmax._checks.training import rows_of
from rocmax._parameters import shown
from rocmax._runtime.memory import available_memory
from rocmax._runtime.settings import settings
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray
from rocmax.ensemble._data import Data, Found
from rocmax.ensemble._run import Run, quietly
from rocmax.estimators._base import Ranker

# The resolution of probabilities of classifiers other than forests.
_FINEST = 1e4


def raw_scores(model: Any, X: Any) -> F64:
    """Return one score per row, higher for the positive class.

    It is ``decision_function``, of rankers of this package without the threshold, which differs between folds; else
    the log-odds of ``predict_proba``, where 0 and 1 are replaced by half a tree of a forest.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if isinstance(last, Ranker):
            found = found - float(last.intercept_[0])
        what = "decision_function"
    else:
        n = len(last.estimators_) if isinstance(last, ExtraTreesClassifier | RandomForestClassifier) else _FINEST
        probability = np.asarray(model.predict_proba(X), dtype=np.float64)
        p = probability[:, 1] if probability.ndim == 2 and probability.shape[1] == 2 else probability
        found = log_odds_of_votes(n * p, n)
        what = "predict_proba"
    if found.ndim != 1 or not np.isfinite(found).all():
        held = f"shape {found.shape}" if found.ndim != 1 else shown(found[~np.isfinite(found)][:1])
        raise ValueError(f"families: {what} of {type(last).__name__} must return one finite score a row, got {held}")
    return found


def log_odds_of_votes(votes: F64, n: float) -> F64:
    """Return the log-odds of the shares of n votes, to each of which half a vote is added."""
    return np.asarray(np.log(votes + 0.5) - np.log(n - votes + 0.5))


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
        X = X.astype(np.float32)
        small, as_sparse = data.is_small(X), sparse.issparse(X)
        n_threads = 1 if small else run.n_threads
        all_trees, fold_trees = settings().forest_trees
        # The trees of a forest with this seed: of two classes, squared error chooses the splits of gini. Regressors
        # grow them in 40 % of the time on 400 rows, where a forest's checks take longer than its trees.
        seeds = np.random.RandomState(data.seed).randint(2**31 - 1, size=fold_trees)
        options = {"check_input": as_sparse or not np.isfinite(X).all()}
        first, rest = data.first_folds()
        begun: dict[tuple[int, int], F64] = {}  # votes of the first trees, by rows of a leaf and fold

        def scored(part: Data, leaf: int, trees: range) -> list[F64]:
            """Return the log-odds of the votes of all trees before ``trees.stop``; the first have voted."""

            def held(k: int) -> F64:
                train, test = part.folds[k]
                X_train, positive, weight = data.samples(X, train)
                X_train, y, X_test = X_train.tocsc() if as_sparse else X_train, positive.astype(np.float64), X[test]

                def votes(seed: int) -> F64:
                    run.check()
                    tree = ExtraTreeRegressor(max_features="sqrt", min_samples_leaf=leaf, random_state=seed)
                    tree.fit(X_train, y, weight, **options)
                    return np.asarray(tree.predict(X_test, **options))

                total = begun.pop((leaf, k)) if trees.start else np.zeros(len(test))
                with config_context(skip_parameter_validation=True):
                    for some in range(trees.start, trees.stop, n_threads):
                        each = seeds[some : min(some + n_threads, trees.stop)]
                        total = sum(map(votes, each) if small else run.map(votes, each, n_threads), total)
                begun[leaf, k] = total
                return log_odds_of_votes(total, trees.stop)

            return part.over_folds(run, held, small=small)

        half = range(fold_trees // 2)
        least = leaf_size(data.n)
        leaves = sorted({max(least, leaf) for leaf in _LEAVES})
        tried = [first.mean_partial_auc(scored(first, leaf, half)) for leaf in leaves]
        leaf = leaves[int(np.argmax(tried))]
        scores = scored(first, leaf, range(half.stop, fold_trees))
        if rest is not None:
            data.check_hope(scores)
            scores += scored(rest, leaf, range(fold_trees))
        return data.found(scores, {"n_estimators": all_trees, "min_samples_leaf": leaf}, log_odds=True)

    def refit(self, data: Data, run: Run, found: Found) -> Pipeline:
        """Return the forest of all rows."""
        coder, X = data.coded("trees")
        forest = ExtraTreesClassifier(
            0, random_state=data.seed, warm_start=True, min_samples_leaf=found.chosen["min_samples_leaf"]
        )
        step = max(10 if data.n <= 2 * _ROWS else run.n_threads, _ROWS // data.n)

        def grow(n_trees: int) -> None:
            for n in range(step, n_trees + step, step):
                run.check()
                forest.set_params(n_estimators=min(n, n_trees), n_jobs=run.n_threads).fit(X, data.positive, data.weight)

        run.map(grow, [found.chosen["n_estimators"]])
        return Pipeline([("table", coder), ("model", forest.set_params(warm_start=False, n_jobs=1))])


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
