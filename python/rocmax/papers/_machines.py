"""Linear and kernel machines: GreedyPAUC, TauFPL and TwoNormSVC."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._checks.training import check_features
from rocmax._parameters import as_float, check_count, check_positive, shown
from rocmax._runtime.threads import interruptible, n_threads, one_at_a_time
from rocmax._typing import F64, Bool, KernelChoice
from rocmax.designs import as_design, linear_scores
from rocmax.estimators._base import Data, KernelRanker, Threshold, atomic, warn_if_constant, warn_unconverged
from rocmax.metrics import partial_auc_score
from rocmax.papers._stumps import PaperRanker, column, columns_of, in_memory
from rocmax.risks import Evaluation, OwnOracle
from rocmax.solvers import Objective, leave_zero, minimise_convex

# Partial areas that differ by no more are equal, so that rounding does not choose.
_TIE = 1e-12
# The largest number of steps of the grid.
_MOST = 1_000_000
# The number of score columns that are measured at once.
_AT_ONCE = 8


@dataclass(eq=False, repr=False)
class GreedyPAUC(PaperRanker):
    """A linear combination of features, found one feature at a time by the partial AUC of the training samples.

    >>> from rocmax.papers import GreedyPAUC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, 6, random_state=0)
    >>> model = GreedyPAUC((0.0, 0.2)).fit(X, y)
    >>> bool((model.partial_auc_[1:] >= model.partial_auc_[:-1] - 1e-9).all())
    True

    Parameters
    ----------
    n_steps : int, default=100
        Number of steps of the grid, at most a million.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights of the features.
    order_ : ndarray of shape (n_features,)
        The features in the order in which they were added.
    partial_auc_ : ndarray of shape (n_features,)
        The training partial AUC after each feature.

    Notes
    -----
    Features are added in the order of their own partial AUC, the best first. The combination f so far and the next
    feature g are replaced by the best of

        f + lambda g   and   lambda f + g,   lambda in a grid of equal steps of [-1, 1],

    until all features are in. The partial AUC is the area under the ROC curve on the range, divided by its width.

    Ties: tied pairs count one half. Of features or combinations that are equal to within rounding, the first is taken:
    f + lambda g before lambda f + g, small lambda before large. Weights: those of the partial AUC. Features should be
    on one scale, as the grid is the same for all. Cost: 2 d (n_steps + 1) partial AUCs of N samples, O(N) to O(N log N)
    each.

    References
    ----------
    M. T. Ricamato and F. Tortorella, "Partial AUC maximization in a linear combination of dichotomizers", Pattern
    Recognition 44, 2011. :doi:`10.1016/j.patcog.2011.03.022`
    """

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    n_steps: int = 100
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    def _checked(self) -> tuple[Any, ...]:
        fpr_range, n_steps = rate_range(self.fpr_range, "fpr_range"), check_count("n_steps", self.n_steps, _MOST)
        return fpr_range, n_steps, n_threads(self.n_jobs)

    def _learn(self, data: Data, fpr_range: tuple[float, float], n_steps: int, threads: int) -> None:
        samples, labels, weights = in_memory(data, 8)
        with np.errstate(over="ignore"):
            _require_finite(abs(samples).sum(axis=1, dtype=np.float64))  # no combination exceeds this
        columns = columns_of(samples)
        area = partial(partial_auc_score, labels, fpr_range=fpr_range, sample_weight=weights, n_jobs=threads)
        n_features = columns.shape[1]
        own = _areas(area, n_features, lambda k: column(columns, k))
        self.order_ = np.argsort(-_merged(own), kind="stable")
        self.coef_ = np.zeros((1, n_features))
        self.partial_auc_ = np.empty(n_features)
        first = self.order_[0]
        scores, self.coef_[0, first], self.partial_auc_[0] = column(columns, first), 1.0, own[first]
        for rank, feature in enumerate(self.order_[1:], 1):
            added = column(columns, feature)
            (kept, share), self.partial_auc_[rank] = _best(area, scores, added, n_steps)
            scores = kept * scores + share * added
            self.coef_ *= kept
            self.coef_[0, feature] = share

    def _scores(self, X: Any) -> F64:
        with np.errstate(over="ignore", invalid="ignore"):
            return _require_finite(linear_scores(X, self.coef_)[:, 0])


def _areas(area: Any, n: int, scores: Any) -> F64:
    """Return the partial AUCs of scores(0), ..., scores(n - 1)."""
    starts = range(0, n, _AT_ONCE)
    parts = (np.column_stack([scores(k) for k in range(first, min(first + _AT_ONCE, n))]) for first in starts)
    return np.concatenate([area(part) for part in parts])


def _best(area: Any, f: F64, g: F64, n_steps: int) -> tuple[tuple[float, float], float]:
    """Return the factors of f and g in the best sum, and its partial AUC."""

    def factors(k: int) -> tuple[float, float]:
        share = (2.0 * (k % (n_steps + 1)) - n_steps) / n_steps
        return (1.0, share) if k <= n_steps else (share, 1.0)

    areas = _areas(area, 2 * (n_steps + 1), lambda k: factors(k)[0] * f + factors(k)[1] * g)
    at = int(np.argmax(areas >= areas.max() - _TIE))
    return factors(at), float(areas[at])


def _require_finite(scores: F64) -> F64:
    """Return the scores if they are finite."""
    if not np.isfinite(scores).all():
        raise ValueError("X is too large for sums of its features: scale them")
    return scores


def _merged(values: F64) -> F64:
    """Raise each value that is within rounding of the next higher value to that value."""
    descending = np.argsort(-values, kind="stable")
    close = np.append(False, -np.diff(values[descending]) <= _TIE)
    starts = np.maximum.accumulate(np.where(close, 0, np.arange(len(values))))
    merged = np.empty_like(values)
    merged[descending] = values[descending][starts]
    return merged


@dataclass(eq=False, repr=False)
class TauFPL(PaperRanker):
    """Linear machine that ranks positives above the mean of the highest share tau of the negatives.

    >>> from rocmax.papers import TauFPL
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, random_state=0)
    >>> bool(TauFPL(0.1).fit(X, y).dual_gap_ <= 1e-3)
    True

    Parameters
    ----------
    tau : float, default=0.1
        The share of the negatives, in (0, 1].
    C : float, default=1.0
        Weight of the MEAN loss of the positives; 1 / C is lambda in the paper.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        w.
    objective_ : float
        ``1/2 |w|^2 + C R(Xw)``.
    dual_gap_ : float
    n_iter_ : int

    Warns
    -----
    ConvergenceWarning

    Notes
    -----
    Minimises ``1/2 |w|^2 + C R(Xw)``, with the convex risk

        R(s) = 1/m sum_i (1 - s_i + tbar)_+^2,   tbar = the mean of the j highest scores of negatives, j = ceil(n tau),

    by cutting planes, to a certified gap. If the zero model is within `tol` of optimal, it is replaced by a short model
    that ranks.

    It replaces the asymmetric support vector machine of Wu, Lin, Chen and Chen (KDD 2008), with which the paper on
    partial AUC compares without restating its formulation. `threshold` replaces the bootstrap threshold of the
    reference. Ties: of equal scores at rank j any may count; tbar is the same. Weights: both means are weighted, and
    the last of the highest negatives counts in part. Cost per step: one product with X and one with its transpose.

    References
    ----------
    A. Zhang, N. Li, J. Pu, J. Wang, J. Yan and H. Zha, "tau-FPL: tolerance-constrained learning in linear time", AAAI,
    2018. :doi:`10.1609/aaai.v32i1.11789`
    """

    tau: float = 0.1
    _: KW_ONLY
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 2000
    threshold: Threshold = "auto"

    def _checked(self) -> tuple[Any, ...]:
        tau = as_float(self.tau)
        if not 1e-100 < tau <= 1.0:
            raise ValueError(f"tau must be a number above 0 and at most 1, got {shown(self.tau)}")
        C, tol = check_positive("C", self.C), check_positive("tol", self.tol)
        return tau, C, tol, check_count("max_iter", self.max_iter)

    def _learn(self, data: Data, tau: float, C: float, tol: float, max_iter: int) -> None:
        X, positive, weight = data
        problem = _core.Problem(positive, weight)
        _, top = problem.ranks(0.0, tau)
        risk = TopMean(positive, np.ones(len(positive)) if weight is None else weight, top)
        with np.errstate(over="ignore", invalid="ignore"):  # the risk reports overflow
            design = as_design(X)
            result = minimise_convex(risk, design, C, tol=tol, max_iter=max_iter)
            result = leave_zero(result, Objective(risk, design, C), problem, tol)
        self.coef_ = result.model.vector[None].copy()
        self.objective_, self.dual_gap_, self.n_iter_ = result.objective, result.gap, result.n_iter
        warn_unconverged(self, tol)

    def _scores(self, X: Any) -> F64:
        return linear_scores(X, self.coef_)[:, 0]


class TopMean(OwnOracle):
    """R(s) = 1/m sum_i (1 - s_i + tbar)_+^2, with tbar the mean of the highest negatives of total weight `top`."""

    def __init__(self, positive: Bool, weight: F64, top: float) -> None:
        self._pos, self._neg = np.flatnonzero(positive & (weight > 0)), np.flatnonzero(~positive & (weight > 0))
        self._share = weight[self._pos] / weight[self._pos].sum()
        self._weight, self._top = weight[self._neg], top

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk in O(N log N); ``partial_auc`` is the share of correct pairs with the highest negatives."""
        s, t = scores[self._pos], scores[self._neg]
        order = np.argsort(-t, kind="stable")
        before = np.cumsum(self._weight[order]) - self._weight[order]
        counted = np.clip(self._top - before, 0.0, self._weight[order]) / self._top
        order, counted = order[counted > 0], counted[counted > 0]
        slack = np.maximum(1.0 - s + counted @ t[order], 0.0)
        coef = np.zeros(len(scores))
        coef[self._pos] = -2.0 * self._share * slack
        coef[self._neg[order]] = 2.0 * (self._share @ slack) * counted
        value = float(self._share @ slack**2)
        if not np.isfinite(value):
            raise ValueError("X is too large for its products with a model: scale the features")
        ascending = t[order][::-1]
        below = np.append(0.0, np.cumsum(counted[::-1]))[np.searchsorted(ascending, s, side="left")]
        # coef . s = 2 sum share slack (slack - 1), so that the rest needs no scores.
        offset = float(self._share @ (slack * (2.0 - slack)))
        return Evaluation(value, coef, float(self._share @ below), offset)


# The limit of libsvm, which scikit-learn removes: without it, a fit whose rounding exceeds `tol` never ends.
_MAX_ITER = 10_000_000
# A negative eigenvalue of up to this share of the sum of all may be the rounding of single precision.
_SINGLE = 1e-6


@dataclass(eq=False, repr=False)
class TwoNormSVC(KernelRanker):
    """2-norm SVM: a support vector machine with squared slacks, whose training AUC is 1 in a space of its own.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from rocmax.papers import TwoNormSVC
    >>> X, y = make_classification(200, flip_y=0.2, random_state=0)
    >>> model = TwoNormSVC().fit(X, y)
    >>> float(roc_auc_score(y, model.decision_function_in_feature_space(X)))
    1.0

    Parameters
    ----------
    C : float, default=1.0
        Weight of the SUM of squared slacks over the samples.
    tol : float, default=1e-3
        Stopping tolerance of ``sklearn.svm.SVC``.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_samples)
        al_i y_i.
    coef_ : ndarray of shape (1, n_features)
        w; kernel="linear" only.
    intercept_ : ndarray of shape (1,)
        b.
    support_ : ndarray of shape (k,)
        Rows of the training samples with al_i > 0.
    objective_ : float
        ``1/2 |w|^2 + C sum_i xi_i^2``.

    Notes
    -----
    Minimises ``1/2 |w|^2 + C sum_i xi_i^2``, ``y_i (f(x_i) + b) >= 1 - xi_i``, through its dual

        max sum al - 1/2 al' Y (K + I / (2C)) Y al,   y'al = 0, al >= 0,

    a hard-margin machine with the kernel k'(x_i, x_j) = k(x_i, x_j) + 1[i = j] / (2C). In the space H' of k' the
    training samples are separable, so that scores there rank every training pair correctly. On new samples k' = k.

    Solved by ``sklearn.svm.SVC`` with the kernel matrix of k', 8 N^2 bytes, which is refused before it is formed if it
    cannot fit in memory. Kernels other than "linear" and "rbf" are checked to be positive semidefinite, in twice the
    memory and N^3 / 3 multiplications. After Ctrl-C, libsvm may continue in its own thread. Eq. 15 of the paper lacks
    the factors 1/2 and 2.

    References
    ----------
    A. Rakotomamonjy, "Optimizing area under ROC curve with SVMs", ROCAI, 2004, section 3.6.
    """

    C: float = 1.0
    _: KW_ONLY
    kernel: KernelChoice = "rbf"
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 0.0
    tol: float = 1e-3

    @atomic
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples; their kernel matrix if ``kernel="precomputed"``.

        Raises
        ------
        ValueError
            Also if the kernel is not positive semidefinite.
        """
        C, tol = check_positive("C", self.C), check_positive("tol", self.tol)
        X, positive, _ = self._validated(X, y)
        gram = self._set_kernel(X).gram(X, np.float64)
        n = len(gram)
        if self._kernel.name not in ("linear", "rbf"):  # these are semidefinite
            interruptible(gram.size, _require_definite, gram)
        ridge, diagonal = 1.0 / (2.0 * C), np.diag(gram)
        if np.any(diagonal + ridge == diagonal):
            raise ValueError(
                f"kernel, or X, is too large for C={C:g}: k(x, x) reaches {diagonal.max():.1e}, beside which "
                "1 / (2 C) is lost in rounding; scale the features, divide the kernel by a number, or lower C"
            )
        gram[np.diag_indices(n)] += ridge
        # al_i = 2 C xi_i, and the objective at zero, C N, bounds every xi_i^2 by N, so that this bound is not reached.
        svc = SVC(C=4.0 * C * np.sqrt(n), kernel="precomputed", tol=tol, max_iter=_MAX_ITER)
        with one_at_a_time():  # its checks are scikit-learn's
            interruptible(gram.size, svc.fit, gram, positive)
        coefs = np.zeros(n)
        coefs[svc.support_] = svc.dual_coef_[0]
        self.dual_coef_ = coefs[None]
        self.intercept_, self.threshold_ = np.array(svc.intercept_, dtype=np.float64), 0.0
        self.support_ = np.asarray(svc.support_, dtype=np.intp)
        if self._kernel.name == "linear":
            self.coef_ = as_design(X).adjoint(self.dual_coef_)
        else:
            self.__dict__.update(self._support_of(X, self.dual_coef_))
        self._extra = coefs * ridge
        # Only rows equal to a row of the support add anything in H'.
        keys = _hashes(X)
        known = {keys[row] for row in self.support_}
        self._rows = [(row, key) for row, key in enumerate(keys) if key in known]
        scores = gram @ coefs - self._extra
        warn_if_constant(scores)
        slack = np.maximum(0.0, 1.0 - np.where(positive, 1.0, -1.0) * (scores + self.intercept_))
        self.objective_ = float(0.5 * coefs @ scores + C * slack @ slack)
        return self

    def decision_function_in_feature_space(self, X: Any, train_index: Any = None) -> F64:
        """Return f'(x) + b in H': the decision function, plus al_i y_i / (2C) where x is training sample i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        train_index : array-like of shape (n_samples,), default=None
            The training row that each row is, or -1 for a new sample. By default, the k-th copy of a row in X is the
            k-th copy in the training samples; further copies are new samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores in H'. On all training rows their AUC is 1.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        n = self.dual_coef_.shape[1]
        if train_index is None:
            index = self._match(X)
        else:
            index = np.asarray(train_index)
            if index.shape != (X.shape[0],) or index.dtype.kind not in "iu":
                each = f"one whole number for each of the {X.shape[0]} rows of X"
                raise ValueError(f"train_index must hold {each}, got {shown(train_index)}")
            if len(wrong := index[(index < -1) | (index >= n)]):
                raise ValueError(f"train_index must hold -1 or training rows, 0 to {n - 1}, got {wrong[0]}")
        return np.asarray(self._scores(X) + self.intercept_[0] + np.append(self._extra, 0.0)[index])

    def _match(self, X: Any) -> NDArray[np.intp]:
        waiting: dict[bytes, list[int]] = {}
        for row, key in self._rows:
            waiting.setdefault(key, []).append(row)
        for rows in waiting.values():
            rows.reverse()
        of_rows = (waiting.get(key, []) for key in _hashes(X))
        return np.array([rows.pop() if rows else -1 for rows in of_rows], dtype=np.intp)


def _require_definite(gram: F64) -> None:
    """Refuse a kernel matrix with a negative eigenvalue beyond the rounding of single precision."""
    size = float(np.trace(gram))
    shifted = gram.copy()
    shifted[np.diag_indices(len(gram))] += _SINGLE * abs(size) + np.finfo(np.float64).tiny
    try:
        if size < 0:
            raise LinAlgError
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise ValueError(
            "kernel must be positive semidefinite, got one whose matrix over the training samples has an eigenvalue "
            "below 0: the problem is not convex; use another kernel, such as 'rbf', or other parameters of it"
        ) from None


def _hashes(X: Any) -> list[bytes]:
    """Return the bytes of each row as float64."""
    rows = (X[k : k + 1] for k in range(X.shape[0]))
    dense = (row.toarray() if hasattr(row, "toarray") else row for row in rows)
    return [(np.asarray(row, dtype=np.float64) + 0.0).tobytes() for row in dense]
