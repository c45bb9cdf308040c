"""Moments of features that are not in memory: files, one block of rows at a time, and dask arrays, where they lie."""

from typing import Any

import numpy as np

from rocmax._memory import require_memory
from rocmax._typing import F64, AnyArray
from rocmax.designs import is_dask
from rocmax.designs._memmap import row_blocks


def some_rows(X: Any, n_rows: int) -> AnyArray:
    """Return about so many rows of X, from ten places: rows taken singly would each bring in what lies about them."""
    run = min(1 + n_rows // 10, X.shape[0])
    starts = np.linspace(0, X.shape[0] - run, 10).astype(int)
    return np.concatenate([np.asarray(X[start : start + run, :]) for start in starts])


def stored_moments(X: Any, shift: F64, weight: F64) -> tuple[F64, F64]:
    """Return Z' W Z and Z' w for Z = X - shift; one pass over X, O(d^2) memory beside a block of rows."""
    dim = X.shape[1]
    require_memory(4 * 8 * dim * dim, f"the Gram matrix of {dim} features")
    if is_dask(X):
        return _dask_moments(X, shift, weight)
    gram, total = np.zeros((dim, dim)), np.zeros(dim)
    for rows, block in row_blocks(X):
        w = weight[rows]
        used = np.flatnonzero(w)
        Z = block[used].astype(np.float64, copy=False) - shift
        total += w[used] @ Z
        Z *= np.sqrt(w[used])[:, None]
        gram += Z.T @ Z
    return gram, total


def stored_adjoint(X: Any, columns: F64) -> F64:
    """Return X' V in double precision, V of shape (n_samples, k); one pass over X."""
    if is_dask(X):
        X = X.rechunk({1: -1})
        return np.asarray(X.astype(np.float64).T.dot(_beside(X, columns)).compute())
    total = np.zeros((X.shape[1], columns.shape[1]))
    for rows, block in row_blocks(X):
        total += block.T.astype(np.float64, copy=False) @ columns[rows]
    return total


def _beside(X: Any, values: F64) -> Any:
    """Return values of the samples as a dask array, in chunks like those of X."""
    import dask.array as da

    return da.from_array(values, chunks=(X.chunks[0], *(-1,) * (values.ndim - 1)))


def _dask_moments(X: Any, shift: F64, weight: F64) -> tuple[F64, F64]:
    import dask

    Z = X.rechunk({1: -1}).astype(np.float64) - shift
    w = _beside(Z, weight)
    gram, total = dask.compute(Z.T.dot(Z * w[:, None]), w.dot(Z))
    return np.asarray(gram), np.asarray(total)
