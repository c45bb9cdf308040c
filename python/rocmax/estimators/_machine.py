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
from rocmax._typing import F64
from rocmax.designs import Design, DualDesign, Landmarks
from rocmax.estimators._atomic import atomic, last_fit
from rocmax.estimators._base import Data
from rocmax.estimators._callbacks import StepReport, whole_fit
from rocmax.estimators._certified import CertifiedRanker
from rocmax.estimators._kernel_base import kernel_design
from rocmax.estimators._landmarks import check_landmarks, copied, first_of_both, landmark_design, ranks
from rocmax.estimators._thresholds import check_threshold
from rocmax.estimators._training import Surrogate, Training, check_tol
from rocmax.metrics.variances._resample import seed_of
from rocmax.solvers import Model, Progress, SolverResult


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
        C, structure = check_positive("C", self._resolved_C(self.C)), check_nonnegative("structure", self.structure)
        tol, max_iter = check_tol(self.tol), check_count("max_iter", self.max_iter)
        check_flag("warm_start", self.warm_start), check_verbose(self.verbose), check_threshold(self.threshold)
        dtype = np.dtype(check_choice("kernel_dtype", self.kernel_dtype, ("float64", "float32"))).type
        threads, seed = n_threads(self.n_jobs), seed_of(self.random_state)
        data = self._validated(X, y, sample_weight)
        last = last_fit(self)
        landmarks = self._set_kernel_and_landmarks(last, data, seed)
        surrogate = self._on(data, surrogate, threads, seed)
        if landmarks is None:
            design = kernel_design(self._kernel, data, structure, dtype)
            design = DualDesign(design) if self._is_dual and self._kernel.name == "linear" else design
        else:
            design = landmark_design(landmarks, data, structure)
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

    def _on(self, data: Data, surrogate: Surrogate, threads: int, seed: int) -> Surrogate:
        """Return the surrogate over the pairs that count."""
        return surrogate

    def _solved(self, training: Training, surrogate: Surrogate, C: float, **options: Any) -> SolverResult:
        """Minimise the objective, by `options` of ``Training.fit``."""
        return training.fit(surrogate, C, go_on=True, **options)

    @property
    def _is_dual(self) -> bool:
        return self._kernel.name != "linear"

    def _set_kernel_and_landmarks(self, last: Any, data: Data, seed: int) -> Landmarks | None:
        """Resolve the kernel and return its landmarks, with a warm start those of the last fit; None without them."""
        X, positive, weight = data
        n = check_landmarks(self.n_landmarks, self.kernel, X)
        self._set_kernel(X, weight)
        if n is None:
            return None
        points = getattr(last, "landmarks_", None)
        if points is None or points.shape != (n, X.shape[1]):
            points = copied(X, first_of_both(positive, ranks(positive, weight, seed), n))
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
