"""What inference about a measure returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._references import METHODS, Source
from rocmax.metrics.results._result import Measured


class ConfidenceInterval(NamedTuple):
    """The ends of a confidence interval."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False, eq=False)
class Inference(Measured):
    """A measure with its uncertainty.

    Attributes
    ----------
    estimate : float or ndarray of shape (n_models,)
        The value of the measure.
    variance, standard_error : float or ndarray of shape (n_models,)
        Of the estimate.
    confidence_interval : ConfidenceInterval
        Its `low` and `high` end.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    method : str
        How the variance and the interval were found.
    confidence_level : float
        The nominal coverage of the interval.
    statistic, pvalue : float or ndarray of shape (n_models,), or None
        Of the test against `null_value`, if one was asked for.
    null_value, alternative, equivalence_margin : float, str and float, or None
        What the estimate was tested against.
    replicates : ndarray of shape (n_resamples,) or (n_resamples, n_models), or None
        Bootstrap replicates of the estimate.
    pos_label : label
        The label of the positive class.
    names : tuple of str or None
        The models', or the classes' where there is a result a class; None for those of an array.
    threshold : float or ndarray of shape (n_models,), or None
        Of a rate: that of :func:`operating_point`, scores of at least which are called positive, or of at most which
        with `higher_is_better` False.
    estimate_bounds : (float, float) or None
        Of a :class:`ROCAccumulator` with `max_error` that has pooled scores: the measure of all scores lies between
        them. The interval is wider by as much, and the test allows for it.
    measure : Measure
        What was measured.
    class_sizes, weight_kind, n_samples, n_groups, n_subjects, n_folds, resampling, higher_is_better, n_dropped
        From what: samples of each of several classes, kind of weights (None without), rows, clusters, subjects of
        pairs, folds, and how a bootstrap drew; None where there was no such thing. Whether high scores are for
        positives, and how many samples were left out because of missing values.
    """

    estimate: Any
    variance: Any
    standard_error: Any
    confidence_interval: ConfidenceInterval
    n_pos: float
    n_neg: float
    method: str
    confidence_level: float
    replicates: F64 | None = None
    pos_label: Any = 1
    names: tuple[str, ...] | None = None
    statistic: Any = None
    pvalue: Any = None
    null_value: float | None = None
    alternative: str | None = None
    equivalence_margin: float | None = None
    threshold: Any = None
    estimate_bounds: tuple[float, float] | None = None

    @property
    def _averaged(self) -> bool:
        """Whether several classes have one result."""
        return self.measure.average is not None

    @property
    def _each(self) -> list[tuple[str, float, float, ConfidenceInterval]]:
        """Name, estimate, standard error and interval of each model."""
        columns = (self.estimate, self.standard_error, *self.confidence_interval)
        rows = np.column_stack([np.atleast_1d(column) for column in columns]).tolist()
        names = self.names or [f"model {k + 1}" if np.ndim(self.estimate) else "" for k in range(len(rows))]
        return [(name, row[0], row[1], ConfidenceInterval(*row[2:])) for name, row in zip(names, rows, strict=True)]

    def rows(self) -> list[dict[str, Any]]:
        kind = "model" if self.class_sizes is None or self._averaged else "class"
        return [
            {
                **({kind: name} if name else {}),
                "measure": self.measure.short,
                "estimate": estimate,
                "standard_error": error,
                "ci_low": both.low,
                "ci_high": both.high,
                "method": self.method,
                **({} if self.weight_kind is None else {"weight_kind": self.weight_kind}),
                **self._bounded(),
                **({} if self.threshold is None else {"threshold": float(np.atleast_1d(self.threshold)[k])}),
                **self._tested(k),
                **self._counted(k),
            }
            for k, (name, estimate, error, both) in enumerate(self._each)
        ]

    def _bounded(self) -> dict[str, float]:
        """Return the bounds of the estimate, if scores were pooled."""
        return {} if self.estimate_bounds is None else dict(zip(("least", "most"), self.estimate_bounds, strict=True))

    def _tested(self, k: int) -> dict[str, Any]:
        """Return the test of the k-th row, if there was one."""
        if self.pvalue is None:
            return {}
        return {name: float(np.atleast_1d(getattr(self, name))[k]) for name in ("statistic", "pvalue")}

    @property
    def _against(self) -> str:
        """What was tested in words, if anything was."""
        if self.null_value is None or self.alternative is None:
            return ""
        return words.against(self.alternative, self.null_value, self.equivalence_margin)

    def _pvalue(self, k: int) -> str:
        """Return the p-value of the k-th row in words, if there was a test."""
        return f", {words.p_value(self._tested(k)['pvalue'])}" if self._against else ""

    @property
    def _only_test(self) -> str:
        """The test of one model in words, if there was one."""
        return f"{self._pvalue(0)} ({self._against})" if self._against else ""

    @property
    def _at(self) -> str:
        """The threshold of one model in words, if there is one, which the interval takes to vary."""
        if self.threshold is None:
            return ""
        at_most = "" if self.higher_is_better else "score <= "
        return f" at threshold {at_most}{self.threshold:.6g}, which varies with the samples"

    @property
    def _fixed(self) -> str:
        """What the interval of a rate takes as fixed, and which interval takes the threshold so."""
        if self.threshold is None:
            return ""
        return f"; the {getattr(self.measure, 'fixed', '').upper()} is fixed; operating_point fixes the threshold"

    def _counted(self, k: int) -> dict[str, Any]:
        """Return the numbers of samples of the k-th row."""
        if self.class_sizes is None:
            return {"n_pos": self.n_pos, "n_neg": self.n_neg}
        total = sum(self.class_sizes)
        if self._averaged:
            return {"n_classes": len(self.class_sizes), "n_samples": total}
        return {"n_pos": self.class_sizes[k], "n_neg": total - self.class_sizes[k]}

    def _lines(self) -> list[str]:
        if np.ndim(self.estimate):
            kept = ("model", "class", "estimate", "standard_error", "ci_low", "ci_high", "pvalue")
            rows = [{name: row[name] for name in kept if name in row} for row in self.rows()]
            test = f", p of a {self._against}" if self._against else ""
            level = f"{words.level(self.confidence_level)}{test}{self._fixed}"
            return [f"{self.measure_in_words} ({level})", *words.text_table(rows)]
        ((_, estimate, error, both),) = self._each
        text = words.bracketed(estimate, both, self._places(error, both))
        level = f"{words.level(self.confidence_level)}{self._fixed}"
        return [f"{words.named(self.measure_in_words, text)} ({level}){self._at}{self._only_test}"]

    def _sentences(self, basis: str) -> list[str]:
        found = []
        for name, estimate, error, both in self._each:
            places = self._places(error, both)
            found.append((words.label_text(name), words.digits(estimate, places), words.ends(both, places)))
        level = words.level(self.confidence_level)
        if np.ndim(self.estimate):
            test = f"; p of a {self._against}" if self._against else ""
            each = [f"{name} = {value} ({between}){self._pvalue(k)}" for k, (name, value, between) in enumerate(found)]
            return [f"{self.measure_in_words} ({level}{test}; {basis}): {'; '.join(each)}"]
        ((_, value, between),) = found
        return [f"{words.named(self.measure_in_words, value)} ({level} {between}; {basis}){self._at}{self._only_test}"]

    def _basis(self) -> list[str]:
        pooled = []
        if self.estimate_bounds is not None:
            least, most = self.estimate_bounds
            pooled = [f"scores pooled: between {least:.6g} and {most:.6g} without, which the interval allows for"]
        return [self.method_in_words, self._samples(self.n_pos, self.n_neg, self.pos_label), *pooled]

    def _source(self, method: str) -> Source:
        if method != "logit-delong" or not self.measure.counts_pairs:
            return super()._source(method)
        counted = self.n_groups is None and self.n_subjects is None and self.weight_kind != "sampling"
        few = counted and min(self.class_sizes or (self.n_pos, self.n_neg)) < FEW
        certain = np.isin(self.estimate, (0.0, 1.0)) | (np.asarray(self.variance) == 0.0)
        return METHODS["newcombe"] if few or certain.all() else super()._source(method)

    def _sources(self) -> tuple[str, ...]:
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*self._source(self.method).sources, *equivalence)
