"""Numbers in the texts of csv: decimal marks, separators of thousands, missing codes."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any

import polars as pl

from rocmax._checks.samples import scores as as_scores
from rocmax._cli._output import Failure, log
from rocmax._cli._table import nameless
from rocmax._tables._forms import MISSING, WHOLE, is_number
from rocmax._tables._notes import Note, short

_CELLS = 2**22  # that are converted at once
_SPACES = " \u00a0\u2007\u2009\u202f"  # marks between groups of three digits
_LEADING = r"[+-]?[1-9]\d{0,2}"  # how a number with such marks begins: not with 0
# Numbers whose dots may separate thousands, if all numbers with a dot, at least so many, are such and others have none.
_DOTTED, _DOUBTFUL = rf"^{_LEADING}\.\d{{3}}$", 5


class Notes(dict[tuple[str, str], Note]):
    """What is news about a table, each piece printed once, to stderr; and the warnings about measures and models."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[str] = []
        self._told = 0

    def add(self, *notes: Note) -> None:
        """Keep each note, unless there is one of its kind about the column."""
        for note in notes:
            self.setdefault((note.kind, note.column or note.text), note)

    def tell(self) -> None:
        """Print the notes that are new."""
        for note in [*self.values()][self._told :]:
            log(note.text)
        self._told = len(self)

    def plain(self) -> dict[str, Any]:
        """Return the notes and warnings ready for JSON."""
        return {"notes": [note.plain() for note in self.values()], "warnings": self.warnings}


@dataclass(frozen=True)
class Form:
    """How csv is written and codes missing values, news about the table, and how many numbers are a code."""

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    notes: Notes = field(default_factory=Notes, compare=False)
    codes: Counter[str] = field(default_factory=Counter, compare=False)

    @property
    def comma(self) -> bool:
        """Whether the decimal mark is a comma."""
        return self.decimal == ","

    def numbers(self, texts: list[str]) -> set[str]:
        """Return the texts that are numbers."""
        values = floats(pl.DataFrame({"c": texts}, schema={"c": pl.String}), self)[0].to_series()
        return {text for text, value in zip(texts, values, strict=True) if value is not None}

    @property
    def missing_texts(self) -> list[str]:
        """The texts, without blanks around them, that are missing in a column of numbers."""
        return [*MISSING, *map(str.strip, self.missing)]

    @property
    def missing_numbers(self) -> list[float]:
        """The codes that are numbers."""
        return [float(code) for code in self.missing if is_number(code)]

    def apart(self) -> "Form":
        """Return the same form without news, for rows that are read again."""
        return replace(self, notes=Notes(), codes=Counter())

    def tell(self) -> None:
        """Report what is news, and which codes were read as missing in columns of numbers."""
        if self.codes:
            listed = ", ".join(f"{code!r} ({n:,})" for code, n in self.codes.most_common(5))
            listed += ", ..." if len(self.codes) > 5 else ""
            text = f"read as missing in columns of numbers: {listed}"
            self.notes.add(Note("missing", text, None, tuple(self.codes), self.codes.total()))
            self.codes.clear()
        self.notes.tell()


def names(series: pl.Series, form: Form) -> pl.Series:
    """Return texts without those that are empty or named as missing; other codes are names."""
    held = nameless(series)
    gone = held.is_in(form.missing) | held.str.strip_chars().is_in(["", *form.missing])
    return held.set(gone.fill_null(False), None).alias(series.name)


def floats(texts: pl.DataFrame, form: Form) -> tuple[pl.DataFrame, list[int]]:
    """Return texts as numbers, null where missing or not a number, and by column how many texts are not numbers."""
    plain = pl.DataFrame([series.alias(f"c{k}") for k, series in enumerate(texts)])  # names may be * or empty
    stripped = pl.all().str.strip_chars()
    held = plain.select(pl.when(stripped.is_in(form.missing_texts)).then(None).otherwise(stripped).name.keep())
    found = held.select(_unmarked(form).cast(pl.Float64, strict=False))
    bad = [n - m for n, m in zip(found.null_count().row(0), held.null_count().row(0), strict=True)]
    missing = pl.all().is_nan()
    for code in form.missing_numbers:
        missing |= pl.all() == code
    return found.with_columns(pl.when(missing).then(None).otherwise(pl.all()).name.keep()), bad


def _unmarked(form: Form) -> pl.Expr:
    """Return the texts of numbers with a decimal point and nothing else."""
    found, grouped = pl.all(), rf"^{_LEADING}(?:[%s]\d{{3}})+(?:[{re.escape(form.decimal)}]\d*)?$"
    if form.thousands:
        mark = _SPACES if form.thousands.isspace() else re.escape(form.thousands)
        bare = found.str.replace_all(f"[{mark}]", "")
        found = pl.when(found.str.contains(grouped % mark)).then(bare).otherwise(found).name.keep()
    if form.comma:
        dotted = found.str.contains(".", literal=True)
        found = pl.when(~dotted).then(found.str.replace(",", ".", literal=True)).name.keep()
    return found


def typed(frame: pl.DataFrame, form: Form, keep: Collection[str]) -> Iterator[pl.Series]:
    """Yield the columns of a training table: numbers or booleans where all texts are, texts elsewhere and in `keep`."""
    step = max(1, _CELLS // max(len(frame), 1))
    for start in range(0, frame.width, step):
        part = frame.select(pl.nth(range(start, min(start + step, frame.width))))
        found, bad = floats(part, form)
        for name, series, values, n_bad in zip(part.columns, part, found, bad, strict=True):
            texts = nameless(series)
            flags = _flags(texts, form) if n_bad and name not in keep else None
            if flags is not None:
                tell(name, texts, flags.cast(pl.Float64), form)
                yield flags.alias(name)
            elif name in keep or n_bad or _rounded(texts, values):
                yield names(series, form)
            else:
                tell(name, texts, values, form)
                yield values.alias(name)


def number_column(
    series: pl.Series, form: Form, before: int = 0, *, exact: bool = False, booleans: bool = True, why: str = ""
) -> pl.Series:
    """Return texts as numbers, true and false as 1 and 0, or fail at the first that is none, or not `exact`."""
    name, texts = series.name, nameless(series)
    found, (n_bad,) = floats(texts.to_frame(), form)
    values = found.to_series()
    flags = _flags(texts, form) if n_bad and booleans else None
    if flags is not None:
        values = flags.cast(pl.Float64)
    elif n_bad:
        raise _not_a_number(name, texts, form, before, why)
    if exact and (rounded := _rounded(texts, values)):
        as_scores(rounded, f"column {name!r}")  # refuses them
    tell(name, texts, values, form)
    return values.alias(name)


def _not_a_number(name: str, texts: pl.Series, form: Form, before: int, why: str) -> Failure:
    """Return the failure for the first text that is not a number."""
    held = texts.str.strip_chars()
    values = held.to_frame().select(_unmarked(form).cast(pl.Float64, strict=False)).to_series()
    index = int((values.is_null() & ~held.is_in(form.missing_texts) & texts.is_not_null()).arg_max() or 0)
    text = texts[index]
    fact = f"column {name!r} holds {short(text)!r} in row {before + index + 1}"
    how = f"write plain numbers, or say how they are written (--decimal, --thousands, --missing-values {quote(text)})"
    return Failure(f"{fact}, which is not a number{why}: {how}")


def _flags(series: pl.Series, form: Form) -> pl.Series | None:
    """Return a column of true, false and missing texts as booleans; None for any other column."""
    texts = series.str.strip_chars()
    n_missing = (texts.is_null() | texts.is_in(form.missing_texts)).sum()
    known = {"true": True, "false": False}
    found = texts.str.to_lowercase().replace_strict(known, default=None, return_dtype=pl.Boolean)
    return found if found.null_count() == n_missing < len(series) else None


def _rounded(series: pl.Series, values: pl.Series) -> list[int]:
    """Return the integers beyond those that float64 represents, as in long ids."""
    large = values.is_finite() & (values.abs() >= WHOLE)
    if not large.any():
        return []
    whole = series.filter(large.fill_null(False)).str.strip_chars()
    return [int(text) for text in whole.filter(whole.str.contains(r"^[+-]?[0-9]+$")) if abs(int(text)) > WHOLE]


def tell(name: str, series: pl.Series, values: pl.Series, form: Form) -> None:
    """Report dots that may separate thousands, and codes that are read as missing."""
    if not form.comma and (values.abs() < 1000).all() and (values == values.floor()).any():
        texts = series.filter(values.is_not_null()).str.strip_chars()
        dotted, grouped = texts.str.contains(".", literal=True), texts.str.contains(_DOTTED)
        if _DOUBTFUL <= grouped.sum() == dotted.sum() < len(texts):
            one, other = texts.filter(dotted)[0], texts.filter(~dotted)[0]
            what = f"warning: column {name!r} holds {one!r} beside {other!r}, and no other decimals than three"
            text = f"{what}; if dots separate thousands, give --thousands . --decimal ,"
            form.notes.add(Note("thousands", text, name, rows=int(dotted.sum())))
    if values.null_count() > series.null_count():
        held = series.str.strip_chars().filter(values.is_null()).drop_nulls()
        form.codes.update(dict(held.filter(held != "").alias("c").value_counts(name="n").iter_rows()))
