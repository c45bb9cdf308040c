"""Checks of features, labels and weights of estimators, before any work."""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, validation
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from rocmax._checks.arrays import in_numpy, is_dask as is_collection, require_read, require_unmasked
from rocmax._checks.samples import require_labels, require_weights, weights
from rocmax._parameters import shown
from rocmax._runtime.threads import one_at_a_time
from rocmax._runtime.warn import warn
from rocmax._tables._forms import is_frame, names_of
from rocmax._tables._frame import readable, require_numbers, require_own_names
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import Chunks, is_dask, is_sparse, is_stored
from rocmax.designs._blocks import in_rows, row_blocks
from rocmax.exceptions import PositiveClassWarning

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_UNMASK = "leave those samples out, or impute the values"
_FEATURES: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


@contextmanager
def _checks(name: str) -> Iterator[None]:
    """Run scikit-learn's checks, one thread at a time, and name the argument in their errors."""
    with one_at_a_time(), np.errstate(over="ignore", invalid="ignore"):
        try:
            yield
        except ArithmeticError as error:  # such as from 10**400
            raise ValueError(f"{name} holds what float64 cannot: {shown(error)}") from error
        except (TypeError, ValueError) as error:
            if str(error).startswith("could not convert"):  # such as a text: the message names no argument
                raise ValueError(f"{name} must hold numbers: {error}") from error
            raise


def check_sample_weight(sample_weight: Any, X: Any) -> F64 | None:
    """Return one finite weight of at least 0 for each sample; None if all are 1."""
    if sample_weight is None:
        return None
    n = n_rows(X)
    weight = weights(np.full(n, sample_weight) if isinstance(sample_weight, Number) else sample_weight, n)
    require_weights(weight)
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: some samples must count")
    return None if np.all(weight == 1.0) else weight


def check_two_classes(y: Any, weight: F64 | None = None) -> tuple[AnyArray, Bool]:
    """Return the two sorted classes, and which samples are of the second; samples of weight 0 may be of any."""
    y = np.asarray(y)
    if y.dtype == object and all(isinstance(label, _NUMBERS) for label in y):
        y = np.array(y.tolist())  # such as from a column of a frame
    elif y.dtype == object and len(kinds := {type(label).__name__ for label in y}) > 1:
        raise ValueError(f"y mixes labels of types {', '.join(sorted(kinds))}: convert them to one type")
    if weight is not None:
        counted = y[weight > 0]
        if len(counted) and np.all(counted == counted[0]) and not np.all(y == counted[0]):
            raise ValueError(f"sample_weight leaves one class only, {counted[0]}: all others have weight 0")
        classes, _ = check_two_classes(counted)
        return classes, np.asarray(y == classes[1])
    if y.dtype.kind in "biuf" and y.ndim == 1 and len(y):
        classes = np.array([y.min(), y.max()])  # the common case, in O(n)
        positive = y == classes[1]
        whole = y.dtype.kind != "f" or bool(np.all(np.isfinite(classes)) and np.all(classes == np.floor(classes)))
        if whole and classes[0] < classes[1] and np.all(positive | (y == classes[0])):
            return classes, positive
    with _checks("y"):
        check_classification_targets(y)
        classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y, input_name='y')}: y holds {len(classes)} classes, {shown(classes[:5])} first"
        )
    if len(classes) < 2:
        raise ValueError(f"y must hold two classes, got one class: {shown(classes)}")
    return classes, np.asarray(y == classes[1])


def n_rows(X: Any) -> int:
    """Return the number of samples of an array, a sparse matrix, a frame or a list."""
    return int(validation._num_samples(X))


def warn_of_positive_class(classes: AnyArray, y: Any) -> None:
    """Warn unless the labels say which class is positive: {0, 1}, {-1, 1}, booleans, or categories in that order."""
    low, high = classes.tolist()
    if isinstance(high, bool | int | float) and high == 1 and low in (0, -1):
        return
    kind = getattr(y, "dtype", None)
    if getattr(kind, "ordered", False) and [c for c in kind.categories if c in (low, high)] == [low, high]:  # type: ignore[union-attr]
        return
    warn(
        f"the greater of the labels {shown(low)} and {shown(high)} is used as the positive class, {shown(high)}; "
        f"fit on y == {shown(high)} to confirm it, or on y == {shown(low)}",
        PositiveClassWarning,
    )


def rows_of(X: Any, index: Any) -> Any:
    """Return some rows of an array, a sparse matrix or a frame."""
    return _safe_indexing(X, index)


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X ready for ``as_design``; memmaps and dask arrays are checked in place, block by block."""
    X = _native(X)
    if is_stored(X):
        _check_stored(X)
    elif not (_is_plain(X, 2) and X.shape[0] >= 1 + reset):
        with _checks("X"):
            options = {**_FEATURES, "ensure_min_samples": 1 + reset}
            options["ensure_all_finite"] = "allow-nan" if getattr(estimator, "_takes_missing", False) else True
            options["accept_sparse"] = "csr" if getattr(estimator, "_takes_sparse", True) else False
            made = _canonical(validation.validate_data(estimator, X, reset=reset, **options))
        _check_order(estimator, X, reset=reset)
        return made
    if reset and type(X) is np.ndarray:  # scikit-learn would look long for the names of its columns
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
    else:
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_order(estimator, X, reset=reset)
    return X if is_stored(X) or not reset else in_rows(X)


def check_features_for_trees(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as libraries of trees take it: a frame as it is, anything else as numbers or NaN."""
    X = _readable(X)
    if is_collection(X):
        raise TypeError("dask input is not supported here; pass X.compute()")
    if is_frame(X):
        validation.validate_data(estimator, X, reset=reset, skip_check_array=True)
        made = X
        if not n_rows(X):  # in scikit-learn's words for arrays
            name = type(estimator).__name__
            raise ValueError(f"Found X with 0 sample(s) while a minimum of 1 is required by {name}.")
    else:
        with _checks("X"):
            made = validation.validate_data(estimator, X, reset=reset, ensure_all_finite="allow-nan", **_FEATURES)
    _check_order(estimator, X, reset=reset)
    return _canonical(made) if is_sparse(made) else made


def _check_order(estimator: Any, X: Any, *, reset: bool) -> None:
    """Refuse other columns than in training, or in another order; scikit-learn compares names only if all are texts."""
    names = names_of(X)
    if reset:
        estimator._columns = [] if all(isinstance(name, str) for name in names) else names
        return
    known = getattr(estimator, "_columns", names)
    same = sorted(map(str, names)) == sorted(map(str, known))
    if names != known and (same or (known and names and not all(isinstance(name, str) for name in names))):
        how = "the columns of training in another order" if same else "other columns than in training"
        raise ValueError(f"X has {how}: {shown(names[:5])}, in training {shown(known[:5])}")


def check_labels(y: Any, X: Any, name: str = "y", *, multi_output: bool = False) -> Any:
    """Return labels of shape (n_samples,), as many as X has rows; targets may have several columns."""
    y = in_numpy(y)
    require_read(y, "y")
    require_unmasked(y, "y", _UNMASK)
    if getattr(y, "dtype", None) is not None and (held := np.asarray(y)).dtype == object:  # of NaN see below
        require_labels(held, "y")
    if y is None:
        raise ValueError("y must hold a label for each sample (requires y to be passed, but the target y is None)")
    if _is_plain(y, 1) and len(y) == n_rows(X):
        return y
    with _checks(name):
        y = np.asarray(y) if is_dask(y) else y
        options = {"accept_sparse": "csr", "ensure_2d": False, "dtype": None, "input_name": name}
        y = validation.check_array(y, **options) if multi_output else validation.column_or_1d(y, warn=True)
        validation.check_consistent_length(X, y)
    return y


def check_training_data(estimator: Any, X: Any, y: Any, *, multi_output: bool = False) -> tuple[Any, Any]:
    """Return features and labels, of one length."""
    X = check_features(estimator, X, reset=True)
    return X, check_labels(y, X, multi_output=multi_output)


def _is_plain(values: Any, ndim: int) -> bool:
    """Whether these are finite numbers that scikit-learn's checks would return unchanged.

    Skips those checks: they change the warning filters of the process, so that only one thread at a time may run them.
    """
    kinds = "f" if ndim == 2 else "biuf"
    if type(values) is not np.ndarray or values.ndim != ndim or values.dtype.kind not in kinds or not values.size:
        return False
    if not values.dtype.isnative or (ndim == 2 and values.dtype.itemsize not in (4, 8)):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return values.dtype.kind != "f" or bool(np.isfinite(values.sum()))


def _native(X: Any) -> Any:
    """Return a tensor as an array, and an array of the other byte order in native order."""
    X = _readable(X)
    if is_frame(X):
        X = X.compute() if is_collection(X) else X
        require_numbers(X)
    X = in_numpy(X)
    return in_rows(X) if type(X) is np.ndarray and X.dtype.kind == "f" and not X.dtype.isnative else X


def _readable(X: Any) -> Any:
    """Refuse a LazyFrame, two columns of one name, and masked values; return a frame that all libraries read."""
    require_read(X, "X")
    require_unmasked(X, "X", _UNMASK)
    if is_frame(X):
        require_own_names(X)
        X = readable(X)
    return X


def _canonical(X: Any) -> Any:
    """Return X in one layout: an array in C order, a sparse matrix with each nonzero entry once and in order."""
    if not hasattr(X, "has_canonical_format"):
        return in_rows(X)
    if not X.has_canonical_format or np.count_nonzero(X.data) < len(X.data):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _check_stored(X: Any) -> None:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a numeric array of two dimensions, got shape {X.shape} and dtype {X.dtype}")
    if is_dask(X):
        chunks = Chunks.of(X)
        finite = chunks.each(_is_finite, chunks.parts())
    else:
        finite = [_is_finite(block) for _, block in row_blocks(X)]
    if not all(finite):
        raise ValueError("X must be finite, got NaN or infinity")


def _is_finite(block: AnyArray, *_: Any) -> bool:
    if is_sparse(block):
        raise TypeError("X is a dask array of sparse blocks, which is not supported; pass X.compute()")
    with np.errstate(over="ignore", invalid="ignore"):  # a sum of finite values may overflow
        return bool(np.isfinite(block.sum()) or np.isfinite(block).all())
