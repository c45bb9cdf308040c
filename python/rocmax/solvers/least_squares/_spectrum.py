"""The spectrum of F' K F (see `_loss.Loss` for F and S), and from it P = [K + alpha S]^-1 for any alpha.

P is bordered by the free shift for AUC-RLS.
"""

from dataclasses import dataclass

import numpy as np

from rocmax._typing import F64, AnyArray
from rocmax.solvers.least_squares._loss import Loss

_EPS = float(np.finfo(np.float64).eps)
# Above this alpha / largest eigenvalue the ranking is that of the limit, to the accuracy of the limit.
_LIMIT = 1e6
# Below this one, alpha only divides the rounding in the null space of K.
_LEAST = 1e-22
# Single precision may make an eigenvalue negative by this share of the largest one.
_SINGLE = 1e-6


@dataclass(frozen=True)
class Inverse:
    """P = U diag(g) U' + diag(h) at one alpha."""

    basis: F64
    scale: F64
    remainder: F64

    def diagonal(self) -> F64:
        """Return P_ii."""
        return np.asarray(self.basis**2 @ self.scale + self.remainder)

    def times(self, v: F64) -> F64:
        """Return P v, for each column of v."""
        return np.asarray(self.basis @ (self.scale * (self.basis.T @ v).T).T + (self.remainder * v.T).T)

    def block(self, index: AnyArray) -> F64:
        """Return P_BB."""
        rows = self.basis[index]
        return np.asarray((rows * self.scale) @ rows.T + np.diag(self.remainder[index]))

    def solve(self, index: AnyArray, v: F64) -> F64:
        """Return P_BB^-1 v, O(|B| r min(|B|, r))."""
        rows, rest = self.basis[index], self.remainder[index]
        divides = all(part.all() and np.isfinite(part).all() for part in (rest, self.scale))
        if len(index) <= rows.shape[1] or not divides:
            return np.asarray(np.linalg.solve(self.block(index), v), dtype=np.float64)
        scaled, v = rows / rest[:, None], v / rest
        return np.asarray(v - scaled @ np.linalg.solve(np.diag(1.0 / self.scale) + rows.T @ scaled, rows.T @ v))


@dataclass(frozen=True)
class Spectrum:
    """F' K F = V diag(values) V', from which P follows for any alpha in O(N r) at most.

    From a kernel the basis is F V; from r < N features it is [F F' X V, F q, F p], and the rest of P is 1 / alpha.
    """

    loss: Loss
    values: F64
    basis: F64
    rows: F64
    """K, or X V of features: gives scores without c, which grows like 1 / alpha."""
    in_features: bool

    def alpha(self, alpha: float, most: float = _LIMIT) -> float:
        """Return alpha, moved to where held-out scores are larger than rounding (with the ranking of the limit)."""
        largest = float(self.values.max())
        return min(max(alpha, _LEAST * largest), most * largest) if largest > 0 else alpha

    def scores(self, rows: AnyArray, alpha: float, v: F64) -> F64:
        """Return K[rows] P v for each column of `v`."""
        if not self.in_features:
            return np.asarray(self.rows[rows] @ self.inverse(alpha).times(v))
        along = self.basis[:, : len(self.values)].T @ v
        return np.asarray(self.rows[rows] @ (along.T / (self.values + alpha)).T)

    def inverse(self, alpha: float) -> Inverse:
        """Return P at one alpha > 0."""
        if not self.in_features:
            return Inverse(self.basis, 1 / (self.values + alpha), np.zeros(len(self.basis)))
        scale = -1 / (self.values + alpha)
        if self.loss.shift is not None:
            scale = np.append(scale, [-1.0, 1 / (1 - self.loss.bend)])
        return Inverse(self.basis, scale / alpha, self.loss.root**2 / alpha)


def eigen(M: F64, noise: float, what: str) -> tuple[F64, F64]:
    """Return the eigenvalues of M, ascending, with those within rounding set to 0, and its eigenvectors.

    `noise` is the rounding of M. Raises ValueError if the spectrum is further below zero, or not finite.
    """
    require_size(M)
    values, vectors = np.linalg.eigh(M)
    largest = max(float(values[-1]), 0.0)
    if values[0] < -_SINGLE * largest - noise:
        raise ValueError(
            f"{what} is not positive semi-definite: its eigenvalues reach from {values[0]:.3g} to {values[-1]:.3g}; "
            "scale the features, or use a positive semi-definite kernel such as 'linear', 'rbf' or 'poly'"
        )
    return np.where(values > max(len(values) * _EPS * largest, noise), values, 0.0), vectors


def require_size(*products: F64) -> None:
    """Raise unless these products of features or of a kernel are finite."""
    if not all(np.isfinite(values).all() for values in products):
        raise ValueError(
            "X is too large, or a weight or the kernel: sums of squares over the samples overflow; scale the features"
        )
