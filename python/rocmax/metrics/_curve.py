"""The points of the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import check_flag
from rocmax.metrics._arrays import in_numpy
from rocmax.metrics._dask import in_memory
from rocmax.metrics._sample import one_curve
from rocmax.metrics._validation import F64, naming_missing, scikit_learn


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = True,
    n_jobs: int | None = None,
) -> tuple[F64, F64, F64]:
    """Return the vertices of the ROC curve; a drop-in for :func:`sklearn.metrics.roc_curve`.

    At every distinct score c, ``FPR(c) = sum_j w_j 1[t_j >= c] / sum_j w_j`` over negatives j and
    ``TPR(c)`` likewise over positives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples,) or (n_samples, 1)
        Finite scores.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    pos_label : label, default=None
        The positive class; all others are negative.
    drop_intermediate : bool, default=True
        Leave out points on a straight line between their neighbours.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    fpr, tpr, thresholds : ndarray of shape (n_points,)
        Ascending rates from (0, 0) to (1, 1) and descending thresholds, the first of them infinite.
        O(n log n). For one class only the rate of the other is NaN, with ``UndefinedMetricWarning``,
        as in scikit-learn.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn's function does, by that function; also for a negative weight.

    Examples
    --------
    >>> from rocmax.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    check_flag("drop_intermediate", drop_intermediate)
    y_true, y_score, sample_weight = in_memory(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    y_true, y_score, sample_weight = in_numpy(y_true), in_numpy(y_score), in_numpy(sample_weight)
    try:
        curve = one_curve(y_true, y_score, sample_weight, pos_label, n_jobs)
    except (TypeError, ValueError):
        options = {"sample_weight": sample_weight, "pos_label": pos_label, "drop_intermediate": drop_intermediate}
        try:
            with naming_missing(y_true, y_score=y_score, sample_weight=sample_weight):
                fpr, tpr, thresholds = scikit_learn("roc_curve")(y_true, y_score, **options)
        except ArithmeticError:  # such as of 10**400: ours says where
            fpr = tpr = thresholds = np.zeros(0)
        undefined = np.isnan(fpr).any() or np.isnan(tpr).any()
        if undefined and (sample_weight is None or np.min(np.asarray(sample_weight, dtype=np.float64)) >= 0):
            return fpr, tpr, thresholds
        raise  # what only we refuse
    thresholds, pos, neg = curve.steps()
    fps, tps = np.cumsum(neg), np.cumsum(pos)
    if drop_intermediate and len(fps) > 2:
        # A vertex where neither step changes lies on a line; the ends always stay.
        bent = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
        kept = np.concatenate([[True], bent, [True]])
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    fpr, tpr = (np.concatenate([[0.0], sums / sums[-1]]) for sums in (fps, tps))
    return fpr, tpr, np.concatenate([[np.inf], thresholds])
