"""How a user's function is called with labels, scores and weights."""

import inspect
from collections.abc import Callable
from typing import Any

from rocmax._parameters import shown


def call_convention(function: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """Return how a function is called with labels, scores and weights.

    Without weights it gets labels and scores, and None for the weights if it needs three arguments. Weights are passed
    as `sample_weight` if it accepts that name, else as the third argument, unless that has a default and another name.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # unknown for some functions in C
        return lambda y_true, y_score, weight: function(y_true, y_score, *([] if weight is None else [weight]))
    two, by_name = _takes(signature, None, None), _takes(signature, None, None, sample_weight=None)
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    option = any(p.default is not p.empty and "weight" not in p.name and p.name != "w" for p in places[2:3])
    three = not option and _takes(signature, None, None, None)
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
