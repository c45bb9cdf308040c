"""The equal error rate of detection and verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.measures._cut import CutMeasure
from rocmax.metrics.measures._ranking import Ranking

if TYPE_CHECKING:
    from rocmax.metrics.intervals._inversion import Curves


@dataclass(frozen=True, repr=False)
class EqualErrorRate(CutMeasure):
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
    pooled: ClassVar[bool] = False
    lower_is_better: ClassVar[bool] = True

    def __str__(self) -> str:
        return "equal error rate"

    @property
    def short(self) -> str:
        return "EER"

    def crossing(self, ranking: Ranking) -> tuple[tuple[float, float], float]:
        m, n = ranking.sizes
        return (1.0 / m, 1.0 / n), 1.0

    def line(self, ranking: Ranking) -> tuple[float, float]:
        return 1.0, -1.0

    def rate_on(self, curves: Curves, ranking: Ranking) -> F64:
        from scipy import special  # takes a while to import

        return np.asarray(special.ndtr(curves.a / (1.0 + curves.b)))
