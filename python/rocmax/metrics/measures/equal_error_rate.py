"""The equal error rate: the false positive rate F at the point of the ROC curve where ``F = 1 - R``.

The curve has straight lines between its points, one a distinct score. With r the share of the positives' density in the
sum of both densities there, the rate has the components ``-(1 - r) 1[s_i above]`` and ``r 1[t_j above]``.
"""

from __future__ import annotations

from rocmax._typing import F64
from rocmax.metrics.measures._cut import Cut, cut_of
from rocmax.metrics.measures._ranking import Ranking


def cut(ranking: Ranking, counts: tuple[float, float] | None = None) -> Cut:
    """Cut a ranking where both error rates agree."""
    return cut_of(ranking, (1.0, 1.0), 1.0, counts or ranking.sizes, pooled=False)


def value(ranking: Ranking) -> float:
    """Return the equal error rate. O(n) after the sort."""
    at = cut(ranking)
    return (at.fpr + 1.0 - at.tpr) / 2


def components(ranking: Ranking, counts: tuple[float, float] | None = None) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score."""
    at = cut(ranking, counts)
    return -(1.0 - at.near) * at.above, at.near * at.above
