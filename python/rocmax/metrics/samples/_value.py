"""What is read once: values that cannot change, and functions that take them or the arrays to make them of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any, TypeVar

import numpy as np

V = TypeVar("V", bound="Value")


class Value:
    """Base of values that are read and checked once; neither attributes nor their arrays can be changed."""

    def _set(self, **attributes: Any) -> None:
        """Set attributes: of a new object only."""
        for held in attributes.values():
            if isinstance(held, np.ndarray):
                held.flags.writeable = False
        self.__dict__.update(attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another with other {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")


def value_of(kind: type[V], function: Callable[..., Any], y_true: Any, y_score: Any, reading: Mapping[str, Any]) -> V:
    """Return the value that `function` was given, or read its arrays; refuse options that neither has."""
    own, options = ([*signature(one).parameters] for one in (function, kind))
    for name in reading:
        if name not in options:
            near = get_close_matches(name, [*options, *own], n=1)
            advice = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{advice}")
    if not isinstance(y_true, kind):
        if y_score is None:
            raise TypeError(f"{function.__name__}() needs y_true and y_score, or {kind.__name__}")
        return kind(y_true, y_score, **reading)  # type: ignore[call-arg]
    if reading:
        name = next(iter(reading))
        raise TypeError(f"{function.__name__}() takes no {name} beside {kind.__name__}: give it to {kind.__name__}")
    if y_score is not None:
        raise TypeError(f"{function.__name__}() takes no y_score beside {kind.__name__}, which has the scores")
    return y_true


def value_and_measure(
    kind: type[V], function: Callable[..., Any], y_true: Any, y_score: Any, measure: Any, reading: Mapping[str, Any]
) -> tuple[V, Any]:
    """Do the same for ``function(value, measure)`` and ``function(y_true, y_score, measure)``."""
    if isinstance(y_true, kind) and y_score is not None and isinstance(measure, str) and measure == "auc":
        y_score, measure = None, y_score
    return value_of(kind, function, y_true, y_score, reading), measure
