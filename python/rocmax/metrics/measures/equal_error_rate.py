"""The equal error rate of detection and verification."""

from dataclasses import dataclass
from typing import ClassVar

from rocmax._checks.samples import F64
from rocmax.metrics.measures._cut import Cut, cut_of
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures._spread import Spread, wilson
from rocmax.metrics.measures.ranked import Counts, RankedMeasure


@dataclass(frozen=True, repr=False)
class EqualErrorRate(RankedMeasure):
    """Equal error rate: the false positive rate at the point of the ROC curve where it equals the false negative rate.

    It is where the curve, with straight lines between its points, crosses the diagonal from (0, 1) to (1, 0). Lower is
    better, and 0.5 is chance. O(n log n).

    With r the share of the positives' density in the sum of both densities there, estimated as in :class:`RecallAt`,
    the components are ``-(1 - r) 1[s_i above]`` of a positive and ``r 1[t_j above]`` of a negative.

    Examples
    --------
    >>> from rocmax.metrics import EqualErrorRate
    >>> EqualErrorRate()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """

    name: ClassVar[str] = "equal_error_rate"
    bounds = 0.0, 1.0
    lower_is_better: ClassVar[bool] = True

    def __str__(self) -> str:
        return "equal error rate"

    @property
    def short(self) -> str:
        return "EER"

    def read(self, ranking: Ranking) -> float:
        at = _cut(ranking, ranking.sizes)
        return (at.fpr + 1.0 - at.tpr) / 2

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        at = _cut(ranking, counts)
        return -(1.0 - at.near) * at.above, at.near * at.above

    def spread(self, ranking: Ranking, counts: Counts) -> Spread:
        """Return the spread ``e (1 - e) ((1 - r)^2 / m + r^2 / n)`` of the rate e."""
        at = _cut(ranking, counts)
        return wilson((at.fpr + 1.0 - at.tpr) / 2, ((1.0 - at.near) ** 2, at.near**2), counts)


def _cut(ranking: Ranking, counts: Counts) -> Cut:
    """Cut a ranking where both error rates are equal."""
    m, n = ranking.sizes
    return cut_of(ranking, (1.0 / m, 1.0 / n), 1.0, counts, pooled=False)
