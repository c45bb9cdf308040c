"""One rate at the threshold that the other rate sets, and the largest difference of both: Youden's index."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics._words import rate
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.intervals._interval import Limits, counted, dual, normal_quantile, wilson
from rocmax.metrics.intervals._score import few_decide, few_limits, limits_of, shrunk, slope_of
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait, values_of
from rocmax.metrics.measures.ranked import Counts, RankedMeasure, of_inverses
from rocmax.metrics.samples._sample import Sample, vertices

_EXCEED = 30
_WINDOW = 2.0  # half the width of the window for the slope, in standard errors; coverage was as good with 1 and 3
_LAST = float(np.nextafter(1.0, 0.0))  # the greatest rate below 1, and n / (n + 1) for any weights
_FINE, _SEVERAL = 40, 1.5  # with more distinct scores in the window, or fewer samples at each, ties are negligible
_EDGE = 8.0  # standard errors


class _Place(NamedTuple):
    """Where a curve is read, written as the true positive rate at a false positive rate."""

    rate: float
    estimate: F64
    slope: F64  # b, between normal quantiles: `python/docs/mathematics.md`, "The TPR at an FPR"
    shift: F64  # Phi^-1(q) - Phi^-1(f), times b
    q: float  # the mean of the true rate at the threshold: of Beta(k + 1, n - k), k = floor(n f)
    n_called: float  # samples of the class whose rate is measured
    n_setting: float  # of the class that sets the threshold


@dataclass(frozen=True, repr=False)
class Rate(CurveMeasure):
    """Base of both rates; `fixed` names the rate that sets the threshold."""

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

    def at(self, x: float) -> _core.Measure:
        """Return the core's measure at a rate."""
        return (_core.Measure.tpr_at_fpr if self.fixed == "fpr" else _core.Measure.fpr_at_tpr)(x)

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

    def score_interval(self, sample: Sample, sizes: tuple[float, float]) -> tuple[F64, F64, Limits]:
        place = self._place(sample, sizes)
        share = np.clip(place.estimate, 0.0, 1.0)
        # s, of the normal quantile of R at the threshold.
        error = place.slope * np.sqrt(place.q * (1 - place.q) / (place.n_setting + 2))
        error = error / _density(normal_quantile(place.q))
        found = _core.ScoreLimits.rate(share, place.shift, error, place.n_called, sample.threads)
        few, near, slopes, thresholds = few_decide(place.n_setting, place.rate), [], [], []
        for one in sample.models():  # each is sorted when it is reached and then let go: those of many fill the memory
            curve = one.curve()
            thresholds.append(self.threshold_of(curve))  # or the scores would be sorted again
            near.append(self._near(curve, place))
            if few:
                slopes.append(shrunk(curve.slope(self.mirrored, False), min(sizes)))
        sample.once(("thresholds", self), lambda: thresholds)
        if few:
            both = place.n_called, place.n_setting
            own = few_limits(share, np.array(slopes), both, place.rate, sample.threads)
        else:
            own = limits_of(found, share)
        estimate = 1 - place.estimate if self.mirrored else place.estimate
        line = (1.0, -1.0) if self.mirrored else (0.0, 1.0)  # the rate of the curve, or 1 less it
        return estimate, found.variance, _of_ties(own, place, near).moved(*line, (0.0, 1.0), estimate)

    def slopes(self, sample: Sample) -> tuple[F64, F64]:
        place = self._place(sample, sample.effective)
        height = normal_quantile(_inner(place.estimate, place.n_called))
        steepness = place.slope * _density(height) / _density(normal_quantile(place.q))
        ones = np.ones_like(steepness)
        return (steepness, ones) if self.mirrored else (ones, steepness)

    def _place(self, sample: Sample, sizes: tuple[float, float]) -> _Place:
        mirrored = self.mirrored
        rate = min(1.0 - self.low, _LAST) if mirrored else self.low
        m, n = sizes[::-1] if mirrored else sizes

        def read(x: float) -> F64:
            return 1.0 - values_of(sample, self.at(1.0 - x)) if mirrored else values_of(sample, self.at(x))

        def true_rate(x: float) -> float:
            return float(min(min(np.floor(n * x + 1e-9) + 1.0, n) / (n + 1.0), _LAST))

        estimate = values_of(sample, self.at(self.low))  # first, because it refuses samples of one class
        estimate = 1.0 - estimate if mirrored else estimate
        ends = [float(end) for end in wilson(rate * n, n, _WINDOW)]
        heights = [read(end) for end in ends]
        across = true_rate(ends[1]) - true_rate(ends[0])
        count = np.minimum((heights[1] - heights[0]) * m, across * (n + 1))
        rise = normal_quantile(_inner(heights[1], m)) - normal_quantile(_inner(heights[0], m))
        run = normal_quantile(true_rate(ends[1])) - normal_quantile(true_rate(ends[0]))
        quotient = rise / run if across > 0 else np.ones_like(rise)
        slope = (1.0 + count * quotient) / (1.0 + count)
        q = true_rate(rate)
        return _Place(rate, estimate, slope, slope * (normal_quantile(q) - normal_quantile(rate)), q, m, n)

    def _near(self, curve: _core.Curve, place: _Place) -> tuple[F64, F64] | None:
        """Return standard errors by which thresholds miss the rate, and rates there; None if ties are negligible."""
        error = np.sqrt(place.rate * (1 - place.rate) / place.n_setting)
        if not error:
            return None
        reach = _WINDOW * error + 1.0 / place.n_setting
        ends = np.clip([place.rate - reach, place.rate + reach], 0.0, 1.0)
        cuts = [curve.cut(self.rule_at(float(1.0 - end if self.mirrored else end)))[1] for end in ends]
        if abs(cuts[1] - cuts[0]) > _FINE:
            return None
        _, pos, neg = curve.steps()
        parts = (neg[::-1], pos[::-1]) if self.mirrored else (pos, neg)
        fixed, called = vertices(*parts)
        sizes = place.n_called, place.n_setting
        counts = [part * (size / part.sum()) for part, size in zip(parts, sizes, strict=True)]  # whole ones stay whole
        inside = (fixed[1:] >= ends[0]) & (fixed[:-1] <= ends[1])
        most = np.sqrt(place.n_called), _WINDOW * error * place.n_setting
        heavy = any((of[inside] > max(_SEVERAL, two)).any() for of, two in zip(counts, most, strict=True))
        held = inside & (parts[1] > 0)
        if not heavy and counts[1][held].sum() <= _SEVERAL * np.count_nonzero(held):
            return None
        over = np.maximum(fixed, place.rate) - np.minimum(np.append(fixed[1:], np.inf), place.rate)
        near = over <= _EDGE * error
        return over[near] / error, called[near]

    def of_pairs(self, sample: Sample) -> F64:
        """Mark the called, and of the class that sets the threshold at least `_EXCEED`: one or two show no variance."""
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
        beyond = f"{self.fixed}={self.low:.3g} lies beyond the data, {side}"
        return f"{beyond}: the estimate is that of the nearest threshold"

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
        above = sample.curve().cut(self.rule_at(self.low))[2 if self.mirrored else 3]
        return above / sample.totals[0 if self.mirrored else 1]

    def threshold_of(self, curve: _core.Curve) -> float:
        """Return the threshold at which the rate is read."""
        return float(curve.cut(self.rule_at(self.low))[0])

    def rule_at(self, rate: float) -> _core.Rule:
        """Return the core's rule for the threshold at a rate."""
        return _core.Rule.sensitivity(rate) if self.mirrored else _core.Rule.fpr(rate)


def _density(x: Any) -> Any:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _inner(rate: F64, size: float) -> F64:
    """Rates that are neither 0 nor 1."""
    return np.asarray(np.minimum((rate * size + 0.5) / (size + 1), _LAST))


def _of_ties(limits: Limits, place: _Place, near: Sequence[tuple[F64, F64] | None]) -> Limits:
    """Return the limits of models without ties near the place, and of the others those of all thresholds there."""
    others = [(k, *one) for k, one in enumerate(near) if one is not None]
    if not others:
        return limits

    def ends(z: Any) -> tuple[F64, F64]:
        low, high = limits.ends(z)
        z = np.broadcast_to(z, low.shape)
        for k, distance, rates in others:
            room = z[..., k, None] ** 2 - distance**2
            lower, upper = wilson(rates * place.n_called, place.n_called, np.sqrt(np.maximum(room, 0.0)))
            low[..., k] = np.where(room >= 0, lower, 1.0).min(axis=-1)
            high[..., k] = np.where(room >= 0, upper, 0.0).max(axis=-1)
        return low, high

    return Limits(ends, dual(place.estimate, ends))


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
