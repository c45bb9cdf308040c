"""Which method of an interval or a variance goes with which measure, weights and data."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from rocmax.metrics._measure import RATES, Measure
from rocmax.metrics._validation import choice

# Below, real coverage of 95 % intervals has been seen at 10 to 90 %: benches/python/coverage_metrics.py.
_FEW = 5
_AREAS = ("auc", "partial_auc")
_SHARES = (*_AREAS, "margin_auc", *RATES)


class _Terms(NamedTuple):
    """What a method takes."""

    metrics: tuple[str, ...]
    sampling: bool = False  # weights that are inverse probabilities
    groups: bool = False
    in_parts: bool = False  # needs no more than the weight of either class at every score


METHODS = {
    "delong": _Terms((*_SHARES, "scored_auc"), sampling=True, groups=True, in_parts=True),
    "logit-delong": _Terms(_SHARES, sampling=True, groups=True, in_parts=True),
    "score": _Terms((*_AREAS, *RATES), in_parts=True),
    "newcombe": _Terms(("auc",), in_parts=True),
    "obuchowski": _Terms(_AREAS),
    "wu": _Terms(("scored_auc",), sampling=True, in_parts=True),
    "bootstrap": _Terms((*_SHARES, "scored_auc"), sampling=True),
}


def check_method(
    method: Any, metric: str, *, weight_kind: str = "frequency", grouped: bool = False, in_parts: bool = False
) -> None:
    """Check that `method` takes the measure and the kind of data."""
    choice(method, tuple(METHODS), "method")
    choice(weight_kind, ("frequency", "sampling"), "weight_kind")
    terms = METHODS[method]
    if metric not in terms.metrics:
        raise ValueError(f"method={method!r} needs metric={_either(terms.metrics)}, got {metric!r}")
    if weight_kind == "sampling" and not terms.sampling:
        raise ValueError(f"method={method!r} needs weight_kind='frequency', got 'sampling'")
    if grouped and not terms.groups:
        allowed = _either(tuple(name for name, other in METHODS.items() if other.groups))
        raise ValueError(f"groups need method={allowed}, got method={method!r}")
    if in_parts and not terms.in_parts:
        allowed = _either(tuple(name for name, other in METHODS.items() if other.in_parts))
        raise ValueError(f"data in parts (ROCAccumulator) take method={allowed}, got {method!r}")


def warn_of_few(method: str, measure: Measure, sizes: tuple[float, float]) -> None:
    """Warn of intervals of a part of the curve that too few samples decide."""
    if method not in ("delong", "logit-delong", "bootstrap"):
        return
    turned = measure.name.startswith("sensitivity") or measure.name == "fpr_at_tpr"
    own, other = sizes[::-1] if turned else sizes
    if measure.is_rate:
        inside = other * min(measure.low, 1.0 - measure.low)
        where = "beyond the threshold"
    elif measure.name.startswith(("partial", "sensitivity")) and measure.high - measure.low < 1.0:
        inside, where = other * (measure.high - measure.low), "in the range"
    else:
        return
    if min(own, inside) >= _FEW:
        return
    names = ("negatives", "positives") if turned else ("positives", "negatives")
    held = f"{inside:.3g} {names[1]} {where}" if inside < own else f"{own:g} {names[0]}"
    warnings.warn(
        f"there are {held}: intervals of method={method!r} hold the truth far less often there than they say;"
        " method='score' keeps most of its coverage",
        stacklevel=3,
    )


def _either(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
