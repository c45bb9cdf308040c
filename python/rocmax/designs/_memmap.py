"""A design over a file: numpy.memmap, streamed in blocks."""

import mmap
from collections.abc import Iterator

import numpy as np

from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._linear import DenseDesign, coefs_of
from rocmax.designs._moments import add_moments

# Bytes of the file mapped in at a time.
_BLOCK = 1 << 26
# Blocks of rows are so many times smaller: callers copy them, in double precision.
_FEWER = 16


class MemmapDesign(Design):
    """A two-dimensional numpy.memmap, read in blocks along its slow axis and let go after each.

    Every product is one pass over the file. Resident memory stays at one block beside the vectors, also where the file
    is larger than memory: the pages of a block are handed back as soon as it is used. float32 is multiplied as float32.
    """

    def __init__(self, X: "np.memmap[tuple[int, ...], np.dtype[np.floating]]") -> None:
        self.n_samples, self.dim = X.shape
        self._X = X

    def scores(self, vector: F64, /) -> F64:
        scores = np.zeros(self.n_samples)
        for rows, columns, block in blocks(self._X):
            scores[rows] += block @ vector[columns].astype(block.dtype, copy=False)
        return scores

    def adjoint(self, coefs: Coefs, /) -> F64:
        vectors = np.zeros((len(coefs), self.dim))
        for rows, columns, block in blocks(self._X):
            vectors[:, columns] += coefs_of(coefs, rows, block.dtype) @ block
        return vectors

    def moments(self, weight: F64, shift: F64, /) -> tuple[F64, F64]:
        gram, total = np.zeros((self.dim, self.dim)), np.zeros(self.dim)
        for rows, block in row_blocks(self._X):
            add_moments(gram, total, block, weight[rows], shift)
        return gram, total

    def rows(self, index: Rows, /) -> DenseDesign:
        order = np.argsort(index)
        ascending = index[order]
        found = np.empty((len(index), self.dim), dtype=np.float32 if self._X.dtype == np.float32 else np.float64)
        for rows, columns, block in blocks(self._X):
            first, last = np.searchsorted(ascending, rows.indices(self.n_samples)[:2])
            found[order[first:last], columns] = block[ascending[first:last] - (rows.start or 0)]
        return DenseDesign(found)


def blocks(X: AnyArray) -> Iterator[tuple[slice, slice, AnyArray]]:
    """Yield (rows, columns, X[rows, columns]) over blocks of a memmap; their pages leave memory afterwards."""
    by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    length, width = X.shape[::-1] if by_columns else X.shape
    step = max(1, _BLOCK // max(1, width * X.itemsize))
    everything = slice(None)
    for start in range(0, length, step):
        part = slice(start, min(start + step, length))
        rows, columns = (everything, part) if by_columns else (part, everything)
        block = np.asarray(X[rows, columns])
        if block.dtype not in (np.float32, np.float64):
            block = block.astype(np.float64)
        yield rows, columns, block
        _release(X)


def row_blocks(X: AnyArray) -> Iterator[tuple[slice, AnyArray]]:
    """Yield (rows, X[rows]) over a memmap of either order; pages leave memory afterwards."""
    step = max(1, _BLOCK // _FEWER // max(1, X.shape[1] * X.itemsize))
    for start in range(0, len(X), step):
        rows = slice(start, min(start + step, len(X)))
        yield rows, np.asarray(X[rows])
        _release(X)


def _release(X: AnyArray) -> None:
    """Hand the pages of the file back to the system, where it can be asked to; they are read again when needed.

    Not those of a copy-on-write map, whose changes would be lost.
    """
    source = getattr(X, "_mmap", None)
    if isinstance(source, mmap.mmap) and hasattr(source, "madvise") and X.mode in ("r", "r+", "w+"):  # type: ignore[attr-defined]
        source.madvise(mmap.MADV_DONTNEED)
