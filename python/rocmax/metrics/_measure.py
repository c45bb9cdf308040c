"""What is measured, of how many samples: shared by all inference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._parameters import shown
from rocmax.metrics._partial import both_ranges, curve_area
from rocmax.metrics._two_way import Region, areas
from rocmax.metrics._validation import F64, Sample, call, choice, explain, number

_METRICS = ("auc", "partial_auc", "scored_auc", "margin_auc", "tpr_at_fpr", "fpr_at_tpr")
RATES = ("tpr_at_fpr", "fpr_at_tpr")
TWO_WAY = "partial_auc of both rates"
# The number that some need to know.
_PARAMETERS = {"margin_auc": "margin", "tpr_at_fpr": "fpr", "fpr_at_tpr": "tpr"}


class Measure(NamedTuple):
    """A measure as the core knows it, and the least and greatest value it can take."""

    name: str
    low: float
    high: float
    least: float
    most: float
    region: Region | None = None  # of a partial area of both rates at once

    @property
    def key(self) -> tuple[str, float, float]:
        """What the core's functions take."""
        return self.name, self.low, self.high

    @property
    def metric(self) -> str:
        """What users call it."""
        if self.name.startswith(("partial", "sensitivity")):
            return "partial_auc"
        return {"scored": "scored_auc", "margin": "margin_auc"}.get(self.name, self.name)

    @property
    def family(self) -> str:
        """What methods tell apart: as `metric`, but a partial area of both rates is one of its own."""
        return self.metric if self.region is None else TWO_WAY

    @property
    def scale(self) -> float:
        """What the area of a region is multiplied by."""
        return 1.0 if self.region is None else self.most / self.region.size

    @property
    def is_rate(self) -> bool:
        """Whether it is a rate at a threshold that the samples set."""
        return self.name in RATES


def parse_measure(
    metric: str,
    *,
    fpr_range: Any = None,
    tpr_range: Any = None,
    normalize: str | None = "width",
    margin: Any = None,
    fpr: Any = None,
    tpr: Any = None,
) -> Measure:
    """Check the options that say what is measured; the AUC over a range is a partial AUC."""
    choice(metric, _METRICS, "metric")
    if metric == "auc" and (fpr_range is not None or tpr_range is not None):
        metric = "partial_auc"
    given = {"margin": margin, "fpr": fpr, "tpr": tpr}
    for needed, name in _PARAMETERS.items():
        if (metric == needed) != (given[name] is not None):
            raise ValueError(
                f"{name} goes with metric={needed!r}, got {name}={shown(given[name])} and metric={metric!r}"
            )
    if metric != "partial_auc":
        if fpr_range is not None or tpr_range is not None:
            raise ValueError(f"fpr_range and tpr_range need metric='partial_auc', got {metric!r}")
        if metric in RATES:
            name = _PARAMETERS[metric]
            rate = number(given[name], name, "in (0, 1)", lambda value: 0.0 < value < 1.0)
            return Measure(metric, rate, 1.0, 0.0, 1.0)
        if metric == "margin_auc":
            return Measure("margin", number(margin, "margin", "that is finite", np.isfinite), 1.0, 0.0, 1.0)
        return Measure("scored" if metric == "scored_auc" else "auc", 0.0, 1.0, 0.0, _top(metric))
    region = both_ranges(fpr_range, tpr_range, normalize)
    if region is not None:
        return Measure("partial-two-way", *region.fpr, 0.0, region.size if normalize is None else 1.0, region)
    name, low, high = curve_area((0.0, 1.0) if fpr_range is None else fpr_range, tpr_range, normalize)
    if (low, high) == (0.0, 1.0):  # by every definition
        return Measure("auc", 0.0, 1.0, 0.0, 1.0)
    if normalize is None:
        return Measure(name, low, high, 0.0, high - low)
    if normalize == "width":
        return Measure(name, low, high, 0.0, 1.0)
    return Measure(name, low, high, 1.0 - 1.0 / ((1.0 - low) + (1.0 - high)), 1.0)


def _top(metric: str) -> float:
    return np.inf if metric == "scored_auc" else 1.0


def check_level(confidence_level: float) -> float:
    """Check that `confidence_level` lies strictly between 0 and 1."""
    return number(confidence_level, "confidence_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)


def positives(data: Sample) -> NDArray[np.bool_]:
    """Mark the positive samples."""
    if not len(data.y):
        explain(data)
    return np.asarray(data.y == data.y.max())


def totals(data: Sample) -> tuple[float, float]:
    """Count, or total weight, of the positives and of the negatives."""
    positive = positives(data)
    if data.weight is None:
        n_pos = int(np.count_nonzero(positive))
        return n_pos, len(positive) - n_pos
    with np.errstate(over="ignore"):  # the core refuses such weights
        return float(data.weight[positive].sum()), float(data.weight[~positive].sum())


def effective(data: Sample) -> tuple[float, float]:
    """Return how many samples of equal weight would vary as much as those of either class (Kish, 1965)."""
    if data.weight is None:
        return totals(data)
    positive = positives(data)
    shares = [weight / weight.max() for weight in (data.weight[positive], data.weight[~positive])]
    n_pos, n_neg = (float(share.sum()) ** 2 / float((share**2).sum()) for share in shares)
    return n_pos, n_neg


def has_variance(count: float) -> bool:
    """Whether a class of so many samples varies; of weights whose sum is 1 up to rounding nothing is left."""
    return count > 1.0 + 1e-9


def require_two(n_pos: float, n_neg: float) -> None:
    """Check that there are samples enough for a variance."""
    for name, count in (("positive", n_pos), ("negative", n_neg)):
        if not has_variance(count):
            raise ValueError(
                f"y_true has {count:g} {name} sample: a variance needs two (auc_inference has intervals of one, by"
                " method='score' or 'newcombe')" + no_counts(count)
            )


def no_counts(count: float) -> str:
    """Say what weights are that add up to a fraction of a sample."""
    return "" if count == int(count) else "; weights that do not count samples take weight_kind='sampling'"


def check_variance(variance: F64) -> None:
    """Check that scores have not been too large for their squares."""
    if not np.isfinite(variance).all():
        raise ValueError(
            "the scores (y_score, or score_a and score_b) are too large for a variance: their squares overflow; divide"
            " them all by one number"
        )


def rates(weight: F64) -> F64:
    """Return the share of a class at every distinct score or above; of all of it that is 1 to the last bit."""
    sums = np.cumsum(weight)
    return np.asarray(sums / sums[-1])


def point_estimates(data: Sample, measure: Measure) -> F64:
    """Values of the measure, of shape (n_models,)."""
    if measure.region is not None:
        return measure.scale * areas(data, measure.region)
    return np.atleast_1d(call(_core.measure, data, *measure.key, data.threads))
