"""A warning about features whose scales differ so much that only some of them have an effect."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from rocmax._runtime.threads import one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.designs import is_dask, is_sparse, is_stored, some_rows
from rocmax.designs._blocks import row_blocks, slices
from rocmax.exceptions import FeatureScaleWarning

# The ratio of two standard deviations above which to warn.
_RATIO = 1000.0
# The number of rows that are looked at first, and of values at a time.
_SOME, _VALUES = 10_000, 1 << 16
# A column whose standard deviation is a smaller share of its mean is constant but for rounding.
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
    scaler = "StandardScaler(with_mean=False)" if is_sparse(X) else "StandardScaler()"
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

        mean, deviation = dask.compute(X.mean(axis=0), X.std(axis=0))
    elif is_sparse(X):
        with one_at_a_time(), np.errstate(over="ignore", invalid="ignore"):  # of features that are refused later
            scaler = StandardScaler(with_mean=False).fit(X)
        mean, deviation = scaler.mean_, np.sqrt(scaler.var_)
    else:
        # From a sample as the origin no digits cancel; rows that stay in the cache take a fifth of the scaler's time.
        n, origin, total, squares = len(X), X[0].astype(np.float64), 0.0, 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for _, block in row_blocks(X):
                for rows in slices(len(block), _VALUES // X.shape[1]):
                    apart = block[rows] - origin
                    total, squares = total + apart.sum(axis=0), squares + np.einsum("ij,ij->j", apart, apart)
            mean, deviation = origin + total / n, np.sqrt((squares - total * total / n) / n)
    return np.where(np.isfinite(deviation) & (deviation > _CONSTANT * np.abs(mean)), deviation, 0.0)
