"""Scorers for scikit-learn's model selection."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from rocmax._checks.samples import check_label, second_class

_RESPONSE = ("decision_function", "predict_proba")


def _value(
    y_true: Any, y_score: Any, *, measure: Any, sample_weight: Any = None, pos_label: Any = None, labels: Any = None
) -> Any:
    if labels is not None:
        measure = replace(measure, labels=labels)
        y_score = np.column_stack([-y_score, y_score]) if np.ndim(y_score) == 1 else y_score
    return measure(y_true, y_score, sample_weight, pos_label=pos_label)


class _OfClasses(type(make_scorer(_value))):  # type: ignore[misc]
    """A scikit-learn scorer that passes the estimator's second class to the measure as the positive one."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **options: Any) -> Any:
        if self._kwargs["measure"].multi_class != "raise":  # columns are the estimator's classes
            return super()._score(method_caller, estimator, X, y_true, **options, labels=estimator.classes_)
        label = None if "pos_label" in self._kwargs else second_class(estimator)
        named = {} if label is None else {"pos_label": label}
        return super()._score(method_caller, estimator, X, y_true, **options, **named)


def scorer_of(measure: Any, pos_label: Any = None, response_method: Any = None) -> Any:
    """Return a scorer of a measure."""
    several = measure.multi_class != "raise"  # whose probabilities are comparable between samples
    response_method = response_method or (_RESPONSE[::-1] if several else _RESPONSE)
    how = {"response_method": response_method, "greater_is_better": not measure.lower_is_better}
    if pos_label is not None:  # which scikit-learn turns the scores for; it would take None for a label
        check_label(pos_label)
        how["pos_label"] = pos_label
    scorer = make_scorer(_value, measure=measure, **how)
    scorer.__class__ = _OfClasses
    return scorer
