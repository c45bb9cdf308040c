"""What is read once: values that cannot change, and functions that take them or the arrays to make them of."""

from collections.abc import Callable, Collection, Mapping
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from rocmax._parameters import refuse_unknown

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
    if reading:
        require_known(function, reading, [*signature(kind).parameters])
    if given_before(kind, function, y_true, y_score, reading):
        return cast(V, y_true)
    return kind(y_true, y_score, **reading)  # type: ignore[call-arg]


def in_order(second: Any, measure: Any) -> tuple[Any, Any]:
    """Return scores and measure of a call with a value first, where the measure may be the second argument."""
    listed = second if isinstance(second, (list, tuple)) and len(second) else [second]
    is_measure = all(callable(one) or isinstance(one, str) for one in listed)
    is_measure = is_measure and isinstance(measure, str) and measure == "auc"
    return (None, second) if is_measure else (second, measure)


def given_before(
    kind: type, function: Callable[..., Any], y_true: Any, y_score: Any, reading: Mapping[str, Any]
) -> bool:
    """Whether a function has a value in place of arrays; refuse options of reading beside it."""
    if not isinstance(y_true, kind):
        if y_score is None:
            raise TypeError(f"{function.__qualname__}() needs y_true and y_score, or {kind.__name__}")
        return False
    require_none(kind, function, y_score, reading)
    return True


def require_none(
    kind: type, function: Callable[..., Any], y_score: Any, reading: Mapping[str, Any], also: str = ""
) -> None:
    """Refuse scores and options of reading beside what has been read."""
    for name in ("y_score",) if y_score is not None else reading:
        one = f"takes no {name} beside {kind.__name__}: give it to {kind.__name__}"
        raise TypeError(f"{function.__qualname__}() {one}{also}")


def require_known(function: Callable[..., Any], reading: Mapping[str, Any], options: Collection[str]) -> None:
    """Refuse options that a function does not have, and name the nearest that it has."""
    for name in reading:
        if name not in options:
            refuse_unknown(name, function, [*options, *signature(function).parameters])
