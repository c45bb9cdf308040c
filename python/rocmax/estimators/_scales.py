"""Scales of features: a warning where only some of them have an effect, an error where rounding hides margins."""

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
# The rounding of scores as large as C |x - mean|^2, in margins, above which the validation scores of a C are noise.
# Measured on 120 x 20, 300 x 5 and 120 x 600 in units of 1 to 1e11: up to 40 the scores of each surrogate are those of
# small units, from 1,000 on they differ by up to 0.2.
_HIDDEN = 100.0


def warn_of_scales(estimator: Any, X: Any, weight: F64 | None) -> None:
    """Warn if the standard deviations of features, of 10,000 rows first, differ by more than a factor of a thousand."""
    kernel = getattr(estimator, "kernel", "linear")
    if callable(kernel) or (isinstance(kernel, str) and kernel == "precomputed"):
        return
    found = _extremes(_deviations(_some(X, weight)))
    if found is not None and X.shape[0] > _SOME:
        found = _extremes(_deviations(X if is_stored(X) or weight is None else X[weight > 0]))
    if found is None:
        return
    low, high, deviation = found
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    warn(
        f"the standard deviations of the features reach from {deviation[low]:.2g} (column {names[low]!r}) to "
        f"{deviation[high]:.2g} (column {names[high]!r}): the smaller ones have little effect; scale them, for "
        f"example by {_scaled(estimator, X)}",
        FeatureScaleWarning,
    )


def require_scale(estimator: Any, X: Any, weight: F64 | None, C: float) -> None:
    """Refuse features so large that at the least C and above rounding hides the margins; looks at 10,000 rows."""
    square = float((_deviations(_some(X, weight)) ** 2).sum())
    reach = square * np.finfo(np.float64).eps / _HIDDEN
    if C * reach > 1.0:
        raise ValueError(
            f"X is too large for Cs: samples are about {np.sqrt(square):.1e} from their mean, so that rounding hides "
            f"the margins at C={C:g}, the least of Cs; scale the features, for example by {_scaled(estimator, X)}, or "
            f"include a C of at most {1.0 / reach:.0e}"
        )


def _some(X: Any, weight: F64 | None) -> Any:
    """Return about 10,000 rows, of positive weight if X is in memory."""
    if is_stored(X):
        return some_rows(X, _SOME)
    step = -(-X.shape[0] // _SOME)
    return X[::step] if weight is None else X[np.flatnonzero(weight > 0)[::step]]


def _scaled(estimator: Any, X: Any) -> str:
    scaler = "StandardScaler(with_mean=False)" if is_sparse(X) else "StandardScaler()"
    return f"make_pipeline({scaler}, {type(estimator).__name__}(...))"


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
