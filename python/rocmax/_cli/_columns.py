"""The columns that a model learns from, what its file remembers of them, and what is news of later tables."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli import _table as table
from rocmax._cli._output import Failure
from rocmax._cli._source import Table
from rocmax._cli._table import Form
from rocmax._tables._decide import COMMAND, decide
from rocmax._tables._digests import RowsSeenInTraining, TrainedRows, digests
from rocmax._tables._forms import Note, short
from rocmax._tables._later import Later, trained_columns
from rocmax._tables._schema import Schema
from rocmax._tables._suspects import found_in

# With fewer rows equal scores are no news.
_FEW = 20


def decided(rows: Table, form: Form, *, exclude: Collection[str], categorical: Collection[str]) -> tuple[Schema, Table]:
    """Return the schema of a training table without some columns, and the table with numbers in place of texts."""
    frame = rows.frame.select(pl.nth([k for k, name in enumerate(rows.frame.columns) if name not in exclude]))
    if not frame.width:
        raise Failure("no columns to train on are left")
    columns = table.typed(frame, form, categorical) if rows.is_text else (_without_codes(one, form) for one in frame)
    held = pl.DataFrame({one.name: _texts(one) if one.name in categorical else one for one in columns})
    try:
        schema, notes = decide(held, categorical=categorical, words=COMMAND, read=form.numbers)
    except TypeError as error:
        raise Failure(str(error).removeprefix("X: ")) from error
    form.notes.add(*notes)
    schema = replace(schema, missing=form.missing, decimal=form.decimal, thousands=form.thousands)
    return schema, Table(held, is_text=False)


def _without_codes(series: pl.Series, form: Form) -> pl.Series:
    """Return a column without empty texts and the codes that are named as missing."""
    kind = series.dtype
    if kind == pl.String:
        return table.without_missing(series, form)
    if kind.is_numeric() and form.missing_numbers:
        gone = table.nameless(series).cast(pl.Float64).is_in(form.missing_numbers).fill_null(False)
        return series.set(gone, None)
    return series


def features(rows: Table, schema: Schema, form: Form, before: int = 0) -> pl.DataFrame:
    """Return a table's numbers as floats, then its categories as texts; `before` counts earlier rows, for messages."""
    every = {series.name: series for series in rows.frame.get_columns()}
    numeric = pl.DataFrame([every[name].alias(f"x{k}") for k, name in enumerate(schema.numeric)])
    if rows.is_text and numeric.width:
        numeric = _numbers(numeric, schema, form, before)
    elif numeric.width:
        for name, series, is_flag in zip(schema.numeric, numeric, schema.flags(), strict=True):
            if not (series.dtype.is_numeric() or series.dtype == pl.Null or (series.dtype == pl.Boolean and is_flag)):
                raise Failure(f"column {name!r} is {series.dtype}; the model was trained on numbers in it")
        numeric = pl.DataFrame([_without_codes(one, form).cast(pl.Float64).fill_nan(None) for one in numeric])
    if numeric.width:
        infinite = numeric.select(pl.all().is_infinite().any()).row(0)
        if any(infinite):
            k = infinite.index(True)
            row = before + int(numeric[:, k].is_infinite().arg_max() or 0) + 1
            raise Failure(f"column {schema.numeric[k]!r} is infinite in row {row}")
    texts = [_texts(_without_codes(every[name], form)) for name in schema.categorical]
    return pl.DataFrame(dict(zip(schema.used, [*numeric, *texts], strict=True)))


def _numbers(texts: pl.DataFrame, schema: Schema, form: Form, before: int) -> pl.DataFrame:
    """Return texts of csv as numbers, or fail at the first that is none."""
    values, _ = table.floats(texts, form)
    found, flags = values.get_columns(), schema.flags()
    for k, (name, series) in enumerate(zip(schema.numeric, texts, strict=True)):
        if found[k].null_count() > series.null_count():  # missing, or no number
            how: Any = {"booleans": bool(flags[k]), "why": "; the model was trained on numbers in it"}
            found[k] = table.number_column(series.alias(name), form, before, **how)
    return pl.DataFrame([one.alias(series.name) for one, series in zip(found, texts, strict=True)])


def _texts(series: pl.Series) -> pl.Series:
    """Return a column as the texts of categories."""
    kind = series.dtype
    if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
        raise Failure(f"column {series.name!r} is {kind}, which cannot be a category")
    return (series.fill_nan(None) if kind.is_float() else series).cast(pl.String)


def time_order(frame: pl.DataFrame, name: str) -> NDArray[np.intp]:
    """Return the rows in the order of a column of numbers, dates or times; equal ones keep their order."""
    series = table.column(frame, name)
    if series.dtype == pl.String:
        taken = "--time takes numbers, or dates such as 2024-12-31"
        as_numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
        other = ~series.str.contains(r"^\s*\d{4}\D").fill_null(True)  # in 1/12/2024 the day may be first, or the month
        if as_numbers.null_count() == series.null_count():
            series = as_numbers
        elif other.any():
            text = short(series[int(other.arg_max() or 0)])
            raise Failure(f"column {name!r} holds {text!r}: {taken}, the year first")
        else:
            try:
                series = series.str.to_datetime()
            except pl.exceptions.PolarsError:
                raise Failure(f"column {name!r} is text with values that are not dates: {taken}") from None
    if not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        raise Failure(f"column {name!r} is {series.dtype}: --time takes numbers, dates or times")
    return np.argsort(table.without_holes(series, name, "time").rank("dense").to_numpy(), kind="stable")


@dataclass(frozen=True)
class Trained:
    """What was in the columns that trained a model, and digests of its rows."""

    columns: NDArray[np.float64]
    rows: TrainedRows

    @classmethod
    def of(cls, X: pl.DataFrame, schema: Schema) -> "Trained":
        """Remember a table of `features`."""
        read = schema.table(X)
        return cls(trained_columns(read), TrainedRows.of(digests(read)))


class LaterRows(Later):
    """What is news of a later table and of its scores, over its batches; unseen categories are treated as `rare`."""

    def __init__(self, trained: Trained, schema: Schema, rare: str) -> None:
        super().__init__(schema, trained.columns)
        self.rare, self.met = rare, RowsSeenInTraining(trained.rows)
        self.low, self.high, self.n_rows = np.inf, -np.inf, 0

    def add(self, X: pl.DataFrame, scores: NDArray[np.float64]) -> None:
        """Count some rows of `features`, and their scores."""
        self.met.add(digests(self.read(X)))
        self.low, self.high = min(self.low, float(scores.min())), max(self.high, float(scores.max()))
        self.n_rows += len(scores)

    def told(self) -> list[Note]:
        """Return the news."""
        found = [replace(note, text=f"warning: {note.text}") for note in self.notes(self.rare)]
        if self.n_rows >= _FEW and self.low == self.high:
            found.append(Note("equal scores", f"warning: all {self.n_rows:,} scores are equal", rows=self.n_rows))
        if fact := self.met.message():
            found.append(Note("trained rows", fact, rows=self.met.n_trained))
        return found


def suspects(X: pl.DataFrame, positive: NDArray[np.bool_], groups: Any = None, *, in_time: bool = False) -> list[Note]:
    """Return the news of columns that leak the label, or name what rows are about."""
    found = found_in(X, positive, groups)
    group = "--drop it, or give --groups {}" if in_time else "give --groups {}"
    notes = []
    for one in found:
        text = f"warning: {one.message('--drop it', group.replace('{}', quote(str(one.column))))}"
        notes.append(Note("suspect", text, str(one.column), (one.by or one.only or "groups",), one.n_rows or None))
    return notes
