"""What a binormal model says about the size of a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from rocmax._checks.samples import choice, number
from rocmax.metrics._hypothesis import ALTERNATIVES, Hypothesis, parse_hypothesis
from rocmax.metrics._interval import Law
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._result import Unpacked

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_MOST = 1e15  # positives, of any study


def _spread(auc: float, ratio: float) -> float:
    """Variance of an AUC times the number of positives, with `ratio` negatives a positive."""
    a = float(special.ndtri(auc)) * 1.414  # the paper's constants, and pROC's
    return float(0.0099 * np.exp(-(a**2) / 2) * ((5 * a**2 + 8) + (a**2 + 8) / ratio))


class _Plan(NamedTuple):
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


def _plan(
    auc: Any,
    auc_b: Any,
    correlation: Any,
    null: tuple[Any, Any, Any],
    significance_level: Any,
    alternative: Any,
    ratio: float,
) -> _Plan:
    """Check what is asked for."""
    null_value, null_difference, margin = null
    level = number(significance_level, "significance_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)
    choice(alternative, (*ALTERNATIVES, "one-sided"), "alternative")
    plain = "two-sided" if alternative == "one-sided" else alternative
    hypothesis = parse_hypothesis(plain, null_difference, margin)
    z = float(Law().quantile(1 - (level / 2 if alternative == "two-sided" else level)))
    at = number(null_value, "null_value", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    if auc_b is None:
        if correlation is not None or hypothesis.null != 0:
            raise ValueError("correlation and null_difference are of two models: give auc_b, or null_value for one")
        low, high = {"less": (0.0, at), "equivalence": (at - (margin or 0), at + (margin or 0))}.get(plain, (at, 1.0))
        low, high = max(low, 0.0), min(high, 1.0)
        auc = number(auc, "auc", f"in ({low:g}, {high:g})", lambda value: low < value < high)
        return _Plan(auc, hypothesis._replace(null=at), z, lambda value: _spread(value, ratio), (0.0, 1.0))
    if at != 0.5:
        raise ValueError("null_value is of one model: give null_difference with auc_b")
    auc, auc_b = (
        number(value, name, "in (0, 1)", lambda value: 0.0 < value < 1.0)
        for name, value in (("auc", auc), ("auc_b", auc_b))
    )
    r = 0.0 if correlation is None else number(correlation, "correlation", "in (-1, 1)", lambda r: -1.0 < r < 1.0)
    both = _shared(auc, auc, 0.5) + _shared(auc_b, auc_b, 0.5) - 2 * _shared(auc, auc_b, r / 2)
    return _Plan(auc - auc_b, hypothesis, z, lambda _: both * (1 + 1 / ratio), (-1.0, 1.0))


def auc_power(
    auc: float,
    *,
    n_pos: float,
    n_neg: float,
    auc_b: float | None = None,
    correlation: float | None = None,
    null_value: float = 0.5,
    null_difference: float = 0.0,
    equivalence_margin: float | None = None,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Return the power of a test of an AUC against a number, or of the difference of two.

    One model: ``Phi((sqrt(m) (A - A0) - z sqrt(V(A0))) / sqrt(V(A)))`` with m positives, n negatives, A0 the null
    value, z the normal quantile of the level, and V m times the variance under a binormal model with equal variances,
    ``0.0099 exp(-a^2/2) (5a^2 + 8 + (a^2 + 8) m/n)``, ``a = 1.414 Phi^-1(A)`` [1]_.

    Two models: ``Phi((A - B - d) / s - z)``, d the null difference, for scores normal with equal variances in the
    classes: ``s^2 = (c(A, A, 1/2) + c(B, B, 1/2) - 2 c(A, B, r/2)) (1/m + 1/n)``, r the correlation of the models'
    scores within the classes and ``c(A, B, r) = P(X < Phi^-1(A), Y < Phi^-1(B)) - A B`` for normal X and Y of
    correlation r: the variances and the covariance that DeLong's method estimates.

    Parameters
    ----------
    auc : float
        The true AUC of the (first) model; against a number it lies in the alternative.
    n_pos, n_neg : float
        Number of positives and of negatives.
    auc_b : float in (0, 1), default=None
        The true AUC of a second model; None for a test of one against `null_value`.
    correlation : float in (-1, 1), default=None
        Of two models' scores of the same samples, within either class. None where each has `n_pos` and `n_neg`
        samples of its own.
    null_value : float in (0, 1), default=0.5
        What one AUC is tested against.
    null_difference : float, default=0.0
        What ``auc - auc_b`` is tested against: minus the margin, with alternative "greater", for non-inferiority.
    equivalence_margin : float, default=None
        The largest distance from the null that does not matter, for "equivalence".
    significance_level : float, default=0.05
        Probability of rejecting what is true; of equivalence that of each of the two one-sided tests.
    alternative : {"two-sided", "one-sided", "less", "greater", "equivalence"}, default="two-sided"
        Two-sided tests share the level between both sides, and rejections on the side of the truth count; "one-sided"
        looks to that side.

    Returns
    -------
    float
        The power, in [0, 1].

    Raises
    ------
    ValueError
        For numbers out of their domain, and options of one model with two or the reverse.

    References
    ----------
    .. [1] N. A. Obuchowski, M. L. Lieber and F. H. Wians, "ROC curves in clinical chemistry: uses,
       misuses, and possible solutions", Clinical Chemistry 50, 2004.
       :doi:`10.1373/clinchem.2004.031823`

    Examples
    --------
    >>> from rocmax.metrics import auc_power
    >>> round(auc_power(0.65, n_pos=30, n_neg=30), 6)
    0.542449
    >>> no_worse = {"null_difference": -0.05, "alternative": "greater"}
    >>> round(auc_power(0.8, auc_b=0.8, correlation=0.6, n_pos=150, n_neg=150, **no_worse), 3)
    0.68
    """
    n_pos, n_neg = (
        number(count, name, "of at least 1", lambda value: 1 <= value < np.inf)
        for name, count in (("n_pos", n_pos), ("n_neg", n_neg))
    )
    null = (null_value, null_difference, equivalence_margin)
    return _plan(auc, auc_b, correlation, null, significance_level, alternative, n_neg / n_pos).power(n_pos)


@dataclass(frozen=True, repr=False, eq=False)
class SampleSize(Unpacked):
    """Numbers of samples that a power asks for, to be rounded up; these two can be unpacked as a tuple.

    Attributes
    ----------
    n_pos, n_neg : float
        The numbers.
    auc, power, significance_level, alternative, auc_b, correlation, null, equivalence_margin
        What was asked for; `null` is the null value, of two models the null difference.
    """

    n_unpacked = 2

    n_pos: float
    n_neg: float
    auc: float = np.nan
    power: float = np.nan
    significance_level: float = 0.05
    alternative: str = "two-sided"
    auc_b: float | None = None
    correlation: float | None = None
    null: float = 0.5
    equivalence_margin: float | None = None

    def _whole(self) -> tuple[int, int]:
        """Return numbers of samples that there can be."""
        return max(1, int(np.ceil(self.n_pos))), max(1, int(np.ceil(self.n_neg)))

    def rows(self) -> list[dict[str, Any]]:
        return [self._held()]

    def _lines(self) -> list[str]:
        n_pos, n_neg = self._whole()
        found = f"an AUC of {self.auc:g}" if self.auc_b is None else f"AUCs of {self.auc:g} and {self.auc_b:g}"
        null = "1/2" if self.null == 0.5 else f"{self.null:g}"
        claims = {
            "less": f"less than {null}",
            "greater": f"greater than {null}",
            "equivalence": f"within {self.equivalence_margin or 0:g} of {null}",
        }
        if self.auc_b is None:
            claim = claims.get(self.alternative)
            claim = f"not to be {null}" if claim is None else f"to be {claim}"
        else:
            claim = f"to have a difference {claims.get(self.alternative, f'other than {null}')}"
        own = " of each model" if self.auc_b is not None and self.correlation is None else ""
        return [f"{n_pos:,} positive and {n_neg:,} negative samples{own} find {found} {claim}"]

    def _sentences(self, basis: str) -> list[str]:
        return [f"{line} ({basis})" for line in self._lines()]

    def _basis(self) -> list[str]:
        sides = {"less": "one-sided", "greater": "one-sided", "equivalence": "two one-sided"}
        level = f"{sides.get(self.alternative, self.alternative)} level {self.significance_level:g}"
        power = f"power {self.power:g} at the {level}"
        return [power, *(REFERENCES[source].short for source in self._sources())]

    def _sources(self) -> tuple[str, ...]:
        return ("obuchowski-size",) if self.auc_b is None else ("delong",)


def auc_sample_size(
    auc: float,
    *,
    power: float = 0.9,
    ratio: float = 1.0,
    auc_b: float | None = None,
    correlation: float | None = None,
    null_value: float = 0.5,
    null_difference: float = 0.0,
    equivalence_margin: float | None = None,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
) -> SampleSize:
    """Return how many samples find, with a given power, that an AUC differs from a number, or from another.

    ``m = (z sqrt(V(A0)) + Phi^-1(power) sqrt(V(A)))^2 / (A - A0)^2`` positives and ``ratio * m``
    negatives: the inverse of :func:`auc_power`, whose symbols these are; of equivalence by search.

    Parameters
    ----------
    auc, auc_b, correlation, null_value, null_difference, equivalence_margin, significance_level, alternative : optional
        As in :func:`auc_power`.
    power : float in (0, 1), default=0.9
        Probability of finding it.
    ratio : float, default=1.0
        Negatives for every positive.

    Returns
    -------
    SampleSize
        `n_pos` and `n_neg`, fractions that are to be rounded up; of either model where two have samples of their own.

    Raises
    ------
    ValueError
        For numbers out of their domain, and where the truth does not lie in the alternative.

    Examples
    --------
    >>> from rocmax.metrics import auc_sample_size
    >>> round(auc_sample_size(0.75, power=0.9).n_pos, 2)
    25.02
    """
    power = number(power, "power", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    ratio = number(ratio, "ratio", "above 0", lambda value: 0.0 < value < np.inf)
    if not 1 / _MOST <= ratio <= _MOST:
        raise ValueError(f"ratio must be a number above 0 that a study can have, 1e-15 to 1e15, got {ratio!r}")
    null = (null_value, null_difference, equivalence_margin)
    plan = _plan(auc, auc_b, correlation, null, significance_level, alternative, ratio)
    hypothesis = plan.hypothesis
    apart = plan.side * (plan.truth - hypothesis.null)
    reach = apart if hypothesis.margin is None else hypothesis.margin - abs(apart)
    if reach <= 0:
        raise ValueError(
            f"auc={auc!r} and auc_b={auc_b!r} differ by {plan.truth:.4g}, which is not in alternative={alternative!r}"
            f" to null_difference={hypothesis.null:g}: no number of samples finds what is not so"
        )
    if hypothesis.margin is None:
        spread = plan.z * np.sqrt(plan.spread(hypothesis.null)) + float(Law().quantile(power)) * np.sqrt(
            plan.spread(plan.truth)
        )
        n_pos = float(max(spread, 0.0) ** 2 / (plan.truth - hypothesis.null) ** 2)
        if not n_pos <= _MOST:
            raise ValueError(
                f"no study of 1e15 positives has that power: {plan.truth:.4g} is {apart:.2g} from {hypothesis.null:g}, "
                f"at significance_level={significance_level:g}"
            )
    else:
        n_pos = _least(lambda count: plan.power(count) >= power)
    return SampleSize(
        n_pos,
        ratio * n_pos,
        auc=plan.truth if auc_b is None else float(auc),
        power=power,
        significance_level=significance_level,
        alternative=alternative,
        auc_b=None if auc_b is None else float(auc_b),
        correlation=correlation,
        null=hypothesis.null,
        equivalence_margin=hypothesis.margin,
    )


def _least(holds: Callable[[float], bool]) -> float:
    """Return the number from which on something holds."""
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError("no study of 1e15 positives has that power; take a wider equivalence_margin")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
