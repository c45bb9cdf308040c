"""Training samples as least squares sees them: systems to solve, and the spectrum of F' K F, with P for any alpha.

P = [K + alpha S]^-1, bordered by the free shift for AUC-RLS (see `_loss.Loss` for F and S).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import as_design, is_dask, is_stored, moments, some_rows
from rocmax.designs._memmap import row_blocks
from rocmax.solvers.least_squares._loss import Loss, targets

# Rows of which the rough mean is taken.
_SOME = 500
_EPS = float(np.finfo(np.float64).eps)
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


@dataclass(frozen=True)
class Spectrum:
    """F' K F = V diag(values) V', from which P follows for any alpha in O(N r) at most.

    From a kernel the basis is F V. From r < N features it is [F F' X V, F q, F p]: the part of P outside the features
    is that of 1 / alpha.
    """

    loss: Loss
    values: F64
    basis: F64
    rows: F64
    """K, or X V of features: from it scores follow without c, which grows like 1 / alpha where they do not."""
    in_features: bool

    def alpha(self, alpha: float, most: float = _LIMIT) -> float:
        """Return alpha, or the next whose held-out scores stand clear of rounding (their limit's ranking)."""
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


class KernelFeatures:
    """Samples behind their kernel matrix; `nullity` is how much less than full the rank of AUC-RLS systems is."""

    what, nullity = "the kernel matrix", 1

    def __init__(self, K: F64) -> None:
        self.K = K

    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        """Return F' K F, or X' F F' X, the right-hand side for each column of `labels`, and the matrix's rounding."""
        return loss.sandwich(self.K), loss.right(targets(labels)), kernel_noise(self.K, loss)

    def model(self, loss: Loss, solved: F64) -> F64:
        """Return the coefficients of what solves a system: of the samples, or of the features."""
        return loss.left(solved)

    def take(self, index: AnyArray) -> "KernelFeatures":
        """Return some of the samples."""
        return KernelFeatures(self.K[np.ix_(index, index)])

    def scores(self, train: AnyArray, coef: F64) -> F64:
        """Return K[:, train] coef for each column of `coef`."""
        return np.asarray(self.K[:, train] @ coef)

    def spectrum(self, loss: Loss, values: F64, vectors: F64) -> Spectrum:
        """Return the spectrum of F' K F, given that of the system."""
        basis = loss.left(vectors)
        length = np.linalg.norm(basis, axis=0)
        basis[:, (values == 0) & (length <= _NONE * length.max())] = 0.0  # F q: 1 / alpha would amplify its rounding
        return Spectrum(loss, values, basis, self.K, False)


class LinearFeatures:
    """Samples of few features: nothing of size N^2 is formed.

    Weighted moments of X (an ndarray, sparse matrix, memmap or dask array) are made in one pass, and shared by all
    labels; each takes one over a class. For pairs a rough mean is taken off first, so that nothing cancels: L does not
    see it.
    """

    what, nullity = "the matrix of features", 0

    def __init__(self, X: Any, weight: F64, *, pairwise: bool) -> None:
        self._X, self._weight, self._pairwise = X, weight, pairwise
        self._design = as_design(X)
        self._shift = rough_mean(X) if pairwise else np.zeros(X.shape[1])
        self._gram, self._sum = moments(self._design, weight, self._shift)

    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        """Through the rows of the class of the smaller weight in D only, and with positive terms only.

        About the middle of the class means, L is D plus a multiple of the square of their difference.
        """
        if loss.shift is None:
            return self._gram, _adjoint(self._X, self._weight[:, None] * targets(labels)), 0.0
        (w_pos, w_neg), pos = loss.totals, labels[:, 0]
        # D = w W_- on positives: the class of the larger D has its rows added to a multiple of the Gram matrix of all.
        more = pos if w_neg >= w_pos else ~pos
        extra, sum_more = moments(self._design, self._weight * more, self._shift)
        s_pos, s_neg = sum_more, self._sum - sum_more
        if w_neg < w_pos:
            s_pos, s_neg = s_neg, s_pos
        of_pos, of_neg = w_neg * self._weight[pos].sum(), w_pos * self._weight[~pos].sum()
        # Along q and along p of F.
        total = of_pos + of_neg
        along, across = (w_neg * s_pos + w_pos * s_neg) / np.sqrt(total), w_neg * s_pos - w_pos * s_neg
        tilted = np.sqrt(loss.omega) * (across - (of_pos - of_neg) / np.sqrt(total) * along)
        H = min(w_pos, w_neg) * self._gram
        H += abs(w_neg - w_pos) * extra
        H -= np.outer(along, along)
        H += np.outer(tilted, tilted) / (1 - loss.bend)
        # What rounding leaves where features hardly differ from their mean.
        noise = len(H) * total * (4 * _EPS * float(np.abs(self._shift).max(initial=0.0))) ** 2
        return H, 2 * across[:, None], noise

    def model(self, loss: Loss, solved: F64) -> F64:
        """As of a kernel."""
        return solved

    def take(self, index: AnyArray) -> "LinearFeatures":
        """As of a kernel."""
        return LinearFeatures(self._X[index], self._weight[index], pairwise=self._pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        """As of a kernel."""
        return np.asarray(self._X @ (self._X[train].T @ coef))

    def spectrum(self, loss: Loss, values: F64, vectors: F64) -> Spectrum:
        """As of a kernel."""
        rotated = np.asarray(self._X @ vectors, dtype=np.float64)
        basis = loss.left(loss.right(rotated))
        basis[:, values == 0] = 0.0  # rounding, which 1 / alpha would amplify
        if loss.shift is not None and loss.tilt is not None:
            basis = np.column_stack([basis, loss.root * loss.shift, loss.root * loss.tilt])
        return Spectrum(loss, values, basis, rotated, True)


Features = KernelFeatures | LinearFeatures


def spectrum_of(features: Features, loss: Loss, pos: Bool) -> Spectrum:
    """Return the spectrum of F' K F: O(9 N^3) of a kernel, O(d^2 N + d^3) of features."""
    M, _, noise = features.system(loss, pos[:, None])
    require_size(M)
    values, vectors = np.linalg.eigh(M)
    values = np.where(values > zero_below(values, noise, features.what), values, 0.0)
    return features.spectrum(loss, values, vectors)


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix."""
    return bool(sp.issparse(X))


def rough_mean(X: Any) -> F64:
    """Return the mean of some rows where it is large beside their spread, else 0, as for sparse X."""
    if is_sparse(X):
        return np.zeros(X.shape[1])
    some = some_rows(X, _SOME) if is_stored(X) else X[:: max(1, len(X) // _SOME)]
    some = np.asarray(some, dtype=np.float64)
    mean = some.mean(axis=0)
    return np.where(np.abs(mean) > 2 * some.std(axis=0), mean, 0.0)


def _adjoint(X: Any, columns: F64) -> F64:
    """Return X' V in double precision whatever X has, V of shape (n_samples, k)."""
    if is_dask(X):
        return np.asarray(X.rechunk({1: -1}).astype(np.float64).T.dot(columns).compute())
    rows = row_blocks(X) if is_stored(X) else [(slice(None), X)]
    return sum((np.asarray(part.T @ columns[some], dtype=np.float64) for some, part in rows), np.zeros(1))


def kernel_noise(K: F64, loss: Loss) -> float:
    """Return the rounding of F' K F: projecting the shift out may cancel everything else."""
    return len(K) * _EPS * float(np.max(loss.root**2 * np.abs(np.diag(K)), initial=0.0))


def require_size(*products: F64) -> None:
    """Raise unless these products of features, or of a kernel, are finite."""
    if not all(np.isfinite(values).all() for values in products):
        raise ValueError(
            "X is too large, or a weight or the kernel: sums of squares over the samples overflow; scale the features"
        )


def zero_below(values: F64, noise: float, what: str) -> float:
    """Return the size below which eigenvalues (ascending) are zero up to rounding; `noise` is what M was formed with.

    Raises
    ------
    ValueError
        The spectrum reaches below zero by more than that.
    """
    largest = max(float(values[-1]), 0.0)
    if values[0] < -1e-8 * largest - noise:
        raise ValueError(
            f"{what} is not positive semi-definite: its eigenvalues reach from {values[0]:.3g} to {values[-1]:.3g}; "
            "use a positive semi-definite kernel such as 'linear', 'rbf' or 'poly'"
        )
    return max(len(values) * _EPS * largest, noise)
