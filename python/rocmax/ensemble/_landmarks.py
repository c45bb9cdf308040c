"""The family of kernel machines on landmarks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from rocmax import _core
from rocmax._typing import F64
from rocmax.designs import Kernel, Landmarks, as_design
from rocmax.ensemble._data import Data, Found
from rocmax.ensemble._run import Run, quietly
from rocmax.estimators import PartialAUCSVC
from rocmax.estimators._landmarks import copied, first_of_both, ranks
from rocmax.estimators._training import Training

_N = 500
# Values of C by surrogate. Larger ones for "tight" take nine tenths of its time; on mammography, whose best C is 1,000,
# they are worse by 0.01 and more.
_CS = {"logistic": (1e1, 1e2, 1e3, 1e4, 1e5, 1e6), "tight": (1e1, 1e2, 1e3, 1e4)}
# Multiples of 1 / (n_features * variance of X) to choose the width from, and the surrogate that chooses.
_WIDTHS, _QUICK = (1.0, 0.3, 3.0), "logistic"
_TOL, _MOST_STEPS = 1e-2, 150
# The held-out scores of a surrogate and a fold at each C.
Known = dict[tuple[str, int], list[F64]]


@dataclass(frozen=True)
class LandmarkMachine:
    """PartialAUCSVC with 500 landmarks in single precision: width, surrogate and C by the mean over the folds.

    If folds are repeated, the first ones choose width and surrogate; with many rows, two folds choose the width.
    """

    name: str = "landmarks"

    def cross_fit(self, data: Data, run: Run) -> Found:
        """Choose width, surrogate and C; return the out-of-fold scores."""
        X = self._features(data)
        place = ranks(data.positive, data.weight, data.seed)
        points = copied(X, first_of_both(data.positive, place, _N))
        scale = Kernel.resolve("rbf", "scale", 3, 0.0, X, data.weight).gamma
        once = data.once()
        some, _ = once.first_folds()
        best: tuple[float, Any] = (-np.inf, None)
        for width in _WIDTHS:
            (space,) = run.map(lambda gamma: self._space(X, points, gamma, data), [width * scale])
            known: Known = {}
            scores, _, value = self._paths(some, run, space, _QUICK, known)
            data.check_hope(scores)
            if value > best[0]:
                best = value, (width * scale, space, known)
        gamma, space, known = best[1]
        values = {surrogate: self._paths(once, run, space, surrogate, known)[2] for surrogate in _CS}
        name = max(values, key=lambda surrogate: values[surrogate])
        scores, C, _ = self._paths(data, run, space, name, known)
        chosen = {"surrogate": name, "C": C, "gamma": float(gamma)}
        return data.found(scores, chosen, space)

    @staticmethod
    def _features(data: Data) -> Any:
        _, X = data.coded("linear")
        return X.toarray() if sparse.issparse(X) else X  # type: ignore[attr-defined]

    @staticmethod
    def _space(X: Any, points: Any, gamma: float, data: Data) -> tuple[Landmarks, Any]:
        landmarks = Landmarks(Kernel.resolve("rbf", gamma, 3, 0.0, X, data.weight), points)
        return landmarks, landmarks.features(X).astype(np.float32, copy=False)

    def _paths(
        self, data: Data, run: Run, space: tuple[Landmarks, Any], surrogate: str, known: Known
    ) -> tuple[list[F64], float, float]:
        """Return the out-of-fold scores of the best C, this C, and its mean partial AUC; add the folds to `known`."""
        (_, features), Cs = space, _CS[surrogate]

        def path(k: int) -> list[F64]:
            if (surrogate, k) in known:
                return known[surrogate, k]
            train, test = data.folds[k]
            part, positive, weight = data.samples(features, train)
            training = Training(as_design(part), _core.Problem(positive, weight), data.fpr_range, 1)
            held = as_design(features[test])
            found = []
            for result in training.path(surrogate, list(Cs), **_stop(run)):
                run.check()
                found.append(np.asarray(held.scores(result.model.vector)))
            known[surrogate, k] = found
            return found

        scores, best, value = data.best_of_path(run, path)
        return scores, Cs[best], value

    def refit(self, data: Data, run: Run, found: Found) -> Pipeline:
        """Return the machine of all rows."""
        coder, _ = data.coded("linear")
        landmarks, features = found.state
        surrogate, C = found.chosen["surrogate"], found.chosen["C"]

        problem = _core.Problem(data.positive, data.weight)
        training = Training(as_design(features), problem, data.fpr_range, run.n_threads)
        (result,) = quietly(lambda: run.map(lambda C: training.fit(surrogate, C, **_stop(run)), [C]))
        model = PartialAUCSVC(
            data.fpr_range, kernel="rbf", gamma=found.chosen["gamma"], C=C, n_landmarks=_N, random_state=data.seed
        )
        model.classes_, model.n_features_in_ = np.unique(data.labels), landmarks.points.shape[1]
        model._store(result, surrogate, data.samples(features), landmarks)
        model.intercept_ = model._intercept(result.model.scores, data.positive, data.weight)
        return Pipeline([("table", coder), ("model", model)])


def _stop(run: Run) -> dict[str, Any]:
    """Return the arguments that end a fit: tolerance, steps, or the end of the run."""
    return {"tol": _TOL, "max_iter": _MOST_STEPS, "callback": lambda *_: run.check()}
