"""Designs in other spaces than that of X: kernels, landmarks, the row space, the metric of the classes' covariances."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular
from scipy.linalg.lapack import dpstrf

from rocmax._parameters import check_count, shown
from rocmax._runtime.memory import available_memory, require_memory
from rocmax._runtime.settings import settings
from rocmax._runtime.threads import blas_threads, interruptible
from rocmax._typing import F64, AnyArray, Bool, Coefs, Rows
from rocmax.designs._blocks import slices
from rocmax.designs._kernel import Kernel, KernelDesign
from rocmax.designs._linear import DenseDesign, Design, as_design, compact


def class_covariance(design: Design, positive: Bool, weight: F64 | None = None) -> F64:
    """Return Sigma, the sum of the covariances of the classes, each divided by its weight, uncorrected; two passes."""
    require_memory(4 * 8 * design.dim**2, f"the Gram matrix of {design.dim} features")
    sigma = np.zeros((design.dim, design.dim))
    for members in (positive, ~positive):
        share = np.zeros(len(positive))
        share[members] = _shares(members, weight)
        gram, left = design.moments(share, design.adjoint([share])[0])  # about the mean, up to rounding
        sigma += gram - np.outer(left, left)
    return sigma


def _shares(members: Bool, weight: F64 | None) -> F64:
    """Return the weight of each member of a class as a share of the class."""
    own = np.ones(int(members.sum())) if weight is None else weight[members]
    return np.asarray(own / own.sum())


class StructuredDesign(Design):
    """A linear design under the metric <u, v> = u'(I + lambda Sigma) v, which adds lambda/2 w'Sigma w to 1/2 |w|^2."""

    def __init__(self, design: Design, positive: Bool, structure: float, weight: F64 | None = None) -> None:
        self.n_samples, self.dim, self.divisible = design.n_samples, design.dim, design.divisible
        self._design, self.eps = design, design.eps
        self._metric = structure * class_covariance(design, positive, weight)
        self._metric[np.diag_indices(self.dim)] += 1.0
        self._factor = _factor(self._metric.copy())

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector)

    def adjoint(self, coefs: Coefs, /) -> F64:
        return np.ascontiguousarray(cho_solve(self._factor, self._design.adjoint(coefs).T).T)

    def inner(self, u: F64, v: F64, /) -> F64:
        return u @ self._metric @ v.T

    def accurate(self, *, shifted: bool = True) -> "StructuredDesign":
        design = self._design.accurate(shifted=shifted)
        return self if design is self._design else self._over(design)

    def rows(self, index: Rows, /) -> "StructuredDesign | None":
        rows = self._design.rows(index)
        return None if rows is None else self._over(rows)

    def _over(self, design: Design) -> "StructuredDesign":
        """Return the same metric over another design."""
        found = copy(self)
        found._design, found.n_samples, found.eps = design, design.n_samples, design.eps
        return found


def structured_gram(matrix: AnyArray, positive: Bool, structure: float, weight: F64 | None = None) -> AnyArray:
    """Return the kernel matrix K' of k'(x, z) = phi(x)'(I + lambda Sigma)^-1 phi(z), given K.

    K' = K - lambda K H (I + lambda H'K H)^-1 H'K with R = H H' as in Sigma = X' R X. R is singular: the published form,
    which inverts it, does not exist. O(N^3), four matrices at a time.
    """
    n = len(matrix)
    require_memory(3 * 8 * n * n, f"the structured kernel matrix of {n} samples, beside the kernel matrix,")
    half = _centred(matrix, positive, weight, power=0.5)
    system = structure * _centred(half.T, positive, weight, power=0.5).T
    system[np.diag_indices(n)] += 1.0
    factor, _ = _factor(system)
    half = solve_triangular(factor, half, lower=True, overwrite_b=True, check_finite=False)
    return np.asarray(matrix - (structure * (half.T @ half)), dtype=matrix.dtype)


def _factor(metric: F64) -> tuple[F64, bool]:
    """Return the lower Cholesky factor of I + lambda Sigma, which is overwritten."""
    try:
        return cho_factor(metric, lower=True, overwrite_a=True)
    except ValueError as failure:  # not positive definite (LinAlgError), or infinite
        size = float(np.abs(np.diag(metric)).max())
        raise ValueError(
            f"structure: I + structure * Sigma is not numerically positive definite (its diagonal "
            f"reaches {size:.1e}); scale the features, lower structure, or use a positive definite kernel"
        ) from failure


def plain_coefficients(coefs: F64, scores: F64, positive: Bool, structure: float, weight: F64 | None = None) -> F64:
    """Return the coefficients over k of the function that has `coefs` over k'.

    (I + lambda Sigma) w = sum_l a_l phi(x_l) gives w = sum_l (a - lambda R s)_l phi(x_l), s the training scores.
    """
    return coefs - structure * _centred(scores, positive, weight, power=1.0)


def _centred(values: AnyArray, positive: Bool, weight: F64 | None, *, power: float) -> F64:
    """Return share^power (v - mean of its class): R v of Sigma = X' R X for power 1, H'v of R = H H' for power 1/2."""
    out = np.array(values, dtype=np.float64)
    for members in (positive, ~positive):
        block, share = out[members], _shares(members, weight)
        block -= share @ block
        block.T[...] *= share**power
        out[members] = block
    return out


# Eigenvalues below this share of the largest are rounding and are left out. The share of the memory for features.
_FLOOR, _SHARE = 1e-10, 0.3


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
        """Whether the features of so many samples take at most 0.3 of the available memory: a fit copies some."""
        return self.size(n_samples) <= _SHARE * available_memory()


class LandmarkDesign(Design):
    """The features of landmarks, of which each product computes all kernel values, a block of rows at a time."""

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


def kernel_design(kernel: Kernel, X: Any, positive: Bool, weight: F64 | None, structure: float, dtype: type) -> Design:
    """Return the features if the kernel is linear, else the kernel matrix in `dtype`."""
    if kernel.name == "linear":
        if not structure:
            return as_design(compact(X))
        work = X.shape[0] * X.shape[1]
        return interruptible(work, StructuredDesign, as_design(X), positive, structure, weight)
    gram = kernel.gram(X, dtype)
    if structure:
        gram = interruptible(gram.size, structured_gram, gram, positive, structure, weight)
    return KernelDesign(gram)


# The place of samples of weight 0, after all others.
_LAST = np.iinfo(np.intp).max


def check_landmarks(n_landmarks: Any, kernel: Any) -> int | None:
    """Check and return the number of landmarks, None without landmarks."""
    if n_landmarks is None:
        return None
    n = check_count("n_landmarks", n_landmarks)
    if isinstance(kernel, str) and kernel in ("linear", "precomputed"):
        raise ValueError(
            f"n_landmarks={shown(n)} is for kernels that are functions of two samples, got kernel={kernel!r}; use "
            "kernel='rbf', or n_landmarks=None"
        )
    return n


def ranks(positive: Bool, weight: F64 | None, seed: int) -> Rows:
    """Return the place of each sample in a random order; samples of weight 0 come last."""
    place = np.full(len(positive), _LAST)
    counted = np.arange(len(positive)) if weight is None else np.flatnonzero(weight > 0)
    place[counted] = np.random.default_rng(seed).permutation(len(counted))
    return place


def first_of_both(positive: Bool, place: Rows, n: int) -> Rows:
    """Return at most `n` rows: the first of either class by `place`, a third, if there are, of the smaller class."""
    counted = place < _LAST
    small, large = sorted((np.flatnonzero(counted & of) for of in (positive, ~positive)), key=len)
    size = min(len(small), max(n // 3, n - len(large)))
    parts = [rows[np.argsort(place[rows])[:k]] for rows, k in ((small, size), (large, n - size))]
    return np.sort(np.concatenate(parts))


def copied(X: Any, rows: Rows) -> Any:
    """Return some rows of X, in memory."""
    found: AnyArray = X[rows]
    return found if hasattr(found, "tocsr") else np.array(found, order="C")


def points_of(X: Any, positive: Bool, place: Rows, n: int) -> Any:
    """Return at most `n` landmarks: rows of X, of both classes."""
    return copied(X, first_of_both(positive, place, n))


def landmark_design(landmarks: Landmarks, X: Any, positive: Bool, weight: F64 | None, structure: float) -> Design:
    """Return the features of landmarks; if they do not fit in memory, every product recomputes them."""
    if structure:
        require_memory(landmarks.size(X.shape[0]), f"structure={structure:g} with the features of landmarks")
        features = landmarks.features(X)
        return StructuredDesign(DenseDesign(features), positive, structure, weight)
    return as_design(landmarks.features(X)) if landmarks.fit(X.shape[0]) else LandmarkDesign(landmarks, X)


# X is wide if it stores so many values for each of the n x n of its factor, which are then so much cheaper to multiply.
_WIDE = 2
# A square of a row's distance from the others' span that is rounding, relative to n times the largest square of a row.
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
# Rows of a block of the factor. A product uses only the rows with a coefficient if they are at most this share.
_BLOCK, _FEW = 128, 0.4
# Rows of a tile of the Gram matrix, and bytes of the columns of X that are centred at a time.
_TILE, _COLUMNS = 512, 1 << 25


class RowSpace:
    """The factor F of Z = X - mean with F F' = Z Z', of shape (n, r), r <= n the rank of Z.

    A model v on F has the length of w = Z'a, where F'a = v, and its scores on Z. The minimisers over X of 1/2|w|^2 and
    a risk that no shift of the scores changes are such w, also if the risk is that of some rows. So F replaces X in all
    fits on rows of X, up to rounding: what differs by less than 1e-6 of the longest row is lost.

    F comes from a Cholesky factorisation of Z Z' with pivots, O(n^2 d + n^3) once: up to the order of the rows it is
    lower triangular. A product with F is O(n^2), not O(n d). Takes 16 n^2 bytes for a moment, then 8 n^2: no more than
    X in double precision.
    """

    def __init__(self, X: Any, n_threads: int) -> None:
        n = X.shape[0]
        self._X, self._mean = X, np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        gram = self._gram(n_threads)
        rounding = _ROUNDING * n * gram.diagonal().max()
        root, order, self.rank, _ = interruptible(n * n, dpstrf, gram.T, tol=rounding, overwrite_a=1)
        for rows in slices(n, _TILE):
            root[rows, rows] = np.triu(root[rows, rows])
        self._root, self._order = root, order - 1
        self._place = np.empty(n, dtype=np.intp)
        self._place[self._order] = np.arange(n)

    @classmethod
    def of(cls, X: Any, n_threads: int) -> Self | None:
        """Return the row space of X in memory, an array or sparse; None unless X is wide."""
        n = X.shape[0]
        stored = X.nnz if hasattr(X, "nnz") else X.size
        if stored < _WIDE * n * n:
            return None
        found = cls(X, n_threads)
        return found if found.rank else None

    def design(self, rows: Rows) -> "FactorDesign":
        """Return the design of some rows of F."""
        dtype = np.float32 if self._X.dtype == np.float32 else np.float64
        return FactorDesign(self._root.T[:, : self.rank], self._place[rows], dtype)

    def vector(self, reduced: F64) -> F64:
        """Return the weights of the features of X of a model on F."""
        coefs = np.zeros(self._X.shape[0])
        corner = self._root[: self.rank, : self.rank]
        coefs[self._order[: self.rank]] = solve_triangular(corner, reduced, check_finite=False)
        # In double precision: nearly equal rows may have large coefficients that cancel.
        parts = (coefs[rows] @ self._X[rows].astype(np.float64, copy=False) for rows in slices(len(coefs), _TILE))
        return np.asarray(sum(parts, -coefs.sum() * self._mean))

    def of_mean(self, weights: F64) -> float:
        """Return the score of the mean of X, which scores on F lack."""
        return float(weights @ self._mean)

    def _gram(self, n_threads: int) -> F64:
        """Return Z Z', 0 above the tiles of its diagonal, equal to the bit for any number of threads."""
        n, d = self._X.shape
        gram, tiles = np.zeros((n, n)), [*slices(n, _TILE)]

        def add(pair: tuple[slice, slice]) -> None:
            few, many = pair
            gram[many, few] += Z[many] @ Z[few].T

        with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
            for columns in slices(d, _COLUMNS // (8 * n)):
                block = self._X[:, columns].astype(np.float64, copy=False)
                Z = (block.toarray() if hasattr(block, "toarray") else block) - self._mean[columns]
                list(pool.map(add, combinations_with_replacement(tiles, 2)))
        return gram


class FactorDesign(Design):
    """Rows of a lower triangular factor, in blocks without the zeros at their ends: half of the memory and time.

    `places` are the rows of the factor that the samples have. A row has values up to its diagonal.
    """

    divisible = True

    def __init__(self, factor: F64, places: Rows, dtype: Any) -> None:
        self.n_samples, self.dim = len(places), factor.shape[1]
        self._factor, self._places, self._dtype = factor, places, dtype
        self._order = np.argsort(places, kind="stable")
        ordered = places[self._order]
        # Rows of the factor from `dim` on have no diagonal.
        self._blocks: list[tuple[slice, AnyArray]] = [
            (some, np.ascontiguousarray(factor[ordered[some], : ordered[some][-1] + 1], dtype=dtype))
            for some in slices(len(ordered), _BLOCK)
        ]

    def scores(self, vector: F64, /) -> F64:
        vector, scores = vector.astype(self._dtype, copy=False), np.empty(self.n_samples)
        for some, block in self._blocks:
            scores[self._order[some]] = block @ vector[: block.shape[1]]
        return scores

    def adjoint(self, coefs: Coefs, /) -> F64:
        vectors = np.zeros((len(coefs), self.dim))
        ordered = np.asarray(coefs)[:, self._order].astype(self._dtype, copy=False)
        for some, block in self._blocks:
            part = ordered[:, some]
            used = np.flatnonzero(part.any(axis=0))
            if len(used) <= _FEW * len(block):
                part, block = part[:, used], block[used]
            vectors[:, : block.shape[1]] += part @ block
        return vectors

    def rows(self, index: Rows, /) -> "FactorDesign":
        return FactorDesign(self._factor, self._places[index], self._dtype)


# The features in which models are linear; None: those of X itself.
Space = Landmarks | RowSpace | None
