"""Columns of a table: types, labels, scores, weights; every error names column, row and value."""

from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
#: Types that csv may have, the narrowest first.
KINDS = (pl.Int64, pl.UInt64, pl.Float64, pl.Boolean)
_SHARED = (("by", "by"), ("by", "per"), ("groups", "per"))  # options that may name the same column


@dataclass(frozen=True)
class Labels:
    """A column of two classes."""

    positive: NDArray[np.bool_]
    name: str
    value: Any
    other: str

    def summary(self, n_rows: int, n_positive: int) -> str:
        """Return the numbers of rows in words."""
        share = words.percent(n_positive / n_rows)
        return f"{n_rows:,} rows, {n_positive:,} positive ({share}; {self.name} = {self.value})"


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


def kinds(
    series: pl.Series, among: Iterable[Any] = KINDS, *, of_scores: bool = False, comma: bool = False
) -> Iterator[Any]:
    """Yield the types that all texts of a column of csv can have.

    Of scores, integers that float64 would round are refused.
    """
    for kind in among:
        found = as_kind(series, kind, comma=comma)
        if of_scores and kind == pl.Float64 and (rounded := _rounded(series, found)):
            as_scores(np.array(rounded, dtype=object), f"column {series.name!r}")  # refuses them
        if found.null_count() == series.null_count():
            yield kind


def as_kind(series: pl.Series, kind: Any, *, comma: bool = False) -> pl.Series:
    """Return texts of csv as values of a type, null where a text has no such value."""
    texts = nameless(series).str.strip_chars()
    texts = texts.str.replace(",", ".", literal=True) if comma else texts
    if kind == pl.Boolean:
        found = texts.str.to_lowercase().replace_strict({"true": True, "false": False}, default=None)
    else:
        found = texts.cast(kind, strict=False)
    return found.alias(series.name)


def _rounded(texts: pl.Series, floats: pl.Series) -> list[int]:
    """Return the integers beyond those that float64 tells apart."""
    whole = nameless(texts).filter(floats.is_finite() & (floats.abs() >= WHOLE)).str.strip_chars()
    return [int(text) for text in whole.filter(whole.str.contains(r"^[+-]?[0-9]+$")) if abs(int(text)) > WHOLE]


def has_commas(series: pl.Series) -> bool:
    """Whether a column of texts holds numbers with decimal commas."""
    return bool(series.str.strip_chars().str.contains(r"^[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?$").any())


def first_name(series: pl.Series) -> int | None:
    """Return the place of the first text that is not a number."""
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    return (numbers.is_null() & series.is_not_null()).arg_max() if numbers.null_count() > series.null_count() else None


def labels(frame: pl.DataFrame, name: str, positive: str | None, *, comma: bool) -> Labels:
    """Return which rows are positive; texts that are all numbers, or all booleans, are read as such."""
    series = column(frame, name)
    if series.dtype == pl.String and (kind := next(kinds(series, comma=comma), None)):
        found = as_kind(series, kind, comma=comma)
        series = series if kind == pl.Float64 and _rounded(series, found) else found
    series = without_holes(nameless(series), name, "label")
    kind = series.dtype
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise Failure(f"column {name!r} is {kind}: labels are numbers, texts or booleans")
    values = series.unique().sort().to_list()
    if len(values) == 1:
        raise Failure(f"column {name!r} holds only one class ({short(values[0])}); two are needed")
    if positive is None:
        value = _greater(name, kind, values)
    else:
        texts = {str(v): v for v in values} | {f"{v:g}": v for v in values if isinstance(v, float)}
        texts |= {str(v).lower(): v for v in values if isinstance(v, bool)}  # as csv files have them
        if positive not in texts:
            raise unknown(f"--positive: in column {name!r}, value", positive, map(str, values))
        value = texts[positive]
    others = [str(v) for v in values if v != value]
    return Labels((series == value).to_numpy(), name, value, others[0] if len(others) == 1 else f"not {value}")


def without_holes(series: pl.Series, name: str, what: str, before: int = 0) -> pl.Series:
    """Return a column, or fail at the first row without a value; NaN is missing too."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count():
        row, n = before + int(series.is_null().arg_true()[0]) + 1, series.null_count()
        raise Failure(f"column {name!r} has no {what} in row {row} ({n} in all); --missing drop drops such rows")
    return series


def _greater(name: str, kind: pl.DataType, values: list[Any]) -> Any:
    """Return the greater of two labels: of 0 and 1, -1 and 1, booleans, or the categories of an Enum."""
    if len(values) > 2:
        shown = ", ".join(short(v) for v in values[:5]) + (", ..." if len(values) > 5 else "")
        raise Failure(
            f"column {name!r} holds {len(values)} values ({shown}), not two classes; "
            "give the positive one, --positive VALUE"
        )
    if kind == pl.Enum or ((kind.is_numeric() or kind == pl.Boolean) and tuple(values) in PAIRS):
        return values[1]
    options = " or ".join("--positive" + ("=" if str(v).startswith("-") else " ") + quote(short(v)) for v in values)
    raise Failure(
        f"column {name!r} holds {short(values[0])!r} and {short(values[1])!r}: give the positive class, {options}"
    )


def check_roles(arguments: Namespace) -> None:
    """Fail, before any work, if a column is given for two options."""
    roles: dict[str, str] = {}
    for option in ("label", "score", "weight", "groups", "time", "by", "per"):
        given = getattr(arguments, option, None) or ()
        for name in [given] if isinstance(given, str) else given:
            if name in roles and (roles[name], option) not in _SHARED:
                raise Misuse(f"--{option} {name}: that column is already given as --{roles[name]}")
            roles.setdefault(name, option)


def drop_missing(frame: pl.DataFrame, names: Collection[str]) -> tuple[pl.DataFrame, int]:
    """Return the rows in which none of these columns is missing or NaN, and the number of the others."""
    found = complete(frame, names)
    if found.is_empty():
        raise Failure(f"no row is left: each has a missing value in one of the columns {', '.join(map(short, names))}")
    return found, len(frame) - len(found)


def complete(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """Return the rows in which none of these columns is missing or NaN."""
    kept = np.ones(len(frame), dtype=bool)
    for name in names:
        series = nameless(column(frame, name))
        series = series.fill_nan(None) if series.dtype.is_float() else series
        kept &= series.is_not_null().to_numpy()
    return frame.filter(pl.Series(kept))


def weights(frame: pl.DataFrame, name: str, before: int = 0, *, some: bool = True) -> NDArray[np.float64]:
    """Return a column of weights: finite numbers of at least 0, by default not all of them 0."""
    found = np.asarray(scores(frame, name, "a weight", before), dtype=np.float64)
    if (bad := np.flatnonzero(found < 0)).size:
        raise Failure(f"column {name!r} is {found[bad[0]]:g} in row {before + bad[0] + 1}: weights must be at least 0")
    if some and not found.any():
        raise Failure(f"column {name!r} is 0 in every row; at least one weight must be positive")
    return found


def names(frame: pl.DataFrame, name: str, what: str) -> pl.Series:
    """Return a column whose values name something: numbers, texts or dates, none of them missing."""
    series = nameless(column(frame, name))
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise Failure(f"column {name!r} is {series.dtype}: a {what} is a number, a text or a date")
    return without_holes(series, name, what)


def cluster_numbers(frame: pl.DataFrame, columns: Sequence[str], what: str = "group") -> NDArray[np.int64]:
    """Return the number of each row's cluster, or of two columns the numbers of the two subjects of each pair.

    A name that is in both columns has one number.
    """
    found = [names(frame, name, what) for name in columns]
    if any(series.dtype == pl.String for series in found):
        found = [series.cast(pl.String) for series in found]
    ranks = pl.concat([series.to_frame() for series in found], how="vertical_relaxed").to_series().rank("dense")
    numbers = ranks.to_numpy().astype(np.int64).reshape(len(found), -1)
    return numbers[0] if len(found) == 1 else numbers.T


def scores(frame: pl.DataFrame, name: str, what: str = "a score", before: int = 0) -> NDArray[Any]:
    """Return a column of finite numbers, read and refused as the measures do it in Python.

    `before` is the number of rows before those of the frame, for messages.
    """
    series = nameless(column(frame, name))
    kind = series.dtype
    if kind == pl.String:
        check_texts(series, name, before)
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        raise Failure(f"column {name!r} is {kind}, not numeric: it cannot be {what}")
    floats = series.cast(pl.Float64)
    bad = (~floats.is_finite()).fill_null(True)
    if bad.any():
        index = int(bad.arg_true()[0])
        infinite = bool(floats.is_infinite()[index])
        beyond = "; replace infinity by a number beyond all others, which ranks alike"
        raise Failure(
            f"column {name!r} is {'infinite' if infinite else 'missing or NaN'} in row {before + index + 1} "
            f"({bad.sum()} in all): {what[2:]}s must be finite numbers"
            + ("; --missing drop drops such rows" if not infinite else beyond if what == "a score" else "")
        )
    return as_scores(floats if kind.is_decimal() else series, f"column {name!r}")


def check_texts(series: pl.Series, name: str, before: int = 0) -> None:
    """Fail at the first text that is not a number."""
    if (index := first_name(series)) is not None:
        hint = f": for decimal commas, {COMMAS}" if has_commas(series.slice(index, 1)) else ""
        raise Failure(
            f"column {name!r} holds {short(series[index])!r} in row {before + index + 1}, which is not a number{hint}"
        )
