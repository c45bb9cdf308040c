"""Landmarks: features whose inner products approximate a kernel, and a design that does not store them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh

from rocmax._runtime.interrupt import interruptible
from rocmax._runtime.memory import leaves_memory, require_memory
from rocmax._runtime.settings import settings
from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._blocks import slices
from rocmax.designs._kernel import Kernel
from rocmax.designs._linear import DenseDesign

# Eigenvalues below this share of the largest are rounding and are left out.
_FLOOR = 1e-10


class Landmarks:
    """The features f(x) = E^-1/2 V' k(L, x) of a kernel k, for landmarks L (`points`) with k(L, L) = V E V' (Nystroem).

    <f(x), f(z)> = k(x, L) k(L, L)^-1 k(L, z), which is k(x, z) if x or z is a landmark. Eigenvalues of at most 1e-10
    times the largest are left out: there are at most as many features as landmarks.
    """

    def __init__(self, kernel: Kernel, points: Any) -> None:
        n = points.shape[0]
        require_memory(4 * 8 * n * n, f"the features of {n} landmarks", "take fewer landmarks")
        self.kernel = kernel
        self.points = points.astype(np.float64, copy=False)
        gram = kernel.gram(self.points, np.float64)
        values, vectors = interruptible(gram.size, eigh, gram, overwrite_a=True, check_finite=False)
        kept = values > _FLOOR * values[-1]
        if values[-1] <= _FLOOR * abs(values[0]):
            raise ValueError(f"kernel: the kernel matrix of the {n} landmarks has no eigenvalue above 0")
        self.root = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.root.shape[1])

    def values(self, X: Any, index: Rows | None = None) -> Iterator[tuple[slice, F64]]:
        """Yield (rows, k(X[rows], L)), a block of rows at a time, of all rows of X or those of an index."""
        n = X.shape[0] if index is None else len(index)
        for rows in slices(n, settings().landmark_block // (8 * self.points.shape[0])):
            some = X[rows if index is None else index[rows]]
            yield rows, self.kernel(some.astype(np.float64, copy=False), self.points)

    def features(self, X: Any) -> AnyArray:
        """Return f of each row of X; O(n L (d + L)) for L landmarks."""
        dtype = np.float64 if X.shape[0] * self.dim <= settings().double_features else np.float32
        found = np.empty((X.shape[0], self.dim), dtype=dtype)
        for rows, values in self.values(X):
            found[rows] = values @ self.root
        return found

    def size(self, n_samples: int) -> int:
        """Return the bytes that the features of so many samples take."""
        n = n_samples * self.dim
        return n * (8 if n <= settings().double_features else 4)

    def fit(self, n_samples: int) -> bool:
        """Whether the features of so many samples take at most 0.3 of the available memory."""
        return leaves_memory(self.size(n_samples))


class LandmarkDesign(Design):
    """The features of landmarks, at most a block of rows of them in memory.

    Each product computes all kernel values, O(n L d) for L landmarks: f(X) v is k(X, L) (V E^-1/2 v).
    """

    def __init__(self, landmarks: Landmarks, X: Any) -> None:
        self.n_samples, self.dim = X.shape[0], landmarks.dim
        self._landmarks, self._X = landmarks, X

    def scores(self, vector: F64, /) -> F64:
        scores = np.empty(self.n_samples)
        coefs = self._landmarks.root @ vector
        for rows, values in self._landmarks.values(self._X):
            scores[rows] = values @ coefs
        return scores

    def adjoint(self, coefs: Coefs, /) -> F64:
        used = np.flatnonzero(np.logical_or.reduce([coef != 0 for coef in coefs]))
        sums = np.zeros((len(coefs), self._landmarks.points.shape[0]))
        for rows, values in self._landmarks.values(self._X, None if len(used) == self.n_samples else used):
            block: F64 = np.array([coef[used[rows]] for coef in coefs])
            sums += block @ values
        return np.asarray(sums @ self._landmarks.root)

    def rows(self, index: Rows, /) -> Design | None:
        return DenseDesign(self._landmarks.features(self._X[index])) if self._landmarks.fit(len(index)) else None
