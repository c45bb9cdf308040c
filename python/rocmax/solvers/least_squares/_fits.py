"""Fits in closed form, by one factorisation, and by conjugate gradients, with products of X alone."""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rocmax._runtime.threads import checkpoint
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_sparse
from rocmax.solvers.least_squares._systems import Features, KernelFeatures, Loss, eigen, require_size, targets

# alpha / trace below which a Cholesky factor of a singular matrix would lose digits.
_SMALL = 1e-10
# From so many labels on, one spectrum of K is cheaper than one Cholesky factor per label.
_MANY_LABELS = 24


def fit(features: Features, labels: Bool, alphas: F64) -> F64:
    """Return a row for each column of `labels` and its alpha: dual coefficients of a kernel, or feature weights.

    RLS takes one factor for each distinct alpha, of the kernel O(N^3 / 3), of the features O(d^2 N + d^3). AUC-RLS
    takes O(N^3 / 3) per label, or with many labels one spectrum of K in O(9 N^3) and O(N p^2) each, p the size of the
    smaller class; with features, which share a weighted Gram matrix, O(d^2 p + d^3) per label.
    """
    each = np.arange(labels.shape[1])
    if features.pairwise and isinstance(features, KernelFeatures) and len(each) >= _MANY_LABELS and alphas.min() > 0:
        return _fit_labels(features, labels, alphas)
    groups = each[:, None] if features.pairwise else [each[alphas == alpha] for alpha in np.unique(alphas)]
    coefs = []
    for group in groups:
        checkpoint()
        loss = features.loss(labels[:, group[0]])
        solved = _solve(features, *features.system(loss, labels[:, group]), float(alphas[group[0]]))
        coefs.append(features.model(loss, solved).T)
    return np.concatenate(coefs)[np.argsort(np.concatenate(groups))]


def scale(features: Features, pos: Bool) -> float:
    """Return the trace of L K, the unit of alpha; 1 if all samples are equal."""
    M, _, noise = features.system(features.loss(pos), pos[:, None])
    trace = float(np.trace(M))
    return trace if trace > noise else 1.0


def _solve(features: Features, M: F64, rhs: F64, noise: float, alpha: float) -> F64:
    """Return (M + alpha I)^-1 rhs by Cholesky, or by the spectrum for a tiny alpha; alpha = 0: least norm."""
    require_size(M, rhs)
    if alpha > _SMALL * np.trace(M):
        try:
            return _solve_definite(M.copy(), alpha, rhs)
        except LinAlgError:
            pass  # not positive semi-definite: the spectrum shows by how much
    what = features.what + (", up to shifts," if features.pairwise else "")
    values, vectors = eigen(M, noise, what)
    # The null space is dropped: 1 / alpha would amplify its rounding.
    kept, full = values > 0, len(M) - features.nullity
    if alpha == 0 and kept.sum() < full:
        raise ValueError(
            f"alpha=0 is ill-posed here: {what} has rank {kept.sum()} of {full} (constant or collinear "
            f"features, repeated samples, or fewer features than samples in a kernel); use alpha > 0, for "
            f"example alpha={1e-6 * max(float(values[-1]), 1e-300):.2g}"
        )
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ rhs) / (values[kept] + alpha)[:, None]))


def _solve_definite(M: F64, diagonal: F64 | float, rhs: F64) -> F64:
    """Return (M + diag)^-1 rhs; M is overwritten."""
    M.flat[:: len(M) + 1] += diagonal
    return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), rhs))


def _fit_labels(features: KernelFeatures, labels: Bool, alphas: F64) -> F64:
    """Fit all labels of AUC-RLS from one spectrum: L is, up to a diagonal, of the rank of the smaller class.

    In features Z with Z Z' = K and weighted mean 0, a = min(W_+, W_-), b = max(W_+, W_-), and s, P the weighted sum and
    the rows of the lighter class: Z' L Z = a Z' W Z + (b - a) Z_P' W Z_P + 2 s s', a sum of positive terms.
    """
    weight = features.weight
    centred, total = Loss.centred(weight), float(weight.sum())
    root = centred.root
    whole, _, noise = features.system(centred, labels[:, :1])
    values, vectors = eigen(whole, noise, features.what)
    kept = values > 0
    vectors, lengths = vectors[:, kept], np.sqrt(values[kept])
    rows = vectors * lengths
    coefs = np.empty((labels.shape[1], len(weight)))
    for coef, pos, alpha in zip(coefs, labels.T, alphas, strict=True):
        checkpoint()
        loss = features.loss(pos)
        lesser, greater = sorted(loss.totals)
        light, sign = (pos, 1.0) if loss.totals[0] == lesser else (~pos, -1.0)
        diagonal = lesser * lengths**2 + alpha
        of_light = rows[light].T @ root[light]
        extra = np.column_stack([np.sqrt(greater - lesser) * rows[light].T, np.sqrt(2.0) * of_light])
        rhs = 2.0 * sign * total * of_light
        # (diag + extra extra')^-1 rhs, through the smaller side.
        if extra.shape[1] >= len(diagonal):
            w = _solve_definite(extra @ extra.T, diagonal, rhs)
        else:
            scaled = extra / diagonal[:, None]
            w = rhs / diagonal - scaled @ _solve_definite(extra.T @ scaled, 1.0, scaled.T @ rhs)
        # c is L (y - f) / alpha; outside the null space of K, w has more digits than this quotient.
        rest = loss.times(targets(pos) - rows @ w / root) / alpha / root
        coef[:] = centred.left(rest + vectors @ (w / lengths - vectors.T @ rest))
    return coefs


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
