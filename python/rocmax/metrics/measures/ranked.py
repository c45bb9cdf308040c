"""Measures of a ranking: functions of the shares of either class at the distinct scores."""

from dataclasses import dataclass
from typing import Any, ClassVar

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits
from rocmax.metrics.measures._ranking import Ranking, centred_sums
from rocmax.metrics.measures._spread import Spread, limits_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.samples._sample import Sample

Counts = tuple[float, float]


@dataclass(frozen=True, repr=False)
class RankedMeasure(Measure):
    """A measure of a :class:`Ranking`; with :meth:`spread` it has a score interval."""

    monotone: ClassVar[bool] = True
    traits = frozenset({Trait.COMPONENTS, Trait.SPREAD})

    def read(self, ranking: Ranking) -> float:
        """Return the value."""
        raise NotImplementedError

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        """Return the components of the positives and of the negatives at every distinct score.

        `counts` are the numbers of samples behind the weights.
        """
        raise NotImplementedError

    def spread(self, ranking: Ranking, counts: Counts) -> Spread:
        """Return the value, and its variance as a function of the true value."""
        raise NotImplementedError

    def check(self, ranking: Ranking, name: str) -> None:
        """Raise an error for scores for which the measure is not defined; the caller calls them `name`."""

    def weights(self, sample: Sample) -> Ranking:
        """Return the weights at the distinct scores of one model, checked."""
        ranking = Ranking.of_weights(sample)
        self.check(ranking, sample.names[1])
        return ranking

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return self.of_constant(sizes)

    def value(self, sample: Sample) -> Any:
        return self.read(self.weights(sample))

    def components(self, sample: Sample) -> Any:
        ranking = Ranking.of(sample.positive, sample.score, sample.weight)
        self.check(ranking, sample.names[1])
        return ranking.place(*self.parts(ranking, sample.effective))

    def moments(self, sample: Sample) -> tuple[float, F64, F64]:
        ranking = self.weights(sample)
        return self.read(ranking), *centred_sums(self.parts(ranking, sample.effective), ranking.masses)

    def score_interval(self, sample: Sample, counts: Counts) -> tuple[F64, F64, Limits]:
        """Return the estimates of all models, their variances and the limits of the score interval."""
        found = [self.spread(self.weights(one), counts) for one in sample.models()]
        return limits_of(found, self.bounds)
