"""Checks of single parameters of estimators, before any work."""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np

T = TypeVar("T")


def shown(value: Any) -> str:
    """Return a value as messages show it: on one line, cut after 100 characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # such as an integer with more digits than Python prints
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 100 else f"{text[:97]}..."


def as_float(value: Any) -> float:
    """Return a number as float64: an infinity if it is too large, NaN if it is not a real number."""
    if type(value) is float:  # asking an abstract class takes ten times as long
        return value
    try:
        # numpy takes a duration for a number.
        return float(value) if isinstance(value, Real) and not isinstance(value, np.timedelta64) else math.nan
    except OverflowError:  # from an int or a Fraction
        return math.inf if cast(Any, value) > 0 else -math.inf


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    return _finite(name, value, " above 0", lambda number: number > 0)


def check_nonnegative(name: str, value: Any) -> float:
    """Return a finite number of at least 0."""
    return _finite(name, value, " of at least 0", lambda number: number >= 0)


def check_finite(name: str, value: Any) -> float:
    """Return a finite number."""
    return _finite(name, value, "", lambda _: True)


def _finite(name: str, value: Any, domain: str, holds: Callable[[float], bool]) -> float:
    number = math.nan if isinstance(value, bool) else as_float(value)
    if not (math.isfinite(number) and holds(number)):
        raise ValueError(f"{name} must be a finite number{domain}, got {shown(value)}")
    return number


def check_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a whole number of at least 1, and at most `most`."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, (bool, np.timedelta64)) else 0
    if number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {shown(value)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {shown(value)}")
    return number


def check_verbose(value: Any) -> int:
    """Return a whole number of at least 0."""
    if not isinstance(value, (Integral, np.bool_)) or isinstance(value, np.timedelta64) or value < 0:
        raise ValueError(f"verbose must be a whole number of at least 0, got {shown(value)}")
    return int(value)


def check_callback(value: Any, given: str) -> None:
    """Check that a callback can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"callback must be a function, called with the {given}, got {shown(value)}")


def is_one_of(value: Any, options: tuple[Any, ...]) -> bool:
    """Whether `value` is one of strings and None. An array would be compared element by element."""
    return value in options if isinstance(value, str) else any(value is option for option in options)


def check_choice(name: str, value: Any, choices: tuple[T, ...]) -> T:
    """Return one of the choices, strings or None."""
    if not is_one_of(value, choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}")
    return cast(T, value)
