"""The AUC of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.dask import in_memory
from rocmax._checks.missing import complete
from rocmax._checks.samples import DROP, F64, check_level, names_of
from rocmax.metrics._infer import read_classes, result, warn_below_chance
from rocmax.metrics._multiclass import Classes, influence_curve
from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.intervals._interval import Law, wald_limits
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Interval
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.results._result import of_samples
from rocmax.metrics.results._words import label_text
from rocmax.metrics.samples._sample import explain, one_model, sample


def cross_validated_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    measure: Measure | str = "auc",
    *,
    fold: ArrayLike,
    confidence_level: float = 0.95,
    pos_label: Any = None,
    higher_is_better: bool = True,
    missing: str = "raise",
    n_jobs: int | None = None,
) -> Inference:
    """Mean of a measure over the folds of a cross-validation, with its influence-curve interval.

    ``mean_v AUC_v`` over folds v, or the mean of another measure with components; the variance is
    ``1/N mean_v mean_(i in v) IC_i^2`` with ``IC_i = (V_i - E) / p`` for a positive and ``(V_i - E) / (1 - p)`` for a
    negative sample, p the share of positives, V_i the sample's component within its fold as in :func:`infer` and E the
    mean of those of its class there, for the whole area AUC_v (LeDell, Petersen and van der Laan, 2015).

    Parameters
    ----------
    y_true, pos_label, n_jobs
        As in :func:`infer`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, each from a model that did not see the sample; of several classes a column for each.
    measure : Measure or str, default="auc"
        What is measured, as in :func:`infer`. Of several classes a sample's influence is the sum of those on the
        binary measures, the share of each class being that of all folds; of two classes it is the above.
    fold : array-like of shape (n_samples,)
        The fold of each sample; each holds all classes.
    confidence_level : float, default=0.95
        Nominal coverage.
    higher_is_better, missing : optional
        As in :func:`infer`; a sample without a fold misses a value too.

    Returns
    -------
    Inference
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
    measure = as_measure(measure)
    if Trait.COMPONENTS not in measure.traits:
        raise ValueError(f"cross_validated_auc needs a measure with components, got measure={measure!r}")
    given = dict(zip(("y_true", "y_score", "fold"), in_memory(y_true=y_true, y_score=y_score, fold=fold), strict=True))
    (y_true, y_score, fold), n_dropped = complete(missing, **given)
    reading: dict[str, Any] = {"pos_label": pos_label, "n_jobs": n_jobs, "higher_is_better": higher_is_better}
    reading |= {"missing": missing, "n_dropped": n_dropped}
    if measure.multi_class != "raise":
        return _of_classes(read_classes(measure, y_true, y_score, **reading), measure, question, fold)
    data = sample(y_true, y_score, **reading)
    explain(data)
    one = one_model(data)
    folds, place = names_of(fold, len(data.y), "fold", DROP)
    positive = data.positive
    share = positive.mean()
    estimates, spreads = [], []
    for k, name in enumerate(folds.tolist()):
        rows = place == k
        part = one._replace(y=positive[rows], score=one.score[rows])
        if part.y.all() or not part.y.any():
            raise ValueError(f"fold {name!r} holds one class only; stratify the folds")
        (value,), (components,) = measure.influences(part)
        centres = np.where(part.y, components[part.y].mean(), components[~part.y].mean())
        influence = (components - centres) / np.where(part.y, share, 1 - share)
        estimates.append(value)
        spreads.append(np.mean(influence**2))
    found = _mean(np.array([np.mean(estimates)]), np.array([np.mean(spreads) / len(data.y)]), measure)
    made = of_samples(one) | {"pos_label": data.pos_label, "n_folds": len(folds)}
    inference = result(found, measure, question, data.many, data.totals, **made)
    warn_below_chance(measure, one, inference.confidence_interval)
    return inference


def _mean(estimate: F64, variance: F64, measure: Measure) -> Interval:
    return Interval(
        estimate, variance, wald_limits(estimate, np.sqrt(variance), Law(), measure.bounds), "influence-curve"
    )


def _of_classes(data: Classes, measure: Any, question: Question, fold: Any) -> Inference:
    """Mean over the folds of a measure of many classes."""
    folds, place = names_of(fold, len(data.of), "fold", DROP)
    estimates, spreads = [], []
    for k, name in enumerate(folds.tolist()):
        rows = place == k
        part = data._replace(of=data.of[rows], score=data.score[rows])
        lacking = np.flatnonzero(part.totals == 0)
        if len(lacking):
            raise ValueError(f"fold {name!r} holds no sample of class {data.names[lacking[0]]}; stratify the folds")
        found = influence_curve(part, measure, data.totals / len(data.of))
        estimates.append(found.value)
        spreads.append(np.mean(found.of_sample**2, axis=1))
    mean = _mean(np.mean(estimates, axis=0), np.mean(spreads, axis=0) / len(data.of), measure)
    each = measure.average is None
    names = tuple(map(label_text, data.names)) if each else None
    made = of_samples(data) | {"pos_label": None, "n_folds": len(folds), "names": names}
    return result(mean, measure, question, each, data.sizes, **made)
