"""AUCSVC: the kernel machine for the whole AUC, over all or listed pairs; and the program with a variable for each."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rocmax import _core
from rocmax._parameters import check_choice, check_count, shown
from rocmax._runtime.memory import available_memory, require_memory
from rocmax._runtime.threads import n_threads
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray, Bool, KernelChoice
from rocmax.designs import Design
from rocmax.estimators._base import Data, Threshold
from rocmax.estimators._machine import Machine
from rocmax.estimators._training import Surrogate, Training
from rocmax.metrics.variances._resample import seed_of
from rocmax.risks import Oracle, PairHinge
from rocmax.solvers import Model, Objective, Progress, SolverResult, Tilt, of_cuts
from rocmax.solvers._certificate import check_bound

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
RULES = ("two-step", "symmetric")
# Bytes that a pair of `support_pairs_` takes while it is found.
_SUPPORT = 32
# The pairs per sample of pairs="random".
_PER_SAMPLE = 10
# A fit goes on to these shares of `tol` until the model of its multipliers is within `tol` too. In 40 random fits the
# second was enough, and took half as many products again.
_FINER = 10.0 ** -np.arange(5)
_STEPS = 5  # steps of all these fits: at most this many times those to `tol` and 20; 120 random problems took up to 2.8
_APART = "the model is within tol; that of its multipliers (`pair_dual`) has a gap of {:.2g}: {}lower C"


@dataclass(eq=False, repr=False)
class AUCSVC(Machine):
    """Pairwise kernel machine for the AUC: a support vector machine on pairs of a positive and a negative.

    Use it for a few thousand rows and a kernel, or for pairs of your own. The literature calls it ROC-SVM
    (reference [1]_) or AUC-SVM, and with `structure` SAUC-SVM (reference [2]_).

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rocmax import AUCSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCSVC(C=100.0).fit(StandardScaler().fit_transform(X), y)
    >>> bool(model.dual_gap_ <= model.tol_)
    True

    Parameters
    ----------
    pairs : {"all", "neighbors", "random"} or array of shape (n_pairs, 2), default="all"
        The pairs that count: all m n, those of neighbouring samples, as in the references, or random ones, drawn
        without replacement. An array lists rows of a positive and of a negative training sample, each pair once; so
        ``np.argwhere`` of a condition on two samples trains on the pairs that satisfy it.
    n_pairs : int, default=None
        Number of pairs of ``pairs="random"``; all if there are fewer. None: ten times the number of samples.
    n_neighbors : int, default=10
        k of ``pairs="neighbors"``.
    neighbor_rule : {"two-step", "symmetric"}, default="two-step"
        "two-step" (reference [1]_, and the counts of pairs in Table 2 of reference [2]_): the positives among the k
        nearest of any negative, each with its k nearest negatives. "symmetric" (the words of reference [2]_): every
        sample with its k nearest of the other class. Distances are
        Euclidean; for a precomputed kernel, in its space.
    solver : {"auto", "cvxopt"}, default="auto"
        "cvxopt" forms the dual with a variable for each pair, O(pairs^3): the reference for small problems. Needs the
        extra ``rocmax[cvxopt]``.
    max_iter : int, default=2000
        Largest number of steps, each one product of two vectors with the kernel matrix.
    warm_start : bool, default=False
        Start from the model of the previous call of ``fit`` if it has as many samples, which may save steps.
    random_state : int, Generator, RandomState or None, default=None
        Draws ``pairs="random"``: more pairs of one integer contain fewer.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_samples)
        c in f(x) = sum_l c_l k(x_l, x); with `structure` too. Without, the sums of the multipliers of ``pair_dual``.
    coef_ : ndarray of shape (1, n_features)
        w in f(x) = w'x, for kernel="linear".
    n_pairs_ : int
        Number of pairs in the mean.
    support_pairs_ : ndarray of shape (k, 2)
        The pairs (i, j) with a positive multiplier, sorted: those within the margin. With ``pairs="all"`` they are
        listed on request, from all m n pairs; a MemoryError reports the 32 bytes a pair that a list needs if these
        are not available.

    Warns
    -----
    ConvergenceWarning
    ZeroModelWarning
        The zero model is within `tol` of optimal: C is too small for the kernel.

    Notes
    -----
    Minimises ``1/2 |f|^2 + C * mean over pairs of max(0, 1 - (f(x_i) - f(x_j)))``, f in the space of a kernel. All
    m n pairs count without being formed: sums over pairs are computed along sorted scores in O(N log N), and every fit
    ends with a certified optimality gap. The published methods solve a quadratic program with a variable for each pair.
    It is :class:`PartialAUCSVC` on the full range, with the multipliers of the pairs.

    Cost: the kernel matrix once, 8 N^2 bytes (4 N^2 in float32), then O(N^2) per step. With ``kernel="linear"`` no
    matrix is formed and a step costs O(N d); each cut keeps its coefficients, 8 N bytes. A list of p pairs takes 4 p
    bytes, and a step O(p) more. `structure` costs O(N^3) once with a kernel. If the matrix does not fit in memory, use
    ``PartialAUCSVC(kernel="rbf", n_landmarks=1000)``.

    References
    ----------
    .. [1] A. Rakotomamonjy, "Optimizing area under ROC curve with SVMs", ROCAI, 2004.
    .. [2] Y. Wang, S. Chen and H. Xue, "Structure-embedded AUC-SVM", International Journal of Pattern Recognition and
       Artificial Intelligence, 2010. :doi:`10.1142/S0218001410008172`
    """

    _is_dual = True

    C: float | Literal["auto"] = "auto"
    _: KW_ONLY
    kernel: KernelChoice = "rbf"
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 0.0
    structure: float = 0.0
    pairs: Literal["all", "neighbors", "random"] | Sequence[tuple[int, int]] | AnyArray = "all"
    n_pairs: int | None = None
    n_neighbors: int = 10
    neighbor_rule: Literal["two-step", "symmetric"] = "two-step"
    solver: Literal["auto", "cvxopt"] = "auto"
    tol: float = 1e-3
    max_iter: int = 2000
    warm_start: bool = False
    kernel_dtype: Literal["float64", "float32"] = "float64"
    threshold: Threshold = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def _checked_surrogate(self) -> Surrogate:
        if isinstance(self.pairs, str):
            check_choice("pairs", self.pairs, ("all", "neighbors", "random"))
        check_count("n_neighbors", self.n_neighbors), self.n_pairs is None or check_count("n_pairs", self.n_pairs)
        check_choice("neighbor_rule", self.neighbor_rule, RULES)
        check_choice("solver", self.solver, ("auto", "cvxopt"))
        return "tight"

    def _restricted_to_pairs(self, data: Data, surrogate: Surrogate, threads: int) -> Surrogate:
        X, positive, weight = data
        self._positive, name = positive, self.pairs if isinstance(self.pairs, str) else "an array"
        if weight is not None and (name, self.solver) != ("all", "auto"):
            raise ValueError(
                f"sample_weight needs pairs='all' and solver='auto', got pairs={name!r} and solver={self.solver!r}"
            )
        problem, counted = _core.Problem(positive), positive[data.counted]
        self.n_pairs_ = int(counted.sum() * (~counted).sum())
        if name == "all" and self.solver == "auto":
            return surrogate
        if name == "all":
            pairs = _core.PairList.all(problem, threads)
        elif name == "random":
            n_pairs = _PER_SAMPLE * len(positive) if self.n_pairs is None else self.n_pairs
            pairs = _core.PairList.random(problem, min(n_pairs, self.n_pairs_), seed_of(self.random_state), threads)
        elif name == "neighbors":
            kernel = self._kernel.name == "precomputed"
            pairs = neighbor_pairs(X, problem, self.n_neighbors, self.neighbor_rule, threads, kernel=kernel)
        else:
            rows = rows_of_pairs(self.pairs, positive, "'all', 'neighbors', 'random' or an array of shape (n_pairs, 2)")
            pairs = _core.PairList.listed(problem, rows, threads)
        self.n_pairs_ = len(pairs)
        return pairs

    def _solved(self, training: Training, surrogate: Surrogate, C: float, **options: Any) -> SolverResult:
        """Minimise the objective and keep the multipliers of the pairs, which make the model."""
        design, problem, tol, max_iter = training.design, training.problem, options["tol"], options["max_iter"]
        oracle, bundle = training.bound(surrogate)
        assert isinstance(oracle, Oracle)  # its surrogates are convex

        if self.solver == "cvxopt":
            assert isinstance(oracle, PairHinge)
            result, values = minimise_pairs(oracle, design, C, tol=tol, max_iter=max_iter)
        else:
            # By planes alone: the multipliers of pairs follow from cuts at one order of the scores.
            design.divisible = False
            objective, n_iter, most = Objective(oracle, design.accurate(), C), 0, max_iter
            history: list[Progress] = []
            for accuracy in tol * _FINER:
                options |= {"tol": accuracy, "max_iter": most - n_iter}
                found = training.fit(surrogate, C, **options)
                history, n_iter = history + found.history, n_iter + found.n_iter
                most = min(most, _STEPS * (n_iter + 20))
                # The weights of the cuts, more accurate than the steps need them.
                bundle.minimise(C, Tilt(design), tol=1e-3 * accuracy * found.objective)
                exact = of_cuts(replace(found, n_iter=n_iter, history=history), bundle, objective)
                made = exact.gap <= tol and exact.model.norm > 0
                if made or found.gap > accuracy or n_iter >= most:
                    break
                options["start"] = found.model
            if not made and found.gap <= tol and exact.model.norm > 0:
                more = "raise max_iter, or " if n_iter >= max_iter else ""
                warn(_APART.format(exact.gap, more), ConvergenceWarning)
            result = exact if made else replace(found, n_iter=n_iter, history=history)
            coefs = bundle.vectors[:, : problem.n_samples]
            if isinstance(oracle, PairHinge):
                values = oracle.multipliers(bundle.weights, coefs)
        self._multipliers = (
            ListedMultipliers(oracle.pairs, values, problem.n_samples)
            if isinstance(oracle, PairHinge)
            else CutMultipliers(bundle.weights, coefs, problem)
        )
        return result

    @property
    def support_pairs_(self) -> NDArray[np.intp]:
        check_is_fitted(self)
        return self._multipliers.support()

    def pair_dual(self, i: Any, j: Any) -> F64:
        """Return the multipliers al_ij of pairs of training rows, 0 <= al_ij <= C / (number of pairs).

        To the accuracy of the fit, al_ij is 0 if f(x_i) - f(x_j) > 1, C / (number of pairs) if it is below, and
        between the two if it is equal (the first reference of the class, Proposition 3.2.1). With sample weights the
        upper limit is C times the share of w_i w_j in the sum over all pairs. In the space of the kernel (under the
        metric of `structure`), sum_j al_ij are the coefficients of the positives, minus sum_i al_ij of the negatives:
        the model of a fit without a warning is the one that its multipliers make.

        Parameters
        ----------
        i : int or array-like of int
            Rows of positive training samples.
        j : int or array-like of int
            Rows of negative training samples; broadcast against `i`.

        Returns
        -------
        ndarray
            al, in the shape that `i` and `j` broadcast to. O(cuts) per pair.
        """
        check_is_fitted(self)
        first, second = check_pairs(i, j, self._positive)
        return self._multipliers(first, second)


def neighbor_pairs(
    X: Any, problem: _core.Problem, k: int, rule: str, threads: int, *, kernel: bool = False
) -> _core.PairList:
    """Return the pairs of near samples by the rule of :class:`AUCSVC`; of equal distances the lower row is nearer."""
    if hasattr(X, "toarray"):
        n_bytes = 8 * X.shape[0] * X.shape[1]
        require_memory(n_bytes, "pairs='neighbors' makes a sparse X dense, which", "use pairs='all'")
        X = X.toarray()
    values = np.ascontiguousarray(X, dtype=np.float64)
    return _core.PairList.neighbors(problem, (values, kernel), k, rule == "two-step", threads)


def rows_of_pairs(pairs: Any, positive: Bool, domain: str = "an array of shape (n_pairs, 2)") -> NDArray[np.int64]:
    """Check and return pairs that a user lists: rows of a positive and of a negative sample."""
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2:
        what = f"an array of shape {rows.shape}" if rows.ndim else repr(pairs)
        raise ValueError(f"pairs must be {domain}, got {what}")
    i, j = check_pairs(rows[:, 0], rows[:, 1], positive, ("pairs[:, 0]", "pairs[:, 1]"))
    return np.column_stack([i, j]).astype(np.int64, copy=False)


class CutMultipliers:
    """Multipliers of all pairs, al_ij = share_i share_j sum_k weight_k 1[cut k counts (i, j)]; memory O(cuts N)."""

    def __init__(self, weights: F64, coefs: F64, problem: _core.Problem) -> None:
        positive, weight = problem.labels, problem.sample_weight
        own = np.ones(len(positive)) if weight is None else weight
        totals = own[positive].sum(), own[~positive].sum()
        self._labels, self._own = positive, weight
        self._share = own / np.where(positive, *totals)
        self._weights = np.ascontiguousarray(weights[weights > 0])
        self._levels = _core.pair_levels(problem, coefs[weights > 0] * np.prod(totals))

    def support(self) -> NDArray[np.intp]:
        """Return the pairs with a multiplier above 0, of shape (k, 2), sorted by positive, then by negative."""
        most = available_memory() // _SUPPORT
        problem = _core.Problem(self._labels, self._own)
        found, total = _core.pair_support(problem, self._weights, self._levels, min(most, 2**62), n_threads(None))
        if total > len(found):
            advice = "pair_dual(i, j) has the multipliers of chosen pairs without a list"
            require_memory(_SUPPORT * total, f"support_pairs_ of {total:,} pairs", advice)
        return found

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        rows = (np.ascontiguousarray(rows, dtype=np.int64).ravel() for rows in (i, j))
        found = _core.pair_multipliers(self._weights, self._levels, *rows).reshape(np.shape(i))
        return np.asarray(found * self._share[i] * self._share[j])


class ListedMultipliers:
    """Multipliers of listed pairs, sorted; others are 0."""

    def __init__(self, pairs: _core.PairList, values: F64, n_samples: int) -> None:
        kept = values > 0
        self._rows, self._values, self._n_samples = pairs.rows()[kept], values[kept], n_samples

    def support(self) -> NDArray[np.intp]:
        return self._rows.copy()

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        keys, wanted = self._rows @ [self._n_samples, 1], np.asarray(i) * self._n_samples + j
        if not len(keys):
            return np.zeros(wanted.shape)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self._values[place], 0.0)


def check_pairs(i: Any, j: Any, positive: Bool, names: tuple[str, str] = ("i", "j")) -> Pairs:
    """Check and broadcast the indices i of positive and j of negative rows."""
    checked = []
    for name, rows, known, kind in zip(names, (i, j), (positive, ~positive), ("positive", "negative"), strict=True):
        array = np.asarray(rows)
        wrong = array[~np.isin(array, np.flatnonzero(known))] if array.dtype.kind in "iu" else array.ravel()
        if len(wrong):
            raise ValueError(f"{name} must be whole numbers, rows of {kind} training samples, got {shown(wrong[0])}")
        checked.append(array.astype(np.intp))
    try:
        first, second = np.broadcast_arrays(*checked)
    except ValueError as error:
        raise ValueError(f"i and j must be one number each, or as many of each: {error}") from error
    return first, second


# The matrix, cvxopt's copy, a scaled copy and its factor.
_COPIES = 4
# An interior point method leaves every multiplier above zero; below this share of the largest one they are set to 0.
_NONE = 1e-7


def solve_pair_dual(
    gram: AnyArray, i: NDArray[np.intp], j: NDArray[np.intp], cap: float, *, tol: float, max_iter: int
) -> tuple[F64, int]:
    """Maximise sum(al) - 1/2 al' E K E' al over 0 <= al <= cap, E the incidence of the pairs (i, j).

    Returns a feasible al and the number of iterations (Rakotomamonjy, 2004, eq. 5, with kernels 12). O(p^3), 32 p^2
    bytes for p pairs.
    """
    p = len(i)
    require_memory(
        _COPIES * 8 * p * p,
        f"solver='cvxopt' on {p:,} pairs",
        "solver='auto' solves the same problem without a variable for each pair",
    )
    try:
        import cvxopt
    except ImportError as error:
        raise ImportError("solver='cvxopt' needs cvxopt: pip install cvxopt") from error

    rows = gram[i] - gram[j]
    hessian = np.asarray(rows[:, i] - rows[:, j], dtype=np.float64)
    # Units of the mean squared difference make the program independent of the scale of the kernel.
    unit = max(float(np.trace(hessian)) / p, np.finfo(float).tiny)
    hessian /= unit
    bounds = cvxopt.spdiag([cvxopt.matrix(1.0, (1, 1))] * p)
    constraints = cvxopt.sparse([[-bounds, bounds]])
    limits = cvxopt.matrix(np.repeat([0.0, cap * unit], p))
    options = {"abstol": 1e-12, "reltol": min(tol, 1e-6) / 10, "feastol": 1e-9, "maxiters": max_iter}
    options["show_progress"] = False
    found = cvxopt.solvers.qp(cvxopt.matrix(hessian), cvxopt.matrix(-1.0, (p, 1)), constraints, limits, options=options)
    return np.clip(np.array(found["x"])[:, 0] / unit, 0.0, cap), int(found["iterations"])


def minimise_pairs(
    oracle: PairHinge, design: Design, C: float, *, tol: float, max_iter: int
) -> tuple[SolverResult, F64]:
    """Minimise 1/2|f|^2 + C R(f), R the mean hinge over listed pairs; return the model and the multipliers."""
    n, (i, j) = design.n_samples, oracle.pairs.rows().T
    every = design.adjoint(np.eye(n))
    values, n_iter = solve_pair_dual(design.inner(every, every), i, j, C / len(i), tol=tol, max_iter=max_iter)
    coefs = np.asarray(np.bincount(i, values, n) - np.bincount(j, values, n), dtype=np.float64)
    model, objective = Model.of(design.adjoint(coefs[None])[0], design), Objective(oracle, design, C)
    value, found = objective(model)
    bound = float(values.sum()) - 0.5 * model.norm
    check_bound(objective, model, value, bound)
    history, of_zero = [Progress(value, bound, found.partial_auc, "pairs")], objective(objective.zero())[0]
    result = SolverResult(model, value, bound, of_zero, found.partial_auc, model.vector, n_iter, history)
    return result, np.where(values > _NONE * values.max(), values, 0.0)
