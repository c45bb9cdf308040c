"""Scorers for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import make_scorer

from rocmax.metrics._measure import parse_measure
from rocmax.metrics._partial import area, both_ranges, check_rate, partial_auc_score, tpr_at_fpr_score
from rocmax.metrics._scored import scored_auc_score
from rocmax.metrics._screening import bedroc_score, enrichment_factor_score
from rocmax.metrics._validation import check_label, choice, second_class

_RESPONSE = ("decision_function", "predict_proba")


def partial_auc_scorer(
    fpr_range: tuple[float, float] = (0.0, 1.0),
    *,
    tpr_range: tuple[float, float] | None = None,
    method: str = "curve",
    normalize: str | None = "width",
    pos_label: Any = None,
) -> Any:
    """Return a scorer of :func:`partial_auc_score` for `cross_val_score` and `GridSearchCV`.

    Parameters
    ----------
    fpr_range : (float, float), default=(0, 1)
        The range of false positive rates.
    tpr_range : (float, float), default=None
        The range of true positive rates instead, with ``method="curve"``; with `fpr_range` that of both at once.
    method : {"curve", "ranked"}, default="curve"
        Which definition.
    normalize : {"width", "mcclish"} or None, default="width"
        What the area is divided by.
    pos_label : label, default=None
        The positive class, whose scores are then used; by default the second of the estimator's classes.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; it reads `decision_function`, else `predict_proba`.

    Raises
    ------
    ValueError
        If the options do not fit together, before anything is scored.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from rocmax.metrics import partial_auc_scorer
    >>> X, y = make_classification(200, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=partial_auc_scorer((0.0, 0.2)), cv=3).round(2)
    array([0.94, 0.78, 0.8 ])
    """
    choice(method, ("curve", "ranked"), "method")
    if method != "curve" or both_ranges(fpr_range, tpr_range, normalize) is None:
        area(fpr_range, tpr_range, method, normalize)
    return scorer_of(
        partial_auc_score,
        pos_label,
        fpr_range=tuple(fpr_range),
        tpr_range=None if tpr_range is None else tuple(tpr_range),
        method=method,
        normalize=normalize,
    )


def tpr_at_fpr_scorer(fpr: float, *, pos_label: Any = None) -> Any:
    """Return a scorer of :func:`tpr_at_fpr_score` for `cross_val_score` and `GridSearchCV`.

    Parameters
    ----------
    fpr : float in [0, 1]
        The greatest false positive rate allowed.
    pos_label : label, default=None
        The positive class, whose scores are then used; by default the second of the estimator's classes.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; it reads `decision_function`, else `predict_proba`.

    Raises
    ------
    ValueError
        If `fpr` is not a rate, before anything is scored.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from rocmax.metrics import tpr_at_fpr_scorer
    >>> X, y = make_classification(200, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=tpr_at_fpr_scorer(0.1), cv=3).round(2)
    array([0.94, 0.94, 0.94])
    """
    return scorer_of(tpr_at_fpr_score, pos_label, fpr=check_rate(fpr, "fpr"))


def enrichment_factor_scorer(fraction: float = 0.01, *, pos_label: Any = None) -> Any:
    """Return a scorer of :func:`enrichment_factor_score` for `cross_val_score` and `GridSearchCV`.

    Parameters
    ----------
    fraction : float in (0, 1], default=0.01
        The share of the samples that is looked at.
    pos_label : label, default=None
        The positive class, whose scores are then used; by default the second of the estimator's classes.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; it reads `decision_function`, else `predict_proba`.

    Raises
    ------
    ValueError
        If `fraction` is not a share, before anything is scored.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from rocmax.metrics import enrichment_factor_scorer
    >>> X, y = make_classification(200, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=enrichment_factor_scorer(0.1), cv=3).round(2)
    array([2.03, 1.97, 2.  ])
    """
    fraction = parse_measure("enrichment_factor", fraction=fraction).low
    return scorer_of(enrichment_factor_score, pos_label, fraction=fraction)


def bedroc_scorer(alpha: float = 20.0, *, pos_label: Any = None) -> Any:
    """Return a scorer of :func:`bedroc_score` for `cross_val_score` and `GridSearchCV`.

    Parameters
    ----------
    alpha : float of at least 0.001, default=20.0
        How early.
    pos_label : label, default=None
        The positive class, whose scores are then used; by default the second of the estimator's classes.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; it reads `decision_function`, else `predict_proba`.

    Raises
    ------
    ValueError
        If `alpha` is out of its range, before anything is scored.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from rocmax.metrics import bedroc_scorer
    >>> X, y = make_classification(200, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=bedroc_scorer(), cv=3).round(2)
    array([1.  , 0.98, 0.98])
    """
    return scorer_of(bedroc_score, pos_label, alpha=parse_measure("bedroc", alpha=alpha).low)


class _OfClasses(type(make_scorer(scored_auc_score))):  # type: ignore[misc]
    """A scorer of scikit-learn's that tells the measure which class the scores are for: the estimator's second."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **options: Any) -> Any:
        label = None if "pos_label" in self._kwargs else second_class(estimator)
        named = {} if label is None else {"pos_label": label}
        return super()._score(method_caller, estimator, X, y_true, **options, **named)


def scorer_of(
    function: Callable[..., Any], /, pos_label: Any = None, response_method: Any = _RESPONSE, **options: Any
) -> Any:
    """Return a scorer of a function of labels and scores."""
    if pos_label is not None:
        check_label(pos_label)
    # scikit-learn turns the scores for a `pos_label`; None it would take for a label.
    label = {} if pos_label is None else {"pos_label": pos_label}
    scorer = make_scorer(function, response_method=response_method, **options, **label)
    scorer.__class__ = _OfClasses
    return scorer


#: Scorer of :func:`scored_auc_score` on predicted probabilities, the scale it can be compared on.
scored_auc_scorer = scorer_of(scored_auc_score, response_method="predict_proba")
