"""Measures of a ranking, functions of the shares of either class at the distinct scores, and those that are means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax.metrics._words import rate
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.intervals._interval import Gain, Law, Limits, of_models
from rocmax.metrics.intervals._score import slope_of
from rocmax.metrics.measures import _ranking
from rocmax.metrics.measures._ranking import Ranking, centred_squares, parts_of, quotient
from rocmax.metrics.measures.auc import too_few
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait
from rocmax.metrics.samples._sample import Sample, call

Counts = tuple[float, float]
_FEW = 20  # positives: with fewer, at a prevalence of 1 to 10 %, the bias is a quarter to a whole standard error
_SATURATED = 5.0  # alpha times the share of positives: from here on most good rankings have nearly the same value
_LEAST_ALPHA = 1e-3  # below it the differences in BEDROC cancel
_LEAST = 0.05  # negatives below the range: with fewer, the straight line to the first negative is most of the area


@dataclass(frozen=True, repr=False)
class RankedMeasure(Measure):
    """A measure of a :class:`Ranking`."""

    monotone: ClassVar[bool] = True
    has_chance: ClassVar[bool] = True
    traits = frozenset({Trait.COMPONENTS, Trait.RANKING})

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
        return self.bounds[0], self.bounds[1] if self.lower_is_better else self.value_of_two_scores(1.0, sizes)

    def value(self, sample: Sample) -> Any:
        return self.read(self.weights(sample)) if self.in_core is None else super().value(sample)

    def components(self, sample: Sample) -> Any:
        ranking = self.weights(sample)
        return ranking.place(sample, *self.parts(ranking, self.counts(sample, ranking)))

    def squares(self, sample: Sample) -> tuple[float, F64]:
        ranking = self.weights(sample)
        return self.read(ranking), centred_squares(self.parts(ranking, self.counts(sample, ranking)), ranking[:2])

    def counts(self, sample: Sample, ranking: Ranking) -> Counts:
        """Return the numbers of samples behind the weights."""
        return sample.effective


def of_inverses(inverses: Sequence[inversion.Inverse], bounds: tuple[float, float]) -> tuple[F64, F64, Limits]:
    """Return estimates, variances and limits from the confidence distribution of each model."""
    return of_models([(one.estimate(bounds), one.variance, one.limits(bounds)) for one in inverses])


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
        # So that value, moments and slope of a model share one sort.
        models = [one if one.kept and one.kept.fits(one) else one.scored(one.score) for one in sample.models()]
        known = min(sizes) >= 2
        moments = [self.squares(one) if known else (float(self.value(one)), None) for one in models]
        slopes = [slope_of(one, self.near(sizes)) for one in models]
        m, n = sample.totals
        prevalence = m / (m + n)
        shift, scale = self.line(prevalence)
        shares = [min(max((value - shift) / scale, 0.0), 1.0) for value, _ in moments]
        # Of the samples a positive is a share; a curve has none.
        gains = self.gain(prevalence, prevalence / inversion.whole(sizes[0])), self.gain(prevalence, 0.0)
        tables = inversion.at_mean(gains, shares, slopes, sizes, sample.threads)
        inverses = [
            inversion.Inverse(share, table, Law(min(sizes) + inversion.PRIOR), shift, scale)
            for share, table in zip(shares, tables, strict=True)
        ]
        if known:  # the variance of the components is taken into account
            added = np.zeros(sample.n_models)  # by the totals that sampling weights estimate
            if sample.weight is not None and sample.weight_kind == "sampling":
                _, *parts = self.covariance(sample)
                added = np.diagonal(sum(parts))
            variances = [sum(parts_of(squares, sample.totals, sizes)) for _, squares in moments]
            greater = map(max, variances, added.tolist())
            inverses = [one.widened(each, min(sizes)) for one, each in zip(inverses, greater, strict=True)]
        return of_inverses(inverses, self.bounds)


@dataclass(frozen=True, repr=False)
class AveragePrecision(MeanMeasure):
    """Average precision, the mean of the precision at the scores of the positives; scikit-learn's value.

    Use it if positives are rare, the top of the ranking counts, and the share of positives is that in use.

    Variances and intervals treat the prevalence as fixed, unless sampling weights estimate it. With few positives AP is
    biased upwards, because a positive counts in its own precision; below 20 there is a warning.

    >>> from rocmax.metrics import AveragePrecision
    >>> round(AveragePrecision()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333

    Parameters
    ----------
    prevalence : float in (0, 1), default=None
        The share of positives where the model will be used; None means that of the samples.

    Notes
    -----
    With A_k and B_k the true and the false positive rate at the k-th distinct score, a_k the share of the positives
    that have it and pi the prevalence, ``AP = sum_k a_k g_k`` with the precision
    ``g_k = pi A_k / (pi A_k + (1 - pi) B_k)``. A random ranking has the prevalence as its value. O(n log n) at most.

    The components of a positive and of a negative at the j-th distinct score, the derivatives of AP by a_j and b_j, are

    - ``g_j + sum_{k >= j} a_k pi (1 - pi) B_k / (pi A_k + (1 - pi) B_k)^2`` and
    - ``-sum_{k >= j} a_k pi (1 - pi) A_k / (pi A_k + (1 - pi) B_k)^2``.
    """

    name: ClassVar[str] = "average_precision"
    traits = frozenset({Trait.COMPONENTS, Trait.RANKING})
    bounds = 0.0, 1.0
    has_chance: ClassVar[bool] = True
    least_variance: ClassVar[float] = 1e-3  # with all positives last its components vary, but not with the scores
    # Not monotone: a positive that joins lower ones of its score raises their precision
    prevalence: float | None = None

    def __post_init__(self) -> None:
        if self.prevalence is not None:
            self._read_number("prevalence", "in (0, 1)", lambda value: 0.0 < value < 1.0)

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.average_precision(self.prevalence)

    def __str__(self) -> str:
        return "average precision" + ("" if self.prevalence is None else f" at prevalence {self.prevalence:g}")

    @property
    def short(self) -> str:
        return "AP" + ("" if self.prevalence is None else f" at {self.prevalence:g}")

    def components(self, sample: Sample) -> Any:
        return self.influences(sample)[1][0]

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        estimate, values = call(_core.components, sample, self.in_core, sample.threads)
        return estimate, values.reshape(len(estimate), -1)

    def squares(self, sample: Sample) -> tuple[float, F64]:
        value, squares, _ = sample.once(("moments", self), lambda: sample.ranking().moments(self.in_core))
        return value, np.asarray(squares)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        return _ranking.by_prevalence(self, sample) if self.prevalence is None else (0.0, 0.0)

    def gain(self, prevalence: float, width: float) -> Gain:
        pi = prevalence if self.prevalence is None else self.prevalence
        return _core.Gain.precision(pi)

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        if sizes[0] >= _FEW:
            return None
        return f"average precision is biased upwards with few positives, of which there are {sizes[0]:.3g}"


@dataclass(frozen=True, repr=False)
class LogAUC(MeanMeasure, RankedMeasure):
    """Mean of the true positive rate over the logarithm of the false positive rate (Mysinger and Shoichet, 2010).

    Use it in virtual screening, to weigh small false positive rates more.

    >>> from rocmax.metrics import LogAUC
    >>> round(LogAUC(0.01, 1.0)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.5753

    Parameters
    ----------
    low, high : float, default=0.001 and 0.1
        The range of the false positive rate, ``0 < low < high <= 1``, at least 1e-9 of `high` wide. With fewer than
        ``1 / low`` negatives the area is biased upwards, because the curve starts with a straight line, and there is a
        warning.

    Notes
    -----
    ``LogAUC = int_low^high R(x) dlog10(x) / log10(high / low)`` of the ROC curve R with straight lines between its
    points (x_k, y_k), one a distinct score, integrated exactly: of a line with slope s from (x0, y0) to (x1, y1) the
    integral over ln x is ``(y0 - s x0) ln(x1 / x0) + s (x1 - x0)``. A random ranking has
    ``(high - low) / ln(high / low)``, 0.0215 by default; the adjusted LogAUC of the literature subtracts that.
    O(n log n) [1]_.

    If the points move by (dx_k, dy_k), the integral over ln x changes by ``int (dy dx - dx dy) / x`` along the curve. A
    sample moves all points from its own score on, which gives its component.

    References
    ----------
    .. [1] M. M. Mysinger and B. K. Shoichet, "Rapid context-dependent ligand desolvation in molecular docking", Journal
       of Chemical Information and Modeling 50, 2010. :doi:`10.1021/ci100214a`
    """

    name: ClassVar[str] = "log_auc"
    bounds = 0.0, 1.0
    low: float = 0.001
    high: float = 0.1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            self._read_number(name, "in (0, 1]", lambda value: 1e-100 <= value <= 1.0)
        if not self.low < (1.0 - 1e-9) * self.high:
            ends = f"low={shown(self.low)} and high={shown(self.high)}"
            raise ValueError(f"low must be below high by more than 1e-9 of high, got {ends}")

    def __str__(self) -> str:
        return f"LogAUC ({rate('fpr').of(self.low, self.high)})"

    @property
    def short(self) -> str:
        return f"LogAUC {rate('fpr').of(self.low, self.high).removeprefix('FPR ')}"

    def read(self, ranking: Ranking) -> float:
        x, y, run, rise, first, last = _lines(ranking, self.low, self.high)
        used = (run > 0) & (last > first)
        x, y, run, rise, first, last = (part[used] for part in (x, y, run, rise, first, last))
        start = np.maximum(x + first * run, self.low)
        width = np.log1p((last - first) * run / start)
        # The height at the start of the part, and the rise from there.
        area = (y + first * rise) * width + rise / run * ((last - first) * run - start * width)
        return float(np.clip(area.sum() / width.sum(), 0.0, 1.0))  # of a curve at 1 exactly 1

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        x, _, run, rise, first, last = _lines(ranking, self.low, self.high)
        start = np.maximum(x + first * run, self.low)
        length = last - first
        # int dt / x and int t dt / x, t the share of the line, over the part in the range.
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.where(run > 0, np.log1p(length * run / start) / run, length / start)
            of_end = (length - x * whole) / run
        # On short and on vertical lines the difference cancels.
        of_end = np.where(length * run < 1e-6 * start, (first + last) / 2 * whole, of_end)
        of_start = whole - of_end
        width = np.log1p((self.high - self.low) / self.low)
        return _ranking.along(run, of_start, of_end) / width, -_ranking.along(rise, of_start, of_end) / width

    def near(self, sizes: tuple[float, float]) -> float:
        return min(sizes[0], sizes[1] * self.high)

    def gain(self, prevalence: float, width: float) -> Gain:
        return _core.Gain.log(self.low, self.high)

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        middle = float(np.sqrt(self.low * self.high))
        held = f"negatives below FPR {middle:.3g}, the middle of the range"
        return (sizes[0], "positives"), (sizes[1] * middle, held)

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        return too_few(sizes[1] * self.low, f"negatives below FPR {self.low:.3g}", _LEAST)

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        if sizes[1] * self.low >= 1.0 - 1e-9:
            return None
        text = f"low={self.low:.3g} lies below 1 / n_neg = {1 / sizes[1]:.3g}"
        return f"{text}, where the curve is a straight line: LogAUC is biased upwards"


def _lines(ranking: Ranking, low: float, high: float) -> tuple[F64, ...]:
    """Return start (x, y), run and rise of the lines between the points of a curve, and their shares in the range."""
    rise, run = ranking.shares()
    x, y = (np.minimum(np.concatenate([[0.0], np.cumsum(step)[:-1]]), 1.0) for step in (run, rise))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first, last = ((end - x) / run for end in (low, high))
    inside = (x > low + 1e-12 * low) & (x < high - 1e-12 * high)  # a rise at an end of the range is outside
    first = np.where(run == 0, np.where(inside, 0.0, 1.0), np.clip(first, 0.0, 1.0))
    return x, y, run, rise, first, np.where(run == 0, 1.0, np.maximum(np.clip(last, 0.0, 1.0), first))


@dataclass(frozen=True, repr=False)
class RIE(MeanMeasure, RankedMeasure):
    """Robust initial enhancement: how much earlier positives come than samples drawn at random.

    Use it in virtual screening; :class:`BEDROC` scales it to [0, 1].

    >>> from rocmax.metrics import RIE
    >>> round(RIE()([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    3.2723

    Parameters
    ----------
    alpha : float of at least 0.001, default=20.0
        The first ``1.6 / alpha`` of the samples, 8 % by default, have four fifths of the weight.

    Notes
    -----
    ``RIE = (1/n sum_i exp(-alpha r_i / N)) / (1/N sum_k exp(-alpha k / N))``, over the ranks r_i of the n positives by
    descending score among all N samples (Sheridan et al., 2001) [1]_; 1 is chance. All orders of tied scores are
    equally likely: with ranks a + 1 to a + t, each positive adds the mean of ``exp(-alpha k / N)`` over these ranks.
    O(n log n).

    Its components: with a_k the share of the positives at the k-th distinct score and C_k that of all samples there or
    above, ``RIE = sum_k a_k phi_k / (1 - exp(-alpha))``, phi_k the mean of ``alpha exp(-alpha x)`` over
    ``[C_{k-1}, C_k]``. A positive at the j-th adds phi_j and, as every sample does, moves all C_k of k >= j.

    References
    ----------
    .. [1] R. P. Sheridan, S. B. Singh, E. M. Fluder and S. K. Kearsley, "Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches", Journal of Chemical Information and Computer Sciences 41,
       2001. :doi:`10.1021/ci0100144`
    """

    name: ClassVar[str] = "rie"
    remedy: ClassVar[str] = "choose a smaller alpha"
    bounds = 0.0, np.inf
    alpha: float = 20.0

    def __post_init__(self) -> None:
        self._read_number("alpha", "of at least 0.001", lambda value: _LEAST_ALPHA <= value < np.inf)

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.rie(self.alpha)

    def __str__(self) -> str:
        return f"{self.name.upper()} (alpha {self.alpha:g})"

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        rate = self.alpha * sizes[0] / sum(sizes)
        if rate < _SATURATED:
            return None
        return f"alpha times the share of positives is {rate:.3g}, where {self.name.upper()} saturates"

    def _ends(self, prevalence: float) -> tuple[float, float]:
        """Return the RIE of all positives last and first."""
        p, alpha = prevalence, self.alpha
        most = float(np.expm1(-alpha * p) / (p * np.expm1(-alpha)))
        return float(np.exp(-alpha * (1.0 - p))) * most, most

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        pi, alpha = ranking.prevalence, self.alpha
        a, b = ranking.shares()
        width = pi * a + (1.0 - pi) * b
        end = np.cumsum(width)
        first, last = np.exp(-alpha * (end - width)), np.exp(-alpha * end)
        mean = quotient(first * -np.expm1(-alpha * width), width)
        # Derivatives of the mean by the two ends of the block; in narrow blocks the differences cancel.
        half = -(alpha**2) / 2 * first
        narrow = alpha * width < 1e-5
        changes = mean - alpha * first, alpha * last - mean
        by_start, by_end = (np.where(narrow, half, quotient(change, width)) for change in changes)
        moved = _ranking.from_here(a * (by_start + by_end)) - a * by_start
        scale = -np.expm1(-alpha)
        return (mean + pi * moved) / scale, (1.0 - pi) * moved / scale

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        return _ranking.by_prevalence(self, sample)

    def near(self, sizes: Counts) -> float:
        # Positives that rank among negatives flatten the whole curve, not its top.
        return min(*sizes, sum(sizes) / self.alpha)

    def line(self, prevalence: float) -> tuple[float, float]:
        least, most = self._ends(prevalence)
        return least, most - least

    def gain(self, prevalence: float, width: float) -> Gain:
        alpha, (least, most) = self.alpha, self._ends(prevalence)
        density = alpha if width == 0 else np.expm1(alpha * width) / width
        top, base = density / (-np.expm1(-alpha) * (most - least)), least / (most - least)
        return _core.Gain.early(alpha, prevalence, top, base)


@dataclass(frozen=True, repr=False)
class BEDROC(RIE):
    """Boltzmann-enhanced discrimination of ROC (Truchon and Bayly, 2007).

    Use it in virtual screening, where the first compounds count most.

    >>> from rocmax.metrics import BEDROC
    >>> round(BEDROC()([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    0.9841

    Parameters
    ----------
    alpha : float of at least 0.001, default=20.0
        As in :class:`RIE`.

    Notes
    -----
    ``(RIE - RIE_min) / (RIE_max - RIE_min)``, with the :class:`RIE` and its values with all positives last and first:
    for the share p of positives ``RIE_max = (1 - exp(-alpha p)) / (p (1 - exp(-alpha)))`` and
    ``RIE_min = (1 - exp(alpha p)) / (p (1 - exp(alpha)))``. It lies between 0 and 1; chance is about ``1 / alpha``
    if ``alpha p`` is small and alpha large, so data sets with different shares cannot be compared [1]_. O(n log n).

    References
    ----------
    .. [1] J.-F. Truchon and C. I. Bayly, "Evaluating virtual screening methods: good and bad metrics for the "early
       recognition" problem", Journal of Chemical Information and Modeling 47, 2007. :doi:`10.1021/ci600426e`
    """

    name: ClassVar[str] = "bedroc"
    bounds = 0.0, 1.0

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.bedroc(self.alpha)

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        least, most = self._ends(ranking.prevalence)
        of_pos, of_neg = super().parts(ranking, counts)
        return of_pos / (most - least), of_neg / (most - least)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        pi, alpha = self.weights(sample).prevalence, self.alpha
        least, most = self._ends(pi)
        by_most = most * (float(alpha * np.exp(-alpha * pi) / -np.expm1(-alpha * pi)) - 1.0 / pi)
        by_least = least * (alpha + by_most / most)
        ends = by_least + self._checked(sample) * (by_most - by_least)
        change = (RIE(alpha).by_totals(sample)[0] - pi * (1.0 - pi) * ends) / (most - least)
        return change, -change

    def line(self, prevalence: float) -> tuple[float, float]:
        return 0.0, 1.0
