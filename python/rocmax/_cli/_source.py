"""Read tables: whole, or in batches of rows."""

import sys
from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO

import polars as pl

from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, Misuse, reading, short

_SEPARATORS = {";": "a semicolon", "\t": "a tab", "|": "a bar", ",": "a comma"}
_MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "?"]
ROWS = 200_000  # in a batch


@dataclass(frozen=True)
class Wanted:
    """Columns to read, and how csv is written and converted.

    `needed` columns must be there (None: all but those in `dropped`), those in `also` are read if they are. Columns in
    `text` keep their text; in columns of `scores`, integers that float64 would round are refused. Without a separator
    the ending of the file's name decides.
    """

    needed: Collection[str] | None = None
    also: Collection[str] = ()
    dropped: Collection[str] = ()
    text: Collection[str] = ()
    scores: Collection[str] = ()
    separator: str | None = None
    comma: bool = False  # whether it is the decimal mark

    def places(self, names: Sequence[str]) -> list[int] | None:
        """Return the places of the columns among `names`, None for all, or fail if one is missing."""
        known = set(names)
        for name in (*(self.needed or ()), *self.dropped):
            if name not in known:
                raise table.not_found(name, names)
        if self.needed is None and not self.dropped:
            return None
        taken = {*(known - {*self.dropped} if self.needed is None else self.needed), *self.also}
        return [k for k, name in enumerate(names) if name in taken] or [0]  # one column tells the number of rows


def wanted(arguments: Namespace, needed: Collection[str] | None = None, **columns: Collection[str]) -> Wanted:
    """Return what to read from a file that --sep and --decimal are about."""
    return Wanted(needed, **columns, separator=arguments.sep, comma=arguments.decimal == ",")


def read(path: str, wanted: Wanted = Wanted()) -> pl.DataFrame:
    """Return columns of a .csv, .tsv (also compressed) or .parquet file, or of csv on stdin for "-"."""
    with _rows(path, wanted) as (rows, is_text):
        frame = rows.collect(engine="streaming")
    if frame.is_empty():
        raise Failure(f"{path}: no rows")
    return _typed(frame, _kinds(frame, wanted, {}, most=1), wanted) if is_text else frame


def batches(path: str, wanted: Wanted = Wanted()) -> Iterator[pl.DataFrame]:
    """Yield the same columns in batches of rows, in their order; csv is read twice, first for the types."""
    kinds: dict[str, list[Any]] = {}
    with _rows(path, wanted) as (rows, is_text):
        for frame in _batches(rows) if is_text else ():
            kinds = _kinds(frame, wanted, kinds)
    n_rows = 0
    with _rows(path, wanted) as (rows, _):
        for frame in _batches(rows):
            n_rows += len(frame)
            yield _typed(frame, kinds, wanted)
    if not n_rows:
        raise Failure(f"{path}: no rows")


def n_rows(path: str) -> int:
    """Return the number of rows of a parquet file, by its metadata."""
    with _rows(path, Wanted()) as (rows, _):
        return int(rows.select(pl.len()).collect().item())


def _batches(rows: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    for frame in rows.collect_batches(chunk_size=ROWS, maintain_order=True):
        if len(frame):
            yield frame


def _kinds(
    frame: pl.DataFrame, wanted: Wanted, before: dict[str, list[Any]], most: int | None = None
) -> dict[str, list[Any]]:
    """Return by column the types that suit all rows before and all texts of a frame, at most so many."""
    found = {}
    for series in frame:
        if series.name not in wanted.text:
            among, of_scores = before.get(series.name, table.KINDS), series.name in wanted.scores
            kinds = table.kinds(series, among, of_scores=of_scores, comma=wanted.comma)
            found[series.name] = list(islice(kinds, most))
    return found


def _typed(frame: pl.DataFrame, kinds: dict[str, list[Any]], wanted: Wanted) -> pl.DataFrame:
    """Return a frame with the first type of each column that has one; the others keep their texts."""
    return frame.with_columns(
        table.as_kind(series, kinds[series.name][0], comma=wanted.comma) for series in frame if kinds.get(series.name)
    )


@contextmanager
def _rows(path: str, wanted: Wanted) -> Iterator[tuple[pl.LazyFrame, bool]]:
    """Yield the rows to be read, and whether they are texts."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    separator = wanted.separator or ("\t" if ".tsv" in suffixes else ",")
    with _opened(path) as source:
        regular = isinstance(source, BufferedReader)
        parquet = regular and ".parquet" in suffixes
        if not parquet and separator == ("," if wanted.comma else "."):
            raise Misuse(f"--decimal {separator} is also the column separator: give another --sep, such as ';'")
        try:
            if parquet:
                places = wanted.places(list(pl.read_parquet_schema(source)))
                source.seek(0)
                rows = pl.scan_parquet(source)
                yield (rows if places is None else rows.select(pl.nth(places))), False
            elif not regular or wanted.separator or ".csv" in suffixes or ".tsv" in suffixes:
                yield _texts(path, source, separator, wanted), True
            else:
                raise Failure(f"{path}: not .csv, .tsv or .parquet; for other text files give --sep")
        except (pl.exceptions.PolarsError, OSError, UnicodeError) as error:
            said = str(error).partition("\n")[0]
            if "more fields" in said:
                said = "a row has more fields than the header; check --sep and --decimal"
            raise Failure(f"{path}: cannot be read: {said}") from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # raised by polars for some damaged files
                raise
            raise Failure(f"{path}: cannot be read: it is damaged") from error


def _texts(path: str, source: BinaryIO, separator: str, wanted: Wanted) -> pl.LazyFrame:
    """Return columns of csv as texts.

    All columns are parsed, so that a row with a value too many is refused, but only those that are wanted are kept.
    """
    held, names = _names(source, separator)
    if len(names) == 1:
        _doubt_separator(path, names[0], separator)
    places = wanted.places(names)
    places = list(range(len(names))) if places is None else places
    kept = [names[k] if '"' in held[k] else held[k] for k in places]

    def chosen(part: pl.DataFrame) -> pl.DataFrame:
        part = part[:, places]
        part.columns = kept
        return part

    rows = pl.scan_csv(source, separator=separator, null_values=_MISSING, infer_schema_length=0)
    return rows.map_batches(
        chosen, projection_pushdown=False, predicate_pushdown=False, streamable=True, validate_output_schema=False
    )


def _names(source: BinaryIO, separator: str) -> tuple[list[str], list[str]]:
    """Return the column names of csv as polars has them, and as they are.

    Polars numbers names that occur twice, and leaves quotes doubled.
    """
    held = pl.read_csv(source, separator=separator, n_rows=0).columns
    source.seek(0)
    names: list[str] = []
    with suppress(pl.exceptions.PolarsError):
        line = pl.read_csv(source, separator=separator, has_header=False, n_rows=1, infer_schema_length=0)
        names = [name or "" for name in line.row(0)]
    source.seek(0)
    return held, names if len(names) == len(held) else held


def _doubt_separator(path: str, names: str, separator: str) -> None:
    """Fail, with the option to give, if the line of column names has another separator."""
    if separator in names:
        return
    for other, said in _SEPARATORS.items():
        if other in names:
            how = "tab" if other == "\t" else quote(other)
            raise Failure(f"{path}: one column, {short(names)!r}: if {said} separates columns, give --sep {how}")


def _opened(path: str) -> BinaryIO:
    """Open a file; stdin and pipes are read first. Polars would take [ and * in a path for patterns."""
    if path == "-":
        if sys.stdin is None:
            raise Failure("-: stdin is closed")
        return BytesIO(sys.stdin.buffer.read())
    with reading(path):
        return open(path, "rb") if Path(path).is_file() else BytesIO(Path(path).read_bytes())
