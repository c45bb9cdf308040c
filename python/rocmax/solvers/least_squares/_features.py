"""Training samples as held-out computations see them: the spectrum of F' K F, and P for any alpha from it.

P = [K + alpha S]^-1, bordered by the free shift for AUC-RLS (see `_closed_form.Loss` for F and S).
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.solvers.least_squares._closed_form import Loss, Moments, kernel_noise, require_size, zero_below

# alpha / largest eigenvalue above which the ranking is that of the limit, to the accuracy that the limit can be had.
_LIMIT = 1e6
# ... and below which all that an alpha does is to divide the rounding of what K does not reach.
_LEAST = 1e-22
# A vector shorter than this share of the others is none.
_NONE = 1e-12


@dataclass(frozen=True)
class Inverse:
    """P = U diag(g) U' + diag(h) at one alpha."""

    basis: F64
    squares: F64
    scale: F64
    diagonal_part: F64

    def diagonal(self) -> F64:
        """Return P_ii."""
        return np.asarray(self.squares @ self.scale + self.diagonal_part)

    def times(self, v: F64) -> F64:
        """Return P v."""
        return np.asarray(self.basis @ (self.scale * (self.basis.T @ v)) + self.diagonal_part * v)

    def columns(self, index: AnyArray) -> F64:
        """Return the columns P e_i for i in `index`."""
        block = self.basis @ (self.basis[index] * self.scale).T
        block[index, np.arange(len(index))] += self.diagonal_part[index]
        return np.asarray(block)

    def block(self, index: AnyArray) -> F64:
        """Return P_BB."""
        rows = self.basis[index]
        block = (rows * self.scale) @ rows.T
        block.flat[:: len(index) + 1] += self.diagonal_part[index]
        return np.asarray(block)


@dataclass(frozen=True)
class Spectrum:
    """F' K F = V diag(values) V', from which P follows for any alpha in O(N r) at most.

    From a kernel the basis is F V. From r < N features it is [F F' X V, F q, F p]: the part of P outside the features
    is that of 1 / alpha.
    """

    loss: Loss
    values: F64
    basis: F64
    squares: F64
    in_features: bool
    rotated: F64 | None = None
    """X V of features: from it scores follow without c, which grows like 1 / alpha where they do not."""

    def alpha(self, alpha: float) -> float:
        """Return alpha, or the next whose held-out scores stand clear of rounding (their limit's ranking)."""
        largest = float(self.values.max())
        return min(self.at_least(alpha), _LIMIT * largest) if largest > 0 else alpha

    def at_least(self, alpha: float) -> float:
        """Return alpha, or the least that is told from 0: the scores are those of the limit."""
        return max(alpha, _LEAST * float(self.values.max()))

    def scores(self, rows: AnyArray, alpha: float, v: F64) -> F64 | None:
        """Return K[rows] P v for each column of `v`, from features; None from a kernel."""
        if self.rotated is None:
            return None
        along = self.basis[:, : len(self.values)].T @ v
        return np.asarray(self.rotated[rows] @ (along.T / (self.values + alpha)).T)

    def inverse(self, alpha: float) -> Inverse:
        """Return P at one alpha > 0."""
        n_samples = len(self.basis)
        if not self.in_features:
            return Inverse(self.basis, self.squares, 1 / (self.values + alpha), np.zeros(n_samples))
        scale = -1 / (self.values + alpha)
        if self.loss.shift is not None:
            scale = np.append(scale, [-1.0, 1 / (1 - self.loss.bend)])
        return Inverse(self.basis, self.squares, scale / alpha, self.loss.root**2 / alpha)


class Features(Protocol):
    """Training samples as held-out computations see them."""

    n_samples: int

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """Return the spectrum of F' K F."""
        ...

    def take(self, index: AnyArray) -> "Features":
        """Return some of the samples."""
        ...

    def scores(self, rows: AnyArray, train: AnyArray, coef: F64) -> F64:
        """Return K[rows, train] coef for each column of `coef`."""
        ...


class KernelFeatures:
    """Samples behind their kernel matrix."""

    def __init__(self, K: F64) -> None:
        self.n_samples = len(K)
        self.K = K

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """O(9 N^3)."""
        whole = loss.sandwich(self.K)
        require_size(whole)
        values, vectors = np.linalg.eigh(whole)
        values = _clean(values, kernel_noise(self.K, loss), "the kernel matrix")
        basis = loss.left(vectors)
        length = np.linalg.norm(basis, axis=0)
        basis[:, (values == 0) & (length <= _NONE * length.max())] = 0.0  # F q: 1 / alpha would amplify its rounding
        return Spectrum(loss, values, basis, basis**2, False)

    def take(self, index: AnyArray) -> "KernelFeatures":
        """Return some of the samples."""
        return KernelFeatures(self.K[np.ix_(index, index)])

    def scores(self, rows: AnyArray, train: AnyArray, coef: F64) -> F64:
        """Return K[rows, train] coef."""
        return np.asarray(self.K[np.ix_(rows, train)] @ coef)


class LinearFeatures:
    """Fewer features than samples: nothing of size N^2 is formed."""

    def __init__(self, X: Any, weight: F64, *, pairwise: bool) -> None:
        self.n_samples = X.shape[0]
        self._X, self._weight, self._pairwise = X, weight, pairwise
        self._moments = Moments(X, weight, centred=pairwise)

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """O(d^2 N + d^3)."""
        gram, noise = self._moments.gram, 0.0
        if self._pairwise:
            gram, _ = self._moments.of_pairs(pos, loss.totals)
            noise = self._moments.noise(pos, loss.totals)
        require_size(gram)
        values, vectors = np.linalg.eigh(gram)
        values = _clean(values, noise, "the Gram matrix")
        rotated = np.asarray(self._X @ vectors, dtype=np.float64)
        basis = loss.left(loss.right(rotated))
        basis[:, values == 0] = 0.0  # rounding, which 1 / alpha would amplify
        if loss.shift is not None:
            basis = np.column_stack([basis, loss.root * loss.shift, loss.root * loss.tilt])
        return Spectrum(loss, values, basis, basis**2, True, rotated)

    def take(self, index: AnyArray) -> "LinearFeatures":
        """Return some of the samples."""
        return LinearFeatures(self._X[index], self._weight[index], pairwise=self._pairwise)

    def scores(self, rows: AnyArray, train: AnyArray, coef: F64) -> F64:
        """Return X[rows] X[train]' coef."""
        return np.asarray(self._X[rows] @ (self._X[train].T @ coef))


def _clean(values: F64, noise: float, what: str) -> F64:
    return np.where(values > zero_below(values, noise, what), values, 0.0)
