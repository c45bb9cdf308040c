"""Features column by column."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from rocmax._memory import require_memory
from rocmax._typing import F64, Bool
from rocmax.designs import is_stored


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array."""
    return bool(sp.issparse(X))


def in_memory(X: Any, positive: Bool, weight: F64 | None, n_bytes: int) -> tuple[Any, Bool, F64 | None]:
    """Return the samples of some weight, in memory; `n_bytes` a value is what they and a fit take."""
    n_values = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    require_memory(n_bytes * n_values, "the features by column", "fewer samples or features need less")
    if is_stored(X):
        X = np.asarray(X)
    if weight is None or weight.all():
        return X, positive, weight
    kept = np.flatnonzero(weight)
    return X[kept], positive[kept], weight[kept]


def columns_of(X: Any) -> Any:
    """Return X in a form whose columns are cheap."""
    return sp.csc_array(X) if is_sparse(X) else X


def column(X: Any, k: int) -> F64:
    """Return a column of what `columns_of` returns, dense."""
    values = X[:, [k]].toarray()[:, 0] if is_sparse(X) else X[:, k]
    return np.asarray(values, dtype=np.float64)
