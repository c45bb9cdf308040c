"""The AUC of a cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import shown
from rocmax.metrics import _interval as interval
from rocmax.metrics._components import components_of
from rocmax.metrics._dask import in_memory
from rocmax.metrics._hypothesis import Question
from rocmax.metrics._inference import AUCInference, result
from rocmax.metrics._measure import Measure, check_level, parse_measure, positives, totals
from rocmax.metrics._multiclass import Average, Classes, check_average, classes, influence_curve
from rocmax.metrics._result import of_classes, of_measure, of_samples
from rocmax.metrics._validation import explain, names_of, one_model, sample


def cross_validated_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fold: ArrayLike,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    normalize: str | None = "width",
    confidence_level: float = 0.95,
    multi_class: str = "raise",
    average: str | None = "macro",
    labels: ArrayLike | None = None,
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
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, each from a model that did not see the sample; with `multi_class` a column for each class.
    fold : array-like of shape (n_samples,)
        The fold of each sample; each holds all classes.
    fpr_range, tpr_range : (float, float), default=None
        The range of a partial AUC; neither stands for all of the curve.
    normalize : {"width", "mcclish"} or None, default="width"
        What a partial area is divided by.
    confidence_level : float, default=0.95
        Nominal coverage.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How several classes are measured in every fold, as in :func:`auc_inference`. A sample's influence is the sum of
        those on the binary measures, the share of each class being that of all folds; of two classes it is the above.
    average : {"macro", "weighted"} or None, default="macro"
        The mean over classes or pairs, "weighted" as they occur in each fold; None ("ovr" only) for one result a class.
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns, sorted.
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
        For bad labels or scores, or a fold without some class.

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
    how = check_average(multi_class, average, labels)
    y_true, y_score, fold = in_memory(y_true=y_true, y_score=y_score, fold=fold)
    if how.multi_class != "raise":
        if pos_label is not None:
            raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(pos_label)}")
        many = classes(y_true, y_score, None, labels, n_jobs, "frequency")
        found, n_folds = _of_classes(many, measure, how, question, fold)
        made = of_measure(measure) | of_classes(many, how) | of_samples(None, "frequency", None, many.of)
        return replace(found, pos_label=None, n_folds=n_folds, **made)
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
        (value,), (components,) = components_of(part, measure)
        centres = np.where(part.y, components[part.y].mean(), components[~part.y].mean())
        influence = (components - centres) / np.where(part.y, share, 1 - share)
        estimates.append(value)
        spreads.append(np.mean(influence**2))
    estimate, variance = np.mean(estimates), np.mean(spreads) / len(data.y)
    arrays = np.array([estimate]), np.array([variance])
    limits = interval.normal(*arrays, measure)
    found = result(data.many, *arrays, limits, totals(data), "influence-curve", question)
    made = of_measure(measure) | of_samples(None, "frequency", None, data.y)
    return replace(found, pos_label=data.pos_label, n_folds=len(folds), **made)


def _of_classes(
    data: Classes, measure: Measure, how: Average, question: Question, fold: Any
) -> tuple[AUCInference, int]:
    """Mean over the folds of a measure of many classes, and the number of folds."""
    folds, place = names_of(fold, len(data.of), "fold")
    estimates, spreads = [], []
    for k, name in enumerate(folds.tolist()):
        rows = place == k
        part = data._replace(of=data.of[rows], score=data.score[rows])
        lacking = np.flatnonzero(part.totals == 0)
        if len(lacking):
            raise ValueError(f"fold {name!r} holds no sample of class {data.names[lacking[0]]}; stratify the folds")
        found = influence_curve(part, measure, how, data.totals / len(data.of))
        estimates.append(found.value)
        spreads.append(np.mean(found.of_sample**2, axis=1))
    arrays = np.mean(estimates, axis=0), np.mean(spreads, axis=0) / len(data.of)
    sizes = float(data.totals.min()), float(len(data.of) - data.totals.min())
    limits = interval.normal(*arrays, measure)
    return result(how.average is None, *arrays, limits, sizes, "influence-curve", question), len(folds)
