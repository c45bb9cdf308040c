"""What a difference is tested against: a number, on one side of it or both, or a margin of equivalence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rocmax._parameters import shown
from rocmax.metrics._interval import Law
from rocmax.metrics._validation import choice, number

ALTERNATIVES = ("two-sided", "less", "greater", "equivalence")


class Hypothesis(NamedTuple):
    """The alternative to ``difference = null``, or that ``|difference - null| < margin``."""

    alternative: str = "two-sided"
    null: float = 0.0
    margin: float | None = None

    def test(self, difference: float, error: float, law: Law) -> tuple[float, float]:
        """Return the statistic and the p-value of a difference with a standard error.

        Equivalence is shown by two one-sided tests (Schuirmann, 1987): the greater p-value counts, and its statistic.
        """
        if self.margin is not None:
            above = _statistic(difference - self.null + self.margin, error)
            below = _statistic(difference - self.null - self.margin, error)
            statistic, tail = (above, -above) if above <= -below else (below, below)
            return statistic, float(law.cdf(tail))
        statistic = _statistic(difference - self.null, error)
        if self.alternative == "two-sided":
            # No distance is no evidence, also where the error is 0.
            return statistic, 1.0 if statistic == 0 else float(2 * law.cdf(-abs(statistic)))
        if statistic == 0 and error == 0:
            return statistic, 1.0
        return statistic, float(law.cdf(statistic if self.alternative == "less" else -statistic))


def difference_in_range(value: Any, name: str) -> float:
    """Check that a difference is a number whose square, over that of any error, is a number too."""
    return number(value, name, "between -1e100 and 1e100", lambda difference: abs(difference) <= 1e100)


def parse_hypothesis(alternative: Any, null_difference: Any, equivalence_margin: Any) -> Hypothesis:
    """Check what a difference is to be tested against."""
    choice(alternative, ALTERNATIVES, "alternative")
    null = difference_in_range(null_difference, "null_difference")
    if (alternative == "equivalence") != (equivalence_margin is not None):
        raise ValueError(
            "equivalence_margin goes with alternative='equivalence', got "
            f"equivalence_margin={shown(equivalence_margin)} and alternative={shown(alternative)}"
        )
    if equivalence_margin is None:
        return Hypothesis(alternative, null)
    margin = number(equivalence_margin, "equivalence_margin", "above 0", lambda value: 0.0 < value < np.inf)
    return Hypothesis(alternative, null, margin)


def _statistic(distance: float, error: float) -> float:
    """Return distance over error, where 0 stands against anything."""
    if distance == 0:
        return 0.0
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.float64(distance) / error)
