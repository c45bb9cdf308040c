"""Which method of an interval or a variance goes with which measure, weights and data."""

from __future__ import annotations

from typing import Any, NamedTuple

from rocmax.metrics._validation import choice

_AREAS = ("auc", "partial_auc")
_RATES = ("tpr_at_fpr", "fpr_at_tpr")
_SHARES = (*_AREAS, "margin_auc", *_RATES)


class _Terms(NamedTuple):
    """What a method takes."""

    metrics: tuple[str, ...]
    sampling: bool = False  # weights that are inverse probabilities
    groups: bool = False
    in_parts: bool = False  # needs no more than the weight of either class at every score


METHODS = {
    "delong": _Terms((*_SHARES, "scored_auc"), sampling=True, groups=True, in_parts=True),
    "logit-delong": _Terms(_SHARES, sampling=True, groups=True, in_parts=True),
    "score": _Terms((*_AREAS, *_RATES), in_parts=True),
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
    if weight_kind == "sampling" and (not terms.sampling or in_parts):
        where = " for data in parts (dask, ROCAccumulator)" if terms.sampling else ""
        raise ValueError(f"method={method!r} needs weight_kind='frequency'{where}, got 'sampling'")
    if grouped and (not terms.groups or in_parts):
        allowed = _either(tuple(name for name, other in METHODS.items() if other.groups))
        raise ValueError(f"groups need method={allowed} and data in memory, got method={method!r}")
    if in_parts and not terms.in_parts:
        allowed = _either(tuple(name for name, other in METHODS.items() if other.in_parts))
        raise ValueError(f"data in parts (dask, ROCAccumulator) take method={allowed}, got {method!r}")


def _either(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
