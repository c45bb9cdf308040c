"""Labels: which value is positive, which are negative; more than two values are refused until the others are named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import or_
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.samples import PAIRS
from rocmax._cli import _table as table
from rocmax._cli._output import Failure, unknown
from rocmax._cli._parser import Labelled
from rocmax._cli._table import Form, floats
from rocmax._tables._forms import WHOLE, Note, of_rows, short
from rocmax.metrics import _words as words

_SHOWN, _OFFERED = 12, 3  # labels in a line, and those of which one is offered as positive
_REST = "rest"  # of --negative: all values but the positive one
Counts = dict[Any, int]  # rows by the label of a file, a text or a value of its type


@dataclass(frozen=True)
class LabelColumn:
    """The positive value, how the file spells every value, and the number of rows of each negative one."""

    name: str
    value: Any
    held: dict[Any, list[Any]]
    negatives: dict[str, int]

    @property
    def other(self) -> str:
        """The negative value, or that it is not the positive one."""
        return next(iter(self.negatives)) if len(self.negatives) == 1 else f"not {self.value}"

    def summary(self, n_rows: int, n_positive: int) -> str:
        """Return the numbers of rows in words."""
        share = words.percent(n_positive / n_rows)
        return f"{n_rows:,} rows, {n_positive:,} positive ({share}; {self.name} = {self.value})"

    def mark(self, series: pl.Series) -> NDArray[np.bool_]:
        """Mark the rows that are positive."""
        return series.is_in(pl.Series(self.held[self.value], dtype=series.dtype).implode()).to_numpy()

    def tell(self, form: Form) -> None:
        """Report the negative values if there are several."""
        if len(self.negatives) > 1:
            text = f"negatives: {_counted(self.negatives)}"
            form.notes.add(Note("negatives", text, self.name, tuple(self.negatives)))


def _counted(found: Mapping[Any, int]) -> str:
    """Return the first labels with their numbers of rows."""
    listed = ", ".join(f"{short(value)!r} {n:,}" for value, n in list(found.items())[:_SHOWN])
    return listed + (", ..." if len(found) > _SHOWN else "")


def read(frame: pl.DataFrame, name: str, arguments: Labelled, form: Form) -> tuple[LabelColumn, NDArray[np.bool_]]:
    """Return the classes of the labels of `clean` rows, and which rows are positive."""
    series = table.column(frame, name)
    classes = decide(name, counts(series), arguments, form)
    classes.tell(form)
    return classes, classes.mark(series)


def counts(series: pl.Series) -> Counts:
    """Return the number of rows of each label."""
    return dict(series.drop_nulls().value_counts(name="n").iter_rows())


def missing(name: str, series: pl.Series, form: Form) -> pl.Series:
    """Mark labels that are missing: empty or named as such, and the usual codes beside numbers or true and false."""
    kind, found = series.dtype, series.is_null()
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.String, pl.Categorical, pl.Null)):
        raise Failure(f"column {name!r} is {kind}: labels are numbers, texts or booleans")
    if kind == pl.String:
        texts = series.str.strip_chars()
        codes = ["", *form.missing]
        others = texts.drop_nulls().unique()
        if _by_value(others.filter(~others.is_in(form.missing_texts)).to_list(), form) is not None:
            codes = form.missing_texts
        found |= series.is_in(codes) | texts.is_in(codes)
    elif kind.is_numeric():
        floats = series.cast(pl.Float64)
        found |= floats.is_nan() | floats.is_in(form.missing_numbers)
    return found.fill_null(True)


def clean(
    frame: pl.DataFrame, names: Sequence[str], arguments: Labelled, form: Form, before: int = 0
) -> tuple[pl.DataFrame, int]:
    """Return the rows without missing values in some columns, first the labels, and how many are dropped, or fail."""
    marks = [missing(names[0], table.column(frame, names[0]), form)]
    for name in names[1:]:
        series = table.column(frame, name)
        marks.append((series.fill_nan(None) if series.dtype.is_float() else series).is_null())
    for name, marked in zip(names, marks, strict=True):
        if arguments.missing == "raise" and marked.any():
            where = f"in row {before + int(marked.arg_max() or 0) + 1} ({marked.sum()} in all)"
            what = "label" if name == names[0] else "value"
            raise Failure(f"column {name!r} has no {what} {where}; --missing drop drops such rows")
    gone = reduce(or_, marks)
    return frame.filter(~gone), int(gone.sum())


def _by_value(texts: list[str], form: Form) -> dict[str, Any] | None:
    """Return the values of texts that are all numbers, or all true and false; None of others."""
    if {text.lower() for text in texts} <= {"true", "false"}:
        return {text: text.lower() == "true" for text in texts}
    if all(text.removeprefix("-").removeprefix("+").isdecimal() and text.isascii() for text in texts):
        return {text: int(text) for text in texts}
    values = floats(pl.DataFrame({"c": texts}, schema={"c": pl.String}), form)[0].to_series()
    if values.has_nulls() or (values.abs() >= WHOLE).any():
        return None
    return dict(zip(texts, values, strict=True))


def decide(name: str, found: Counts, arguments: Labelled, form: Form) -> LabelColumn:
    """Return the classes among the labels of a column, or raise the error that names the missing option."""
    by_value = _values(found, form)
    values = sorted(by_value, key=lambda value: (str(type(value)), value))
    n_rows = {value: sum(found[text] for text in by_value[value]) for value in values}
    if len(values) < 2:
        held = f"only one class ({short(values[0])})" if values else "no label"
        raise Failure(f"column {name!r} holds {held} in rows without missing values; two classes are needed")
    known = {text: value for value in values for text in (str(value), *map(str, by_value[value]))}

    def named(option: str, text: str) -> Any:
        value = known.get(text)
        if value is None and not isinstance(values[0], str):  # such as 1.0 for 1
            (read,) = _values({text: 1}, form)
            value = next((one for one in values if one == read), None)
        if value is None:
            raise unknown(f"{option}: in column {name!r}, value", text, map(str, values))
        return value

    given = arguments.negative
    rest = given == [_REST] and _REST not in known
    negative = [] if rest else [named("--negative", text) for text in given]
    left = [value for value in values if value not in negative]
    if arguments.positive is not None:
        positive = named("the positive class", arguments.positive)
    elif negative and len(left) == 1:
        positive = left[0]
    elif len(values) > 2:
        raise _several(name, n_rows)
    elif all(isinstance(one, bool | int | float) for one in values) and tuple(values) in PAIRS:
        positive = values[1]
    else:
        held = f"{short(values[0])!r} and {short(values[1])!r}"
        raise Failure(f"column {name!r} holds {held}: give the positive class, {' or '.join(map(_positive, values))}")
    if positive in negative:
        raise Failure(f"--negative {positive}: that is the positive class")
    others = {value: n_rows[value] for value in values if value != positive}
    if len(values) > 2 and not given:
        raise _several(name, n_rows, positive)
    for value, n in others.items():
        if negative and value not in negative:
            how = f"--missing-values {quote(str(value))}{' --missing drop' * (arguments.missing == 'raise')}"
            what = f"{short(value)!r} ({of_rows(n)}), which is neither --positive nor --negative"
            raise Failure(f"column {name!r} holds {what}; {how} leaves such rows out")
    return LabelColumn(name, positive, by_value, {str(value): n for value, n in others.items()})


def _values(found: Counts, form: Form) -> dict[Any, list[Any]]:
    """Return the labels of a file by what they stand for: texts that are all numbers, or all booleans, are such."""
    texts = [text for text in found if isinstance(text, str)]
    if len(texts) < len(found):
        return {float(value) if isinstance(value, Decimal) else value: [value] for value in found}
    values = _by_value([text.strip() for text in texts], form)
    by_value: dict[Any, list[Any]] = {}
    for text in texts:
        by_value.setdefault(text if values is None else values[text.strip()], []).append(text)
    return by_value


def _several(name: str, n_rows: Mapping[Any, int], positive: Any = None) -> Failure:
    """Return the failure for more than two labels, with what to paste; without a `positive` one, for several."""
    held = f"column {name!r} holds {len(n_rows)} values ({_counted(n_rows)}), not two"
    options = [f"{_positive(value)} " for value in [*n_rows][:_OFFERED]] if positive is None else [""]
    paste = " or ".join(f"{option}--negative {_REST}" for option in options)
    rarest = quote(short(min((value for value in n_rows if value != positive), key=n_rows.__getitem__)))
    how = f"paste {paste} if all others are negative, or list those by --negative"
    return Failure(f"{held}: {how}; --missing-values {rarest} reads one as missing")


def _positive(value: Any) -> str:
    """Return the option that makes a value the positive one."""
    return "--positive" + ("=" if str(value).startswith("-") else " ") + quote(short(value))
