"""A measure that a function computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rocmax._parameters import shown
from rocmax.metrics._sample import Sample
from rocmax.metrics.measures.base import Measure


@dataclass(frozen=True, repr=False)
class OwnMeasure(Measure):
    """What :meth:`Measure.of` returns: the function is called with copies, which it may change."""

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, Measure):
            raise ValueError(f"Measure.of takes a function of labels and scores, got {shown(self.function)}")
        way_of(self.function)

    def value(self, sample: Sample) -> Any:
        weight = None if sample.weight is None else sample.weight.copy()
        return way_of(self.function)(sample.positive.copy(), sample.score.copy(), weight)

    def __repr__(self) -> str:
        return f"Measure.of({self!s})"

    def __str__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"measure": str(self)}


def way_of(function: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """Return how a function is called with labels, scores and weights.

    Without weights it is called with labels and scores if these are enough, else with None for the weights; they go by
    the name `sample_weight` if it takes that.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # not known of some in C
        return lambda y_true, y_score, weight: function(y_true, y_score, *([] if weight is None else [weight]))
    two, by_name = _takes(signature, None, None), _takes(signature, None, None, sample_weight=None)
    three = _takes(signature, None, None, None)
    if not (two or by_name or three):
        raise ValueError(
            "Measure.of takes a function that can be called as f(y_true, y_score), f(y_true, y_score, sample_weight) or"
            f" f(y_true, y_score, sample_weight=sample_weight), got {shown(function)} of {signature}"
        )

    def called(y_true: Any, y_score: Any, weight: Any) -> Any:
        if two and weight is None:
            return function(y_true, y_score)
        if by_name:
            return function(y_true, y_score, sample_weight=weight)
        if three:
            return function(y_true, y_score, weight)
        raise ValueError(
            f"sample_weight needs a measure that takes weights, got {shown(function)} of {signature}: add a third"
            " parameter, sample_weight, to the function, or leave sample_weight out"
        )

    return called


def _takes(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    """Whether a function can be called with these arguments."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
