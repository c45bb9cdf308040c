"""Linear designs of arrays, files, sparse matrices and dask arrays: vectors are feature weights."""

from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax import _core
from rocmax._runtime.settings import settings
from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._base import Design, Packed, Pull
from rocmax.designs._blocks import (
    Chunks,
    add_moments,
    as_float,
    in_rows,
    is_dask,
    is_plain,
    rough_mean,
    row_blocks,
    slices,
    some_rows,
    tiles,
)

# An adjoint skips samples of coefficient zero if the others are at most this share of all: where it reads their rows in
# place, and where it copies them.
_FEW, _FEW_COPIED = 0.7, 0.4
# Most samples per feature in single precision: of all (4,000 to 6,000 x 1,000 take .75 of the time), of some rows.
_NARROWER, _NARROWER_SOME = 6.0, 2.0
# The least square of the longest row in single precision: products with coefficients of shorter ones are lost.
_SHORTEST = 1e-25
# Values that an adjoint reads at a time: copied, if X is not plain.
_COPIED = 1 << 23
# Values that are centred at a time: they stay in the cache. Rows for a rough mean.
_VALUES, SOME = 1 << 15, 50


class DenseDesign(Design):
    """A two-dimensional ndarray; float32 features are multiplied as float32, copied up only for accurate products.

    Each product is one pass over X in blocks; an adjoint of few samples reads their rows only. Blocks in another layout
    are copied one at a time: equal values have equal products, to the bit. The core multiplies if X is not large: where
    the risk is not convex, the last digits may decide which minimum is reached, and those of a BLAS depend on the
    processor.
    """

    divisible = True

    def __init__(self, X: AnyArray, origin: F64 | None = None) -> None:
        self._X, (self.n_samples, self.dim) = X, X.shape
        # What products in double precision subtract from each row; None: products are those of X as it is.
        self._origin = origin
        self.eps = rounding_of(X.dtype) if origin is None else self.eps
        # Whether the core reads rows of X, and as they are.
        self._in_memory, self._plain = origin is None and type(X) is np.ndarray, is_plain(X)
        # Whether it makes all products.
        self._in_core = self._in_memory and X.size <= settings().core_product

    def accurate(self, *, shifted: bool = True) -> "DenseDesign":
        origin = rough_mean(some_rows(self._X, SOME)) * shifted
        return self if self._X.dtype == np.float64 and not origin.any() else type(self)(self._X, origin)

    def _tiles(self) -> Iterator[tuple[slice, slice, AnyArray]]:
        for rows, columns, block in tiles(self._X):
            yield rows, columns, block if self._origin is None else block - self._origin[columns]

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        for rows, block in row_blocks(self._X):
            add_moments(gram, total, block, weight[rows], shift)
        return gram, total

    def scores(self, vector: F64, /) -> F64:
        if self._in_core:
            return _core.scores(self._read(slice(None)), vector)
        scores = np.empty(self.n_samples)
        for rows, columns, block in self._tiles():
            part = block @ vector[columns].astype(block.dtype, copy=False)
            scores[rows] = part if columns.start == 0 else scores[rows] + part
        return scores

    def adjoint(self, coefs: Coefs, /) -> F64:
        if self._in_core:
            return _core.adjoint(self._read(slice(None)), [*coefs], self.dim)
        vectors = np.zeros((len(coefs), self.dim))
        if self._in_memory:
            used = np.flatnonzero(np.logical_or.reduce([coef != 0 for coef in coefs]))
            if len(used) <= _FEW * self.n_samples:
                if self._plain:
                    return _core.adjoint(self._X, [*coefs], self.dim)
                for some in slices(len(used), _COPIED // self.dim):
                    vectors += _core.adjoint(self._read(used[some]), [coef[used[some]] for coef in coefs], self.dim)
                return vectors
        for rows, columns, X in self._tiles():
            block = np.array([coef[rows] for coef in coefs], dtype=X.dtype)
            if not self._in_memory:
                used = np.flatnonzero(block.any(axis=0))
                if len(used) <= _FEW_COPIED * len(X):
                    block, X = block[:, used], X[used]
            vectors[:, columns] += block @ X
        return vectors

    def rows(self, index: Rows, /) -> "DenseDesign":
        return DenseDesign(in_rows(self._X[index]), self._origin)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        if not self._in_memory:
            return None
        if self._plain:
            return _core.newton_step(self._X, rows, pull.core, gradient, until)
        return _core.newton_step(self._read(rows), np.arange(len(rows)), pull.core, gradient, until)

    def _read(self, rows: Rows | slice) -> AnyArray:
        """Return some rows for the core: of plain features all as they are, of others a copy."""
        return self._X if self._plain else in_rows(as_float(self._X[rows]))

    def single(self, rows: Rows | None = None, /) -> "tuple[DenseDesign, float] | None":
        if not halves(self._X, None if rows is None else len(rows)):
            return None
        n = self.n_samples if rows is None else len(rows)
        X, mean, longest = np.empty((n, self.dim), dtype=np.float32), self._X.mean(axis=0), 0.0
        with np.errstate(over="ignore"):
            for some in slices(n, _VALUES // self.dim):
                np.subtract(self._X[some if rows is None else rows[some]], mean, out=X[some], casting="same_kind")
                longest = np.maximum(longest, np.einsum("ij,ij->i", X[some], X[some]).max())  # may be NaN
        return (DenseDesign(X), float(longest)) if longest >= _SHORTEST else None


class SparseDesign(Design):
    """A scipy sparse matrix in CSR format; an adjoint reads the rows of coefficients that are not 0."""

    divisible = True

    def __init__(self, X: Any) -> None:
        # scipy's constructors check all indices: on wide tables that takes as long as two products.
        X = X if isinstance(X, sp.csr_array) else sp.csr_array(X)
        # scipy would cast other numbers up in each product.
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
            X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        self._X, self._Xt = X, X.T  # which shares the arrays
        self.n_samples, self.dim = X.shape
        # What the core reads, unless X has more values than it counts.
        self._parts = (X.data, X.indices, X.indptr) if X.indices.dtype == np.int32 else None

    def accurate(self, *, shifted: bool = True) -> "SparseDesign":
        columns = shifted & (np.bincount(self._X.indices, minlength=self.dim) == self.n_samples)  # without zeros
        if not columns.any():
            return self
        X = self._X.copy()
        origin = np.where(columns, X[[0]].toarray()[0], 0.0)
        X.data -= origin[X.indices]
        return SparseDesign(X)

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        if not shift.any():
            used = np.flatnonzero(weight)
            X = self._X[used] if len(used) < self.n_samples else self._X
            weighted = X.multiply(weight[used, None]).tocsr()
            return np.asarray((X.T @ weighted).toarray(), dtype=np.float64), np.asarray(self._Xt @ weight)
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        for rows in slices(self.n_samples, settings().block_rows):
            add_moments(gram, total, self._X[rows].toarray(), weight[rows], shift)
        return gram, total

    def scores(self, vector: F64, /) -> F64:
        return np.asarray(self._X @ vector) if self._parts is None else _core.scores(self._parts, vector)

    def adjoint(self, coefs: Coefs, /) -> F64:
        if self._parts is None:
            return np.array([self._Xt @ coef for coef in coefs], dtype=np.float64)
        return _core.adjoint(self._parts, [*coefs], self.dim)

    def rows(self, index: Rows, /) -> "SparseDesign":
        return SparseDesign(self._X[index])

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        return None if self._parts is None else _core.newton_step(self._parts, rows, pull.core, gradient, until)


def halves(X: Any, n_rows: int | None = None) -> bool:
    """Whether products with rows of X (None: all) are first taken in single precision, which halves their time.

    The copy adds half to an X of few samples a feature, or takes half of the place of a copy of some rows. Memory that
    is free has no say: results would depend on it.
    """
    if type(X) is not np.ndarray or X.dtype == np.float32:
        return False
    dim = int(X.shape[1])
    n, wide = (len(X), _NARROWER) if n_rows is None else (n_rows, _NARROWER_SOME)
    return wide * dim > n and n * dim > settings().small_single


def row_scores(X: AnyArray, coefs: F64) -> F64:
    """Return the products of the rows of an array with each vector: shape (n_samples, k); O(n_samples dim k).

    A score depends on its own row alone, to the last bit: equal rows tie, in whatever batches they are scored. The sum
    of BLAS depends on the place of a row among the others; that of einsum does not, up to its buffer of 8192 columns.
    """
    scores = np.zeros((len(X), len(coefs)))
    for rows, columns, block in tiles(X):
        for k, coef in enumerate(coefs[:, columns].astype(block.dtype, copy=False)):
            scores[rows, k] += np.einsum("ij,j->i", block, coef)
    return scores


def rounding_of(dtype: Any) -> float:
    """Return the relative rounding of products with features of a dtype: single precision stays."""
    return float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)


class MemmapDesign(DenseDesign):
    """A two-dimensional numpy.memmap, read in blocks and released after each.

    Every product is one pass over the file; at most one block is resident. float32 is multiplied as float32. A cut file
    is refused at the next block.
    """

    divisible = False

    def rows(self, index: Rows, /) -> DenseDesign:
        order = np.argsort(index)
        ascending = index[order]
        found = np.empty((len(index), self.dim), as_float(self._X[:0]).dtype)
        for rows, columns, block in tiles(self._X):
            first, last = np.searchsorted(ascending, rows.indices(self.n_samples)[:2])
            found[order[first:last], columns] = block[ascending[first:last] - rows.start]
        return DenseDesign(found, self._origin)


class DaskDesign(Design):
    """A two-dimensional dask array, chunked by rows.

    Only vectors of length n_samples or n_features cross the network, in one message to each worker if a cluster holds
    the blocks, else in tasks. Persist an array that fits the memory of the cluster: otherwise each product reads it
    from its source again.
    """

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X, self._chunks, self.eps = X, Chunks.of(X, taken=True), rounding_of(X.dtype)
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
        few = not self._chunks.in_memory and 2 * sum(map(np.count_nonzero, coefs)) < len(coefs) * self.n_samples
        parts = ([(Packed if few else _aligned)(coef[rows]) for coef in coefs] for rows in self._chunks.parts())
        # Added in order: equal bits, wherever the blocks are.
        found: F64 = reduce(np.add, self._chunks.each(_adjoint, parts, self._origin))
        return found

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        found = self._chunks.total(_moments, (weight[rows] for rows in self._chunks.parts()), shift)
        return found[:-1], found[-1]

    def row_scores(self, coefs: F64) -> F64:
        """Return scores that depend on their own row alone, for each vector: shape (n_samples, k)."""
        return np.concatenate(self._chunks.each(row_scores, [coefs for _ in self._chunks.parts()]))

    def rows(self, index: Rows, /) -> DenseDesign:
        return DenseDesign(self._chunks.take(index), self._origin)


def _scores(block: AnyArray, _: slice, vector: F64, origin: F64 | None) -> F64:
    return DenseDesign(_aligned(block), origin).scores(_aligned(vector))


def _adjoint(block: AnyArray, coefs: Coefs, origin: F64 | None) -> F64:
    return DenseDesign(_aligned(block), origin).adjoint([_aligned(coef) for coef in coefs])


def _aligned(array: AnyArray) -> AnyArray:
    """Return an array that the core reads: one that crossed the network may lie at any address."""
    return np.require(array, requirements="A")


def _moments(block: AnyArray, weight: F64, shift: F64) -> F64:
    """Return the second moments with the first below them, as one array that can be summed."""
    return np.vstack(DenseDesign(block).moments(weight, shift))


# The share of values other than 0 up to which sparse products take less time than dense ones in single precision:
# a third of it with 9 % (2,000 x 1,617), as much with 14 % (2,000 x 1,024).
_FILLED = 0.12


def is_stored(X: Any) -> bool:
    """Whether X is not in memory: a numpy.memmap or a dask array."""
    return isinstance(X, np.memmap) or is_dask(X)


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sp.issparse(X))


# The first that fits gives the design.
STORAGES: list[tuple[Callable[[Any], bool], Callable[[Any], Design]]] = [
    (is_sparse, SparseDesign),
    (lambda X: isinstance(X, np.memmap), MemmapDesign),
    (lambda X: isinstance(X, np.ndarray), DenseDesign),
    (is_dask, DaskDesign),
]


def as_design(X: Any) -> Design:
    """Return the design for a validated X: ndarray, scipy sparse, memmap or dask array."""
    for fits, design in STORAGES:
        if fits(X):
            return design(X)
    raise TypeError(f"X must be an ndarray, scipy sparse, memmap or dask array, got {type(X).__name__}")


def compact(X: Any) -> Any:
    """Return X, or its values other than 0 if these are few and X is a large array in memory: products are faster."""
    if type(X) is not np.ndarray or X.size <= settings().small_dense:
        return X
    few = all(np.count_nonzero(some) <= _FILLED * some.size for some in (some_rows(X, SOME), X))
    return sp.csr_array(X) if few else X


def linear_scores(X: Any, coefs: F64) -> F64:
    """Return the scores of new samples by each vector: shape (n_samples, k). A score depends on its own row alone."""
    if is_dask(X):
        return DaskDesign(X).row_scores(coefs)
    if is_sparse(X):
        return np.asarray(X @ coefs.T.astype(X.dtype, copy=False), dtype=np.float64)
    return row_scores(X, coefs)
