"""The rates at one threshold: the best by a criterion, or a given one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import shown
from rocmax.metrics import _words as words
from rocmax.metrics._curve import roc_curve
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import critical, wilson
from rocmax.metrics._measure import check_level, positives
from rocmax.metrics._references import REFERENCES, Method
from rocmax.metrics._result import Unpacked
from rocmax.metrics._validation import explain, number, one_model, sample

_MOST = 1e300
# Rates that differ by rounding only are the same.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False, eq=False)
class OperatingPoint(Unpacked):
    """A threshold, the rates of calling scores at or above it positive, their intervals, and the positive label.

    These six can be unpacked as a tuple.

    Attributes
    ----------
    threshold, tpr, fpr : float
        The threshold and both rates.
    tpr_interval, fpr_interval : ConfidenceInterval
        Of the rates.
    pos_label : label
        The label of the positive class.
    criterion : str or None
        How the threshold was chosen; None for one that was given.
    cost, prevalence : float
        What the criterion took them to be.
    confidence_level : float
        The nominal coverage of each interval.
    n_pos, n_neg : int
        Number of positive and negative samples.
    """

    n_unpacked = 6

    threshold: float
    tpr: float
    fpr: float
    tpr_interval: ConfidenceInterval
    fpr_interval: ConfidenceInterval
    pos_label: Any = 1
    criterion: str | None = None
    cost: float = 1.0
    prevalence: float = 0.5
    confidence_level: float = 0.95
    n_pos: int = 0
    n_neg: int = 0

    def rows(self) -> list[dict[str, Any]]:
        rates = {
            name: value
            for rate, found, (low, high) in self._rates()
            for name, value in ((rate, found), (f"{rate}_low", low), (f"{rate}_high", high))
        }
        return [{"threshold": self.threshold, **rates, "n_pos": self.n_pos, "n_neg": self.n_neg}]

    def _rates(self) -> list[tuple[str, float, ConfidenceInterval]]:
        return [("tpr", self.tpr, self.tpr_interval), ("fpr", self.fpr, self.fpr_interval)]

    def said(self) -> str:
        """Return both rates in words."""
        return ", ".join(
            f"{rate.upper()} {words.digits(found)} ({words.level(self.confidence_level)} {words.ends(interval)})"
            for rate, found, interval in self._rates()
        )

    def _chosen(self) -> str:
        """Return how the threshold was chosen, in words."""
        if self.criterion is None:
            return "given"
        chosen = str(_CRITERIA[self.criterion])
        usual = (self.cost, self.prevalence) == (1.0, 0.5)
        return chosen if usual else f"{chosen}, with cost {self.cost:g} and prevalence {self.prevalence:g}"

    def _lines(self) -> list[str]:
        return [f"threshold {self.threshold:.6g} ({self._chosen()})", self.said()]

    def _sentences(self, basis: str) -> list[str]:
        return [f"At the threshold {self.threshold:.6g} ({self._chosen()}) {self.said()} ({basis})"]

    def _basis(self) -> list[str]:
        return [
            f"intervals of {REFERENCES['wilson'].short}",
            words.samples(self.n_pos, self.n_neg, self.pos_label),
        ]

    def _sources(self) -> tuple[str, ...]:
        chosen = () if self.criterion is None else _CRITERIA[self.criterion].sources
        return (*chosen, "wilson")


_CRITERIA = {
    "youden": Method("largest TPR - FPR, {}", ("youden",)),
    "closest": Method("closest to the corner, {}", ("perkins",)),
}


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
    criterion = None
    if isinstance(threshold, str):
        fpr, tpr, thresholds = roc_curve(positive, data.score, drop_intermediate=False, n_jobs=n_jobs)
        # Beyond the limit false alarms alone decide, and a product with a rate of 0 must stay 0.
        weight = min((1 - prevalence) / prevalence / cost, _MOST)
        losses = {"youden": weight * fpr - tpr, "closest": (1 - tpr) ** 2 + weight * fpr**2}
        if threshold not in losses:
            raise ValueError(f"threshold must be a number or one of {tuple(losses)}, got {shown(threshold)}")
        criterion, loss = threshold, losses[threshold]
        threshold = float(thresholds[np.argmax(loss <= loss.min() + _ROUNDING)])
    least = number(threshold, "threshold", "or 'youden' or 'closest'", lambda value: not np.isnan(value))
    called = data.score >= least
    counts = [(int(np.count_nonzero(called & rows)), int(np.count_nonzero(rows))) for rows in (positive, ~positive)]
    rates = [k / n for k, n in counts]
    z = critical(level)
    intervals = [ConfidenceInterval(*map(float, wilson(k, n, z))) for k, n in counts]
    return OperatingPoint(
        threshold=least,
        tpr=rates[0],
        fpr=rates[1],
        tpr_interval=intervals[0],
        fpr_interval=intervals[1],
        pos_label=data.pos_label,
        criterion=criterion,
        cost=cost,
        prevalence=prevalence,
        confidence_level=level,
        n_pos=counts[0][1],
        n_neg=counts[1][1],
    )
