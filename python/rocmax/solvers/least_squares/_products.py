"""RLS and AUC-RLS by conjugate gradients: products with X only, all labels at once."""

from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.solvers.least_squares._closed_form import is_sparse, require_size, targets


def fit_products(
    X: Any,
    labels: Bool,
    weight: F64,
    alphas: F64,
    *,
    pairwise: bool,
    tol: float,
    max_iter: int,
) -> tuple[F64, AnyArray, F64]:
    """Solve (X' L X + alpha I) w = X' L y for every column of `labels` and its alpha > 0.

    `X` is a sparse matrix, an ndarray or a `scipy.sparse.linalg.LinearOperator`: only ``X @ W`` and ``X.T @ V`` are
    formed, each once an iteration for all labels that have not converged. Preconditioned by the diagonal where X is
    sparse. O(nnz) a label and iteration; the number of iterations is at most about sqrt(condition number) log(1 / tol).

    Returns
    -------
    coef : ndarray of shape (n_labels, n_features)
    n_iter : ndarray of shape (n_labels,)
    residual : ndarray of shape (n_labels,)
        |X' L y - (X' L X + alpha I) w| / |X' L y|.
    """
    system = _System(X, labels, weight, alphas, pairwise=pairwise)
    rhs = system.rhs()
    norm = np.linalg.norm(rhs, axis=0)
    require_size(norm, system.times(rhs, np.arange(rhs.shape[1])))
    n_labels = rhs.shape[1]
    W, R = np.zeros_like(rhs), rhs.copy()
    target = min(tol, 1.0) * norm
    n_iter = np.zeros(n_labels, dtype=np.int64)
    Z = system.precondition(R, slice(None))
    P, rho = Z.copy(), np.einsum("ij,ij->j", R, Z)
    active = np.flatnonzero(np.linalg.norm(R, axis=0) > target)
    for _ in range(max_iter):
        if len(active) == 0:
            break
        direction = P[:, active]
        image = system.times(direction, active)
        step = rho[active] / np.einsum("ij,ij->j", direction, image)
        W[:, active] += step * direction
        R[:, active] -= step * image
        n_iter[active] += 1
        active = active[np.linalg.norm(R[:, active], axis=0) > target[active]]
        Z = system.precondition(R[:, active], active)
        new = np.einsum("ij,ij->j", R[:, active], Z)
        P[:, active] = Z + new / rho[active] * P[:, active]
        rho[active] = new
    everything = np.arange(n_labels)
    left = np.linalg.norm(rhs - system.times(W, everything), axis=0)
    return W.T.copy(), n_iter, left / np.where(norm > 0, norm, 1.0)


class _System:
    """The normal equations, divided by W_+ W_- (RLS: by 1) so that no label's numbers are huge."""

    def __init__(self, X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> None:
        self._X, self._Xt, self._labels = X, X.T, labels
        self._pairwise = pairwise
        column = weight[:, None]
        if pairwise:
            # L / (W_+ W_-) = diag(u_+ + u_-) - u_+ u_-' - u_- u_+', u_+ and u_- the weights' shares of their class.
            self._of_pos = np.where(labels, column, 0.0)
            self._of_neg = np.where(labels, 0.0, column)
            w_pos, w_neg = self._of_pos.sum(axis=0), self._of_neg.sum(axis=0)
            self._of_pos /= w_pos
            self._of_neg /= w_neg
            self._ridge = alphas / (w_pos * w_neg)
            self._diagonal = self._of_pos + self._of_neg
        else:
            self._ridge = alphas
            self._diagonal = np.broadcast_to(column, labels.shape)
        self._inverse_diagonal = self._preconditioner()

    def _preconditioner(self) -> F64 | None:
        if not is_sparse(self._X):
            return None
        diagonal = np.asarray(self._X.multiply(self._X).T @ self._diagonal)
        if self._pairwise:
            diagonal -= 2 * (self._Xt @ self._of_pos) * (self._Xt @ self._of_neg)
        diagonal = np.maximum(diagonal, 0) + self._ridge
        return np.asarray(1 / diagonal)

    def rhs(self) -> F64:
        if self._pairwise:  # L y / (W_+ W_-)
            return np.asarray(self._Xt @ (2 * (self._of_pos - self._of_neg)), dtype=np.float64)
        return np.asarray(self._Xt @ (self._diagonal * targets(self._labels)), dtype=np.float64)

    def precondition(self, R: F64, columns: Any) -> F64:
        return R.copy() if self._inverse_diagonal is None else np.asarray(R * self._inverse_diagonal[:, columns])

    def times(self, W: F64, columns: AnyArray) -> F64:
        F = np.asarray(self._X @ W, dtype=np.float64)
        V = self._diagonal[:, columns] * F
        if self._pairwise:
            u_pos, u_neg = self._of_pos[:, columns], self._of_neg[:, columns]
            mean_pos, mean_neg = np.einsum("ij,ij->j", u_pos, F), np.einsum("ij,ij->j", u_neg, F)
            V -= u_pos * mean_neg
            V -= u_neg * mean_pos
        V = np.asarray(self._Xt @ V, dtype=np.float64)
        V += self._ridge[columns] * W
        return V
