"""What inference in subgroups returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64, choice
from rocmax.metrics.intervals._hypothesis import ADJUSTED, adjusted
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._inference import ConfidenceInterval, Inference
from rocmax.metrics.results._references import ADJUSTMENTS, REFERENCES
from rocmax.metrics.samples._sample import has_variance
from rocmax.metrics.subgroups._estimates import SHARES, Estimates, SubgroupTest, difference, pooled, shares_of

_SMALL = 0.05
NO_TEST = SubgroupTest(np.nan, 0, np.nan, np.nan, 0)


class SubgroupDifference(NamedTuple):
    """The difference of a subgroup and another one, or all others pooled.

    Attributes
    ----------
    subgroup, against : label
        The subgroup and the other one; `against` is "the rest" for all others.
    difference, standard_error : float
        Estimate of the subgroup minus that of the other, and its standard error.
    confidence_interval : ConfidenceInterval
        Of the difference by itself (Zou and Donner, 2008).
    pvalue, pvalue_adjusted : float
        Two-sided: the least level at which the interval leaves 0 out; and adjusted for the number of differences.
    """

    subgroup: Any
    against: Any
    difference: float
    standard_error: float
    confidence_interval: ConfidenceInterval
    pvalue: float
    pvalue_adjusted: float


class PooledEstimate(NamedTuple):
    """A weighted mean of subgroups, its standard error and its interval."""

    estimate: float
    standard_error: float
    confidence_interval: ConfidenceInterval


@dataclass(frozen=True, repr=False, eq=False)
class SubgroupInference(Inference):
    """A measure in every subgroup, pooled within subgroups, and the test that all subgroups are equal.

    It is the :class:`Inference` of the pooled estimate: `estimate`, `confidence_interval`, `n_pos` and so on are those
    of ``sum_g m_g n_g T_g / sum_g m_g n_g``, T_g the measure of subgroup g and m_g and n_g the totals of its classes.
    Of an AUC that is the probability that a positive outranks a negative of the same subgroup, over the pairs that lie
    within subgroups.

    Attributes
    ----------
    by : str
        The name of the column that tells subgroups, "subgroup" for arrays.
    subgroups : dict
        The :class:`Inference` of each subgroup with both classes.
    equality : SubgroupTest
        That all subgroups have the same value: `statistic` (F), `df`, `df_denominator`, `pvalue` and `n_compared`.
    differences : tuple of SubgroupDifference
        Each subgroup with two samples of either class less all others pooled, p-values adjusted by Holm's method.
    not_estimable : dict
        Totals (positive, negative) of the subgroups without an estimate: those that lack a class, or have too few
        samples for the method.
    moments : Estimates
        Estimates, covariance and degrees of freedom of the subgroups, in the order of `subgroups`.
    """

    by: str = "subgroup"
    subgroups: Mapping[Any, Inference] = field(default_factory=dict)
    equality: SubgroupTest = NO_TEST
    differences: tuple[SubgroupDifference, ...] = ()
    not_estimable: Mapping[Any, tuple[float, float]] = field(default_factory=dict)
    moments: Any = None

    def pool(self, weights: str = "pairs") -> PooledEstimate:
        """Return a mean of the subgroups.

        Shares are taken as fixed numbers: the interval does not include how they would vary in another sample.

        Parameters
        ----------
        weights : {"pairs", "positives", "equal"}, default="pairs"
            What a subgroup counts for: its pairs m_g n_g, as in `estimate`; its positives m_g, which of an AUC gives
            the covariate-adjusted AUC (Janes and Pepe, 2009) [1]_; or 1.

        Returns
        -------
        PooledEstimate
            `estimate`, `standard_error` and `confidence_interval`, on the log-odds scale with the degrees of freedom of
            Welch and Satterthwaite.

        References
        ----------
        .. [1] H. Janes and M. S. Pepe, "Adjusting for covariate effects on classification accuracy using the
           covariate-adjusted receiver operating characteristic curve", Biometrika 96, 2009.
           :doi:`10.1093/biomet/asp002`
        """
        choice(weights, SHARES, "weights")
        found = pooled(self.moments, shares_of(self._totals, weights), self.measure)
        low, high = found.limits.ends(self.confidence_level)
        interval = ConfidenceInterval(float(low[0]), float(high[0]))
        return PooledEstimate(found.estimate, float(np.sqrt(found.variance)), interval)

    def pairwise(self, adjust: str | None = "holm") -> tuple[SubgroupDifference, ...]:
        """Return the differences of all pairs of subgroups.

        Parameters
        ----------
        adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
            How the p-values are adjusted for the number of pairs.

        Returns
        -------
        tuple of SubgroupDifference
            The first of every pair less the second, of those with two samples of either class.
        """
        choice(adjust, ADJUSTED, "adjust")
        names, unit = list(self.subgroups), np.eye(len(self.subgroups))
        kept = [k for k in range(len(names)) if has_variance(self.moments.sizes[k].min())]
        pairs = list(combinations(kept, 2))
        listed = [(names[a], names[b], unit[a], unit[b]) for a, b in pairs]
        return differences_of(self.moments, listed, self.measure, self.confidence_level, adjust)

    @property
    def _totals(self) -> F64:
        return totals_of(self.subgroups)

    def rows(self) -> list[dict[str, Any]]:
        kept = ("measure", "estimate", "standard_error", "ci_low", "ci_high", "method", "pvalue", "n_pos", "n_neg")
        against = {one.subgroup: one for one in self.differences}
        found = []
        shares = shares_of(self._totals, "pairs").tolist()
        for (name, inference), share in zip(self.subgroups.items(), shares, strict=True):
            (row,) = inference.rows()
            row = {"subgroup": words.label_text(name)} | {key: row[key] for key in kept if key in row}
            found.append(row | {"share": share} | _compared(against.get(name)))
        (whole,) = super().rows()
        blank = {key: np.nan for key in kept if key in whole} | {"measure": self.measure.short, "method": ""}
        for name, (n_pos, n_neg) in self.not_estimable.items():
            row = {"subgroup": words.label_text(name)} | blank | {"n_pos": n_pos, "n_neg": n_neg, "share": 0.0}
            found.append(row | _compared(None))
        row = {"subgroup": "pooled"} | {key: whole[key] for key in kept if key in whole}
        return [*found, row | {"share": 1.0} | _compared(None)]

    @property
    def equality_test(self) -> str:
        """The test that all subgroups are equal in words."""
        at_all = len(self.subgroups) + len(self.not_estimable)
        return equality_in_words(self.equality, at_all, self.moments.crossed)

    @property
    def _of_by(self) -> str:
        """What tells subgroups, in words."""
        return "" if self.by == "subgroup" else f" of {self.by}"

    def _lines(self) -> list[str]:
        hidden = ("measure", "method", "standard_error", "share", "difference_low", "difference_high")
        rows = [{key: value for key, value in row.items() if key not in hidden} for row in self.rows()]
        return [
            f"{self.measure_in_words} by {self.by} ({words.level(self.confidence_level)}{self._fixed}; difference: from"
            f" the rest, p adjusted by {ADJUSTMENTS['holm']})",
            *words.text_table(rows),
            "pooled: pairs within subgroups",
            f"all equal: {self.equality_test}",
        ]

    def _sentences(self, basis: str) -> list[str]:
        level = words.level(self.confidence_level)

        def told(one: Inference) -> tuple[str, str]:
            places = self._places(one.standard_error, one.confidence_interval)
            return words.digits(one.estimate, places), words.ends(one.confidence_interval, places)

        value, between = told(self)
        pooled_in_words = f"{self.measure_in_words} within subgroups{self._of_by}, pooled by pairs"
        found = [f"{words.named(pooled_in_words, value)} ({level} {between}; {basis}){self._only_test}"]
        each = []
        for name, one in self.subgroups.items():
            value, between = told(one)
            each.append(f"{words.label_text(name)} {value} ({between}; {words.samples(one.n_pos, one.n_neg)})")
        found.append(f"By {self.by}: {'; '.join(each)}")
        if self.not_estimable:
            found.append(f"Not estimable: {lacking_in_words(self.not_estimable)}")
        found.append(f"Equality of subgroups: {self.equality_test}")
        apart = [one for one in self.differences if one.pvalue_adjusted < _SMALL]
        if apart and len(self.subgroups) > 2:
            listed = []
            for pair in apart:
                places = self._places(pair.standard_error)
                value, between = words.digits(pair.difference, places), words.ends(pair.confidence_interval, places)
                pvalue = words.p_value(pair.pvalue_adjusted)
                listed.append(f"{words.label_text(pair.subgroup)} {value} ({between}), {pvalue}")
            found.append(f"Different from the rest (p adjusted by {ADJUSTMENTS['holm']}): {'; '.join(listed)}")
        return found

    def _basis(self) -> list[str]:
        counted = len(self.subgroups)
        found = [*super()._basis(), f"{counted} subgroup{'' if counted == 1 else 's'}"]
        own = list(dict.fromkeys(one.method_in_words for one in self.subgroups.values()))
        return found if own == [self.method_in_words] else [*found, f"intervals of subgroups: {', '.join(own)}"]

    def _sources(self) -> tuple[str, ...]:
        own = [source for one in self.subgroups.values() for source in one._sources()]
        tested = () if np.isnan(self.equality.pvalue) or self.moments.crossed is not None else ("welch",)
        return (*super()._sources(), *own, *tested, *(("zou", "holm") if self.differences else ()))


def equality_in_words(test: SubgroupTest, n_subgroups: int, crossed: float | None, *, welch: bool = True) -> str:
    """Return a test of equality in words; `crossed` is the number of clusters, where they cross subgroups."""
    if np.isnan(test.pvalue):
        return "no test, which needs two subgroups with two samples of either class and a variance"
    how = f" ({REFERENCES['welch'].short if crossed is None else 'Hotelling'})" if welch else ""
    if np.isinf(test.df_denominator):
        statistic = f"chi-square {words.digits(test.statistic * test.df, 2)} with {test.df:g}"
    else:
        statistic = f"F {words.digits(test.statistic, 2)} with {test.df:g} and {test.df_denominator:.1f}"
    of = f"; {test.n_compared} of {n_subgroups} subgroups" if test.n_compared < n_subgroups else ""
    return f"{statistic} degrees of freedom, {words.p_value(test.pvalue)}{how}{of}"


def lacking_in_words(sizes: Mapping[Any, tuple[float, float]]) -> str:
    """Return the subgroups without an estimate, with their samples."""
    return "; ".join(f"{words.label_text(name)} ({words.samples(*counts)})" for name, counts in sizes.items())


def _compared(one: SubgroupDifference | None) -> dict[str, Any]:
    """Return the columns of a difference."""
    if one is None:
        return dict.fromkeys(("difference", "difference_low", "difference_high", "pvalue_adjusted"), np.nan)
    low, high = one.confidence_interval
    return {
        "difference": one.difference,
        "difference_low": low,
        "difference_high": high,
        "pvalue_adjusted": one.pvalue_adjusted,
    }


def totals_of(subgroups: Mapping[Any, Any]) -> F64:
    """Return the totals (n_subgroups, 2) of the classes."""
    return np.array([[one.n_pos, one.n_neg] for one in subgroups.values()], dtype=np.float64)


def differences_of(
    moments: Estimates, listed: list[tuple[Any, Any, F64, F64]], measure: Any, level: float, adjust: str | None
) -> tuple[SubgroupDifference, ...]:
    """Return differences of means with two lists of shares each."""
    found = [difference(moments, first, second, measure, level) for *_, first, second in listed]
    pvalues = adjusted(np.array([one.pvalue for one in found]), adjust)
    return tuple(
        SubgroupDifference(
            name, against, one.difference, one.error, ConfidenceInterval(one.low, one.high), one.pvalue, float(p)
        )
        for (name, against, *_), one, p in zip(listed, found, pvalues, strict=True)
    )


def from_the_rest(
    moments: Estimates, subgroups: Mapping[Any, Inference], measure: Any, level: float
) -> tuple[SubgroupDifference, ...]:
    """Return what every subgroup differs by from the others pooled; of two subgroups that is one test.

    One sample of a class says nothing of how others vary: such a subgroup is among the others, but not compared.
    """
    count = len(subgroups)
    if count < 2:
        return ()
    pairs, listed = totals_of(subgroups).prod(axis=1), []
    for k, name in enumerate(subgroups):
        if not has_variance(moments.sizes[k].min()):
            continue
        own = np.eye(count)[k]
        rest = pairs * (1 - own)
        listed.append((name, "the rest", own, rest / rest.sum()))
    return differences_of(moments, listed, measure, level, "holm" if count > 2 else None)
