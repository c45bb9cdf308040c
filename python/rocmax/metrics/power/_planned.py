"""Variances of a planned study by the components of its measure, under a binormal model or in a pilot."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._checks.missing import complete
from rocmax._checks.samples import DROP, all_in_memory, named_columns
from rocmax._parameters import shown
from rocmax._typing import F64
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.samples._sample import Sample, explain, require_two, sample

_POINTS = 1 << 14  # of the quadrature, per class
_STEPS = np.array([0.7548776662466927, 0.5698402909980532])  # of an evenly distributed sequence in the square


class Spread(NamedTuple):
    """Values of one model or two, and the variances of the components of either class, for two of their difference."""

    values: tuple[float, ...]
    of_positives: float
    of_negatives: float

    def at(self, ratio: float) -> float:
        """Return the variance times the number of positives, with `ratio` negatives per positive."""
        return self.of_positives + self.of_negatives / ratio


def check_measure(measure: Measure) -> None:
    """Check that the components of a measure have the same variances at any prevalence."""
    two = measure.multi_class == "raise"
    if not (isinstance(measure, (AUC, PartialAUC, Rate)) and two):
        raise ValueError(
            "measure must be AUC(), PartialAUC(...), TPRAtFPR(...) or FPRAtTPR(...) of two classes, got"
            f" measure={measure!r}"
        )


@lru_cache(maxsize=256)
def of_binormal(areas: tuple[float, ...], correlation: float, measure: Measure) -> Spread:
    """Return the spread of normal scores of equal variances, by quadrature.

    :meth:`Measure.covariance` is a mean of squares of components; of evenly distributed points, for two models in the
    plane, it is the integral over the distributions of both classes.
    """
    k = np.arange(1, _POINTS + 1)[:, None]
    uniform = (0.5 + k * _STEPS) % 1.0 if len(areas) > 1 else (k - 0.5) / _POINTS
    normal = special.ndtri(uniform)
    if len(areas) > 1:
        normal[:, 1] = correlation * normal[:, 0] + np.sqrt(1 - correlation**2) * normal[:, 1]
    shift = np.sqrt(2.0) * special.ndtri(areas)
    y = np.repeat([True, False], _POINTS)
    return _spread(Sample(y, np.concatenate([normal + shift, normal]), None, 1), measure)


def of_pilot(pilot: Any, measure: Measure, pos_label: Any, higher_is_better: Any, missing: str) -> Spread:
    """Return the spread in the samples of a pilot, with the scores of one model or two."""
    if not isinstance(pilot, (tuple, list)) or len(pilot) != 2:
        raise ValueError(f"pilot must be (y_true, y_score), the samples of a pilot study, got {shown(pilot)}")
    y, s, _, _ = all_in_memory(pilot[0], pilot[1], None, None)
    (y, s), n_dropped = complete(missing, y_true=y, y_score=s)
    s, names = named_columns(s, DROP)
    how: dict[str, Any] = {"missing": missing, "n_dropped": n_dropped, "models": names, "n_jobs": 1}
    data = sample(y, s, pos_label=pos_label, higher_is_better=higher_is_better, names=("pilot", "pilot"), **how)
    if data.n_models > 2:
        raise ValueError(f"pilot must have the scores of one model or two, got {data.n_models}")
    explain(data)
    require_two(*data.totals)
    return _spread(data, measure)


def _spread(data: Sample, measure: Measure) -> Spread:
    estimate, of_pos, of_neg = measure.covariance(data)
    apart: F64 = np.array([1.0, -1.0])[: data.n_models]
    n_pos, n_neg = data.totals
    parts = (float(n * apart @ part @ apart) for n, part in ((n_pos, of_pos), (n_neg, of_neg)))
    return Spread(tuple(estimate.tolist()), *parts)


@lru_cache(maxsize=256)
def area_of(value: float, measure: Measure) -> float:
    """Return the AUC of the binormal curve on which the measure has a value, by bisection."""
    low, high = 1e-6, 1.0 - 1e-6
    rising = not measure.lower_is_better
    for _ in range(40):
        middle = (low + high) / 2
        below = of_binormal((middle,), 0.0, measure).values[0] < value
        low, high = (middle, high) if below == rising else (low, middle)
    return (low + high) / 2
