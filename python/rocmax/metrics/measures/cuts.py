"""Measures at a cut of the ranking that the samples determine; `python/docs/mathematics.md` has their components."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics._words import label_text
from rocmax.metrics.intervals import _inversion as inversion
from rocmax.metrics.intervals._interval import Law, Limits, normal_cdf, normal_quantile, of_models, of_share
from rocmax.metrics.intervals._score import Units, greatest, slope_of
from rocmax.metrics.measures._ranking import Ranking, influence_of, parts_of, quotient
from rocmax.metrics.measures.base import LimitingSizes, Measure
from rocmax.metrics.measures.ranked import Counts, RankedMeasure, of_inverses
from rocmax.metrics.samples._arguments import Strata
from rocmax.metrics.samples._sample import Sample, has_variance

_WINDOW = 2.0  # half the width of the window around a cut, in standard errors of the sum above it
_PRIOR = 4.0  # samples that the prior counts for: the share r of two normal distributions with equal variances
_LEAST_FRACTION = float(np.finfo(float).tiny)  # a divisor


class TooFewSamples(ValueError):
    """A measure asks for more samples than there are; in a subgroup it is then not estimable."""


class Cut(NamedTuple):
    """A cut of a ranking, where the sum of both classes' weights, each times its scale, reaches `at`."""

    scales: tuple[float, float]
    at: float
    reached: F64  # the sum at every distinct score
    place: int  # of the distinct score that is cut, of which `share` lies above
    share: float
    tpr: float
    fpr: float


@dataclass(frozen=True, repr=False)
class CutMeasure(RankedMeasure):
    """A linear function of the true positive rate at a cut."""

    pooled: ClassVar[bool] = True  # whether the sum is of samples, of either class alike

    def crossing(self, ranking: Ranking) -> tuple[tuple[float, float], float]:
        """Return the scales of both classes' weights, and the sum at which the ranking is cut."""
        return (1.0, 1.0), self.alerts(ranking.sizes)

    def alerts(self, sizes: Counts) -> float:
        """Return the weight of the samples above the cut."""
        raise NotImplementedError

    def limiting_sizes(self, sizes: Counts) -> LimitingSizes:
        own, setting = super().limiting_sizes(sizes)
        return own, (self.alerts(sizes), "samples above the cut") if self.pooled else setting

    def bias_warning(self, sizes: Counts) -> str | None:
        # The effective sizes of sampling weights, which are no whole numbers, tell nothing of the rows above the cut.
        if not self.pooled or self.alerts(sizes) >= 1 - 1e-9 or any(size % 1 for size in sizes):
            return None
        return f"{self} selects less than one of {sum(sizes):.6g} samples"

    def line(self, ranking: Ranking) -> tuple[float, float]:
        """Return the value at a true positive rate of 0, and how it grows with the rate."""
        return 0.0, 1.0

    def rate_on(self, curves: inversion.Curves, ranking: Ranking) -> F64:
        """Return the true positive rates at the cuts of binormal curves."""
        return _core.rates_of_called(self.alerts(ranking.sizes) / sum(ranking.sizes), ranking.prevalence, *curves)

    def cut(self, ranking: Ranking) -> Cut:
        """Cut the ranking."""
        scales, at = self.crossing(ranking)
        step = scales[0] * ranking.pos + scales[1] * ranking.neg
        reached = np.cumsum(step)
        k = min(int(np.searchsorted(reached, at)), len(step) - 1)
        before = reached[k - 1] if k else 0.0
        share = float((at - before) / step[k]) if before < at < reached[k] else 1.0
        tpr, fpr = (
            min(float(part[:k].sum() + share * part[k]) / size, 1.0)
            for part, size in zip(ranking[:2], ranking.sizes, strict=True)
        )
        return Cut(scales, at, reached, k, share, tpr, fpr)

    def read(self, ranking: Ranking) -> float:
        shift, scale = self.line(ranking)
        return float(np.clip(shift + scale * self.cut(ranking).tpr, *self.bounds))

    def counts(self, sample: Sample, ranking: Ranking) -> Counts:
        if sample.weight is None or sample.weight_kind != "sampling":
            return sample.effective
        # As many as make the weight above the cut vary as it does.
        above, sizes = sample.score >= ranking.score[self.cut(ranking).place], list(sample.effective)
        for k, rows in enumerate((sample.positive & above, ~sample.positive & above)):
            if (weight := sample.weight[rows]).any():
                sizes[k] = sample.totals[k] * float(weight.sum() / (weight @ weight))
        return sizes[0], sizes[1]

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        cut, (m, n) = self.cut(ranking), ranking.sizes
        # With P + Q above the cut fixed, changes (dP, dQ) above a fixed threshold change P by (1 - r) dP - r dQ.
        r, scale = _near(ranking, cut, counts, self.pooled), self.line(ranking)[1]
        above = (np.arange(len(cut.reached)) < cut.place).astype(np.float64)
        above[cut.place] = cut.share
        return scale * (1.0 - r) * above, -scale * r * (n * cut.scales[1] / (m * cut.scales[0])) * above

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        # With A = m TPR and B = n FPR above the cut, dA = A dlog m + r (dat - A dlog m - B dlog n).
        ranking = self.weights(sample)
        cut, (m, n), scale = self.cut(ranking), ranking.sizes, self.line(ranking)[1]
        r, share = _near(ranking, cut, self.counts(sample, ranking), self.pooled), self.share(ranking.sizes)
        return scale * r * (share - cut.tpr), scale * r * (share - cut.fpr) * n / m

    def share(self, sizes: Counts) -> float:
        """Return how the weight above the cut grows with that of all samples."""
        return (self.alerts((2 * sizes[0], 2 * sizes[1])) - self.alerts(sizes)) / sum(sizes)

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        if self.pooled and sample.weight is not None and sample.weight_kind == "sampling":
            # Wilson's interval with Student's t, for the effective size by the variance of a ratio of totals.
            estimate, added, span = self.estimates(sample), influence_of(sample, self), self.bounds[1]
            share, rows = float(estimate[0]) / span, sample.n_counted
            size = Units(added / span, share * (1.0 - share), *self.heaviest(sample, share), rows).size
            variance = np.array([added @ added * rows / (rows - 1)])
            return estimate, variance, of_share(estimate, size, self.bounds, Law(size))
        intervals = [
            self._of_tie(one, sizes) or of_inverses([self.inverse(one, slope_of(one, min(sizes)), sizes)], self.bounds)
            for one in sample.models()
        ]
        return of_models(intervals)

    def _of_tie(self, one: Sample, sizes: Counts) -> tuple[F64, F64, Limits] | None:
        """Return Wilson's interval with Student's t if a tie at the cut halves the variance of the sum above it."""
        cut = self.cut(self.weights(one))
        above, tie = (part / cut.reached[-1] for part in (cut.at, np.diff(cut.reached, prepend=0.0)[cut.place]))
        if min(sizes) < 2 or cut.share * (1.0 - cut.share) * tie <= 0.5 * above * (1.0 - above):
            return None
        (value, squares), (least, most) = self.squares(one), self.bounds
        variance, spread = sum(parts_of(squares, one.totals, sizes)), (value - least) * (most - value)
        if spread <= 0 or variance <= 0:
            return None
        limits = of_share(np.array([value]), spread / variance, self.bounds, Law(min(sizes) - 1.0))
        return np.array([value]), np.array([variance]), limits

    def heaviest(self, one: Sample, share: float) -> tuple[float, float]:
        """Return the share of the heaviest row in what the measure is a share of, and how many such rows are known."""
        return min(greatest(one.weights, one.positive)[0] / one.totals[0], 1.0), np.inf

    def inverse(self, sample: Sample, slope: float, sizes: Counts) -> inversion.Inverse:
        """Return the confidence distribution of one model, by the fitted slope of its curve and the class sizes."""
        ranking = self.weights(sample)
        cut = self.cut(ranking)
        first, last = (self.rate_on(curves, ranking) for curves in inversion.at_cut(cut.tpr, cut.fpr, slope, sizes))
        # A number of alerts has few possible values, so that intervals are wide without Student's t.
        law = Law() if self.pooled else Law(min(sizes) + inversion.PRIOR)
        return inversion.Inverse(cut.tpr, _core.share_table(first, last), law, *self.line(ranking))


def _near(ranking: Ranking, cut: Cut, counts: Counts, pooled: bool) -> float:
    """Return the positives' share in a window around the cut, shrunk; `counts` of samples are behind the weights."""
    inner = [(rate * count + 0.5) / (count + 1.0) for rate, count in zip((cut.tpr, cut.fpr), counts, strict=True)]
    wholes = [scale * size for scale, size in zip(cut.scales, ranking.sizes, strict=True)]
    error = sum(w**2 * r * (1.0 - r) / n for w, r, n in zip(wholes, inner, counts, strict=True)) ** 0.5
    ends = np.clip([cut.at - _WINDOW * error, cut.at + _WINDOW * error], 0.0, cut.reached[-1])
    corners = np.concatenate([[0.0], cut.reached])
    first, last = max(int(np.searchsorted(corners, ends[0], "right")) - 1, 0), int(np.searchsorted(corners, ends[1]))
    inside = []
    for scale, part in zip(cut.scales, ranking[:2], strict=True):
        summed = np.concatenate([[0.0], np.cumsum(scale * part[first:last])])
        inside.append(float(np.diff(np.interp(ends, corners[first : last + 1], summed))[0]))
    u, v = normal_quantile(inner).tolist()
    density = wholes[0] * np.exp((v**2 - u**2) / 2)
    usual = density / (density + wholes[1])
    counted = [part / whole * count for part, whole, count in zip(inside, wholes, counts, strict=True)]
    count = sum(counted) if pooled else min(counted)
    whole = sum(inside)
    return float((count * inside[0] / whole + _PRIOR * usual) / (count + _PRIOR)) if whole > 0 else float(usual)


@dataclass(frozen=True, repr=False)
class _AtK(CutMeasure):
    """The recall among the k highest scores, times a factor."""

    bounds = 0.0, 1.0
    k: Any
    per: Any = None

    def __post_init__(self) -> None:
        if self.per is not None and not isinstance(self.per, Strata):
            object.__setattr__(self, "per", Strata(self.per, "per"))
        whole = isinstance(self.k, Integral) and not isinstance(self.k, bool | np.bool_)
        if whole and self.k >= 1:
            object.__setattr__(self, "k", int(self.k))
            return
        kind = "in (0, 1), or a whole number (an integer) of at least 1"
        self._read_number("k", kind, lambda value: not whole and 0.0 < value < 1.0)

    def __str__(self) -> str:
        what, of = self.name.removesuffix("_at"), "" if self.per is None else f" of each {self.per.title}"
        if isinstance(self.k, int):
            among = f"among the {self.k:,} highest scores" if self.k > 1 else "at the highest score"
            return f"{what} {among}{of}"
        return f"{what} among the highest {100 * self.k:g} %{of}"

    @property
    def short(self) -> str:
        of = "" if self.per is None else f" per {self.per.title}"
        return f"{self.name.removesuffix('_at')}@{self.k if isinstance(self.k, int) else f'{100 * self.k:g}%'}{of}"

    def alerts(self, sizes: Counts) -> float:
        total = sum(sizes)
        each = 1 if self.per is None else len(self.per.names)
        return min(float(self.k * each), total) if isinstance(self.k, int) else self.k * total

    def check(self, ranking: Ranking, name: str) -> None:
        self._check_size(sum(ranking.sizes), "the samples, of which there are {:g} (their weights summed)")

    def _check_size(self, total: float, what: str) -> None:
        if isinstance(self.k, int) and self.k > total * (1 + 1e-9):
            fact = f"k={self.k} is more than {what.format(total)}"
            raise TooFewSamples(f"{fact}; choose a smaller k, or a share such as k=0.1")

    def tally(self, value: Any, sizes: Counts) -> tuple[Any, float] | None:
        return None if self.per is None else (value * self.whole(sizes), self.alerts(sizes))

    def chance(self, sizes: Counts) -> float | None:
        return super().chance(sizes) if self.per is None else None

    def reachable(self, sizes: Counts) -> tuple[float, float]:
        return super().reachable(sizes) if self.per is None else self.bounds

    def value(self, sample: Sample) -> Any:
        if self.per is None:
            return super().value(sample)
        own, caught = replace(self, per=None), 0.0
        for _, _, ranking in self.strata(sample):
            m, n = ranking.sizes
            caught += (own.cut(ranking).tpr * m if n else own.alerts((m, n))) if m else 0.0
        return min(caught / self.whole(sample.totals), 1.0)

    def components(self, sample: Sample) -> Any:
        if self.per is None:
            return super().components(sample)
        own, found = replace(self, per=None), np.zeros(len(sample.y))
        for rows, part, ranking in self.strata(sample):
            if min(ranking.sizes) > 0:
                share = own.whole(ranking.sizes) / self.whole(sample.totals)
                found[rows] = share * ranking.place(part, *own.parts(ranking, ranking.sizes))
        return within_strata(found, sample, self.per)

    def squares(self, sample: Sample) -> tuple[float, F64]:
        return super().squares(sample) if self.per is None else Measure.squares(self, sample)

    def score_interval(self, sample: Sample, sizes: Counts) -> tuple[F64, F64, Limits]:
        if self.per is None:
            return super().score_interval(sample, sizes)
        # The found are a share of the positives or the alerts, whichever are fewer, and vary as a share of no more.
        (m, n), alerts = sample.totals, self.alerts(sample.totals)
        bounds = 0.0, min(m, alerts) / self.whole((m, n))
        value, squares = zip(*map(self.squares, sample.models()), strict=True)
        estimate, variance = np.array(value), np.array([sum(parts_of(one, (m, n), sizes)) for one in squares])
        spread, most = estimate * (bounds[1] - estimate), min(m, alerts) * sum(sizes) / (m + n)
        size = np.full_like(spread, most)
        np.divide(spread, variance, out=size, where=(spread > 0) & (spread < variance * most))
        return estimate, variance, of_share(estimate, size, bounds, Law(min(sizes) - 1.0) if sizes != (m, n) else None)

    def whole(self, sizes: Counts) -> float:
        """Return what the positives above the cut are a share of."""
        raise NotImplementedError

    def strata(self, sample: Sample) -> list[tuple[Any, Sample, Ranking]]:
        """Return the rows of each value of `per`, their samples and ranking."""
        per, fits = self.per, sample.kept is not None and sample.kept.fits(sample)
        if not fits or len(per) != len(sample.y) or sample.steps is not None:
            other = "" if len(per) == len(sample.y) else f", got {len(sample.y):,} samples"
            fact = f"per has a value for each of {len(per):,} samples as they were given{other}"
            without = "`by`, bootstrap, folds, permutations, plans of labels or samples with missing values"
            raise ValueError(f"{fact}: per takes no {without}")
        if sample.weight is not None and sample.weight_kind == "sampling":
            raise ValueError("per and weight_kind='sampling' cannot be combined: sampling weights count no alerts")

        def ranked() -> list[tuple[Any, Sample, Ranking]]:
            positive, found = sample.positive, []
            for rows in per.rows:
                weight = None if sample.weight is None else sample.weight[rows]
                part = Sample(positive[rows], sample.score[rows], weight, 1)
                score, place = np.unique(part.score, return_inverse=True)  # the core wants both classes
                pos, neg = (_sums(place, part.weights * held)[::-1] for held in (part.y, ~part.y))
                found.append((rows, part, Ranking(pos, neg, score[::-1])))
            return found

        strata = sample.once(("strata", per), ranked)
        for name, (_, _, ranking) in zip(per.names, strata, strict=True):
            self._check_size(sum(ranking.sizes), f"the {{:g}} samples of {per.title} {label_text(name)}")
        return strata


def within_strata(values: F64, sample: Sample, strata: Strata) -> F64:
    """Return components of a sum over strata, of which the variances of strata add up.

    Each is centred within its class and stratum, and scaled so that ``sum c^2 / M / (M - 1)`` over the M samples of a
    class is ``sum_g s_g^2 / m_g``, s_g^2 the variance (divisor m_g - 1) of its m_g samples in stratum g. The only
    sample of a class in a stratum is centred by the mean of its class.
    """
    found = np.zeros_like(values)
    for rows in (sample.positive, ~sample.positive):
        place, c, w = strata.place[rows], values[rows], sample.weights[rows]
        size, total = _sums(place, w, len(strata.names)), float(w.sum())
        one = ~has_variance(size)
        mean = np.where(one, c @ w / total, quotient(_sums(place, w * c, len(size)), size))
        scale = np.sqrt(np.where(one, 1.0, quotient(size, size - 1.0) * (total - 1.0) / total))
        found[rows] = (c - mean[place]) * (scale * quotient(np.full_like(size, total), size))[place]
    return found


def _sums(place: Any, values: F64, count: int = 0) -> F64:
    return np.bincount(place, values, count).astype(np.float64)


@dataclass(frozen=True, repr=False)
class RecallAt(_AtK):
    """Recall (true positive rate) of the k highest scores: the share of the positives that k alerts find.

    Use it when you can act on k samples, and want to catch as many of the positives as possible.

    >>> from rocmax.metrics import RecallAt
    >>> RecallAt(2)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    >>> RecallAt(1, per=["mon", "mon", "tue", "tue"])([0, 1, 0, 1], [0.1, 0.4, 0.9, 0.8])
    0.5

    Parameters
    ----------
    k : int or float
        A number of samples if an integer of at least 1, a share of the samples if in (0, 1). The weights of the k
        highest scores add up to k.
    per : array-like of shape (n_samples,), default=None
        A column such as the day: the k highest scores of each of its values are taken, and counted together. Variances
        are ``sum_g (S10_g / m_g + S01_g / n_g)`` of what the values g, of m_g positives and n_g negatives, add to the
        measure; results count the positives found. Intervals are Wilson's of the share of the positives or of the
        alerts, whichever are fewer, that are found: of as many samples as give the variance, and no more than these.
        Takes no `by`, bootstrap and sampling weights.

    Notes
    -----
    All orders of tied scores are equally likely: if x of t tied samples, p of them positive, are among the first k,
    they add the expectation ``p x / t``. O(n log n).

    The samples set the cut. With r the share of positives near it and pi the prevalence, the components are
    ``(1 - r) 1[s_i above]`` of a positive and ``-r (1 - pi) / pi 1[t_j above]`` of a negative. r is estimated from the
    samples within two standard errors of the cut, and shrunk as if by four samples towards its value for normal scores
    with equal variances.
    """

    name: ClassVar[str] = "recall_at"
    as_rate: ClassVar[str] = "tpr"

    def whole(self, sizes: Counts) -> float:
        return sizes[0]


@dataclass(frozen=True, repr=False)
class PrecisionAt(_AtK):
    """Precision (positive predictive value) among the k highest scores: the share of k alerts that are positive.

    Use it when you can act on k samples, such as 200 alerts a day.

    >>> from rocmax.metrics import PrecisionAt
    >>> PrecisionAt(3)([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.3])
    0.6666666666666666

    Parameters
    ----------
    k : int or float
        As in :class:`RecallAt`.
    per : array-like of shape (n_samples,), default=None
        As in :class:`RecallAt`: ``PrecisionAt(200, per=df["date"])`` is the precision of 200 alerts a day.

    Notes
    -----
    With the class sizes fixed, it and its components are ``m / k`` times those of :class:`RecallAt`, for m positives;
    ties count as there. Sampling weights estimate the class sizes. O(n log n).
    """

    name: ClassVar[str] = "precision_at"
    as_rate: ClassVar[str] = "ppv"

    def whole(self, sizes: Counts) -> float:
        return self.alerts(sizes)

    def line(self, ranking: Ranking) -> tuple[float, float]:
        return 0.0, ranking.sizes[0] / self.alerts(ranking.sizes)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        (pos, neg), (m, n) = super().by_totals(sample), sample.totals
        value, share = self._checked(sample), self.share((m, n)) / self.alerts((m, n))
        return pos + value * (1.0 - m * share), neg - value * n * share

    def heaviest(self, one: Sample, share: float) -> tuple[float, float]:
        ranking = self.weights(one)
        cut = self.cut(ranking)
        most = min(float(one.weights[one.score >= ranking.score[cut.place]].max()) / cut.at, 1.0)
        return most, min(share, 1.0 - share) / most  # heavy rows of one class alone show no variance


@dataclass(frozen=True, repr=False)
class EnrichmentFactor(CutMeasure):
    """Enrichment factor: the number of positives among the first samples, over that in a random draw of as many.

    Use it in virtual screening, if a share of the library can be tested.

    >>> from rocmax.metrics import EnrichmentFactor
    >>> round(EnrichmentFactor(0.2)([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 6)
    3.333333

    Parameters
    ----------
    fraction : float in (0, 1], default=0.01
        The share of the samples that is screened.

    Notes
    -----
    ``EF = sum_i share_i / (n fraction)`` over the n positives, share_i being that of positive i among the first
    `fraction` of all samples by descending score. It lies between 0 and the lesser of ``1 / fraction`` and
    ``1 / prevalence``; 1 is chance. It, its components and its interval are those of :class:`RecallAt` divided by the
    fraction; ties count as there. O(n log n).
    """

    name: ClassVar[str] = "enrichment_factor"
    is_share = False  # whatever the fraction
    fraction: float = 0.01

    def __post_init__(self) -> None:
        self._read_number("fraction", "in (0, 1]", lambda value: _LEAST_FRACTION <= value <= 1.0)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.fraction

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.enrichment_factor(self.fraction)

    def __str__(self) -> str:
        return f"enrichment factor at {100 * self.fraction:g} %"

    def alerts(self, sizes: Counts) -> float:
        return self.fraction * sum(sizes)

    def line(self, ranking: Ranking) -> tuple[float, float]:
        return 0.0, 1.0 / self.fraction

    read = RankedMeasure.read


@dataclass(frozen=True, repr=False)
class EqualErrorRate(CutMeasure):
    """Equal error rate: the false positive rate at the point of the ROC curve where it equals the false negative rate.

    Use it in biometrics, to compare systems by one number. Lower is better, and 0.5 is chance.

    >>> from rocmax.metrics import EqualErrorRate
    >>> EqualErrorRate()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5

    Notes
    -----
    The curve, with straight lines between its points, crosses the diagonal from (0, 1) to (1, 0) there. O(n log n).
    With r the share of the positives' density in the sum of both densities, estimated as in :class:`RecallAt`, the
    components are ``-(1 - r) 1[s_i above]`` of a positive and ``r 1[t_j above]`` of a negative.
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

    by_totals = Measure.by_totals  # a point of the curve

    def rate_on(self, curves: inversion.Curves, ranking: Ranking) -> F64:
        return np.asarray(normal_cdf(curves.a / (1.0 + curves.b)))
