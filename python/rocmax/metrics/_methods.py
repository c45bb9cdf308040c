"""Which method of an interval or a variance goes with which measure, weights and data."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from rocmax.exceptions import CoverageWarning
from rocmax.metrics._measure import OWN, RATES, SCREENING, TWO_WAY, Measure
from rocmax.metrics._validation import choice

# Below, real coverage of 95 % intervals has been seen at 5 to 90 %: benches/python/coverage_metrics.py.
_FEW = 5
_AREAS = ("auc", "partial_auc")
_PARTS = ("partial_auc", *RATES)
_SHARES = (*_AREAS, "margin_auc", *RATES)


class _Terms(NamedTuple):
    """What a method takes."""

    metrics: tuple[str, ...]
    sampling: bool = False  # weights that are inverse probabilities
    groups: bool = False
    in_parts: bool = False  # needs no more than the weight of either class at every score


METHODS = {
    "delong": _Terms((*_SHARES, "scored_auc", TWO_WAY), sampling=True, groups=True, in_parts=True),
    "logit-delong": _Terms((*_SHARES, "scored_auc", TWO_WAY), sampling=True, groups=True, in_parts=True),
    "score": _Terms((*_AREAS, *RATES), in_parts=True),
    "newcombe": _Terms(("auc",), in_parts=True),
    "obuchowski": _Terms(_AREAS),
    "wu": _Terms(("scored_auc",), sampling=True, in_parts=True),
    "bootstrap": _Terms((*_SHARES, "scored_auc", *SCREENING, OWN), sampling=True),
}


def check_method(
    method: Any, metric: str, *, weight_kind: str = "frequency", grouped: bool = False, in_parts: bool = False
) -> None:
    """Check that `method` takes the measure and the kind of data."""
    choice(method, tuple(METHODS), "method")
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


def default_method(measure: Measure, *, weight_kind: str = "frequency", grouped: bool = False) -> str:
    """Return the method whose intervals hold the truth most nearly as often as they say.

    As measured by benches/python/coverage_metrics.py; the one place that decides.
    """
    if not measure.has_components:
        return "bootstrap"
    if measure.family in _PARTS and weight_kind == "frequency" and not grouped:
        return "score"
    return "logit-delong"


def default_comparison(measure: Measure, sizes: tuple[float, float], *, grouped: bool = False) -> str:
    """Return where the variance of a difference comes from: DeLong, unless too few samples decide but for a bootstrap.

    `sizes` are the numbers of samples of either class, of the smaller of two data sets.
    """
    if not measure.has_components:
        return "bootstrap"
    deciding, _ = _deciding(measure, sizes)[1]
    return "bootstrap" if measure.family in _PARTS and deciding < _FEW and not grouped else "delong"


def _deciding(measure: Measure, sizes: tuple[float, float]) -> tuple[tuple[float, str], tuple[float, str]]:
    """Return how many samples are measured and how many set what they are measured by, and what those are."""
    turned = measure.name.startswith("sensitivity") or measure.name == "fpr_at_tpr"
    own, other = sizes[::-1] if turned else sizes
    names = ("negatives", "positives") if turned else ("positives", "negatives")
    if measure.is_rate:
        setting = other * min(measure.low, 1.0 - measure.low), f"{names[1]} beyond the threshold"
    elif measure.metric == "partial_auc" and measure.high - measure.low < 1.0:
        setting = other * (measure.high - measure.low), f"{names[1]} in the range"
    else:
        setting = other, names[1]
    return (own, names[0]), setting


def warn_of_few(
    method: str,
    measure: Measure,
    sizes: tuple[float, float],
    *,
    weight_kind: str = "frequency",
    grouped: bool = False,
) -> None:
    """Warn of an interval that too few samples decide for its method.

    `sizes` are the numbers of samples of either class, of sampling weights the effective ones.
    """
    beyond = _beyond(measure, sizes)
    if method == "score" and beyond is not None:
        fact = f"{beyond}, and the interval assumes that the curve goes on as a binormal curve would"
        wider = "less extreme rate" if measure.is_rate else "wider range"
        message = f"{fact}; collect more samples or choose a {wider}"
        warnings.warn(CoverageWarning(message, fact, estimate=beyond), stacklevel=3)
    if method not in ("delong", "logit-delong", "wu", "bootstrap"):
        return
    if method == "logit-delong" and measure.metric not in _PARTS:
        return
    count, held = min(_deciding(measure, sizes))
    if count < _FEW:
        better = default_method(measure, weight_kind=weight_kind, grouped=grouped)
        instead = "" if better == method else f"; method={better!r} keeps most of its coverage"
        message = (
            f"there are {count:.3g} {held}: intervals of method={method!r} hold the truth far less often there than"
            f" they say{instead}"
        )
        fact = f"{_few(count, held)}: the interval undercovers"
        warnings.warn(CoverageWarning(message, fact, better if instead else None, beyond), stacklevel=3)


def _few(count: float, held: str) -> str:
    """Return in words how few samples there are, of ranges the number that is expected there."""
    if count < 1:
        return f"less than one {held.replace('tives', 'tive')}"
    return f"only {count:g} {held}" if count == round(count) else f"only about {count:.0f} {held}"


def _beyond(measure: Measure, sizes: tuple[float, float]) -> str | None:
    """Return in words that an estimate lies beyond the samples: of that they only tell that none was seen there."""
    count, held = _deciding(measure, sizes)[1]
    if count >= 1:
        return None
    if not measure.is_rate:
        return f"there are only {count:.2g} {held}: the estimate is the height of the curve near the range"
    own, size = ("fpr", "n_neg") if measure.name == "tpr_at_fpr" else ("tpr", "n_pos")
    number = sizes[own == "fpr"]
    side = f"below 1 / {size} = {1 / number:.3g}" if measure.low < 0.5 else f"above 1 - 1 / {size}"
    return f"{own}={measure.low:.3g} lies beyond the data, {side}: the estimate is that of the nearest threshold"


def warn_of_few_compared(method: str, measure: Measure, sizes: tuple[float, float], *, grouped: bool = False) -> None:
    """Warn of a test of a difference that too few samples decide; of sampling weights `sizes` are the effective."""
    own, setting = _deciding(measure, sizes)
    if method == "bootstrap":  # needs samples of both classes, wherever they are
        setting = min((sizes[0], "positives"), (sizes[1], "negatives"))
    count, held = min(own, setting)
    if count < _FEW:
        better = method != "bootstrap" and own[0] >= _FEW and not grouped
        instead = "; method='bootstrap' promises less" if better else ""
        message = (
            f"there are {count:.3g} {held}: the interval and the p-value of method={method!r} promise too much"
            f" there{instead}"
        )
        fact = f"{_few(count, held)}: the interval and the p-value are too optimistic"
        warnings.warn(CoverageWarning(message, fact, "bootstrap" if better else None), stacklevel=3)


def _either(names: tuple[str, ...]) -> str:
    shown = [repr(name) for name in names]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
