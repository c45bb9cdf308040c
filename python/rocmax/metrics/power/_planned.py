"""Variances of a planned study by the components of its measure, under a binormal model or in a pilot."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._parameters import shown
from rocmax._typing import F64
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import Plain, read
from rocmax.metrics.samples._sample import Sample, explain, require_two
from rocmax.metrics.samples._samples import Samples

_gauss = lru_cache(maxsize=16)(np.polynomial.legendre.leggauss)
_ANGLES = 40  # nodes over the correlations
_NODES = 100, 400  # over the thresholds: the least and the most
_REACH = 9.0  # standard deviations, beyond which the normal density counts as 0


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


def shared(h: Any, k: Any, correlation: float) -> Any:
    """Return ``P(X < h, Y < k) - Phi(h) Phi(k)`` for standard normal X and Y of a correlation.

    By Plackett's identity (1954): the integral of their density at (h, k) over the correlations from 0 on, ``sin t``.
    """
    top, found = np.arcsin(correlation), 0.0
    nodes, weights = _gauss(_ANGLES)
    for t, weight in zip(top * (nodes + 1) / 2, weights, strict=True):
        found = found + weight * np.exp(-(h * h - 2 * np.sin(t) * h * k + k * k) / (2 * np.cos(t) ** 2))
    return top / (4 * np.pi) * found


class _Steps(NamedTuple):
    """A measure of a binormal curve; ``sum mass 1[z >= at]`` is the component of a sample with the normal score z.

    Positives come first. Where the curve lies in the ranges, the components of a class rise with the threshold by the
    density of the other class; at the threshold of a rate, by 1 for the class whose rate it is. `half` is the sum of
    the masses below, and half of the mass itself.
    """

    value: float
    at: tuple[F64, F64]
    mass: tuple[F64, F64]
    half: tuple[F64, F64]

    def variance(self, of: int) -> float:
        """Return the variance of the components of a class."""
        above = special.ndtr(-self.at[of])
        return float(2 * (self.mass[of] * self.half[of]) @ above - (self.mass[of] @ above) ** 2)

    def covariance(self, other: "_Steps", correlation: float, of: int) -> float:
        """Return the covariance with the components of a second model."""
        return float(self.mass[of] @ shared(self.at[of][:, None], other.at[of], correlation) @ other.mass[of])


@lru_cache(maxsize=256)
def of_binormal(areas: tuple[float, ...], correlation: float, measure: Measure) -> Spread:
    """Return the spread of normal scores of equal variances: integrals over thresholds, by Gauss and Legendre."""
    # The covariance has a ridge of this width; a range of thresholds is at most some 20 standard deviations wide.
    count = int(np.clip(28 / np.sqrt(1 - correlation**2), *_NODES))
    found = [_steps(float(np.sqrt(2.0) * special.ndtri(area)), measure, count) for area in areas]
    parts = [sum(one.variance(of) for one in found) for of in (0, 1)]
    if len(found) > 1:
        parts = [part - 2 * found[0].covariance(found[1], correlation, of) for of, part in enumerate(parts)]
    return Spread(tuple(one.value for one in found), *parts)


def _steps(shift: float, measure: Measure, count: int) -> _Steps:
    """Return a measure of the curve of negatives of mean 0 and positives of mean `shift`, both of variance 1."""
    if isinstance(measure, Rate):
        cut = (shift if measure.mirrored else 0.0) - special.ndtri(measure.low)
        at, one = (np.array([cut - shift]), np.array([cut])), np.ones(1)
        slope = np.exp(at[1] * shift - shift**2 / 2)
        mass = (one / slope, one) if measure.mirrored else (one, slope)
        value = float(special.ndtr(-at[measure.mirrored][0]))
        return _Steps(value, at, mass, (mass[0] / 2, mass[1] / 2))
    (low, high), (least, most) = (getattr(measure, name, None) or (0.0, 1.0) for name in ("fpr_range", "tpr_range"))
    ends = -special.ndtri([high, low]), shift - special.ndtri([most, least])
    bottom = max(ends[0][0], ends[1][0], min(0.0, shift) - _REACH)
    top = max(min(ends[0][1], ends[1][1], max(0.0, shift) + _REACH), bottom)
    nodes, weights = _gauss(count)
    cut = bottom + (top - bottom) * (nodes + 1) / 2
    at = cut - shift, cut
    mass = tuple((top - bottom) / 2 * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) for z in at[::-1])
    half = tuple(special.ndtr(z) - special.ndtr(z[0] - (cut[0] - bottom)) for z in at[::-1])
    # The area in both ranges, with the rectangle to the right of where the curve leaves the range of TPR.
    beyond = high - max(low, float(special.ndtr(-ends[1][0])))
    area = mass[0] @ (special.ndtr(-at[0]) - least) + (most - least) * max(beyond, 0.0)
    worst, best = measure.bounds
    scale = (best - worst) / ((high - low) * (most - least))
    return _Steps(worst + scale * float(area), at, *((scale * x[0], scale * x[1]) for x in (mass, half)))


def of_pilot(function: Callable[..., Any], pilot: Any, measure: Measure, reading: Mapping[str, Any]) -> Spread:
    """Return the spread in the samples of a pilot, with the scores of one model or two."""
    if isinstance(pilot, Samples):
        data = read(function, pilot, None, reading, Plain).two
        if data.weight is not None or data.group is not None:
            raise ValueError("pilot must be samples without sample_weight and groups")
    elif not isinstance(pilot, (tuple, list)) or len(pilot) != 2:
        raise ValueError(
            f"pilot must be (y_true, y_score), the samples of a pilot study, or Samples, got {shown(pilot)}"
        )
    else:
        given = Arguments.complete(*pilot, **reading)
        data = given._replace(names=("pilot", "pilot"), n_jobs=1).of_two_classes()
    if data.n_models > 2:
        raise ValueError(f"pilot must have the scores of one model or two, got {data.n_models}")
    explain(data)
    require_two(*data.totals, " of each class in the pilot")
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
