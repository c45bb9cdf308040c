"""Results in subgroups."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import check_choice
from rocmax._typing import Adjust
from rocmax.metrics import _words as words
from rocmax.metrics.intervals._hypothesis import ADJUSTED, Hypothesis, adjusted
from rocmax.metrics.results._inference import ConfidenceInterval, Inference
from rocmax.metrics.results._references import ADJUSTMENTS, REFERENCES
from rocmax.metrics.results._result import Measured
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

_SMALL = 0.05
_AT_ONCE = 256  # differences, each with a share for every subgroup
_NO_TEST = SubgroupTest(np.nan, 0, np.nan, np.nan, 0)
_COLUMNS = (
    "measure",
    "estimate",
    "standard_error",
    "ci_low",
    "ci_high",
    "method",
    "pvalue",
    "n_pos",
    "n_neg",
    "no_interval",
)


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

    @property
    def _crossed(self) -> float | None:
        crossed: float | None = self.moments.crossed
        return crossed

    def rows(self) -> list[dict[str, Any]]:
        (whole,) = super().rows()
        against = {one.subgroup: one for one in self.differences}
        shares = statistics.shares_of(totals_of(self.subgroups), "pairs").tolist()
        rows = [
            _row(name, one.rows()[0], share, against.get(name))
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
        listed = []
        for pair in self.differences:
            if pair.pvalue_adjusted < _SMALL and len(self.subgroups) > 2:
                places = self._places(pair.standard_error, change=True)
                change = words.with_ends(pair.difference, pair.confidence_interval, places)
                pvalue = words.p_value(pair.pvalue_adjusted)
                listed.append(f"{words.label_text(pair.subgroup)} {change}, {pvalue}")
        how = f"Different from the rest (p adjusted by {ADJUSTMENTS['holm']})"
        return [*texts, *([f"{how}: {'; '.join(listed)}"] if listed else [])]

    def _basis(self) -> list[str]:
        own = list(dict.fromkeys(one.method_in_words for one in self.subgroups.values()))
        others = [] if own == [self.method_in_words] else [f"intervals of subgroups: {', '.join(own)}"]
        return [*super()._basis(), *others]

    def _sources(self) -> tuple[str, ...]:
        own = [source for one in self.subgroups.values() for source in one._sources()]
        return (*super()._sources(), *own, *self._tested, *(("zou", "holm") if self.differences else ()))


def _row(name: Any, row: dict[str, Any], share: float, apart: SubgroupDifference | None = None) -> dict[str, Any]:
    """Return the row of a subgroup, with its difference from the rest."""
    change, (low, high), pvalue = np.nan, (np.nan, np.nan), np.nan
    if apart is not None:
        change, (low, high), pvalue = apart.difference, apart.confidence_interval, apart.pvalue_adjusted
    return {
        "subgroup": words.label_text(name),
        **{"pvalue_null" if key == "pvalue" else key: row[key] for key in _COLUMNS if key in row},
        "share": share,
        "difference": change,
        "difference_low": low,
        "difference_high": high,
        "pvalue_difference": pvalue,
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
