"""TwoNormSVC: squared slacks, and the space in which the training samples are ranked perfectly."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from rocmax._checks.training import check_features
from rocmax._parameters import check_positive
from rocmax._runtime.interrupt import interruptible
from rocmax._runtime.threads import one_at_a_time
from rocmax._typing import F64, KernelChoice
from rocmax.designs import as_design
from rocmax.estimators._base import atomic, warn_if_constant
from rocmax.estimators._kernels import KernelRanker, support_of

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
            self.__dict__.update(support_of(self._kernel, X, self.dual_coef_))
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
                raise ValueError(
                    f"train_index must hold one whole number for each of the {X.shape[0]} rows of X, got shape "
                    f"{index.shape} and dtype {index.dtype}"
                )
            if np.any((index < -1) | (index >= n)):
                raise ValueError(f"train_index must be -1 or a training row, 0 to {n - 1}, got {index.min()} and above")
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
