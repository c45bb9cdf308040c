"""Decide what each column of a training table is: what is plain is read, and what is not is refused."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from rocmax._runtime.warn import warn
from rocmax._tables._forms import MISSING, Note, begins_with_digit, is_number, of_rows, short, some
from rocmax._tables._frame import columns_of, dtype_of, is_rounded, numbers, texts, type_of
from rocmax._tables._schema import Column, Schema
from rocmax._typing import F64, AnyArray

# Texts are categories if at most this share of them is distinct, and, where most begin with a digit, at most so many.
_DISTINCT, _BANDS = 0.5, 30
# Numbers beside at most this share of other texts, of the different ones, are refused.
_OTHERS = 0.1
# Names that pandas, R, Spark, Excel and Arrow give to a column of row numbers.
_INDEX = r"|Unnamed: [\d.]+|index|level_\d+|row_?names|row_?(?:number|nr|index|id)|_c0|\.\.\.\d+|__index_level_\d+__"
# Names that features have too: an index only if no value of so many or more occurs twice.
_FEW, _ROWS = 50, r"X(?:\.\d+)?|V1|_?row|idx|obs"
_ENDS = 4  # distinct values at each end of a column that may be codes
_SHOWN = 12  # columns in an error
EMPTY, INDEX, FREE = "no value", "an index", "an id or free text"
DIFFERENT, DIGITS = "all different", "most begin with a digit"

Tell = Callable[[Note], None]
Read = Callable[[list[str]], set[str]]


class Words(NamedTuple):
    """What a caller can do, in words, about a code, and about columns that are refused."""

    missing: str
    refused: str
    texts: bool = False  # whether types are read off texts
    unused: str = "left out"  # the kind of an id, or none where it stays in use


PYTHON = Words(
    "replace {} by None", "convert them to numbers (a date to days since a fixed day) or to a category, or drop them"
)
BOOSTING = PYTHON._replace(unused="")
COMMAND = Words(
    "--missing-values {}",
    "write plain numbers, or say how they are written (--decimal, --thousands), or paste {}; --categorical COLUMN "
    "reads texts as categories",
    texts=True,
)


class Refused(NamedTuple):
    """A column that is neither numbers nor categories, why, and the texts that may mean that a number is missing."""

    name: Any
    fact: str
    missing: tuple[str, ...] = ()


def _plain(found: list[str]) -> set[str]:
    """Return the texts that are numbers as programs write them."""
    return {text for text in found if is_number(text.strip())}


def decide(
    X: Any, *, categorical: Collection[Any] = (), words: Words = PYTHON, read: Read = _plain
) -> tuple[Schema, list[Note]]:
    """Decide what each column of a training table is; return that, and what is news about it."""
    found, notes, refused = list[Column](), list[Note](), list[Refused]()
    error: type[Exception] = ValueError
    for name, series in columns_of(X).items():
        kind = type_of(series)
        kind = "text" if kind == "number" and is_rounded(series) else kind
        made: Column | Refused
        if kind == "other":
            made, error = Refused(name, f"has type {dtype_of(series)}"), TypeError
        elif kind in ("number", "flag") and name not in categorical:
            made = _of_numbers(name, kind, numbers(series, name), words, notes.append)
        else:
            made = _of_texts(name, texts(series), "category" if name in categorical else kind, words, read)
        if isinstance(made, Refused):
            refused.append(made)
        else:
            found.append(made)
    if refused:
        raise error(_refusal(refused, words))
    unused = [column for column in found if column.reason in (EMPTY, INDEX, FREE)]
    listed = ", ".join(f"{column.name!r} ({column.reason})" for column in unused[:_SHOWN])
    if len(unused) == len(found) and words.unused:
        raise ValueError(f"X has no column to learn from: {listed or 'it has no columns'}")
    if unused and not words.texts:
        what = "columns are left out" if words.unused else "columns should be dropped"
        notes.append(Note("left out", f"{what}: {listed}", values=tuple(str(column.name) for column in unused)))
    numeric = [column.name for column in found if column.reason == DIGITS and _are_numbers(column.categories)]
    if numeric and not words.texts:
        text = f"columns of texts that are numbers are treated as categories: {some(numeric, _SHOWN)}"
        notes.append(Note("category", f"{text}; convert them unless they name categories"))
    return Schema(tuple(found)), notes


def _are_numbers(found: Collection[str]) -> bool:
    """Whether texts are numbers of which some have decimals."""
    return any("." in text for text in found) and len(_plain([*found])) == len(found)


def decided(X: Any, words: Words = PYTHON) -> Schema:
    """Return what `decide` decides, after a warning for each piece of news."""
    schema, notes = decide(X, words=words)
    for note in notes:
        warn(note.text.removeprefix("warning: "), UserWarning)
    return schema


def _refusal(refused: list[Refused], words: Words) -> str:
    """Return the one error about all columns that are refused, with the line to paste."""
    facts = "; ".join(f"column {short(name)!r} {fact}" for name, fact, _ in refused[:_SHOWN])
    more = f"; and {len(refused) - _SHOWN} more columns" if len(refused) > _SHOWN else ""
    missing = list(dict.fromkeys(text for one in refused for text in one.missing))
    drop = [str(one.name) for one in refused if not one.missing]
    options = [("--missing-values", missing), ("--drop", drop)]
    paste = " ".join(f"{option} {' '.join(map(quote, held))}" for option, held in options if held)
    return f"{facts}{more}: {words.refused.format(paste)}"


def _of_numbers(name: Any, kind: str, values: F64, words: Words, tell: Tell) -> Column | Refused:
    """Return what a column of numbers is."""
    held = values[~np.isnan(values)]
    if not len(held):
        return Column(name, words.unused or kind, EMPTY)
    low, high = float(held.min()), float(held.max())
    if kind == "number" and (low, high) == (0.0, 1.0) and np.isin(held, (0.0, 1.0)).all():
        kind = "flag"
    whole = all(bool((part == np.floor(part)).all()) for part in (held[:_FEW], held))
    n_distinct = len(np.unique(held)) if whole else 0
    names = f"{_INDEX}|{_ROWS}" if n_distinct == len(held) >= _FEW else _INDEX
    is_index = isinstance(name, str) and re.fullmatch(names, name, re.IGNORECASE)
    if is_index and n_distinct > max(_DISTINCT * len(held), 2):
        return Column(name, words.unused or kind, INDEX)
    ends = Ends()
    ends.add(held)
    ends.tell(name, words, tell)
    return Column(name, kind, DIFFERENT if n_distinct == len(held) > 2 else "")


class Ends:
    """The lowest and highest distinct values of a column, over its batches, with their rows."""

    def __init__(self) -> None:
        self._rows: tuple[dict[float, int], dict[float, int]] = {}, {}

    def add(self, values: AnyArray) -> None:
        """Count some rows."""
        for rows, sign in zip(self._rows, (1.0, -1.0), strict=True):
            left = sign * values
            for _ in range(_ENDS):
                if not len(left):
                    break
                end = float(left.min())
                rest = left[left > end]
                rows[end] = rows.get(end, 0) + len(left) - len(rest)
                left = rest
            for end in sorted(rows)[_ENDS:]:
                del rows[end]

    def codes(self) -> dict[float, int]:
        """Return the values of several rows that are farther from all others than these are from each other."""
        low, high = self._rows
        rows = low | {-value: n for value, n in high.items()}
        values, found = sorted(rows), dict[float, int]()
        for _ in range(_ENDS - 1):
            if len(values) < 3:
                break
            first, second, before, last = *values[:2], *values[-2:]
            is_low = second - first > max(last - second, abs(first) / 2.0)
            if not is_low and last - before <= max(before - first, abs(last) / 2.0):
                break
            value = values.pop(0 if is_low else -1)
            if value and rows[value] > 1:  # 0 is what many columns count from
                found[value] = rows[value]
        return found

    def tell(self, name: Any, words: Words, tell: Tell) -> None:
        """Add the news of such values, such as -999."""
        codes = {f"{value:g}": n for value, n in sorted(self.codes().items())}
        if codes:
            how = words.missing.format((" " if words.texts else " and ").join(codes))
            what = " and ".join(f"{value} ({of_rows(n)})" for value, n in codes.items())
            are, mean = ("are", "they mean") if len(codes) > 1 else ("is", "it means")
            text = f"warning: column {name!r}: {what} {are} far from all other values; if {mean} missing, {how}"
            tell(Note("missing code", text, name, tuple(codes), sum(codes.values())))


def _of_texts(name: Any, values: list[str | None], kind: str, words: Words, read: Read) -> Column | Refused:
    """Return what a column of texts is, "text" or a declared "category"."""
    counts = Counter(value for value in values if value is not None)
    categories = tuple(sorted(counts))
    if not counts:
        return Column(name, words.unused or "category", EMPTY)
    if kind != "text":
        return Column(name, "category", categories=categories)
    different = [text for text in counts if text.strip() not in MISSING]
    plain = read(different)
    others = [text for text in different if text not in plain]
    n_digits = len(different) - len(others) + sum(map(begins_with_digit, others))
    if 0 < len(others) <= _OTHERS * len(different):
        return Refused(name, _held(values, others[:1]), tuple(others[:_SHOWN]))
    digits = 2 * n_digits > len(different)
    if len(counts) <= _DISTINCT * counts.total() and not (digits and len(counts) > _BANDS):
        return Column(name, "category", DIGITS if digits else "", categories)
    if digits:
        return Refused(name, _held(values, (others or different)[:2]))
    return Column(name, words.unused or "category", FREE, () if words.unused else categories)


def _held(values: list[str | None], found: list[str]) -> str:
    """Return that a column holds some texts, and in which rows."""
    listed = " and ".join(f"{short(text)!r} in row {values.index(text) + 1}" for text in found)
    return f"holds {listed}" + (", which is no number" if len(found) == 1 else "")
