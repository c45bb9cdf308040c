"""What each column of a training table is, or why it is refused; later tables are read by it, their news collected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._digests import blocks
from rocmax._tables._forms import MISSING, Note, begins_with_digit, first, is_frame, is_number, of_rows, short, some
from rocmax._tables._frame import columns_of, dtype_of, is_rounded, numbers, texts, type_of
from rocmax._typing import F64, AnyArray

# Texts are categories if at most this share of them is distinct, and, where most begin with a digit, at most so many.
_DISTINCT, _BANDS = 0.5, 30
# Numbers beside at most this share of other texts, of the different ones, are refused.
_OTHERS = 0.1
# Names that pandas, R, Spark, Excel and Arrow give to a column of row numbers.
_INDEX = r"|Unnamed: [\d.]+|index|level_\d+|row_?names|row_?(?:number|nr|index|id)|_c0|\.\.\.\d+|__index_level_\d+__"
# Names that features have too: an index only if no value of so many or more occurs twice.
_LONG, _LIKE_ROWS = 50, r"X(?:\.\d+)?|V1|_?row|idx|obs"
_ENDS = 4  # distinct values at each end of a column that may be codes
_LISTED = 12  # columns in an error
EMPTY, INDEX, FREE = "no value", "an index", "an id or free text"
DIFFERENT, DIGITS = "all different", "most begin with a digit"

Tell = Callable[[Note], None]
Read = Callable[[list[str]], set[str]]
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
    listed = ", ".join(f"{column.name!r} ({column.reason})" for column in unused[:_LISTED])
    if len(unused) == len(found) and words.unused:
        raise ValueError(f"X has no column to learn from: {listed or 'it has no columns'}")
    if unused and not words.texts:
        what = "columns are left out" if words.unused else "columns should be dropped"
        notes.append(Note("left out", f"{what}: {listed}", values=tuple(str(column.name) for column in unused)))
    numeric = [column.name for column in found if column.reason == DIGITS and _are_numbers(column.categories)]
    if numeric and not words.texts:
        text = f"columns of texts that are numbers are treated as categories: {some(numeric, _LISTED)}"
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
    facts = "; ".join(f"column {short(name)!r} {fact}" for name, fact, _ in refused[:_LISTED])
    more = f"; and {len(refused) - _LISTED} more columns" if len(refused) > _LISTED else ""
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
    whole = all(bool((part == np.floor(part)).all()) for part in (held[:_LONG], held))
    n_distinct = len(np.unique(held)) if whole else 0
    names = f"{_INDEX}|{_LIKE_ROWS}" if n_distinct == len(held) >= _LONG else _INDEX
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
        return Refused(name, _held(values, others[:1]), tuple(others[:_LISTED]))
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
