"""The points of the ROC curve and of the precision-recall curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.arrays import in_numpy, require_unmasked
from rocmax._checks.dask import in_memory
from rocmax._checks.samples import F64, naming_missing, scikit_learn
from rocmax._parameters import check_choice, check_flag
from rocmax._typing import Smooth
from rocmax.metrics.measures.smoothed_auc import SMOOTH
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._sample import Sample, call, one_model


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = True,
    smooth: Smooth | None = None,
    n_jobs: int | None = None,
) -> tuple[F64, F64, F64]:
    """Return the vertices of the ROC curve; a drop-in for :func:`sklearn.metrics.roc_curve`.

    It has scikit-learn's arguments and values; :class:`rocmax.display.ROCDisplay` draws it.

    >>> from rocmax.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], smooth="hull")
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))

    Parameters
    ----------
    y_true, sample_weight, pos_label, n_jobs
        As of :class:`Samples`.
    y_score : array-like of shape (n_samples,) or (n_samples, 1)
        Finite scores.
    drop_intermediate : bool, default=True
        Leave out points between two equal steps, as scikit-learn does. Points between unequal steps of the same
        direction remain.
    smooth : {"binormal", "density", "hull"}, default=None
        Return the binormal curve, the curve of kernel densities, or the concave hull, as :class:`SmoothedAUC` defines
        them. A binormal curve is fitted to the rates: its thresholds are NaN (those of the samples if no line fits).

    Returns
    -------
    fpr, tpr, thresholds : ndarray of shape (n_points,)
        Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite. O(n log n) at
        most. For one class only the rate of the other is NaN, with ``UndefinedMetricWarning``, as in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn's function does, by that function; also for a negative weight, and with `smooth` for one class.

    Notes
    -----
    At every distinct score c, ``FPR(c) = sum_j w_j 1[t_j >= c] / sum_j w_j`` over negatives j and
    ``TPR(c)`` likewise over positives. With `smooth` the points are those of a smoothed curve.
    """
    if smooth is not None:
        check_choice("smooth", smooth, (None, *SMOOTH))
        from rocmax.metrics.measures._smooth import smoothed  # scipy takes a while to import

        check_flag("drop_intermediate", drop_intermediate)
        curve = _sample(y_true, y_score, sample_weight, pos_label, n_jobs).curve()
        fpr, tpr, thresholds = smoothed(smooth, *curve.steps())
        return fpr, tpr, thresholds
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "drop_intermediate": drop_intermediate}
    return _points("roc_curve", y_true, y_score, options, n_jobs)


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = False,
    n_jobs: int | None = None,
) -> tuple[F64, F64, F64]:
    """Return precision and recall at every distinct score; a drop-in for scikit-learn's function of this name.

    It has scikit-learn's arguments and values; :class:`rocmax.display.PrecisionRecallDisplay` draws it.

    >>> from rocmax.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(3), recall
    (array([0.5  , 0.667, 0.5  , 1.   , 1.   ]), array([1. , 1. , 0.5, 0.5, 0. ]))

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label, n_jobs
        As in :func:`roc_curve`.
    drop_intermediate : bool, default=False
        Leave out points whose recall is that of both neighbours.

    Returns
    -------
    precision, recall, thresholds : ndarray of shape (n_distinct + 1,), (n_distinct + 1,) and (n_distinct,)
        Ascending thresholds and descending recall, ending with a precision of 1 and a recall of 0 without a threshold.
        O(n log n) at most. Without positive samples the recall is 1, with a warning, as in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn's function does, by that function; also for a negative weight.

    See Also
    --------
    AveragePrecision : The mean of the precision over the positives, with intervals and tests.

    Notes
    -----
    With TP(c) and FP(c) the weights of the positives and the negatives with a score of at least c,
    ``precision(c) = TP(c) / (TP(c) + FP(c))`` and ``recall(c) = TP(c) / sum_i w_i`` over positives i.
    """
    options = {"sample_weight": sample_weight, "pos_label": pos_label, "drop_intermediate": drop_intermediate}
    return _points("precision_recall_curve", y_true, y_score, options, n_jobs)


def _points(name: str, y_true: Any, y_score: Any, options: dict[str, Any], n_jobs: int | None) -> tuple[F64, F64, F64]:
    """Return the core's points; where it refuses the input, what scikit-learn's function returns or raises."""
    check_flag("drop_intermediate", options["drop_intermediate"])
    given = in_memory(y_true=y_true, y_score=y_score, sample_weight=options["sample_weight"])
    for values, argument in zip(given, ("y_true", "y_score", "sample_weight"), strict=True):
        require_unmasked(values, argument)
    y_true, y_score, weight = (in_numpy(values) for values in given)
    options, precision_recall = {**options, "sample_weight": weight}, name == "precision_recall_curve"
    try:
        data = _sample(y_true, y_score, weight, options["pos_label"], n_jobs)
        return call(_core.curve_points, data, precision_recall, bool(options["drop_intermediate"]), data.threads)
    except (TypeError, ValueError):
        try:
            with naming_missing(y_true, y_score=y_score, sample_weight=weight):
                found: tuple[F64, F64, F64] = scikit_learn(name)(y_true, y_score, **options)
        except ArithmeticError:  # such as of 10**400: our error says where
            found = np.zeros(0), np.zeros(0), np.zeros(0)
        # For one class a rate is NaN, or the precision of all samples, the share of the positives, is 0 or 1.
        whole = precision_recall and len(found[0]) > 1 and found[0][0] in (0.0, 1.0)
        undefined = whole or np.isnan(found[0]).any() or np.isnan(found[1]).any()
        if undefined and (weight is None or np.min(np.asarray(weight, dtype=np.float64)) >= 0):
            return found
        raise  # input that scikit-learn takes


def _sample(y_true: Any, y_score: Any, weight: Any, pos_label: Any, n_jobs: int | None) -> Sample:
    """Return the samples of one model."""
    given = Arguments.complete(y_true, y_score, sample_weight=weight, pos_label=pos_label, n_jobs=n_jobs)
    return one_model(given._replace(remedy="").of_two_classes())
