"""What the models for partial AUC share once they are solved."""

from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax._warn import warn
from rocmax.designs import Design, Landmarks
from rocmax.estimators._base import warn_unconverged
from rocmax.estimators._callbacks import CallbackSupportMixin, StepReport, Steps, Task
from rocmax.estimators._kernel_base import KernelRanker, support_of
from rocmax.estimators._training import FULL, Surrogate
from rocmax.exceptions import ZeroModelWarning
from rocmax.solvers import Model, Progress, SolverResult

Data = tuple[Any, Bool, F64 | None]  # features, which are positive, weights
_RAMP = "use surrogate='ramp' or a wider fpr_range"


class PartialAUCModel(CallbackSupportMixin, KernelRanker):  # type: ignore[misc]
    """A ranker, linear or over a kernel, and the certificate it came with."""

    fpr_range: tuple[float, float]
    tol: float
    max_iter: int
    objective_: float
    dual_gap_: float
    n_iter_: int
    history_: dict[str, AnyArray]
    surrogate_: str
    verbose: int
    structure: float
    _coefs: F64

    def _steps(self, task: Task, data: Data, landmarks: Landmarks | None, report: StepReport | None = None) -> Steps:
        """Return what makes each step of the fit to all samples a part of a task."""
        return Steps(task, lambda model: self._attributes(model, data, landmarks), report)

    def _keep(
        self, result: SolverResult, steps: Steps, surrogate: Surrogate, data: Data, landmarks: Landmarks | None
    ) -> bool:
        """Set the fitted attributes; return whether the zero model would do as well."""
        X, positive, weight = data
        steps.close()
        self._store(result, surrogate, self._coefficients(result.model, data, landmarks))
        scores = None if "coef_" in vars(self) else result.model.scores
        zero = result.zero_will_do(self.tol)
        del result  # as much as the threshold takes
        self._set_threshold(X, positive, weight, scores)
        return zero

    @property
    def _is_dual(self) -> bool:
        """Whether models without landmarks are coefficients over the samples, not over the features."""
        return False

    def _coefficients(self, model: Model, data: Data, landmarks: Landmarks | None) -> dict[str, Any]:
        """Return what makes the scores of new samples: coefficients of features, or of the kernel with samples."""
        X, positive, weight = data
        if landmarks is not None:
            return {
                "landmarks_": landmarks.points,
                "dual_coef_": (landmarks.root @ model.vector)[None],
                "_coefs": model.vector.copy(),
                "_kernel": landmarks.kernel,
                "_samples": landmarks.points,
                "_support": slice(None),
            }
        if not self._is_dual:
            return {"coef_": model.vector[None].copy()}
        n, dual_coef = len(positive), self._dual_coef(model, positive, float(self.structure), weight)
        found = {"dual_coef_": dual_coef, "_coefs": model.vector[:n].copy()}
        if self._kernel.name == "linear":  # the vectors of a DualDesign end with these
            return found | {"coef_": model.vector[None, n:].copy()}
        return found | support_of(self._kernel, X, dual_coef)

    def _before(self, last: Any, design: Design, X: Any, landmarks: Landmarks | None) -> F64 | None:
        """Return the model of the last fit, None if there is none or it is of other features, samples or landmarks."""
        coefs = getattr(last, "_coefs", None)
        if landmarks is not None:
            same = landmarks.points is getattr(last, "landmarks_", None) and len(last._coefs) == landmarks.dim
            return coefs if same else None
        if self._is_dual:
            return design.adjoint(coefs[None])[0] if coefs is not None and len(coefs) == X.shape[0] else None
        coef = getattr(last, "coef_", None)
        return coef[0] if coef is not None and coef.shape[1] == X.shape[1] else None

    def _report(self, callback: StepReport | None) -> StepReport | None:
        if self.verbose < 2:
            return callback

        def report(progress: Progress) -> None:
            print(
                f"  {progress.step:<9}  objective {progress.objective:.6g}  gap {progress.gap:.2g}  "
                f"partial AUC {progress.partial_auc:.4f}"
            )
            if callback is not None:
                callback(progress)

        return report

    def _attributes(self, model: Model, data: Data, landmarks: Landmarks | None) -> dict[str, Any]:
        """Return what makes a fitted ranker of this one, of any model: its coefficients and its threshold."""
        _, positive, weight = data
        intercept = self._intercept(model.scores, positive, weight)
        return {**self._coefficients(model, data, landmarks), "intercept_": intercept}

    def _store(self, result: SolverResult, surrogate: Surrogate, coefficients: dict[str, Any]) -> None:
        own = getattr(surrogate, "__name__", type(surrogate).__name__)
        self.surrogate_ = surrogate if isinstance(surrogate, str) else own
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.n_iter_ = result.n_iter
        self.history_ = {
            name: np.array([getattr(progress, name) for progress in result.history])
            for name in ("objective", "bound", "partial_auc", "step")
        }
        self.__dict__.update(coefficients)

    def _warn(self, C: float, *, zero: bool, validated: bool = False) -> None:
        """Say what the certificate does not promise."""
        warn_unconverged(self)
        low, high = self.fpr_range
        named = getattr(self, "surrogate_", None)  # AUCSVC has neither a range nor a choice of surrogates
        # These fall along the difference of the means: zero is near because C is small, which validation may prefer.
        falls = (low, high) == FULL or named in ("auc", "logistic")
        if not zero or (validated and falls):
            return
        why = "raise C"
        if not falls:
            advice = "raise C or widen fpr_range" if named == "ramp" else _RAMP
            why = f"it cannot tell any direction from a constant score; {advice}"
        where = "" if named is None else f"on fpr_range=({float(low):g}, {float(high):g}) "
        whose = "" if named is None else f" for the {named} surrogate"
        warn(
            f"{where}with C={float(C):g} the zero model is within tol={float(self.tol):g} of optimal{whose}: {why}. "
            "The returned model is, of those within tol, the one that ranked the training samples best",
            ZeroModelWarning,
        )
