"""Rows with labels and columns of scores: what ``evaluate`` and ``compare`` measure."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli import _labels as classes, _report as report, _source as source, _table as table, plan
from rocmax._cli._columns import suspects
from rocmax._cli._output import Failure, log
from rocmax._cli._parser import Compare, Scores
from rocmax._runtime.settings import settings
from rocmax._tables._decide import COMMAND, Ends
from rocmax._tables._forms import Note, of_rows
from rocmax._tables._suspects import n_copies
from rocmax.metrics import AUC, Bootstrap, LabelPlan, Measure, PartialAUC, Samples, Venkatraman, compare, infer
from rocmax.metrics.methods import ranks_little
from rocmax.metrics.samples._arguments import Arguments, not_counts

_MOST = 100  # columns of a table in which the names of clusters are looked for
ONE_CLASS = "leaves one class only: every row of the other has weight 0"
_OF_CALLS = "mcnemar", "mcnemar-midp"
_RESAMPLED = {"bootstrap": Bootstrap, "venkatraman": Venkatraman}


def measures(arguments: Scores) -> list[Measure]:
    """Return the areas, which are always measured, and the requested measures, each once."""
    areas = [AUC(), *([PartialAUC(arguments.fpr)] if arguments.fpr else [])]
    return list(dict.fromkeys([*([] if arguments.method in _OF_CALLS else areas), *arguments.measure]))


@dataclass(kw_only=True)
class Scored:
    """Columns of scores, the labels of their rows, and the options to measure them with."""

    arguments: Scores
    columns: dict[str, Any]
    labels: classes.LabelColumn
    notes: table.Notes
    n_rows: int = 0
    n_positive: int = 0
    n_dropped: int = 0
    by: dict[str, pl.Series] = field(default_factory=dict)  # columns of subgroups

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
        counted = self.labels.summary(self.n_rows, self.n_positive)
        return f"{counted}{self._clusters()}{weights}{turned}{self.dropped}"

    def _clusters(self) -> str:
        return ""

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

    def tell_of_equal(self) -> None:
        """Report the columns whose scores are all equal."""
        for name, scores in self.columns.items():
            if self._are_equal(scores):
                self.notes.add(Note("equal scores", f"warning: all scores in column {name!r} are equal", name))
            elif isinstance(self, Whole) and (found := ranks_little(scores)):
                self.notes.add(Note("equal scores", f"warning: column {name!r}: {found}", name))

    @staticmethod
    def _are_equal(scores: Any) -> bool:
        return bool((scores == scores[0]).all())

    def infer(self, name: str, measure: Measure, by: pl.Series | None = None) -> Any:
        raise NotImplementedError

    def measured(self, name: str, measure: Measure, by: pl.Series | None = None, *, intervals: bool = True) -> Any:
        """Measure a column of scores, in all rows or in subgroups; `warned` has `intervals`."""
        about = f"{name}, {measure.short}" + ("" if by is None else f" by {by.name}")
        with report.warned(about, self.notes, intervals=intervals), report.progress(f"measuring {about}"):
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
    groups: NDArray[np.int64] | None
    per: pl.Series | None  # the column that alerts are counted per
    planned: LabelPlan | None = None
    places: Any = None  # where the rows of the plan stand
    _each: dict[str, Samples] = field(default_factory=dict)

    def _clusters(self) -> str:
        if self.groups is None:
            return ""
        count = f"{len(np.unique(self.groups)):,}"
        return f" in {count} clusters" if self.groups.ndim == 1 else f" of {count} subjects"

    @property
    def n_periods(self) -> int:
        """The number of distinct values of that column."""
        return 1 if self.per is None else self.per.n_unique()

    @cached_property
    def samples(self) -> Samples:
        """The rows with all columns of scores; their weights are known to count, or not."""
        return self._read(self.columns, [name not in self.arguments.lows for name in self.columns])

    def of(self, name: str) -> Samples:
        """Return the rows with one column of scores, which is sorted once."""
        if name not in self._each:
            self._each[name] = self._read(self.columns[name], name not in self.arguments.lows)
        return self._each[name]

    def tell_of_labels(self) -> None:
        """Report columns with one score in each class, as the labels have."""
        for name, scores in self.columns.items():
            each = all(self._are_equal(scores[of]) for of in (self.positive, ~self.positive))
            if each and not self._are_equal(scores):
                text = f"warning: column {name!r} has one score in each class: it may hold the labels"
                self.notes.add(Note("labels", text, name))

    def _read(self, scores: Any, higher: Any) -> Samples:
        if self.planned is not None:
            names = next((name for name, column in self.columns.items() if column is scores), [*self.columns])
            planned: Samples = self.planned.of(names).measured(self.positive[self.places])
            own, rows = planned.two.score[len(self.places) :], self.planned.rows[: len(self.places)]
            found = np.array([self.columns[name] for name in np.atleast_1d(names)])[:, self.places]
            if not np.allclose(found, np.atleast_2d(own[rows].T), rtol=1e-6, atol=0):
                raise Failure(f"--score {' '.join(np.atleast_1d(names))}: the plan was made of other scores")
            return planned
        kind = self.weight_kind
        held = self.positive, scores, self.weight, self.groups
        given = Arguments(*held, higher_is_better=higher, weight_kind=kind, titled=True)
        data = given.of_two_classes()._replace(pos_label=self.labels.value)
        return Samples.unchecked(given).holding(data)

    def infer(self, name: str, measure: Measure, by: Any = None) -> Any:
        samples = self.of(name) if by is None else self.of(name).holding(self.of(name).two, by)
        return infer(samples, measure, confidence_level=self.arguments.confidence, random_state=0)

    def compare(self, options: Compare, measures: Sequence[Measure], by: Any = None) -> list[Any]:
        comparisons = []
        method: Any = _RESAMPLED[options.method](options.resamples) if options.method in _RESAMPLED else options.method
        samples = self.samples if by is None else self.samples.holding(self.samples.two, by)
        how: Any = {"adjust": options.adjust, "confidence_level": options.confidence, "random_state": options.seed}
        for measure in measures:
            about = measure.short if by is None else f"{measure.short} by {by.name}"
            with report.warned(about, self.notes, how="--method"), report.progress(f"comparing by {about}"):
                comparisons.append(compare(samples, measure, method=method, **how))
        return comparisons

    def draw(self, path: str) -> None:
        """Write the ROC plot."""
        level: float | None = self.arguments.confidence
        known = {"groups": self.groups, "weights": self.weight, "plans": self.planned}
        if named := [name for name, values in known.items() if values is not None]:
            log(f"{path}: drawn without confidence bands, which do not support {' and '.join(named)}")
            level = None
        report.draw(
            path, self.samples, fpr_range=self.arguments.fpr, confidence_level=level, xscale=self.arguments.xscale
        )


def read(arguments: Scores) -> Whole:
    """Read the columns that the arguments of evaluate and compare name."""
    label, weight, groups, per = arguments.label, arguments.weight, arguments.groups, arguments.per
    by = dict.fromkeys(arguments.by)
    planned = None if arguments.plan is None else plan.read(arguments.plan)
    given = [name for name in (weight, per, None if planned is None else plan.ROW) if name is not None]
    needed = list(dict.fromkeys([label, *arguments.score, *given, *groups, *by]))
    named = [*groups, *by, *([] if per is None else [per])]
    numeric = [*([] if weight is None else [weight]), *([] if planned is None else [plan.ROW])]
    wanted = source.columns_to_read(arguments, needed, numbers=numeric, scores=arguments.score, names=named)
    form = wanted.form
    frame = classes.clean(source.read(arguments.data, wanted).frame, label, arguments, form)
    n_dropped = 0
    if arguments.missing == "drop":
        frame, n_dropped = table.drop_missing(frame, needed)
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
        places=None if planned is None else plan.in_order(planned, table.weights(frame, plan.ROW)),
    )
    if found.weight is not None and not (found.weight[positive].any() and found.weight[~positive].any()):
        raise Failure(f"column {weight!r} {ONE_CLASS}")
    for name, scores in found.columns.items():
        ends = Ends()
        ends.add(scores)
        ends.tell(name, COMMAND, form.notes.add)
    found.tell_of_equal()
    found.tell_of_labels()
    if not groups and weight is None:
        _tell_of_groups(found, needed, form)
    found.tell_of_weights(found.weight)
    form.tell()
    return found


def _tell_of_groups(found: Whole, needed: Collection[str], form: table.Form) -> None:
    """Report copies of rows, and other columns whose values never disagree about the label, in the first rows."""
    path, apart = found.arguments.data, form.apart()
    if not Path(path).is_file():
        return
    with suppress(Failure):  # what is wrong with other columns is no news
        frame, is_text = next(source.batches(path, source.ColumnRequest(form=apart, most=_MOST)))
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
        for note in suspects(pl.DataFrame([*others, *scores]), found.positive[: len(frame)]):
            if note.rows and note.column not in found.columns:
                found.notes.add(note)
