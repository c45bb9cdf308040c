"""What the models for partial AUC share once they are solved."""

import warnings
from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import as_design
from rocmax.estimators._base import warn_unconverged
from rocmax.estimators._callbacks import CallbackSupportMixin
from rocmax.estimators._kernel_base import KernelRanker
from rocmax.estimators._thresholds import choose_threshold
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics._validation import rate_range
from rocmax.solvers import Model, SolverResult


class PartialAUCModel(CallbackSupportMixin, KernelRanker):  # type: ignore[misc]
    """A ranker, linear or over a kernel, and the certificate it came with."""

    _without_samples = ("precomputed", "linear")

    coef_: F64
    objective_: float
    dual_gap_: float
    n_iter_: int
    history_: dict[str, AnyArray]
    surrogate_: str

    def _scores(self, X: Any) -> F64:
        return as_design(X).scores(self.coef_[0]) if hasattr(self, "coef_") else super()._scores(X)

    def _attributes(self, model: Model, positive: Bool, weight: F64 | None) -> dict[str, Any]:
        """Return what makes a fitted ranker of this one: its coefficients and its threshold."""
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        threshold = choose_threshold(model.scores, positive, self.threshold, weight, fpr_range)
        return {"coef_": model.vector[None].copy(), "intercept_": np.array([-threshold])}

    def _store(self, result: SolverResult, surrogate: Any, attributes: dict[str, Any]) -> None:
        own = getattr(surrogate, "__name__", type(surrogate).__name__)
        self.surrogate_ = surrogate if isinstance(surrogate, str) else own
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.n_iter_ = result.n_iter
        self.history_ = {
            name: np.array([getattr(progress, name) for progress in result.history])
            for name in ("objective", "bound", "partial_auc", "step")
        }
        for name in ("coef_", "dual_coef_", "landmarks_", "gamma_", "_coefs"):
            self.__dict__.pop(name, None)  # of an earlier fit with another kernel
        self.__dict__.update(attributes)

    def _warn(self, result: SolverResult, C: float) -> None:
        """Say what the certificate does not promise; called from `fit`."""
        warn_unconverged(result, self.tol, self.max_iter, stacklevel=4)
        if result.zero_objective - result.bound <= self.tol * result.zero_objective:
            low, high = self.fpr_range
            advice = "widen fpr_range" if self.surrogate_ == "ramp" else "use surrogate='ramp' or a wider fpr_range"
            warnings.warn(
                f"on fpr_range=({float(low):g}, {float(high):g}) with C={float(C):g} the zero model is within "
                f"tol={float(self.tol):g} of optimal: the {self.surrogate_} surrogate cannot tell any direction from "
                f"a constant score; {advice}. "
                "The returned model is, of those within tol, the one that ranked the training samples best",
                ZeroModelWarning,
                stacklevel=3,
            )
