"""PartialAUCSVC: structural and ramp machines for a range of false positive rates."""

from typing import Any, Self

from rocmax import _core
from rocmax._parameters import check_callback, check_count, check_flag, check_nonnegative, check_positive, check_verbose
from rocmax._threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.designs import Landmarks
from rocmax.estimators._atomic import atomic, last_fit
from rocmax.estimators._callbacks import StepReport, whole_fit
from rocmax.estimators._kernel_base import kernel_design
from rocmax.estimators._landmarks import (
    check_landmarks,
    copied,
    first_of_both,
    landmark_design,
    ranks,
)
from rocmax.estimators._partial_base import PartialAUCModel
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.estimators._training import FULL, Training, check_surrogate
from rocmax.metrics._resample import seed_of
from rocmax.metrics._validation import rate_range
from rocmax.solvers import Model


class PartialAUCSVC(PartialAUCModel):
    """Support vector machine, linear or with a kernel, for the partial AUC on a range of false positive rates.

    Minimises ``1/2 |w|^2 + C R(Xw)`` over linear scores s = Xw, R a surrogate of one minus the partial AUC on
    [low, high]: the mean over all positives and the negatives ranked floor(n low) + 1 to ceil(n high) by the model
    itself. All pairs count, none is sampled; every fit ends with a certified optimality gap.

    Parameters
    ----------
    fpr_range : tuple of float, default=(0.0, 1.0)
        The false positive rates (low, high) that matter, 0 <= low < high <= 1. (0, 1) is the whole AUC.
    surrogate : {"auto", "tight", "naive", "hinge", "ramp"} or callable, default="auto"
        - "tight": convex; per positive, the most violated ordering of the top negatives (reference [1]_, eq. 18). The
          pairwise hinge on the full range. On narrow ranges of hard problems its optimum may be the zero model (see
          Notes).
        - "naive": convex; the same over orderings of all negatives (reference [1]_, eq. 11), which also charges for
          pairs out of order beyond the range. Never below "tight", and equal to it where the range ends at 1.
        - "hinge": the mean of (1 - s_i + t_j)_+ over the pairs of the range; "tight" where the range starts at zero,
          elsewhere not convex and minimised by the convex-concave procedure (reference [1]_, Algorithm 4).
        - "ramp": each pair costs min(1, (1 - s_i + t_j)_+), at most 1, so that hopeless pairs cannot dominate. Not
          convex: minimised by the convex-concave procedure from the full-range model, to a stationary point.
        - "auto": "tight" on the full range, "ramp" on any other.
        - A function of your own: convex, at least 0. ``surrogate(scores, positive, sample_weight)`` takes the scores
          of all samples, a boolean array and the weights (None if all are 1), and returns its value and a subgradient,
          one number for each sample. The range then only says which partial AUC is reported.
    C : float, default=100.0
        Weight of the MEAN pair loss. A C per pair, as in RankSVM, is C / (number of pairs in the range) here.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", "sigmoid", "precomputed" or a function, as in :class:`AUCSVC`.
    gamma, degree, coef0
        Parameters of the kernel, as in :class:`AUCSVC`.
    structure : float, default=0.0
        lambda >= 0: adds lambda/2 <w, Sigma w> to the objective, Sigma the sum of the covariances of the two classes,
        each divided by the size of its class (reference [2]_, there for the whole AUC).
    n_landmarks : int, default=None
        A kernel is replaced by features of so many training samples, the landmarks: see Notes. None keeps the kernel,
        whose matrix over all samples then has to fit in memory.
    random_state : int, Generator, RandomState or None, default=None
        Draws the landmarks; an integer makes fits repeatable.
    tol : float, default=1e-3
        Largest relative gap (objective - lower bound) / objective to stop at; with "ramp", of the last convex step.
    max_iter : int, default=2000
        At most this many steps, of cutting planes or of the augmented Lagrangian method, which takes over where planes
        are slow and the range begins at 0: two products with X each, in the latter up to a hundred more with the
        samples that decide.
    warm_start : bool, default=False
        Begin at the model of the last call of ``fit`` if it is one of as many features (with a kernel: samples; with
        landmarks, which are kept: the same kernel). With a convex surrogate this only saves steps; with another it
        chooses the stationary point that is found.
    threshold : str or tuple, default="auto"
        Where ``predict`` cuts the training scores: "auto" is ("fpr", high) on a partial range (low, high) and "eer" on
        the full one, "midpoint" between the lowest positive and the highest negative,
        "eer" (equal error rates), "youden", "closest" (to the corner of no errors), ("fpr", rate) for a false
        positive rate of at most `rate`, ("specificity", rate) or ("sensitivity", rate) for at least that, or
        ("cost", ratio) when a false positive costs `ratio` false negatives: the rules of
        :func:`rocmax.metrics.operating_point`. Ranking does not depend on it. See Notes.
    n_jobs : int, default=None
        Threads for the ranking kernels; None and -1 mean all. Results are the same to the last bit for any number.
    verbose : int, default=0
        1 prints one line a fit, 2 one line a step.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_samples) or (1, n_landmarks)
        c in s(x) = sum_l c_l k(x_l, x), of a kernel other than "linear"; in place of ``coef_``.
    landmarks_ : {ndarray, sparse matrix} of shape (n_landmarks, n_features)
        The landmarks x_l, rows of X, if `n_landmarks` is given; fewer where X has fewer.
    coef_ : ndarray of shape (1, n_features)
        w, of the linear kernel.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    classes_ : ndarray of shape (2,)
        The labels, sorted; ``classes_[1]``, the greater, is the positive class. Labels that do not say so themselves
        (other than {0, 1}, {-1, 1} and booleans: text, say) give a warning; pass ``y == label`` to choose.
    objective_ : float
        ``1/2 |w|^2 + C R(Xw)`` of ``coef_``.
    dual_gap_ : float
        ``(objective_ - lower bound) / objective_``, certified; with "ramp", of the last convex step.
    n_iter_ : int
        Number of steps.
    history_ : dict of ndarray
        "objective", "bound" and "partial_auc" (ranked, on the training samples) after each step at this C; for a risk
        that is not convex the bound is 0 on the way down, then that of the current convex step. "step" is its kind:
        "start", "newton", "plane", "augmented" or "descent".
    surrogate_ : str
        The surrogate used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Warns
    -----
    ConvergenceWarning
        The fit stopped at `max_iter` above `tol`; the message says the gap.
    ZeroModelWarning
        The zero model is within `tol` of optimal; see Notes.
    PositiveClassWarning
        The labels do not say which class is positive: they are not {0, 1}, {-1, 1} or booleans.
    FeatureScaleWarning
        The standard deviations of two features differ by more than a thousand times.

    Notes
    -----
    The zero optimum: the structural surrogates are unbounded. When no direction lifts the mean positive above the mean
    of the top negatives, their exact minimiser is w = 0, which ranks nothing. The fit then warns and returns the
    certified model that ranks the training samples best; "ramp" or a wider range is the remedy.

    The threshold: ``predict`` decides on the training samples, given as to ``fit``, just as the rule says; it cuts
    midway between two scores that are further apart than rounding, so that a sample scored alone or among others falls
    on the same side (of float32 features, and of a float32 kernel matrix, where scores are not that dense). On new
    samples the rate is another. With 40 data sets, twice split into training rows and test thirds, ("fpr", 0.05) had
    held-out rates of 0.047 on average (half of them between 0.042 and 0.060) where 1,000 negatives and more trained, of
    0.063 (0.026 to 0.097) with 200 to 1,000, and of 0.149 (0.047 to 0.208) with fewer, at training rates of 0.039,
    0.022 and 0.013 (``python benches/python/defaults.py DATA_FOLDER``). With few, choose it on held-out scores.

    C: on the half of those sets that tune, values from 3 to 1,000 are worth the same within noise, and C = 1 loses 0.01
    of the partial AUC to 100; on the other half it loses 0.03 (the same command). :class:`PartialAUCSVCCV` chooses C.

    Landmarks: the machine is linear in the features f(x) = K_LL^-1/2 k(L, x) (reference [3]_), whose inner products are
    k(x, L) K_LL^-1 k(L, z). They are the kernel's own where x or z is a landmark, so that ``|w|``, `C` and
    ``objective_`` mean what they mean with the kernel; features of "rbf" are no longer than 1, and call for a larger
    `C` than standardised X, up to 1e6. Landmarks are drawn uniformly within each class, a third (or all) of the smaller
    one. Eigenvalues of K_LL of at most 1e-10 of the largest are left out. Cost: O(n L (d + L) + L^3) once for L
    landmarks, and O(n L) a step; 4 n L bytes (8 n L up to 2^24 numbers) if that is no more than 0.3 of the memory at
    hand, else the features are made anew in blocks of 16 MB by every product, O(n L d) a step. New samples: O(L d)
    each. CSR matrices and memmaps are read in blocks of rows too.

    Features should be on one scale (``StandardScaler``); a fit warns if they differ by more than a thousand. Cost:
    O(N d) a step for the features, O(N + (m + n high) log(m + n high)) for the ranking; memory beside X: 65 to
    90 bytes a sample, 140 where half are positive, 165 with weights; 8 d a cut.

    References
    ----------
    .. [1] H. Narasimhan and S. Agarwal, "Support vector algorithms for optimizing the partial area under the ROC
       curve", Neural Computation, 2017. :doi:`10.1162/NECO_a_00972`
    .. [2] Y. Wang, S. Chen and H. Xue, "Structure-embedded AUC-SVM", International Journal of Pattern Recognition and
       Artificial Intelligence, 2010. :doi:`10.1142/S0218001410008172`
    .. [3] C. Williams and M. Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 13, 2001.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCSVC
    >>> X, y = make_classification(500, weights=[0.9], class_sep=2.0, random_state=0)
    >>> model = PartialAUCSVC((0.0, 0.1)).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = FULL,
        *,
        surrogate: Any = "auto",
        C: float = 100.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        structure: float = 0.0,
        n_landmarks: int | None = None,
        random_state: Any = None,
        tol: float = 1e-3,
        max_iter: int = 2000,
        warm_start: bool = False,
        threshold: Threshold = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.surrogate = surrogate
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.structure = structure
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, callback: StepReport | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; float32 is not copied to float64. An array that is not in C order is copied once, a memmap
            a block at a time. Equal values give the same model, to the bit, whatever their layout; the linear machine
            multiplies float32 in single precision.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of at least 0; a pair weighs w_i w_j. Whole numbers are repetitions, 0 leaves a sample out. With
            others the range ends at exactly the shares low and high of the negatives' weight, through a sample if
            need be, where counts are rounded outwards.
        callback : callable, default=None
            Called after each step with a ``Progress`` (objective, bound, partial_auc, gap). scikit-learn's own
            callbacks (1.9 or later) are set by ``set_callbacks``: each step is a task, with the model so far.

        Returns
        -------
        self : PartialAUCSVC
            The fitted model.

        Raises
        ------
        ValueError
            For a parameter out of its domain, features or weights that are not finite, or labels that are not of two
            classes; the message names it, its value and what would do.
        """
        check_callback(callback, "Progress of each step")
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        own = self.surrogate if callable(self.surrogate) else None
        surrogate = own or check_surrogate(self.surrogate, fpr_range)
        C, structure = check_positive("C", self.C), check_nonnegative("structure", self.structure)
        tol, max_iter = check_positive("tol", self.tol), check_count("max_iter", self.max_iter)
        check_flag("warm_start", self.warm_start), check_verbose(self.verbose), check_threshold(self.threshold)
        threads, seed = n_threads(self.n_jobs), seed_of(self.random_state)
        X, positive, weight = self._validate_weighted(X, y, sample_weight)
        last = last_fit(self)
        landmarks = self._set_landmarks(last, X, positive, weight, seed)

        if landmarks is None:
            design = kernel_design(self._kernel, X, positive, structure, weight=weight)
        else:
            design = landmark_design(landmarks, X, positive, structure, weight)
        before = None
        if last is not None and (landmarks is None or self._kernel == getattr(last, "_kernel", None)):
            before = self._before(last, design, X, landmarks)

        data = X, positive, weight
        with whole_fit(self, X, positive, weight) as task:
            steps = self._steps(task, data, landmarks, self._report(callback))
            start = None if before is None else Model.of(before, design)
            # Nothing here holds the training nor its result, which take as much memory as the threshold.
            zero = self._keep(
                Training(design, _core.Problem(positive, weight), fpr_range, threads).fit(
                    surrogate, C, tol=tol, max_iter=max_iter, start=start, descend=True, callback=steps
                ),
                steps, surrogate, data, landmarks,
            )  # fmt: skip
        self._warn(C, zero=zero)
        if self.verbose:
            print(
                f"{type(self).__name__}: {self.n_iter_} steps, objective {self.objective_:.6g}, "
                f"gap {self.dual_gap_:.2g}"
            )
        return self

    @property
    def _is_dual(self) -> bool:
        return self._kernel.name != "linear"

    def _set_landmarks(self, last: Any, X: Any, positive: Bool, weight: F64 | None, seed: int) -> Landmarks | None:
        """Resolve the kernel and choose landmarks, None if there are to be none; a warm start keeps the last ones."""
        n = check_landmarks(self.n_landmarks, self.kernel, X)
        self._set_kernel(X, weight)
        if n is None:
            return None
        points = getattr(last, "landmarks_", None)
        if points is None or points.shape != (n, X.shape[1]):
            points = copied(X, first_of_both(positive, ranks(positive, weight, seed), n))
        return Landmarks(self._kernel, points)
