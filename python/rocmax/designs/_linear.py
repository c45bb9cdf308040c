"""Designs: their interface with solvers, and those of arrays, files, sparse matrices and dask arrays."""

from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rocmax import _core
from rocmax._runtime.settings import settings
from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs import _blocks as blocks


class Packed:
    """Coefficients over the samples without the zeros: most, of a narrow range."""

    def __init__(self, coef: F64, rows: Rows | slice = slice(None), n_samples: int | None = None) -> None:
        self._n, used = n_samples or len(coef), coef != 0.0
        counted = np.zeros(self._n, dtype=bool)
        counted[rows] = used
        self._counted, self._values = np.packbits(counted), coef[used]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> F64:  # always a new array
        found = np.zeros(self._n)
        found[np.unpackbits(self._counted, count=self._n).view(bool)] = self._values
        return found


class Pull(Protocol):
    """The product of a change of the scores of some rows with a matrix H; `core` is what the core knows it by."""

    @property
    def core(self) -> Any: ...

    def __call__(self, change: F64, /) -> F64: ...


class Design:
    """The features behind a ranking problem, seen as a linear map.

    A *vector* is a model: the weights of the features in a linear design. Solvers add and scale vectors, and use the
    features only through the products below, or as a whole if they are few. So a new storage is one new class with
    ``scores`` and ``adjoint``, and ``moments`` if it can do better than two products per feature.
    """

    n_samples: int
    # The length of a vector.
    dim: int
    # Whether a product with some of the samples costs no more than their share.
    divisible = False
    # Whether a vector begins with a coefficient for each sample.
    dual = False
    # The relative rounding of products, and whether squared lengths are sums over pairs of samples, which cancel.
    eps, rounds_lengths = float(np.finfo(np.float64).eps), False

    def scores(self, vector: F64, /) -> F64:
        """Return X v, one score for each sample: shape (dim,) to (n_samples,), a new array."""
        raise NotImplementedError

    def adjoint(self, coefs: Coefs, /) -> F64:
        """Return X' a for each row a: shape (k, n_samples), or a list of k rows, to (k, dim)."""
        raise NotImplementedError

    def inner(self, u: F64, v: F64, /) -> F64:
        """Return the inner products between the rows of u and the rows of v: shape (k, l)."""
        return np.asarray(np.einsum("ij,kj->ik", u, v))  # in the same order on any processor, unlike the BLAS

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        """Return Z'WZ and Z'w for Z = X - shift, in double precision: shapes (dim, dim) and (dim,)."""
        total = self.adjoint([weight])[0] - shift * weight.sum()
        columns = (weight * (self.scores(unit) - offset) for unit, offset in zip(np.eye(self.dim), shift, strict=True))
        gram = np.array([self.adjoint([column])[0] - shift * column.sum() for column in columns])
        return 0.5 * (gram + gram.T), total

    def rows(self, index: Rows, /) -> "Design | None":
        """Return the design of some samples, in memory, or None if it is no cheaper than the whole."""
        return None

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        """Return a step that solves (I + X'HX) step = -gradient, X some rows and ``pull`` their products with H.

        ``until`` has its residual, relative to the gradient, and the largest number of products. None if products of
        the rows, which serve any design, are as fast.
        """
        return None

    def single(self, rows: Rows | None = None, /) -> "tuple[Design, float] | None":
        """Return the design less the mean of its samples in single precision, and the square of the longest sample.

        Of some `rows` alone if they are given. None if that is no cheaper, or takes much of the memory.
        """
        return None

    def accurate(self, *, shifted: bool = True) -> "Design":
        """Return the design for products that prove a bound: in double precision, of features less a common vector.

        So scores lack a constant, which changes no pair, and large features that hardly vary lose no digits. Not
        `shifted`, the features stay where they are.
        """
        return self


def inner(design: Design, u: F64, v: F64) -> float:
    """Return the inner product of two vectors of a design."""
    return float(design.inner(u[None], v[None])[0, 0])


def conjugate(pull: Pull, sample: Design, gradient: F64, residual: float, steps: int) -> F64:
    """Solve (I + H) step = -gradient to a residual, by at most so many products with a sample and its pull."""

    def product(vector: F64) -> F64:
        return np.asarray(sample.adjoint([pull(sample.scores(vector))])[0])

    step: F64 = _core.conjugate(gradient, (residual, steps), product, lambda u, v: inner(sample, u, v))
    return step


class SubsetDesign(Design):
    """The samples `index` of a design that is not copied; each product is one with the whole design."""

    def __init__(self, design: Design, index: Rows) -> None:
        self.n_samples, self.dim, self.divisible = len(index), design.dim, design.divisible
        self._design, self._index = design, index

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector)[self._index]

    def adjoint(self, coefs: Coefs, /) -> F64:
        # A sample may be there more than once.
        sums = np.array([np.bincount(self._index, coef, self._design.n_samples) for coef in coefs], dtype=np.float64)
        return self._design.adjoint(sums)

    def inner(self, u: F64, v: F64, /) -> F64:
        return self._design.inner(u, v)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        return self._design.newton_step(self._index[rows], pull, gradient, until)

    def single(self, rows: Rows | None = None, /) -> "tuple[Design, float] | None":
        return self._design.single(self._index if rows is None else self._index[rows])

    def rows(self, index: Rows, /) -> "Design | None":
        return self._design.rows(self._index[index])


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
        self._in_memory, self._plain = origin is None and type(X) is np.ndarray, blocks.is_plain(X)
        # Whether it makes all products.
        self._in_core = self._in_memory and X.size <= settings().core_product

    def accurate(self, *, shifted: bool = True) -> "DenseDesign":
        origin = blocks.rough_mean(blocks.some_rows(self._X, SOME)) * shifted
        return self if self._X.dtype == np.float64 and not origin.any() else type(self)(self._X, origin)

    def _tiles(self) -> Iterator[tuple[slice, slice, AnyArray]]:
        for rows, columns, block in blocks.tiles(self._X):
            yield rows, columns, block if self._origin is None else block - self._origin[columns]

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        for rows, block in blocks.row_blocks(self._X):
            blocks.add_moments(gram, total, block, weight[rows], shift)
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
                for some in blocks.slices(len(used), _COPIED // self.dim):
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
        return DenseDesign(blocks.in_rows(self._X[index]), self._origin)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        if not self._in_memory:
            return None
        if self._plain:
            return _core.newton_step(self._X, rows, pull.core, gradient, until)
        return _core.newton_step(self._read(rows), np.arange(len(rows)), pull.core, gradient, until)

    def _read(self, rows: Rows | slice) -> AnyArray:
        """Return some rows for the core: of plain features all as they are, of others a copy."""
        return self._X if self._plain else blocks.in_rows(blocks.as_float(self._X[rows]))

    def single(self, rows: Rows | None = None, /) -> "tuple[DenseDesign, float] | None":
        if not halves(self._X, None if rows is None else len(rows)):
            return None
        n = self.n_samples if rows is None else len(rows)
        X, mean, longest = np.empty((n, self.dim), dtype=np.float32), self._X.mean(axis=0), 0.0
        with np.errstate(over="ignore"):
            for some in blocks.slices(n, _VALUES // self.dim):
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
        for rows in blocks.slices(self.n_samples, settings().block_rows):
            blocks.add_moments(gram, total, self._X[rows].toarray(), weight[rows], shift)
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
    for rows, columns, block in blocks.tiles(X):
        for k, coef in enumerate(coefs[:, columns].astype(block.dtype, copy=False)):
            scores[rows, k] += np.einsum("ij,j->i", block, coef)
    return scores


def rounding_of(dtype: Any) -> float:
    """Return the relative rounding of products with features of a dtype: single precision stays."""
    return float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)


class MemmapDesign(DenseDesign):
    """A two-dimensional numpy.memmap: a product is one pass over the file in blocks, which are released after use."""

    divisible = False

    def rows(self, index: Rows, /) -> DenseDesign:
        order = np.argsort(index)
        ascending = index[order]
        found = np.empty((len(index), self.dim), blocks.as_float(self._X[:0]).dtype)
        for rows, columns, block in blocks.tiles(self._X):
            first, last = np.searchsorted(ascending, rows.indices(self.n_samples)[:2])
            found[order[first:last], columns] = block[ascending[first:last] - rows.start]
        return DenseDesign(found, self._origin)


class DaskDesign(Design):
    """A two-dimensional dask array, chunked by rows: only vectors cross the network, and each product reads it all."""

    def __init__(self, X: Any) -> None:
        self.n_samples, self.dim = X.shape
        self._X, self._chunks, self.eps = X, blocks.Chunks.of(X, taken=True), rounding_of(X.dtype)
        self.divisible = self._chunks.in_memory
        self._origin: F64 | None = None

    def accurate(self, *, shifted: bool = True) -> "DaskDesign":
        origin = blocks.rough_mean(blocks.some_rows(self._X, SOME)) * shifted
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
    return isinstance(X, np.memmap) or blocks.is_dask(X)


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sp.issparse(X))


# The first that fits gives the design.
STORAGES: list[tuple[Callable[[Any], bool], Callable[[Any], Design]]] = [
    (is_sparse, SparseDesign),
    (lambda X: isinstance(X, np.memmap), MemmapDesign),
    (lambda X: isinstance(X, np.ndarray), DenseDesign),
    (blocks.is_dask, DaskDesign),
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
    few = all(np.count_nonzero(some) <= _FILLED * some.size for some in (blocks.some_rows(X, SOME), X))
    return sp.csr_array(X) if few else X


def linear_scores(X: Any, coefs: F64) -> F64:
    """Return the scores of new samples by each vector: shape (n_samples, k). A score depends on its own row alone."""
    if blocks.is_dask(X):
        return DaskDesign(X).row_scores(coefs)
    if is_sparse(X):
        return np.asarray(X @ coefs.T.astype(X.dtype, copy=False), dtype=np.float64)
    return row_scores(X, coefs)
