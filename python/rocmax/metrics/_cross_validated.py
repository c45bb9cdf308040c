"""The AUC of a cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax.metrics import _interval as interval
from rocmax.metrics._hypothesis import Question
from rocmax.metrics._inference import AUCInference, result
from rocmax.metrics._measure import check_level, parse_measure, positives, totals
from rocmax.metrics._result import of_measure, of_samples
from rocmax.metrics._validation import explain, in_memory, names_of, one_model, sample


def cross_validated_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fold: ArrayLike,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    normalize: str | None = "width",
    confidence_level: float = 0.95,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> AUCInference:
    """Mean AUC, or partial AUC, over the folds of a cross-validation, with its influence-curve interval.

    ``mean_v AUC_v`` over folds v; the variance is ``1/N mean_v mean_(i in v) IC_i^2`` with
    ``IC_i = (V_i - E) / p`` for a positive and ``(V_i - E) / (1 - p)`` for a negative sample, p the
    share of positives, V_i the sample's component within its fold as in :func:`auc_inference` and E the
    mean of those of its class there, for the whole area AUC_v (LeDell, Petersen and van der Laan, 2015).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores, each from a model that did not see the sample.
    fold : array-like of shape (n_samples,)
        The fold of each sample; each holds both classes.
    fpr_range, tpr_range : (float, float), default=None
        The range of a partial AUC; neither stands for all of the curve.
    normalize : {"width", "mcclish"} or None, default="width"
        What a partial area is divided by.
    confidence_level : float, default=0.95
        Nominal coverage.
    pos_label : label, default=None
        The positive class; all others are negative.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    AUCInference
        With method "influence-curve". O(n log n).

    Raises
    ------
    ValueError
        For bad labels or scores, or a fold of one class.

    References
    ----------
    .. [1] E. LeDell, M. Petersen and M. van der Laan, "Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates", Electronic Journal of
       Statistics 9, 2015. :doi:`10.1214/15-EJS1035`

    Examples
    --------
    >>> from rocmax.metrics import cross_validated_auc
    >>> scores = [0.1, 0.6, 0.2, 0.5, 0.7, 0.4, 0.3, 0.8]
    >>> found = cross_validated_auc([0, 1] * 4, scores, fold=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> found.estimate, found.standard_error
    (0.875, 0.125)
    """
    question = Question(check_level(confidence_level))
    what: dict[str, Any] = {"fpr_range": fpr_range, "tpr_range": tpr_range, "normalize": normalize}
    measure = parse_measure("auc", **what)
    y_true, y_score, fold = in_memory(y_true=y_true, y_score=y_score, fold=fold)
    data = sample(y_true, y_score, pos_label=pos_label, n_jobs=n_jobs)
    explain(data)
    data = one_model(data)
    folds, place = names_of(fold, len(data.y), "fold")
    positive = positives(data)
    share = positive.mean()
    estimates, spreads = [], []
    for k, name in enumerate(folds.tolist()):
        rows = place == k
        part = data._replace(y=positive[rows], score=data.score[rows])
        if part.y.all() or not part.y.any():
            raise ValueError(f"fold {name!r} holds one class only; stratify the folds")
        (value,), components = _core.components(*part[:3], *measure.key, part.threads)
        centres = np.where(part.y, components[part.y].mean(), components[~part.y].mean())
        influence = (components - centres) / np.where(part.y, share, 1 - share)
        estimates.append(value)
        spreads.append(np.mean(influence**2))
    estimate, variance = np.mean(estimates), np.mean(spreads) / len(data.y)
    arrays = np.array([estimate]), np.array([variance])
    limits = interval.normal(*arrays, measure)
    found = result(data.many, *arrays, limits, totals(data), "influence-curve", question)
    made = of_measure(measure, **what) | of_samples(None, "frequency", None, data.y)
    return replace(found, pos_label=data.pos_label, n_folds=len(folds), **made)
