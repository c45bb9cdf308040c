"""A design over a dask array: products run where the blocks of rows are, rankings in this process."""

from copy import copy
from typing import Any

import numpy as np

from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._chunks import Chunks
from rocmax.designs._linear import SOME, DenseDesign, rounding_of, row_scores
from rocmax.designs._moments import rough_mean, some_rows


class DaskDesign(Design):
    """A two-dimensional dask array, chunked by rows.

    Every product is one task graph over the blocks; only vectors of length n_samples or n_features cross the network.
    Persist an array that fits the memory of the cluster: otherwise each product reads it from its source again.
    """

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X, self._chunks, self.eps = X, Chunks(X), rounding_of(X.dtype)
        self.divisible = self._chunks.in_memory
        self._origin: F64 | None = None

    def accurate(self, *, shifted: bool = True) -> "DaskDesign":
        origin = rough_mean(some_rows(self._X, SOME)) * shifted
        if self._X.dtype == np.float64 and not origin.any():
            return self
        found = copy(self)
        found._origin, found.eps = origin, Design.eps
        return found

    def scores(self, vector: F64, /) -> F64:
        return np.concatenate(self._chunks.each(_scores, self._chunks.parts(), vector, self._origin))

    def adjoint(self, coefs: Coefs, /) -> F64:
        parts = ([coef[rows] for coef in coefs] for rows in self._chunks.parts())
        found: F64 = self._chunks.total(_adjoint, parts, self._origin)
        return found

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        found = self._chunks.total(_moments, (weight[rows] for rows in self._chunks.parts()), shift)
        return found[:-1], found[-1]

    def row_scores(self, coefs: F64) -> F64:
        """Return scores that depend on their own row alone, for each vector: shape (n_samples, k)."""
        return np.concatenate(self._chunks.each(_row_scores, self._chunks.parts(), coefs))

    def rows(self, index: Rows, /) -> DenseDesign:
        return DenseDesign(self._chunks.take(index), self._origin)


def _scores(block: AnyArray, _: slice, vector: F64, origin: F64 | None) -> F64:
    return DenseDesign(_aligned(block), origin).scores(_aligned(vector))


def _row_scores(block: AnyArray, _: slice, coefs: F64) -> F64:
    return row_scores(block, coefs)


def _adjoint(block: AnyArray, coefs: Coefs, origin: F64 | None) -> F64:
    return DenseDesign(_aligned(block), origin).adjoint([_aligned(coef) for coef in coefs])


def _aligned(array: AnyArray) -> AnyArray:
    """Return an array that the core reads: one that crossed the network may lie at any address."""
    return np.require(array, requirements="A")


def _moments(block: AnyArray, weight: F64, shift: F64) -> F64:
    """Return the second moments with the first below them, as one array that can be summed."""
    return np.vstack(DenseDesign(block).moments(weight, shift))
