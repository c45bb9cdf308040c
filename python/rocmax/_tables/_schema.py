"""What each column of a table is, as a model keeps it: later tables are read by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rocmax._tables._forms import is_number
from rocmax._typing import AnyArray


@dataclass(frozen=True)
class Column:
    """What a column is: its kind ("number", "flag", "category" or "left out") and what training has seen in it."""

    name: Any
    kind: str
    reason: str = ""
    categories: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    missing: float = 0.0

    def codes(self, values: Sequence[str | None]) -> AnyArray:
        """Return the place of each text among the categories; -1 if it is none, their number if it is missing.

        If all categories are numbers, a text is also looked up as a number: 1.0 is the category 1.
        """
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

    def flags(self) -> AnyArray:
        """Return which of `numeric` are flags."""
        return np.array(
            [column.kind == "flag" for column in self.columns if column.kind in ("number", "flag")], dtype=bool
        )

    def plain(self) -> dict[str, Any]:
        """Return the schema ready for JSON."""
        return asdict(self)

    @classmethod
    def of_plain(cls, content: dict[str, Any]) -> Schema:
        """Return the schema of `plain`, or raise if it is none."""
        made = cls(
            **{
                **content,
                "columns": tuple(_column(one) for one in content["columns"]),
                "missing": tuple(content["missing"]),
            }
        )
        marks = [made.decimal, made.thousands]
        if not all(isinstance(text, str) for text in made.missing) or not all(
            m is None or (isinstance(m, str) and len(m) == 1) for m in marks
        ):
            raise TypeError("codes and marks must be texts")
        return made


def _column(content: dict[str, Any]) -> Column:
    """Return a column, or raise TypeError if its parts have other types."""
    made = Column(**{**content, "categories": tuple(content["categories"])})
    numeric = all(value is None or isinstance(value, int | float) for value in (made.low, made.high, made.missing))
    if not numeric or not all(isinstance(text, str) for text in (made.name, made.kind, made.reason, *made.categories)):
        raise TypeError("names must be texts")
    return made
