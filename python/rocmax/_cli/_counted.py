"""Measure columns of scores of a file larger than memory: rows are read in batches and counted."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.missing import of_caller, oriented
from rocmax._cli import _report as report
from rocmax._cli import _scored as rows
from rocmax._cli import _source as source
from rocmax._cli import _table as table
from rocmax.metrics import Comparison, Inference, Measure, ROCAccumulator
from rocmax.metrics._infer import warn_below_chance
from rocmax.metrics.accumulator._second_pass import SecondPass, compare_counted
from rocmax.metrics.results import _words as words

# Above so many rows they are counted; below, they are read whole.
ROWS = 20_000_000
# The AUC of counted scores is off by at most this, far less than its standard error.
ERROR = 1e-5
_BEGIN = 2**20  # bytes of csv that tell the length of a row
_LABELS = 1000  # more distinct values are no labels


def suits(arguments: Namespace) -> bool:
    """Whether the file is that large, and counts of the scores are all that is needed."""
    others = ("groups", "per", "at", "report", "plot", "by")  # need every row
    if any(getattr(arguments, name, None) for name in others) or arguments.weights_are == "sampling":
        return False
    if getattr(arguments, "method", None) not in (None, "delong"):
        return False
    return _n_rows(arguments.data, source.form(arguments)) > ROWS


def _n_rows(path: str, form: source.Form) -> float:
    """Return the number of rows of a parquet file, or an estimate of that of csv; 0 of what is no plain file."""
    file = Path(path)
    if not file.is_file() or file.suffix.lower() == ".gz":
        return 0
    if file.suffix.lower() == ".parquet":
        return source.n_rows(path)
    with file.open("rb") as lines:
        begin = lines.read(_BEGIN)
    return file.stat().st_size / max(len(begin), 1) * begin.count(b"\n")


@dataclass
class Counted:
    """The counts of each column of scores, and of the rows."""

    columns: dict[str, ROCAccumulator]
    labels: table.Labels  # of the distinct values
    positive: pl.Series  # the values as they are in the file that are positive
    weighted: str
    lower: frozenset[str]
    n_rows: int = 0
    n_positive: int = 0
    n_dropped: int = 0

    @property
    def summary(self) -> str:
        share = words.percent(self.n_positive / self.n_rows)
        rows = f"{self.n_rows:,} rows, {self.n_positive:,} positive ({share}; {self.labels.name} = {self.labels.value})"
        dropped = f"; {self.n_dropped:,} more dropped because of missing values" if self.n_dropped else ""
        pooled = max(one.error_bound for one in self.columns.values())
        error = f"; counted in batches, AUC within {pooled:.0e}" if pooled else "; counted in batches"
        turned = f"; low scores of {', '.join(sorted(self.lower))} are for positives" if self.lower else ""
        return rows + self.weighted + turned + dropped + error

    def plain(self, arguments: Namespace) -> dict[str, Any]:
        """Return what --json says of the rows."""
        return {
            "data": arguments.data,
            "n_samples": self.n_rows,
            "n_positive": self.n_positive,
            "n_dropped": self.n_dropped,
            "lower": sorted(self.lower),
            "positive": str(self.labels.value),
            "weight_kind": None if arguments.weight is None else "frequency",
            "error_bounds": {name: one.error_bound for name, one in self.columns.items()},
        }

    def result(self, name: str, measure: Measure, **options: Any) -> Inference:
        """Return a measure of a column with its interval."""
        options.pop("random_state", None), options.pop("higher_is_better", None)
        lower = name in self.lower
        found = self.columns[name].result(measure, **options)
        told: Any = SimpleNamespace(totals=(found.n_pos, found.n_neg), lower=lower, pos_label=self.labels.value)
        warn_below_chance(measure, told, found.confidence_interval)
        how = {"weight_kind": "frequency"} if self.weighted else {"n_samples": self.n_rows}
        cut = None if found.threshold is None else of_caller(found.threshold, lower)
        return replace(found, higher_is_better=not lower, threshold=cut, **how)


def read(arguments: Namespace) -> Counted:
    """Count the scores of each column, batch by batch."""
    weight = arguments.weight
    rows.check(arguments)
    labels, values = _labels(arguments)
    kind = "" if weight is None else f", frequency weights {weight}"
    found = Counted(
        {name: ROCAccumulator(max_error=ERROR) for name in arguments.score}, labels, values, kind, rows.lower(arguments)
    )
    for part in _parts(arguments, found):
        found.n_rows += len(part.positive)
        found.n_positive += int(np.count_nonzero(part.positive))
        found.n_dropped += part.n_dropped
        for name, scores in part.columns.items():
            found.columns[name].update(part.positive, scores, sample_weight=part.weight)
    return found


def compared(arguments: Namespace, found: Counted, wanted: Sequence[Measure]) -> list[Comparison]:
    """Compare the columns by each measure: the rows are read again, for the products of their components."""
    second = SecondPass(found.columns, wanted)
    for part in _parts(arguments, found):
        second.add(part.positive, part.columns, part.weight)
    how: dict[str, Any] = {"confidence_level": arguments.confidence, "adjust": arguments.adjust}
    how |= {"lower": np.array([name in found.lower for name in found.columns]), "n_samples": found.n_rows}
    results = []
    for k, measure in enumerate(wanted):
        with report.told_of(measure.short, how="--method"):
            results.append(compare_counted(second, k, **how))
    _warn_of_pooled(found, results)
    return results


def _warn_of_pooled(found: Counted, results: Sequence[Comparison]) -> None:
    """Say where the counts leave more open than a tenth of a standard error."""
    off = sum(sorted(one.error_bound for one in found.columns.values())[-2:])
    least = min((float(pair.standard_error) for one in results for pair in one.pairs), default=np.inf)
    if off > least / 10:
        report.log(
            f"counted in batches, a difference of AUCs may be off by {off:.0e}, which intervals and p-values leave out;"
            f" the least standard error is {least:.0e}"
        )


class _Part(NamedTuple):
    """Some rows: scores of which high ones are for positives."""

    positive: NDArray[np.bool_]
    columns: dict[str, NDArray[Any]]
    weight: NDArray[np.float64] | None
    n_dropped: int


def _parts(arguments: Namespace, found: Counted) -> Iterator[_Part]:
    """Yield the rows in batches."""
    label, weight = arguments.label, arguments.weight
    needed = [label, *arguments.score, *([] if weight is None else [weight])]
    before = 0
    with report.progress("rows") as bar:
        for frame in source.batches(arguments.data, source.form(arguments), source.Wanted(needed), text={label}):
            kept = table.complete(frame, needed) if arguments.missing == "drop" else frame
            yield _part(arguments, found, kept, before, len(frame) - len(kept))
            before += len(frame)
            bar.at(f"{before:,} rows", 0, 1)


def _part(arguments: Namespace, found: Counted, frame: pl.DataFrame, before: int, n_dropped: int) -> _Part:
    """Return the rows of a table; `before` are those of earlier ones."""
    label = table.nameless(table.without_holes(table.column(frame, arguments.label), arguments.label, "label", before))
    positive = label.is_in(found.positive.implode()).to_numpy()
    weight = None if arguments.weight is None else table.weights(frame, arguments.weight, before)
    columns = {}
    for name in found.columns:
        series = table.column(frame, name)
        if series.dtype == pl.String and table.first_name(table.nameless(series)) is None:
            continue  # of a column of text the row to name comes later
        columns[name] = oriented(table.scores(frame, name, before=before), name in found.lower)
    return _Part(positive, columns, weight, n_dropped)


def _labels(arguments: Namespace) -> tuple[table.Labels, pl.Series]:
    """Return the label that is positive, and the values as they are in the file that stand for it."""
    name, distinct = arguments.label, None
    wanted = source.Wanted([name])
    for frame in source.batches(arguments.data, source.form(arguments), wanted, text={name}):
        here = table.column(frame, name).unique()
        distinct = here if distinct is None else distinct.append(here).unique()
        if len(distinct) > _LABELS:
            break
    assert distinct is not None  # a file without rows has failed
    distinct = distinct.drop_nulls().sort()
    typed = table.typed(distinct, comma=arguments.decimal == ",")
    labels = table.labels(pl.DataFrame([typed]), name, arguments.positive)
    return labels, distinct.filter(pl.Series(labels.positive))
