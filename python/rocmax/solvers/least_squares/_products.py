"""RLS and AUC-RLS by conjugate gradients: only products with X, for all labels at once."""

from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_sparse
from rocmax.solvers.least_squares._loss import targets
from rocmax.solvers.least_squares._spectrum import require_size


@np.errstate(over="ignore", invalid="ignore")  # the caller refuses what is not finite
def fit_products(
    X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool, tol: float, max_iter: int
) -> tuple[F64, AnyArray, F64]:
    """Solve (X' L X + alpha I) w = X' L y for every column of `labels` and its alpha > 0.

    `X` is a sparse matrix, an ndarray or a `LinearOperator`. Each iteration forms ``X @ W`` and ``X.T @ V`` for all
    labels that have not converged. Preconditioned by the diagonal if X is sparse. About sqrt(condition number)
    log(1 / tol) iterations at most. Returns the coefficients (n_labels, n_features), and the iterations and the
    relative residual of each label.
    """
    system = _System(X, labels, weight, alphas, pairwise=pairwise)
    rhs, everything = system.rhs, np.arange(labels.shape[1])
    norm = np.linalg.norm(rhs, axis=0)
    require_size(norm, system.times(rhs, everything))
    W, R = np.zeros_like(rhs), rhs.copy()
    n_iter = np.zeros(len(everything), dtype=np.int64)
    P = Z = system.inverse_diagonal * R
    rho = np.einsum("ij,ij->j", R, Z)
    active = np.flatnonzero(norm > min(tol, 1.0) * norm)
    for _ in range(max_iter):
        if len(active) == 0:
            break
        direction = P[:, active]
        image = system.times(direction, active)
        step = rho[active] / np.einsum("ij,ij->j", direction, image)
        W[:, active] += step * direction
        R[:, active] -= step * image
        n_iter[active] += 1
        active = active[np.linalg.norm(R[:, active], axis=0) > min(tol, 1.0) * norm[active]]
        Z = system.inverse_diagonal[:, active] * R[:, active]
        new = np.einsum("ij,ij->j", R[:, active], Z)
        P[:, active] = Z + new / rho[active] * P[:, active]
        rho[active] = new
    left = np.linalg.norm(rhs - system.times(W, everything), axis=0)
    return W.T.copy(), n_iter, left / np.where(norm > 0, norm, 1.0)


class _System:
    """The normal equations, divided by W_+ W_- (RLS: by 1) to keep their numbers small.

    L / (W_+ W_-) = diag(u_+ + u_-) - u_+ u_-' - u_- u_+', u_+ and u_- the weights' shares of their class; RLS has only
    the weights, as the diagonal.
    """

    def __init__(self, X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> None:
        self._X, self._Xt, self._ridge = X, X.T, alphas
        self._diagonal = np.broadcast_to(weight[:, None], labels.shape)
        self._shares: list[F64] = []
        if pairwise:
            of_class = [self._diagonal * labels, self._diagonal * ~labels]
            sums = [of.sum(axis=0) for of in of_class]
            self._shares = [of / total for of, total in zip(of_class, sums, strict=True)]
            self._ridge = alphas / (sums[0] * sums[1])
            self._diagonal = self._shares[0] + self._shares[1]
        self.rhs = self._adjoint((2.0 if pairwise else 1.0) * self._diagonal * targets(labels))
        self.inverse_diagonal = np.ones_like(self.rhs)
        if is_sparse(X):
            diagonal = np.asarray(X.multiply(X).T @ self._diagonal)
            if pairwise:
                diagonal -= 2 * self._adjoint(self._shares[0]) * self._adjoint(self._shares[1])
            self.inverse_diagonal = np.asarray(1 / (np.maximum(diagonal, 0) + self._ridge))

    def _adjoint(self, V: F64) -> F64:
        return np.asarray(self._Xt @ V, dtype=np.float64)

    def times(self, W: F64, columns: AnyArray) -> F64:
        """Return the product for some labels."""
        F = np.asarray(self._X @ W, dtype=np.float64)
        V = self._diagonal[:, columns] * F
        shares = [share[:, columns] for share in self._shares]
        for own, other in zip(shares, shares[::-1], strict=True):
            V -= own * np.einsum("ij,ij->j", other, F)
        return self._adjoint(V) + self._ridge[columns] * W
