"""Families of boosted trees, whose rounds are chosen by the mean partial AUC over the folds."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from rocmax._selection import is_better, paired_difference
from rocmax._typing import F64, AnyArray
from rocmax.boosting import PartialAUCBoostingClassifier, PartialAUCObjective
from rocmax.boosting._held_out import ERRORS_OF_SIZE, Candidate, best_round
from rocmax.boosting._libraries import LightGBM, _matrix, in_one_line
from rocmax.ensemble._data import FamilyResult, Folds, HopelessError, Run, composed, growth

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
    n_estimators: int = _MOST
    learning_rate: float = _RATE

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
        library, objective = self._library(data, 1 if small else run.n_threads), self._objective(data)
        folds: list[_Fold] = []
        n = 0
        for some in data.stages():
            folds += [self._begun(library, data, k, objective) for k in some]
            n = self._advanced(folds, n, data, run, library, small)
            best = _best(folds, n)

            def held(fold: _Fold, best: int = best) -> F64:
                raw = fold.booster.predict(
                    _matrix(X[fold.rows]), raw_score=True, num_iteration=best, num_threads=library.n_threads
                )
                return np.asarray(raw, dtype=np.float64)

            scores = run.map(held, folds, run.n_threads if small else 1)
            data.check_hope(scores)
        chosen = {"n_estimators": max(1, round(best * growth(data.folds, data.n)))}
        return data.result(scores, chosen, _mean(folds, n)[best - 1], log_odds=objective is None)

    def _advanced(self, folds: list[_Fold], n: int, data: Folds, run: Run, library: LightGBM, small: bool) -> int:
        """Add rounds until the mean over the folds stops improving; return the number that all folds have."""
        objective = self._objective(data)

        def advance(fold: _Fold) -> None:
            while len(fold.values) < n:
                run.check()
                fold.booster.update(fobj=None if objective is None else objective.lightgbm)
                (_, _, value, _), *_ = fold.booster.eval_valid(lambda s, _: ("", data.partial_auc(fold.rows, s), True))
                fold.values.append(value)

        workers = run.n_threads if small else 1
        while True:
            behind = any(len(fold.values) < n for fold in folds)
            if not behind and (n >= self.n_estimators or (n and n - _best(folds, n) > _PATIENCE)):
                return n
            n = n if behind else min(n + _STEP, self.n_estimators)
            run.map(advance, folds, workers, lambda: _silence(library))
            run.progress(n, self.n_estimators)
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

    def _library(self, data: Folds, n_threads: int) -> LightGBM:
        return LightGBM(self.params, self.learning_rate, data.seed, n_threads)

    def _objective(self, data: Folds) -> PartialAUCObjective | None:
        return PartialAUCObjective(data.fpr_range, blend=0.95, widen=4.0) if self.pairs else None

    @in_one_line("lightgbm")
    def refit(self, data: Folds, run: Run, result: FamilyResult) -> Pipeline:
        """Return the trees of all rows."""
        coder, X = data.coded("trees")
        params = self.params | {name: result.chosen[name] for name in LightGBM.small if name in result.chosen}
        n_threads = 1 if data.is_small(X) else run.n_threads
        library, objective = replace(self, params=params)._library(data, n_threads), self._objective(data)
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
            data.fpr_range, objective=objective or "log_loss", n_estimators=n, learning_rate=self.learning_rate,
            library_params=params or None, random_state=data.seed,
        )  # fmt: skip
        model.n_features_in_, model.classes_ = X.shape[1], np.unique(data.labels)
        model._set_trees(library, booster, objective or "log_loss")
        model.candidates_ = [Candidate(model.objective_, n, float(result.state))]
        here = np.isfinite(result.scores)
        model._calibrate(result.raw()[here], data.samples(None, here))
        result.curve = composed(result.curve, (1.0, -float(model.intercept_[0])))  # of decision_function
        return Pipeline([("table", coder), ("model", model)])


def _silence(library: LightGBM) -> None:
    """Make LightGBM silent in this thread: each thread has its own level, which is set when parameters are read."""
    library.library.Dataset(np.zeros((2, 1)), np.zeros(2), params=library._params()).construct()


def _mean(folds: list[_Fold], n: int) -> F64:
    """Return the mean over the folds after each round."""
    return np.asarray(np.mean([fold.values[:n] for fold in folds], axis=0))


def _best(folds: list[_Fold], n: int) -> int:
    """Return the number of rounds with the greatest smoothed mean."""
    return best_round(_mean(folds, n))
