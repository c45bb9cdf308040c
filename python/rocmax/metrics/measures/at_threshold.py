"""Rates, what is made of them, and the net benefit, at a fixed threshold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import check_choice
from rocmax.metrics.intervals._interval import Law, Limits, of_models, of_rates, of_share
from rocmax.metrics.intervals._score import prevalence_size
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait
from rocmax.metrics.measures.cuts import TooFewSamples
from rocmax.metrics.measures.ranked import Counts, RankedMeasure
from rocmax.metrics.samples._sample import Sample

_STEP = 1e-30  # of derivatives by complex numbers, which are exact to the last digits
_PRIOR = 5.0  # degrees of freedom beside those of the smaller class
_ONE = 0.5  # samples that are added to either side of a rate, where it decides a size
_FARTHEST = 40.0  # standard errors


def _agreement(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return tp * tn - fp * fn


#: The measures of the weights of true and false positives, false and true negatives.
FORMULAS: dict[str, Callable[..., Any]] = {
    "sensitivity": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (fp + tn),
    "ppv": lambda tp, fp, fn, tn: tp / (tp + fp),
    "npv": lambda tp, fp, fn, tn: tn / (fn + tn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "selected": lambda tp, fp, fn, tn: (tp + fp) / (tp + fp + fn + tn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (fp + tn)) / 2,
    "mcc": lambda tp, fp, fn, tn: _agreement(tp, fp, fn, tn) / np.sqrt((tp + fp) * (tp + fn) * (fp + tn) * (fn + tn)),
    "kappa": lambda tp, fp, fn, tn: 2 * _agreement(tp, fp, fn, tn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)),
}
#: Which of the four are the samples that each of the first is a share of.
KINDS = {
    "sensitivity": (1, 0, 1, 0),
    "specificity": (0, 1, 0, 1),
    "ppv": (1, 1, 0, 0),
    "npv": (0, 0, 1, 1),
    "accuracy": (1, 1, 1, 1),
    "selected": (1, 1, 1, 1),
    "f1": (1, 1, 1, 0),  # of F1 / (2 - F1)
}
_WORDS = {"ppv": "PPV", "npv": "NPV", "selected": "share selected", "f1": "F1", "mcc": "MCC"}
_OF_CHANCE = {"balanced_accuracy": 0.5, "mcc": 0.0, "kappa": 0.0}


@dataclass(frozen=True, repr=False)
class AtThreshold(Measure):
    """Sensitivity, predictive value, accuracy and the like at a fixed threshold.

    Use it if the threshold was fixed before the samples were seen; :func:`operating_point` chooses one.

    >>> from rocmax.metrics import AtThreshold, infer
    >>> AtThreshold("ppv", 0.4)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    >>> print(infer([0] * 40 + [1] * 20, [*range(60)], AtThreshold("sensitivity", 45)))
    sensitivity at threshold 45 = 0.750 [0.531, 0.888] (95 % CI)
    score interval; 20 positive, 40 negative samples

    Parameters
    ----------
    name : {"sensitivity", "specificity", "ppv", "npv", "accuracy", "balanced_accuracy", "f1", "mcc", "kappa", \
"selected"}
        The measure; "selected" is the share of the samples that are called positive.
    threshold : float
        The threshold.

    Notes
    -----
    A sample is called positive if its score is at least the threshold, compared as in :func:`operating_point`. With the
    weights TP, FP, FN and TN of true and false positives, false and true negatives: sensitivity ``TP / (TP + FN)``,
    specificity ``TN / (FP + TN)``, PPV ``TP / (TP + FP)``, NPV ``TN / (FN + TN)``, accuracy and share selected
    ``(TP + TN) / N`` and ``(TP + FP) / N`` of all N, F1 ``2 TP / (2 TP + FP + FN)``, balanced accuracy the mean of
    sensitivity and specificity, MCC ``(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(FP + TN)(FN + TN))`` and Cohen's kappa
    ``2 (TP TN - FP FN) / ((TP + FP)(FP + TN) + (TP + FN)(FN + TN))``. O(n).

    The class sizes are taken as drawn with the samples where a measure depends on the prevalence; for a comparison of
    models it makes no difference. Intervals are Wilson's, of as many samples as the measure is a share of (F1 by ``F1
    / (2 - F1)``, which is a share), with clusters or sampling weights of ``n = p (1 - p) / V`` samples: V the variance
    of the measure p by the delta method, both at rates with half a sample added to either side. Balanced accuracy, MCC
    and kappa combine Wilson's intervals of both rates and of the prevalence (MOVER: Zou and Donner, 2008), with
    Student's t of ``min(m, n) + 5`` degrees of freedom. ``compare(..., method="mcnemar")`` tests sensitivity,
    specificity and accuracy exactly.
    """

    traits = frozenset({Trait.COMPONENTS, Trait.THRESHOLD})
    of_samples: ClassVar[bool] = True
    name: str = field()  # type: ignore[misc]
    threshold: float

    def __post_init__(self) -> None:
        check_choice("name", self.name, (*FORMULAS,))
        self._read_number("threshold", "that is finite", np.isfinite)

    @property
    def as_rate(self) -> str:  # type: ignore[override]
        return self.name if self.name in KINDS and self.name != "f1" else ""

    @property
    def score_references(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("wilson",) if self.name in KINDS else ("wilson", "zou")

    @property
    def bounds(self) -> tuple[float, float]:
        return (-1.0 if self.name in ("mcc", "kappa") else 0.0), 1.0

    @property
    def parameters(self) -> dict[str, Any]:
        return {"measure": self.name, "threshold": self.threshold}

    def __str__(self) -> str:
        return f"{_WORDS.get(self.name, self.name.replace('_', ' '))} at threshold {self.threshold:.6g}"

    @property
    def short(self) -> str:
        return str(self).replace("threshold ", "")

    def called(self, sample: Sample) -> Any:
        """Mark the samples of one model that are called positive."""
        return sample.score >= sample.score.dtype.type(-self.threshold if sample.lower else self.threshold)

    def calls(self, sample: Sample) -> F64:
        """Return the weights of true and false positives, false and true negatives of one model."""
        kind = 2 * ~self.called(sample) + ~sample.positive
        return np.bincount(kind, sample.weight, 4).astype(np.float64)

    def value(self, sample: Sample) -> Any:
        return self._of(self.calls(sample))

    def _of(self, calls: Any) -> Any:
        """Return the value for the four weights; that of chance where MCC is 0 / 0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value = FORMULAS[self.name](*calls)
        if np.isfinite(value):
            return value
        if self.name in ("ppv", "npv"):
            side = "positive" if self.name == "ppv" else "negative"
            raise TooFewSamples(f"{self} is not defined: no sample is called {side}")
        return 0.0

    def slopes(self, calls: Any) -> F64:
        """Return the derivatives by the four weights."""
        return np.array([np.imag(self._of(calls + _STEP * 1j * unit)) for unit in np.eye(4)]) / _STEP

    def components(self, sample: Sample) -> Any:
        calls = self.calls(sample)
        tp, fp, fn, tn = self.slopes(calls)
        of_rates = (tp - fn) * (calls[0] + calls[2]), (fp - tn) * (calls[1] + calls[3])
        return self.called(sample) * np.where(sample.positive, *of_rates)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        calls = self.calls(sample)
        change = self.slopes(calls) * calls
        return float(change[0] + change[2]), float(change[1] + change[3])

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        own, other = super().limiting_sizes(sizes)
        return {"sensitivity": (own, own), "specificity": (other, other)}.get(self.name, (own, other))

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return _OF_CHANCE.get(self.name)

    def score_interval(self, sample: Sample, sizes: tuple[float, float]) -> tuple[F64, F64, Limits]:
        return of_models([self._interval(one, sizes) for one in sample.models()])

    def _interval(self, one: Sample, sizes: tuple[float, float]) -> tuple[float, float, Limits]:
        calls = self.calls(one)
        value, design = float(self._of(calls)), sizes != one.totals
        low, high = self.bounds
        size = self._size(calls, sizes) if design or self.name not in KINDS else float(np.dot(KINDS[self.name], calls))
        law = Law(size) if design else None
        if self.name not in KINDS:
            return value, (value - low) * (high - value) / size, self._of_rates(calls, sizes)
        share = value / (2.0 - value) if self.name == "f1" else value
        limits, variance = of_share(np.array([share]), size, self.bounds, law), share * (1.0 - share) / size
        if self.name != "f1":
            return value, variance, limits

        def ends(z: Any) -> tuple[F64, F64]:
            low, high = (2.0 * end / (1.0 + end) for end in limits.ends(z))
            return np.minimum(low, value), np.maximum(high, value)

        moved = Limits(ends, lambda null: limits.tails(null / (2.0 - null)))
        return value, variance * (2.0 / (1.0 + share) ** 2) ** 2, moved

    def _of_rates(self, calls: F64, sizes: tuple[float, float]) -> Limits:
        """Return the limits by those of both rates and of the prevalence (MOVER)."""
        totals = calls.reshape(2, 2).sum(axis=0)
        point = (*(calls[:2] / totals), totals[0] / totals.sum())

        def at(tpr: Any, fpr: Any, share: Any) -> Any:
            calls = share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr)
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.nan_to_num(FORMULAS[self.name](*calls))

        return of_rates(at, point, (*sizes, sum(sizes)), self.bounds, Law(min(sizes) + _PRIOR))

    def _size(self, calls: F64, sizes: tuple[float, float]) -> float:
        """Return how many samples vary as much as the measure moved to [0, 1], given the sizes of both classes."""
        totals = calls.reshape(2, 2).sum(axis=0)
        share = totals / totals.sum()
        rates = (calls[:2] / totals * sizes + _ONE) / (np.array(sizes) + 2 * _ONE)
        moved = np.concatenate([share * rates, share * (1.0 - rates)])
        value, slopes = float(self._of(moved)), self.slopes(moved)
        change = ((slopes[:2] - slopes[2:]) * share) ** 2 * rates * (1.0 - rates)
        change += ((slopes * moved).reshape(2, 2).sum(axis=0)) ** 2
        variance, (low, high) = float((change / sizes).sum()), self.bounds
        if self.name == "f1":
            variance, value = variance * (2.0 / (2.0 - value) ** 2) ** 2, value / (2.0 - value)
        return (value - low) * (high - value) / variance


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
    has_chance: ClassVar[bool] = False
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
            got = f"got scores from {least:.10g} to {most:.10g} (negated if higher_is_better=False: pass 1 - p)"
            raise ValueError(f"{name} must be probabilities for the net benefit, {got}")

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
        change = (1.0 - ranking.prevalence) * gain * tpr - ranking.prevalence * loss * fpr
        return change, -change

    def scorer(self, *, pos_label: Any = None, response_method: Any = "predict_proba") -> Any:
        return super().scorer(pos_label=pos_label, response_method=response_method)

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        return of_models([self._of_model(one, sizes) for one in sample.models()])

    def _of_model(self, one: Sample, sizes: tuple[float, ...]) -> tuple[float, float, Limits]:
        ranking = self.weights(one)
        rates: tuple[float, ...] = self._rates(ranking)
        parts = zip(self._gains(ranking), rates, sizes, strict=True)
        variance = sum(gain**2 * rate * (1.0 - rate) / max(size - 1.0, 1.0) for gain, rate, size in parts)
        pi = ranking.prevalence if self.prevalence is None else self.prevalence
        if one.weight is not None and one.weight_kind == "sampling" and self.prevalence is None:
            size = prevalence_size(one)
            variance += (self.by_totals(one)[0] / (pi * (1.0 - pi))) ** 2 * pi * (1.0 - pi) / size
            rates, sizes = (*rates, pi), (*sizes, size)

        def at(tpr: Any, fpr: Any, share: Any = pi) -> Any:
            return share * tpr - (1.0 - share) * self.threshold / (1.0 - self.threshold) * fpr

        return self.read(ranking), variance, of_rates(at, rates, sizes, self.bounds, farthest=_FARTHEST)
