"""Checks of estimator parameters and labels: what raises for users, before any work."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from rocmax._typing import AnyArray, Bool


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else math.nan
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool | np.bool_) else 0
    if number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return number


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_fpr_range(value: Any) -> tuple[float, float]:
    """Return (low, high) with 0 <= low < high <= 1."""
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"fpr_range must be (low, high) with 0 <= low < high <= 1, got {value!r}")
    return low, high


def check_two_classes(y: Any) -> tuple[AnyArray, Bool]:
    """Return the two sorted classes and which samples are of the second, the positive one."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y, input_name='y')}: y holds {len(classes)} classes, {classes[:5]!r} first"
        )
    if len(classes) < 2:
        raise ValueError(f"y must hold two classes, got one class: {classes!r}")
    return classes, codes == 1
