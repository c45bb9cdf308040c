"""What each column of a table is, as a model keeps it; later tables are read by it, and their news collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._digests import blocks
from rocmax._tables._forms import Note, first, is_frame, is_number, of_rows, some
from rocmax._tables._frame import columns_of, numbers, texts, type_of
from rocmax._typing import F64, AnyArray

Unseen = dict[Any, tuple[list[str], int]]  # categories not seen in training by column: the first, and their rows

_NAMED, _SHOWN = 3, 10  # categories and columns in a warning
# The share of rows further outside the trained range than it is wide that is reported, if more rows than _SINGLE; and
# the share of rows outside the range at all.
_FAR, _SINGLE, _OUTSIDE = 0.01, 2, 0.5
# The change of the share of missing values that is reported.
_MISSING = 0.25
# With fewer rows only values far outside and columns without any value are reported; a column without any value, or
# with one value, is, if chance rarely makes one. Training rows tell no share below the last.
_FEW, _EMPTY, _CONSTANT, _LEAST = 20, 0.01, 1e-6, 0.005
# The rows by which the most frequent value is found.
_ROWS = 10_000


@dataclass(frozen=True)
class Column:
    """What a column is: its kind ("number", "flag", "category" or "left out"), and why it is left out or a remark."""

    name: Any
    kind: str
    reason: str = ""
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What the column is, in words."""
        if self.kind == "category":
            held = f"category of {len(self.categories):,}: {some(self.categories, 2)}"
            return f"{held}; {self.reason}" if self.reason else held
        return f"{self.kind}, {self.reason}" if self.reason else self.kind

    def codes(self, values: Sequence[str | None]) -> AnyArray:
        """Return the place of each text among the categories, if all are numbers also as a number; -1 if none."""
        known = {text: k for k, text in enumerate(self.categories)}
        same: dict[float, int] = {}
        if all(is_number(text.strip()) for text in self.categories):
            for k, text in enumerate(self.categories):
                same[float(text)] = -1 if float(text) in same else k  # 1.10 and 1.1 are two categories
        found: dict[str | None, int] = {None: len(self.categories)}
        for value in {*values}:
            if value is not None:
                found[value] = known.get(value, same.get(float(value), -1) if same and is_number(value.strip()) else -1)
        return np.fromiter(map(found.__getitem__, values), dtype=np.intp, count=len(values))

    def places(self, series: Any) -> F64:
        """Return the same for a column of a frame, NaN where missing."""
        held = series.to_native()
        if series.dtype == nw.String and hasattr(held, "replace_strict"):  # polars, faster than a text at a time
            held = held.alias("")
            known = held.drop_nulls().unique()
            codes = type(held)(self.codes(known.to_list()).astype(np.float64))
            return np.asarray(held.replace_strict(known, codes, default=None).to_numpy())
        if hasattr(getattr(held, "cat", None), "codes"):  # pandas
            places = self.codes([str(one) for one in held.cat.categories])
            return np.asarray(np.append(places, np.nan)[held.cat.codes])
        codes = self.codes(texts(series))
        return np.where(codes < len(self.categories), codes, np.nan)


@dataclass(frozen=True)
class Schema:
    """The columns of the training table, and how its texts were read."""

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ()  # codes beside those of `MISSING`
    decimal: str = "."
    thousands: str | None = None

    @cached_property
    def numeric(self) -> list[Any]:
        """The names of numbers and flags."""
        return [column.name for column in self.columns if column.kind in ("number", "flag")]

    @cached_property
    def categorical(self) -> list[Any]:
        """The names of categories."""
        return [column.name for column in self.categories]

    @cached_property
    def categories(self) -> list[Column]:
        """The columns of categories."""
        return [column for column in self.columns if column.kind == "category"]

    @cached_property
    def used(self) -> list[Any]:
        """The names of all columns that a model learns from, numbers first."""
        return self.numeric + self.categorical

    @cached_property
    def left_out(self) -> dict[Any, str]:
        """The names of the other columns, and why they are left out."""
        return {column.name: column.reason for column in self.columns if column.kind == "left out"}

    def __bool__(self) -> bool:
        return bool(self.columns)

    def table(self, X: Any, unseen: Unseen | None = None) -> F64:
        """Return a frame as numbers, then the places of categories; NaN is missing, -1 a category that is `unseen`."""
        columns = columns_of(X)
        if not self:  # after training on an array
            return np.column_stack([numbers(series, name) for name, series in columns.items()])
        found = np.empty((X.shape[0], len(self.used)))
        for k, (name, is_flag) in enumerate(zip(self.numeric, self.flags(), strict=True)):
            if not is_flag and type_of(columns[name]) == "flag":
                raise ValueError(f"X: column {name!r} held numbers in training, and holds true and false")
            found[:, k] = numbers(columns[name], name)
        for k, column in enumerate(self.categories, len(self.numeric)):
            series = columns[column.name]
            found[:, k] = column.places(series)
            if unseen is not None and len(rows := np.flatnonzero(found[:, k] < 0)):
                known, n = unseen.get(column.name, ([], 0))
                first_ones = dict.fromkeys([*known, *map(str, series[rows].to_list())])
                unseen[column.name] = [*first_ones][: _NAMED + 1], n + len(rows)
        return found

    def flags(self) -> AnyArray:
        """Return which of `numeric` are flags."""
        return np.array([one.kind == "flag" for one in self.columns if one.kind in ("number", "flag")], dtype=bool)


class Later:
    """Reads tables by the schema of training, whose columns `trained` sums up, and collects their news by batches."""

    def __init__(self, schema: Schema, trained: F64 | None, names: Sequence[Any] | None = None) -> None:
        self.schema, self.trained, self.names = schema, trained, names
        self.unseen: Unseen = {}
        self.changes: Changes | None = None

    def read(self, X: Any) -> Any:
        """Return a frame as numbers, then the places of categories, as `Schema.table` does; an array as it is."""
        if is_frame(X):
            X = self.schema.table(X, self.unseen)
        elif named := [*self.schema.categorical, *self.schema.left_out]:
            what = f"a frame with the columns of training, of which {named[0]!r} is not numeric"
            raise ValueError(f"X must be {what}, got {type(X).__name__}")
        if self.trained is not None and not sparse.issparse(X):
            if self.changes is None:
                names = self.schema.used or (range(X.shape[1]) if self.names is None else self.names)
                n_numeric = len(names) - len(self.schema.categories)
                self.changes = Changes(names, self.trained, n_numeric, self.schema.flags())
            self.changes.add(X)
        return X

    def notes(self, rare: str = "missing") -> list[Note]:
        """Return the news; unseen categories are treated as `rare`."""
        text = "column {!r}: {} not seen in training ({}): treated as {}"
        unseen = [
            Note("unseen", text.format(name, some(new, _NAMED), of_rows(n), rare), str(name), tuple(new[:_NAMED]), n)
            for name, (new, n) in self.unseen.items()
        ]
        return unseen + (self.changes.found() if self.changes is not None else [])

    def warn(self) -> None:
        """Warn once of all news but of columns with one value, which curves of partial dependence have on purpose."""
        texts = [note.text for note in self.notes() if note.values != ("constant",)]
        if texts := first(texts, _SHOWN, "changed since training"):
            warn("; ".join(texts), UserWarning)


def trained_columns(X: AnyArray) -> F64:
    """Return five rows about columns: share missing, range, most frequent value and its share."""
    n, n_columns = X.shape
    found = np.full((5, n_columns), np.nan)
    found[0] = np.count_nonzero(X != X, axis=0) / n
    found[1], found[2] = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    some = X if n <= _ROWS else X[np.random.default_rng(0).choice(n, _ROWS, replace=False)]
    for k in range(n_columns):
        values, counts = np.unique(some[:, k][~np.isnan(some[:, k])], return_counts=True)
        if len(counts):
            found[3:, k] = values[counts.argmax()], counts.max() / counts.sum()
    return found


class Changes:
    """Compares the columns of a table with those of training, batch by batch."""

    def __init__(self, names: Sequence[Any], trained: F64, n_numeric: int, flags: AnyArray) -> None:
        """Remember the names of columns, those after `n_numeric` being categories, and `flags`, which hold 0 and 1."""
        self.names, self.trained = names, trained
        low, high = trained[1:3]
        with np.errstate(over="ignore", invalid="ignore"):
            wide = np.where(high > low, high - low, np.inf)
            wide[: len(flags)][flags] = 0.0
            self.ends = low - wide, high + wide
        self.is_number = np.arange(len(names)) < n_numeric
        self.n_rows = 0
        self.missing, self.far, self.outside = (np.zeros(len(names), dtype=np.int64) for _ in range(3))
        self.low, self.high = np.full(len(names), np.nan), np.full(len(names), np.nan)

    def add(self, X: AnyArray) -> None:
        """Count some rows."""
        (_, low, high, _, _), (far_low, far_high) = self.trained, self.ends
        for rows in blocks(*X.shape):
            block = X[rows]
            self.far += np.count_nonzero((far_low > block) | (far_high < block), axis=0)
            self.outside += np.count_nonzero((low > block) | (high < block), axis=0)
            self.missing += np.count_nonzero(np.isnan(block), axis=0)
            self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
            self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
        self.n_rows += len(X)

    def found(self) -> list[Note]:
        """Return the columns that changed; the value of a note is how: "missing", "constant" or "range"."""
        if not self.n_rows:
            return []
        share, _, _, mode, mode_share = self.trained
        here = self.n_rows - self.missing
        now = self.missing / self.n_rows
        empty = (here == 0) & (share < 1.0) & (np.clip(share, _LEAST, 1.0) ** self.n_rows < _EMPTY)
        lost = (self.n_rows >= _FEW) & (np.abs(now - share) > _MISSING) & ~empty
        outside = self.is_number & (here >= _FEW) & (self.outside > _OUTSIDE * here)
        far = self.is_number & (self.far > np.minimum(np.maximum(_FAR * here, _SINGLE), _OUTSIDE * here))
        rarest = np.where(self.low == mode, mode_share, np.minimum(mode_share, 1.0 - mode_share))
        constant = (here >= _FEW) & (self.low == self.high) & (np.clip(rarest, _LEAST, 1.0) ** here < _CONSTANT)
        constant &= self.is_number | (self.low >= 0)  # unseen categories are reported as such
        found = []
        for k in np.flatnonzero(empty | lost | far | outside | constant).tolist():
            if empty[k] or lost[k]:
                found.append(self._change(k, "missing", self._missing(k, share[k]), self.missing[k]))
            if far[k] or outside[k]:
                found.append(self._change(k, "range", *self._range(k, far=bool(far[k]))))
            elif constant[k]:
                value = f"is {self.low[k]:g}" if self.is_number[k] else "has one category"
                found.append(self._change(k, "constant", f"{value} in every row; it varied in training", here[k]))
        return found

    def _change(self, k: int, change: str, what: str, n: int) -> Note:
        return Note("changed", f"column {self.names[k]!r} {what}", str(self.names[k]), (change,), int(n))

    def _missing(self, k: int, share: float) -> str:
        n = int(self.missing[k])
        now = "has no value" if n == self.n_rows else f"has no value in {_percent(n / self.n_rows)} of the rows"
        then = f"{_percent(share)} were missing" if share else "no value was missing"
        return f"{now if n else 'has a value in every row'}; {then} in training"

    def _range(self, k: int, *, far: bool) -> tuple[str, int]:
        low, high = self.trained[1:3, k]
        n = int((self.far if far else self.outside)[k])
        first = self.low[k] if low - self.low[k] > self.high[k] - high else self.high[k]
        where = f"{'far ' if far else ''}outside the trained range [{low:g}, {high:g}]"
        return f"lies {where} in {n:,} of {self.n_rows:,} rows, such as {first:g}", n


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.4g} %"
