"""Linear designs: vectors are feature weights, inner products are the ordinary ones."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax._typing import F64, AnyArray, Rows


class _LinearDesign:
    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X = X

    def inner(self, u: F64, v: F64, /) -> F64:
        return u @ v.T


class DenseDesign(_LinearDesign):
    """A two-dimensional ndarray in any order; float32 features are multiplied as float32, never copied up.

    Each product is one BLAS call and one pass over X.
    """

    _X: AnyArray

    def scores(self, vector: F64, /) -> F64:
        return np.asarray(self._X @ vector.astype(self._X.dtype, copy=False), dtype=np.float64)

    def adjoint(self, coefs: F64, /) -> F64:
        return np.asarray(coefs.astype(self._X.dtype, copy=False) @ self._X, dtype=np.float64)

    def rows(self, index: Rows, /) -> "DenseDesign":
        return DenseDesign(self._X[index])


class SparseDesign(_LinearDesign):
    """A scipy sparse matrix, kept by rows for scores and by columns (a view of the transpose) for adjoints."""

    def __init__(self, X: Any) -> None:
        super().__init__(sp.csr_array(X))
        self._Xt = self._X.T

    def scores(self, vector: F64, /) -> F64:
        return np.asarray(self._X @ vector, dtype=np.float64)

    def adjoint(self, coefs: F64, /) -> F64:
        return np.ascontiguousarray((self._Xt @ coefs.T).T, dtype=np.float64)

    def rows(self, index: Rows, /) -> "SparseDesign":
        return SparseDesign(self._X[index])
