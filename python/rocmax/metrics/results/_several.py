"""Results of several measures, or of models with a result each, as one table."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax._parameters import shown
from rocmax._typing import Style
from rocmax.metrics import _words as words
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.results._inference import Inference
from rocmax.metrics.results._result import Result
from rocmax.metrics.samples._sample import Sample

SeveralMeasures = list[Any] | tuple[Any, ...]  # of Measure or str
#: The columns that are printed; `to_frame` has all.
_PRINTED = (
    *("model", "class", "model_a", "model_b", "measure", "subgroup", "criterion", "caught", "estimate", "estimate_a"),
    *("estimate_b", "difference", "ci_low", "ci_high", "pvalue", "threshold", "tpr", "tpr_low", "tpr_high"),
    *("fpr", "fpr_low", "fpr_high", "ppv", "npv", "no_interval"),
)


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
        found = []
        for model, one in zip(self.models, self.results, strict=True):
            found += [({} if model is None else {"model": model}) | row for row in one.rows()]
        names = dict.fromkeys(name for row in found for name in row)
        texts = {name for row in found for name, value in row.items() if isinstance(value, str)}
        return [{name: row.get(name, "" if name in texts else np.nan) for name in names} for row in found]

    def _journal(self) -> list[dict[str, str]]:
        each = [one._journal() for one in self.results]
        if all(type(one) is Inference for one in self.results) and len({len(rows) for rows in each}) == 1:
            return [dict(pair for one in rows for pair in one.items()) for rows in zip(*each, strict=True)]
        found = []
        for k, rows in enumerate(each):
            model, measure = [*self._names(k), None][:2]
            head = {"model": model, "measure": measure}
            rows = [{"estimate" if name == measure else name: text for name, text in row.items()} for row in rows]
            found += [{name: text for name, text in head.items() if text} | row for row in rows]
        names = dict.fromkeys(name for row in found for name in row)
        return [{name: row.get(name, "") for name in names} for row in found]

    def _spoken(self, style: Style) -> AbstractContextManager[None]:
        return self.results[0]._spoken(style)  # type: ignore[no-any-return]

    def _lines(self) -> list[str]:
        rows, each = self.rows(), self.results
        kept = [name for name in _PRINTED if name in rows[0]]
        bounded = all(one._bounded for one in each)
        how = dict.fromkeys(part for one in each for part in [words.level(one.confidence_level), *self._own(one)])
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
    if isinstance(measure, (list, tuple)) and not measure:
        raise ValueError("measure must be a Measure, a name, or a list of at least one, got an empty list")
    return [as_measure(one) for one in (measure if isinstance(measure, (list, tuple)) else [measure])]


def put_together(found: list[Any], measure: Any) -> Any:
    """Return the only result, or those of a list of measures, of which each may be of several models."""
    if not isinstance(measure, (list, tuple)):
        return found[0]
    each = [one if isinstance(one, Results) else Results((one,), (None,)) for one in found]
    return Results(
        tuple(one for table in each for one in table), tuple(name for table in each for name in table.models)
    )


def of_models(data: Sample, found: Callable[[Sample], Any]) -> Any:
    """Return the result of one model, or those of several."""
    if data.n_models == 1:
        return found(next(data.models()))
    names = data.model_names or [f"model {k + 1}" for k in range(data.n_models)]
    return Results(tuple(found(one) for one in data.models()), tuple(names))
