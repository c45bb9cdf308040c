"""Precision and recall among the k highest scores (an alert budget)."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from rocmax._parameters import shown
from rocmax.metrics.measures._cut import CutMeasure
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.base import Deciding
from rocmax.metrics.measures.ranked import Counts


@dataclass(frozen=True, repr=False)
class _AtK(CutMeasure):
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

    def alerts(self, sizes: Counts) -> float:
        total = sum(sizes)
        return min(float(self.k), total) if isinstance(self.k, int) else self.k * total

    def check(self, ranking: Ranking, name: str) -> None:
        total = sum(ranking.sizes)
        if isinstance(self.k, int) and self.k > total * (1 + 1e-9):
            raise ValueError(f"k={self.k} is more than the samples, of which there are {total:g}; choose a smaller k")

    def deciding(self, sizes: Counts) -> Deciding:
        return super().deciding(sizes)[0], (self.alerts(sizes), "samples above the cut")


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

    def line(self, ranking: Ranking) -> tuple[float, float]:
        return 0.0, ranking.sizes[0] / self.alerts(ranking.sizes)
