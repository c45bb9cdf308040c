"""Tables from files: columns by name, labels, scores; every fault names file, column and row."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli._failure import Failure, Misuse, unknown

_MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "?"]


@dataclass(frozen=True)
class Labels:
    """A column of two classes."""

    positive: NDArray[np.bool_]
    name: str
    value: Any

    @property
    def summary(self) -> str:
        n, m = len(self.positive), int(self.positive.sum())
        return f"{n:,} rows, {m:,} positive ({100 * m / n:.1f} %; {self.name} = {self.value})"


def read(path: str) -> pl.DataFrame:
    """Return the table in a .csv, .tsv (also compressed) or .parquet file, or that of csv on stdin for "-"."""
    suffixes = [".csv"] if path == "-" else [s.lower() for s in Path(path).suffixes]
    if path != "-" and not Path(path).exists():
        raise Failure(f"{path}: no such file")
    if Path(path).is_dir():
        raise Failure(f"{path}: a folder, not a file")
    source = sys.stdin.buffer.read() if path == "-" else path
    try:
        if ".parquet" in suffixes:
            frame = pl.read_parquet(source)
        elif ".csv" in suffixes or ".tsv" in suffixes:
            frame = pl.read_csv(
                source,
                separator="\t" if ".tsv" in suffixes else ",",
                null_values=_MISSING,
                infer_schema_length=None,
            )
        else:
            raise Failure(f"{path}: not .csv, .tsv or .parquet")
    except (pl.exceptions.PolarsError, OSError, UnicodeError) as error:
        raise Failure(f"{path}: cannot be read: {str(error).partition(chr(10))[0]}") from error
    if frame.is_empty():
        raise Failure(f"{path}: no rows")
    return frame


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, or fail with the nearest name."""
    if name not in frame.columns:
        raise unknown("column", name, frame.columns)
    return frame[name]


def labels(frame: pl.DataFrame, name: str, positive: str | None) -> Labels:
    """Return which rows are positive."""
    series = column(frame, name)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count():
        row = int(series.is_null().arg_true()[0]) + 1
        raise Failure(f"column {name!r} has no label in row {row} (of {series.null_count()} such)")
    values = series.unique().sort().to_list()
    if len(values) == 1:
        raise Failure(f"column {name!r} holds one class only ({values[0]}); two are needed")
    if positive is None:
        if len(values) > 2:
            shown = ", ".join(str(v) for v in values[:5])
            raise Failure(
                f"column {name!r} holds {len(values)} values ({shown}, ...), not two classes; "
                "say which is positive with --positive"
            )
        value = values[-1]
    else:
        texts = {str(v): v for v in values} | {f"{v:g}": v for v in values if isinstance(v, float)}
        texts |= {str(v).lower(): v for v in values if isinstance(v, bool)}  # as csv files have them
        if positive not in texts:
            raise unknown(f"--positive: in column {name!r} the value", positive, map(str, values))
        value = texts[positive]
    return Labels((series == value).to_numpy(), name, value)


def score_columns(frame: pl.DataFrame, names: Sequence[str], label: str) -> dict[str, NDArray[np.float64]]:
    """Return columns of scores by name; none of them twice, none of them the label's."""
    for name in names:
        if name == label:
            raise Misuse(f"--score {name}: that is the column of the classes (--label)")
        if list(names).count(name) > 1:
            raise Misuse(f"--score names {name!r} twice")
    return {name: scores(frame, name) for name in names}


def scores(frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """Return a column of finite numbers."""
    series = column(frame, name)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise Failure(f"column {name!r} is {series.dtype}, not numbers: it cannot be a score")
    values = series.cast(pl.Float64).to_numpy()
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        shown = "missing or NaN" if np.isnan(values[bad[0]]) else "infinite"
        raise Failure(
            f"column {name!r} is {shown} in row {bad[0] + 1} ({bad.size} such): scores must be finite numbers"
        )
    return values
