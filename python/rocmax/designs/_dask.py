"""A design over a dask array: products run where the chunks are, rankings on the client."""

from typing import Any

import numpy as np

from rocmax._typing import F64, Rows
from rocmax.designs._linear import DenseDesign


class DaskDesign:
    """A two-dimensional dask array, chunked by rows.

    Every product is one task graph over the chunks; only vectors of length n_samples or n_features cross the network.
    Persist the array first if it fits the memory of the cluster, or each product reads it from its source again.
    """

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X = X.rechunk({1: -1})

    def scores(self, vector: F64, /) -> F64:
        return np.asarray(self._X.dot(vector.astype(self._X.dtype, copy=False)).compute(), dtype=np.float64)

    def adjoint(self, coefs: F64, /) -> F64:
        import dask.array as da

        rows = da.from_array(coefs.astype(self._X.dtype, copy=False), chunks=(-1, self._X.chunks[0]))
        return np.asarray(rows.dot(self._X).compute(), dtype=np.float64)

    def inner(self, u: F64, v: F64, /) -> F64:
        return u @ v.T

    def rows(self, index: Rows, /) -> DenseDesign:
        return DenseDesign(self._X[index].compute())
