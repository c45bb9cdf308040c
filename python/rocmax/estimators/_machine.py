"""Support vector machines: what all have, and PartialAUCSVC, for a range of false positive rates, of one C or many."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rocmax import _core, _parameters as parameters, designs
from rocmax._checks.samples import rate_range
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax._typing import F64, KernelChoice, SurrogateName
from rocmax.designs import _spaces as spaces
from rocmax.estimators import _base as base
from rocmax.estimators._base import Data, Threshold, atomic, check_threshold, warn_if_constant, warn_unconverged
from rocmax.estimators._callbacks import CallbackSupportMixin, StepReport, Steps, Task, whole_fit
from rocmax.estimators._certificate import CertificateMixin, Proof
from rocmax.estimators._surrogates import FULL, PROVEN, SURROGATES
from rocmax.estimators._training import Surrogate, Training, check_surrogate, check_tol
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics import _words as words
from rocmax.metrics.results._result import Result
from rocmax.metrics.variances._resample import check_seed, seed_of
from rocmax.risks import RiskFunction
from rocmax.solvers import Model, Progress, SolverResult
from rocmax.solvers._objective import relative_gap

# The default C for kernel="linear" and for other kernels, whose features are shorter. Chosen on the tuning half of the
# sets of benches/python/defaults.py: linear machines are equally good from 3 to 1,000, kernel machines best at 300 on
# the ranges [0, 0.05] and [0, 1] taken together.
_AUTO_C = {"linear": 100.0, "kernel": 300.0}
_LINEAR = designs.Kernel("linear", None, 0.0, 0.0, 0.0)


class CertifiedRanker(CallbackSupportMixin, CertificateMixin, base.KernelRanker):
    """A support vector machine, linear or with a kernel, with a certified gap."""

    _also_fitted = "C_", "tol_", "objective_", "dual_gap_", "n_iter_", "history_", "surrogate_"
    fpr_range: float | tuple[float, float] = FULL
    structure: float = 0.0
    tol: float | str
    max_iter: int
    verbose: int
    C_: float
    tol_: float

    def _steps(self, task: Task, data: Data, space: designs.Space, report: StepReport | None = None) -> Steps:
        """Return the solver's callback, for which each step is a part of `task`."""
        return Steps(task, lambda model: self._attributes(model, data, space), report)

    def _keep(
        self, result: SolverResult, steps: Steps, surrogate: Surrogate, data: Data, space: designs.Space
    ) -> tuple[float, F64]:
        """Set the fitted attributes; return how near to optimal the zero model is, or 0, and the training scores."""
        steps.close()
        self._store(result, surrogate, data, space)
        near, scores = result.zero_within(self.tol_), None if "coef_" in vars(self) else result.model.scores
        vars(result).clear()  # vectors over the samples, which a threshold does not need
        return near, self._set_threshold(data, scores)

    def _proved(self, result: SolverResult, surrogate: Surrogate, data: Data, space: designs.Space) -> Proof | str:
        """Return the proof of the bound, or why there is none."""
        if result.proof is None or surrogate not in PROVEN:
            return f"surrogate_ is {self.surrogate_!r}, and must be one of {(*PROVEN,)} over all pairs"
        fpr_range = FULL if surrogate == "auc" else rate_range(self.fpr_range, "fpr_range")
        from_zero = SURROGATES[surrogate].from_zero if fpr_range[0] == 0 else None
        kernel = getattr(self, "_kernel", _LINEAR)
        if isinstance(space, designs.Landmarks) or kernel.function is not None:
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

    def _store(self, result: SolverResult, surrogate: Surrogate, data: Data, space: designs.Space) -> None:
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

    def _coefficients(self, model: Model, data: Data, space: designs.Space) -> dict[str, Any]:
        """Return the attributes that score new samples."""
        X, positive, weight = data
        if isinstance(space, designs.RowSpace):
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
            plain = designs.plain_coefficients(coefs, model.scores, positive, structure, weight)
        found = {"dual_coef_": plain[None], "_coefs": coefs}
        if self._kernel.name == "linear":  # the vectors of a DualDesign end with these
            return found | {"coef_": model.vector[None, n:].copy()}
        return found | self._support_of(X, plain[None])

    def _attributes(self, model: Model, data: Data, space: designs.Space) -> dict[str, Any]:
        """Return the fitted attributes of a model: coefficients, intercept and threshold."""
        found = self._coefficients(model, data, space)
        of_mean = space.of_mean(found["coef_"][0]) if isinstance(space, designs.RowSpace) else 0.0
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
        parameters.check_callback(callback, "Progress of each step")
        fpr_range, surrogate = rate_range(self.fpr_range, "fpr_range"), self._checked_surrogate()
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        C = _AUTO_C["linear" if linear else "kernel"] if isinstance(self.C, str) and self.C == "auto" else self.C
        C, structure = parameters.check_positive("C", C), parameters.check_nonnegative("structure", self.structure)
        tol, max_iter = check_tol(self.tol), parameters.check_count("max_iter", self.max_iter)
        parameters.check_flag("warm_start", self.warm_start), check_threshold(self.threshold)
        dtype = np.dtype(parameters.check_choice("kernel_dtype", self.kernel_dtype, ("float64", "float32"))).type
        parameters.check_verbose(self.verbose)
        check_seed(self.random_state)
        threads = n_threads(self.n_jobs)
        data = self._validated(X, y, sample_weight)
        last = vars(self).pop("_last", None) if self.warm_start else None  # popped: callbacks must not keep it alive
        landmarks = self._set_kernel_and_landmarks(last, data)
        surrogate = self._restricted_to_pairs(data, surrogate, threads)
        if landmarks is None:
            design = spaces.kernel_design(self._kernel, *data, structure, dtype)
            design = designs.DualDesign(design) if self._is_dual and self._kernel.name == "linear" else design
        else:
            design = spaces.landmark_design(landmarks, *data, structure)
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

    def _set_kernel_and_landmarks(self, last: Any, data: Data) -> designs.Landmarks | None:
        """Resolve the kernel and return its landmarks, with a warm start those of the last fit; None without them."""
        X, positive, weight = data
        n = spaces.check_landmarks(self.n_landmarks, self.kernel)
        self._set_kernel(X, weight)
        if n is None:
            return None
        points = getattr(last, "landmarks_", None)
        if points is None or points.shape != (n, X.shape[1]):
            points = spaces.points_of(X, positive, spaces.ranks(positive, weight, seed_of(self.random_state)), n)
        return designs.Landmarks(self._kernel, points)

    def _start(self, last: Any, design: designs.Design, landmarks: designs.Landmarks | None) -> Model | None:
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


@dataclass(eq=False, repr=False)
class PartialAUCSVC(Machine):
    """Support vector machine, linear or with a kernel, for the partial AUC on a range of false positive rates.

    Use it to train a model that will be judged by a part of the ROC curve, such as false positive rates up to 0.1.
    Scale the features to one unit first. :class:`PartialAUCSVCCV` chooses C and the surrogate by cross-validation.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCSVC
    >>> X, y = make_classification(500, weights=[0.9], class_sep=2.0, random_state=0)
    >>> model = PartialAUCSVC((0, 0.1)).fit(X, y)  # a linear model
    >>> model.coef_.shape, model.decision_function(X).shape, bool(model.dual_gap_ <= model.tol_)
    ((1, 20), (500,), True)
    >>> curved = PartialAUCSVC((0, 0.1), kernel="rbf").fit(X, y)
    >>> alarms = PartialAUCSVC((0, 0.1), threshold=("alerts", 25)).fit(X, y)
    >>> int(alarms.predict(X).sum())  # at most 25
    25

    Parameters
    ----------
    surrogate : {"auto", "tight", "naive", "hinge", "dc", "ramp"} or callable, default="auto"
        - "tight": convex; per positive, the most violated ordering of the top negatives (reference [1]_, eq. 18).
          Equals the pairwise hinge on the full range. On narrow ranges of hard problems its optimum may be the zero
          model (see Notes).
        - "naive": convex; the same over orderings of all negatives (reference [1]_, eq. 11), so that pairs beyond the
          range cost too. It is at least "tight", and equal to it if the range ends at 1.
        - "hinge", or "dc" as in reference [1]_: the mean of (1 - s_i + t_j)_+ over the pairs of the range. Equals
          "tight" if the range starts at 0; otherwise not convex, minimised to a stationary point (see Notes).
        - "ramp": each pair costs min(1, (1 - s_i + t_j)_+), so that hopeless pairs cannot dominate. Not convex:
          minimised to a stationary point (see Notes).
        - "auto": "tight" on the full range, "ramp" on any other.
        - A convex, non-negative function ``surrogate(scores, positive, sample_weight)`` of the scores of all samples, a
          boolean array, and the weights (None if all are 1). It returns its value and a subgradient (one number per
          sample). The range then only affects the reported partial AUC.
    n_landmarks : int, default=None
        Replaces the kernel by features of this many training samples, the landmarks (see Notes). None uses the kernel
        itself, whose matrix over all samples must fit in memory.
    random_state : int, Generator, RandomState or None, default=None
        Seed that draws the landmarks; an integer makes fits repeatable.
    tol : float, default="auto"
        Stops once the relative gap ``(objective - lower bound) / objective`` is at most `tol`; for a surrogate that is
        not convex, the gap of its last convex step. "auto" is 1e-3 and, if not convex, 1e-2.
    max_iter : int, default=2000
        Largest number of steps: cutting planes, or the augmented Lagrangian method that takes over if planes converge
        slowly and the range starts at 0. A step is two products with X; of that method, also up to a hundred products
        with the deciding samples.
    warm_start : bool, default=False
        Start from the model of the previous call of ``fit`` if it has as many features (with a kernel: as many samples;
        with landmarks, which are kept: the same kernel). This saves steps; if the surrogate is not convex it also
        selects the stationary point.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights w of the features, for kernel="linear".
    dual_coef_ : ndarray of shape (1, n_samples) or (1, n_landmarks)
        c in s(x) = sum_l c_l k(x_l, x), for other kernels.
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_features)
        The landmarks x_l, rows of X, if `n_landmarks` is given; fewer if X has fewer rows.
    dual_gap_ : float
        The certified relative gap ``(objective_ - lower bound) / objective_``; for a surrogate that is not convex, the
        gap of its last convex step.

    Warns
    -----
    ConvergenceWarning
    ZeroModelWarning
        The zero model is within `tol` of optimal; see Notes.

    Notes
    -----
    Minimises ``1/2 |w|^2 + C R(Xw)`` over linear scores s = Xw. R is a surrogate of one minus the partial AUC on [low,
    high], which is a mean over all positives and the negatives that the model ranks floor(n low) + 1 to ceil(n high).
    All pairs count, none is sampled, and every fit ends with a certified optimality gap.

    With ``surrogate="tight"`` it is SVM_pAUC of reference [1]_, on the full range SVM_AUC.

    If the fit warns of the zero model, use surrogate="ramp" or a wider range: the convex surrogates of a range are
    unbounded. The fit then returns the model with the best training ranking among those within `tol`. The threshold is
    optimistic with more than one feature per 50 rows: of independent normal features, ("fpr", 0.05) gave a rate of 0.07
    on new samples with one per 50, 0.11 with one per 10 and 0.17 with one per 4; :class:`PartialAUCSVCCV` chooses it on
    held-out scores.
    Scale the features to one unit, as by ``StandardScaler``. The guide explains both, and the landmarks (reference
    [3]_), under "What is minimised".

    "ramp", and "hinge" on ranges above 0, may have many local minima. The returned model minimises a convex majorant of
    the objective, to the accuracy `dual_gap_`, which does not compare minima: another may be half as high, and the last
    digits of a product may decide between them. The guide has what is certified, under "Certificates". On separable
    data of up to 20 features other negatives above the range are tried (reference [4]_), which `n_iter_` and `history_`
    do not count.

    Cost: O(N d) per step for the features, O(N + (m + n high) log(m + n high)) for the ranking. Memory beside X: 50 to
    140 bytes per sample, most if other negatives above the range are tried; 8 d per cut; 4 N d for a dense X of d > N
    features in float64. A kernel takes 8 N^2 bytes (4 N^2 in float32) once and O(N^2) per step; L landmarks
    O(N L (d + L) + L^3) once, O(N L) per step and 4 N L bytes (8 N L up to 2^24 numbers). If these exceed 0.3 of the
    available memory, features are recomputed in blocks by every product.

    References
    ----------
    .. [1] H. Narasimhan and S. Agarwal, "Support vector algorithms for optimizing the partial area under the ROC
       curve", Neural Computation, 2017. :doi:`10.1162/NECO_a_00972`
    .. [2] Y. Wang, S. Chen and H. Xue, "Structure-embedded AUC-SVM", International Journal of Pattern Recognition and
       Artificial Intelligence, 2010. :doi:`10.1142/S0218001410008172`
    .. [3] C. Williams and M. Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 13, 2001.
    .. [4] J.-S. Pang, M. Razaviyayn and A. Alvarado, "Computing B-stationary points of nonsmooth DC programs",
       Mathematics of Operations Research, 2017. arXiv 1511.01796.
    """

    fpr_range: float | tuple[float, float] = FULL
    _: KW_ONLY
    surrogate: SurrogateName | RiskFunction = "auto"
    C: float | Literal["auto"] = "auto"
    kernel: KernelChoice = "linear"
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 0.0
    structure: float = 0.0
    n_landmarks: int | None = None
    random_state: Any = None
    tol: float | Literal["auto"] = "auto"
    max_iter: int = 2000
    warm_start: bool = False
    kernel_dtype: Literal["float64", "float32"] = "float64"
    threshold: Threshold = "auto"
    n_jobs: int | None = None
    verbose: int = 0

    def _checked_surrogate(self) -> Surrogate:
        own: Surrogate | None = self.surrogate if callable(self.surrogate) else None
        return own or check_surrogate(self.surrogate, rate_range(self.fpr_range, "fpr_range"))


DEFAULT_CS: tuple[float, ...] = tuple(float(C) for C in np.logspace(-2, 5, 8))


@dataclass(frozen=True, repr=False, eq=False)
class PartialAUCPath(Result):
    """The models of a path, by ascending C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        The values of C.
    coefs : ndarray of shape (n_Cs, n_features)
        The models.
    objectives, dual_gaps, partial_aucs : ndarray of shape (n_Cs,)
        ``1/2 |w|^2 + C R(Xw)``, its certified relative gap, and the ranked partial AUC on the training samples.
    n_iters : ndarray of shape (n_Cs,)
        Steps for each.
    fpr_range : (float, float)
        The range of false positive rates.
    surrogate : str
        The surrogate that was minimised.
    """

    Cs: F64
    coefs: F64
    objectives: F64
    dual_gaps: F64
    partial_aucs: F64
    n_iters: NDArray[np.int64]
    fpr_range: tuple[float, float] = FULL
    surrogate: str = "tight"

    def rows(self) -> list[dict[str, Any]]:
        names = ("C", "objective", "dual_gap", "partial_auc", "n_iter")
        columns = (self.Cs, self.objectives, self.dual_gaps, self.partial_aucs, self.n_iters)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _lines(self) -> list[str]:
        best, (low, high) = int(np.argmax(self.partial_aucs)), self.fpr_range
        largest = words.digits(self.partial_aucs[best])
        return [
            f"{len(self.Cs)} models of {self.coefs.shape[1]} weights, C from {self.Cs[0]:g} to {self.Cs[-1]:g}",
            f"largest partial AUC (FPR {low:g}-{high:g}) on the training samples {largest}, at C = {self.Cs[best]:g}",
        ]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{'; '.join(self._lines())} ({basis})"]

    def _basis(self) -> list[str]:
        return [f'surrogate "{self.surrogate}"', f"optimality gaps of {self.dual_gaps.max():.1e} or less"]


def partial_auc_path(
    X: Any,
    y: Any,
    fpr_range: float | tuple[float, float] = FULL,
    *,
    Cs: Any = DEFAULT_CS,
    surrogate: SurrogateName = "auto",
    sample_weight: Any = None,
    tol: float | Literal["auto"] = "auto",
    max_iter: int = 2000,
    n_jobs: int | None = None,
) -> PartialAUCPath:
    """Fit :class:`PartialAUCSVC` for many values of C.

    Cuts do not depend on C, so that each value starts from the cuts and the model of the value below. With a convex
    surrogate, ten values cost about as much as the largest alone. Other surrogates start anew at each value, unless the
    model of the lower value is already optimal; then it is kept, in 0 steps.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import partial_auc_path
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> path = partial_auc_path(X, y, (0.0, 0.2), Cs=[0.1, 1.0, 10.0])
    >>> path.coefs.shape
    (3, 20)

    Parameters
    ----------
    X, y, sample_weight
        As of the ``fit`` of :class:`PartialAUCSVC`.
    fpr_range, surrogate, tol, max_iter, n_jobs
        As of :class:`PartialAUCSVC`.
    Cs : sequence of float, default=8 values from 1e-2 to 1e5
        Weights of the mean pair loss, in any order, without repetition.

    Returns
    -------
    PartialAUCPath
        Models and certificates by ascending C. A gap above `tol`, which gives no warning, needs a larger `max_iter`.
    """
    fpr_range = rate_range(fpr_range, "fpr_range")
    resolved = check_surrogate(surrogate, fpr_range)
    ascending = sorted({*parameters.check_grid("Cs", Cs)})
    tol, max_iter = check_tol(tol), parameters.check_count("max_iter", max_iter)
    threads = n_threads(n_jobs)
    X, positive, weight = PartialAUCSVC()._validated(X, y, sample_weight)
    training = Training(designs.as_design(designs.compact(X)), _core.Problem(positive, weight), fpr_range, threads)
    # Only the vectors of the models are kept, not their scores.
    rows = [
        (result.model.vector, result.objective, result.gap, result.partial_auc, result.n_iter)
        for result in training.path(resolved, ascending, tol=tol, max_iter=max_iter)
    ]
    coefs, objectives, gaps, areas, n_iters = map(np.array, zip(*rows, strict=True))
    return PartialAUCPath(np.array(ascending), coefs, objectives, gaps, areas, n_iters, fpr_range, resolved)
