"""The zero of the scores, and the threshold of ``predict``."""

from typing import Any, Literal

import numpy as np

from rocmax._typing import F64, Bool, RuleChoice
from rocmax.metrics.thresholds._rules import Rule, check_budget, chosen, no_rule, parse_rule

Threshold = Literal["auto"] | RuleChoice

_FULL = (0.0, 1.0)
# The last bits of a score depend on how many rows are multiplied at once. So no cut is made between neighbours that are
# at most _ROUNDINGS roundings, or if less _CLOSE times the mean distance of neighbours, apart.
_ROUNDINGS, _CLOSE = 32, 0.01


def check_threshold(threshold: Any) -> Rule | None:
    """Return the rule, None for "auto"."""
    rule = parse_rule(threshold)
    if rule is not None or (isinstance(threshold, str) and threshold == "auto"):
        return rule
    raise no_rule(threshold, "'auto',")


def choose_threshold(
    scores: F64,
    positive: Bool,
    threshold: Any,
    weight: F64 | None = None,
    fpr_range: tuple[float, float] = _FULL,
    noise: float = 0.0,
    total: float | None = None,
) -> float:
    """Return t, between two distinct scores, such that score >= t follows the rule; O(N log N)."""
    rule = check_threshold(threshold) or (Rule("eer") if fpr_range == _FULL else Rule("fpr", fpr_range[1]))
    if total is not None and rule.counts:
        check_budget(rule, total)
        rule = rule._replace(number=min(rule.number / total, float(np.nextafter(1.0, 0.0))))
    if weight is not None:
        kept = weight > 0
        scores, positive, weight = scores[kept], positive[kept], weight[kept]
    if rule.name == "midpoint":
        middle, low, high = chosen(rule, scores, positive, weight), scores[positive].min(), scores[~positive].max()
        return float(low) if middle <= high < low else middle  # no number lies between neighbours
    rounding = max(noise, _ROUNDINGS * float(np.finfo(np.float64).eps * np.abs(scores).max()))
    tie = min(rounding, close(scores))
    lower, upper = _ends(scores, scores, positive, rule, weight)
    if 0.0 < upper - lower <= tie:  # otherwise scores within rounding are already on one side
        lower, upper = _ends(scores, _merged(scores, tie), positive, rule, weight)
    if lower == -np.inf:
        return float(np.nextafter(upper - rounding, -np.inf))
    if upper == np.inf:
        return float(np.nextafter(lower + rounding, np.inf))
    middle = lower / 2 + upper / 2
    return middle if middle > lower else upper


def _ends(scores: F64, merged: F64, positive: Bool, rule: Rule, weight: F64 | None) -> tuple[float, float]:
    """Return the highest score predicted negative and the lowest predicted positive, by a cut of merged scores."""
    above = merged >= chosen(rule, merged, positive, weight)
    return float(scores.max(where=~above, initial=-np.inf)), float(scores.min(where=above, initial=np.inf))


def middle_of_classes(scores: F64, positive: Bool, weight: F64 | None = None) -> float:
    """Return the midpoint between the class means, which does not depend on the share of positives."""
    total = 0.0
    for of in (positive, ~positive):
        own = of if weight is None else of & (weight > 0)  # zeros would change how sums round
        share = 1.0 / np.count_nonzero(own) if weight is None else weight[own] / weight[own].sum()
        halves = scores[own]
        halves *= share / 2
        total += float(np.sum(halves))
    return total


def close(scores: F64) -> float:
    """Return a distance that few neighbouring scores are within."""
    return _CLOSE * float(scores.max() / len(scores) - scores.min() / len(scores))


def _merged(scores: F64, noise: float) -> F64:
    """Lower each score that is within `noise` of the next lower score to that score."""
    ascending = np.sort(scores)
    gaps = np.diff(ascending)
    if not np.any((gaps > 0) & (gaps <= noise)):
        return scores
    starts = ascending[np.append(True, gaps > noise)]
    return np.asarray(starts[np.searchsorted(starts, scores, side="right") - 1])
