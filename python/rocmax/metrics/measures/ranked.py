"""Measures of a ranking: functions of the shares of either class at the distinct scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Gain, Law, Limits, stacked
from rocmax.metrics.measures._ranking import Ranking, centred_sums, of_totals_too, parts_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.samples._sample import Sample

if TYPE_CHECKING:
    from rocmax.metrics.intervals._inversion import Inverse

Counts = tuple[float, float]


@dataclass(frozen=True, repr=False)
class RankedMeasure(Measure):
    """A measure of a :class:`Ranking`."""

    monotone: ClassVar[bool] = True

    @property
    def traits(self) -> frozenset[Trait]:
        return frozenset({Trait.COMPONENTS, Trait.RANKING})

    def read(self, ranking: Ranking) -> float:
        """Return the value."""
        return _core.Curve.of_steps(ranking.score.astype(np.float64), ranking.pos, ranking.neg).measure(self.in_core)

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        """Return the components of both classes at every distinct score, for `counts` of samples behind the weights."""
        raise NotImplementedError

    def check(self, ranking: Ranking, name: str) -> None:
        """Raise an error for scores for which the measure is not defined; the caller calls them `name`."""

    def weights(self, sample: Sample) -> Ranking:
        """Return the weights at the distinct scores of one model, checked."""
        ranking = Ranking.of(sample)
        self.check(ranking, sample.score_name)
        return ranking

    def reachable(self, sizes: tuple[float, float]) -> tuple[float, float]:
        return self.bounds[0], self.bounds[1] if self.lower_is_better else self.of_two(1.0, sizes)

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return self.of_two(0.0, sizes)

    def value(self, sample: Sample) -> Any:
        return self.read(self.weights(sample)) if self.in_core is None else super().value(sample)

    def components(self, sample: Sample) -> Any:
        ranking = self.weights(sample)
        return ranking.place(sample, *self.parts(ranking, self.counts(sample, ranking)))

    def moments(self, sample: Sample) -> tuple[float, F64, F64]:
        ranking = self.weights(sample)
        return self.read(ranking), *centred_sums(self.parts(ranking, self.counts(sample, ranking)), ranking.masses)

    def counts(self, sample: Sample, ranking: Ranking) -> Counts:
        """Return the numbers of samples behind the weights."""
        return sample.effective


def of_inverses(found: Sequence[Inverse], bounds: tuple[float, float]) -> tuple[F64, F64, Limits]:
    """Return estimates, variances and limits from the confidence distribution of each model."""
    estimate, variance = np.array([[one.estimate(bounds), one.variance] for one in found]).T
    return estimate, variance, stacked([one.limits(bounds) for one in found])


@dataclass(frozen=True, repr=False)
class MeanMeasure(Measure):
    """A linear function of a mean over the positives of what each gains by its place in the ranking."""

    def gain(self, prevalence: float, width: float) -> Gain:
        """Return the gain, a share; `width` is the share of the samples that a positive stands for, 0 on curves."""
        raise NotImplementedError

    def near(self, sizes: Counts) -> float:
        """Return how many samples of a class show the slope of the curve where the measure reads it."""
        return min(sizes)

    def line(self, prevalence: float) -> tuple[float, float]:
        """Return the value at a mean of 0, and how it grows with the mean."""
        return 0.0, 1.0

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        from rocmax.metrics.intervals import _inversion as inversion
        from rocmax.metrics.intervals._score import slope_of

        # So that value, moments and slope of a model share one sort.
        models = [one if one.kept and one.kept.fits(one) else one.scored(one.score) for one in sample.models()]
        known = min(sizes) >= 2
        moments = [self.moments(one)[:2] if known else (float(self.value(one)), None) for one in models]
        slopes = [slope_of(one, self.near(sizes)) for one in models]
        m, n = sample.totals
        prevalence = m / (m + n)
        shift, scale = self.line(prevalence)
        shares = [min(max((value - shift) / scale, 0.0), 1.0) for value, _ in moments]
        # Of the samples a positive is a share; a curve has none.
        gains = self.gain(prevalence, prevalence / inversion.whole(sizes[0])), self.gain(prevalence, 0.0)
        tables = inversion.at_mean(gains, shares, slopes, sizes, sample.threads)
        found = [
            inversion.Inverse(share, table, Law(min(sizes) + inversion.PRIOR), shift, scale)
            for share, table in zip(shares, tables, strict=True)
        ]
        if known:  # the variance of the components is taken into account
            added = of_totals_too(self, sample)
            variances = [sum(parts_of(squares, sample.totals, sizes)) for _, squares in moments]
            found = [
                one.widened(max(each), min(sizes)) for one, *each in zip(found, variances, added.tolist(), strict=True)
            ]
        return of_inverses(found, self.bounds)
