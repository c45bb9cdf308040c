"""One rate at the threshold that the other rate sets, and the largest difference of both: Youden's index."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics._words import rate
from rocmax.metrics.intervals import _inversion as inversion, _rate as of_rate
from rocmax.metrics.intervals._interval import Limits, counted
from rocmax.metrics.intervals._score import slope_of
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait, values_of
from rocmax.metrics.measures.ranked import Counts, RankedMeasure, of_inverses
from rocmax.metrics.samples._sample import Sample

_EXCEED = 30


@dataclass(frozen=True, repr=False)
class Rate(CurveMeasure):
    """Base of both rates; `fixed` names the rate that sets the threshold."""

    name: ClassVar[str] = ""
    reference: ClassVar[str] = "linnet"
    traits = frozenset({Trait.COMPONENTS, Trait.RATE})
    bounds = 0.0, 1.0
    fixed: ClassVar[str] = ""  # "fpr" or "tpr"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mirrored:
            self._read_number(self.fixed, "in (0, 1]", lambda value: 0.0 < value <= 1.0)
        else:
            self._read_number(self.fixed, "in [0, 1)", lambda value: 0.0 <= value < 1.0)

    def at(self, rate: float) -> _core.Measure:
        """Return the core's measure at a rate."""
        measure: _core.Measure = getattr(_core.Measure, self.name)(rate)
        return measure

    @property
    def mirrored(self) -> bool:
        return self.fixed == "tpr"

    @property
    def low(self) -> float:
        return float(getattr(self, self.fixed))

    def __str__(self) -> str:
        return f"{rate(self.as_rate).name} at {rate(self.fixed).of(self.low)}"

    @property
    def at_edge(self) -> bool:
        """Whether the threshold lies beyond every sample of the class that sets it."""
        return self.low in (0.0, 1.0)

    @property
    def in_core(self) -> _core.Measure:
        return self.at(self.low)

    def reader(self, sample: Sample) -> Callable[[float], F64]:
        """Return the measure of every model as a function of the fixed rate."""
        return lambda x: values_of(sample, self.at(x))

    def score_interval(self, sample: Sample, sizes: tuple[float, float]) -> tuple[F64, F64, Limits]:
        thresholds: list[float] = []

        def curves() -> Iterator[_core.Curve]:
            for one in sample.models():
                curve = one.curve()
                thresholds.append(self.threshold_of(curve))  # or the scores would be sorted again
                yield curve

        interval = of_rate.score(self.reader(sample), curves(), self.low, self.mirrored, sizes, sample.threads)
        sample.once(("thresholds", self), lambda: thresholds)
        return interval

    def slopes(self, sample: Sample) -> tuple[F64, F64]:
        return of_rate.slopes(self.reader(sample), self.low, self.mirrored, sample.effective)

    def of_pairs(self, sample: Sample) -> F64:
        """Return which positives are called, and which negatives exceed a threshold that at least so many exceed.

        With the classes exchanged, likewise. One or two negatives beyond the threshold show no variance.
        """
        called = sample.score >= self.threshold_of(sample.curve())
        setting = ~called if self.mirrored else called
        rows = sample.positive if self.mirrored else ~sample.positive
        score = -sample.score[rows] if self.mirrored else sample.score[rows]
        if np.count_nonzero(setting[rows]) < _EXCEED < len(score):
            setting[rows] = score >= -np.partition(-score, _EXCEED - 1)[_EXCEED - 1]
        return np.where(rows, setting, called).astype(np.float64)

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        own, (other, name) = super().limiting_sizes(sizes)
        return own, (counted(other * min(self.low, 1.0 - self.low)), f"{name} beyond the threshold")

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        if self.at_edge:
            return f"no {self.limiting_sizes(sizes)[1][1]}, however many there are"
        return super().refusal(sizes)

    def extrapolates(self, sizes: tuple[float, float]) -> str | None:
        if self.at_edge or self.limiting_sizes(sizes)[1][0] >= 1:
            return None
        size = "n_pos" if self.mirrored else "n_neg"
        one = 1 / sizes[not self.mirrored]
        side = f"below 1 / {size} = {one:.3g}" if self.low < 0.5 else f"above 1 - 1 / {size}"
        return (
            f"{self.fixed}={self.low:.3g} lies beyond the data, {side}: the estimate is that of the nearest threshold"
        )

    def caution_of(self, sample: Sample) -> str | None:
        end, rows = (sample.score.min(), sample.positive) if self.mirrored else (sample.score.max(), ~sample.positive)
        weight = sample.weights
        tied = float(weight[rows & (sample.score == end)].sum() / weight[rows].sum())
        left = 1.0 - self.low if self.mirrored else self.low
        if tied <= left + 1e-9 or counted(sample.effective[not self.mirrored] * left) < 1:
            return None
        shared = f"{100 * tied:.3g} % of the"
        if self.mirrored:
            return f"{shared} positives share the lowest score: no threshold has a TPR between {1 - tied:.3g} and 1"
        return f"{shared} negatives share the highest score: no threshold has an FPR between 0 and {tied:.3g}"

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return self.low

    def chance_of(self, sample: Sample) -> float | None:
        # Random guesses at the threshold have the same FPR and TPR; with ties it has not the rate itself.
        above = sample.curve().cut(self.rule)[2 if self.mirrored else 3]
        return above / sample.totals[0 if self.mirrored else 1]

    def threshold_of(self, curve: _core.Curve) -> float:
        """Return the threshold at which the rate is read."""
        return float(curve.cut(self.rule)[0])

    @property
    def rule(self) -> _core.Rule:
        return (_core.Rule.sensitivity if self.mirrored else _core.Rule.fpr)(self.low)


@dataclass(frozen=True, repr=False)
class TPRAtFPR(Rate):
    """True positive rate of the best threshold with a false positive rate of at most `fpr`.

    Use it when you can afford a false positive rate, such as 1 % (a specificity of 0.99).

    >>> from rocmax.metrics import TPRAtFPR, infer
    >>> TPRAtFPR(0.1)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    >>> infer([0] * 40 + [1] * 20, range(60), TPRAtFPR(0.1)).estimate
    1.0

    Parameters
    ----------
    fpr : float in [0, 1)
        The greatest false positive rate allowed. At 0 it is the share of the positives above all negatives; however
        many negatives there are, their true rate is not 0, so that :func:`infer` gives no interval by default.
    multi_class, average, labels : optional
        As in :class:`AUC`.

    Notes
    -----
    ``max {TPR(c) : FPR(c) <= fpr}`` over thresholds c. A sample is called positive if its score is at least c, so that
    tied scores are called alike; weighted rates are shares of the weight. O(n) expected, with weights O(n log n).
    :func:`infer` describes the components (Linnet, 1987) and takes the threshold as estimated.
    """

    name: ClassVar[str] = "tpr_at_fpr"
    as_rate: ClassVar[str] = "tpr"
    fixed: ClassVar[str] = "fpr"
    fpr: float


@dataclass(frozen=True, repr=False)
class FPRAtTPR(Rate):
    """False positive rate of the best threshold with a true positive rate of at least `tpr`.

    Use it when a sensitivity is required; at 0.95 it is FPR95 of out-of-distribution detection.

    >>> from rocmax.metrics import FPRAtTPR
    >>> FPRAtTPR(0.95)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5

    Parameters
    ----------
    tpr : float in (0, 1]
        The least true positive rate allowed. At 1 it is the share of the negatives that are not below all positives,
        without an interval by default.
    multi_class, average, labels : optional
        As in :class:`AUC`.

    Notes
    -----
    ``min {FPR(c) : TPR(c) >= tpr}`` over thresholds c: 1 - :class:`TPRAtFPR` at ``1 - tpr`` if the classes are
    exchanged. Ties, weights, cost and components are as there.
    """

    name: ClassVar[str] = "fpr_at_tpr"
    as_rate: ClassVar[str] = "fpr"
    lower_is_better: ClassVar[bool] = True
    fixed: ClassVar[str] = "tpr"
    tpr: float


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
    has_chance: ClassVar[bool] = False  # no sample is below it

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

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
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
