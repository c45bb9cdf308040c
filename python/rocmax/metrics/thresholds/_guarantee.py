"""Thresholds that keep a limit on new data with a given probability."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics.samples._sample import Sample, explain
from rocmax.metrics.thresholds._rules import Rule


def check_guarantee(threshold: Any, rules: Sequence[Rule] | None, *others: Any) -> None:
    """Refuse a guarantee for a rule without a limit, or with options that it excludes."""
    if any(other is not None for other in others):
        raise ValueError(
            "guarantee assumes independent samples of equal weight: omit sample_weight and groups, and use"
            " method='wilson'"
        )
    if rules is None or not all(rule.kind.limits for rule in rules):
        raise ValueError(
            "guarantee needs a threshold with a limit, such as ('fpr', 0.01), ('specificity', 0.95),"
            f" ('sensitivity', 0.9) or ('alerts', 0.05), got {shown(threshold)}"
        )


def guaranteed(data: Sample, rules: Sequence[Rule], probability: float) -> tuple[list[Rule], F64]:
    """Return the threshold at which each rule keeps its limit in the population, and the probability that it does.

    The share of the population below the k-th lowest of n scores has a beta distribution with parameters k and
    ``n - k + 1`` (Wilks, 1941): it is at most a with probability ``I_a(k, n - k + 1)``. O(n) each.
    """
    explain(data)
    found = [_guaranteed(data, rule, probability) for rule in rules]
    return [Rule("at", threshold) for threshold, _ in found], np.array([reached for _, reached in found])


def _guaranteed(data: Sample, rule: Rule, probability: float) -> tuple[float, float]:
    limits = rule.kind.limits
    floor = limits == "positives"  # a lower limit of the share at or above the threshold, else an upper one
    scores = data.score if limits == "samples" else data.score[data.positive == floor]
    size = len(scores)
    allowed = rule.allowed(size)
    if not 0.0 < allowed < 1.0:
        raise ValueError(f"guarantee needs a limit that allows more than none and less than all, got {rule.short}")

    def reached(k: int) -> float:
        return float(special.betainc(k, size - k + 1, allowed))

    k = bisect_right(range(1, size + 1), -probability, key=lambda k: -reached(k))
    if k == 0:
        needed = int(np.ceil(np.log1p(-probability) / np.log1p(-allowed)))
        raise ValueError(
            f"{rule.short} cannot be guaranteed with probability {probability:g} from {size} {limits}:"
            f" at least {needed} are needed"
        )
    if floor:
        return float(np.partition(scores, k - 1)[k - 1]), reached(k)
    highest = float(np.partition(scores, size - k)[size - k])
    return float(np.nextafter(highest, np.inf)), reached(k)  # the lowest threshold above it
