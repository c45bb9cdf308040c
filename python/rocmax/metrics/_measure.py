"""What is measured, of how many samples: shared by all inference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax.metrics._partial import curve_area
from rocmax.metrics._validation import F64, Sample, call, choice, explain, number

_METRICS = ("auc", "partial_auc", "scored_auc", "margin_auc")


class Measure(NamedTuple):
    """A measure as the core knows it, and the least and greatest value it can take."""

    name: str
    low: float
    high: float
    least: float
    most: float

    @property
    def key(self) -> tuple[str, float, float]:
        """What the core's functions take."""
        return self.name, self.low, self.high


def parse_measure(metric: str, fpr_range: Any, tpr_range: Any, normalize: str | None, margin: Any = None) -> Measure:
    """Check the options that say what is measured."""
    choice(metric, _METRICS, "metric")
    if (metric == "margin_auc") != (margin is not None):
        raise ValueError(f"margin goes with metric='margin_auc', got margin={margin!r} and metric={metric!r}")
    if metric != "partial_auc":
        if fpr_range is not None or tpr_range is not None:
            raise ValueError(f"fpr_range and tpr_range need metric='partial_auc', got {metric!r}")
        if metric == "margin_auc":
            return Measure("margin", number(margin, "margin", "that is finite", np.isfinite), 1.0, 0.0, 1.0)
        return Measure("scored" if metric == "scored_auc" else "auc", 0.0, 1.0, 0.0, _top(metric))
    name, low, high = curve_area((0.0, 1.0) if fpr_range is None else fpr_range, tpr_range, normalize)
    if normalize is None:
        return Measure(name, low, high, 0.0, high - low)
    if normalize == "width":
        return Measure(name, low, high, 0.0, 1.0)
    chance = (high + low) * (high - low) / 2
    return Measure(name, low, high, 0.5 - 0.5 * chance / (high - low - chance), 1.0)


def _top(metric: str) -> float:
    return np.inf if metric == "scored_auc" else 1.0


def check_level(confidence_level: float) -> float:
    """Check that `confidence_level` lies strictly between 0 and 1."""
    return number(confidence_level, "confidence_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)


def positives(data: Sample) -> NDArray[np.bool_]:
    """Mark the positive samples."""
    return np.asarray(data.y == data.y.max())


def totals(data: Sample) -> tuple[float, float]:
    """Count, or total weight, of the positives and of the negatives."""
    positive = positives(data)
    if data.weight is None:
        n_pos = int(np.count_nonzero(positive))
        return n_pos, len(positive) - n_pos
    with np.errstate(over="ignore"):  # the core refuses such weights
        return float(data.weight[positive].sum()), float(data.weight[~positive].sum())


def require_two(n_pos: float, n_neg: float) -> None:
    """Check that there are samples enough for a variance."""
    for name, count in (("positive", n_pos), ("negative", n_neg)):
        if count <= 1:
            raise ValueError(
                f"y_true has {count:g} {name} sample: a variance needs two; method='newcombe' gives an AUC an interval"
            )


def point_estimates(data: Sample, measure: Measure) -> F64:
    """Values of the measure, of shape (n_models,)."""
    return np.atleast_1d(call(_core.measure, data, *measure.key, data.threads))


def covariance_parts(
    data: Sample, columns: list[NDArray[Any]], measure: Measure, weight_kind: str = "frequency"
) -> tuple[F64, F64, F64]:
    """Estimates of all columns of scores, and the parts of either class in their covariance matrix."""
    try:
        found = _core.covariance(data.y, columns, data.weight, weight_kind, *measure.key, data.threads)
    except ValueError:
        for column in columns:
            explain(data._replace(score=column))
        if weight_kind == "frequency":
            require_two(*totals(data))
        raise
    estimate, pos, neg = found
    shape = (len(estimate), len(estimate))
    return estimate, pos.reshape(shape), neg.reshape(shape)
