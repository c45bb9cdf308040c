"""Linear designs: vectors are feature weights, inner products are the ordinary ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax._settings import settings
from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._blocks import in_rows, row_blocks, tiles
from rocmax.designs._moments import add_moments

# An adjoint passes over the samples of coefficient zero where no more than this share of the samples is left: of dense
# features, and of sparse ones, whose rows cost more to copy.
_FEW, _FEW_SPARSE = 0.4, 0.15


class _LinearDesign(Design):
    divisible = True

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X = X


class DenseDesign(_LinearDesign):
    """A two-dimensional ndarray; float32 features are multiplied as float32, never copied up.

    Each product is one pass over X in blocks; an adjoint of few samples reads theirs alone. Blocks in another layout
    are copied one at a time: equal values have equal products, to the bit.
    """

    _X: AnyArray

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        for rows, block in row_blocks(self._X):
            add_moments(gram, total, block, weight[rows], shift)
        return gram, total

    def scores(self, vector: F64, /) -> F64:
        scores = np.empty(self.n_samples)
        for rows, columns, block in tiles(self._X):
            part = block @ vector[columns].astype(block.dtype, copy=False)
            scores[rows] = part if columns.start == 0 else scores[rows] + part
        return scores

    def adjoint(self, coefs: Coefs, /) -> F64:
        vectors = np.zeros((len(coefs), self.dim))
        looked_at = self._X.size > settings().small_product
        for rows, columns, X in tiles(self._X):
            block = coefs_of(coefs, rows, X.dtype)
            if looked_at:
                used = np.flatnonzero(block.any(axis=0))
                if len(used) <= _FEW * len(X):
                    block, X = block[:, used], X[used]
            vectors[:, columns] += block @ X
        return vectors

    def rows(self, index: Rows, /) -> "DenseDesign":
        return DenseDesign(in_rows(self._X[index]))

    def features(self) -> AnyArray | None:
        return np.asarray(in_rows(self._X))


class SparseDesign(_LinearDesign):
    """A scipy sparse matrix, kept by rows; an adjoint of few samples reads theirs alone."""

    def __init__(self, X: Any) -> None:
        super().__init__(sp.csr_array(X))
        self._Xt = self._X.T  # the same arrays, read by columns

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        if not shift.any():
            used = np.flatnonzero(weight)
            X = self._X[used] if len(used) < self.n_samples else self._X
            weighted = X.multiply(weight[used, None]).tocsr()
            return np.asarray((X.T @ weighted).toarray(), dtype=np.float64), np.asarray(self._Xt @ weight)
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        height = settings().block_rows
        for first in range(0, self.n_samples, height):
            rows = slice(first, first + height)
            add_moments(gram, total, self._X[rows].toarray(), weight[rows], shift)
        return gram, total

    def scores(self, vector: F64, /) -> F64:
        return np.asarray(self._X @ vector, dtype=np.float64)

    def adjoint(self, coefs: Coefs, /) -> F64:
        few = _FEW_SPARSE * self.n_samples
        used = None if any(np.count_nonzero(coef) > few for coef in coefs) else _used(coefs)
        # One product for each: scipy's product with several vectors takes several times as long.
        if used is None or len(used) > few:
            return np.array([self._Xt @ coef for coef in coefs], dtype=np.float64)
        vectors = np.zeros((len(coefs), self.dim))
        for some in _some_rows(len(used)):
            Xt = self._X[used[some]].T
            for vector, coef in zip(vectors, coefs, strict=True):
                vector += Xt @ coef[used[some]]
        return vectors

    def rows(self, index: Rows, /) -> "SparseDesign":
        # Samples are multiplied many times; scipy would copy float32 features up at each product.
        return SparseDesign(self._X[index].astype(np.float64, copy=False))

    def features(self) -> AnyArray:
        return np.asarray(self._X.toarray())


def coefs_of(coefs: Coefs, rows: slice, dtype: Any) -> AnyArray:
    """Return the coefficients of some samples, one vector a row, in the type of the features."""
    return np.array([coef[rows] for coef in coefs], dtype=dtype)


def _used(coefs: Coefs) -> Rows:
    return np.flatnonzero(np.logical_or.reduce([coef != 0 for coef in coefs]))


def _some_rows(n_samples: int) -> Iterator[slice]:
    height = settings().tile_rows
    return (slice(first, min(first + height, n_samples)) for first in range(0, n_samples, height))
