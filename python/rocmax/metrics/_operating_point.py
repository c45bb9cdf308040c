"""The rates at one threshold: the best by a criterion, or a given one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import shown
from rocmax.metrics._curve import roc_curve
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import critical, wilson
from rocmax.metrics._measure import check_level, positives
from rocmax.metrics._validation import explain, number, one_model, sample

_MOST = 1e300
# Rates that differ by rounding only are the same.
_ROUNDING = 1e-12


class OperatingPoint(NamedTuple):
    """A threshold, the rates of calling scores at or above it positive, their intervals, and the positive label."""

    threshold: float
    tpr: float
    fpr: float
    tpr_interval: ConfidenceInterval
    fpr_interval: ConfidenceInterval
    pos_label: Any = 1


def operating_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float | str = "youden",
    cost: float = 1.0,
    prevalence: float = 0.5,
    confidence_level: float = 0.95,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> OperatingPoint:
    """Return the true and false positive rate at a threshold, with Wilson's intervals.

    "Positive" means a score of at least the threshold. "youden" maximises ``TPR - r FPR`` and "closest"
    minimises ``(1 - TPR)^2 + r FPR^2`` over the scores and infinity, with
    ``r = (1 - prevalence) / (cost prevalence)``; of equals the highest threshold is taken.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores.
    threshold : {"youden", "closest"} or float, default="youden"
        How the threshold is chosen, or the threshold.
    cost : float, default=1.0
        Of missing a positive, in units of the cost of a false alarm.
    prevalence : float in (0, 1), default=0.5
        Share of positives where the threshold is to be used.
    confidence_level : float, default=0.95
        Nominal coverage of each interval. They take the threshold as given: one that was chosen on
        these very samples looks better here than elsewhere.
    pos_label : label, default=None
        The positive class; all others are negative.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    OperatingPoint
        Threshold, rates and intervals, and the label of the positive class. O(n log n).

    Raises
    ------
    ValueError
        For bad labels, scores or options.

    References
    ----------
    .. [1] N. J. Perkins and E. F. Schisterman, "The inconsistency of optimal cutpoints obtained using two
       criteria based on the receiver operating characteristic curve", American Journal of
       Epidemiology 163, 2006. :doi:`10.1093/aje/kwj063`

    Examples
    --------
    >>> from rocmax.metrics import operating_point
    >>> operating_point([0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9])[:3]
    (0.5, 1.0, 0.3333333333333333)
    """
    level = check_level(confidence_level)
    cost = number(cost, "cost", "above 0", lambda value: 0.0 < value < np.inf)
    prevalence = number(prevalence, "prevalence", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    data = sample(y_true, y_score, pos_label=pos_label, n_jobs=n_jobs)
    explain(data)
    data = one_model(data)
    positive = positives(data)
    if isinstance(threshold, str):
        fpr, tpr, thresholds = roc_curve(positive, data.score, drop_intermediate=False, n_jobs=n_jobs)
        # Beyond the limit false alarms alone decide, and a product with a rate of 0 must stay 0.
        weight = min((1 - prevalence) / prevalence / cost, _MOST)
        losses = {"youden": weight * fpr - tpr, "closest": (1 - tpr) ** 2 + weight * fpr**2}
        if threshold not in losses:
            raise ValueError(f"threshold must be a number or one of {tuple(losses)}, got {shown(threshold)}")
        loss = losses[threshold]
        threshold = float(thresholds[np.argmax(loss <= loss.min() + _ROUNDING)])
    least = number(threshold, "threshold", "or 'youden' or 'closest'", lambda value: not np.isnan(value))
    called = data.score >= least
    counts = [(int(np.count_nonzero(called & rows)), int(np.count_nonzero(rows))) for rows in (positive, ~positive)]
    rates = [k / n for k, n in counts]
    z = critical(level)
    intervals = [ConfidenceInterval(*map(float, wilson(k, n, z))) for k, n in counts]
    return OperatingPoint(least, rates[0], rates[1], intervals[0], intervals[1], data.pos_label)
