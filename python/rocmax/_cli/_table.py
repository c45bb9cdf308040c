"""Columns of a table: scores, weights, names; every error names column, row and value."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.samples import scores as as_scores
from rocmax._cli._output import Failure, unknown
from rocmax._tables._notes import short


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, under a plain name, or fail with the nearest name."""
    if name not in frame:
        raise unknown("column", name, frame.columns)
    return nameless(frame[name])


def nameless(series: pl.Series) -> pl.Series:
    """Return a column under a plain name: polars reads *, and what looks like ^a pattern$, as many columns."""
    return series.alias("column")


def without_holes(series: pl.Series, name: str, what: str) -> pl.Series:
    """Return a column, or fail at the first row without a value; NaN is missing too."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count():
        row, n = int(series.is_null().arg_true()[0]) + 1, series.null_count()
        raise Failure(f"column {name!r} has no {what} in row {row} ({n} in all); --missing drop drops such rows")
    return series


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
        series = column(frame, name)
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
    series = column(frame, name)
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise Failure(f"column {name!r} is {series.dtype}: a {what} is a number, a text or a date")
    series = without_holes(series, name, what)
    if series.dtype == pl.String and series.str.contains(r"^(?:0|-?[1-9]\d{0,17})$").all():
        return series.cast(pl.Int64)  # the same names, in the order of numbers
    return series


def cluster_numbers(frame: pl.DataFrame, columns: Sequence[str], what: str = "group") -> NDArray[np.int64]:
    """Return the number of each row's cluster, or of two columns those of both subjects, one for a name in both."""
    found = [names(frame, name, what) for name in columns]
    if len({series.dtype for series in found}) > 1:
        found = [_whole(series) for series in found]
        if not all(series.dtype.is_integer() for series in found):
            found = [series.cast(pl.String) for series in found]
    ranks = pl.concat([series.to_frame() for series in found]).to_series().rank("dense")
    numbers = ranks.to_numpy().astype(np.int64).reshape(len(found), -1)
    return numbers[0] if len(found) == 1 else numbers.T


def _whole(series: pl.Series) -> pl.Series:
    """Return whole numbers as integers of 128 bits, anything else as it is."""
    if series.dtype.is_integer() or (series.dtype.is_float() and bool((series == series.floor()).all())):
        return series.cast(pl.Int128)
    return series


def scores(
    frame: pl.DataFrame, name: str, what: str = "a score", before: int = 0, *, drops: bool = True
) -> NDArray[Any]:
    """Return a column of finite numbers, read and refused as the measures do it in Python.

    `before` is the number of rows before those of the frame, for messages; `drops` is whether the command can leave
    rows out.
    """
    series = column(frame, name)
    kind = series.dtype
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
            + ("; --missing drop drops such rows" * drops if not infinite else beyond if what == "a score" else "")
        )
    return as_scores(floats if kind.is_decimal() else series, f"column {name!r}")
