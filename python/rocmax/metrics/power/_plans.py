"""The test that a study is planned for, the true values, and the variance of its estimate."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._checks.samples import number
from rocmax._parameters import check_choice
from rocmax.metrics.intervals._hypothesis import ALTERNATIVES, Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.power._planned import Spread, area_of, check_measure, of_binormal, of_pilot, shared
from rocmax.metrics.samples._reading import Plain
from rocmax.metrics.samples._value import require_known

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
        sides = {"less": -1, "greater": 1}
        return sides.get(self.hypothesis.alternative, 1 if self.truth >= self.hypothesis.null else -1)

    def rejects(self, n_pos: float, side: int, limit: float) -> float:
        """Return the probability that the estimate lies significantly above (side 1) or below (-1) a limit."""
        if not self.bounds[0] < limit < self.bounds[1]:
            return 1.0  # no estimate reaches it
        distance = np.sqrt(n_pos) * side * (self.truth - limit) - self.z * np.sqrt(self.spread(limit))
        return float(Law().cdf(distance / np.sqrt(self.spread(self.truth))))

    def power(self, n_pos: float) -> float:
        """Return the power with a number of positives."""
        null, margin = self.hypothesis.null, self.hypothesis.margin
        if margin is None:
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
    null_difference: Any
    margin: Any
    significance_level: Any
    alternative: Any

    @property
    def several(self) -> bool:
        """Whether two models are compared."""
        return self.auc_b is not None if self.pilot is None else len(self.pilot.values) > 1

    def plan(self, ratio: float) -> Plan:
        """Check the options, and plan for `ratio` negatives per positive."""
        level = number(self.significance_level, "significance_level", "in (0, 1)", _is_inside)
        check_choice("alternative", self.alternative, (*ALTERNATIVES, "one-sided"))
        plain = "two-sided" if self.alternative == "one-sided" else self.alternative
        hypothesis = parse_hypothesis(plain, self.null_difference, self.margin)
        z = float(Law().quantile(1 - (level / 2 if self.alternative == "two-sided" else level)))
        low, high = self.measure.bounds
        if self.several:
            if self.null_value is not None:
                raise ValueError("null_value applies to one model: pass null_difference for the difference of two")
            low, high = low - high, high - low
        else:
            if self.correlation is not None or hypothesis.null != 0:
                raise ValueError(
                    "correlation and null_difference apply to two models: pass auc_b, or null_value for one"
                )
            null = self.measure.chance((1.0, ratio)) if self.null_value is None else self.null_value
            null = number(null, "null_value", f"in ({low:g}, {high:g})", lambda value: low < value < high)
            hypothesis = hypothesis._replace(null=null)
        closed = self.pilot is None and self.measure == AUC()
        values, spread = self._closed(hypothesis, ratio) if closed else self._by_parts(ratio)
        return Plan(values, hypothesis, z, spread, (low, high))

    def _closed(self, hypothesis: Hypothesis, ratio: float) -> tuple[tuple[float, ...], Callable[[float], float]]:
        """Return the true values, and the variance as a function of the value, for AUCs of a binormal model."""
        if not self.several:
            null, margin = hypothesis.null, hypothesis.margin or 0
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
        return tuple(number(value, name, "in (0, 1)", _is_inside) for name, value in given if value is not None)

    def _correlation(self) -> float:
        if self.correlation is None:
            return 0.0
        return number(self.correlation, "correlation", "in (-1, 1)", lambda r: -1.0 < r < 1.0)


def _is_inside(value: float) -> bool:
    return 0.0 < value < 1.0


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
    check_measure(measure)
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
