"""AUCRLS, least squares over all pairs, and RLS, least squares over the samples."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from rocmax._parameters import check_choice, check_count, check_nonnegative, check_positive
from rocmax._runtime.interrupt import interruptible
from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray, KernelChoice
from rocmax.estimators._atomic import atomic
from rocmax.estimators._least_squares import LeastSquares
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.solvers.least_squares import pair_scores

_FEWER_PAIRS = "fewer pairs need less; AUCRLSCV and RLSCV keep no scores of pairs"


@dataclass(eq=False, repr=False)
class AUCRLS(LeastSquares):
    """AUC-RLS: least squares over all pairs, which fits every difference of scores to 2, in closed form.

    Use it for a linear or kernel model without iterations; it ranks better than :class:`RLS` if positives are rare.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import AUCRLS
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> model = AUCRLS(alpha=10.0, kernel="rbf").fit(X, y)
    >>> model.decision_function(X).shape
    (200,)

    Parameters
    ----------
    alpha : float, default=1.0
        Regularisation, lambda in the paper, for a SUM over pairs (in RLS: over samples), so that its scale is
        ``m n |x|^2`` (``N |x|^2``). 0 is allowed if the solution is unique: features that are independent up to shifts,
        or a kernel that separates all samples.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        The kernel; "linear" is solved for feature weights or for sample weights, whichever are fewer.
    solver : {"auto", "direct", "cg"}, default="auto"
        - "direct": one dense factorisation by LAPACK;
        - "cg": conjugate gradients with products of X only, all labels at once (kernel="linear", alpha > 0);
        - "auto": "cg" if X is sparse with more than 2,000 samples and features, else "direct".
    tol : float, default=1e-8
        Relative residual at which "cg" stops.
    max_iter : int, default=2000
        Largest number of iterations of "cg".

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_labels, n_features)
        Feature weights; kernel="linear" only.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_labels, n_samples)
        Weights c of the training samples in f(x) = sum_k c_k k(x, x_k); with the pair loss they sum to 0. NaN if they
        are not unique: for alpha=0 and d <= N features.
    intercept_ : ndarray of shape (1,) or (n_labels,)
    n_iter_ : int
        Iterations of "cg"; 1 for "direct".

    Warns
    -----
    ConvergenceWarning
        "cg" stopped at `max_iter` with a residual above `tol`.

    Notes
    -----
    Minimises ``sum_ij w_i w_j (2 - f_i + f_j)^2 + alpha |f|^2`` over all pairs of a positive i and a negative j, f in
    the space of the kernel (linear: f = Xw, ``|f| = |w|``). This quadratic surrogate of the AUC needs no list of pairs
    and no iteration.

    Cost, multiplications: with a kernel N^3 / 3 per label, or for many labels one O(N^3) spectrum for all and O(N p^2)
    for each, with p the size of its smaller class; with d <= N features, d^2 N for all labels and d^2 p + d^3 / 3 for
    each; with "cg", O(nnz) per label and iteration. Every form is symmetric and exact for singular kernels.

    References
    ----------
    .. [1] T. Pahikkala, A. Airola, H. Suominen, J. Boberg and T. Salakoski, "Efficient AUC maximization with
       regularized least-squares", SCAI 2008, eq. 8 and 12.
    """

    alpha: float = 1.0
    _: KW_ONLY
    kernel: KernelChoice = "linear"
    gamma: Literal["scale", "auto"] | float = "scale"
    degree: float = 3
    coef0: float = 0.0
    solver: Literal["auto", "direct", "cg"] = "auto"
    tol: float = 1e-8
    max_iter: int = 2000
    threshold: Threshold = "auto"

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap, dask array} of shape (n_samples, n_features)
            Training samples; with kernel="precomputed" their kernel matrix, (n_samples, n_samples). With
            kernel="linear", a memmap is read in blocks and a dask array is multiplied where its chunks are.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels of two classes, the second in sorted order positive; or a 0/1 matrix with one problem per column.
        """
        alpha = check_nonnegative("alpha", self.alpha)
        solver = check_choice("solver", self.solver, ("auto", "direct", "cg"))
        tol, max_iter = check_positive("tol", self.tol), check_count("max_iter", self.max_iter)
        check_threshold(self.threshold)
        data = self._prepare(X, y, sample_weight, stored=True)
        self._solve(data, np.full(data.labels.shape[1], alpha), solver, tol, max_iter)
        return self

    def leave_pair_out(self, X: Any, y: Any, *, pairs: Any = None, sample_weight: Any = None) -> tuple[AnyArray, F64]:
        """Return the exact scores of pairs of samples by models trained without them; this model is not fitted.

        One factorisation for all pairs costs O(N^3) (O(d^2 N) for d < N features), then each sample in a pair O(N^2).
        For the leave-pair-out AUC of a grid of alphas use :class:`AUCRLSCV`, which keeps no scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with kernel="precomputed" their kernel matrix.
        y : array-like of shape (n_samples,)
            Labels of two classes, at least two samples of each.
        pairs : array-like of shape (n_pairs, 2), default=None
            Indices (positive, negative); None means all pairs, positive by positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Positive weights.

        Returns
        -------
        pairs : ndarray of shape (n_pairs, 2)
            The pairs.
        scores : ndarray of shape (n_pairs, 2)
            Scores of the positive and of the negative, without an intercept.
        """
        alpha = check_positive("alpha", self.alpha)
        model = type(self)(**self.get_params())
        X, labels, weight, kept, _ = model._prepare(X, y, sample_weight)
        if labels.shape[1] > 1 or not kept.all():
            raise ValueError("leave_pair_out needs one label (y of shape (n_samples,)) and weights above 0")
        pos = labels[:, 0]
        if pairs is None:
            index = np.flatnonzero(pos), np.flatnonzero(~pos)
            n_pairs = len(index[0]) * len(index[1])
            require_memory(120 * n_pairs, f"leave_pair_out of all {n_pairs:,} pairs", _FEWER_PAIRS)
            pairs = np.stack(np.meshgrid(*index, indexing="ij"), axis=-1).reshape(-1, 2)
        pairs = np.asarray(pairs)
        if (
            pairs.ndim != 2
            or pairs.shape[1] != 2
            or pairs.dtype.kind not in "iu"
            or not np.all((pairs >= 0) & (pairs < len(pos)))
            or not (np.all(pos[pairs[:, 0]]) and not np.any(pos[pairs[:, 1]]))
        ):
            raise ValueError("pairs must be rows of two indices, first of a positive, then of a negative sample")
        touched = len(np.unique(pairs))
        require_memory(
            8 * touched * (len(pos) + 2 * touched) + 64 * len(pairs),
            f"leave_pair_out of {len(pairs):,} pairs of {touched:,} samples",
            _FEWER_PAIRS,
        )
        features = model._features(X, weight, held_out=True)
        return pairs, interruptible(X.shape[0] * min(X.shape), pair_scores, features, pos, alpha, pairs)


class RLS(AUCRLS):
    """Regularised least squares on the labels +1 and -1: :class:`AUCRLS` with a loss of samples instead of pairs.

    Use it as a fast baseline: one factorisation solves all labels.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import RLS
    >>> X, y = make_classification(200, weights=[0.9], random_state=0)
    >>> RLS(alpha=10.0).fit(X, y).coef_.shape
    (1, 20)

    Notes
    -----
    Minimises ``sum_k w_k (y_k - f_k)^2 + alpha |f|^2`` without an intercept, so that c = (K + alpha W^-1)^-1 y.

    References
    ----------
    .. [1] T. Pahikkala, A. Airola, H. Suominen, J. Boberg and T. Salakoski, "Efficient AUC maximization with
       regularized least-squares", SCAI 2008, eq. 7.
    """

    _pairwise = False
