"""The test that a study is planned for: what is true of it, and by what it varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._checks.samples import choice, number
from rocmax.metrics.intervals._hypothesis import ALTERNATIVES, Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.power._planned import Spread, area_of, check_measure, of_binormal, of_pilot

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)


def _spread(auc: float, ratio: float) -> float:
    """Variance of an AUC times the number of positives, with `ratio` negatives a positive."""
    a = float(special.ndtri(auc)) * 1.414  # the paper's constants, and pROC's
    return float(0.0099 * np.exp(-(a**2) / 2) * ((5 * a**2 + 8) + (a**2 + 8) / ratio))


class Plan(NamedTuple):
    """A test whose power is asked for."""

    truth: float  # the AUC, or the difference of two
    hypothesis: Hypothesis
    z: float  # critical value of each of its one-sided tests
    spread: Callable[[float], float]  # variance at a value, times the number of positives
    bounds: tuple[float, float]  # what is found lies between

    @property
    def side(self) -> int:
        """Which way the test of one null value looks: to the truth, unless it was told."""
        told = {"less": -1, "greater": 1}
        return told.get(self.hypothesis.alternative, 1 if self.truth >= self.hypothesis.null else -1)

    def rejects(self, n_pos: float, side: int, limit: float) -> float:
        """Return the probability that what is found lies significantly above (side 1) or below (-1) a limit."""
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


def _shared(one: float, two: float, correlation: float) -> float:
    """Covariance of indicators that two normal variables of a correlation lie below the quantiles of two areas.

    By Plackett's identity (1954): the integral of the density at these quantiles over the correlations from 0 on.
    """
    x, (h, k) = correlation * (_NODES + 1) / 2, special.ndtri([one, two])
    density = np.exp(-(h**2 - 2 * x * h * k + k**2) / (2 * (1 - x**2))) / (2 * np.pi * np.sqrt(1 - x**2))
    return float(correlation / 2 * _WEIGHTS @ density)


class Asked(NamedTuple):
    """What is planned for: the true areas of a binormal model, or a pilot, and the test."""

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

    def plan(self, ratio: float) -> Plan:
        """Check what is asked for."""
        if self.pilot is None and self.measure == AUC():
            return _plan(self, ratio)
        return _plan_of_parts(self, ratio)


def asked_for(
    measure: Any, pilot: Any, reading: tuple[Any, Any, str], auc: Any, auc_b: Any, correlation: Any, *test: Any
) -> Asked:
    measure = as_measure(measure)
    check_measure(measure)
    spread = None
    if pilot is not None:
        if any(given is not None for given in (auc, auc_b, correlation)):
            raise ValueError("give pilot, whose samples have their own values and correlation, or auc, not both")
        spread = of_pilot(pilot, measure, *reading)
    elif auc is None:
        raise ValueError("give auc, the true AUC, or pilot=(y_true, y_score)")
    elif any(given is not usual for given, usual in zip(reading, (None, True, "raise"), strict=True)):
        raise ValueError("pos_label, higher_is_better and missing are of the samples of a pilot: give pilot")
    return Asked(auc, auc_b, correlation, measure, spread, *test)


def _plan_of_parts(asked: Asked, ratio: float) -> Plan:
    """Plan for a measure with the variance of its components."""
    measure, pilot = asked.measure, asked.pilot
    level = _level(asked.significance_level)
    choice(asked.alternative, (*ALTERNATIVES, "one-sided"), "alternative")
    plain = "two-sided" if asked.alternative == "one-sided" else asked.alternative
    hypothesis = parse_hypothesis(plain, asked.null_difference, asked.margin)
    z = _critical(level, asked.alternative)
    if pilot is None:
        areas = [
            number(value, name, "in (0, 1)", lambda value: 0.0 < value < 1.0)
            for name, value in (("auc", asked.auc), ("auc_b", asked.auc_b))
            if value is not None
        ]
        if len(areas) == 2 and asked.correlation is None:
            one, two = (of_binormal((area,), 0.0, measure) for area in areas)
            parts = zip(one[1:], two[1:], strict=True)
            found = Spread(one.values + two.values, *(first + second for first, second in parts))
        else:
            r = 0.0 if asked.correlation is None else _correlation(asked.correlation)
            found = of_binormal(tuple(areas), r, measure)
    else:
        found = pilot
    several = len(found.values) > 1
    if not several:
        if asked.correlation is not None or hypothesis.null != 0:
            raise ValueError("correlation and null_difference are of two models: give null_value for one")
        low, high = measure.bounds
        null = measure.chance((1.0, ratio)) if asked.null_value is None else asked.null_value
        null = number(null, "null_value", f"in ({low:g}, {high:g})", lambda value: low < value < high)
        hypothesis = hypothesis._replace(null=null)
    elif asked.null_value is not None:
        raise ValueError("null_value is of one model: give null_difference for the difference of two")
    if found.at(ratio) <= 0:
        raise ValueError("the samples of pilot have no variance: take a pilot whose classes overlap")

    def spread(value: float) -> float:
        if several or pilot is not None or value == found.truth:
            return found.at(ratio)
        return of_binormal((area_of(value, measure),), 0.0, measure).at(ratio)

    least, most = measure.bounds
    return Plan(found.truth, hypothesis, z, spread, (least - most, most - least) if several else (least, most))


def _level(significance_level: Any) -> float:
    return number(significance_level, "significance_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)


def _critical(level: float, alternative: str) -> float:
    return float(Law().quantile(1 - (level / 2 if alternative == "two-sided" else level)))


def _correlation(correlation: Any) -> float:
    return number(correlation, "correlation", "in (-1, 1)", lambda r: -1.0 < r < 1.0)


def _plan(asked: Asked, ratio: float) -> Plan:
    """Plan for AUCs of a binormal model."""
    auc, auc_b, correlation, alternative = asked.auc, asked.auc_b, asked.correlation, asked.alternative
    null_difference, margin = asked.null_difference, asked.margin
    null_value = 0.5 if asked.null_value is None else asked.null_value
    level = _level(asked.significance_level)
    choice(alternative, (*ALTERNATIVES, "one-sided"), "alternative")
    plain = "two-sided" if alternative == "one-sided" else alternative
    hypothesis = parse_hypothesis(plain, null_difference, margin)
    z = _critical(level, alternative)
    at = number(null_value, "null_value", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    if auc_b is None:
        if correlation is not None or hypothesis.null != 0:
            raise ValueError("correlation and null_difference are of two models: give auc_b, or null_value for one")
        low, high = {"less": (0.0, at), "equivalence": (at - (margin or 0), at + (margin or 0))}.get(plain, (at, 1.0))
        low, high = max(low, 0.0), min(high, 1.0)
        auc = number(auc, "auc", f"in ({low:g}, {high:g})", lambda value: low < value < high)
        return Plan(auc, hypothesis._replace(null=at), z, lambda value: _spread(value, ratio), (0.0, 1.0))
    if at != 0.5:
        raise ValueError("null_value is of one model: give null_difference with auc_b")
    auc, auc_b = (
        number(value, name, "in (0, 1)", lambda value: 0.0 < value < 1.0)
        for name, value in (("auc", auc), ("auc_b", auc_b))
    )
    r = 0.0 if correlation is None else _correlation(correlation)
    both = _shared(auc, auc, 0.5) + _shared(auc_b, auc_b, 0.5) - 2 * _shared(auc, auc_b, r / 2)
    return Plan(auc - auc_b, hypothesis, z, lambda _: both * (1 + 1 / ratio), (-1.0, 1.0))
