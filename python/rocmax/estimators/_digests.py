"""Digests of training data: sums of their bits, each times an odd number of its place, modulo 2^64.

A changed value always changes the sum; equal values have equal digests in any storage, since zeros add nothing. It
protects from mistakes, not from an adversary.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._tables._digests import STEP, mixed
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_dask, is_sparse
from rocmax.designs._blocks import row_blocks, slices

Bits = NDArray[np.uint64]
# Values whose numbers are made at a time.
_BLOCK = 1 << 16


def odd(start: int, size: int) -> Bits:
    """Return odd numbers of 64 random bits for the places from `start` on (Steele, Lea and Flood, 2014)."""
    return mixed(np.arange(start + 1, start + 1 + size, dtype=np.uint64) * np.uint64(STEP)) | np.uint64(1)


def of_data(X: Any, positive: Bool, weight: F64 | None) -> list[int]:
    """Return the digests of features, labels and weights."""
    weight = np.broadcast_to(1.0, len(positive)) if weight is None else weight
    return [of_features(X), of_values(positive), of_values(weight)]


def of_values(values: AnyArray) -> int:
    """Return the digest of numbers, in order."""
    parts = (int(_bits(values[some]) @ odd(some.start, some.stop - some.start)) for some in slices(len(values), _BLOCK))
    return sum(parts) % (1 << 64)


def of_features(X: Any) -> int:
    """Return the digest of a matrix; 0 for dask arrays, which would be read once more."""
    if is_dask(X):
        return 0
    columns = odd(1 << 40, X.shape[1])
    if is_sparse(X):
        X = X.tocsr()
        counts = np.diff(X.indptr)
        return int((_bits(X.data) * columns[X.indices]) @ np.repeat(odd(0, X.shape[0]), counts))
    total = 0
    for rows, block in row_blocks(X):
        total += _core.digest(block, odd(rows.start, len(block)), columns)
    return total % (1 << 64)


def _bits(values: AnyArray) -> Bits:
    """Return the bits of values as float64; of -0.0 those of 0.0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)
