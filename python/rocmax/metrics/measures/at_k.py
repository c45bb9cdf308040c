"""Precision and recall among the k highest scores (an alert budget)."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics.measures._cut import Cut, cut_of
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures._spread import Spread
from rocmax.metrics.measures.ranked import Counts, RankedMeasure


@dataclass(frozen=True, repr=False)
class _AtK(RankedMeasure):
    """The recall among the k highest scores, times a factor."""

    bounds = 0.0, 1.0
    k: Any

    def __post_init__(self) -> None:
        k = self.k
        if isinstance(k, Integral) and not isinstance(k, bool | np.bool_):
            if k < 1:
                raise ValueError(f"k must be a whole number of at least 1 or a share in (0, 1), got {shown(k)}")
            object.__setattr__(self, "k", int(k))
            return
        kind = "in (0, 1), or a whole number (an integer) of at least 1"
        self._read_number("k", kind, lambda value: 0.0 < value < 1.0)

    def __str__(self) -> str:
        what = self.name.removesuffix("_at")
        if isinstance(self.k, int):
            return f"{what} among the {self.k:,} highest scores" if self.k > 1 else f"{what} at the highest score"
        return f"{what} among the highest {100 * self.k:g} %"

    @property
    def short(self) -> str:
        return f"{self.name.removesuffix('_at')}@{self.k if isinstance(self.k, int) else f'{100 * self.k:g}%'}"

    def alerts(self, ranking: Ranking) -> float:
        """Return the weight of the samples above the cut."""
        total = sum(ranking.sizes)
        if not isinstance(self.k, int):
            return float(self.k) * total
        if self.k > total * (1 + 1e-9):
            raise ValueError(f"k={self.k} is more than the samples, of which there are {total:g}; choose a smaller k")
        return min(float(self.k), total)

    def scale(self, ranking: Ranking) -> float:
        """Return what the recall is multiplied by."""
        return 1.0

    def read(self, ranking: Ranking) -> float:
        return min(cut(ranking, self.alerts(ranking), ranking.sizes).tpr * self.scale(ranking), 1.0)

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        scale, (of_pos, of_neg) = self.scale(ranking), recall_parts(ranking, self.alerts(ranking), counts)
        return scale * of_pos, scale * of_neg

    def spread(self, ranking: Ranking, counts: Counts) -> Spread:
        return recall_spread(ranking, self.alerts(ranking), counts).moved(0.0, self.scale(ranking))


@dataclass(frozen=True, repr=False)
class RecallAt(_AtK):
    """Recall (true positive rate) of the k highest scores: the share of the positives that k alerts find.

    All orders of tied scores are equally likely: if x of t tied samples, p of them positive, are among the first k,
    they add the expectation ``p x / t``. O(n log n).

    The samples set the cut. With r the share of positives near it and pi the prevalence, the components are
    ``(1 - r) 1[s_i above]`` of a positive and ``-r (1 - pi) / pi 1[t_j above]`` of a negative. r is estimated from the
    samples within two standard errors of the cut, and shrunk as if by four samples towards its value for normal scores
    with equal variances.

    Parameters
    ----------
    k : int or float
        A number of samples if an integer of at least 1, a share of the samples if in (0, 1). The weights of the k
        highest scores add up to k.

    Examples
    --------
    >>> from rocmax.metrics import RecallAt
    >>> RecallAt(2)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    name: ClassVar[str] = "recall_at"


@dataclass(frozen=True, repr=False)
class PrecisionAt(_AtK):
    """Precision (positive predictive value) among the k highest scores: the share of k alerts that are positive.

    With the class sizes fixed, it and its components are ``m / k`` times those of :class:`RecallAt`, for m positives;
    ties count as there. O(n log n).

    Parameters
    ----------
    k : int or float
        As in :class:`RecallAt`.

    Examples
    --------
    >>> from rocmax.metrics import PrecisionAt
    >>> PrecisionAt(3)([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.3])
    0.6666666666666666
    """

    name: ClassVar[str] = "precision_at"

    def scale(self, ranking: Ranking) -> float:
        return ranking.sizes[0] / self.alerts(ranking)


def cut(ranking: Ranking, alerts: float, counts: Counts) -> Cut:
    """Cut a ranking where the weight of the samples reaches a number."""
    return cut_of(ranking, (1.0, 1.0), alerts, counts, pooled=True)


def recall_parts(ranking: Ranking, alerts: float, counts: Counts) -> tuple[F64, F64]:
    """Return the components of the recall for the positives and the negatives at every distinct score."""
    at, pi = cut(ranking, alerts, counts), ranking.prevalence
    return (1.0 - at.near) * at.above, -at.near * (1.0 - pi) / pi * at.above


def recall_spread(ranking: Ranking, alerts: float, counts: Counts) -> Spread:
    """Return the spread of the recall R.

    With F the false positive rate at the cut, ``pi R + (1 - pi) F = alerts / N``, its variance is
    ``(1 - r)^2 R (1 - R) / m + (r (1 - pi) / pi)^2 F (1 - F) / n``, in which F is a linear function of R.
    """
    at, pi = cut(ranking, alerts, counts), ranking.prevalence
    m, n = counts
    odds = pi / (1.0 - pi)
    own, other = (1.0 - at.near) ** 2 / m, (at.near / odds) ** 2 / n
    whole = alerts / ranking.sizes[1]  # F = whole - odds R
    c0 = other * whole * (1.0 - whole)
    c1 = own + other * odds * (2.0 * whole - 1.0)
    c2 = -own - other * odds**2
    bounds = max(0.0, (whole - 1.0) / odds), min(1.0, whole / odds)
    return Spread(at.tpr, (c0, c1, c2), bounds=bounds)
