"""Features whose scales differ so much that a model of some of them is all that can come out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.designs import is_dask, is_stored, some_rows
from rocmax.designs._blocks import row_blocks
from rocmax.exceptions import FeatureScaleWarning

# Standard deviations further apart are warned of.
_RATIO = 1000.0
# Rows that are looked at; all are before anything is said.
_SOME, _BLOCK = 10_000, 1 << 14
# A column that varies less than this share of its largest value is constant but for rounding.
_CONSTANT = 1e-13


def warn_of_scales(estimator: Any, X: Any, weight: F64 | None) -> None:
    """Warn if the standard deviations of features differ by a factor of more than a thousand.

    Looks at 10,000 rows, O(d) each; only if these differ that much, one pass over X.
    """
    kernel = getattr(estimator, "kernel", "linear")
    if callable(kernel) or (isinstance(kernel, str) and kernel == "precomputed"):
        return
    step = -(-X.shape[0] // _SOME)
    if is_stored(X):
        some = some_rows(X, _SOME)
    elif weight is None:
        some = X[::step]
    else:
        some = X[np.flatnonzero(weight > 0)[::step]]
    found = _extremes(_deviations(some))
    if found is not None and step > 1:
        found = _extremes(_deviations(X if is_stored(X) or weight is None else X[weight > 0]))
    if found is None:
        return
    low, high, deviation = found
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    scaler = "StandardScaler(with_mean=False)" if hasattr(X, "tocsr") else "StandardScaler()"
    warn(
        f"the standard deviations of the features reach from {deviation[low]:.2g} (column {names[low]!r}) to "
        f"{deviation[high]:.2g} (column {names[high]!r}): the smaller ones have little effect; scale them, for "
        f"example by make_pipeline({scaler}, {type(estimator).__name__}(...))",
        FeatureScaleWarning,
    )


def _extremes(deviation: F64) -> tuple[int, int, F64] | None:
    """Return the columns of the least and the largest deviation above 0 if they are far apart."""
    varying = np.flatnonzero(deviation)
    if not len(varying):
        return None
    low, high = (int(varying[of(deviation[varying])]) for of in (np.argmin, np.argmax))
    return (low, high, deviation) if deviation[high] / _RATIO > deviation[low] else None


def _deviations(X: Any) -> F64:
    """Return the standard deviation of each column, 0 for those that are constant."""
    if is_dask(X):
        import dask

        peak, deviation = dask.compute(abs(X).max(axis=0), X.std(axis=0))
        return np.where(deviation > _CONSTANT * peak, deviation, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # of features that are refused later
        total, squares, peak, count = _sums(X)
        # About the first row, so only what varies is left to cancel.
        deviation = np.sqrt(np.maximum(squares / count - (total / count) ** 2, 0.0))
    return np.where(np.isfinite(deviation) & (deviation > _CONSTANT * peak), deviation, 0.0)


def _sums(X: Any) -> tuple[F64, F64, F64, int]:
    """Return the sums of each column and of its squares about the first row, its largest value and the rows' number."""
    dim = X.shape[1]
    if hasattr(X, "tocsr"):
        values, columns, n = np.asarray(X.data, dtype=np.float64), X.indices, X.shape[0]
        mean: Any = np.bincount(columns, values, dim) / n
        rest: Any = np.bincount(columns, (values - mean[columns]) ** 2, dim).astype(np.float64)  # integers of no entry
        rest += (n - np.bincount(columns, minlength=dim)) * mean**2
        return np.zeros(dim), rest, np.asarray(np.abs(mean), dtype=np.float64), int(n)
    total, squares, peak = np.zeros((3, dim))
    first = np.asarray(X[0], dtype=np.float64)
    for block in _blocks(X):
        np.maximum(peak, np.abs(block).max(axis=0), out=peak)
        rows = block - first
        total += rows.sum(axis=0)
        squares += np.einsum("ij,ij->j", rows, rows)
    return total, squares, peak, X.shape[0]


def _blocks(X: Any) -> Iterator[F64]:
    if is_stored(X):
        yield from (block for _, block in row_blocks(X))
        return
    for first in range(0, X.shape[0], _BLOCK):
        yield X[first : first + _BLOCK]
