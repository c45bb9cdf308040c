"""A design over a dask array: products run where the chunks are, rankings on the client."""

from typing import Any

import numpy as np

from rocmax._typing import F64, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._linear import DenseDesign


class DaskDesign(Design):
    """A two-dimensional dask array, chunked by rows.

    Every product is one task graph over the chunks; only vectors of length n_samples or n_features cross the network.
    Persist an array that fits the memory of the cluster, or each product reads it from its source again.
    """

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X = X.rechunk({1: -1})

    def scores(self, vector: F64, /) -> F64:
        scores = self._X.dot(vector.astype(self._X.dtype, copy=False)).compute()
        return np.require(scores, np.float64, ["C", "A"])  # what comes over the network may lie anywhere in its message

    def adjoint(self, coefs: Coefs, /) -> F64:
        import dask.array as da

        rows = da.from_array(np.array(coefs, dtype=self._X.dtype), chunks=(-1, self._X.chunks[0]))
        return np.asarray(rows.dot(self._X).compute(), dtype=np.float64)

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        import dask
        import dask.array as da

        Z, w = self._X.astype(np.float64) - shift, da.from_array(weight, chunks=(self._X.chunks[0],))
        gram, total = dask.compute(Z.T.dot(Z * w[:, None]), w.dot(Z))
        return np.asarray(gram), np.asarray(total)

    def rows(self, index: Rows, /) -> DenseDesign:
        return DenseDesign(self._X[index].compute())
