"""The largest difference of both rates: Youden's index, and the statistic of Kolmogorov and Smirnov."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.ranked import Counts, RankedMeasure, of_inverses
from rocmax.metrics.samples._sample import Sample


@dataclass(frozen=True, repr=False)
class YoudenIndex(RankedMeasure):
    """Youden's index, ``max_c TPR(c) - FPR(c)`` over all thresholds c.

    At its maximum a difference does not change with the threshold, so that the components are those of a fixed one:
    ``1[s_i >= c]`` of a positive and ``-1[t_j >= c]`` of a negative. The maximum over few samples is too high on
    average. By default intervals correct this: they are those of :class:`Score` by draws from binormal curves. A draw
    reaches x on the first curve on which, for some c, its c-th positive scores above its r-th negative,
    ``r = floor(n (c / m - x)) + 1``. O(n log n).
    """

    name: ClassVar[str] = "youden"
    bounds = 0.0, 1.0

    def __repr__(self) -> str:
        return repr(self.name)

    def __str__(self) -> str:
        return "Youden's J"

    def _best(self, ranking: Ranking) -> tuple[int, float]:
        """Return the place of the best threshold among the distinct scores, and the difference of the rates."""
        apart = np.subtract(*map(np.cumsum, ranking.shares()))
        place = int(np.argmax(apart))
        return place, min(float(apart[place]), 1.0)

    def read(self, ranking: Ranking) -> float:
        return max(self._best(ranking)[1], 0.0)

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        above = (np.arange(len(ranking.score)) <= self._best(ranking)[0]).astype(np.float64)
        return above, -above

    def chance(self, sizes: Counts) -> float | None:
        return None  # no sample is below it

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        from rocmax.metrics.intervals import _inversion as inversion
        from rocmax.metrics.intervals._score import slope_of  # scipy takes a while to import

        def inverse(one: Sample) -> inversion.Inverse:
            value = self.read(self.weights(one))
            first, last = inversion.at_difference(value, slope_of(one, min(sizes)), sizes)
            table = _core.share_table(inversion.difference_on(first), inversion.difference_on(last))
            return inversion.Inverse(value, table)

        return of_inverses([inverse(one) for one in sample.models()], self.bounds)

    by_totals = Measure.by_totals  # a point of the curve


@dataclass(frozen=True, repr=False)
class KolmogorovSmirnov(YoudenIndex):
    """The same by its name in credit scoring."""

    name: ClassVar[str] = "ks"

    def __str__(self) -> str:
        return "KS"
