"""Training samples as linear systems and spectra."""

from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import Chunks, as_design, is_dask, is_sparse, moments, rough_mean, some_rows
from rocmax.designs._blocks import row_blocks
from rocmax.solvers.least_squares._loss import Loss, targets
from rocmax.solvers.least_squares._spectrum import Spectrum, eigen

# The number of rows for the rough mean.
_SOME = 500
_EPS = float(np.finfo(np.float64).eps)
# A vector shorter than this share of the longest one counts as 0.
_NONE = 1e-12


class _Weighted:
    """Weighted samples, for RLS or (`pairwise`) for AUC-RLS; equal samples share a number of `rows`."""

    def __init__(self, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        self.weight, self.pairwise = weight, pairwise
        self.rows: AnyArray = np.arange(len(weight)) if rows is None else rows

    def loss(self, pos: Bool, totals: tuple[float, float] | None = None) -> Loss:
        """Return the loss of a label; `totals` replaces the class weights of AUC-RLS."""
        return Loss.pairs(pos, self.weight, totals) if self.pairwise else Loss.samples(self.weight)


class KernelFeatures(_Weighted):
    """Samples given by their kernel matrix; `nullity` is the rank that a system always lacks."""

    what = "the kernel matrix"

    def __init__(self, K: F64, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        super().__init__(weight, pairwise=pairwise, rows=rows)
        self.K = K
        self.nullity = int(pairwise)  # the shift

    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        """Return F' K F, or X' F F' X, a right-hand side for each column of `labels`, and the matrix's rounding."""
        # Projecting out the shift may leave only rounding.
        noise = len(self.K) * _EPS * float(np.max(loss.root**2 * np.abs(np.diag(self.K)), initial=0.0))
        return loss.sandwich(self.K), loss.right(targets(labels)), noise

    def model(self, loss: Loss, solved: F64) -> F64:
        """Return the coefficients, of samples or features, for the solution of a system."""
        return loss.left(solved)

    def take(self, index: AnyArray) -> "KernelFeatures":
        """Return some of the samples."""
        return KernelFeatures(self.K[np.ix_(index, index)], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        """Return K[:, train] coef for each column of `coef`."""
        return np.asarray(self.K[:, train] @ coef)

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """Return the spectrum of F' K F: O(9 N^3) of a kernel, O(d^2 N + d^3) of features."""
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        basis = loss.left(vectors)
        length = np.linalg.norm(basis, axis=0)
        basis[:, (values == 0) & (length <= _NONE * length.max())] = 0.0  # F q: 1 / alpha would amplify its rounding
        return Spectrum(loss, values, basis, self.K, False)


class LinearFeatures(_Weighted):
    """Samples with few features: nothing of size N^2 is formed.

    One pass over X (an ndarray, sparse matrix, memmap or dask array) gives the weighted moments for all labels; AUC-RLS
    takes one pass over a class for each label. It subtracts a rough mean first, which L ignores, to avoid cancellation.
    """

    what, nullity = "the matrix of features", 0

    @np.errstate(over="ignore", invalid="ignore")  # the system is refused then
    def __init__(self, X: Any, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        super().__init__(weight, pairwise=pairwise, rows=rows)
        self._X = X
        self._design = as_design(X)
        dense_pairs = pairwise and not is_sparse(X)
        self._shift = rough_mean(some_rows(X, _SOME)) if dense_pairs else np.zeros(X.shape[1])
        self._gram, self._sum = moments(self._design, weight, self._shift)

    @np.errstate(over="ignore", invalid="ignore")
    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        if not self.pairwise:
            return self._gram, self._adjoint(self.weight[:, None] * targets(labels)), 0.0
        # X' L X: each class about its mean, weighted by the other class, and the squared difference of the means.
        sides = labels[:, 0], ~labels[:, 0]
        own = [float(self.weight[side].sum()) for side in sides]
        light, heavy = (0, 1) if own[0] <= own[1] else (1, 0)
        gram, total = moments(self._design, self.weight * sides[light], self._shift)
        H, means = np.zeros_like(gram), [total, total]
        for side, G, s in ((light, gram, total), (heavy, self._gram - gram, self._sum - total)):
            means[side] = s / own[side]
            H += loss.totals[1 - side] * (G - np.outer(s, means[side]))
        apart = means[0] - means[1]
        H += loss.between * np.outer(apart, apart)
        # The rounding of features that hardly differ from their mean.
        size = own[0] * loss.totals[1] + own[1] * loss.totals[0]
        noise = len(H) * size * (4 * _EPS * float(np.abs(self._shift).max(initial=0.0))) ** 2
        return H, 2 * loss.between * apart[:, None], noise

    def model(self, loss: Loss, solved: F64) -> F64:
        return solved

    def take(self, index: AnyArray) -> "LinearFeatures":
        return LinearFeatures(self._X[index], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        return np.asarray(self._X @ (self._X[train].T @ coef))

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        rotated = np.asarray(self._X @ vectors, dtype=np.float64)
        basis = loss.times(rotated)
        basis[:, values == 0] = 0.0  # rounding, which 1 / alpha would amplify
        if loss.shift is not None and loss.tilt is not None:
            basis = np.column_stack([basis, loss.root * loss.shift, loss.root * loss.tilt])
        return Spectrum(loss, values, basis, rotated, True)

    def _adjoint(self, columns: F64) -> F64:
        """Return X' V in double precision, V of shape (n_samples, k)."""
        X = self._X
        if is_dask(X):
            chunks = Chunks(X)
            found: F64 = chunks.total(_transposed_product, (columns[rows] for rows in chunks.parts()))
            return found
        rows = [(slice(None), X)] if is_sparse(X) else row_blocks(X)
        return sum((np.asarray(part.T @ columns[some], dtype=np.float64) for some, part in rows), np.zeros(1))


Features = KernelFeatures | LinearFeatures


def _transposed_product(block: AnyArray, columns: F64) -> F64:
    return np.asarray(block.T.astype(np.float64) @ columns)
