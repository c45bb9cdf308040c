"""Decision thresholds: a ranker has none, so one is chosen on the training scores."""

from typing import Any

import numpy as np

from rocmax._parameters import as_float, shown
from rocmax._typing import F64, Bool

Threshold = str | tuple[str, float]

_FULL = (0.0, 1.0)
# Scores of a sample may differ in their last bits from one call to another, by how many rows are multiplied at once. No
# cut is made between neighbours so many roundings apart, or so small a share of their mean distance if that is less.
_ROUNDINGS, _CLOSE = 32, 0.01


def check_threshold(threshold: Any) -> tuple[str, float]:
    """Return the rule and its number (0 where it takes none)."""
    if isinstance(threshold, str) and threshold in ("auto", "midpoint", "eer", "youden"):
        return threshold, 0.0
    if isinstance(threshold, tuple) and len(threshold) == 2:
        rule, number = threshold[0], as_float(threshold[1])
        if isinstance(rule, str) and (
            (rule == "fpr" and 0.0 <= number <= 1.0) or (rule == "cost" and 0.0 < number < np.inf)
        ):
            return rule, number
    raise ValueError(
        "threshold must be 'auto', 'midpoint', 'eer', 'youden', ('fpr', rate) with 0 <= rate <= 1 or ('cost', ratio) "
        f"with ratio > 0, got {shown(threshold)}"
    )


def choose_threshold(
    scores: F64,
    positive: Bool,
    threshold: Any,
    weight: F64 | None = None,
    fpr_range: tuple[float, float] = _FULL,
    noise: float = 0.0,
) -> float:
    """Return t such that predicting positive where score > t follows the rule on these scores.

    Every rule but "midpoint" picks a cut between two neighbouring distinct scores and returns the middle of them, or a
    cut outside all scores. Scores that differ by rounding are one: both fall on the same side. O(N log N).

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Training scores.
    positive : ndarray of shape (n_samples,)
        Which samples are positive.
    threshold : str or tuple
        - "auto": "eer" on the full range, else ("fpr", rate) for the upper end of `fpr_range`;
        - "midpoint": (min s + max t) / 2, the middle of the margin where the classes separate;
        - "eer": where the false positive and false negative rates are closest (the diagonal from (0, 1) to (1, 0));
        - "youden": the largest true positive rate less false positive rate;
        - ("fpr", rate): the largest true positive rate with a false positive rate of at most `rate`;
        - ("cost", ratio): the lowest cost when a false positive costs `ratio` false negatives.
    weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in every rate; those without weight are left out.
    fpr_range : tuple of float, default=(0.0, 1.0)
        The range that "auto" is for.
    noise : float, default=0.0
        How far the scores may be off for other reasons than their last bits.
    """
    rule, number = check_threshold(threshold)
    if rule == "auto":
        rule, number = ("eer", 0.0) if fpr_range == _FULL else ("fpr", fpr_range[1])
    if weight is not None:
        kept = weight > 0
        scores, positive, weight = scores[kept], positive[kept], weight[kept]
    if rule == "midpoint":
        return float(scores[positive].min() / 2 + scores[~positive].max() / 2)
    rounding = max(noise, _ROUNDINGS * float(np.finfo(np.float64).eps * np.abs(scores).max()))
    tie = min(rounding, close(scores))
    lower, upper = _ends(scores, scores, positive, rule, number, weight)
    if 0.0 < upper - lower <= tie:  # else ties within rounding, if there are any, are on one side
        lower, upper = _ends(scores, _merged(scores, tie), positive, rule, number, weight)
    if lower == -np.inf:
        return float(np.nextafter(upper - rounding, -np.inf))
    if upper == np.inf:
        return lower + rounding
    middle = lower / 2 + upper / 2
    return middle if middle < upper else lower


def _ends(
    scores: F64, merged: F64, positive: Bool, rule: str, number: float, weight: F64 | None
) -> tuple[float, float]:
    """Return the highest score that is predicted negative and the lowest above it, by a cut of the merged scores."""
    above = merged > _lower_end(merged, positive, rule, number, weight)
    return float(scores[~above].max(initial=-np.inf)), float(scores[above].min(initial=np.inf))


def close(scores: F64) -> float:
    """Return a distance between neighbours that few of these scores are within."""
    return _CLOSE * float(scores.max() / len(scores) - scores.min() / len(scores))


def _merged(scores: F64, noise: float) -> F64:
    """Return the scores, those no further than `noise` from the next lower one as low as that."""
    ascending = np.sort(scores)
    gaps = np.diff(ascending)
    if not np.any((gaps > 0) & (gaps <= noise)):
        return scores
    starts = ascending[np.append(True, gaps > noise)]
    return np.asarray(starts[np.searchsorted(starts, scores, side="right") - 1])


def _lower_end(scores: F64, positive: Bool, rule: str, number: float, weight: F64 | None) -> float:
    """Return the highest score that is predicted negative, -inf if there is none."""
    if rule == "eer" and weight is None:
        return _equal_rates(scores, positive)
    cuts, fp, tp = _cuts(scores, positive, np.ones(len(scores)) if weight is None else weight)
    n_pos, n_neg = tp[-1], fp[-1]
    if rule == "eer":
        excess = fp / n_neg - (n_pos - tp) / n_pos
        first = int(np.argmax(excess >= 0))
        return float(cuts[first] if excess[first] < -excess[first - 1] else cuts[first - 1])
    losses = {
        "youden": fp / n_neg - tp / n_pos,
        "fpr": np.where(fp <= number * n_neg * (1 + 1e-12), -tp / n_pos, np.inf),
        "cost": number * fp - tp,
    }
    return float(cuts[np.argmin(losses[rule])])


def _equal_rates(scores: F64, positive: Bool) -> float:
    """Return the same for "eer" without weights, by bisection: the rates' difference is monotone in the cut."""
    ascending, of_pos = np.sort(scores), np.sort(scores[positive])
    n, n_pos = len(ascending), len(of_pos)

    def excess(k: int) -> float:
        """Return the false positive less the false negative rate when scores of ascending[k] and above pass."""
        passed = n - int(np.searchsorted(ascending, ascending[k])) if k < n else 0
        missed = int(np.searchsorted(of_pos, ascending[k])) if k < n else n_pos
        return (passed - n_pos + missed) / (n - n_pos) - missed / n_pos

    low, high = 0, n  # excess(low) >= 0 > excess(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) >= 0 else (low, middle)
    k = int(np.searchsorted(ascending, ascending[low])) if excess(low) < -excess(high) else high
    return float(ascending[k - 1]) if k > 0 else -np.inf


def _cuts(scores: F64, positive: Bool, weight: F64) -> tuple[F64, F64, F64]:
    """Return what each cut leaves out, from the highest down, and the weights of the false and true positives above."""
    order = np.argsort(-scores)  # the order inside a tie does not matter
    descending = scores[order]
    last = np.append(np.flatnonzero(np.diff(descending)), len(scores) - 1)
    tp = np.cumsum((weight * positive)[order])[last]
    fp = np.cumsum((weight * ~positive)[order])[last]
    return np.append(descending[last], -np.inf), np.append(0, fp), np.append(0, tp)
