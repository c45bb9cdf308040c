"""Measure columns of scores of a file larger than memory: rows are read in batches and counted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.missing import in_caller_direction, oriented
from rocmax._cli import _labels as classes, _report as report, _source as source, _table as table
from rocmax._cli._output import Failure, log, reading
from rocmax._cli._parser import Compare, Scores
from rocmax._cli._scored import ONE_CLASS, Scored
from rocmax._cli._table import Form
from rocmax._runtime.settings import settings
from rocmax._tables._decide import COMMAND, Ends
from rocmax.metrics import Comparison, Inference, Measure, ROCAccumulator
from rocmax.metrics._infer import warn_below_chance
from rocmax.metrics.accumulator._second_pass import SecondPass, compare_counted

_BEGIN = 2**20  # bytes of csv that tell the length of a row
_LABELS = 1000  # distinct values of labels, at most


def fits_in_counts(arguments: Scores) -> bool:
    """Whether the file is that large, and counts of the scores are all that is needed."""
    given = arguments
    every_row = given.groups or given.per or given.at or given.report or given.plot or given.by or given.plan
    counts = not every_row and given.weights_are != "sampling" and given.method in (None, "delong")
    return counts and _n_rows(given.data) > settings().counted_rows


def _n_rows(path: str) -> float:
    """Return the number of rows of a parquet file, or an estimate for csv; 0 for anything but a plain file."""
    file = Path(path)
    if not file.is_file() or file.suffix.lower() == ".gz":
        return 0
    if file.suffix.lower() == ".parquet":
        return source.n_rows(path)
    with reading(path), file.open("rb") as lines:
        begin = lines.read(_BEGIN)
    return file.stat().st_size / max(len(begin), 1) * begin.count(b"\n")


@dataclass(kw_only=True)
class Counted(Scored):
    """The counts of each column of scores; `labels` are those of the distinct texts or values in the file."""

    columns: dict[str, ROCAccumulator]
    wanted: source.ColumnRequest
    n_weighted: int = 0  # rows of weight above 0
    ends: dict[str, Ends] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        error = max(one.error_bound for one in self.columns.values())
        return f"{super().summary}; counted in batches" + (f", AUC within {error:.0e}" if error else "")

    def plain(self) -> dict[str, Any]:
        return {**super().plain(), "error_bounds": {name: one.error_bound for name, one in self.columns.items()}}

    @staticmethod
    def _are_equal(scores: Any) -> bool:
        return bool(scores.n_bins == 1)

    def infer(self, name: str, measure: Measure, by: pl.Series | None = None) -> Inference:
        low = name in self.arguments.lows
        found = self.columns[name].result(measure, confidence_level=self.arguments.confidence)
        sample = self.columns[name].middle()._replace(lower=low, pos_label=self.labels.value)
        warn_below_chance(measure, [sample], found.confidence_interval)
        cut = None if found.threshold is None else in_caller_direction(found.threshold, low)
        return replace(found, higher_is_better=not low, threshold=cut, **self._rows())

    def _rows(self) -> dict[str, Any]:
        """Return the numbers of rows as a result for the whole table has them."""
        label = {"pos_label": self.labels.value}
        if self.weight_kind:
            return {"weight_kind": "frequency", "n_samples": self.n_weighted, **label}
        return {"n_samples": self.n_rows, "n_pos": self.n_positive, "n_neg": self.n_rows - self.n_positive, **label}

    def compare(self, options: Compare, measures: Sequence[Measure]) -> list[Comparison]:
        """Compare the columns by each measure: the rows are read again, for the products of their components."""
        second = SecondPass(self.columns, measures)
        for part in self.parts():
            second.add(part.positive, part.columns, part.weight)
        low = np.array([name in self.arguments.lows for name in self.columns])
        results = []
        for k, measure in enumerate(measures):
            with report.warned(measure.short, self.notes, how="--method"):
                one = compare_counted(second, k, confidence_level=options.confidence, adjust=options.adjust, lower=low)
            results.append(replace(one, **self._rows()))
        self._warn_of_pooled(results)
        return results

    def _warn_of_pooled(self, results: Sequence[Comparison]) -> None:
        """Warn if counting may change a difference of AUCs by more than a tenth of a standard error."""
        off = sum(sorted(one.error_bound for one in self.columns.values())[-2:])
        least = min((float(pair.standard_error) for one in results for pair in one.pairs), default=np.inf)
        if off > least / 10:
            text = (
                f"counted in batches, a difference of AUCs may be off by {off:.0e}, which intervals and p-values do"
                f" not include; the smallest standard error is {least:.0e}"
            )
            log(text)
            self.notes.warnings.append(text)

    def parts(self) -> Iterator["_Part"]:
        """Yield the rows in batches."""
        arguments = self.arguments
        before = 0
        with report.progress("rows") as tell:
            for frame, _ in source.batches(arguments.data, self.wanted):
                frame = classes.clean(frame, arguments.label, arguments, self.wanted.form, before)
                kept = table.complete(frame, self.wanted.needed or ()) if arguments.missing == "drop" else frame
                yield self._part(kept, before, len(frame) - len(kept))
                before += len(frame)
                tell(description=f"{before:,} rows")

    def _part(self, frame: pl.DataFrame, before: int, n_dropped: int) -> "_Part":
        """Return the rows of a table; `before` is the number of earlier ones."""
        arguments = self.arguments
        label = table.column(frame, arguments.label)
        weight = None if arguments.weight is None else table.weights(frame, arguments.weight, before, some=False)
        scores = {name: table.scores(frame, name, before=before) for name in self.columns}
        self.tell_of_weights(weight)
        for name, of in scores.items():
            self.ends.setdefault(name, Ends()).add(of)
        columns = {name: oriented(of, name in self.arguments.lows) for name, of in scores.items()}
        return _Part(self.labels.mark(label), columns, weight, n_dropped, classes.counts(label))


class _Part(NamedTuple):
    """Some rows: scores of which high ones are for positives."""

    positive: NDArray[np.bool_]
    columns: dict[str, NDArray[Any]]
    weight: NDArray[np.float64] | None
    n_dropped: int
    labels: classes.Counts


def read(arguments: Scores) -> Counted:
    """Count the scores of each column, batch by batch."""
    needed = [arguments.label, *arguments.score, *([] if arguments.weight is None else [arguments.weight])]
    wanted = source.columns_to_read(
        arguments, needed, numbers=needed[1 + len(arguments.score) :], scores=arguments.score
    )
    form = wanted.form
    columns = {name: ROCAccumulator(max_error=settings().counted_error) for name in arguments.score}
    labels = _labels(arguments, form)
    found = Counted(arguments=arguments, columns=columns, labels=labels, notes=form.notes, wanted=wanted)
    counts: Counter[Any] = Counter()
    n_weighted_positive = 0
    for part in found.parts():
        found.n_rows += len(part.positive)
        found.n_positive += int(np.count_nonzero(part.positive))
        found.n_dropped += part.n_dropped
        counted = np.ones(len(part.positive), bool) if part.weight is None else part.weight > 0
        found.n_weighted += int(np.count_nonzero(counted))
        n_weighted_positive += int(np.count_nonzero(counted & part.positive))
        counts.update(part.labels)
        for name, scores in part.columns.items():
            columns[name].update(part.positive, scores, sample_weight=part.weight)
    if not 0 < found.n_positive < found.n_rows:
        raise Failure(f"column {labels.name!r} holds only one class in the rows without missing values")
    if not any(one.n_bins for one in columns.values()):
        raise Failure(f"column {arguments.weight!r} is 0 in every row; at least one weight must be positive")
    if not 0 < n_weighted_positive < found.n_weighted:
        raise Failure(f"column {arguments.weight!r} {ONE_CLASS}")
    found.labels = labels.counted(counts)
    found.labels.tell(form)
    for name, ends in found.ends.items():
        ends.tell(name, COMMAND, form.notes.add)
    found.tell_of_equal()
    form.tell()
    return found


def _labels(arguments: Scores, form: Form) -> classes.LabelColumn:
    """Return the classes among the distinct labels of the file."""
    name, wanted = arguments.label, source.ColumnRequest([arguments.label], form=form)
    counts = Counter[Any]()
    kind: Any = None
    for frame, _ in source.batches(arguments.data, wanted):
        series = table.column(frame, name)
        kind = series.dtype
        counts.update(classes.counts(series.filter(~classes.missing(name, series, form))))
        if len(counts) > _LABELS:
            break
    order = list(kind.categories) if isinstance(kind, pl.Enum) else None
    return classes.decide(name, dict(counts), arguments, form, order)
