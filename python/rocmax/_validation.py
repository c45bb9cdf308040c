"""Checks of features, labels and weights of estimators: what raises for users, before any work."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_dask, is_stored
from rocmax.designs._memmap import blocks
from rocmax.metrics._validation import require_unmasked

_FEATURES: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def check_sample_weight(sample_weight: Any, X: Any) -> F64 | None:
    """Return one finite weight of at least 0 for each sample; None if all are 1."""
    if sample_weight is None:
        return None
    if is_dask(sample_weight):
        sample_weight = np.asarray(sample_weight)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return None if np.all(weight == 1.0) else np.asarray(weight)


def check_two_classes(y: Any, weight: F64 | None = None) -> tuple[AnyArray, Bool]:
    """Return the two sorted classes and which samples are of the second, the positive one.

    Samples of weight 0 may be of any class: they count as negative.
    """
    y = np.asarray(y)
    if weight is not None:
        counted = y[weight > 0]
        if len(counted) and np.all(counted == counted[0]) and not np.all(y == counted[0]):
            raise ValueError(f"sample_weight leaves one class only, {counted[0]}: all others have weight 0")
        classes, _ = check_two_classes(counted)
        return classes, np.asarray(y == classes[1])
    if y.dtype.kind in "biu" and y.ndim == 1 and len(y):
        classes = np.array([y.min(), y.max()])  # the common case, in O(n)
        positive = y == classes[1]
        if classes[0] < classes[1] and np.all(positive | (y == classes[0])):
            return classes, positive
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y, input_name='y')}: y holds {len(classes)} classes, {classes[:5]!r} first"
        )
    if len(classes) < 2:
        raise ValueError(f"y must hold two classes, got one class: {classes!r}")
    return classes, np.asarray(y == classes[1])


def rows_of(X: Any, index: Any) -> Any:
    """Return some rows of an array, a sparse matrix or a frame."""
    return _safe_indexing(X, index)


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X ready for ``as_design``; memmaps and dask arrays are checked in place, block by block."""
    check_unmasked(X=X)
    if is_stored(X):
        _check_stored(X)
        _check_feature_names(estimator, X, reset=reset)
        _check_n_features(estimator, X, reset=reset)
        return X
    return validate_data(estimator, X, reset=reset, **_FEATURES)


def check_training_data(estimator: Any, X: Any, y: Any, *, multi_output: bool = False) -> tuple[Any, Any]:
    """Return features and labels, of one length."""
    check_unmasked(X=X, y=y)
    if is_stored(X):
        y = np.asarray(y) if multi_output else column_or_1d(np.asarray(y), warn=True)
        check_consistent_length(X, y)
        return check_features(estimator, X, reset=True), y
    return validate_data(estimator, X, np.asarray(y) if is_dask(y) else y, ensure_min_samples=2, **_FEATURES)  # type: ignore[no-any-return]


def check_unmasked(**arrays: Any) -> None:
    """Check that no value is masked."""
    for name, values in arrays.items():
        require_unmasked(values, name, "leave those samples out, or impute the values")


def _check_stored(X: Any) -> None:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a numeric array of two dimensions, got shape {X.shape} and dtype {X.dtype}")
    if is_dask(X):
        import dask.array as da

        finite = bool(da.isfinite(X).all().compute())
    else:
        finite = all(bool(np.isfinite(block).all()) for _, _, block in blocks(X))
    if not finite:
        raise ValueError("X must be finite, got NaN or infinity")
