"""The result of inference about a measure, and results of several measures or models as one table."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import shown
from rocmax._typing import Style
from rocmax.metrics import _words as words
from rocmax.metrics._references import METHODS, Source
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.results._result import Measured, Result, table
from rocmax.metrics.samples._sample import Sample

SeveralMeasures = list[Any] | tuple[Any, ...]  # of Measure or str
#: The columns that are printed; `to_frame` has all.
_PRINTED = (
    *("model", "class", "model_a", "model_b", "measure", "subgroup", "criterion", "caught", "estimate", "estimate_a"),
    *("estimate_b", "difference", "ci_low", "ci_high", "pvalue", "threshold", "tpr", "tpr_low", "tpr_high"),
    *("fpr", "fpr_low", "fpr_high", "ppv", "npv", "no_interval"),
)


class ConfidenceInterval(NamedTuple):
    """Confidence limits."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False, eq=False)
class Inference(Measured):
    """A measure with its uncertainty.

    Attributes
    ----------
    estimate, variance, standard_error : float or ndarray of shape (n_models,)
        The value of the measure, and its uncertainty.
    confidence_interval : ConfidenceInterval
        Confidence limits `low` and `high`.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    method : str
        Method of the variance and the interval.
    confidence_level : float
        Nominal coverage of the interval.
    statistic, pvalue : float or ndarray of shape (n_models,), or None
        Test against `null_value`, if one was requested.
    null_value, alternative, margin : float, str and float, or None
        The hypothesis of the test.
    replicates : ndarray of shape (n_resamples,) or (n_resamples, n_models), or None
        Bootstrap replicates of the estimate.
    pos_label : label
        The label of the positive class.
    names : tuple of str or None
        Names of the models, or of the classes if each has a result; None for an array of scores.
    threshold : float or ndarray of shape (n_models,), or None
        For a rate, the threshold of :func:`operating_point`: scores at or above it are called positive, or at or below
        it with `higher_is_better` False.
    estimate_bounds : (float, float) or None
        Bounds of the measure of all scores, if a :class:`ROCAccumulator` with `max_error` has pooled some. The interval
        and the test allow for them.
    source : str or None
        The formula of the limits, if not that of `method`: "percentile" or "bca" for a bootstrap; "newcombe" or
        "wilson" where too little varies for a bootstrap or "logit-delong".
    measure : Measure
        What was measured.
    class_sizes, weight_kind, n_samples, n_groups, n_subjects, n_folds, resampling, higher_is_better, n_dropped
        Samples of each of several classes, kind of weights, number of samples, clusters, subjects of pairs and folds,
        and how a bootstrap draws, or None; whether high scores are for positives; number of samples left out.
    no_interval : str or None
        Why there is no interval, if there is none: then limits, variance, standard error and p-value are NaN.
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
    margin: float | None = None
    threshold: Any = None
    estimate_bounds: tuple[float, float] | None = None
    source: str | None = None

    @property
    def _names(self) -> Sequence[str] | None:
        """Names of the rows, if there are several."""
        if np.ndim(self.estimate):
            return self.names or [f"model {k + 1}" for k in range(len(self.estimate))]
        return None

    def rows(self) -> list[dict[str, Any]]:
        several = self.class_sizes is not None and self.measure.average is None
        low, high = self.confidence_interval
        least, most = self.estimate_bounds or (None, None)
        caught, alerts = self.measure.tally(self.estimate, (self.n_pos, self.n_neg)) or (None, None)
        columns = {
            "class" if several else "model": self._names,
            "measure": self.measure.short,
            "caught": caught,
            "alerts": alerts,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "ci_low": low,
            "ci_high": high,
            "method": self.method,
            "weight_kind": self.weight_kind,
            "least": least,
            "most": most,
            **{name: getattr(self, name) for name in ("threshold", "no_interval", "statistic", "pvalue")},
        }
        return table(np.size(self.estimate), columns | self._counted())

    def _counted(self) -> dict[str, Any]:
        """Return the columns of the numbers of samples."""
        if self.class_sizes is None:
            return {"n_pos": self.n_pos, "n_neg": self.n_neg}
        total = sum(self.class_sizes)
        if self.measure.average is not None:
            return {"n_classes": len(self.class_sizes), "n_samples": total}
        return {"n_pos": self.class_sizes, "n_neg": [total - size for size in self.class_sizes]}

    @property
    def _against(self) -> str:
        """What was tested in words, if anything was."""
        if self.null_value is None or self.alternative is None:
            return ""
        return self._hypothesis(self.alternative, self.null_value, self.margin)

    @property
    def _level(self) -> str:
        untested = f", and no {self._against}" if self.no_interval and self._against else ""
        return super()._level + untested

    @property
    def _only_test(self) -> str:
        """The test of one model in words, if there was one."""
        return f", {words.p_value(self.pvalue)} ({self._against})" if self._against and not self.no_interval else ""

    @property
    def _at(self) -> str:
        """The threshold of one model in words, if there is one."""
        if self.threshold is None:
            return ""
        at_most = "" if self.higher_is_better else "<= "
        return f" at threshold {at_most}{self.threshold:.6g} of these samples"

    @property
    def _fixed(self) -> str:
        """What the interval of a rate takes as fixed."""
        return "" if self.threshold is None else f"; the {getattr(self.measure, 'fixed', '').upper()} is taken as fixed"

    def _lines(self) -> list[str]:
        level = self._level
        if np.ndim(self.estimate):
            kept = ("model", "class", "estimate", "standard_error", "ci_low", "ci_high", "pvalue")
            rows = [{name: row[name] for name in kept if name in row} for row in self.rows()]
            test = f", p of a {self._against}" if self._against and not self.no_interval else ""
            return [f"{self.measure_in_words} ({level}{test}{self._fixed})", *words.text_table(rows, self._bounded)]
        places = self._places(self.standard_error, self.confidence_interval)
        text = words.bracketed(self.estimate, self.confidence_interval, places)
        return [f"{words.named(self.measure_in_words, text)} ({level}{self._fixed}){self._at}{self._only_test}"]

    def _sentences(self, basis: str) -> list[str]:
        level = self._level
        if not np.ndim(self.estimate):
            return [f"{self._said(self.measure_in_words, basis)}{self._at}{self._only_test}"]
        each = []
        for name, row in zip(self._names or (), self.rows(), strict=True):
            interval = row["ci_low"], row["ci_high"]
            places = self._places(row["standard_error"], interval)
            found = words.with_ends(row["estimate"], None if self.no_interval else interval, places)
            pvalue = f", {words.p_value(row['pvalue'])}" if self._against and not self.no_interval else ""
            each.append(f"{words.label_text(name)} = {found}{pvalue}")
        test = f"; p of a {self._against}" if self._against and not self.no_interval else ""
        return [f"{self.measure_in_words} ({level}{test}; {basis}): {words.listing(each, '; ')}"]

    def _said(self, name: str, basis: str) -> str:
        """Return the estimate of one model with its interval, in words."""
        places = self._places(self.standard_error, self.confidence_interval)
        ends = words.confident(self.confidence_level, self.confidence_interval, places)
        between = self._level if self.no_interval else ends
        return f"{words.named(name, words.digits(self.estimate, places))} ({between}; {basis})"

    def _basis(self) -> list[str]:
        pooled = []
        if self.estimate_bounds is not None:
            least, most = self.estimate_bounds
            pooled = [f"scores pooled: between {least:.6g} and {most:.6g} without, which the interval allows for"]
        sizes, names = (self.n_pos, self.n_neg), self._names or [""]
        found = self._found(dict(zip(names, np.ravel(self.estimate), strict=True)), sizes)
        return [*self._how, *found, *self._samples(*sizes, self.pos_label).split("; "), *pooled]

    def _source(self, method: str) -> Source:
        return super()._source(method) if self.source is None else METHODS[self.source]

    def _sources(self) -> tuple[str, ...]:
        if self.no_interval:
            return ()
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        of_score = self.measure.score_references if self.method == "score" and self.source is None else ()
        return (*self._source(self.method).sources, *of_score, *equivalence)


@dataclass(frozen=True, repr=False, eq=False)
class Results(Result):
    """Results of several measures, or of several models with a result each: a sequence and a table.

    ``results[0]`` and ``results["auc"]`` are results, by position, measure, name of a measure or of a model; loops and
    ``len`` see all of them. :meth:`to_frame` returns one table of models x measures, :meth:`summary` all sentences.

    Attributes
    ----------
    results : tuple of Inference, Comparison, OperatingPoint, SubgroupInference or SubgroupComparison
        What the function returns for each.
    models : tuple of str or None
        The model of each result; None where a result has all models.
    """

    results: tuple[Any, ...]
    models: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.results)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer, slice)):
            return self.results[key]
        wanted = key if isinstance(key, tuple) else (key,)
        held = [k for k in range(len(self)) if all(one in self._names(k) for one in wanted)]
        if not held:
            known = shown(list(dict.fromkeys(name for k in range(len(self)) for name in self._names(k)[:2] if name)))
            raise KeyError(f"no result of {shown(key)}; there are {known}")
        if len(held) == 1:
            return self.results[held[0]]
        return Results(tuple(self.results[k] for k in held), tuple(self.models[k] for k in held))

    def _names(self, k: int) -> list[Any]:
        """Return what one result is found by."""
        model, measure = self.models[k], getattr(self.results[k], "measure", None)
        return [model] if measure is None else [model, measure.short, measure, measure.name, str(measure)]

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for model, one in zip(self.models, self.results, strict=True):
            rows += [({} if model is None else {"model": model}) | row for row in one.rows()]
        names = dict.fromkeys(name for row in rows for name in row)
        texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
        return [{name: row.get(name, "" if name in texts else np.nan) for name in names} for row in rows]

    def _journal(self) -> list[dict[str, str]]:
        each = [one._journal() for one in self.results]
        alike = all(type(one) is Inference for one in self.results) and len({len(rows) for rows in each}) == 1
        if alike and len({tuple(self._names(k)[:2]) for k in range(len(each))}) == len(each):  # else one would go
            found: dict[tuple[str | None, int], dict[str, str]] = {}
            cells: dict[str, dict[str, list[str]]] = {}  # of each column, by measure
            for one, rows in zip(self.results, each, strict=True):
                for name, text in (cell for row in rows for cell in row.items()):
                    cells.setdefault(name, {}).setdefault(one.measure.short, []).append(text)
            own = {name for name, of in cells.items() if len(set(map(tuple, of.values()))) > 1}
            for model, one, rows in zip(self.models, self.results, each, strict=True):
                for k, row in enumerate(rows):
                    named = {f"{one.measure.short}: {name}" if name in own else name: row[name] for name in row}
                    found.setdefault((model, k), {} if model is None else {"model": model}).update(named)
            return [*found.values()]
        listed = []
        for k, rows in enumerate(each):
            model, measure = [*self._names(k), None][:2]
            head = {"model": model, "measure": measure}
            rows = [{"estimate" if name == measure else name: text for name, text in row.items()} for row in rows]
            listed += [{name: text for name, text in head.items() if text} | row for row in rows]
        names = dict.fromkeys(name for row in listed for name in row)
        return [{name: row.get(name, "") for name in names} for row in listed]

    def _spoken(self, style: Style) -> AbstractContextManager[None]:
        return self.results[0]._spoken(style)  # type: ignore[no-any-return]

    def _lines(self) -> list[str]:
        rows, each = self.rows(), self.results
        kept = [name for name in _PRINTED if name in rows[0]]
        bounded = all(one._bounded for one in each)
        how = dict.fromkeys(
            part.replace("low scores", f"low scores{of}").replace(" alerts:", f" alerts{of}:")
            for model, one in zip(self.models, each, strict=True)
            for of in ([f" of {words.label_text(model)}"] if model else [""])
            for part in [words.level(one.confidence_level), *self._own(one)]
        )
        return [*words.text_table([{name: row[name] for name in kept} for row in rows], bounded), "; ".join(how)]

    def _sentences(self, basis: str) -> list[str]:
        found: list[str] = []
        for model, one in zip(self.models, self.results, strict=True):
            said = one._sentences("; ".join(self._own(one)))
            found += said if model is None else [f"{words.label_text(model)}: {said[0]}", *said[1:]]
        return [*found, *([f"In all: {basis}"] if basis else [])]

    def _own(self, one: Any) -> list[str]:
        """Return what a result is based on, but what all are."""
        shared = self._basis()
        return [part for part in one._basis() if part not in shared]

    def _basis(self) -> list[str]:
        first, *others = [one._basis()[1:] for one in self.results]
        return [part for part in first if all(part in other for other in others)]

    def _sources(self) -> Sequence[str]:
        return [source for one in self.results for source in one._sources()]


def measures_of(measure: Any) -> list[Measure]:
    """Return one measure, or those of a list, by their values or names."""
    several = isinstance(measure, (list, tuple)) and len(measure) > 0
    return [as_measure(one) for one in (measure if several else [measure])]


def put_together(found: list[Any], measure: Any) -> Any:
    """Return the only result, or those of a list of measures, of which each may be of several models."""
    if not isinstance(measure, (list, tuple)):
        return found[0]
    each = [one if isinstance(one, Results) else Results((one,), (None,)) for one in found]
    results, models = zip(*(pair for one in each for pair in zip(one, one.models, strict=True)), strict=True)
    return Results(results, models)


def of_models(data: Sample, found: Callable[[Sample], Any]) -> Any:
    """Return the result of one model, or those of several."""
    if data.n_models == 1:
        return found(next(data.models()))
    names = data.model_names or [f"model {k + 1}" for k in range(data.n_models)]
    return Results(tuple(found(one) for one in data.models()), tuple(names))
