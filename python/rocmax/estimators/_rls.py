"""AUCRLS, least squares over all pairs, RLS, least squares over the samples, and the base of both."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, column_or_1d

from rocmax import _core
from rocmax._checks.training import check_training_data
from rocmax._parameters import check_choice, check_count, check_nonnegative, check_positive, shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import interruptible, one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._typing import F64, AnyArray, Bool, KernelChoice
from rocmax.designs import is_dask, is_sparse, is_stored, linear_scores
from rocmax.designs._blocks import in_rows
from rocmax.estimators._base import Data, KernelRanker, Threshold, atomic, check_threshold, warn_if_constant
from rocmax.estimators._certificate import CertificateMixin, Proof
from rocmax.estimators._folds import row_numbers
from rocmax.estimators._pairwise import rows_of_pairs
from rocmax.solvers import _least_squares as least_squares
from rocmax.solvers._held_out import pair_scores
from rocmax.solvers._least_squares import Features, KernelFeatures, LinearFeatures, Loss

# The smaller side of a sparse X up to which a dense factorisation is preferred to products.
_DIRECT = 2000
_SAME = 1e-9  # by how much scores may differ in rounding, relative to the largest
_FEWER = "fewer samples or fewer features need less"
_ADVICE = _FEWER + ", as does solver='cg' for kernel='linear'"


class LabelledRows(NamedTuple):
    """The training samples, those `kept` for their positive weight; all of them if X is stored. And all as given."""

    X: Any
    labels: Bool
    weight: F64
    kept: Bool
    given: Data


class LeastSquares(CertificateMixin, KernelRanker):
    """A ranker of one or many labels, linear or with a kernel, fitted by least squares."""

    _pairwise = True

    def decision_function(self, X: Any) -> F64:
        scores = super().decision_function(X)
        return scores if self._multilabel else scores[:, 0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _scores(self, X: Any) -> F64:
        """Return the scores before the intercept: shape (n_samples, n_labels)."""
        if not hasattr(self, "coef_"):
            return self._kernel.scores(X, self._samples, self.dual_coef_[:, self._support].T)
        return linear_scores(X, self.coef_)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, stored: bool = False) -> LabelledRows:
        """Check the data; set classes_ and the kernel. With `stored`, a memmap or dask array stays where it is."""
        if is_dask(X) and not stored:
            raise ValueError("dask input is not supported for cross-validation; pass X.compute(), or fit AUCRLS or RLS")
        stored = stored and is_stored(X) and self.kernel == "linear"
        if isinstance(X, np.memmap) and not stored:
            X = np.asarray(X)
        X, labels, found = given = self._validated(X, y, sample_weight)
        weight, kept = np.ones(X.shape[0]) if found is None else found, given.counted
        self._set_kernel(X, found)
        if not (stored or kept.all()):
            X = X[np.ix_(kept, kept)] if self.kernel == "precomputed" else X[kept]
            labels, weight = labels[kept], weight[kept]
        n_samples = int((weight > 0).sum())
        for column, n_pos in enumerate(labels[weight > 0].sum(axis=0)):
            if n_pos == 0 or n_pos == n_samples:
                where = f"column {column} of y" if self._multilabel else "y"
                raise ValueError(
                    f"{where} holds one class only (samples of positive weight: {n_pos} positive, "
                    f"{n_samples - n_pos} negative); both classes are needed"
                )
            _core.Problem(labels[:, column].copy(), weight)  # refuses weights that overflow or vanish
        return LabelledRows(X, labels, weight, np.ones_like(kept) if stored else kept, given)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        return check_training_data(self, X, y, multi_output=True)

    def _two_classes(self, y: Any, weight: F64 | None) -> Bool:
        """Set ``classes_``; return which labels are positive, of shape (n_samples, n_labels)."""
        y = y.toarray() if is_sparse(y) else np.asarray(y)
        self._multilabel = y.ndim == 2 and y.shape[1] > 1
        if not self._multilabel:
            if y.ndim != 1:
                with one_at_a_time():
                    y = column_or_1d(y, warn=True)
            # Samples of weight 0 may be of a third class.
            return super()._two_classes(y, None if weight is None or len(np.unique(y)) == 2 else weight)[:, None]
        labels = in_rows(y == 1)
        if not np.all(labels | (y == 0)):
            raise ValueError(
                "y of shape (n_samples, n_labels) must hold 0 and 1 only; for many classes use one column each"
            )
        self.classes_ = np.array([0, 1])
        return np.asarray(labels)

    def _features(self, X: Any, weight: F64, *, held_out: bool) -> Features:
        """Return the samples in the form that closed forms and held-out scores need, unless memory is too small."""
        (n, dim), advice = X.shape, _FEWER if held_out else _ADVICE
        pairwise, rows = self._pairwise, row_numbers(X) if held_out else None
        # The system of the features, if it is smaller or X is stored.
        if self.kernel == "linear" and (dim <= n or is_stored(X)):
            what = f"the closed form in {dim:,} features" + (f", {n:,} samples held out," if held_out else "")
            n_rows = 5 * dim + (3 * n if held_out else 0)  # of moments, a factor, and X V if samples are held out
            require_memory(8 * n_rows * dim, what, advice)
            return interruptible(n * dim, LinearFeatures, X, weight, pairwise=pairwise, rows=rows)
        require_memory(8 * n**2, f"the kernel matrix of {n} samples in float64")
        n_matrices = 5 if held_out else 4  # the kernel matrix, its copies and factors
        require_memory(8 * n_matrices * n**2, f"the closed form in the kernel space of {n:,} samples", advice)
        K = self._kernel(X, X) if self._kernel.name == "precomputed" else self._kernel.gram(X, np.float64)
        return KernelFeatures(K, weight, pairwise=pairwise, rows=rows)

    def _solve(
        self,
        data: LabelledRows,
        alphas: F64,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 2000,
        features: Features | None = None,
    ) -> None:
        """Fit each label at its alpha and set the fitted attributes; `features` of `data` are made unless given."""
        X, labels, weight, kept, _ = data
        if solver == "auto":
            products = self.kernel == "linear" and is_sparse(X) and min(X.shape) > _DIRECT
            solver = "cg" if products else "direct"
        if solver == "cg" and (self.kernel != "linear" or is_stored(X) or alphas.min() <= 0):
            raise ValueError(
                f"solver='cg' needs kernel='linear', X in memory and alpha > 0, got kernel={shown(self.kernel)}, "
                f"{type(X).__name__} and alpha={alphas.min():g}; use solver='direct'"
            )
        self.n_iter_ = 1
        dual: F64 | None = None
        if solver == "cg":
            self.coef_ = self._conjugate_gradients(data, alphas, tol, max_iter)
        else:
            features = features or self._features(X, weight, held_out=False)
            work = X.shape[0] * min(X.shape)
            coefs = interruptible(work, least_squares.fit, features, labels, alphas)
            if isinstance(features, LinearFeatures):
                self.coef_ = coefs
            else:
                dual = coefs
                if self.kernel == "linear":
                    self.coef_ = np.asarray((X.T @ dual.T).T, dtype=np.float64)
        if dual is None or self.kernel == "linear":
            scores = self._scores(X)
        else:
            assert isinstance(features, KernelFeatures)
            scores = features.matrix @ dual.T
        if not np.isfinite(scores).all():
            raise ValueError("the model is not finite: its numbers overflow; scale the features, alpha or the weights")
        if dual is None:
            dual = self._dual_of(scores, labels, weight, alphas)
        self.dual_coef_ = np.zeros((labels.shape[1], len(kept)))
        self.dual_coef_[:, kept] = dual
        if self.kernel != "linear":
            self.__dict__.update(self._support_of(data.given.X, self.dual_coef_))
        if self._kernel.name not in ("linear", "precomputed"):
            scores = self._scores(X)  # to the last bit those of `predict`
        counted = None if np.all(weight == 1.0) else weight
        cuts = [self._cut(Data(f, pos, counted)) for f, pos in zip(scores.T, labels.T, strict=True)]
        self.intercept_ = np.concatenate([cut["intercept_"] for cut in cuts])
        self._set("threshold_", [cut["threshold_"] for cut in cuts])
        self._proof = partial(self._proved, data, scores, alphas)  # takes products with X, which few models need
        for column in scores.T:
            warn_if_constant(column, "no feature separates the classes, or alpha is too large")

    def _set(self, name: str, values: Sequence[Any]) -> None:
        setattr(self, name, np.array(values) if self._multilabel else values[0])

    def _proved(self, data: LabelledRows, scores: F64, alphas: F64) -> Proof | str:
        """Return the proof: the tangent of the loss at the scores of the model."""
        if len(alphas) > 1 or alphas[0] == 0 or self._kernel.function is not None:
            return "least squares need one label, alpha above 0 and a kernel by name or kernel='precomputed'"
        *_, kept, given = data
        C, tangent = 0.5 / float(alphas[0]), np.zeros(len(kept))
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.allclose(self._scores(given.X)[kept], scores, rtol=_SAME, atol=_SAME * np.abs(scores).max()):
                return "X or the coefficients have changed since the fit"
        tangent[kept] = scores[:, 0]
        given = given._replace(positive=given.positive[:, 0])
        model = (self.coef_ if self._kernel.name == "linear" else self.dual_coef_)[0].copy()
        known = {"surrogate": "pairs" if self._pairwise else "samples", "C": C, "model": model, "tangent": tangent}
        proof = Proof.of([], given, self._kernel, objective=np.inf, bound=np.inf, fpr_range=(0.0, 1.0), **known)
        with np.errstate(over="ignore", invalid="ignore"):
            proof = proof.by_samples(given)
        if not np.isfinite([C, proof.known["objective"], proof.known["bound"]]).all():
            return "its numbers overflow; scale the features, alpha or the weights"
        return proof

    def _conjugate_gradients(self, data: LabelledRows, alphas: F64, tol: float, max_iter: int) -> F64:
        X, labels, weight, *_ = data
        coef, n_iter, residual = least_squares.fit_products(
            X, labels, weight, alphas, pairwise=self._pairwise, tol=tol, max_iter=max_iter
        )
        self.n_iter_ = max(1, int(n_iter.max()))
        worst = float(residual.max())
        if worst > 2 * tol:
            stopped = self.n_iter_ >= max_iter
            what = "stopped" if stopped else "stalled, at floating-point accuracy,"
            raised = "max_iter, tol or alpha" if stopped else "tol or alpha"
            warn(
                f"conjugate gradients {what} after {self.n_iter_} iterations (max_iter={max_iter}) at a relative "
                f"residual of {worst:.2g}, above tol={tol:g}; raise {raised}, or scale the features",
                ConvergenceWarning,
            )
        return coef

    def _dual_of(self, scores: F64, labels: Bool, weight: F64, alphas: F64) -> F64:
        """Return c = L (y - f) / alpha; NaN if alpha is 0, or so small that c overflows."""
        dual = np.full(scores.T.shape, np.nan)
        for c, f, pos, alpha in zip(dual, scores.T, labels.T, alphas, strict=True):
            if alpha > 0:
                loss = Loss.pairs(pos, weight) if self._pairwise else Loss.samples(weight)
                with np.errstate(over="ignore"):
                    c[:] = loss.times(least_squares.targets(pos) - f) / alpha
        dual[~np.isfinite(dual)] = np.nan
        return dual


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
        pairs = rows_of_pairs(pairs, pos)
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
