"""What each column of a table is, as a model keeps it: later tables are read by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from rocmax._tables._forms import Note, is_number, of_rows, some
from rocmax._tables._frame import columns_of, numbers, texts, type_of
from rocmax._typing import F64, AnyArray

_NAMED = 3  # categories in a warning


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


class Unseen:
    """The categories not seen in training, over the batches of a table."""

    def __init__(self) -> None:
        self._found: dict[Any, tuple[list[str], int]] = {}  # the first of each column, and the number of their rows

    def add(self, name: Any, values: Sequence[str]) -> None:
        """Count the rows of a column with such values."""
        known, n = self._found.get(name, ([], 0))
        self._found[name] = list(dict.fromkeys([*known, *values]))[: _NAMED + 1], n + len(values)

    def found(self, rare: str) -> list[Note]:
        """Return the columns with such values, which are treated as `rare`."""
        text = "column {!r}: {} not seen in training ({}): treated as {}"
        return [
            Note("unseen", text.format(name, some(new, _NAMED), of_rows(n), rare), str(name), tuple(new[:_NAMED]), n)
            for name, (new, n) in self._found.items()
        ]


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
                unseen.add(column.name, [str(value) for value in series[rows].to_list()])
        return found

    def flags(self) -> AnyArray:
        """Return which of `numeric` are flags."""
        kinds = {column.name: column.kind for column in self.columns}
        return np.array([kinds[name] == "flag" for name in self.numeric], dtype=bool)

    def listed(self) -> dict[str, list[str]]:
        """Return the names of the columns by what they are, in words."""
        found: dict[str, list[str]] = {}
        for column in self.columns:
            found.setdefault(column.words, []).append(str(column.name))
        return found
