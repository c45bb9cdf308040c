"""The result of a support vector machine: coefficients, certificate, warnings."""

from typing import Any

import numpy as np

from rocmax._checks.samples import rate_range
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.designs import Kernel, Landmarks, RowSpace, Space
from rocmax.estimators._base import Data, warn_if_constant, warn_unconverged
from rocmax.estimators._callbacks import CallbackSupportMixin, StepReport, Steps, Task
from rocmax.estimators._certificate import CertificateMixin, Proof
from rocmax.estimators._kernel_base import KernelRanker, support_of
from rocmax.estimators._surrogates import FULL, PROVEN, SURROGATES
from rocmax.estimators._training import Surrogate
from rocmax.exceptions import ZeroModelWarning
from rocmax.solvers import Model, SolverResult
from rocmax.solvers._result import relative_gap

# The default C for kernel="linear" and for other kernels, whose features are shorter. Chosen on the tuning half of the
# sets of benches/python/defaults.py: linear machines are equally good from 3 to 1,000, kernel machines best at 300 on
# the ranges [0, 0.05] and [0, 1] taken together.
_AUTO_C = {"linear": 100.0, "kernel": 300.0}
_LINEAR = Kernel("linear", None, 0.0, 0.0, 0.0)


class CertifiedRanker(CallbackSupportMixin, CertificateMixin, KernelRanker):
    """A support vector machine, linear or with a kernel, with a certified gap."""

    fpr_range: float | tuple[float, float] = FULL
    structure: float = 0.0
    tol: float | str
    max_iter: int
    verbose: int
    C_: float
    tol_: float

    def _steps(self, task: Task, data: Data, space: Space, report: StepReport | None = None) -> Steps:
        """Return the solver's callback, for which each step is a part of `task`."""
        return Steps(task, lambda model: self._attributes(model, data, space), report)

    def _keep(
        self, result: SolverResult, steps: Steps, surrogate: Surrogate, data: Data, space: Space
    ) -> tuple[float, F64]:
        """Set the fitted attributes; return how near to optimal the zero model is, or 0, and the training scores."""
        steps.close()
        self._store(result, surrogate, data, space)
        near, scores = result.zero_within(self.tol_), None if "coef_" in vars(self) else result.model.scores
        vars(result).clear()  # vectors over the samples, which a threshold does not need
        return near, self._set_threshold(data, scores)

    def _proved(self, result: SolverResult, surrogate: Surrogate, data: Data, space: Space) -> Proof | str:
        """Return the proof of the bound, or why there is none."""
        if result.proof is None or surrogate not in PROVEN:
            return f"surrogate_ is {self.surrogate_!r}, and must be one of {(*PROVEN,)} over all pairs"
        fpr_range = FULL if surrogate == "auc" else rate_range(self.fpr_range, "fpr_range")
        from_zero = SURROGATES[surrogate].from_zero if fpr_range[0] == 0 else None
        kernel = getattr(self, "_kernel", _LINEAR)
        if isinstance(space, Landmarks) or kernel.function is not None:
            return "it needs a kernel by name or kernel='precomputed', without landmarks"
        proof = Proof.of(
            result.proof,
            data,
            kernel,
            objective=result.objective,
            bound=result.bound,
            surrogate=from_zero or surrogate,
            fpr_range=fpr_range,
            C=self.C_,
            kernel_dtype=getattr(self, "kernel_dtype", "float64"),
            structure=float(self.structure),
            model=(self.coef_ if kernel.name == "linear" else self.dual_coef_)[0].copy(),
            tangent=result.tangent,
            before=result.before,
        )
        # The fit multiplies by the structured matrix, which single precision rounds otherwise than the kernel.
        other = kernel.name == "linear" or proof.known["kernel_dtype"] == "float32"
        return proof.by_samples(data) if self.structure and other else proof

    def _store(self, result: SolverResult, surrogate: Surrogate, data: Data, space: Space) -> None:
        """Set the fitted attributes except the threshold."""
        own = getattr(surrogate, "__name__", type(surrogate).__name__)
        self.surrogate_ = surrogate if isinstance(surrogate, str) else own
        self.history_ = {
            name: np.array([getattr(progress, name) for progress in result.history])
            for name in ("objective", "bound", "partial_auc", "step")
        }
        self.__dict__.update(self._coefficients(result.model, data, space))
        self._proof = self._proved(result, surrogate, data, space)
        known = self._proof.known if isinstance(self._proof, Proof) else vars(result)
        self.objective_, self.n_iter_ = known["objective"], result.n_iter
        self.dual_gap_ = relative_gap(known["objective"], known["bound"])

    @property
    def _is_dual(self) -> bool:
        """Whether models without landmarks have a coefficient per sample instead of per feature."""
        return False

    def _coefficients(self, model: Model, data: Data, space: Space) -> dict[str, Any]:
        """Return the attributes that score new samples."""
        X, positive, weight = data
        if isinstance(space, RowSpace):
            return {"coef_": space.vector(model.vector)[None]}
        if space is not None:
            return {
                "landmarks_": space.points,
                "dual_coef_": (space.root @ model.vector)[None],
                "_coefs": model.vector.copy(),
                "_kernel": space.kernel,
                "_samples": space.points,
                "_support": slice(None),
            }
        if not self._is_dual:
            return {"coef_": model.vector[None].copy()}
        n, dual_coef = len(positive), self._dual_coef(model, positive, float(self.structure), weight)
        found = {"dual_coef_": dual_coef, "_coefs": model.vector[:n].copy()}
        if self._kernel.name == "linear":  # the vectors of a DualDesign end with these
            return found | {"coef_": model.vector[None, n:].copy()}
        return found | support_of(self._kernel, X, dual_coef)

    def _attributes(self, model: Model, data: Data, space: Space) -> dict[str, Any]:
        """Return the fitted attributes of a model: coefficients, intercept and threshold."""
        found = self._coefficients(model, data, space)
        of_mean = space.of_mean(found["coef_"][0]) if isinstance(space, RowSpace) else 0.0
        return found | self._cut(data._replace(X=model.scores + of_mean))

    def _resolved_C(self, C: Any) -> Any:
        """Return C, with the default number for "auto"."""
        if isinstance(C, str) and C == "auto":
            return _AUTO_C["linear" if isinstance(self.kernel, str) and self.kernel == "linear" else "kernel"]
        return C

    def _warn(self, *, zero: float, scores: F64, validated: bool = False) -> None:
        """Warn of a gap above `tol`, of a constant model, and of a zero model that is nearly optimal."""
        warn_unconverged(self, self.tol_)
        low, high = rate_range(self.fpr_range, "fpr_range")
        # These risks decrease along the difference of the class means: only a small C, which validation may prefer,
        # keeps the model near zero.
        falls = (low, high) == FULL or (self.surrogate_ in SURROGATES and SURROGATES[self.surrogate_].steady)
        if not zero or (validated and falls):
            few = self.dual_gap_ > self.tol_ and self.n_iter_ >= self.max_iter
            warn_if_constant(scores, "raise max_iter" if few else "no feature separates the classes, or C is too small")
            return
        advice = "raise C"
        if not falls:
            other = "or widen fpr_range" if self.surrogate_ == "ramp" else "use surrogate='ramp' or a wider fpr_range"
            advice = "no direction improves on a constant score; " + (f"raise C {other}" if "widen" in other else other)
        warn(
            f"with C={self.C_:g} the zero model is within tol={zero:g} of optimal for {self._risk}: {advice}"
            ". The model that is returned is within tol too, and ranks the samples",
            ZeroModelWarning,
        )

    @property
    def _risk(self) -> str:
        """The risk, as messages name it."""
        low, high = rate_range(self.fpr_range, "fpr_range")
        return f"the {self.surrogate_} surrogate on fpr_range=({low:g}, {high:g})"
