"""The choice of the design by how the features are stored."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax._runtime.settings import settings
from rocmax._typing import F64
from rocmax.designs._base import Design
from rocmax.designs._chunks import is_dask
from rocmax.designs._dask import DaskDesign
from rocmax.designs._linear import SOME, DenseDesign, SparseDesign, row_scores
from rocmax.designs._memmap import MemmapDesign
from rocmax.designs._moments import some_rows

# The share of values other than 0 up to which sparse products take less time than dense ones in single precision:
# a third of it with 9 % (2,000 x 1,617), as much with 14 % (2,000 x 1,024).
_FEW = 0.12


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
    if type(X) is not np.ndarray or X.size <= settings().small_product:
        return X
    few = all(np.count_nonzero(some) <= _FEW * some.size for some in (some_rows(X, SOME), X))
    return sp.csr_array(X) if few else X


def linear_scores(X: Any, coefs: F64) -> F64:
    """Return the scores of new samples by each vector: shape (n_samples, k). A score depends on its own row alone."""
    if is_dask(X):
        return DaskDesign(X).row_scores(coefs)
    if is_sparse(X):
        return np.asarray(X @ coefs.T.astype(X.dtype, copy=False), dtype=np.float64)
    return row_scores(X, coefs)
