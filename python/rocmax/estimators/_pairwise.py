"""AUCSVC: the pairwise kernel machine over every pair, or over listed ones."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rocmax import _core
from rocmax._parameters import (
    check_callback,
    check_choice,
    check_count,
    check_flag,
    check_nonnegative,
    check_positive,
    check_verbose,
)
from rocmax._threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.designs import Design, DualDesign
from rocmax.estimators._atomic import atomic, last_fit
from rocmax.estimators._callbacks import StepReport, whole_fit
from rocmax.estimators._kernel_base import check_kernel_dtype, kernel_design
from rocmax.estimators._multipliers import CutMultipliers, ListedMultipliers, Multipliers, check_pairs
from rocmax.estimators._pair_lists import RULES, Pairs, every_pair, kernel_pairs, neighbor_pairs
from rocmax.estimators._partial_base import PartialAUCModel
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.estimators._training import FULL, Surrogate, Training
from rocmax.risks import Listed, Oracle, PairHinge
from rocmax.solvers import (
    Bundle,
    Callback,
    Model,
    Objective,
    Progress,
    SolverResult,
    Tilt,
    check_bound,
    solve_pair_dual,
)


class AUCSVC(PartialAUCModel):
    """Pairwise kernel machine for the AUC: a support vector machine on pairs of a positive and a negative.

    Minimises ``1/2 |f|^2 + C * mean over pairs of max(0, margin - (f(x_i) - f(x_j)))``, f in the space of a kernel. All
    m n pairs count and none is formed: sums over pairs are taken along sorted scores, O(N log N), and the fit ends with
    a certified optimality gap. The published methods solve a quadratic program with a variable for each pair instead.

    Parameters
    ----------
    C : float, default=1000.0
        Weight of the MEAN pair loss. The C of references [1]_ and [2]_ is per pair: C = C_pair * (number of pairs).
    margin : float, default=1.0
        rho, the difference of scores from which a pair costs nothing. Only a unit: (C, margin) gives margin times the
        scores of (C / margin, 1).
    kernel : str or callable, default="rbf"
        "linear", "rbf", "poly", "sigmoid" or "precomputed" as in ``sklearn.svm.SVC``, or a function of two matrices
        (giving a matrix) or of two rows (giving a number).
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of "rbf", "poly" and "sigmoid"; "scale" is 1 / (n_features * X.var()).
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    structure : float, default=0.0
        lambda of reference [2]_: adds lambda/2 <f, Sigma f> to the objective, Sigma the sum of the covariances of the
        classes in the space of the kernel, each divided by the size of its class.
    pairs : {"all", "neighbors"}, default="all"
        Which pairs count: all m n, or those of near samples, which is how the references cut down their programs.
    n_neighbors : int, default=10
        k of ``pairs="neighbors"``.
    neighbor_rule : {"two-step", "symmetric"}, default="two-step"
        "two-step" (reference [1]_): the positives among the k nearest of any negative, each with its k nearest
        negatives. "symmetric" (reference [2]_): every sample with its k nearest of the other class. Distances are
        Euclidean, in the space of the kernel if it is precomputed.
    solver : {"auto", "cvxopt"}, default="auto"
        "cvxopt" forms the dual with a variable for each pair and gives it to cvxopt, O(pairs^3): the reference for
        small problems. Needs the extra ``rocmax[cvxopt]``.
    tol : float, default=1e-4
        Largest relative gap (objective - lower bound) / objective to stop at.
    max_iter : int, default=2000
        At most this many steps, each one product of two vectors with the kernel matrix.
    warm_start : bool, default=False
        Begin at the model of the last call of ``fit`` if it is one of as many samples, which may save steps.
    kernel_dtype : {"float64", "float32"}, default="float64"
        What the kernel matrix is stored in; products accumulate in float64. With "float32" the gap is that of the
        problem with the rounded matrix.
    threshold : str or tuple, default="eer"
        Where ``predict`` cuts the training scores, as in :class:`PartialAUCSVC`.
    n_jobs : int, default=None
        Threads for the ranking kernels; None and -1 mean all. The linear algebra follows its own settings.
    verbose : int, default=0
        1 prints one line a fit, 2 one line a step.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_samples)
        c in f(x) = sum_l c_l k(x_l, x); with `structure` too.
    coef_ : ndarray of shape (1, n_features)
        w in f(x) = w'x; kernel="linear" only.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    classes_ : ndarray of shape (2,)
        The labels, sorted; ``classes_[1]``, the greater, is the positive class. Labels that do not say so themselves
        (other than {0, 1}, {-1, 1} and booleans: text, say) give a warning; pass ``y == label`` to choose.
    objective_ : float
        The minimised objective.
    dual_gap_ : float
        ``(objective_ - lower bound) / objective_``, certified.
    support_pairs_ : ndarray of shape (k, 2)
        The pairs (i, j) with a multiplier above zero; only where pairs were listed (``pairs="neighbors"`` or
        ``solver="cvxopt"``).
    n_pairs_ : int
        Number of pairs that the mean is over.
    n_iter_ : int
        Number of steps.
    history_ : dict of ndarray
        "objective", "bound" and "partial_auc" (of the training samples, on the full range) after each step at this C;
        "step" is its kind, as in :class:`PartialAUCSVC`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Raises
    ------
    MemoryError
        Before anything is allocated, if the kernel matrix, or the pairs of ``solver="cvxopt"``, cannot fit; the message
        says what they need.

    Warns
    -----
    ConvergenceWarning
        The fit stopped above `tol`; the message says the gap.
    ZeroModelWarning
        The zero model is within `tol` of optimal: C is too small for the kernel.

    Notes
    -----
    Cost: the kernel matrix once, 8 N^2 bytes (4 N^2 in float32), then O(N^2) a step; with ``kernel="linear"`` no matrix
    is formed and a step costs O(N d); each cut keeps its coefficients, 8 N bytes (a million samples of 50 features to a
    gap of 1e-3: 6 steps, 250 bytes a sample). `structure` costs O(N^3) once with a kernel. Beyond one kernel matrix,
    approximate the kernel by features and fit those:
    ``make_pipeline(Nystroem(n_components=300), PartialAUCSVC(C=1e4, tol=1e-2))``. With n = 200,000 that took 18 s
    of CPU for the linear fit and raised the test AUC from 0.67 (linear) to 0.84
    (``benches/python/bench_kernel.py nystroem``).

    References
    ----------
    .. [1] A. Rakotomamonjy, "Optimizing area under ROC curve with SVMs", ROCAI, 2004.
    .. [2] Y. Wang, S. Chen and H. Xue, "Structure-embedded AUC-SVM", International Journal of Pattern Recognition and
       Artificial Intelligence, 2010. :doi:`10.1142/S0218001410008172`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rocmax import AUCSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCSVC(C=100.0).fit(StandardScaler().fit_transform(X), y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    fpr_range = FULL
    n_pairs_: int
    support_pairs_: NDArray[np.intp]
    _positive: Bool
    _margin: float
    _multipliers: Multipliers

    def __init__(
        self,
        C: float = 1000.0,
        *,
        margin: float = 1.0,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        structure: float = 0.0,
        pairs: str = "all",
        n_neighbors: int = 10,
        neighbor_rule: str = "two-step",
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 2000,
        warm_start: bool = False,
        kernel_dtype: str = "float64",
        threshold: Threshold = "eer",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.margin = margin
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.structure = structure
        self.pairs = pairs
        self.n_neighbors = n_neighbors
        self.neighbor_rule = neighbor_rule
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.kernel_dtype = kernel_dtype
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, callback: StepReport | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples; their kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of at least 0, of ``pairs="all"`` and ``solver="auto"``; a pair weighs w_i w_j. Whole numbers are
            repetitions, 0 leaves a sample out.
        callback : callable, default=None
            Called after each step with a ``Progress`` (objective, bound, partial_auc, gap), in units of margin 1.
            scikit-learn's own callbacks (1.9 or later) are set by ``set_callbacks``: each step is a task.

        Returns
        -------
        self : AUCSVC
            The fitted model.

        Raises
        ------
        ValueError
            For a parameter out of its domain, features or weights that are not finite, or labels that are not of two
            classes; the message names it, its value and what would do.
        """
        check_callback(callback, "Progress of each step")
        C, margin = check_positive("C", self.C), check_positive("margin", self.margin)
        if not 0 < margin * margin < np.inf:
            raise ValueError(f"margin must have a square that is a number, got {margin:g}: it is only a unit, use 1.0")
        structure, tol = check_nonnegative("structure", self.structure), check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter), check_choice("pairs", self.pairs, ("all", "neighbors"))
        check_count("n_neighbors", self.n_neighbors)
        check_choice("neighbor_rule", self.neighbor_rule, RULES)
        check_choice("solver", self.solver, ("auto", "cvxopt")), check_flag("warm_start", self.warm_start)
        check_kernel_dtype(self.kernel_dtype), check_verbose(self.verbose), check_threshold(self.threshold)
        threads = n_threads(self.n_jobs)
        X, positive, weight = self._validate_weighted(X, y, sample_weight)
        self._set_kernel(X, weight)
        self._positive, self._margin = positive, margin

        listed = self._listed(X, positive, threads)
        if weight is not None and (listed is not None or self.solver != "auto"):
            raise ValueError(
                f"sample_weight goes with pairs='all' and solver='auto', got pairs={self.pairs!r} and"
                f" solver={self.solver!r}"
            )
        design = self._design(X, positive, structure, weight)
        start = self._before(last_fit(self), design, X, None)
        surrogate = "tight" if listed is None else Listed(*listed)
        data = X, positive, weight
        with whole_fit(self, X, positive, weight) as task:
            steps = self._steps(task, data, None, self._report(callback))
            zero = self._keep(
                self._solved(
                    Training(design, _core.Problem(positive, weight), FULL, threads), surrogate, C, tol=tol,
                    max_iter=int(self.max_iter), start=None if start is None else Model.of(start, design),
                    callback=steps,
                ),
                steps, surrogate, data, None,
            )  # fmt: skip
        del self.surrogate_  # there is no choice of one
        counted = positive if weight is None else positive[weight > 0]
        self.n_pairs_ = int(counted.sum() * (~counted).sum()) if listed is None else len(listed[0])
        self._warn(C, zero=zero)
        if self.verbose:
            print(f"AUCSVC: {self.n_iter_} steps, objective {self.objective_:.6g}, gap {self.dual_gap_:.2g}")
        return self

    @property
    def _is_dual(self) -> bool:
        return True

    def _solved(
        self,
        training: Training,
        surrogate: Surrogate,
        C: float,
        *,
        tol: float,
        max_iter: int,
        start: Model | None,
        callback: Callback,
    ) -> SolverResult:
        """Return the model, and keep its multipliers."""
        margin, design = float(self.margin), training.design  # rho is a unit: solve for margin 1, then scale
        oracle, bundle = training.bound(surrogate)
        assert isinstance(oracle, Oracle)  # all of them are convex

        def told(progress: Progress, model: Model) -> None:
            callback(progress, model.scaled(margin))

        if self.solver == "cvxopt":
            pairs = surrogate.pairs if isinstance(surrogate, Listed) else every_pair(training.problem.labels)
            result, self._multipliers = _by_pairs(design, oracle, C / margin, pairs, tol, max_iter)
        else:
            start = None if start is None else start.scaled(1.0 / margin)
            result = training.fit(surrogate, C / margin, tol=tol, max_iter=max_iter, start=start, callback=told)
            # The last steps may have been of the augmented Lagrangian method, which leaves the planes' weights behind.
            bundle.minimise(C / margin, Tilt(design), tol=1e-3 * tol * result.objective)
            self._multipliers = _of_cuts(oracle, bundle, training.problem)
        if isinstance(self._multipliers, ListedMultipliers):
            self.support_pairs_ = self._multipliers.support
        return result if margin == 1.0 else result.scaled(margin)

    def pair_dual(self, i: Any, j: Any) -> F64:
        """Return the multiplier al_ij of pairs of training rows, 0 <= al_ij <= C / (number of pairs).

        Of weighted samples at most C times the share that the pair's weight w_i w_j has in that of all.

        al_ij = 0 where f(x_i) - f(x_j) > margin, C / (number of pairs) where it is below, anything between where it is
        equal (the first reference of the class, Proposition 3.2.1), all to the accuracy of the fit. sum_j al_ij are the
        coefficients of the positives in the space of the kernel (under the metric of `structure`), sum_i al_ij those of
        the negatives with the sign reversed.

        Parameters
        ----------
        i : int or array-like of int
            Rows of positive training samples.
        j : int or array-like of int
            Rows of negative training samples; broadcast against `i`.

        Returns
        -------
        ndarray
            al, of the shape that `i` and `j` broadcast to. O(cuts) a pair.
        """
        check_is_fitted(self)
        first, second = check_pairs(i, j, self._positive)
        return self._margin * self._multipliers(first, second)

    def _listed(self, X: Any, positive: Bool, threads: int) -> Pairs | None:
        if self.pairs == "all":
            return None
        if self._kernel.name == "precomputed":
            return kernel_pairs(X, positive, self.n_neighbors, self.neighbor_rule)
        return neighbor_pairs(X, positive, self.n_neighbors, self.neighbor_rule, threads)

    def _design(self, X: Any, positive: Bool, structure: float, weight: F64 | None) -> Design:
        dtype = check_kernel_dtype(self.kernel_dtype)
        design = kernel_design(self._kernel, X, positive, structure, weight=weight, dtype=dtype)
        return DualDesign(design) if self._kernel.name == "linear" else design


def _of_cuts(oracle: Oracle, bundle: Bundle, problem: _core.Problem) -> Multipliers:
    """Return the multipliers of pairs that those of the cuts give."""
    coefs = bundle.vectors[:, : problem.n_samples]
    if isinstance(oracle, PairHinge):
        values = oracle.multipliers(bundle.weights, coefs)
        return ListedMultipliers(oracle.i, oracle.j, values, problem.n_samples)
    return CutMultipliers(bundle.weights, coefs, problem)


def _by_pairs(
    design: Design, oracle: Oracle, C: float, pairs: Pairs, tol: float, max_iter: int
) -> tuple[SolverResult, Multipliers]:
    """Solve the explicit dual and certify what it gives, over the risk of the same pairs."""
    n, (i, j) = design.n_samples, pairs
    cap = C / len(i)
    every = design.adjoint(np.eye(n))
    gram = design.inner(every, every)
    values, n_iter = solve_pair_dual(gram, i, j, cap, tol=tol, max_iter=max_iter)
    coefs: F64 = np.asarray(np.bincount(i, values, n) - np.bincount(j, values, n), dtype=np.float64)
    vector = design.adjoint(coefs[None])[0]
    model = Model.of(vector, design)
    objective = Objective(oracle, design, C)
    value, found = objective(model)
    bound = float(values.sum()) - 0.5 * model.norm
    check_bound(objective, model, value, bound)
    result = SolverResult(
        model=model,
        objective=value,
        bound=bound,
        zero_objective=objective(objective.zero())[0],
        partial_auc=found.partial_auc,
        ranker=vector,
        n_iter=n_iter,
        history=[Progress(value, bound, found.partial_auc, "pairs")],
    )
    # An interior point leaves every multiplier above zero: those without effect go.
    return result, ListedMultipliers(i, j, np.where(values > 1e-7 * values.max(), values, 0.0), n)
