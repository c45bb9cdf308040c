"""Studies to plan: the test, the true values, and the variance of its estimate by a binormal model or a pilot."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._checks.samples import check_level, number
from rocmax._parameters import check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._hypothesis import ALTERNATIVES, Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import FEW, Law
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import Plain, read, require_known
from rocmax.metrics.samples._sample import explain, require_two
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


def warn_of_few(measure: Measure, sizes: tuple[float, float]) -> None:
    """Warn if few of these positives and negatives are expected where the measure looks."""
    count, held = min(measure.limiting_sizes(sizes))
    if count < FEW and measure != AUC():
        fact = f"the study has less power than planned: only {count:.2g} {held} are expected"
        warn(CoverageWarning(f"{fact}; plan for {FEW} or more, or simulate the study", fact))


def shared(h: Any, k: Any, correlation: float) -> Any:
    """Return ``P(X < h, Y < k) - Phi(h) Phi(k)`` of correlated normal X and Y by Plackett's integral (1954)."""
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
    models = [_steps(float(np.sqrt(2.0) * special.ndtri(area)), measure, count) for area in areas]
    parts = [sum(one.variance(of) for one in models) for of in (0, 1)]
    if len(models) > 1:
        parts = [part - 2 * models[0].covariance(models[1], correlation, of) for of, part in enumerate(parts)]
    return Spread(tuple(one.value for one in models), *parts)


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


_USUAL = {"pos_label": None, "higher_is_better": True, "missing": "raise"}


def _spread(auc: float, ratio: float) -> float:
    """Variance of an AUC times the number of positives, with `ratio` negatives a positive."""
    a = float(special.ndtri(auc)) * 1.414  # the paper's constants, and pROC's
    return float(0.0099 * np.exp(-(a**2) / 2) * ((5 * a**2 + 8) + (a**2 + 8) / ratio))


class Plan(NamedTuple):
    """A test, what is true, and how its estimate varies."""

    values: tuple[float, ...]  # the true ones of one model or two
    hypothesis: Hypothesis
    z: float  # critical value of each one-sided test
    spread: Callable[[float], float]  # variance at a value, times the number of positives
    bounds: tuple[float, float]  # of the estimate

    @property
    def truth(self) -> float:
        """The value of one model, or the difference of two."""
        return self.values[0] - sum(self.values[1:])

    @property
    def side(self) -> int:
        """Direction of the test of one null value: of the truth, unless the alternative has one."""
        return self.hypothesis.side or (1 if self.truth >= self.hypothesis.null else -1)

    def rejects(self, n_pos: float, side: int, limit: float) -> float:
        """Return the probability that the estimate lies significantly above (side 1) or below (-1) a limit."""
        if not self.bounds[0] < limit < self.bounds[1]:
            return 1.0  # no estimate reaches it
        distance = np.sqrt(n_pos) * side * (self.truth - limit) - self.z * np.sqrt(self.spread(limit))
        return float(Law().cdf(distance / np.sqrt(self.spread(self.truth))))

    def power(self, n_pos: float) -> float:
        """Return the power with a number of positives."""
        null, margin = self.hypothesis.limit, self.hypothesis.margin
        if margin is None or self.hypothesis.side:
            return self.rejects(n_pos, self.side, null)
        return max(self.rejects(n_pos, 1, null - margin) + self.rejects(n_pos, -1, null + margin) - 1, 0.0)


class StudyPlan(NamedTuple):
    """A study to plan: the true AUCs of a binormal model, or a pilot, and the test."""

    auc: Any
    auc_b: Any
    correlation: Any
    measure: Measure
    pilot: Spread | None
    null_value: Any
    margin: Any
    significance_level: Any
    alternative: Any

    @property
    def several(self) -> bool:
        """Whether two models are compared."""
        return self.auc_b is not None if self.pilot is None else len(self.pilot.values) > 1

    def plan(self, ratio: float) -> Plan:
        """Check the options, and plan for `ratio` negatives per positive."""
        level = check_level(self.significance_level, "significance_level")
        check_choice("alternative", self.alternative, (*ALTERNATIVES, "one-sided"))
        plain = "two-sided" if self.alternative == "one-sided" else self.alternative
        hypothesis = parse_hypothesis(plain, self.margin, self.measure)
        z = float(Law().quantile(1 - (level / 2 if self.alternative == "two-sided" else level)))
        low, high = self.measure.bounds
        if self.several:
            if self.null_value is not None:
                raise ValueError("null_value applies to one model, not to the difference of two")
            low, high = low - high, high - low
        else:
            if self.correlation is not None:
                raise ValueError("correlation applies to two models: pass auc_b")
            null = self.measure.chance((1.0, ratio)) if self.null_value is None else self.null_value
            null = number(null, "null_value", f"in ({low:g}, {high:g})", lambda value: low < value < high)
            hypothesis = hypothesis._replace(null=null)
        closed = self.pilot is None and self.measure == AUC()
        values, spread = self._closed(hypothesis, ratio) if closed else self._by_parts(ratio)
        return Plan(values, hypothesis, z, spread, (low, high))

    def _closed(self, hypothesis: Hypothesis, ratio: float) -> tuple[tuple[float, ...], Callable[[float], float]]:
        """Return the true values, and the variance as a function of the value, for AUCs of a binormal model."""
        if not self.several:
            null, margin = hypothesis.limit, hypothesis.margin or 0
            ends = {"less": (0.0, null), "equivalence": (max(null - margin, 0.0), min(null + margin, 1.0))}
            low, high = ends.get(hypothesis.alternative, (null, 1.0))
            auc = number(self.auc, "auc", f"in ({low:g}, {high:g})", lambda value: low < value < high)
            return (auc,), lambda value: _spread(value, ratio)
        areas, r = self._areas(), self._correlation()
        a, b = special.ndtri(sorted(areas))
        both = float(shared(a, a, 0.5) + shared(b, b, 0.5) - 2 * shared(a, b, r / 2))
        return areas, lambda _: both * (1 + 1 / ratio)

    def _by_parts(self, ratio: float) -> tuple[tuple[float, ...], Callable[[float], float]]:
        """Return the same by the components of the measure."""
        measure = self.measure
        if self.pilot is not None:
            found = self.pilot
        else:
            areas = self._areas()
            found = of_binormal(tuple(sorted(areas)), self._correlation(), measure)
            if areas != tuple(sorted(areas)):
                found = found._replace(values=found.values[::-1])
        if found.at(ratio) <= 0:
            if self.pilot is None:
                raise ValueError(f"the binormal curve of auc={self.auc!r} lies outside of {measure}: no variance")
            raise ValueError("the samples of pilot have no variance: take a pilot whose classes overlap")

        def spread(value: float) -> float:
            if self.several or self.pilot is not None or (value,) == found.values:
                return found.at(ratio)
            return of_binormal((area_of(value, measure),), 0.0, measure).at(ratio)

        return found.values, spread

    def _areas(self) -> tuple[float, ...]:
        given = (("auc", self.auc), ("auc_b", self.auc_b))
        return tuple(check_level(value, name) for name, value in given if value is not None)

    def _correlation(self) -> float:
        if self.correlation is None:
            return 0.0
        return number(self.correlation, "correlation", "in (-1, 1)", lambda r: -1.0 < r < 1.0)


def study_plan(
    function: Callable[..., Any],
    measure: Any,
    pilot: Any,
    reading: Mapping[str, Any],
    auc: Any,
    auc_b: Any,
    correlation: Any,
    *test: Any,
) -> StudyPlan:
    """Check that the true values are given in one way, and read the pilot."""
    require_known(function, reading, Plain.__annotations__)
    measure = as_measure(measure)
    # Their components have the same variances at any prevalence.
    if not (isinstance(measure, (AUC, PartialAUC, Rate)) and measure.multi_class == "raise"):
        raise ValueError(
            "measure must be AUC(), PartialAUC(...), TPRAtFPR(...) or FPRAtTPR(...) of two classes, got"
            f" measure={measure!r}"
        )
    if isinstance(measure, Rate) and measure.at_edge:
        reason = measure.refusal((1.0, 1.0))
        raise ValueError(f"measure={measure!r} has no test to plan: {reason}; plan for a less extreme rate")
    spread = None
    if pilot is not None:
        if any(given is not None for given in (auc, auc_b, correlation)):
            raise ValueError("pass pilot or auc, not both: the samples of pilot have their own values and correlation")
        spread = of_pilot(function, pilot, measure, reading)
    elif auc is None:
        raise ValueError("pass auc, the true AUC, or pilot=(y_true, y_score)")
    elif any(value is not _USUAL[name] for name, value in reading.items()):
        raise ValueError("pos_label, higher_is_better and missing apply to the samples of pilot: pass pilot")
    return StudyPlan(auc, auc_b, correlation, measure, spread, *test)
