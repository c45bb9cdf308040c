"""Rows with labels and columns of scores, which commands measure: in memory, or counted if the file is large."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax import metrics
from rocmax._cli import _labels as classes, _report as report, _table as table, plan
from rocmax._cli._output import Failure, failing, log
from rocmax._cli._parser import Compare, Evaluate, Scores, is_count
from rocmax._cli._table import Form, Notes
from rocmax._runtime.settings import settings
from rocmax._tables._forms import Note, of_rows
from rocmax._tables._schema import COMMAND, Ends
from rocmax._tables._suspects import n_copies, suspect_notes
from rocmax.metrics._infer import warn_below_chance
from rocmax.metrics.methods import ranks_little
from rocmax.metrics.samples._arguments import Arguments, not_counts

_MOST = 100  # columns of a table in which the names of clusters are looked for
_ONE_CLASS = "must be above 0 in rows of both classes"
_LABELS = 1000  # distinct values of labels, at most
_BAND_ROWS = 200_000  # from which a band is thinner than its curve, and slow


def measures(arguments: Scores) -> list[metrics.Measure]:
    """Return the areas, which are always measured, and the requested measures, each once."""
    areas = [metrics.AUC(), *([metrics.PartialAUC(arguments.fpr)] if arguments.fpr else [])]
    return list(dict.fromkeys([*areas, *arguments.measure]))


def caught(precisions: Iterable[metrics.Inference]) -> list[dict[str, Any]]:
    """Return the precisions of one column for JSON, with the numbers of positives among the alerts and of alerts."""
    found = []
    for one in precisions:
        alerts = one.measure.alerts((one.n_pos, one.n_neg))  # type: ignore[attr-defined]
        found.append(one.to_dict() | {"caught": one.estimate * alerts, "alerts": alerts})
    return found


@dataclass(kw_only=True)
class Scored:
    """Columns of scores, the labels of their rows, and the options to measure them with."""

    arguments: Scores
    columns: dict[str, Any]
    labels: classes.LabelColumn
    notes: Notes
    n_rows: int = 0
    n_positive: int = 0
    n_dropped: int = 0
    by: dict[str, pl.Series] = field(default_factory=dict)  # columns of subgroups
    ends: dict[str, Ends] = field(default_factory=dict)
    per: pl.Series | None = None  # the column that alerts are counted per
    groups: NDArray[np.int64] | None = None

    @property
    def weight_kind(self) -> str | None:
        """What the weights stand for, None without weights."""
        return None if self.arguments.weight is None else self.arguments.weights_are or "frequency"

    @property
    def dropped(self) -> str:
        """The number of rows with missing values, in words."""
        return f"; {self.n_dropped:,} more dropped because of missing values" if self.n_dropped else ""

    @property
    def summary(self) -> str:
        """The rows in words."""
        weights = f", {self.weight_kind} weights {self.arguments.weight}" if self.weight_kind else ""
        lows = ", ".join(sorted(self.arguments.lows))
        turned = f"; low scores of {lows} are for positives" if lows else ""
        clusters = ""
        if self.groups is not None:
            count = f"{len(np.unique(self.groups)):,}"
            clusters = f" in {count} clusters" if self.groups.ndim == 1 else f" of {count} subjects"
        return f"{self.labels.summary(self.n_rows, self.n_positive)}{clusters}{weights}{turned}{self.dropped}"

    @property
    def precisions(self) -> list[metrics.PrecisionAt]:
        """The precision of every number of alerts, which sampling weights do not count, in data as they are."""
        if self.arguments.weights_are == "sampling" or self.arguments.prevalence is not None:
            return []
        return [metrics.PrecisionAt(k, self.per) for k in self.arguments.counts]

    def tell_of_weights(self, weight: NDArray[np.float64] | None) -> None:
        """Report weights that are taken as counts without looking like counts."""
        if self.arguments.weights_are is None and (found := not_counts(weight)):
            name = self.arguments.weight
            text = (
                f"warning: the weights in {name} {found}, but are taken as frequency weights: a weight of w counts as w"
                " equal rows, and intervals narrow as weights grow. Give --weights-are sampling if they are sampling"
                " weights (inverse probabilities, amounts), or --weights-are frequency if they are counts"
            )
            self.notes.add(Note("weights", text, name))

    def tell_of_scores(self: Any) -> None:
        """Report columns with codes that may mean missing, and those that rank little or hold the labels."""
        for name, ends in self.ends.items():
            ends.tell(name, COMMAND, self.notes.add)
        for name, scores in self.columns.items():
            kind, text = self._doubt(name, scores)
            if text:
                self.notes.add(Note(kind, f"warning: {text}", name))

    def measured(self: Any, name: str, measure: metrics.Measure, by: pl.Series | None = None) -> Any:
        """Measure a column of scores, in all rows or in subgroups."""
        about = f"{name}, {measure.short}" + ("" if by is None else f" by {by.name}")
        with report.warned(about, self.notes):
            return self.infer(name, measure, by)

    def plain(self) -> dict[str, Any]:
        """Return what --json holds about the rows."""
        return {
            "data": self.arguments.data,
            "n_samples": self.n_rows,
            "n_positive": self.n_positive,
            "n_dropped": self.n_dropped,
            "lower": sorted(self.arguments.lows),
            "positive": str(self.labels.value),
            "negatives": self.labels.negatives,
            **self.notes.plain(),
            "weight_kind": self.weight_kind,
        }


@dataclass(kw_only=True)
class Whole(Scored):
    """The same for a table in memory."""

    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    planned: metrics.LabelPlan | None = None
    _each: dict[str | None, metrics.Samples] = field(default_factory=dict)

    def cutoffs(self, options: Evaluate) -> dict[str, metrics.OperatingPoint]:
        """Return the requested cutoffs of each column of scores."""
        n_periods = 1 if self.per is None else self.per.n_unique()
        rules = [("alerts", at[1] * n_periods) if is_count(at) else at for at in options.at]
        points = {}
        for name in self.columns:
            with report.warned(f"{name}, cutoffs", self.notes):
                points[name] = metrics.operating_point(
                    self.of(name),
                    threshold=rules,
                    guarantee=options.guarantee,
                    prevalence=options.prevalence,
                    method="bootstrap" if options.groups else "wilson",
                    confidence_level=options.confidence,
                    random_state=0,
                )
        return points

    def of(self, name: str | None = None, by: Any = None) -> metrics.Samples:
        """Return the rows with one column of scores, or with all, which are sorted once; in subgroups `by` a column."""
        if name not in self._each:
            higher: Any = {one: one not in self.arguments.lows for one in self.columns}
            scores, higher = (self.columns, higher) if name is None else (self.columns[name], higher[name])
            if self.planned is not None:
                self._each[name] = metrics.Samples(self.positive, scores, plan=self.planned)
            else:
                how: Any = {"higher_is_better": higher, "titled": True, "weight_kind": self.weight_kind}
                given = Arguments(self.positive, scores, self.weight, self.groups, **how)
                data = given.of_two_classes()._replace(pos_label=self.labels.value)
                self._each[name] = metrics.Samples.unchecked(given).holding(data)
        one = self._each[name]
        return one if by is None else one.holding(one.two, by)

    def _doubt(self, name: str, scores: Any) -> tuple[str, str]:
        """Return the kind and the text of what is news about the scores of a column."""
        if (scores == scores[0]).all():
            return "equal scores", f"all scores in column {name!r} are equal"
        if all(np.ptp(scores[of]) == 0 for of in (self.positive, ~self.positive)):
            return "labels", f"column {name!r} has one score in each class: it may hold the labels"
        fact = ranks_little(scores)
        return "equal scores", f"column {name!r}: {fact}" if fact else ""

    def infer(self, name: str, measure: metrics.Measure, by: Any = None) -> Any:
        return metrics.infer(self.of(name, by), measure, confidence_level=self.arguments.confidence, random_state=0)

    def compare(self, options: Compare, measures: Sequence[metrics.Measure], by: Any = None) -> list[Any]:
        comparisons = []
        samples = self.of(by=by)
        how: Any = {"method": options.method, "confidence_level": options.confidence, "random_state": 0}
        for measure in measures:
            about = measure.short if by is None else f"{measure.short} by {by.name}"
            with report.warned(about, self.notes):
                comparisons.append(metrics.compare(samples, measure, **how))
        return comparisons

    def draw(self, path: str, sliced: Mapping[str, Any]) -> None:
        """Write the ROC plot, or a forest plot of results in subgroups."""
        if self.by:
            report.draw_forest(path, sliced)
            return
        given, samples = self.arguments, self.of()
        known = {"groups": self.groups is not None, "weights": self.weight is not None, "plans": self.planned}
        known |= {"one row of a class": min(samples.two.counted) < 2, "so many rows": len(samples) > _BAND_ROWS}
        named = [name for name, is_given in known.items() if is_given]
        if named:
            log(f"{path}: drawn without confidence bands, which do not support {' and '.join(named)}")
        level = None if named else given.confidence
        report.draw(path, samples, fpr_range=given.fpr, confidence_level=level, xscale=given.xscale)


def read(arguments: Scores) -> Any:
    """Return the rows of the columns that the arguments name, or their counts."""
    return _counted(arguments) if _fits_in_counts(arguments) else _in_memory(arguments)


def _in_memory(arguments: Scores) -> Whole:
    label, weight, groups, per = arguments.label, arguments.weight, arguments.groups, arguments.per
    by = dict.fromkeys(arguments.by)
    planned = None
    if arguments.plan is not None:
        with failing(arguments.plan, "read"):
            planned = metrics.LabelPlan.load(arguments.plan)
    numeric = [name for name in (weight, None if planned is None else plan.ROW) if name is not None]
    named = [*([] if per is None else [per]), *groups, *by]
    needed = list(dict.fromkeys([label, *arguments.score, *numeric, *named]))
    numbers = dict.fromkeys([*numeric, *arguments.score])
    wanted = table.columns_to_read(arguments, needed, numbers=numbers, names=named)
    form = wanted.form
    frame, n_dropped = classes.clean(table.read(arguments.data, wanted).frame, needed, arguments, form)
    labels, positive = classes.read(frame, label, arguments, form)
    found = Whole(
        arguments=arguments,
        columns={name: table.scores(frame, name) for name in arguments.score},
        labels=labels,
        notes=form.notes,
        positive=positive,
        n_rows=len(frame),
        n_positive=int(positive.sum()),
        n_dropped=n_dropped,
        by={name: table.subgroups(frame, name) for name in by},
        weight=None if weight is None else table.weights(frame, weight),
        groups=table.cluster_numbers(frame, groups) if groups else None,
        per=None if per is None else table.names(frame, per, "value").alias(per),
        planned=planned,
    )
    if found.weight is not None and not (found.weight[positive].any() and found.weight[~positive].any()):
        raise Failure(f"column {weight!r} {_ONE_CLASS}")
    for name, scores in found.columns.items():
        found.ends.setdefault(name, Ends()).add(scores)
    found.tell_of_scores()
    if not groups and weight is None:
        _tell_of_groups(found, needed, form)
    found.tell_of_weights(found.weight)
    form.tell()
    if planned is not None:
        found.positive, found.columns = plan.in_order(planned, table.weights(frame, plan.ROW), positive, found.columns)
    return found


def _tell_of_groups(found: Whole, needed: Collection[str], form: Form) -> None:
    """Report copies of rows, and other columns whose values never disagree about the label, in the first rows."""
    path, apart = found.arguments.data, replace(form, notes=Notes(), codes=Counter())
    if not Path(path).is_file():
        return
    with suppress(Failure):  # what is wrong with other columns is no news
        frame, is_text = next(table.batches(path, table.ColumnRequest(form=apart, most=_MOST)))
        if len(frame) != min(found.n_rows, settings().batch_rows):
            return  # rows were left out
        name = found.arguments.score[0]
        places = [k for k, one in enumerate(frame) if one.name != name and not one.dtype.is_nested()]
        rest = frame.select(pl.nth(places))
        if n := n_copies(found.columns[name][: len(frame)], rest.hash_rows().to_numpy()):
            what = f"{of_rows(n)} {'repeats' if n == 1 else 'repeat'} another one in all columns"
            text = f"warning: {what}, which intervals take for new: drop copies, or give --groups if rows are dependent"
            found.notes.add(Note("copies", text, rows=n))
        others = [series for series in frame if series.name not in needed]
        others = [*table.typed(pl.DataFrame(others), apart, ())] if is_text and others else others
        # Rows are copies only if their scores are equal too.
        scores = [pl.Series(name, values[: len(frame)]) for name, values in found.columns.items()]
        for note in suspect_notes(pl.DataFrame([*others, *scores]), found.positive[: len(frame)]):
            if note.rows and note.column not in found.columns:
                found.notes.add(note)


def _fits_in_counts(given: Scores) -> bool:
    """Whether counts of the scores are all that is needed, and a file of parquet or csv has many rows."""
    path, scans = Path(given.data), {".parquet": pl.scan_parquet, ".csv": pl.scan_csv, ".tsv": pl.scan_csv}
    scan: Any = scans.get(path.suffix.lower())
    every_row: list[Any] = [given.groups, given.per, given.at, given.report, given.plot, given.by, given.plan]
    every_row += [given.weights_are == "sampling", isinstance(given, Compare)]
    if any(every_row) or scan is None or not path.is_file():
        return False
    with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):  # it is refused when it is read
        return bool(scan(path, glob=False).select(pl.len()).collect().item() > settings().counted_rows)
    return False


@dataclass(kw_only=True)
class Counted(Scored):
    """The counts of each column of scores; `labels` are those of the distinct texts or values in the file."""

    columns: dict[str, metrics.ROCAccumulator]
    n_weighted: int = 0  # rows of weight above 0

    @property
    def summary(self) -> str:
        error = max(one.error_bound for one in self.columns.values())
        return f"{super().summary}; counted in batches" + (f", AUC within {error:.0e}" if error else "")

    def plain(self) -> dict[str, Any]:
        return {**super().plain(), "error_bounds": {name: one.error_bound for name, one in self.columns.items()}}

    def _doubt(self, name: str, counts: metrics.ROCAccumulator) -> tuple[str, str]:
        return "equal scores", f"all scores in column {name!r} are equal" if counts.n_bins == 1 else ""

    def infer(self, name: str, measure: metrics.Measure, by: pl.Series | None = None) -> metrics.Inference:
        counts = self.columns[name]
        found = counts.result(measure, confidence_level=self.arguments.confidence)
        sample = counts.middle()._replace(pos_label=self.labels.value)
        warn_below_chance(measure, [sample], found.confidence_interval)
        found = replace(found, n_samples=self.n_rows, pos_label=self.labels.value)
        if self.weight_kind:
            return replace(found, weight_kind="frequency", n_samples=self.n_weighted)
        return replace(found, n_pos=self.n_positive, n_neg=self.n_rows - self.n_positive)


def _counted(arguments: Scores) -> Counted:
    """Count the scores of each column, batch by batch."""
    weights = [] if arguments.weight is None else [arguments.weight]
    needed = [arguments.label, *arguments.score, *weights]
    wanted = table.columns_to_read(arguments, needed, numbers=dict.fromkeys(needed[1:]))
    form, most, labels = wanted.form, settings().counted_error, _labels_of_file(arguments, wanted.form)
    found = Counted(
        arguments=arguments,
        columns={
            name: metrics.ROCAccumulator(max_error=most, pos_label=True, higher_is_better=name not in arguments.lows)
            for name in arguments.score
        },
        labels=labels,
        notes=form.notes,
    )
    counts: Counter[Any] = Counter()
    for frame, _ in table.batches(arguments.data, wanted):
        before = found.n_rows + found.n_dropped
        frame, n_dropped = classes.clean(frame, needed, arguments, form, before)
        label = table.column(frame, arguments.label)
        positive = labels.mark(label)
        weight = None if arguments.weight is None else table.weights(frame, arguments.weight, before)
        found.n_rows += len(frame)
        found.n_positive += int(np.count_nonzero(positive))
        found.n_dropped += n_dropped
        found.n_weighted += len(frame) if weight is None else int(np.count_nonzero(weight))
        counts.update(classes.counts(label))
        found.tell_of_weights(weight)
        for name, counted in found.columns.items():
            scores = table.scores(frame, name, before)
            found.ends.setdefault(name, Ends()).add(scores)
            counted.update(positive, scores, sample_weight=weight)
    found.labels = classes.decide(labels.name, counts, arguments, form)  # of the rows that are left
    if not all(counted.masses.any(axis=1).all() for counted in found.columns.values()):
        raise Failure(f"column {arguments.weight!r} {_ONE_CLASS}")
    found.labels.tell(form)
    found.tell_of_scores()
    form.tell()
    return found


def _labels_of_file(arguments: Scores, form: Form) -> classes.LabelColumn:
    """Return the classes among the distinct labels of the file."""
    name, wanted = arguments.label, table.ColumnRequest([arguments.label], form=form)
    counts = Counter[Any]()
    for frame, _ in table.batches(arguments.data, wanted):
        series = table.column(frame, name)
        counts.update(classes.counts(series.filter(~classes.missing(name, series, form))))
        if len(counts) > _LABELS:
            break
    return classes.decide(name, dict(counts), arguments, form)
