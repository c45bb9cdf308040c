"""A measure in every subgroup, pooled within subgroups, and the test that all subgroups are equal."""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.arrays import declared_order
from rocmax._checks.samples import F64, names_of
from rocmax._parameters import check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._typing import Adjust
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _words as words
from rocmax.metrics._references import ADJUSTMENTS, REFERENCES
from rocmax.metrics.intervals._hypothesis import ADJUSTED, Hypothesis, adjusted
from rocmax.metrics.intervals._interval import Law, critical, no_width, percentiles, satterthwaite, wald
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.cuts import EnrichmentFactor, PrecisionAt, RecallAt, TooFewSamples
from rocmax.metrics.measures.ranked import BEDROC, RIE, MeanMeasure, RankedMeasure
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.methods.base import Interval, Query, variance_of, without_limits
from rocmax.metrics.methods.bootstrap import without_variance
from rocmax.metrics.methods.defaults import default_method, estimated
from rocmax.metrics.methods.score import Score
from rocmax.metrics.results._inference import ConfidenceInterval, Inference
from rocmax.metrics.results._result import Measured
from rocmax.metrics.samples._sample import Sample, centre, explain, has_variance, require_clusters
from rocmax.metrics.subgroups import _estimates as statistics
from rocmax.metrics.subgroups._estimates import (
    Estimates,
    PooledEstimate,
    Rest,
    Shares,
    Single,
    SubgroupDifference,
    SubgroupTest,
)
from rocmax.metrics.variances._components import most_freedom, range_part, variance_parts
from rocmax.metrics.variances._resample import seed_of

Found = TypeVar("Found")

_POOLED = 2  # samples beyond the threshold in every subgroup
_LISTED = 20  # subgroups that a warning names
#: Measures without an option for the prevalence whose values depend on it.
_OF_PREVALENCE = (PrecisionAt, RecallAt, EnrichmentFactor, RIE, BEDROC)
_SMALL = 0.05
_AT_ONCE = 256  # differences, each with a share for every subgroup
_NO_TEST = SubgroupTest(np.nan, 0, np.nan, np.nan, 0)
_NO_CHANGE = statistics.SubgroupDifference("", "", np.nan, np.nan, ConfidenceInterval(np.nan, np.nan), np.nan, np.nan)
_HIDDEN = ("caught", "alerts", "weight_kind", "threshold", "statistic")


@dataclass(frozen=True, repr=False, eq=False)
class BySubgroup(Measured):
    """What results in subgroups have in common; both say what the attributes are."""

    by: str = "subgroup"
    subgroups: Mapping[Any, Any] = field(default_factory=dict)
    equality: SubgroupTest = _NO_TEST
    not_estimable: Mapping[Any, tuple[float, float]] = field(default_factory=dict)

    pooled_in_words: ClassVar[str] = "measured within each subgroup, then averaged"
    _crossed: ClassVar[Any]  # number of clusters, where they cross subgroups
    _test_of_equality: ClassVar[Any] = "welch"  # the source of the test where clusters do not cross

    @property
    def _pooled(self) -> str:
        """What is pooled, in words."""
        of = "" if self.by == "subgroup" else f" of {self.by}"
        return f"{super().measure_in_words} within subgroups{of}, pooled by pairs"

    @property
    def equality_test(self) -> str:
        """The test that all subgroups are equal in words."""
        test, at_all = self.equality, len(self.subgroups) + len(self.not_estimable)
        if np.isnan(test.pvalue):
            if refused := [name for name, one in self.subgroups.items() if one.no_interval]:
                return f"no test, because {self.by} {words.label_text(refused[0])} has no interval"
            return "no test, which needs two subgroups with two samples of either class and a variance"
        how = "Hotelling" if self._crossed is not None else REFERENCES[self._test_of_equality].short
        of = f"; {test.n_compared} of {at_all} subgroups" if test.n_compared < at_all else ""
        return f"{words.f_test(test)} ({how}){of}"

    def _lacking(self) -> list[str]:
        """Return the sentence about the subgroups without an estimate, if there are any."""
        sizes = self.not_estimable.items()
        listed = "; ".join(f"{words.label_text(name)} ({words.samples(*counts)})" for name, counts in sizes)
        return [f"Not estimable: {listed}"] if sizes else []

    def _basis(self) -> list[str]:
        counted = len(self.subgroups)
        return [*super()._basis(), f"{counted} subgroup{'' if counted == 1 else 's'}"]

    @property
    def _tested(self) -> tuple[str, ...]:
        """The source of the test of equality, if it is not Hotelling's."""
        tested = self._crossed is None and np.isfinite(self.equality.df_denominator)
        return (self._test_of_equality,) if tested else ()


@dataclass(frozen=True, repr=False, eq=False)
class SubgroupInference(BySubgroup, Inference):
    """A measure in every subgroup, pooled within subgroups, and the test that all subgroups are equal.

    It is the :class:`Inference` of the pooled estimate, the mean over the subgroups weighted by their numbers of pairs.
    For an AUC that is the probability that a positive outranks a negative of the same subgroup.

    Tables hold two p-values, of different tests: "pvalue_null" of the measure of a row against `null_value`, if there
    is one, and "pvalue_difference" of the row's `difference` from all other subgroups against 0, adjusted by Holm's
    method.

    Attributes
    ----------
    by : str
        Name of the column of subgroups, "subgroup" for arrays.
    subgroups : dict
        The :class:`Inference` of each subgroup with both classes.
    equality : SubgroupTest
        That all subgroups have the same value: `statistic` (F), `df`, `df_denominator`, `pvalue` and `n_compared`.
    differences : tuple of SubgroupDifference
        Each subgroup with two samples of either class minus all others pooled, p-values adjusted by Holm's method.
    not_estimable : dict
        Totals (positive, negative) of the subgroups without an estimate: those that lack a class, or have too few
        samples for the method.
    moments : Estimates
        Estimates, covariance and degrees of freedom of the subgroups, in the order of `subgroups`.
    """

    differences: tuple[SubgroupDifference, ...] = ()
    moments: Any = None
    _crossed = property(lambda self: self.moments.crossed)

    def pool(self, weights: Literal["pairs", "positives", "equal"] = "pairs") -> PooledEstimate:
        """Return a mean of the subgroups.

        The interval takes the weights as fixed.

        Parameters
        ----------
        weights : {"pairs", "positives", "equal"}, default="pairs"
            The weight of a subgroup: its pairs m_g n_g, as in `estimate`; its positives m_g, which gives for an AUC
            the covariate-adjusted AUC (Janes and Pepe, 2009) [1]_; or 1.

        Returns
        -------
        PooledEstimate
            `estimate`, `standard_error` and `confidence_interval`: on the log-odds scale with the degrees of freedom of
            Welch and Satterthwaite, or the sum of the score intervals of subgroups (Zou and Donner, 2008) about their
            medians, where few samples decide.

        References
        ----------
        .. [1] H. Janes and M. S. Pepe, "Adjusting for covariate effects on classification accuracy using the
           covariate-adjusted receiver operating characteristic curve", Biometrika 96, 2009.
           :doi:`10.1093/biomet/asp002`
        """
        check_choice("weights", weights, statistics.SHARES)
        share = statistics.shares_of(totals_of(self.subgroups), weights)
        if self.no_interval:
            return PooledEstimate(float(share @ self.moments.estimate), np.nan, ConfidenceInterval(np.nan, np.nan))
        found = statistics.pooled(self.moments, Shares(share[None]), self.measure)
        low, high = np.ravel(found.limits.at(self.confidence_level))
        if self.moments.ends is not None:
            low, high = statistics.summed(self.moments.ends, share)
        interval = ConfidenceInterval(float(low), float(high))
        return PooledEstimate(float(found.estimate[0]), float(np.sqrt(found.variance[0])), interval)

    def pairwise(self, adjust: Adjust | None = "holm") -> tuple[SubgroupDifference, ...]:
        """Return the differences of all pairs of subgroups.

        Parameters
        ----------
        adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
            How the p-values are adjusted for the number of pairs.

        Returns
        -------
        tuple of SubgroupDifference
            The first of every pair minus the second, of subgroups with two samples of either class.
        """
        check_choice("adjust", adjust, ADJUSTED)
        kept = np.flatnonzero(self.moments.known).tolist()
        names, pairs = list(self.subgroups), list(combinations(kept, 2))

        def shares(some: list[tuple[int, int]]) -> tuple[Any, Any]:
            first, second = (_single(np.array([pair[side] for pair in some]), self.moments) for side in (0, 1))
            return first, second

        listed = [(names[a], names[b]) for a, b in pairs]
        return differences_of(self.moments, pairs, shares, listed, self.measure, self.confidence_level, adjust)

    def rows(self) -> list[dict[str, Any]]:
        (whole,) = super().rows()
        against = {one.subgroup: one for one in self.differences}
        shares = statistics.shares_of(totals_of(self.subgroups), "pairs").tolist()
        rows = [
            _row(name, one.rows()[0], share, against.get(name, _NO_CHANGE))
            for (name, one), share in zip(self.subgroups.items(), shares, strict=True)
        ]
        blank = dict.fromkeys(whole, np.nan) | {"measure": self.measure.short, "method": ""}
        for name, (n_pos, n_neg) in self.not_estimable.items():
            rows.append(_row(name, blank | {"n_pos": n_pos, "n_neg": n_neg}, 0.0))
        return reasons_last([*rows, _row("pooled", whole, 1.0)])

    def _lines(self) -> list[str]:
        hidden = ("measure", "method", "standard_error", "share", "difference_low", "difference_high")
        rows = [{key: value for key, value in row.items() if key not in hidden} for row in self.rows()]
        null = f"; pvalue_null: {self._against}" if self._against else ""
        return [
            f"{self.measure_in_words} by {self.by} ({words.level(self.confidence_level)}{self._fixed}{null};"
            f" difference: from the rest, pvalue_difference adjusted by {ADJUSTMENTS['holm']})",
            *words.text_table(rows, self._bounded),
            f"pooled: {self.pooled_in_words}",
            f"all equal: {self.equality_test}",
        ]

    def _sentences(self, basis: str) -> list[str]:
        each = []
        for name, one in self.subgroups.items():
            places = self._places(one.standard_error, one.confidence_interval)
            value = words.digits(one.estimate, places)
            between = one._level if one.no_interval else words.ends(one.confidence_interval, places)
            each.append(f"{words.label_text(name)} {value} ({between}; {words.samples(one.n_pos, one.n_neg)})")
        texts = [f"{self._said(self._pooled, basis)}{self._only_test}", f"By {self.by}: {words.listing(each, '; ')}"]
        texts += [*self._lacking(), f"Equality of subgroups: {self.equality_test}"]
        listed = [
            f"{words.label_text(pair.subgroup)} {self._change(pair)}, {words.p_value(pair.pvalue_adjusted)}"
            for pair in self.differences
            if pair.pvalue_adjusted < _SMALL and len(self.subgroups) > 2
        ]
        how = f"Different from the rest (p adjusted by {ADJUSTMENTS['holm']})"
        return [*texts, *([f"{how}: {'; '.join(listed)}"] if listed else [])]

    def _basis(self) -> list[str]:
        own = list(dict.fromkeys(one.method_in_words for one in self.subgroups.values()))
        others = [] if own == [self.method_in_words] else [f"intervals of subgroups: {', '.join(own)}"]
        return [*super()._basis(), *others]

    def _sources(self) -> tuple[str, ...]:
        own = [source for one in self.subgroups.values() for source in one._sources()]
        return (*super()._sources(), *own, *self._tested, *(("zou", "holm") if self.differences else ()))


def _row(name: Any, row: dict[str, Any], share: float, apart: SubgroupDifference = _NO_CHANGE) -> dict[str, Any]:
    """Return the row of a subgroup, with its difference from the rest."""
    low, high = apart.confidence_interval
    return {
        "subgroup": words.label_text(name),
        **{"pvalue_null" if key == "pvalue" else key: value for key, value in row.items() if key not in _HIDDEN},
        "share": share,
        "difference": apart.difference,
        "difference_low": low,
        "difference_high": high,
        "pvalue_difference": apart.pvalue_adjusted,
    }


def reasons_last(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows that all say, in a last column, why they have no interval, if one of them has none."""
    reasons = [row.pop("no_interval", None) for row in rows]
    texts = [why if isinstance(why, str) else "" for why in reasons]
    return [row | {"no_interval": why} for row, why in zip(rows, texts, strict=True)] if any(texts) else rows


def totals_of(subgroups: Mapping[Any, Any]) -> F64:
    """Return the totals (n_subgroups, 2) of the classes."""
    return np.array([[one.n_pos, one.n_neg] for one in subgroups.values()], dtype=np.float64)


def differences_of(
    moments: Estimates,
    listed: list[Any],
    shares: Callable[[list[Any]], tuple[Any, Any]],
    names: list[tuple[Any, Any]],
    measure: Any,
    level: float,
    adjust: str | None,
) -> tuple[SubgroupDifference, ...]:
    """Return differences of means: `shares` gives those of subgroups in both, for some of the listed differences."""
    found = []
    for start in range(0, len(listed), _AT_ONCE):
        change, error, limits = statistics.contrasts(moments, *shares(listed[start : start + _AT_ONCE]), measure)
        found.append([change, error, *limits.at(level), Hypothesis().test(limits.tails)[1]])
    if not found:
        return ()
    columns = np.concatenate(found, axis=1)
    pvalues = adjusted(columns[-1], adjust)
    return tuple(
        SubgroupDifference(*pair, d, error, ConfidenceInterval(low, high), pvalue, after)
        for pair, (d, error, low, high, pvalue), after in zip(names, columns.T.tolist(), pvalues.tolist(), strict=True)
    )


def from_the_rest(
    moments: Estimates, subgroups: Mapping[Any, Inference], measure: Any, level: float
) -> tuple[SubgroupDifference, ...]:
    """Return the difference of every subgroup from the others pooled, of two once, of those with a variance."""
    count = len(subgroups)
    if count < 2 or not np.isfinite(moments.variance).all():
        return ()
    pairs = totals_of(subgroups).prod(axis=1)
    listed = np.flatnonzero(moments.known).tolist()

    def shares(some: list[int]) -> tuple[Any, Any]:
        own = _single(np.array(some), moments)
        if isinstance(own, Single):
            return own, Rest(own.places, pairs)
        rest = pairs * (1 - own.of)
        return own, Shares(rest / rest.sum(axis=1, keepdims=True))

    names = list(subgroups)
    against = [(names[k], "the rest") for k in listed]
    return differences_of(moments, listed, shares, against, measure, level, "holm" if count > 2 else None)


def _single(places: Any, moments: Estimates) -> Any:
    """Return the shares of single subgroups; where clusters cross, with a 0 for every other subgroup."""
    return Single(places) if moments.sums is None else Shares((places[:, None] == np.arange(len(moments.sizes))) * 1.0)


class Parts(NamedTuple):
    """Subgroups with both classes, and the totals of those without."""

    by: str
    samples: dict[Any, Sample]
    lacking: dict[Any, tuple[float, float]]
    order: list[Any]
    crossed: list[NDArray[np.intp]] | None  # the clusters of every sample, numbered over all, where they cross


def split(data: Sample, by: Any) -> Parts:
    """Split samples into subgroups; categories keep their order, other names are sorted."""
    explain(data)
    names, place = names_of(by, len(data.y), "by", data.remedy)
    keys = names.tolist()
    if names.dtype.kind in "mM" and isinstance(keys[0], int):  # as nanoseconds become
        keys = list(names)
    categories = declared_order(by) or getattr(getattr(by, "cat", by), "categories", None)
    known = () if categories is None or callable(categories) else categories
    rank = {name: k for k, name in enumerate(known)}
    order = sorted(range(len(keys)), key=lambda k: rank.get(keys[k], len(rank)))
    require_clusters(data.group, "by")
    data, samples, lacking, clusters = data._replace(y=data.positive), {}, {}, []
    # The rows of every subgroup, in their order.
    held = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place, minlength=len(keys)))[:-1])
    for k in order:
        part = data.take(held[k])
        n_pos, n_neg = part.totals
        if n_pos > 0 and n_neg > 0:
            samples[keys[k]] = part.scored(part.score)
            clusters += [] if data.group is None else [data.group[held[k]]]
        else:
            lacking[keys[k]] = n_pos, n_neg
    if len(samples) == 1:
        warn("by has one subgroup with samples of both classes: their equality is not tested", UserWarning)
    held_in = [np.unique(one) for one in clusters]
    crossed = len(held_in) > 1 and len(np.unique(np.concatenate(held_in))) < sum(map(len, held_in))
    title = getattr(by, "name", None)
    column = words.label_text(title) if isinstance(title, str) and title else "subgroup"
    return Parts(column, samples, lacking, [keys[k] for k in order], clusters if crossed else None)


def each(parts: Parts, estimate: Callable[[Sample, int], Found]) -> tuple[dict[Any, Found], dict[Any, Any]]:
    """Estimate in every subgroup; return the results, and the totals of subgroups with too few samples."""
    results: dict[Any, Found] = {}
    lacking, facts = dict(parts.lacking), dict[str, str]()
    for k, (name, one) in enumerate(parts.samples.items()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                results[name] = estimate(one, k)
            except ValueError as error:
                few = not has_variance(min(one.effective)) or one.group is not None
                if not few and not isinstance(error, TooFewSamples):
                    raise ValueError(f"subgroup {shown(name)} of by: {error}") from error
                lacking[name], facts[words.label_text(name)] = one.totals, f"not estimable: {error}"
                continue
        for warning in caught[:1]:
            facts[words.label_text(name)] = getattr(warning.message, "fact", str(warning.message))
    if not results:
        first = "".join(f": {shown(name)} is {facts[words.label_text(name)]}" for name in [*parts.samples][:1])
        raise ValueError(f"no subgroup of by has enough samples of both classes{first}")
    if facts:  # one warning for all subgroups
        listed = "; ".join(f"{name}: {fact}" for name, fact in list(facts.items())[:_LISTED])
        listed += f"; and {len(facts) - _LISTED} more" if len(facts) > _LISTED else ""
        warn(CoverageWarning(f"{len(facts)} of {len(parts.order)} subgroups need caution ({listed})"))
    return results, {name: lacking[name] for name in parts.order if name in lacking}


def in_subgroups(
    data: Sample,
    by: Any,
    query: Query,
    inferred: Callable[[Sample, Query], Inference],
    result: Callable[[Interval, Query, Sample], Inference],
) -> SubgroupInference:
    """Measure every subgroup by `inferred` and pool them; `result` makes an :class:`Inference` of an interval."""
    measure, seed = query.measure, seed_of(query.seed)
    parts = split(data, by)
    results, lacking = each(parts, lambda sample, k: inferred(sample, query._replace(seed=(seed + k) % 2**64)))
    moments = moments_of(parts, results, measure)
    share = statistics.shares_of(totals_of(results), "pairs")
    kept = [parts.samples[name] for name in results]
    interval = _pooled(moments, share, list(results.values()), kept, measure)
    methods = [query.method or default_method(measure, query.known, one.effective) for one in kept]
    # Sums of score intervals of AUCs undercover where positives vary more than negatives; those of counts are too wide.
    # Means over few positives are biased, which the sums take into account.
    summed = any(isinstance(method, Score) for method in methods) and (query.method or not measure.counts_pairs)
    if summed and not (query.method or isinstance(measure, MeanMeasure) or moments.parts is None):
        calm = moments._replace(of_means=moments.parts.sum(axis=1))
        mean = statistics.pooled(calm, Shares(share[None]), measure)
        if moments.known.all() and not statistics.needs_scores(mean, kept, share, measure):
            moments, interval, summed = calm, mean, False
    if moments.sums is None and summed:
        limits = [estimated(query.method, one, measure).limits for one in kept]
        known = getattr(measure, "pooled", False) and not query.method and moments.parts is not None
        interval = (
            statistics.of_alerts(mean, kept, share, measure) if known else statistics.of_scores(interval, limits, share)
        )
        levels = [[one.ends(z) for one in limits] for z in (0.0, critical(query.question.level))]
        moments = moments._replace(ends=np.array(levels)[..., 0].swapaxes(1, 2))
    reason = pooled_refusal(parts, results, query)
    if reason is not None:
        interval = without_limits(interval.estimate, interval.method, reason)
    return SubgroupInference(
        **held_by(lambda: result(interval, query, data), parts, results, lacking),
        equality=statistics.equality(moments, measure),
        differences=from_the_rest(moments, results, measure, query.question.level),
        moments=moments,
    )


def pooled_refusal(parts: Parts, results: Mapping[Any, Measured], query: Query) -> str | None:
    """Return why the pooled measure has no interval by default, or None: thresholds of one negative are too high."""
    none = next((name for name, one in results.items() if one.no_interval is not None), None)
    if none is not None:
        return f"{parts.by} {words.label_text(none)} has none"
    for name in results if isinstance(query.measure, Rate) and query.method is None else ():
        count, held = query.measure.limiting_sizes(parts.samples[name].effective)[1]
        if count < _POOLED:
            return f"{parts.by} {words.label_text(name)} has only {count:.2g} {held}, a pooled rate needs {_POOLED}"
    return None


def held_by(whole: Callable[[], Any], parts: Parts, subgroups: dict[Any, Any], lacking: Any) -> dict[str, Any]:
    """Return the fields of a pooled result; if subgroups lack an estimate, only the samples of others are counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoverageWarning)  # every subgroup has given its own
        found = whole()
    held = {field.name: getattr(found, field.name) for field in fields(found)}
    for name in ("n_samples", "n_pos", "n_neg") if lacking else ():
        held[name] = sum(getattr(one, name) or 0 for one in subgroups.values())
    return held | {"by": parts.by, "subgroups": subgroups, "not_estimable": lacking}


def _pooled(
    moments: Estimates, share: F64, inferences: Sequence[Inference], samples: Sequence[Sample], measure: Measure
) -> Interval:
    """Return the pooled interval; for a bootstrap from the mean replicates, if they differ."""
    mean, replicates = statistics.pooled(moments, Shares(share[None]), measure), [one.replicates for one in inferences]
    if any(values is None for values in replicates):
        return mean
    values = (np.column_stack(replicates) @ share)[:, None]  # type: ignore[arg-type]
    variance, at = variance_of(values), mean.estimate
    if no_width(values.min(), values.max(), measure.bounds):
        pairs = zip(moments.estimate[:, None], samples, strict=True)
        certain = [without_variance(*pair, measure) for pair in pairs] if isinstance(measure, RankedMeasure) else []
        own = [one.limits for one in certain if one is not None]
        if own:  # up to the greatest values of their classes
            mean = statistics.of_scores(mean, own, share)._replace(source="wilson")
        return mean._replace(method="bootstrap", replicates=values)
    limits = percentiles(values, wald(at, np.sqrt(variance), Law()))
    return Interval(at, variance, limits, "bootstrap", values, source="percentile")


def moments_of(parts: Parts, results: dict[Any, Inference], measure: Measure) -> Estimates:
    """Return estimates, covariance and degrees of freedom of the subgroups."""
    samples = [parts.samples[name] for name in results]
    estimate = np.array([float(np.ravel(one.estimate)[0]) for one in results.values()])
    variance = np.array([float(np.ravel(one.variance)[0]) for one in results.values()])
    sizes = np.array([_sizes(one, measure) for one in samples], dtype=np.float64)
    own = zip(*(_of_classes(one, measure) for one in samples), strict=True)
    of_class, counts, most = (np.array(column, dtype=np.float64) for column in own)
    freedom = np.minimum(satterthwaite(of_class.T, counts.T - 1.0, np.maximum(counts.min(axis=1) - 1, 1.0)), most)
    sums, n_clusters = covariance_between_subgroups(parts, results, measure)
    independent = Trait.COMPONENTS in measure.traits and all(one.group is None for one in samples)
    of_prevalence = None
    if getattr(measure, "prevalence", 0.0) is None or type(measure) in _OF_PREVALENCE:
        of_prevalence = np.array([_prevalence_variance(one, measure) for one in samples])
    own_parts = of_class if independent else None
    return Estimates(estimate, variance, freedom, sizes, n_clusters, sums, own_parts, of_prevalence)


def _prevalence_variance(sample: Sample, measure: Measure) -> float:
    """Return what an estimated prevalence, changed by class weights, adds to a variance: half the change, squared."""
    n_pos, n_neg = sample.totals
    pi, n = n_pos / (n_pos + n_neg), sum(sample.effective)
    error = np.sqrt(pi * (1 - pi) / n)
    if sample.group is not None:
        apart = np.bincount(sample.group, sample.positive - pi) / len(sample.y)
        error = np.sqrt(len(apart) / max(len(apart) - 1, 1) * (apart @ apart))
    step = min(error, pi / 2, (1 - pi) / 2)
    values = []
    for other in (pi - step, pi + step):
        changed = sample.weights * np.where(sample.positive, other / pi, (1 - other) / (1 - pi))
        values.append(float(measure.estimates(sample._replace(weight=changed, group=None))[0]))
    return float(((values[1] - values[0]) / 2 * error / step) ** 2)


def _sizes(sample: Sample, measure: Measure) -> tuple[float, float]:
    """Return the sizes of the classes; with clusters, those of the samples that decide the measure."""
    if sample.group is None or measure.counts_pairs:
        return sample.effective
    (own, _), (setting, _) = measure.limiting_sizes(sample.effective)
    return own, setting


def _of_classes(sample: Sample, measure: Measure) -> tuple[list[float], list[float], float]:
    """Return the parts of either class in a variance, their sizes, and the most degrees of freedom."""
    fewest = min(sample.effective)
    if not has_variance(fewest) or Trait.COMPONENTS not in measure.traits:
        return [0.0, 0.0], [max(fewest, 2.0)] * 2, np.inf  # at least as uncertain as the variance of two samples
    _, parts, sizes = variance_parts(sample, measure)
    of_class = [float(part[0]) for part in parts]
    if (few := range_part(sample, measure)) is not None:
        of_class[few[0]] = float(few[1][0, 0])
    return of_class, [float(np.ravel(size)[0]) for size in sizes], most_freedom(sample)


def covariance_between_subgroups(parts: Parts, kept: Collection[Any], measure: Measure) -> tuple[Any, float | None]:
    """Return the shares of clusters that cross subgroups in the deviations of the models, and the number of clusters.

    The covariance of subgroups g and h is ``I / (I - 1) sum_c (A_cg / m_g + B_cg / n_g) (A_ch / m_h + B_ch / n_h)``
    over the I clusters, A_cg and B_cg the sums of the centred components of the positives and the negatives of cluster
    c in subgroup g: what Obuchowski's (1997) variance adds for positives and negatives of a cluster. The rows of the
    sparse array are the models of the first subgroup, of the second and so on; it is None where no cluster crosses.
    """
    if parts.crossed is None:
        return None, None
    import scipy.sparse as sp  # takes a while to import

    samples = [sample for name, sample in parts.samples.items() if name in kept]
    groups = [group for name, group in zip(parts.samples, parts.crossed, strict=True) if name in kept]
    numbers, place = np.unique(np.concatenate(groups), return_inverse=True)
    count, rows = len(numbers), []
    for sample, where in zip(samples, np.split(place, np.cumsum([len(one) for one in groups])[:-1]), strict=True):
        held, own = np.unique(where, return_inverse=True)
        for components in measure.influences(sample)[1]:
            row = np.zeros(len(held))
            for members in (sample.positive, ~sample.positive):
                values = centre(components[members])
                row += np.bincount(own[members], values, len(held)) / np.count_nonzero(members)
            rows.append((held, row))
    starts = np.cumsum([0] + [len(held) for held, _ in rows])
    places, values = (np.concatenate(column) for column in zip(*rows, strict=True))
    values *= np.sqrt(count / (count - 1))
    return sp.csr_array((values, places, starts), shape=(len(rows), count)), float(count)
