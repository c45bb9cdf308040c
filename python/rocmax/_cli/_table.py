"""Tables from files: columns by name, labels, scores; every fault names file, column and row."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.samples import PAIRS, WHOLE
from rocmax._checks.samples import scores as as_scores
from rocmax._cli._failure import Failure, Misuse, short, unknown
from rocmax.metrics.results import _words as words

COMMAS = "give --decimal ,"
_DIGITS = 15  # so many decimal digits survive float64, from a
_TINY = 1e-300  # on
_NUMPY_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


@dataclass(frozen=True)
class Labels:
    """A column of two classes."""

    positive: NDArray[np.bool_]
    name: str
    value: Any
    other: str

    @property
    def summary(self) -> str:
        n, m = len(self.positive), int(self.positive.sum())
        return f"{n:,} rows, {m:,} positive ({words.percent(m / n)}; {self.name} = {self.value})"


def not_found(name: str, names: Sequence[str]) -> Failure:
    if any("\0" in other for other in names):
        return Failure(f"column {name!r} not found: the text seems to be UTF-16; save it as UTF-8")
    return unknown("column", name, names)


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, or fail with the nearest name."""
    if name not in frame:
        raise not_found(name, frame.columns)
    if f"{name}_duplicated_0" in frame:
        raise Failure(f"column {name!r} occurs more than once; rename one")
    return frame[name]


def nameless(series: pl.Series) -> pl.Series:
    """Return a column under a plain name: polars reads *, and what looks like ^a pattern$, as many columns."""
    return series.alias("column")


def typed(series: pl.Series, *, exact: bool = False, comma: bool = False) -> pl.Series:
    """Return texts of csv as the numbers or booleans that they all are, else as they are.

    With `exact`, numbers that float64 would round to one, and integers that it does not hold, stay texts.
    """
    if series.dtype != pl.String:
        return series
    kind = next(kinds(series, comma=comma), pl.String)
    found = as_kind(series, kind, comma=comma)
    if exact and kind == pl.Float64:
        texts = _plain_texts(series, comma=comma)
        if _beyond(texts, found) or _merged(texts, found):
            return texts.alias(series.name) if comma else series
    return found


def _plain_texts(series: pl.Series, *, comma: bool) -> pl.Series:
    texts = nameless(series).str.strip_chars()
    return texts.str.replace(",", ".", literal=True) if comma else texts


def kinds(series: pl.Series, *, comma: bool = False) -> Iterator[Any]:
    """Yield the types that all texts of csv can have, the narrowest first; none but text if there is none."""
    texts, n_missing = _plain_texts(series, comma=comma), series.null_count()
    for kind in (pl.Int64, pl.UInt64, pl.Float64):
        if texts.cast(kind, strict=False).null_count() == n_missing:
            yield kind
    if texts.str.to_lowercase().is_in(["true", "false"]).sum() == len(series) - n_missing:
        yield pl.Boolean


def as_kind(series: pl.Series, kind: Any, *, comma: bool = False) -> pl.Series:
    """Return texts of csv as values of one of their `kinds`."""
    if kind == pl.String:
        return series
    texts = _plain_texts(series, comma=comma)
    found = texts.str.to_lowercase() == "true" if kind == pl.Boolean else texts.cast(kind)
    return found.alias(series.name)


def _beyond(texts: pl.Series, floats: pl.Series) -> list[int]:
    """Return the integers that are larger than those that float64 tells apart."""
    whole = texts.filter(floats.is_finite() & (floats.abs() >= WHOLE))
    return [int(text) for text in whole.filter(whole.str.contains(r"^[+-]?[0-9]+$")) if abs(int(text)) > WHOLE]


def _merged(exact: pl.Series, floats: pl.Series) -> list[Any]:
    """Return two decimal numbers, texts or not, that differ and become one float64; none if there are no such."""
    if exact.dtype == pl.String and not ((exact.str.len_bytes() > _DIGITS) | (floats.abs() < _TINY)).any():
        return []
    if floats.n_unique() == len(floats):
        return []
    same = pl.DataFrame({"exact": exact, "float": floats}).filter(floats.is_duplicated() & floats.is_finite())
    first: dict[float, Any] = {}
    for value, rounded in same.unique(maintain_order=True).iter_rows():
        other = first.setdefault(rounded, value)
        if Decimal(other) != Decimal(value):
            return [other, value]
    return []


def has_commas(series: pl.Series) -> bool:
    """Whether a column of texts holds numbers with decimal commas."""
    return bool(series.str.strip_chars().str.contains(r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$").any())


def first_name(series: pl.Series) -> int | None:
    """Return the place of the first text that is not a number."""
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    return (numbers.is_null() & series.is_not_null()).arg_max() if numbers.null_count() > series.null_count() else None


def labels(frame: pl.DataFrame, name: str, positive: str | None) -> Labels:
    """Return which rows are positive."""
    series = nameless(column(frame, name))
    kind = series.dtype
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise Failure(f"column {name!r} is {kind}: labels are numbers, texts or booleans")
    series = without_holes(series, name, "label")
    values = series.unique().sort().to_list()
    if len(values) == 1:
        raise Failure(f"column {name!r} holds one class only ({short(values[0])}); two are needed")
    if positive is None:
        value = _greater(name, kind, values)
    else:
        texts = {str(v): v for v in values} | {f"{v:g}": v for v in values if isinstance(v, float)}
        texts |= {str(v).lower(): v for v in values if isinstance(v, bool)}  # as csv files have them
        if positive not in texts:
            raise unknown(f"--positive: in column {name!r} the value", positive, map(str, values))
        value = texts[positive]
    others = [str(v) for v in values if v != value]
    return Labels((series == value).to_numpy(), name, value, others[0] if len(others) == 1 else f"not {value}")


def without_holes(series: pl.Series, name: str, what: str, before: int = 0) -> pl.Series:
    """Return a column of labels or groups, or fail where a row has none; NaN is none."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count():
        row, n = before + int(series.is_null().arg_true()[0]) + 1, series.null_count()
        raise Failure(f"column {name!r} has no {what} in row {row} ({n} such); --missing drop drops them")
    return series


def _greater(name: str, kind: pl.DataType, values: list[Any]) -> Any:
    """Return the greater of two labels that have an order, which names have not; an Enum's categories have."""
    if len(values) > 2:
        shown = ", ".join(short(v) for v in values[:5]) + (", ..." if len(values) > 5 else "")
        raise Failure(
            f"column {name!r} holds {len(values)} values ({shown}), not two classes; "
            "say which is positive with --positive"
        )
    if kind == pl.Enum or ((kind.is_numeric() or kind == pl.Boolean) and tuple(values) in PAIRS):
        return values[1]
    options = " or ".join("--positive" + ("=" if str(v).startswith("-") else " ") + quote(short(v)) for v in values)
    raise Failure(
        f"column {name!r} holds {short(values[0])!r} and {short(values[1])!r}: say which is positive, {options}"
    )


def check_roles(label: str, weight: str | None, groups: str | None, *others: str, time: str | None = None) -> None:
    """Fail, before any work, if a column is to be two things at once."""
    roles = {"--label": label, "--weight": weight, "--groups": groups, "--time": time}
    named = [(option, name) for option, name in roles.items() if name is not None]
    for k, (option, name) in enumerate(named):
        for other, same in named[:k]:
            if name == same:
                raise Misuse(f"{option} {name}: that is the column of {other}")
        if k and name in others:
            raise Misuse(f"{option} {name}: that is a column of --score too")


def check_scores(names: Sequence[str], label: str) -> None:
    """Fail, before any work, if a column of scores is named twice, or is the label's."""
    if label in names:
        raise Misuse(f"--score {label}: that is the column of the labels (--label)")
    if len(set(names)) < len(names):
        raise Misuse(f"--score names {next(name for name in names if names.count(name) > 1)!r} twice")


def drop_missing(frame: pl.DataFrame, names: Collection[str]) -> tuple[pl.DataFrame, int]:
    """Return the rows in which none of these columns is missing or NaN, and how many others there were."""
    found = complete(frame, names)
    if found.is_empty():
        raise Failure(f"no row is left: each has a missing value in one of the columns {', '.join(map(short, names))}")
    return found, len(frame) - len(found)


def complete(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """Return the rows in which none of these columns is missing or NaN."""
    kept = np.ones(len(frame), dtype=bool)
    for name in names:
        series = nameless(column(frame, name))
        kept &= series.is_not_null().to_numpy()
        if series.dtype.is_float():
            kept &= series.is_not_nan().fill_null(True).to_numpy()
    return frame.filter(pl.Series(kept))


def weights(frame: pl.DataFrame, name: str, before: int = 0) -> NDArray[np.float64]:
    """Return a column of weights: finite numbers of at least 0."""
    found = np.asarray(scores(frame, name, "a weight", before), dtype=np.float64)
    if (bad := np.flatnonzero(found < 0)).size:
        raise Failure(f"column {name!r} is {found[bad[0]]:g} in row {before + bad[0] + 1}: weights must be at least 0")
    if not before and not found.any():
        raise Failure(f"column {name!r} is 0 in every row; at least one weight must be positive")
    return found


def cluster_numbers(frame: pl.DataFrame, name: str, what: str = "group") -> NDArray[np.int64]:
    """Return a number for each row, the same for rows with the same value."""
    series = nameless(column(frame, name))
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise Failure(f"column {name!r} is {series.dtype}: a {what} is a number, a text or a date")
    return without_holes(series, name, what).rank("dense").to_numpy().astype(np.int64)


def scores(frame: pl.DataFrame, name: str, what: str = "a score", before: int = 0) -> NDArray[Any]:
    """Return a column of finite numbers, read and refused as the measures do it in Python.

    `before` is the number of rows before those of the frame, for messages.
    """
    series = nameless(column(frame, name))
    kind = series.dtype
    if kind == pl.String and (index := first_name(series)) is not None:
        hint = f": for decimal commas, {COMMAS}" if has_commas(series.slice(index, 1)) else ""
        raise Failure(
            f"column {name!r} holds {short(series[index])!r} in row {before + index + 1}, not numbers only{hint}"
        )
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null, pl.String)):
        raise Failure(f"column {name!r} is {kind}, not numeric: it cannot be {what}")
    floats = series.cast(pl.Float64)
    bad = (~floats.is_finite()).fill_null(True)
    if bad.any():
        index = int(bad.arg_true()[0])
        infinite = bool(floats.is_infinite()[index])
        raise Failure(
            f"column {name!r} is {'infinite' if infinite else 'missing or NaN'} in row {before + index + 1} "
            f"({bad.sum()} such): {what[2:]}s must be finite numbers"
            + ("" if infinite else "; --missing drop drops such rows")
        )
    if kind == pl.String or kind.is_decimal():
        texts = series.str.strip_chars() if kind == pl.String else series
        if kind == pl.String and (large := _beyond(texts, floats)):
            as_scores(np.array(large, dtype=object), f"column {name!r}")
        if merged := _merged(texts, floats):
            raise Failure(
                f"column {name!r} holds {' and '.join(map(short, merged))}, which float64 does not tell apart; "
                "pass ranks instead"
            )
        if kind == pl.String:
            raise Failure(f"column {name!r} is {kind}, not numeric: it cannot be {what}")
        series = floats
    large_integers = kind.is_integer() and kind not in _NUMPY_INTEGERS
    values = np.array(series.to_list(), dtype=object) if large_integers else series.to_numpy()
    return as_scores(values, f"column {name!r}")
