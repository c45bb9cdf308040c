"""Dense features a block at a time, each in one layout: products then round alike whatever the layout of all."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

from rocmax._settings import settings
from rocmax._typing import AnyArray

# Largest tile, and largest block of whole rows, in bytes: the latter fits the cache, as callers copy it.
_BLOCK, _WHOLE = 1 << 26, 1 << 24


def in_rows(X: Any) -> Any:
    """Return an array in C order, aligned and in native bytes; others, and what is no array, as they are.

    BLAS adds in an order that depends on the layout, so that equal values in another one would give another model.
    """
    if not isinstance(X, np.ndarray):
        return X
    if type(X) is np.ndarray and X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative and 1 not in X.shape:
        return X
    X = np.require(X, X.dtype.newbyteorder("="), ["C", "A", "E"])
    # An axis of length 1 may have any stride, by which numpy chooses the routine too.
    return X.reshape(-1).reshape(X.shape)


def tiles(X: AnyArray) -> Iterator[tuple[slice, slice, AnyArray]]:
    """Yield (rows, columns, X[rows, columns]) over an ndarray or a memmap, whose pages leave memory afterwards.

    The tiles depend on the shape alone. Each is a copy of at most 64 MB in C order, or a view of what lies so; float32
    stays, other numbers become float64.
    """
    n_samples, dim = X.shape
    as_it_is = X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative
    width = max(1, -(-dim // max(1, -(-dim // settings().tile_columns))))
    height = max(1, min(settings().tile_rows, _BLOCK // (8 * width)))
    for first in range(0, n_samples, height):
        rows = slice(first, min(first + height, n_samples))
        for left in range(0, dim, width):
            require_whole(X)
            columns = slice(left, min(left + width, dim))
            block = as_float(X[rows, columns])
            yield rows, columns, block if as_it_is and width < dim else in_rows(block)
            _release(X)


def row_blocks(X: AnyArray) -> Iterator[tuple[slice, AnyArray]]:
    """Yield (rows, X[rows]) over an ndarray or a memmap, as `tiles` does; up to 16 MB at a time."""
    height = max(1, min(settings().block_rows, _WHOLE // (8 * max(1, X.shape[1]))))
    for first in range(0, len(X), height):
        require_whole(X)
        rows = slice(first, min(first + height, len(X)))
        yield rows, in_rows(as_float(X[rows]))
        _release(X)


def as_float(block: AnyArray) -> AnyArray:
    """Return an array in the precision that it is multiplied in: single for float32, double for all else."""
    single = block.dtype.kind == "f" and block.dtype.itemsize == 4
    return np.asarray(block).astype(np.float32 if single else np.float64, copy=False)


def require_whole(X: Any) -> None:
    """Refuse a memmap whose file was cut after it was mapped: reading beyond its end ends the process (SIGBUS).

    Called before and after each block. A file that is cut during a block can still end the process.
    """
    source = getattr(X, "_mmap", None)
    if not isinstance(source, mmap.mmap):
        return
    try:
        held = source.size()
    except (OSError, ValueError):  # a map that does not know its file
        return
    offset = int(getattr(X, "offset", 0))
    needed = offset - offset % mmap.ALLOCATIONGRANULARITY + len(source)
    if held < needed:
        raise OSError(
            f"X: the file {getattr(X, 'filename', None)} was cut after it was mapped, to {held:,} of {needed:,} bytes;"
            " write new features to a new file"
        )


def _release(X: AnyArray) -> None:
    """Return the pages of a file to the system; not those of a copy-on-write map, whose changes would be lost."""
    require_whole(X)
    source = getattr(X, "_mmap", None)
    if isinstance(source, mmap.mmap) and hasattr(source, "madvise") and X.mode in ("r", "r+", "w+"):  # type: ignore[attr-defined]
        source.madvise(mmap.MADV_DONTNEED)
