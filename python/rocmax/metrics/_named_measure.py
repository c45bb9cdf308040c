"""A measure as a value: a name with its options, or a function of one's own."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from rocmax.metrics._measure import Asked, parse_measure, value_of
from rocmax.metrics._scorers import scorer_of


class Measure(Asked):
    """What is measured, as one value: what every `metric=` takes, a function of labels and scores, and a scorer.

    Parameters
    ----------
    metric : str or callable, default="auc"
        A name that `metric` takes: "auc", "partial_auc", "scored_auc", "margin_auc", "tpr_at_fpr", "fpr_at_tpr",
        "enrichment_factor", "rie" or "bedroc"; or a function ``(y_true, y_score) -> float`` or
        ``(y_true, y_score, sample_weight) -> float``, of boolean labels, the scores of one model and weights or None;
        only the latter takes `sample_weight`. :func:`auc_inference`, :func:`compare_auc` and
        :func:`compare_models` give such a function intervals and tests by the bootstrap.
    **options : optional
        Those of the measure: `fpr_range`, `tpr_range`, `normalize`, `margin`, `fpr`, `tpr`, `fraction`, `alpha`.

    Raises
    ------
    ValueError
        If the options do not fit together, before anything is measured.

    Examples
    --------
    >>> from rocmax.metrics import Measure, auc_inference
    >>> early = Measure("bedroc", alpha=80.0)
    >>> round(early([0, 1, 0, 0, 1, 1], [0.1, 0.5, 0.3, 0.2, 0.6, 0.8]), 6)
    1.0
    >>> def lead(y_true, y_score, sample_weight=None):
    ...     return np.average(y_score[y_true], weights=None if sample_weight is None else sample_weight[y_true])
    >>> import numpy as np
    >>> y, s = np.arange(40) % 2, np.random.default_rng(0).normal(size=40)
    >>> print(auc_inference(y, s, metric=Measure(lead), random_state=0))
    lead 0.15 [-0.15, 0.45] (95 % CI)
    stratified bootstrap of 2,000 resamples, percentiles, Efron and Tibshirani 1993; 20 positive, 20 negative samples
    """

    def __init__(self, metric: Any = "auc", **options: Any) -> None:
        super().__init__(metric, options)
        parse_measure(self)

    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        pos_label: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Return the value of the measure.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two values; see :func:`auc_inference`.
        y_score : array-like of shape (n_samples,) or (n_samples, n_models)
            Finite scores; one column a model.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        pos_label, n_jobs : optional
            As in :func:`auc_inference`.

        Returns
        -------
        float or ndarray of shape (n_models,)
            The value.
        """
        return value_of(parse_measure(self), y_true, y_score, sample_weight, pos_label, n_jobs)

    def scorer(self, *, pos_label: Any = None) -> Any:
        """Return a scorer for `cross_val_score` and `GridSearchCV`.

        Parameters
        ----------
        pos_label : label, default=None
            The positive class, whose scores are then used; by default the second of the estimator's classes.

        Returns
        -------
        callable
            ``scorer(estimator, X, y)``; it reads `decision_function`, else `predict_proba`.
        """
        return scorer_of(_value, pos_label, measure=self)


def _value(y_true: Any, y_score: Any, *, measure: Measure, sample_weight: Any = None, pos_label: Any = None) -> Any:
    return measure(y_true, y_score, sample_weight, pos_label=pos_label)
