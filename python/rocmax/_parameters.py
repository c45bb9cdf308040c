"""Checks of single parameters of estimators, before any work."""

import math
from numbers import Integral, Real
from typing import Any


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = _number(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def check_nonnegative(name: str, value: Any) -> float:
    """Return a finite number of at least 0."""
    number = _number(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def check_finite(name: str, value: Any) -> float:
    """Return a finite number."""
    number = _number(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number


def _number(value: Any) -> float:
    """Return a number as it is, NaN for anything else."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else 0
    if number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return number


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value
