"""Weighted moments of the features of a design, and a rough mean of some rows."""

from typing import Any

import numpy as np

from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray
from rocmax.designs._base import Design
from rocmax.designs._chunks import Chunks, is_dask


def moments(design: Design, weight: F64, shift: F64) -> tuple[F64, F64]:
    """Return Z'WZ and Z'w for Z = X - shift, in double precision: shapes (dim, dim) and (dim,).

    Uses the design's own method ``moments(weight, shift)`` if it has one, else two products per feature.
    """
    dim = design.dim
    require_memory(4 * 8 * dim * dim, f"the Gram matrix of {dim} features")
    if (own := getattr(design, "moments", None)) is not None:
        gram, total = own(weight, shift)
        return gram, total
    total = design.adjoint([weight])[0] - shift * weight.sum()
    columns = (weight * (design.scores(unit) - offset) for unit, offset in zip(np.eye(dim), shift, strict=True))
    gram = np.array([design.adjoint([column])[0] - shift * column.sum() for column in columns])
    return 0.5 * (gram + gram.T), total


def some_rows(X: Any, n_rows: int) -> AnyArray:
    """Return about so many rows of X in ten runs: single rows of a file would each read a page."""
    run = min(1 + n_rows // 10, X.shape[0])
    starts = np.linspace(0, X.shape[0] - run, 10).astype(int)
    if is_dask(X):
        return Chunks(X).take(np.concatenate([np.arange(start, start + run) for start in starts]))
    return np.concatenate([np.asarray(X[start : start + run, :]) for start in starts])


def rough_mean(some: AnyArray) -> F64:
    """Return the mean of some rows, 0 in columns where it is at most twice the standard deviation."""
    some = np.asarray(some, dtype=np.float64)
    mean = some.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # features near 1e154 and above are refused by their products
        return np.where(np.abs(mean) > 2 * some.std(axis=0), mean, 0.0)


def add_moments(gram: F64, total: F64, Z: AnyArray, weight: F64, shift: F64) -> None:
    """Add the moments of some rows."""
    used = np.flatnonzero(weight)
    if len(used) < len(Z):
        Z, weight = Z[used], weight[used]
    Z = np.asarray(Z, dtype=np.float64)
    if shift.any():
        Z = Z - shift
    total += weight @ Z
    if (weight != 1.0).any():
        Z = Z * np.sqrt(weight)[:, None]
    gram += Z.T @ Z
