"""The forms of values, missing ones, numbers and frames, and what is news about a table, for people and as data."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

#: Texts that mean "no value" in a column of numbers: those of pandas, readr, spreadsheets and databases.
# fmt: off
MISSING = frozenset([
    "", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NAN", "-NaN", "-nan", "<NA>", "NaT", "null", "NULL",
    "Null", "None", "none", "NONE", "nil", "\\N", ".", "..", "-", "--", "?", "#N/A", "#NA", "#DIV/0!", "#VALUE!",
    "#REF!", "#NAME?", "#NUM!", "#NULL!", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "-nan(ind)", "missing", "Missing",
])
# fmt: on
WHOLE = 2**53  # float64 holds every integer up to here
_PLAIN = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)\Z", re.IGNORECASE | re.ASCII)
_CALL = re.compile(r"\A\s*[^\W\d][\w.]*\(")


def is_number(text: str) -> bool:
    """Whether a text is a number as programs write it."""
    return _PLAIN.match(text) is not None


def begins_with_digit(text: str) -> bool:
    """Whether the first letter or digit of a text is a digit, of any script; that of `tensor(1.5)` is."""
    first = next((c for c in _CALL.sub("", text, count=1) if c.isalnum()), "-")
    return unicodedata.category(first)[0] == "N"


def is_frame(X: Any) -> bool:
    """Whether X has named columns of their own types."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def names_of(X: Any) -> list[Any]:
    """Return the names of a frame's columns; none of anything else."""
    names = "column_names" if hasattr(type(X), "column_names") else "columns"  # columns of pyarrow are values
    return [*getattr(X, names)] if hasattr(type(X), names) else []


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, NaT or pandas' NA."""
    try:
        # NA cannot be compared, even with itself.
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # arrays, signalling NaN
        return False


@dataclass(frozen=True)
class Note:
    """One piece of news: its kind, the line, the column, and the values and number of rows that it is about."""

    kind: str
    text: str
    column: str | None = None
    values: tuple[str, ...] = ()
    rows: int | None = None


def some(values: Iterable[Any], most: int = 3) -> str:
    """Return the first values for a line."""
    listed = list(values)
    return ", ".join(repr(short(value)) for value in listed[:most]) + (", ..." if len(listed) > most else "")


def of_rows(n: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if n == 1 else f"{n:,} rows"


def short(value: Any) -> str:
    """Return a value as text of at most 60 letters."""
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def first(texts: Sequence[str], most: int, what: str) -> list[str]:
    """Return the first texts about columns, and how many other columns there are."""
    more = len(texts) - most
    return [*texts[:most], *([f"{more} more column{'s' if more > 1 else ''} {what}"] if more > 0 else [])]
