"""The AUC of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import DROP, check_level, names_of
from rocmax.metrics._asked import Asked
from rocmax.metrics._infer import result, warn_below_chance
from rocmax.metrics._multiclass import Classes, classes, influence_curve
from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.intervals._interval import Law, wald_limits
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Interval
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.samples._sample import Given, Sample, explain, one_model


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
    mean component of its class there: LeDell, Petersen and van der Laan (2015) for the AUC.

    Parameters
    ----------
    y_true, pos_label, n_jobs
        As in :func:`infer`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, each from a model that did not see the sample; one column per class if there are several.
    measure : Measure or str, default="auc"
        As in :func:`infer`. For several classes, the influence of a sample is the sum of those on the binary measures,
        with the share of each class in all folds; for two classes it is the formula above.
    fold : array-like of shape (n_samples,)
        The fold of each sample; every fold must hold all classes.
    confidence_level : float, default=0.95
        Nominal coverage.
    higher_is_better, missing : optional
        As in :func:`infer`; a sample without a fold counts as missing.

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
    measure = as_measure(measure)
    asked = Asked(measure, None, Question(check_level(confidence_level)))
    if Trait.COMPONENTS not in measure.traits:
        raise ValueError(f"cross_validated_auc needs a measure with components, got measure={measure!r}")
    reading = pos_label, higher_is_better, missing, n_jobs
    given = Given(y_true, y_score, None, None, fold, *reading).complete("fold")
    data: Sample | Classes
    if measure.multi_class != "raise":
        data = classes(given, measure)
        found = [_of_classes(data, part, measure) for part in _folds(given.by, data)]
    else:
        data = given.sample()
        explain(data)
        one = one_model(data)
        found = [_of_fold(part, measure, data.positive.mean()) for part in _folds(given.by, one)]
    estimates, spreads = zip(*found, strict=True)
    estimate, variance = (
        np.atleast_1d(np.mean(estimates, axis=0)),
        np.atleast_1d(np.mean(spreads, axis=0) / len(data.score)),
    )
    interval = Interval(
        estimate, variance, wald_limits(estimate, np.sqrt(variance), Law(), measure.bounds), "influence-curve"
    )
    inference = result(interval, asked, data, n_folds=len(found))
    warn_below_chance(measure, data, inference.confidence_interval)
    return inference


def _folds(fold: Any, data: Any) -> Iterator[Any]:
    """Yield the samples of every fold, which must hold all classes."""
    folds, place = names_of(fold, len(data.score), "fold", DROP)
    for k, name in enumerate(folds.tolist()):
        rows = place == k
        if isinstance(data, Classes):
            part: Any = data._replace(of=data.of[rows], score=data.score[rows])
            lacking = np.flatnonzero(part.totals == 0)
            if len(lacking):
                raise ValueError(f"fold {name!r} holds no sample of class {data.names[lacking[0]]}; stratify the folds")
        else:
            part = data._replace(y=data.positive[rows], score=data.score[rows])
            if part.y.all() or not part.y.any():
                raise ValueError(f"fold {name!r} holds one class only; stratify the folds")
        yield part


def _of_fold(part: Sample, measure: Measure, share: float) -> tuple[Any, Any]:
    """Return the measure in a fold and the mean square of its influence curve; `share` is that of all positives."""
    (value,), (components,) = measure.influences(part)
    centres = np.where(part.y, components[part.y].mean(), components[~part.y].mean())
    influence = (components - centres) / np.where(part.y, share, 1 - share)
    return value, np.mean(influence**2)


def _of_classes(data: Classes, part: Classes, measure: Measure) -> tuple[Any, Any]:
    """Return the measures of several classes in a fold and the mean squares of their influence curves."""
    found = influence_curve(part, measure, data.totals / len(data.of))
    return found.value, np.mean(found.of_sample**2, axis=1)
