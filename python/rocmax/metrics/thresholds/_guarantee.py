"""The threshold whose rate keeps a floor with a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rocmax._parameters import shown
from rocmax.metrics import _words as words
from rocmax.metrics._measure import check_level, positives
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._result import Unpacked
from rocmax.metrics._validation import explain, number, one_model, sample
from rocmax.metrics.thresholds._operating_point import operating_point
from rocmax.metrics.thresholds._result import OperatingPoint


@dataclass(frozen=True, repr=False, eq=False)
class GuaranteedThreshold(Unpacked):
    """A threshold, the rates of calling scores at or above it positive, and what is promised of them.

    The first three can be unpacked as a tuple.

    Attributes
    ----------
    threshold : float
        The threshold.
    point : OperatingPoint
        Its rates on these samples, with their intervals at the level that was asked for.
    confidence : float
        That the rate of the population is at least the floor.
    rate : {"sensitivity", "specificity"}
        Which rate keeps the floor.
    floor : float
        The floor.
    """

    n_unpacked = 3

    threshold: float
    point: OperatingPoint
    confidence: float
    rate: str = "sensitivity"
    floor: float = 0.0

    def rows(self) -> list[dict[str, Any]]:
        (row,) = self.point.rows()
        return [{**row, "rate": self.rate, "floor": self.floor, "confidence": self.confidence}]

    def _promise(self) -> str:
        confidence = words.digits(100 * self.confidence, 1)
        return f"a {self.rate} of {self.floor:g} or more with a confidence of {confidence} %"

    def _lines(self) -> list[str]:
        return [f"threshold {self.threshold:.6g}: {self._promise()}", f"on these samples {self.point.said()}"]

    def _sentences(self, basis: str) -> list[str]:
        promise = f"Scores of {self.threshold:.6g} or more keep {self._promise()} ({basis})"
        return [promise, f"On these samples they have {self.point.said()}"]

    def _basis(self) -> list[str]:
        counted = words.samples(self.point.n_pos, self.point.n_neg, self.point.pos_label)
        return [f"order statistics, {REFERENCES['wilks'].short}", counted]

    def _sources(self) -> tuple[str, ...]:
        return "wilks", "wilson"


def guaranteed_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sensitivity: float | None = None,
    specificity: float | None = None,
    confidence_level: float = 0.95,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> GuaranteedThreshold:
    """Return the threshold that keeps a floor of the true sensitivity or specificity with a confidence.

    With ``s_(1) <= ... <= s_(m)`` the positives, the sensitivity of the population at ``s_(k)`` has a beta
    distribution with parameters ``m - k + 1`` and k, whatever the distribution of continuous scores (Wilks, 1941)
    [1]_. The threshold is the ``s_(k)`` of the greatest k with ``P(sensitivity >= floor) >= confidence_level``, so that
    no more of the other rate is given away than the confidence takes. For a floor of the specificity the same holds of
    the negatives below the threshold. With ties the promise holds all the more.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two values; see :func:`auc_inference`.
    y_score : array-like of shape (n_samples,)
        Finite scores; a score of at least the threshold is called positive.
    sensitivity, specificity : float in (0, 1), default=None
        The floor; exactly one of them.
    confidence_level : float, default=0.95
        Probability, over samples like these, that the rate of the population is at or above the floor.
    pos_label, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    GuaranteedThreshold
        The threshold, its :class:`OperatingPoint` on these samples, and the confidence that it has. O(n log n).

    Raises
    ------
    ValueError
        For bad labels or scores, and where no score of so few samples has that confidence.

    References
    ----------
    .. [1] S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics
       12, 1941. :doi:`10.1214/aoms/1177731788`

    Examples
    --------
    >>> from rocmax.metrics import guaranteed_threshold
    >>> found = guaranteed_threshold([0] * 50 + [1] * 50, range(100), sensitivity=0.9)
    >>> found.threshold, found.point.tpr, round(found.confidence, 3)
    (51.0, 0.98, 0.966)
    """
    if (sensitivity is None) == (specificity is None):
        raise ValueError(
            f"give sensitivity or specificity, got sensitivity={shown(sensitivity)} and"
            f" specificity={shown(specificity)}"
        )
    of_positives = sensitivity is not None
    name = "sensitivity" if of_positives else "specificity"
    floor = number(sensitivity if of_positives else specificity, name, "in (0, 1)", lambda value: 0.0 < value < 1.0)
    level = check_level(confidence_level)
    data = sample(y_true, y_score, pos_label=pos_label, n_jobs=n_jobs)
    explain(data)
    data = one_model(data)
    positive = positives(data)
    # Of negatives all is turned round: those below the threshold are what counts.
    kept = np.sort(data.score[positive] if of_positives else -data.score[~positive])
    size = len(kept)
    k = np.arange(1, size + 1)
    confidence = special.betaincc(size - k + 1, k, floor)
    held = np.flatnonzero(confidence >= level)
    if not len(held):
        needed = int(np.ceil(np.log1p(-level) / np.log(floor)))
        kind = "positive" if of_positives else "negative"
        raise ValueError(
            f"{name}={floor:g} cannot be promised with a confidence of {level:g} from {size} {kind} samples: it takes"
            f" {needed} of them"
        )
    last = int(held[-1])
    limit = float(kept[last])
    threshold = limit if of_positives else _above(-limit)
    point = operating_point(positive, data.score, threshold=threshold, confidence_level=level, n_jobs=n_jobs)
    point = replace(point, pos_label=data.pos_label)
    return GuaranteedThreshold(threshold, point, float(confidence[last]), name, floor)


def _above(score: float) -> float:
    """Return the least threshold that calls `score` negative."""
    return float(np.nextafter(score, np.inf))
