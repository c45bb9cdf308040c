"""Rules that choose a threshold from scores: those of estimators and of operating points alike."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from rocmax import _core
from rocmax._parameters import as_float, shown
from rocmax.metrics._arrays import plain
from rocmax.metrics._references import Method
from rocmax.metrics._validation import F64, number

#: The rules in words, {n} standing for the number that some take.
RULES = {
    "youden": Method("largest TPR - FPR, {}", ("youden",)),
    "closest": Method("closest to the corner, {}", ("perkins",)),
    "eer": Method("equal error rates"),
    "midpoint": Method("midpoint between lowest positive and highest negative"),
    "fpr": Method("highest TPR with FPR of at most {n}"),
    "sensitivity": Method("lowest FPR with sensitivity of at least {n}"),
    "specificity": Method("highest TPR with specificity of at least {n}"),
    "cost": Method("lowest cost, a false positive costing {n} false negatives"),
}
#: What `threshold` may be, for messages.
CHOICES = (
    "'midpoint', 'eer', 'youden', 'closest', ('fpr', rate), ('sensitivity', rate) or ('specificity', rate) with"
    " 0 <= rate <= 1 or ('cost', ratio) with ratio > 0"
)
#: Rules in which FPR weighs something in units of TPR.
WEIGHED = ("youden", "closest")
_UNNUMBERED = (*WEIGHED, "eer", "midpoint")  # asked for by name alone
_MOST = 1e300  # of the weight of a false positive
_OF_RATE = ("fpr", "sensitivity", "specificity")


class Rule(NamedTuple):
    """A rule and its number: of those that are weighed what FPR weighs in units of TPR, 0 where there is none."""

    name: str
    number: float = 0.0

    def __str__(self) -> str:
        return str(RULES[self.name]).replace("{n}", f"{self.number:g}")

    @property
    def criterion(self) -> str | tuple[str, float]:
        """The rule as it is asked for."""
        return self.name if self.name in _UNNUMBERED else (self.name, self.number)

    def of(self, curve: _core.Curve) -> float:
        """Return the threshold on a curve: scores of at least that are called positive."""
        return curve.cut(*self)[0]


def parse_rule(threshold: Any) -> Rule | None:
    """Return the rule that `threshold` names, None if it names none."""
    if isinstance(threshold, str):
        return Rule(threshold, float(threshold in WEIGHED)) if threshold in _UNNUMBERED else None
    if isinstance(threshold, tuple) and len(threshold) == 2 and isinstance(threshold[0], str):
        rule = Rule(threshold[0], as_float(threshold[1]))
        of_rate = rule.name in _OF_RATE and 0.0 <= rule.number <= 1.0
        return rule if of_rate or (rule.name == "cost" and 0.0 < rule.number < np.inf) else None
    return None


def asked(threshold: Any) -> tuple[list[Rule] | None, bool]:
    """Return the rules, "at" for a threshold that is given, and whether several were asked for; None for all scores."""
    if isinstance(threshold, str) and threshold == "all":
        return None, True
    one = isinstance(threshold, str) or parse_rule(threshold) is not None or _named(threshold)
    listed = isinstance(threshold, (list, tuple)) or (getattr(threshold, "ndim", None) == 1 and not issparse(threshold))
    if one or not listed:
        return [_rule(threshold)], False
    if len(threshold) == 0:
        raise ValueError(f"threshold is empty: a list needs one or more, got {shown(threshold)}")
    return [_rule(value) for value in threshold], True


def _named(threshold: Any) -> bool:
    """Whether it begins as a rule with a number does, and is no tuple of rules."""
    begins = isinstance(threshold, tuple) and len(threshold) > 0 and isinstance(threshold[0], str)
    return begins and parse_rule(threshold[0]) is None


def _rule(threshold: Any) -> Rule:
    rule = parse_rule(threshold)
    if rule is not None:
        return rule
    return Rule("at", number(threshold, "threshold", f"or one of {CHOICES}", lambda value: not np.isnan(value)))


def weighed(rule: Rule, cost: float, prevalence: float | None) -> Rule:
    """Return the rule with what FPR weighs by costs and prevalence."""
    odds = 1.0 if prevalence is None else (1 - prevalence) / prevalence
    # Beyond the limit false alarms alone decide, and a product with a rate of 0 must stay 0.
    if rule.name in WEIGHED:
        return rule._replace(number=min(odds / cost, _MOST))
    if rule.name == "cost" and prevalence is not None:
        return Rule("youden", min(rule.number * odds, _MOST))
    return rule


def chosen(rule: Rule, scores: F64, positive: NDArray[np.bool_], weight: F64 | None) -> float:
    """Return the threshold of a rule for scores without NaN of both classes; O(n log n)."""
    return rule.of(_core.Curve(plain(positive), plain(scores), weight, 1))
