"""Decision thresholds: a ranker has none, so one is chosen on the training scores."""

from typing import Any

import numpy as np

from rocmax._parameters import as_float, shown
from rocmax._typing import F64, Bool

Threshold = str | tuple[str, float]


def check_threshold(threshold: Any) -> tuple[str, float]:
    """Return the rule and its number (0 where it takes none)."""
    if isinstance(threshold, str) and threshold in ("midpoint", "eer", "youden"):
        return threshold, 0.0
    if isinstance(threshold, tuple) and len(threshold) == 2:
        rule, number = threshold[0], as_float(threshold[1])
        if isinstance(rule, str) and (
            (rule == "fpr" and 0.0 <= number <= 1.0) or (rule == "cost" and 0.0 < number < np.inf)
        ):
            return rule, number
    raise ValueError(
        "threshold must be 'midpoint', 'eer', 'youden', ('fpr', rate) with 0 <= rate <= 1 or ('cost', ratio) with "
        f"ratio > 0, got {shown(threshold)}"
    )


def choose_threshold(scores: F64, positive: Bool, threshold: Any, weight: F64 | None = None) -> float:
    """Return t such that predicting positive where score > t follows the rule on these scores.

    Every rule but "midpoint" picks a cut between two neighbouring distinct scores and returns the middle of them, or a
    cut outside all scores. O(N log N).

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Training scores.
    positive : ndarray of shape (n_samples,)
        Which samples are positive.
    threshold : str or tuple
        - "midpoint": (min s + max t) / 2, the middle of the margin where the classes separate;
        - "eer": where the false positive and false negative rates are closest (the diagonal from (0, 1) to (1, 0));
        - "youden": the largest true positive rate less false positive rate;
        - ("fpr", rate): the largest true positive rate with a false positive rate of at most `rate`;
        - ("cost", ratio): the lowest cost when a false positive costs `ratio` false negatives.
    weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in every rate; those without weight are left out.
    """
    rule, number = check_threshold(threshold)
    if weight is not None:
        kept = weight > 0
        scores, positive, weight = scores[kept], positive[kept], weight[kept]
    if rule == "midpoint":
        return float(scores[positive].min() / 2 + scores[~positive].max() / 2)
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
    """Return the cut of rule "eer" without weights, by bisection: the rates' difference is monotone in the cut."""
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
    if k == 0:
        return float(np.nextafter(ascending[0], -np.inf))
    if k == n:
        return float(ascending[-1])
    between = ascending[k - 1] / 2 + ascending[k] / 2
    return float(between if between < ascending[k] else ascending[k - 1])


def _cuts(scores: F64, positive: Bool, weight: F64) -> tuple[F64, F64, F64]:
    """Return every cut from the highest down, with the weights of the false and true positives above it."""
    order = np.argsort(-scores)  # the order inside a tie does not matter
    descending = scores[order]
    last = np.append(np.flatnonzero(np.diff(descending)), len(scores) - 1)
    upper, lower = descending[last[:-1]], descending[last[:-1] + 1]
    middle = upper / 2 + lower / 2
    between = np.where(middle < upper, middle, lower)
    tp = np.cumsum((weight * positive)[order])[last]
    fp = np.cumsum((weight * ~positive)[order])[last]
    low = np.nextafter(descending[-1], -np.inf)
    return np.concatenate([[descending[0]], between, [low]]), np.append(0, fp), np.append(0, tp)
