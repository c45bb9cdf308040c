"""Fits on one data set and range, for any surrogate and C, that share what does not depend on them."""

from collections.abc import Callable
from typing import Any

from rocmax import _core
from rocmax._typing import Bool
from rocmax.designs import as_design
from rocmax.risks import Difference, Hinge, Oracle, Ramp, Risk, Tight
from rocmax.solvers import Bundle, Callback, Model, Objective, SolverResult, minimise_convex, minimise_difference

_FULL = (0.0, 1.0)
_RISKS: dict[str, Callable[[tuple[float, float]], Risk]] = {"tight": Tight, "hinge": Hinge, "ramp": Ramp}
# The full-range model only starts the descent on a risk that is not convex: a rough one does.
_START_TOL = 1e-2

SURROGATES = tuple(_RISKS)


class Training:
    """Cuts depend on the surrogate alone, so every further C, or start of a descent, goes on with those there are."""

    def __init__(self, X: Any, positive: Bool, fpr_range: tuple[float, float], n_threads: int) -> None:
        self._design = as_design(X)
        self._problem = _core.Problem(positive)
        self._fpr_range = fpr_range
        self._n_threads = n_threads
        self._known: dict[tuple[str, tuple[float, float]], tuple[Oracle | Difference, Bundle]] = {}

    def fit(
        self,
        surrogate: str,
        C: float,
        *,
        tol: float,
        max_iter: int,
        start: Model | None = None,
        callback: Callback | None = None,
    ) -> SolverResult:
        """Fit one model; `start` is a model of the same data to begin from, such as that of the last C."""
        risk, bundle = self._bound(surrogate, self._fpr_range)
        if isinstance(risk, Oracle):
            return minimise_convex(
                risk, self._design, C, tol=tol, max_iter=max_iter, start=start, bundle=bundle, callback=callback
            )
        full, cuts = self._bound("tight", _FULL)
        assert isinstance(full, Oracle)
        rough = minimise_convex(
            full, self._design, C, tol=max(tol, _START_TOL), max_iter=max_iter, bundle=cuts, explore=False
        )
        objective = Objective(risk.whole, self._design, C)
        starts = [rough.model] + ([] if start is None else [start])
        return minimise_difference(
            risk,
            self._design,
            C,
            tol=tol,
            max_iter=max_iter,
            start=min(starts, key=lambda model: objective(model)[0]),
            bundle=bundle,
            callback=callback,
        )

    def _bound(self, surrogate: str, fpr_range: tuple[float, float]) -> tuple[Oracle | Difference, Bundle]:
        key = surrogate, fpr_range
        if key not in self._known:
            oracle = _RISKS[surrogate](fpr_range).bind(self._problem, self._n_threads)
            self._known[key] = oracle, Bundle(self._design)
        return self._known[key]
