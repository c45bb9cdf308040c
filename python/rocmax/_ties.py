"""Choose the best of several values regardless of rounding."""

from typing import Any

import numpy as np

from rocmax._typing import F64, Bool

#: Measures between 0 and 1 whose difference is at most this are equal: sums of millions of terms round by less.
SAME = 1e-12


def are_best(values: F64) -> Bool:
    """Mark, along the last axis, the values that are equal to the greatest."""
    return np.asarray(values >= values.max(axis=-1, keepdims=True) - SAME)


def first_best(values: F64) -> Any:
    """Return the index, along the last axis, of the first value that is equal to the greatest."""
    return are_best(values).argmax(axis=-1)
