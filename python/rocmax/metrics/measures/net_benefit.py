"""The net benefit of acting at a threshold of the predicted probability."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Limits, dual, wilson, within
from rocmax.metrics.intervals._units import prevalence_size
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.ranked import Counts, RankedMeasure
from rocmax.metrics.samples._sample import Sample

_FARTHEST = 40.0  # standard errors


@dataclass(frozen=True, repr=False)
class NetBenefit(RankedMeasure):
    """Net benefit of acting on every sample whose score, a probability, is at least t (Vickers and Elkin, 2006).

    Use it if the scores are probabilities and a false positive has a known cost, relative to a true one.

    >>> from rocmax.metrics import NetBenefit
    >>> round(NetBenefit(0.2)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.4375

    Parameters
    ----------
    threshold : float in (0, 1)
        The probability t from which on one acts: a false positive costs ``t / (1 - t)`` times the gain of a true one.
        Scores are compared with it as by :func:`operating_point`. A grid from ``np.arange(0.01, 1, 0.01)``
        misses scores that equal its thresholds but for rounding; ``np.arange(1, 100) / 100`` does not.
    prevalence : float in (0, 1), default=None
        As in :class:`AveragePrecision`.

    Notes
    -----
    ``NB = pi TPR - (1 - pi) FPR t / (1 - t)`` with both rates at the threshold t and pi the prevalence: the true
    positives per sample, less the false positives at the odds of t. Acting on nobody gives 0, acting on everybody
    ``pi - (1 - pi) t / (1 - t)`` [1]_. O(n log n).

    Variances and intervals treat the prevalence as fixed, unless sampling weights estimate it. The components are
    ``pi 1[s_i >= t]`` of a positive and ``-(1 - pi) t / (1 - t) 1[t_j >= t]`` of a negative. The score interval
    combines those of Wilson for both rates (Zou and Donner, 2008) [2]_: with their limits l and u, the lower limit is
    ``NB - sqrt((pi (TPR - l))^2 + ((1 - pi) t / (1 - t) (u - FPR))^2)``, the upper one likewise. With sampling
    weights the limits of pi add a third square.

    References
    ----------
    .. [1] A. J. Vickers and E. B. Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
       Medical Decision Making 26, 2006. :doi:`10.1177/0272989X06295361`
    .. [2] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
       Statistics in Medicine 27, 2008. :doi:`10.1002/sim.3095`
    """

    name: ClassVar[str] = "net_benefit"
    score_references = "wilson", "zou"
    chance = Measure.chance
    threshold: float
    prevalence: float | None = None

    def __post_init__(self) -> None:
        for name in ("threshold",) if self.prevalence is None else ("threshold", "prevalence"):
            self._read_number(name, "in (0, 1)", lambda value: 0.0 < value < 1.0)

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.threshold / (1.0 - self.threshold), 1.0

    def __str__(self) -> str:
        at = "" if self.prevalence is None else f", prevalence {self.prevalence:g}"
        return f"net benefit at {self.threshold:g}{at}"

    def check(self, ranking: Ranking, name: str) -> None:
        least, most = float(ranking.score.min()), float(ranking.score.max())
        if least < 0.0 or most > 1.0:
            got = f"{least:.10g} to {most:.10g}"
            if least >= -1.0 and most <= 0.0:  # negated by higher_is_better=False
                got = f"{0.0 - most:.10g} to {0.0 - least:.10g}, lower ones for positives; pass 1 - p"
            raise ValueError(f"{name} must be probabilities for the net benefit, got scores from {got}")

    def _gains(self, ranking: Ranking) -> tuple[float, float]:
        """Return the factors of both rates."""
        pi = ranking.prevalence if self.prevalence is None else self.prevalence
        return pi, -(1.0 - pi) * self.threshold / (1.0 - self.threshold)

    def _rates(self, ranking: Ranking) -> tuple[float, float]:
        called = ranking.score >= self.threshold
        a, b = (min(float(part[called].sum()), 1.0) for part in ranking.shares())
        return a, b

    def read(self, ranking: Ranking) -> float:
        (gain, loss), (tpr, fpr) = self._gains(ranking), self._rates(ranking)
        return gain * tpr + loss * fpr  # numpy.dot rounds otherwise on some processors

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        called = (ranking.score >= self.threshold).astype(np.float64)
        gains = self._gains(ranking)
        return gains[0] * called, gains[1] * called

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        if self.prevalence is not None:
            return 0.0, 0.0
        ranking = self.weights(sample)
        (gain, loss), (tpr, fpr) = self._gains(ranking), self._rates(ranking)
        found = (1.0 - ranking.prevalence) * gain * tpr - ranking.prevalence * loss * fpr
        return found, -found

    def scorer(self, *, pos_label: Any = None, response_method: Any = "predict_proba") -> Any:
        return super().scorer(pos_label=pos_label, response_method=response_method)

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        rankings = [self.weights(one) for one in sample.models()]
        gains = np.array([self._gains(ranking) for ranking in rankings]).T
        rates = np.array([self._rates(ranking) for ranking in rankings]).T
        counts = np.array(sizes)[:, None]
        estimate = (gains * rates).sum(axis=0)
        variance = (gains**2 * rates * (1.0 - rates) / np.maximum(counts - 1.0, 1.0)).sum(axis=0)
        moved = None
        if sample.weight is not None and sample.weight_kind == "sampling" and self.prevalence is None:
            m, n = sample.totals
            pi, size = m / (m + n), prevalence_size(sample)
            slope = np.array([self.by_totals(one)[0] for one in sample.models()]) / (pi * (1.0 - pi))
            moved, variance = (pi, slope, size), variance + slope**2 * pi * (1.0 - pi) / size

        def ends(z: Any) -> tuple[F64, F64]:
            down, up = [], []
            for gain, rate, size in zip(gains, rates, counts, strict=True):
                low, high = wilson(rate * size, size, z)
                down.append(np.where(gain > 0, rate - low, high - rate) * gain)
                up.append(np.where(gain > 0, high - rate, rate - low) * gain)
            if moved is not None:  # as in a sum of three shares
                pi, slope, size = moved
                low, high = wilson(pi * size, size, z)
                down.append(slope * np.where(slope > 0, pi - low, pi - high))
                up.append(slope * np.where(slope > 0, high - pi, low - pi))
            return estimate - np.sqrt(sum(part**2 for part in down)), estimate + np.sqrt(sum(part**2 for part in up))

        return estimate, variance, Limits(ends, within(*self.bounds, dual(estimate, ends, _FARTHEST)))
