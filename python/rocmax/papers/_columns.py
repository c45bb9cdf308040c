"""The base of the papers' rankers: their fit, features by column, and sums of stumps."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, Bool
from rocmax.designs import is_sparse, is_stored
from rocmax.estimators._base import Data, Ranker, atomic, warn_if_constant
from rocmax.estimators._thresholds import check_threshold


class PaperRanker(Ranker):
    """A ranker whose `fit` checks its parameters, learns, and sets the threshold."""

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; AUCSplitTree and PAUCBoost do not accept sparse X. RankBoost treats NaN as missing.

        Raises
        ------
        TypeError
            If X is sparse and the model needs dense features.
        """
        parameters = self._checked()
        check_threshold(self.threshold)
        self._require_storage(X)
        data = self._validated(X, y, sample_weight)
        self._learn(data, *parameters)
        warn_if_constant(self._set_threshold(data))
        return self

    def _checked(self) -> tuple[Any, ...]:
        """Check and return the parameters."""
        raise NotImplementedError

    def _learn(self, data: Data, *parameters: Any) -> None:
        """Set the fitted attributes except the threshold."""
        raise NotImplementedError

    def _checked_features(self, X: Any) -> Any:
        self._require_storage(X)
        return super()._checked_features(X)

    def _require_storage(self, X: Any) -> None:
        if not self._takes_sparse and is_sparse(X):
            raise TypeError(f"{type(self).__name__} does not support sparse X; pass X.toarray()")


def in_memory(data: Data, n_bytes: int) -> Data:
    """Return the samples of positive weight in memory, which with a fit take `n_bytes` per value."""
    X = data.X
    n_values = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    require_memory(n_bytes * n_values, "the features by column", "fewer samples or features need less")
    data = data._replace(X=np.asarray(X) if is_stored(X) else X)
    return data if data.weight is None or data.weight.all() else data.take(np.flatnonzero(data.weight))


def by_column(X: Any) -> F64:
    """Return all values, column by column."""
    return np.asarray(X, dtype=np.float64).ravel(order="F")


def columns_of(X: Any) -> Any:
    """Return X in a form with cheap columns."""
    return sp.csc_array(X) if is_sparse(X) else X


def column(X: Any, k: int) -> F64:
    """Return a column of `columns_of`, dense."""
    values = X[:, [k]].toarray()[:, 0] if is_sparse(X) else X[:, k]
    return np.asarray(values, dtype=np.float64)


def sum_of_stumps(X: Any, feature: NDArray[np.int64], threshold: F64, coef: F64, missing: Bool) -> F64:
    """Return sum_t coef_t 1[x > threshold_t], where the indicator of a NaN is missing_t; O(N log T) for T stumps."""
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
