"""The results of the analysis of a reader study, and how they are printed."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics import _words as words
from rocmax.metrics._references import REFERENCES
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.results._result import Measured

_SOURCES = ("obuchowski-rockette", "hillis")
#: Figures of merit of a free-response study.
FIGURES = ("wAFROC", "AFROC", "wAFROC1", "AFROC1", "HrAUC")


class ModalityMean(NamedTuple):
    """The mean of one modality over its readers; `df` is infinite if the readers are fixed."""

    modality: Any
    mean: float
    standard_error: float
    df: float
    confidence_interval: ConfidenceInterval


class ModalityDifference(NamedTuple):
    """The mean of `modality_a` minus the mean of `modality_b`, and its test."""

    modality_a: Any
    modality_b: Any
    difference: float
    standard_error: float
    df: float
    confidence_interval: ConfidenceInterval
    statistic: float
    pvalue: float


class MissingReadings(NamedTuple):
    """The cases that a reader did not read in a modality."""

    modality: Any
    reader: Any
    cases: tuple[Any, ...]


@dataclass(frozen=True, repr=False, eq=False)
class MRMCAnalysis(Measured):
    """Means of the modalities over the readers, their differences and tests.

    Attributes
    ----------
    modalities, readers : ndarray
        Their names, sorted, or in the order of an ordered categorical; `reference` is the last modality.
    estimates : ndarray of shape (n_modalities, n_readers)
        The measure for every reader and modality.
    means : ndarray of shape (n_modalities,)
        Means of the estimates over the readers.
    statistic : float
        The statistic of the test; `distribution` names it.
    distribution : {"F", "chi-square", "t", "normal"}
        F for a two-sided test, t for a one-sided test or a test of equivalence; chi-square and normal if the readers
        are fixed.
    df : (float, float)
        Degrees of freedom of the numerator and the denominator of F. t has the second, chi-square the first.
    pvalue : float
        The p-value of the test. With two modalities it is the p-value of their difference.
    differences : tuple of ModalityDifference
        One for each pair of modalities: the first minus the second, in the order of `modalities`. With `algorithm`,
        the mean of the readers minus the algorithm.
    mean_inference : tuple of ModalityMean
        One for each modality, from its own readings only; with `algorithm`, the last one is of the algorithm.
    components : dict
        The estimates of `var`, `cov1` (same reader, different modalities), `cov2` (different readers, same modality)
        and `cov3` (different readers and modalities), and the mean squares `ms_modality`, `ms_reader` and
        `ms_interaction`; NaN if the design has no such term. With `algorithm`, of the differences of the readers from
        it.
    covariance_matrix : ndarray of shape (n_modalities * n_readers, n_modalities * n_readers)
        Covariance matrix of the estimates for these readers, in the order of ``estimates.ravel()``. With `algorithm`,
        of the differences from it.
    one_shot_variances : tuple of float or None
        Gallas's variance of each difference (of the mean, for one modality), which makes no assumption about the
        covariances. Only with ``covariance="unbiased"`` and random readers and cases.
    equivalence_intervals : tuple of ConfidenceInterval or None
        With alternative "equivalence", the interval of each difference (of the mean, for one modality) at level
        ``2 confidence_level - 1``. The test rejects at level ``1 - confidence_level`` if it lies within the margin.
    missing : tuple of MissingReadings
        The cases without a reading, for each modality and reader that has any.
    readings : ndarray of shape (n_modalities, n_readers)
        Number of cases that each reader read in each modality.
    notes : tuple of str
        Cautions for the report, such as missing readings and negative variance estimates.
    covariance, random_readers, random_cases, confidence_level, n_pos, n_neg, pos_label
        Options of the analysis, the numbers of positive and negative cases, and the positive label.
    alternative, margin, null_value
        The hypothesis. With one modality, the mean is tested against `null_value`.
    algorithm : label or None
        The stand-alone algorithm that the readers are compared with.
    figure_of_merit : str or None
        Of a free-response study, as :func:`froc_readings` returns it: the measure is that of its curve.
    measure, n_samples, higher_is_better, n_dropped
        The measure, the number of readings, whether high ratings are for positives, and the number of readings that
        were left out because a value was missing.
    """

    modalities: NDArray[Any]
    readers: NDArray[Any]
    estimates: F64
    means: F64
    statistic: float
    distribution: str
    df: tuple[float, float]
    pvalue: float
    differences: tuple[ModalityDifference, ...]
    mean_inference: tuple[ModalityMean, ...]
    components: dict[str, float]
    covariance_matrix: F64
    one_shot_variances: tuple[float, ...] | None
    equivalence_intervals: tuple[ConfidenceInterval, ...] | None
    missing: tuple[MissingReadings, ...]
    readings: NDArray[np.intp]
    notes: tuple[str, ...]
    covariance: str
    random_readers: bool
    random_cases: bool
    confidence_level: float
    alternative: str
    margin: float | None
    n_pos: int
    n_neg: int
    pos_label: Any
    null_value: float | None = None
    algorithm: Any = None
    figure_of_merit: str | None = None

    @property
    def measure_in_words(self) -> str:
        """The measure in words, such as "AUC", or "AUC of the wAFROC curve" for free-response readings."""
        if self.figure_of_merit is None:
            return str(self.measure)
        curve = "highest-rating ROC" if self.figure_of_merit == "HrAUC" else self.figure_of_merit
        return f"{self.measure} of the {curve} curve"

    @property
    def n_units(self) -> int:
        """Number of independent units: clusters, or cases without clusters."""
        return self.n_groups or self.n_pos + self.n_neg

    @property
    def n_missing(self) -> int:
        """Number of missing readings."""
        return sum(len(one.cases) for one in self.missing)

    def rows(self) -> list[dict[str, Any]]:
        untested = {"statistic": np.nan, "pvalue": np.nan}
        means = [_row(m, m.mean) | untested for m in self.mean_inference]
        return means + [_row(d, d.difference) | {name: getattr(d, name) for name in untested} for d in self.differences]

    def _journal(self) -> list[dict[str, str]]:
        head = self.measure.short if self.figure_of_merit is None else f"{self.figure_of_merit} {self.measure.short}"
        head, of = head.replace("HrAUC AUC", "HrAUC"), self.measure
        return words.journal(self.rows(), head, self.confidence_level, of.is_share, of.as_rate)

    def _said(self, row: ModalityMean | ModalityDifference, estimate: float) -> str:
        places = self._places(row.standard_error, change=isinstance(row, ModalityDifference))
        return words.with_ends(estimate, None if self.no_interval else row.confidence_interval, places)

    def _study(self) -> str:
        modalities = "one modality" if len(self.modalities) == 1 else f"{len(self.modalities)} modalities"
        alone = "" if self.algorithm is None else f" and algorithm {words.label_text(self.algorithm)}"
        readers = f"{len(self.readers)} reader{'s' * (len(self.readers) > 1)}{alone}"
        return f"{self.measure_in_words}, {readers}, {modalities}"

    def _test(self) -> str:
        """Return the sentence about the test, or why there is none."""
        if self.no_interval:
            return f"no interval and no test: {self.no_interval}"
        first, second = (words.digits(df, None) for df in self.df)
        df = {"F": f"({first}, {second})", "chi-square": f"({first})", "t": f"({second})", "normal": ""}
        of = f"{self.distribution.replace('normal', 'z')}{df[self.distribution]}"
        if len(self.modalities) > 2:
            what = "equal means of all modalities"
        else:
            change = len(self.modalities) > 1
            what = self._hypothesis(self.alternative, self.null_value or 0.0, self.margin, change)
        return f"{of} = {words.digits(self.statistic, 2)}, {words.p_value(self.pvalue)} ({what})"

    def _notes(self) -> list[str]:
        """Return the notes, after sentences about the intervals that decide a test of equivalence."""
        notes = [f"Note: {note}" for note in self.notes]
        if self.equivalence_intervals is None or self.margin is None:
            return notes
        null = self.null_value or 0.0
        form = self._places(None, change=bool(self.differences))
        bounds = words.ends((null - self.margin, null + self.margin), form)
        level = words.level(2 * self.confidence_level - 1)
        tested: tuple[Any, ...] = self.differences or self.mean_inference
        decided = []
        for row, interval in zip(tested, self.equivalence_intervals, strict=True):
            inside = max(null - interval.low, interval.high - null) < self.margin
            ends = words.ends(interval, self._places(row.standard_error, change=bool(self.differences)))
            which = f"{ends}{form.rate.unit}, {'' if inside else 'not '}within {bounds}"
            decided.append(f"Equivalence of {_name_of(row)} is decided by the {level} {which}")
        return decided + notes

    def _lines(self) -> list[str]:
        rows = [{name: value for name, value in row.items() if name != "statistic"} for row in self.rows()]
        head = f"{self._study()} ({words.level(self.confidence_level)})"
        return [head, *words.text_table(rows, self._bounded), self._test(), *self._notes()]

    def _sentences(self, basis: str) -> list[str]:
        means = ", ".join(f"{_name_of(m)} = {self._said(m, m.mean)}" for m in self.mean_inference)
        sentences = [f"{self._study()} ({words.level(self.confidence_level)}; {basis}): {means}"]
        for d in self.differences:
            tested = "" if self.no_interval else f", {words.p_value(d.pvalue)}"
            sentences.append(f"{_name_of(d)} {self._said(d, d.difference)}{tested}")
        test = self._test()
        return [*sentences, test[:1].upper() + test[1:] if self.no_interval else f"Test: {test}", *self._notes()]

    def _basis(self) -> list[str]:
        kinds = {(True, True): "random readers and cases", (False, True): "fixed readers", (True, False): "fixed cases"}
        names = " and ".join(REFERENCES[source].short for source in _SOURCES)
        return [
            kinds[self.random_readers, self.random_cases],
            names,
            f"covariances by {self._by(self.covariance)}",
            ("" if self.weight_kind is None else "sampling weights: ")
            + words.samples(self.n_pos, self.n_neg, self.pos_label).replace("samples", "cases")
            + (f" in {words.count(self.n_groups)} clusters" if self.n_groups else "")
            + words.exceptions(self).replace("scores", "ratings"),
        ]

    def _sources(self) -> tuple[str, ...]:
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*_SOURCES, *self._source(self.covariance).sources, *equivalence)


def _name_of(row: ModalityMean | ModalityDifference, minus: str = "minus") -> str:
    names = (row.modality,) if isinstance(row, ModalityMean) else (row.modality_a, row.modality_b)
    return f" {minus} ".join(words.numbered("modality", name) for name in names)


def _row(row: ModalityMean | ModalityDifference, estimate: float) -> dict[str, Any]:
    low, high = row.confidence_interval
    of = {"term": _name_of(row, "-"), "estimate": estimate, "standard_error": row.standard_error, "df": row.df}
    return {**of, "ci_low": low, "ci_high": high}
