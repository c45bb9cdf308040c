"""Blocks of dense features, all in C order: products then round alike whatever the layout of X."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

from rocmax._runtime.settings import settings
from rocmax._typing import AnyArray

# Bytes of the largest tile, and of the largest block of whole rows, which callers copy and which fits the cache.
_BLOCK, _WHOLE = 1 << 26, 1 << 24
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)


def in_rows(X: Any) -> Any:
    """Return an array in C order, aligned and in native byte order; anything else as it is.

    BLAS adds in an order that depends on the layout: equal values in another layout would give another model.
    """
    if not isinstance(X, np.ndarray) or _is_in_rows(X):
        return X
    X = np.require(X, X.dtype.newbyteorder("="), ["C", "A", "E"])
    # An axis of length 1 may have any stride, on which numpy's choice of the routine depends.
    return X.reshape(-1).reshape(X.shape)


def _is_in_rows(X: AnyArray) -> bool:
    flags = X.flags
    return type(X) is np.ndarray and flags.c_contiguous and flags.aligned and X.dtype.isnative and 1 not in X.shape


def is_plain(X: Any) -> bool:
    """Whether products read X as it is: an array of floats in C order, in memory."""
    return _is_in_rows(X) and X.dtype in _FLOATS


def slices(size: int, step: int) -> Iterator[slice]:
    """Yield the slices of at least 1 and at most `step` that cover range(size)."""
    step = max(1, step)
    return (slice(first, min(first + step, size)) for first in range(0, size, step))


def tiles(X: AnyArray) -> Iterator[tuple[slice, slice, AnyArray]]:
    """Yield (rows, columns, X[rows, columns]) over an ndarray or a memmap, whose pages are released afterwards.

    The tiles depend on the shape alone. Each is a view, or a copy of at most 64 MB in C order; float32 stays, other
    numbers become float64.
    """
    n_samples, dim = X.shape
    width = max(1, -(-dim // max(1, -(-dim // settings().tile_columns))))
    height = min(settings().tile_rows, _BLOCK // (8 * width))
    if n_samples <= height and width == dim and is_plain(X):
        yield slice(0, n_samples), slice(0, dim), X  # to cut small features takes longer than to multiply them
        return
    as_it_is = X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative
    for rows in slices(n_samples, height):
        for columns in slices(dim, width):
            require_whole(X)
            block = as_float(X[rows, columns])
            yield rows, columns, block if as_it_is and width < dim else in_rows(block)
            _release(X)


def row_blocks(X: AnyArray) -> Iterator[tuple[slice, AnyArray]]:
    """Yield (rows, X[rows]) over an ndarray or a memmap, as `tiles` does, up to 16 MB at a time."""
    for rows in slices(len(X), min(settings().block_rows, _WHOLE // (8 * max(1, X.shape[1])))):
        require_whole(X)
        yield rows, in_rows(as_float(X[rows]))
        _release(X)


def as_float(block: AnyArray) -> AnyArray:
    """Return an array in the precision of products: single for float32, else double."""
    single = block.dtype.kind == "f" and block.dtype.itemsize == 4
    return np.asarray(block).astype(np.float32 if single else np.float64, copy=False)


def require_whole(X: Any) -> None:
    """Refuse a memmap whose file was cut after it was mapped: reading beyond the end kills the process (SIGBUS).

    Called before and after each block; a cut during a block can still kill the process.
    """
    source = getattr(X, "_mmap", None)
    if not isinstance(source, mmap.mmap):
        return
    try:
        held = source.size()
    except (OSError, ValueError):  # a map without a file
        return
    offset = int(getattr(X, "offset", 0))
    needed = offset - offset % mmap.ALLOCATIONGRANULARITY + len(source)
    if held < needed:
        raise OSError(
            f"X: the file {getattr(X, 'filename', None)} was cut after it was mapped, to {held:,} of {needed:,} bytes;"
            " write new features to a new file"
        )


def _release(X: AnyArray) -> None:
    """Release the pages of a file, except those of a copy-on-write map, whose changes would be lost."""
    require_whole(X)
    source = getattr(X, "_mmap", None)
    if isinstance(source, mmap.mmap) and hasattr(source, "madvise") and X.mode in ("r", "r+", "w+"):  # type: ignore[attr-defined]
        source.madvise(mmap.MADV_DONTNEED)
