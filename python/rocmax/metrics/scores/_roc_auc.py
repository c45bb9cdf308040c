"""The area under the ROC curve, as scikit-learn's function of that name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks.arrays import in_numpy, is_dask, plain
from rocmax._checks.dask import in_memory
from rocmax._checks.samples import (
    F64,
    LABELS,
    SCORES,
    WHOLE,
    is_one_of,
    naming_missing,
    number,
    scikit_learn,
    scores,
    texts,
)
from rocmax._parameters import as_float, shown
from rocmax._runtime.threads import n_threads
from rocmax.metrics._multiclass import Classes, comparison_masses, comparisons
from rocmax.metrics.measures.auc import AUC

_AVERAGES = ("macro", "micro", "samples", "weighted", None)
_MULTI_CLASS = ("raise", "ovr", "ovo")
_LEAST = 1e-100  # of the core's ranges, and of the weight of a class; its inverse is the most


class _UnusualError(Exception):
    """Input that scikit-learn's function answers with an error, a warning or NaN."""


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: ArrayLike | None = None,
) -> Any:
    """Area under the ROC curve; a drop-in for :func:`sklearn.metrics.roc_auc_score`.

    ``sum_ij w_i w_j (1[s_i > t_j] + 1/2 1[s_i = t_j]) / sum_ij w_i w_j`` over positives i with
    score s_i and negatives j with score t_j. Without weights, twice the number of won pairs is
    counted in integers and divided once, whatever the order of the rows and the number of threads.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Binary, multiclass or multilabel-indicator labels; of two values the greater is positive.
    y_score : array-like of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_models)
        Finite scores. With two classes and ``multi_class="raise"``, each of two or more columns is
        a model and gets its own AUC (scikit-learn refuses this). float32 is ranked as float32.
        Of dask arrays 9 bytes a score are held in this process; see :mod:`rocmax.metrics`.
    average : {"macro", "micro", "samples", "weighted"} or None, default="macro"
        How the AUCs of several classes or labels become one number.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; weight 0 is as if absent.
    max_fpr : float in (0, 1], default=None
        If given, the area over [0, max_fpr] standardised by McClish's formula; two classes only.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        One class against the rest, or every pair of classes (Hand and Till, 2001).
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, for multiclass input.

    Returns
    -------
    float or ndarray of shape (n_classes,) or (n_models,)
        The AUC. For one class only NaN and ``UndefinedMetricWarning``, as in scikit-learn.

    Raises
    ------
    ValueError
        As scikit-learn's function does, by that function; also for a negative weight, and for Python's integers
        beyond 2**53, which that function would round.

    Notes
    -----
    O(n) expected for two classes without weights, otherwise O(n log n).

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for
       multiple class classification problems", Machine Learning 45, 2001.
       :doi:`10.1023/A:1010920819831`
    .. [2] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9, 1989.
       :doi:`10.1177/0272989X8900900307`

    Examples
    --------
    >>> from rocmax.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    named = is_one_of(average, _AVERAGES) and is_one_of(multi_class, _MULTI_CLASS)
    if named and _common(sample_weight, max_fpr):
        y, s, weight = _array(y_true), _array(y_score, whole_as_float=True), sample_weight
        if _ready(y, s, weight):
            try:
                return _of_two_classes(y, s, weight, max_fpr)
            except _UnusualError:
                pass  # the long way says what is wrong
    y_true, y_score, sample_weight = in_numpy(y_true), in_numpy(y_score), in_numpy(sample_weight)
    options: dict[str, Any] = {"average": average, "max_fpr": max_fpr, "multi_class": multi_class, "labels": labels}
    if is_dask(y_true, y_score, sample_weight):
        if max_fpr is not None:
            number(max_fpr, "max_fpr", "in (0, 1]", lambda rate: 0.0 < rate <= 1.0)
        y_true, y_score, weight = in_memory(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        return roc_auc_score(y_true, y_score, sample_weight=weight, **options)
    try:
        if not named:
            raise _UnusualError
        return _general(y_true, y_score, average, sample_weight, max_fpr, multi_class, labels)
    except _UnusualError:
        theirs = scikit_learn("roc_auc_score")
        try:
            with naming_missing(y_true, y_score=y_score, sample_weight=sample_weight):
                return theirs(y_true, y_score, sample_weight=sample_weight, **options)
        except ArithmeticError as error:  # such as of 10**400
            raise ValueError(
                "y_true, y_score, sample_weight, max_fpr and labels must be numbers of float64's range, or labels: "
                f"{shown(error)}"
            ) from error


def _of_two_classes(y: Any, s: Any, weight: Any, max_fpr: Any) -> Any:
    """Return the area, of several models each; the core looks at every value anyway, and refuses some."""
    try:
        if weight is None and max_fpr is None and s.ndim == 1:
            return _core.auc(y, s, n_threads(None))
        name, high = ("auc", 1.0) if max_fpr is None or max_fpr == 1 else ("partial-mcclish", max_fpr)
        return _core.measure(y, s, weight, (name, 0.0, high), n_threads(None))
    except ValueError as error:
        if not _refused(y, s, weight):
            raise
        raise _UnusualError from error


def _refused(y: NDArray[Any], s: NDArray[Any], weight: F64 | None) -> bool:
    """Whether the core knows no area of such values: both classes weigh something, and all numbers are finite."""
    classes = np.unique(y)
    if len(classes) != 2 or not np.isfinite(s).all():
        return True
    with np.errstate(over="ignore"):
        sums = [] if weight is None else [weight[y == label].sum() for label in classes]
    return not all(_LEAST <= total <= 1.0 / _LEAST for total in sums) or bool(weight is not None and (weight < 0).any())


def _common(sample_weight: Any, max_fpr: Any) -> bool:
    """Whether the core can take weights and range as they are; it checks the weights."""
    return (max_fpr is None or (type(max_fpr) is float and _LEAST < max_fpr <= 1.0)) and (
        sample_weight is None
        or (type(sample_weight) is np.ndarray and sample_weight.dtype == np.float64 and sample_weight.ndim == 1)
    )


def _array(values: Any, *, whole_as_float: bool = False) -> Any:
    """Return a list as an array, anything else as it is."""
    if type(values) is not list:
        return values
    try:
        array = np.asarray(values)
        return scores(array) if whole_as_float and array.dtype.kind == "i" else array
    except ValueError:  # rows of several lengths, or integers that float64 does not tell apart
        return values


def _ready(y: Any, s: Any, weight: Any) -> bool:
    """Whether the core can read the arrays as they are, for two classes and one model."""
    return (
        type(y) is np.ndarray
        and type(s) is np.ndarray
        and y.ndim == 1
        and s.ndim == 1
        and len(y) == len(s)
        and (weight is None or (len(weight) == len(y) and weight is plain(weight)))
        and y is plain(y)
        and s is plain(s)
        and s.dtype in SCORES
        and y.dtype in LABELS
        and (y.dtype.kind != "f" or _whole(y))
    )


def _whole(y: NDArray[Any]) -> bool:
    """Whether all values are whole numbers, as scikit-learn wants labels to be."""
    return bool(((y == np.rint(y)) & (np.abs(y, dtype=np.float64) < WHOLE)).all())


def _general(
    y_true: Any,
    y_score: Any,
    average: Any,
    sample_weight: Any,
    max_fpr: Any,
    multi_class: Any,
    labels: Any,
) -> Any:
    from sklearn.utils.multiclass import type_of_target  # takes seconds to import: the common case does without

    if max_fpr is not None and not _LEAST < as_float(max_fpr) <= 1.0:
        raise _UnusualError
    try:
        y_true = _names(y_true)
        with np.errstate(invalid="ignore"):  # of labels that are no numbers: scikit-learn's function warns of them
            kind = type_of_target(y_true, input_name="y_true")
        y, s = np.asarray(y_true), scores(y_score)
        weight = _weights(sample_weight, len(y))
    except (TypeError, ValueError) as error:
        # Of integers as Python's own, scikit-learn's function would make ties without a word.
        own = "beyond the integers" in str(error) and np.asarray(y_score).dtype == object
        if own or "sample_weight must be non-negative" in str(error):
            raise
        raise _UnusualError from error
    if len(y) != len(s) or y.dtype == object or np.ma.isMaskedArray(y_true):
        raise _UnusualError
    if kind == "binary" and not (s.ndim == 2 and multi_class != "raise" and s.shape[1] > 2):
        classes = np.unique(y)
        if y.ndim == 2:
            y = y[:, 0]
        if len(classes) != 2:
            raise _UnusualError
        s = s[:, 0] if s.ndim == 2 and s.shape[1] == 1 else s
        return _area(np.asarray(y == classes[1]), s, weight, max_fpr)
    if kind == "multilabel-indicator":
        if s.shape != y.shape or y.min() < 0 or y.max() > 1:
            raise _UnusualError
        return _averaged(y == 1, s, average, weight, max_fpr)
    if kind == "multiclass" and max_fpr in (None, 1.0):
        return _multiclass(y, s, average, weight, multi_class, labels)
    raise _UnusualError


def _names(y_true: Any) -> Any:
    """Labels that are texts as an array of them, two of them as marks of the greater; all else as it is."""
    if np.ma.isMaskedArray(y_true) or isinstance(y_true, str):
        return y_true
    y = np.asarray(y_true)
    found = texts(y)
    if not found:
        return y_true
    return y == max(found) if len(found) == 2 else y.astype(str)


def _weights(sample_weight: Any, n_samples: int) -> F64 | None:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight)
    if weight.shape != (n_samples,) or weight.dtype.kind not in "fiub":
        raise _UnusualError
    if not np.isfinite(weight).all():
        raise _UnusualError
    if (weight < 0).any():
        index = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight must be non-negative, got {weight[index]} at index {index}")
    return plain(weight.astype(np.float64, copy=False))


def _area(y: NDArray[np.bool_], s: NDArray[Any], weight: F64 | None, max_fpr: Any) -> Any:
    return _of_two_classes(plain(y), s if s.ndim == 2 else plain(s), weight, max_fpr)


def _averaged(y: NDArray[np.bool_], s: NDArray[Any], average: Any, weight: F64 | None, max_fpr: Any) -> Any:
    """AUCs of several labels, as one number: scikit-learn's averages."""
    if average == "micro":
        spread = None if weight is None else np.repeat(weight, y.shape[1])
        return _area(y.ravel(), s.ravel(), spread, max_fpr)
    if average == "samples":
        values = [_area(row, of, None, max_fpr) for row, of in zip(y, s, strict=True)]
        return float(np.average(values, weights=weight))
    values = [_area(y[:, c], s[:, c], weight, max_fpr) for c in range(y.shape[1])]
    if average is None:
        return np.array(values)
    prevalence = None
    if average == "weighted":
        prevalence = y.sum(axis=0) if weight is None else weight @ y
    return float(np.average(values, weights=prevalence))


def _multiclass(
    y: NDArray[Any],
    s: NDArray[Any],
    average: Any,
    weight: F64 | None,
    multi_class: str,
    labels: Any,
) -> Any:
    try:
        classes = np.unique(y if labels is None else np.asarray(labels))
        proper = (
            s.ndim == 2
            and len(classes) == s.shape[1]
            and multi_class != "raise"
            and average != "samples"
            and np.allclose(1, s.sum(axis=1))
            and (labels is None or np.array_equal(classes, labels))
            and not len(np.setdiff1d(y, classes))
        )
    except (TypeError, ValueError, ArithmeticError):  # labels of any kind
        proper = False
    if not proper:
        raise _UnusualError
    if multi_class == "ovo" and (weight is not None or average not in ("macro", "weighted")):
        raise _UnusualError
    if multi_class == "ovr" and average == "micro":
        return _averaged(y[:, None] == classes, s, average, weight, None)
    present, of = np.unique(y, return_inverse=True)
    if len(present) != len(classes):
        if multi_class == "ovr":
            raise _UnusualError
        s = s[:, np.isin(classes, present)]
    data = Classes(present, of, s, weight, n_threads(None))
    measure = AUC(multi_class=multi_class, average=average)
    values = np.array([_area(first, part.score, part.weight, None) for _, first, part in comparisons(data, measure)])
    if average is None:
        return values
    masses = comparison_masses(data, measure)
    if multi_class == "ovo":  # in the order of scikit-learn's sums
        values, masses = (values[::2] + values[1::2]) / 2, masses[::2] / len(y)
    return float(np.average(values, weights=masses if average == "weighted" else None))
