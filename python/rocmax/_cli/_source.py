"""Read tables: whole, or in batches of rows when they are larger than memory."""

import sys
import zlib
from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO

import polars as pl

from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, Misuse, reading, short

_BEGIN = 2**16  # bytes of a file in which its first line is looked for
_SEPARATORS = {";": "a semicolon", "\t": "a tab", "|": "a bar", ",": "a comma"}
_MISSING = ["", "NA", "N/A", "nan", "NaN", "null", "?"]
ROWS = 200_000  # of a batch


@dataclass(frozen=True)
class Form:
    """What separates columns of text, None for what the ending of a file's name says, and the decimal mark."""

    separator: str | None = None
    decimal: str = "."


def form(arguments: Namespace) -> Form:
    """Return what --sep and --decimal say."""
    return Form(arguments.sep, arguments.decimal)


@dataclass(frozen=True)
class Wanted:
    """Columns to read: those in `needed`, of None all but those in `dropped`; those in `also` if they are there."""

    needed: Collection[str] | None = None
    also: Collection[str] = ()
    dropped: Collection[str] = ()

    def places(self, names: Sequence[str]) -> list[int] | None:
        """Return where they are among the names of all, None for all, or fail if one is missing."""
        known = set(names)
        for name in (*(self.needed or ()), *self.dropped):
            if name not in known:
                raise table.not_found(name, names)
        if self.needed is None and not self.dropped:
            return None
        taken = {*(known - {*self.dropped} if self.needed is None else self.needed), *self.also}
        return [k for k, name in enumerate(names) if name in taken] or [0]  # one column tells the number of rows


def read(
    path: str,
    form: Form = Form(),
    wanted: Wanted = Wanted(),
    *,
    exact: Collection[str] = (),
    text: Collection[str] = (),
) -> pl.DataFrame:
    """Return columns of a .csv, .tsv (also compressed) or .parquet file, or of csv on stdin for "-".

    Of csv, columns named in `text` stay as they are written, and those in `exact` where floats would not do.
    """
    with _rows(path, form, wanted) as (rows, names, is_text):
        frame = _named(rows.collect(engine="streaming"), names)
    if is_text:
        comma = form.decimal == ","
        frame = frame.with_columns(
            table.typed(series, exact=series.name in exact, comma=comma) for series in frame if series.name not in text
        )
    if frame.is_empty():
        raise Failure(f"{path}: no rows")
    return frame


def batches(
    path: str, form: Form = Form(), wanted: Wanted = Wanted(), *, text: Collection[str] = ()
) -> Iterator[pl.DataFrame]:
    """Yield the same columns in batches of rows, in their order; csv is read twice, first for the types."""
    comma, known = form.decimal == ",", dict[str, list[Any]]()
    with _rows(path, form, wanted) as (rows, names, is_text):
        for part in rows.collect_batches(chunk_size=ROWS, maintain_order=True) if is_text else ():
            for series in _named(part, names):
                if series.name not in text and known.get(series.name) != []:
                    found = list(table.kinds(series, comma=comma))
                    known[series.name] = [kind for kind in known.get(series.name, found) if kind in found]
    n_rows = 0
    with _rows(path, form, wanted) as (rows, names, _):
        for part in rows.collect_batches(chunk_size=ROWS, maintain_order=True):
            frame = _named(part, names)
            n_rows += len(frame)
            yield frame.with_columns(
                table.as_kind(series, next(iter(known[series.name]), pl.String), comma=comma)
                for series in frame
                if series.name in known
            )
    if not n_rows:
        raise Failure(f"{path}: no rows")


def n_rows(path: str) -> int:
    """Return the number of rows of a parquet file, by its metadata."""
    with _rows(path, Form(), Wanted()) as (rows, _, _):
        return int(rows.select(pl.len()).collect().item())


@contextmanager
def _rows(path: str, form: Form, wanted: Wanted) -> Iterator[tuple[pl.LazyFrame, list[str] | None, bool]]:
    """Yield the rows to be read, the names of their columns where polars has others, and whether they are texts."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    separator = form.separator or ("\t" if ".tsv" in suffixes else ",")
    with _opened(path) as source:
        regular = isinstance(source, BufferedReader)
        parquet = regular and ".parquet" in suffixes
        if not parquet and separator == form.decimal:
            raise Misuse(f"--decimal {form.decimal} is also what separates columns: give another --sep, such as ';'")
        try:
            if parquet:
                names = list(pl.read_parquet_schema(source))
                places = wanted.places(names)
                source.seek(0)
                rows = pl.scan_parquet(source)
                yield (rows if places is None else rows.select(pl.nth(places))), None, False
            elif not regular or form.separator or ".csv" in suffixes or ".tsv" in suffixes:
                yield *_texts(path, source, separator, wanted), True
            else:
                raise Failure(f"{path}: not .csv, .tsv or .parquet; for other text files give --sep")
        except (pl.exceptions.PolarsError, OSError, UnicodeError) as error:
            _doubt_separator(path, _first_line(source), separator)
            raise Failure(f"{path}: cannot be read: {str(error).partition(chr(10))[0]}") from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # what polars makes of some damaged files
                raise
            raise Failure(f"{path}: cannot be read: it is damaged") from error


def _named(frame: pl.DataFrame, names: list[str] | None) -> pl.DataFrame:
    if names is not None and not frame.is_empty():
        frame.columns = names
    return frame


def _texts(path: str, source: BinaryIO, separator: str, wanted: Wanted) -> tuple[pl.LazyFrame, list[str]]:
    """Return columns of csv as texts, and their names.

    All are parsed, since a row with a value too many has to be refused, but only those that are wanted are kept, part
    by part. Polars would look through the whole file for types, which `table.typed` does.
    """
    held, names = _names(source, separator)
    if len(names) == 1:
        _doubt_separator(path, names[0], separator)
    places = wanted.places(names)
    places = list(range(len(names))) if places is None else places
    rows = pl.scan_csv(source, separator=separator, null_values=_MISSING, infer_schema_length=0)
    rows = rows.map_batches(
        lambda part: part[:, places],
        projection_pushdown=False,
        predicate_pushdown=False,
        streamable=True,
        validate_output_schema=False,
    )
    return rows, [names[k] if '"' in held[k] else held[k] for k in places]


def _names(source: BinaryIO, separator: str) -> tuple[list[str], list[str]]:
    """Return the names of the columns of csv as polars has them, and as they are.

    Polars numbers those that are there twice, and leaves quotes doubled.
    """
    held = pl.read_csv(source, separator=separator, n_rows=0).columns
    source.seek(0)
    names: list[str] = []
    with suppress(pl.exceptions.PolarsError):
        line = pl.read_csv(source, separator=separator, has_header=False, n_rows=1, infer_schema_length=0)
        names = [name or "" for name in line.row(0)]
    source.seek(0)
    return held, names if len(names) == len(held) else held


def _first_line(source: BinaryIO) -> str:
    """Return the line that names the columns, or nothing of what is no text."""
    with suppress(OSError, EOFError, zlib.error, UnicodeError):
        source.seek(0)
        begin = source.read(_BEGIN)
        if begin.startswith(b"\x1f\x8b"):
            begin = zlib.decompressobj(wbits=31).decompress(begin, _BEGIN)
        return begin.partition(b"\n")[0].decode().strip()
    return ""


def _doubt_separator(path: str, names: str, separator: str) -> None:
    """Fail, with what to do, if the line of names is one name because other characters separate them."""
    if separator in names:
        return
    for other, said in _SEPARATORS.items():
        if other in names:
            how = "tab" if other == "\t" else quote(other)
            raise Failure(f"{path}: one column, {short(names)!r}: if {said} separates columns, give --sep {how}")


def _opened(path: str) -> BinaryIO:
    """Open a file; what is none (stdin, a pipe) is read first. Polars would take [ and * in a name for patterns."""
    if path == "-":
        if sys.stdin is None:
            raise Failure("-: stdin is closed")
        return BytesIO(sys.stdin.buffer.read())
    with reading(path):
        return open(path, "rb") if Path(path).is_file() else BytesIO(Path(path).read_bytes())
