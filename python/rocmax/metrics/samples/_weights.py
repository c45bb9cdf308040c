"""What weights stand for: so many equal samples (frequency weights) or inverse probabilities (sampling weights)."""

from typing import Any

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import check_choice
from rocmax._runtime.warn import warn

KINDS = ("frequency", "sampling")
_MANY = 10.0  # times the number of rows: the greatest total of counts
_WHOLE = 1e-9  # relative distance of a count from a whole number


def kind_of(weight_kind: Any) -> str:
    """Return the kind of weights; None is "frequency"."""
    if weight_kind is None:
        return "frequency"
    check_choice("weight_kind", weight_kind, (*KINDS, None))
    return str(weight_kind)


def not_counts(*weights: F64 | None) -> str:
    """Return why weights do not look like counts of equal samples, in words; an empty text if they do."""
    for weight in weights:
        if weight is None:
            continue
        if broken := not_whole(weight):
            return broken
        total, n_rows = float(weight.sum()), int(np.count_nonzero(weight))
        if total > _MANY * n_rows:
            return f"add up to {total:,.6g}, {total / n_rows:,.3g} times the number of rows"
    return ""


def not_whole(weight: F64) -> str:
    """Return that weights are not whole numbers, in words; an empty text if they are."""
    broken = np.abs(weight - np.rint(weight)) > _WHOLE * weight
    return f"are not whole numbers (such as {weight[np.argmax(broken)]:.6g})" if broken.any() else ""


def warn_of_parts(weight_kind: Any, masses: F64) -> str | None:
    """Warn of sums of weights in bins that are no counts, if no kind was given; return the kind, or None."""
    check_choice("weight_kind", weight_kind, ("frequency", None))
    found = not_whole(masses)
    if found and weight_kind is None:
        warn(
            f"weights {found}, but are taken as frequency weights: a weight w counts as w equal samples, and intervals"
            " narrow as weights grow. Pass weight_kind='frequency' if they are; sampling weights (inverse"
            " probabilities, amounts) take infer(..., weight_kind='sampling')"
        )
    return weight_kind or ("frequency" if found else None)


def warn_unless_counts(weight_kind: Any, *weights: F64 | None) -> None:
    """Warn of weights that do not look like counts if no kind was given."""
    found = not_counts(*weights) if weight_kind is None else ""
    if found:
        warn(
            f"the weights of sample_weight {found}, but are taken as frequency weights: a weight w counts as w equal"
            " samples, and intervals narrow as weights grow. Pass weight_kind='sampling' if they are sampling weights"
            " (inverse probabilities, amounts, importance; their scale matters only to a whole number k of alerts), or"
            " weight_kind='frequency' if they are counts"
        )
