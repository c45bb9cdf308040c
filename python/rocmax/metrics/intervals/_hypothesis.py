"""Hypotheses: what an estimate or a difference is tested against."""

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import numpy as np

from rocmax._checks.samples import F64, check_level, number
from rocmax._parameters import check_choice, shown
from rocmax._typing import Adjust, Alternative
from rocmax.metrics.intervals._interval import Tails

ALTERNATIVES = get_args(Alternative)
ADJUSTED = (*get_args(Adjust), None)  # for the number of tests


class Hypothesis(NamedTuple):
    """The alternative to ``value = null``, that it is worse by less than the margin, or ``|value - null| < margin``."""

    alternative: str = "two-sided"
    null: float = 0.0
    margin: float | None = None
    lower: bool = False  # whether a low value is better

    @property
    def side(self) -> int:
        """Where the alternative of a one-sided test lies: above its limit (1) or below (-1); 0 for other tests."""
        return {"less": -1, "greater": 1, "non-inferiority": -1 if self.lower else 1}.get(self.alternative, 0)

    @property
    def limit(self) -> float:
        """What a test with one limit compares with."""
        return self.null - self.side * (self.margin or 0.0)

    def test(self, tails: Callable[[float], Tails]) -> tuple[Any, Any]:
        """Return the statistic and the p-value; of equivalence, the greater of two one-sided tests (Schuirmann)."""
        if self.margin is not None and not self.side:
            above, below = tails(self.null - self.margin), tails(self.null + self.margin)
            first = above.greater >= below.less
            return (
                np.where(first, above.statistic, below.statistic)[()],
                np.where(first, above.greater, below.less)[()],
            )
        statistic, less, greater = tails(self.limit)
        if not self.side:
            return statistic, np.minimum(2 * np.minimum(less, greater), 1.0)
        return statistic, less if self.side < 0 else greater


class Question(NamedTuple):
    """The level of an interval, and the hypothesis of a test if there is one."""

    level: float
    hypothesis: Hypothesis | None = None


def parse_hypothesis(alternative: Any, margin: Any, measure: Any) -> Hypothesis:
    """Check the options of a test of a difference of a measure."""
    check_choice("alternative", alternative, ALTERNATIVES)
    if (alternative in ("non-inferiority", "equivalence")) != (margin is not None):
        raise ValueError(
            f"margin goes with alternative='non-inferiority' or 'equivalence', got margin={shown(margin)} and"
            f" alternative={shown(alternative)}"
        )
    if margin is not None:
        span = min(measure.bounds[1] - measure.bounds[0], 1e100)  # above, its square overflows
        domain = f"above 0 and below {span:.4g}, the range of the measure"
        margin = number(margin, "margin", domain, lambda value: 0.0 < value < span)
    return Hypothesis(alternative, margin=margin, lower=measure.lower_is_better)


def parse_question(measure: Any, confidence_level: Any, null_value: Any, alternative: Any, margin: Any) -> Question:
    """Check the options of an interval and of its test."""
    level = check_level(confidence_level)
    hypothesis, bounds = parse_hypothesis(alternative, margin, measure), measure.bounds
    if null_value is None:
        if alternative != "two-sided":
            raise ValueError(f"alternative={alternative!r} needs a null_value to test against")
        return Question(level)
    null = number(
        null_value,
        "null_value",
        f"that the measure can be, in [{bounds[0]:.4g}, {bounds[1]:.4g}]",
        lambda value: bounds[0] <= value <= bounds[1] and abs(value) < np.inf,
    )
    return Question(level, hypothesis._replace(null=null))


def adjusted(pvalues: F64, how: str | None) -> F64:
    """Return p-values adjusted for multiple testing."""
    count = len(pvalues)
    if how is None:
        return pvalues.copy()
    if how == "bonferroni":
        return np.minimum(count * pvalues, 1.0)
    order = np.argsort(pvalues)
    if how == "holm":
        stepped = np.maximum.accumulate((count - np.arange(count)) * pvalues[order])
    else:
        ratios = count / np.arange(1, count + 1) * pvalues[order]
        stepped = np.minimum.accumulate(ratios[::-1])[::-1]
    found = np.empty(count)
    found[order] = np.minimum(stepped, 1.0)
    return found
