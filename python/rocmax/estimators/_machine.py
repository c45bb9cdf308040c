"""The support vector machine behind AUCSVC and PartialAUCSVC: one fit for every kernel, pair list and surrogate."""

from typing import Any, Self

import numpy as np

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import (
    check_callback,
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_positive,
    check_verbose,
)
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.designs import Design, DualDesign, Kernel, Landmarks, RowSpace, Space, plain_coefficients
from rocmax.estimators import _kernels as kernels
from rocmax.estimators._base import Data, atomic, check_threshold, last_fit, warn_if_constant, warn_unconverged
from rocmax.estimators._callbacks import CallbackSupportMixin, StepReport, Steps, Task, whole_fit
from rocmax.estimators._certificate import CertificateMixin, Proof
from rocmax.estimators._kernels import KernelRanker
from rocmax.estimators._surrogates import FULL, PROVEN, SURROGATES
from rocmax.estimators._training import Surrogate, Training, check_tol
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics.variances._resample import check_seed, seed_of
from rocmax.solvers import Model, Progress, SolverResult
from rocmax.solvers._objective import relative_gap

# The default C for kernel="linear" and for other kernels, whose features are shorter. Chosen on the tuning half of the
# sets of benches/python/defaults.py: linear machines are equally good from 3 to 1,000, kernel machines best at 300 on
# the ranges [0, 0.05] and [0, 1] taken together.
_AUTO_C = {"linear": 100.0, "kernel": 300.0}
_LINEAR = Kernel("linear", None, 0.0, 0.0, 0.0)


class CertifiedRanker(CallbackSupportMixin, CertificateMixin, KernelRanker):
    """A support vector machine, linear or with a kernel, with a certified gap."""

    _also_fitted = "C_", "tol_", "objective_", "dual_gap_", "n_iter_", "history_", "surrogate_"
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
            result.proof, data, kernel, objective=result.objective, bound=result.bound, C=self.C_,
            surrogate=from_zero or surrogate, fpr_range=fpr_range, structure=float(self.structure),
            kernel_dtype=getattr(self, "kernel_dtype", "float64"), tangent=result.tangent, before=result.before,
            model=(self.coef_ if kernel.name == "linear" else self.dual_coef_)[0].copy(),
        )  # fmt: skip
        # The fit multiplies by the structured matrix, which single precision rounds otherwise than the kernel.
        other = kernel.name == "linear" or proof.known["kernel_dtype"] == "float32"
        return proof.by_samples(data) if self.structure and other else proof

    def _store(self, result: SolverResult, surrogate: Surrogate, data: Data, space: Space) -> None:
        """Set the fitted attributes except the threshold."""
        own = "hinge" if isinstance(surrogate, _core.PairList) else type(surrogate).__name__
        self.surrogate_ = surrogate if isinstance(surrogate, str) else getattr(surrogate, "__name__", own)
        self.history_ = {
            name: np.array([getattr(progress, name) for progress in result.history])
            for name in ("objective", "bound", "partial_auc", "step")
        }
        self.__dict__.update(self._coefficients(result.model, data, space))
        if "coef_" in vars(self):
            result.model = result.model._replace(scores=np.zeros(0))  # a threshold makes its own
        self._proof = self._proved(result, surrogate, data, space)
        known = self._proof.known if isinstance(self._proof, Proof) else vars(result)
        self.objective_, self.n_iter_ = known["objective"], result.n_iter
        self.dual_gap_ = relative_gap(known["objective"], known["bound"])

    @property
    def _is_dual(self) -> bool:
        """Whether models without landmarks have a coefficient per sample instead of per feature."""
        return bool(self.kernel != "linear")

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
        n, coefs = len(positive), model.vector[: len(positive)].copy()
        plain, structure = coefs.copy(), float(self.structure)
        if structure:
            plain = plain_coefficients(coefs, model.scores, positive, structure, weight)
        found = {"dual_coef_": plain[None], "_coefs": coefs}
        if self._kernel.name == "linear":  # the vectors of a DualDesign end with these
            return found | {"coef_": model.vector[None, n:].copy()}
        return found | kernels.support_of(self._kernel, X, plain[None])

    def _attributes(self, model: Model, data: Data, space: Space) -> dict[str, Any]:
        """Return the fitted attributes of a model: coefficients, intercept and threshold."""
        found = self._coefficients(model, data, space)
        of_mean = space.of_mean(found["coef_"][0]) if isinstance(space, RowSpace) else 0.0
        return found | self._cut(data._replace(X=model.scores + of_mean))

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
        other = "" if self.surrogate_ == "ramp" else "use surrogate='ramp' or "
        advice = "" if falls else f", or {other}a wider fpr_range"
        warn(
            f"with C={self.C_:g} the zero model is within tol={zero:g} of optimal for the {self.surrogate_} surrogate "
            f"on fpr_range=({low:g}, {high:g}): raise C{advice}. The model that is returned is within tol too, and "
            "ranks the samples",
            ZeroModelWarning,
        )


class Machine(CertifiedRanker):
    """Minimises ``1/2 <f, (I + structure Sigma) f> + C R(f)`` for a surrogate risk R."""

    C: float | str
    kernel_dtype: str
    warm_start: bool
    n_jobs: int | None
    n_landmarks: int | None = None
    random_state: Any = None

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, callback: StepReport | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples; their kernel matrix if ``kernel="precomputed"``. Linear machines multiply float32 in
            single precision, read a memmap in blocks, and multiply a dask array where its chunks are. Arrays not in C
            order are copied once. Equal values give the same model to the bit in any memory layout.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; a pair has the product of its two weights. Integer weights are frequency weights;
            samples of weight 0 are ignored. With other weights the range ends at exact shares of the total weight of
            the negatives; without, its ends are rounded outwards to whole negatives. So the scale of weights matters to
            ranges whose ends round: weights of 2 round to half a negative. Where the ends are whole, equal weights give
            the same model as no weights, up to rounding.
        callback : callable, default=None
            Called after each step with a ``Progress`` (objective, bound, partial_auc, gap), in units of margin 1.
            ``set_callbacks`` sets scikit-learn's own callbacks (1.9 or later); each step is a task with the current
            model.

        Raises
        ------
        MemoryError
            If the kernel matrix does not fit in memory; the message reports the memory it needs. Steps copy up to a
            quarter of its values, as float64.
        """
        check_callback(callback, "Progress of each step")
        fpr_range, surrogate = rate_range(self.fpr_range, "fpr_range"), self._checked_surrogate()
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        C = _AUTO_C["linear" if linear else "kernel"] if isinstance(self.C, str) and self.C == "auto" else self.C
        C, structure = check_positive("C", C), check_nonnegative("structure", self.structure)
        tol, max_iter = check_tol(self.tol), check_count("max_iter", self.max_iter)
        check_flag("warm_start", self.warm_start), check_verbose(self.verbose), check_threshold(self.threshold)
        dtype = np.dtype(check_choice("kernel_dtype", self.kernel_dtype, ("float64", "float32"))).type
        check_seed(self.random_state)
        threads = n_threads(self.n_jobs)
        data = self._validated(X, y, sample_weight)
        last = last_fit(self)
        landmarks = self._set_kernel_and_landmarks(last, data)
        surrogate = self._restricted_to_pairs(data, surrogate, threads)
        if landmarks is None:
            design = kernels.kernel_design(self._kernel, data, structure, dtype)
            design = DualDesign(design) if self._is_dual and self._kernel.name == "linear" else design
        else:
            design = kernels.landmark_design(landmarks, data, structure)
        start = self._start(last, design, landmarks)
        with whole_fit(self, *data) as task:
            steps = self._steps(task, data, landmarks, self._report(callback))
            training = Training(design, _core.Problem(data.positive, data.weight), fpr_range, threads)
            tol = training.tol(surrogate, tol)
            result = self._solved(training, surrogate, C, tol=tol, max_iter=max_iter, start=start, callback=steps)
            if structure and result.proof is not None:  # where the tangent of the quadratic part gives the same bound
                accurate = design.accurate()
                result.tangent = accurate.scores(-C * accurate.adjoint(result.pull[None])[0])
            self.C_, self.tol_ = C, tol
            del training  # as do cuts
            zero, scores = self._keep(result, steps, surrogate, data, landmarks)
        self._warn(zero=zero, scores=scores)
        if self.verbose:
            done = f"{self.n_iter_} steps, objective {self.objective_:.6g}, gap {self.dual_gap_:.2g}"
            print(f"{type(self).__name__}: {done}")
        return self

    def _checked_surrogate(self) -> Surrogate:
        """Check the parameters of this machine alone and return its surrogate."""
        raise NotImplementedError

    def _restricted_to_pairs(self, data: Data, surrogate: Surrogate, threads: int) -> Surrogate:
        """Return the surrogate over the pairs that count."""
        return surrogate

    def _solved(self, training: Training, surrogate: Surrogate, C: float, **options: Any) -> SolverResult:
        """Minimise the objective, by `options` of ``Training.fit``."""
        return training.fit(surrogate, C, go_on=True, **options)

    def _set_kernel_and_landmarks(self, last: Any, data: Data) -> Landmarks | None:
        """Resolve the kernel and return its landmarks, with a warm start those of the last fit; None without them."""
        X, positive, weight = data
        n = kernels.check_landmarks(self.n_landmarks, self.kernel)
        self._set_kernel(X, weight)
        if n is None:
            return None
        points = getattr(last, "landmarks_", None)
        if points is None or points.shape != (n, X.shape[1]):
            points = kernels.points_of(X, positive, kernels.ranks(positive, weight, seed_of(self.random_state)), n)
        return Landmarks(self._kernel, points)

    def _start(self, last: Any, design: Design, landmarks: Landmarks | None) -> Model | None:
        """Return the model of the last fit; None if its features, samples or landmarks are others."""
        coefs: F64 | None = getattr(last, "_coefs", None)
        if landmarks is not None:
            same = landmarks.points is getattr(last, "landmarks_", None) and self._kernel == last._kernel
            vector = coefs if same and coefs is not None and len(coefs) == landmarks.dim else None
        elif self._is_dual:
            same = coefs is not None and len(coefs) == design.n_samples
            vector = design.adjoint(coefs[None])[0] if same else None  # type: ignore[index]
        else:
            coef = getattr(last, "coef_", None)
            vector = coef[0] if coef is not None and coef.shape[1] == design.dim else None
        return None if vector is None else Model.of(vector, design)

    def _report(self, callback: StepReport | None) -> StepReport | None:
        """Return the user's callback, which also prints each step if `verbose` is 2."""
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
