"""The families: boosted trees, scikit-learn's models, kernel machines on landmarks, and the user's own models."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from rocmax import _core
from rocmax._checks.training import rows_of
from rocmax._parameters import shown
from rocmax._runtime.memory import available_memory
from rocmax._runtime.settings import settings
from rocmax._runtime.warn import warn
from rocmax._selection import is_better, paired_difference
from rocmax._tables._coder import TableCoder
from rocmax._typing import F64, AnyArray
from rocmax.boosting import PartialAUCBoostingClassifier, PartialAUCObjective
from rocmax.boosting._classifier import ERRORS_OF_SIZE, Candidate, best_round
from rocmax.boosting._libraries import LightGBM, _matrix, imported, in_one_line, is_available
from rocmax.designs import Kernel, Landmarks, as_design
from rocmax.designs._spaces import points_of, ranks
from rocmax.ensemble._data import FamilyResult, Folds, HopelessError, Run, composed, quietly
from rocmax.estimators._base import middle_of_classes
from rocmax.estimators._machine import PartialAUCSVC
from rocmax.estimators._training import Training

# The largest number of rounds, the learning rate, the rounds without a better mean that end the search, and the rounds
# between two comparisons of the folds. Half the rate takes twice the time and gains -0.005 (standard error 0.007) with
# log loss and 0.002 (0.003) with random cuts: two splits of spambase, phoneme, mammography, a9a and covtype, at most
# 4,000 training rows, [0, 0.05].
_MOST, _RATE, _PATIENCE, _STEP = 1000, 0.1, 40, 10
# With fewer positives small trees are tried too, as by PartialAUCBoostingClassifier on a quarter of the rows.
_FEW_POSITIVES = 400


@dataclass(eq=False)
class _Fold:
    """The trees of a fold, and the partial AUC of its held-out rows after each round."""

    booster: Any
    rows: AnyArray
    values: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Boosted:
    """LightGBM with some parameters and an objective."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    pairs: bool = False

    @in_one_line("lightgbm")
    def cross_fit(self, data: Folds, run: Run) -> FamilyResult:
        """Choose the rounds, with few positives also the size of trees; return the out-of-fold scores."""
        result = self._cross_fitted(data, run)
        if self.params or np.count_nonzero(data.positive) >= _FEW_POSITIVES or run.left <= 0:
            return result
        try:
            smaller = replace(self, params=LightGBM.small)._cross_fitted(data, run)
        except HopelessError:
            return result
        smaller.chosen |= LightGBM.small
        rows = np.flatnonzero(np.isfinite(result.scores))
        _, positive, weight = data.samples(None, rows)
        gain = paired_difference(positive, smaller.scores[rows], result.scores[rows], data.fpr_range, weight=weight)
        return smaller if is_better(*gain, ERRORS_OF_SIZE) else result

    def _cross_fitted(self, data: Folds, run: Run) -> FamilyResult:
        """Choose the rounds and return the out-of-fold scores, with the mean partial AUC as state."""
        _, X = data.coded("trees")
        small = data.is_small(X)
        library = LightGBM(self.params, _RATE, data.seed, 1 if small else run.n_threads)
        objective = self._objective(data)
        folds: list[_Fold] = []
        n = 0
        for some in data.stages():
            folds += [self._begun(library, data, k, objective) for k in some]
            n = self._advanced(folds, n, data, run, library, small)
            means = _means(folds, n)
            best = best_round(means)

            def held(fold: _Fold, best: int = best) -> F64:
                raw = fold.booster.predict(
                    _matrix(X[fold.rows]), raw_score=True, num_iteration=best, num_threads=library.n_threads
                )
                return np.asarray(raw, dtype=np.float64)

            scores = run.map(held, folds, run.n_threads if small else 1)
            data.check_hope(scores)
        # The rows over those a fold trains on: 5/4 for five folds, 3/2 for three, at most that.
        growth = min(1.5, data.n / float(np.mean([len(train) for train, _ in data.folds])))
        chosen = {"n_estimators": max(1, round(best * growth))}
        return data.result(scores, chosen, means[best - 1], log_odds=objective is None)

    def _advanced(self, folds: list[_Fold], n: int, data: Folds, run: Run, library: LightGBM, small: bool) -> int:
        """Add rounds until the mean over the folds stops improving; return the number that all folds have."""
        objective = self._objective(data)

        def advance(fold: _Fold) -> None:
            while len(fold.values) < n:
                run.check()
                fold.booster.update(fobj=None if objective is None else objective.lightgbm)
                (_, _, value, _), *_ = fold.booster.eval_valid(lambda s, _: ("", data.partial_auc(fold.rows, s), True))
                fold.values.append(value)

        def silence() -> None:  # in each thread: its level is set when parameters are read
            library.library.Dataset(np.zeros((2, 1)), np.zeros(2), params=library._params()).construct()

        workers = run.n_threads if small else 1
        while True:
            behind = any(len(fold.values) < n for fold in folds)
            if not behind and (n >= _MOST or (n and n - best_round(_means(folds, n)) > _PATIENCE)):
                return n
            n = n if behind else min(n + _STEP, _MOST)
            run.map(advance, folds, workers, silence)
            run.progress(n, _MOST)
            if run.left <= 0:  # only in the first family, which always finishes
                return n

    def _begun(self, library: LightGBM, data: Folds, k: int, objective: Any) -> _Fold:
        """Return a fold before its first round, with the bins of all rows."""
        parts = data.shared.setdefault("lightgbm folds", {})
        train, test = data.folds[k]
        if k not in parts:
            whole = self._whole(library, data)
            parts[k] = whole.subset(np.sort(train).tolist()), whole.subset(test.tolist())
            for part in parts[k]:
                part.construct().set_init_score(np.full(part.num_data(), data.samples(None, train).log_odds))
        params = library._params() | {"objective": "binary" if objective is None else "none"}
        booster = library.library.Booster(params, parts[k][0])
        booster.add_valid(parts[k][1], "held")
        return _Fold(booster, test)

    def _whole(self, library: LightGBM, data: Folds) -> Any:
        """Return the Dataset of all rows."""
        if "lightgbm" not in data.shared:
            coder, X = data.coded("trees")
            names = list(range(X.shape[1] - len(coder.schema_.categories), X.shape[1]))
            made = library.rows(X, data.positive, data.weight)
            made.set_categorical_feature(names if names else "auto")
            data.shared["lightgbm"] = made.construct()
        return data.shared["lightgbm"]

    def _objective(self, data: Folds) -> PartialAUCObjective | None:
        return PartialAUCObjective(data.fpr_range, blend=0.95, widen=4.0) if self.pairs else None

    @in_one_line("lightgbm")
    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Pipeline:
        """Return the trees of all rows."""
        coder, X = data.coded("trees")
        params = self.params | {name: result.chosen[name] for name in LightGBM.small if name in result.chosen}
        n_threads = 1 if data.is_small(X) else run.n_threads
        library, objective = LightGBM(params, _RATE, data.seed, n_threads), self._objective(data)
        n = result.chosen["n_estimators"]
        whole = self._whole(library, data)
        whole.set_init_score(np.full(data.n, data.samples(None).log_odds))
        full = library._params() | {"objective": "binary" if objective is None else "none"}

        def made(n: int) -> Any:
            booster = library.library.Booster(full, whole)  # in this thread, which it makes silent
            for _ in range(n):
                run.check()
                booster.update(fobj=None if objective is None else objective.lightgbm)
            return library.first(booster, n)

        (booster,) = run.map(made, [n])
        model = PartialAUCBoostingClassifier(
            data.fpr_range, objective=objective or "log_loss", n_estimators=n, learning_rate=_RATE,
            library_params=params or None, random_state=data.seed,
        )  # fmt: skip
        model.n_features_in_, model.classes_ = X.shape[1], np.unique(data.labels)
        model._set_trees(library, booster, objective or "log_loss")
        model.candidates_ = [Candidate(model.objective_, n, float(result.state))]
        here = np.isfinite(result.scores)
        model._calibrate(result.raw()[here], data.samples(None, here))
        result.curve = composed(result.curve, (1.0, -float(model.intercept_[0])))  # of decision_function
        return Pipeline([("table", coder), ("model", model)])


def _means(folds: list[_Fold], n: int) -> F64:
    """Return the mean over the folds after each round."""
    return np.asarray(np.mean([fold.values[:n] for fold in folds], axis=0))


# The resolution of probabilities of classifiers other than forests.
_FINEST = 1e4


def importances(model: Any, names: list[Any]) -> F64 | None:
    """Return the share of each column in the gain of splits, or in absolute weights; None if a model has neither."""
    coder, machine = (model[0], model[-1]) if isinstance(model, Pipeline) else (None, model)
    gains = getattr(machine, "feature_importances_", None)
    if gains is None and isinstance(machine, PartialAUCSVC):  # of landmarks
        return None
    gains = np.ravel(np.abs(getattr(machine, "coef_", ()) if gains is None else gains)).astype(np.float64)
    columns = [*range(len(names))]
    if isinstance(coder, TableCoder):
        place = {name: k for k, name in enumerate(names)}
        columns = [place[one.column] for one in coder.features()] or [*columns, *coder.holes_.tolist()]
    if len(gains) != len(columns):
        return None
    return np.bincount(columns, gains, len(names)) / max(float(gains.sum()), float(np.finfo(float).tiny))


def raw_scores(model: Any, X: Any) -> F64:
    """Return one score per row: ``decision_function``, or the log-odds of ``predict_proba`` away from 0 and 1."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    what = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    scores = np.asarray(getattr(model, what)(X), dtype=np.float64)
    if what == "predict_proba":
        n = len(last.estimators_) if isinstance(last, ExtraTreesClassifier | RandomForestClassifier) else _FINEST
        p = scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
        scores = log_odds_of_votes(n * p, n)
    if scores.ndim != 1 or not np.isfinite(scores).all():
        held = f"shape {scores.shape}" if scores.ndim != 1 else shown(scores[~np.isfinite(scores)][:1])
        raise ValueError(f"families: {what} of {type(last).__name__} must return one finite score a row, got {held}")
    return scores


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
    """Extremely randomised trees; the mean over the folds (with many rows two) chooses the rows of a leaf."""

    name: str = "extra_trees"

    def cross_fit(self, data: Folds, run: Run) -> FamilyResult:
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

        def scored(part: Folds, leaf: int, trees: range) -> list[F64]:
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
        each = [zip(first.folds, scored(first, leaf, half), strict=True) for leaf in leaves]
        tried = [np.mean([first.partial_auc(held, of) for (_, held), of in pairs]) for pairs in each]
        leaf = leaves[int(np.argmax(tried))]
        scores = scored(first, leaf, range(half.stop, fold_trees))
        if rest is not None:
            data.check_hope(scores)
            scores += scored(rest, leaf, range(fold_trees))
        return data.result(scores, {"n_estimators": all_trees, "min_samples_leaf": leaf}, log_odds=True)

    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Pipeline:
        """Return the forest of all rows."""
        coder, X = data.coded("trees")
        forest = ExtraTreesClassifier(
            0, random_state=data.seed, warm_start=True, min_samples_leaf=result.chosen["min_samples_leaf"]
        )
        step = max(10 if data.n <= 2 * _ROWS else run.n_threads, _ROWS // data.n)

        def grow(n_trees: int) -> None:
            for n in range(step, n_trees + step, step):
                run.check()
                forest.set_params(n_estimators=min(n, n_trees), n_jobs=run.n_threads).fit(X, data.positive, data.weight)

        run.map(grow, [result.chosen["n_estimators"]])
        forest.set_params(warm_start=False, n_jobs=1)._sample_weight = None  # of all rows, for bootstrap samples
        return Pipeline([("table", coder), ("model", forest)])


def leaf_size(n_rows: int) -> int:
    """Return the least number of rows per leaf: 1 unless the forest would be too large."""
    most = _SHARE * available_memory()
    return int(min(_LARGEST_LEAF, max(1, np.ceil(settings().forest_trees[0] * 2 * n_rows * _NODE / max(most, 1)))))


@dataclass(frozen=True)
class Logistic:
    """Logistic regression of scikit-learn; the mean partial AUC over the folds chooses C."""

    name: str = "logistic_regression"

    def cross_fit(self, data: Folds, run: Run) -> FamilyResult:
        """Choose C and return the out-of-fold scores."""
        _, X = data.coded("linear")

        def path(k: int) -> list[F64]:
            train, test = data.folds[k]
            part, positive, weight = data.samples(X, train)
            model, scores = self._model(part), []
            for C in _CS:
                run.check()
                model.set_params(C=C).fit(part, positive, weight)
                scores.append(np.asarray(model.decision_function(X[test]), dtype=np.float64))
            return scores

        scores, best, _ = data.best_of_path(run, path)
        return data.result(scores, {"C": float(_CS[best])}, log_odds=True)

    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Pipeline:
        """Return the model of all rows."""
        coder, X = data.coded("linear")

        def made(_: Any) -> LogisticRegression:
            return self._model(X).set_params(C=result.chosen["C"]).fit(X, data.positive, data.weight)

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

    def cross_fit(self, data: Folds, run: Run) -> FamilyResult:
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

        return data.result(data.over_folds(run, held, small=False))

    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Any:
        """Return the classifier of all rows."""
        (model,) = run.map(lambda _: self._fitted(data, np.arange(data.n)), [None])
        return model

    def _fitted(self, data: Folds, rows: AnyArray) -> Any:
        part, _, weight = data.samples(data.X, rows)
        params = {} if weight is None else {self._weights_as: weight} if self._weights_as else {}
        try:
            return clone(self.estimator).fit(part, data.labels[rows], **params)
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(f"families: {self.name!r} cannot be fitted: {error}") from error

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


_N = 500  # landmarks
# Values of C by surrogate. Larger ones for "tight" take nine tenths of its time; on mammography, whose best C is 1,000,
# they are worse by 0.01 and more.
_LANDMARK_CS = {"logistic": (1e1, 1e2, 1e3, 1e4, 1e5, 1e6), "tight": (1e1, 1e2, 1e3, 1e4)}
# Multiples of 1 / (n_features * variance of X) to choose the width from, and the surrogate that chooses.
_WIDTHS, _QUICK = (1.0, 0.3, 3.0), "logistic"
_TOL, _MOST_STEPS = 1e-2, 150
# The held-out scores of a surrogate and a fold at each C.
Known = dict[tuple[str, int], list[F64]]


@dataclass(frozen=True)
class LandmarkMachine:
    """PartialAUCSVC with 500 landmarks; the mean over the first folds chooses width and surrogate, that over all C."""

    name: str = "landmarks"

    def cross_fit(self, data: Folds, run: Run) -> FamilyResult:
        """Choose width, surrogate and C; return the out-of-fold scores."""
        _, X = data.coded("linear")
        X = X.toarray() if sparse.issparse(X) else X  # type: ignore[attr-defined]
        place = ranks(data.positive, data.weight, data.seed)
        points = points_of(X, data.positive, place, _N)
        scale = Kernel.resolve("rbf", "scale", 3, 0.0, X, data.weight).gamma
        once = data.once()
        some, _ = once.first_folds()
        best: tuple[float, Any] = (-np.inf, None)

        def made(gamma: float) -> tuple[Landmarks, Any]:
            landmarks = Landmarks(Kernel.resolve("rbf", gamma, 3, 0.0, X, data.weight), points)
            return landmarks, landmarks.features(X).astype(np.float32, copy=False)

        for width in _WIDTHS:
            (space,) = run.map(made, [width * scale])
            known: Known = {}
            scores, _, value = self._paths(some, run, space, _QUICK, known)
            data.check_hope(scores)
            if value > best[0]:
                best = value, (width * scale, space, known)
        gamma, space, known = best[1]
        values = {surrogate: self._paths(once, run, space, surrogate, known)[2] for surrogate in _LANDMARK_CS}
        name = max(values, key=lambda surrogate: values[surrogate])
        scores, C, _ = self._paths(data, run, space, name, known)
        chosen = {"surrogate": name, "C": C, "gamma": float(gamma)}
        return data.result(scores, chosen, space)

    def _paths(
        self, data: Folds, run: Run, space: tuple[Landmarks, Any], surrogate: str, known: Known
    ) -> tuple[list[F64], float, float]:
        """Return the out-of-fold scores of the best C, this C, and its mean partial AUC; add the folds to `known`."""
        (_, features), Cs = space, _LANDMARK_CS[surrogate]

        def path(k: int) -> list[F64]:
            if (surrogate, k) in known:
                return known[surrogate, k]
            train, test = data.folds[k]
            part, positive, weight = data.samples(features, train)
            training = Training(as_design(part), _core.Problem(positive, weight), data.fpr_range, 1)
            held = as_design(features[test])
            scores = []
            for result in training.path(surrogate, list(Cs), **_stop(run)):
                run.check()
                zero = middle_of_classes(result.model.scores, positive, weight)  # as in `refit`
                scores.append(held.scores(result.model.vector) - zero)
            known[surrogate, k] = scores
            return scores

        scores, best, value = data.best_of_path(run, path)
        return scores, Cs[best], value

    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Pipeline:
        """Return the machine of all rows."""
        coder, _ = data.coded("linear")
        landmarks, features = result.state
        surrogate, C = result.chosen["surrogate"], result.chosen["C"]

        problem = _core.Problem(data.positive, data.weight)
        training = Training(as_design(features), problem, data.fpr_range, run.n_threads)
        (fitted,) = quietly(lambda: run.map(lambda C: training.fit(surrogate, C, **_stop(run)), [C]))
        model = PartialAUCSVC(
            data.fpr_range, kernel="rbf", gamma=result.chosen["gamma"], C=C, n_landmarks=_N, random_state=data.seed
        )
        model.classes_, model.n_features_in_ = np.unique(data.labels), landmarks.points.shape[1]
        model._store(fitted, surrogate, data.samples(features), landmarks)
        model.__dict__.update(model._cut(data.samples(fitted.model.scores)))
        return Pipeline([("table", coder), ("model", model)])


def _stop(run: Run) -> dict[str, Any]:
    """Return the arguments that end a fit: tolerance, steps, or the end of the run."""
    return {"tol": _TOL, "max_iter": _MOST_STEPS, "callback": lambda *_: run.check()}


# The least number of rows for pairs of the range, and the largest numbers of rows and features for landmarks.
_PAIRS, _LANDMARKS, _FEATURES = 20_000, 50_000, 500


Family = Boosted | ExtraTrees | Logistic | LandmarkMachine | Own
# In the order in which they are tried, the cheap and good ones first.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Boosted("lightgbm"),
        Logistic(),
        Boosted("lightgbm_pairs", pairs=True),
        Boosted("lightgbm_extra_trees", {"extra_trees": True, "feature_fraction": 0.8}),
        ExtraTrees(),
        LandmarkMachine(),
    )
}


def families_of(families: Any) -> list[Family] | None:
    """Return the given families, None for "auto"."""
    if isinstance(families, str) and families == "auto":
        return None
    listed = isinstance(families, Sequence) and not isinstance(families, str) and len(families) > 0
    chosen: dict[str, Family] = {}
    for one in families if listed else [families]:
        name, own = one if isinstance(one, tuple | list) and len(one) == 2 else (one, None)
        named = listed and isinstance(name, str) and name not in chosen
        scores = hasattr(own, "decision_function") or hasattr(own, "predict_proba")
        fits = hasattr(own, "fit") and not isinstance(own, type) and (scores or is_classifier(own))
        if not named or not (fits or (one is name and name in FAMILIES)):
            raise ValueError(
                f"families must be 'auto' or a list of different names, of {', '.join(map(repr, FAMILIES))}, and of "
                f"pairs (name, estimator with fit and decision_function or predict_proba), got {shown(one)}"
            )
        if own is None and name.startswith("lightgbm"):
            imported("lightgbm")
        chosen[name] = FAMILIES[name] if own is None else Own(name, own)
    return list(chosen.values())


def suitable(data: Folds) -> list[Family]:
    """Return the families that "auto" tries."""
    _, X = data.coded("linear")
    names = ["logistic_regression"]
    if is_available("lightgbm"):
        names = ["lightgbm", *names, "lightgbm_extra_trees"] + (["lightgbm_pairs"] if data.n >= _PAIRS else [])
    if leaf_size(data.n) < _LARGEST_LEAF and not (sparse.issparse(data.X) and X.shape[1] > _FEATURES):
        names.append("extra_trees")
    if data.n <= _LANDMARKS and X.shape[1] <= _FEATURES:
        names.append("landmarks")
    return [FAMILIES[name] for name in names]
