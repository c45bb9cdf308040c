"""Features column by column, and sums of stumps over them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rocmax._memory import require_memory
from rocmax._typing import F64, Bool
from rocmax.designs import is_sparse, is_stored
from rocmax.estimators._base import Ranker


class StumpRanker(Ranker):
    """A ranker that only asks which values exceed thresholds."""

    _by_scale = False


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


def require_dense(X: Any, name: str) -> None:
    """Refuse sparse features."""
    if is_sparse(X):
        raise TypeError(f"X is sparse, which {name} does not take: pass X.toarray()")


def by_column(X: Any) -> F64:
    """Return all values, the first column first."""
    return np.asarray(X, dtype=np.float64).ravel(order="F")


def columns_of(X: Any) -> Any:
    """Return X in a form whose columns are cheap."""
    return sp.csc_array(X) if is_sparse(X) else X


def column(X: Any, k: int) -> F64:
    """Return a column of what `columns_of` returns, dense."""
    values = X[:, [k]].toarray()[:, 0] if is_sparse(X) else X[:, k]
    return np.asarray(values, dtype=np.float64)


def sum_of_stumps(X: Any, feature: NDArray[np.int64], threshold: F64, coef: F64, missing: Bool) -> F64:
    """Return sum_t coef_t 1[x > threshold_t] over the stumps' features, missing_t in place of the 1 for a NaN.

    O(N log T) for each feature with T stumps.
    """
    scores = np.zeros(X.shape[0])
    X = columns_of(X)
    for k in np.unique(feature):
        own = np.flatnonzero(feature == k)
        own = own[np.argsort(threshold[own], kind="stable")]
        steps = np.append(0.0, np.cumsum(coef[own]))
        values = column(X, int(k))
        added = steps[np.searchsorted(threshold[own], values, side="left")]
        gone = np.isnan(values)
        if gone.any():
            added[gone] = coef[own] @ missing[own]
        scores += added
    return scores
