"""PartialAUCSVC: support vector machines for a range of false positive rates, of one C or of many."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_count, check_grid
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, KernelChoice, SurrogateName
from rocmax.designs import as_design, compact
from rocmax.estimators._base import Threshold
from rocmax.estimators._machine import Machine
from rocmax.estimators._surrogates import FULL
from rocmax.estimators._training import Surrogate, Training, check_surrogate, check_tol
from rocmax.metrics import _words as words
from rocmax.metrics.results._result import Result
from rocmax.risks import RiskFunction


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
    ascending = sorted({*check_grid("Cs", Cs)})
    tol, max_iter = check_tol(tol), check_count("max_iter", max_iter)
    threads = n_threads(n_jobs)
    X, positive, weight = PartialAUCSVC()._validated(X, y, sample_weight)
    training = Training(as_design(compact(X)), _core.Problem(positive, weight), fpr_range, threads)
    # Only the vectors of the models are kept, not their scores.
    rows = [
        (result.model.vector, result.objective, result.gap, result.partial_auc, result.n_iter)
        for result in training.path(resolved, ascending, tol=tol, max_iter=max_iter)
    ]
    coefs, objectives, gaps, areas, n_iters = map(np.array, zip(*rows, strict=True))
    return PartialAUCPath(np.array(ascending), coefs, objectives, gaps, areas, n_iters, fpr_range, resolved)
