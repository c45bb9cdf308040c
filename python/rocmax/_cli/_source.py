"""Read tables: whole, or in batches of rows. Texts of csv stay texts, but for columns of numbers."""

import lzma
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from itertools import compress
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from rocmax._cli import _csv as written, _numbers as numbers
from rocmax._cli._numbers import Form
from rocmax._cli._output import Failure, Misuse, reading, unknown
from rocmax._cli._parser import TableOptions
from rocmax._cli._table import nameless
from rocmax._runtime.settings import settings
from rocmax._tables._forms import is_number
from rocmax._tables._notes import Note, of_rows, short, some
from rocmax._tables._schema import Schema

_SEPARATORS = {";": "a semicolon", "\t": "a tab", "|": "a bar", ",": "a comma", " ": "a blank", ":": "a colon"}
_TITLES = 20  # lines among which the header is looked for
_OTHERS = {
    b"PK\x03\x04": "an .xlsx or .zip file: save the sheet as .csv",
    b"\xd0\xcf\x11\xe0": "an .xls file: save the sheet as .csv",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: decompress it (zstd -d) or use .gz",
    b"ARROW1": "an arrow file: write it as .parquet",
    b"\xff\xfe\0\0": "UTF-32: save it as UTF-8",
    **dict.fromkeys((b'{"', b"[{", b"{\n", b"[\n"), "JSON: write it as .csv"),
    **dict.fromkeys((b"<!", b"<html", b"<?xml", b"<table"), "HTML or XML: save the table as .csv"),
}
# In the first column, what names rows of sums, unless more than this share of the rows has such a name.
_SUMS = r"(?i)^\s*(?:(?:(?:grand|sub)[\s-]?)?totals?|sum|mean|average|median|summe|gesamt|mittelwert|moyenne)\s*:?\s*$"
_SELDOM = 0.02


class _Part(NamedTuple):
    """What is news of rows of csv: how many, how many hold nothing, names of sums, and columns if some may be short."""

    n_rows: int
    n_blank: int
    sums: Sequence[str] = ()
    n_columns: int = 0


@dataclass(frozen=True)
class ColumnRequest:
    """Columns to read, and how csv is written."""

    needed: Collection[str] | None = None  # which must be there; all but those `dropped`
    also: Collection[str] = ()  # which are read if they are there
    dropped: Collection[str] = ()
    numbers: Collection[str] = ()  # whose texts of csv are numbers; others stay
    scores: Collection[str] = ()  # the same, in which integers that float64 would round are refused
    names: Collection[str] = ()  # in which empty texts are missing
    form: Form = field(default_factory=Form)
    most: float = float("inf")  # columns: wider tables are refused

    def places(self, names: Sequence[str]) -> list[int] | None:
        """Return the places of the columns among `names`, None for all, or fail if one is missing or there twice."""
        if len(names) > self.most:
            raise Failure(f"{len(names):,} columns, more than {self.most:,}")
        known = set(names)
        for name in (*(self.needed or ()), *self.dropped):
            if name not in known:
                raise unknown("column", name, names)
        every = self.needed is None
        taken = {*(known - {*self.dropped} if every else self.needed or ()), *self.also}
        found = [k for k, name in enumerate(names) if name in taken]
        for name, n in Counter(names[k] for k in found).items():
            if n > 1:
                raise Failure(f"column {name!r} occurs more than once; rename one")
        return None if every and not self.dropped else found or [0]  # one column tells the number of rows


class Table(NamedTuple):
    """Rows, and whether those are texts of csv."""

    frame: pl.DataFrame
    is_text: bool


def columns_to_read(
    arguments: TableOptions, needed: Collection[str] | None = None, like: Schema | None = None, **columns: Any
) -> ColumnRequest:
    """Return what to read from a file; options that are not given are those of the schema of a model."""
    like = like or Schema(())
    decimal = arguments.decimal or like.decimal
    thousands = arguments.thousands or (None if like.thousands == decimal else like.thousands)
    form = Form(arguments.sep, decimal, thousands, (*like.missing, *arguments.missing_values))
    if form.thousands == form.decimal:
        raise Misuse(f"--thousands {form.thousands} is also the decimal mark")
    return ColumnRequest(needed, form=form, **columns)


def read(path: str, wanted: ColumnRequest = ColumnRequest()) -> Table:
    """Return columns of a .csv, .tsv (also compressed) or .parquet file, or of stdin for "-"."""
    with _rows(path, wanted) as (rows, is_text):
        frame = rows.collect(engine="streaming")
    if frame.is_empty():
        raise Failure(f"{path}: no rows")
    return Table(_converted(frame, wanted, 0, {}) if is_text else frame, is_text)


def batches(path: str, wanted: ColumnRequest = ColumnRequest()) -> Iterator[Table]:
    """Yield the same columns in batches of rows, in their order."""
    n_rows, booleans = 0, dict[str, bool]()
    with _rows(path, wanted) as (rows, is_text):
        for frame in rows.collect_batches(chunk_size=settings().batch_rows, maintain_order=True):
            if len(frame):
                yield Table(_converted(frame, wanted, n_rows, booleans) if is_text else frame, is_text)
                n_rows += len(frame)
    if not n_rows:
        raise Failure(f"{path}: no rows")


def n_rows(path: str) -> int:
    """Return the number of rows of a parquet file, by its metadata."""
    with _rows(path, ColumnRequest()) as (rows, _):
        return int(rows.select(pl.len()).collect().item())


def _converted(frame: pl.DataFrame, wanted: ColumnRequest, before: int, booleans: dict[str, bool]) -> pl.DataFrame:
    """Return a table of texts with its numbers and names; what batches before held decides if true is a number."""
    _refuse_headers(frame, before)
    found = []
    for series in frame:
        name = series.name
        if name in wanted.names:
            series = numbers.names(series, wanted.form)
        elif name in wanted.scores or name in wanted.numbers:
            known = booleans.get(name, True)
            converted = numbers.number_column(series, wanted.form, before, exact=name in wanted.scores, booleans=known)
            if converted.null_count() < len(converted):
                booleans.setdefault(name, bool(nameless(series).str.to_lowercase().str.contains("true|false").any()))
            series = converted
        found.append(series)
    return frame.with_columns(found) if wanted.names or wanted.scores or wanted.numbers else frame


def _refuse_headers(frame: pl.DataFrame, before: int) -> None:
    """Fail if a row repeats the names of the columns: two files were joined."""
    names = frame.columns
    if len(names) > 1:
        for k in (nameless(frame.to_series(0)) == names[0]).arg_true():
            if [*frame.row(k)] == names:
                raise Failure(f"row {before + k + 1} repeats the header: take that line out")


@contextmanager
def _rows(path: str, wanted: ColumnRequest) -> Iterator[tuple[pl.LazyFrame, bool]]:
    """Yield the rows to be read, and whether they are texts."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    form, read = wanted.form, list[_Part]()
    with _opened(path) as source:
        regular = isinstance(source, BufferedReader)
        magic = source.read(8)
        source.seek(0)
        parquet = magic[:4] == b"PAR1" or suffixes[-1:] == [".parquet"]
        separator = form.separator or ("\t" if ".tsv" in suffixes else ",")
        try:
            if parquet:
                places = wanted.places(list(pl.read_parquet_schema(source)))
                source.seek(0)
                rows = pl.scan_parquet(source)
                yield (rows if places is None else rows.select(pl.nth(places))), False
            elif what := next((what for begin, what in _OTHERS.items() if magic.startswith(begin)), None):
                raise Failure(f"{path}: {what}")
            elif not regular or form.separator or ".csv" in suffixes or ".tsv" in suffixes:
                text, lines, skip, own = written.dialect(source, magic, separator)
                read.append(_Part(0, skip - (own is not None)))
                separator = separator if form.separator else own or separator
                yield _texts(path, text, lines, separator, wanted, skip, read), True
                if width := max(part.n_columns for part in read):
                    written.tell_of_short(text, separator, skip, width, form)
            else:
                raise Failure(f"{path}: not .csv, .tsv or .parquet; for other text files give --sep")
        except pl.exceptions.PanicException as error:
            raise Failure(f"{path}: cannot be read: it is damaged") from error
        except (pl.exceptions.PolarsError, OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeError) as error:
            raise Failure(f"{path}: cannot be read: {_reason(str(error))}") from error
    if n := sum(part.n_blank for part in read):
        form.notes.add(Note("blank", f"{of_rows(n)} without any value or with a comment (#) skipped", rows=n))
    sums = [text for part in read for text in part.sums]
    if 0 < len(sums) <= max(1, _SELDOM * sum(part.n_rows for part in read)):
        fact = f"warning: {of_rows(len(sums))} with {sums[0]!r} in the first column: take out sums of other rows"
        form.notes.add(Note("sums", fact, None, (sums[0],), len(sums)))


def _reason(error: str) -> str:
    """Return what polars says of a text that it cannot read, and what to do."""
    fact = error.partition("\n")[0]
    if "more fields" in fact:
        return "a row has more fields than the header; check --sep and --decimal, and that each column has a name"
    if "invalid utf-8" in fact:
        return "it is not UTF-8, but perhaps Windows-1252: save it as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW)"
    if "CSV malformed" in fact or "as dtype `str`" in error:
        return written.QUOTES
    return fact


def _refuse_titles(path: str, lines: list[str], skip: int, separator: str, names: Collection[str]) -> None:
    """Fail if one of the first lines below the header has all names that it lacks, and no number."""
    header = next((k for k, line in enumerate(lines) if k >= skip and line.strip()), 0)
    for k, line in enumerate(lines[header + 1 : skip + _TITLES], header + 2):
        cells = {cell.strip(' "') for cell in line.split(separator)}
        if cells.issuperset(names) and not any(map(is_number, cells)):
            what = f"line {k} has the names of columns, below {short(lines[header])!r}"
            raise Failure(f"{path}: {what}: take out the lines above it")


def _texts(
    path: str, source: BinaryIO, lines: list[str], separator: str, wanted: ColumnRequest, skip: int, read: list[_Part]
) -> pl.LazyFrame:
    """Return columns of csv as texts, all parsed, so that bad rows are refused, and in `read` the news of rows."""
    names = _names(source, separator, skip)
    if missing := {*(wanted.also if wanted.needed is None else wanted.needed)} - {*names, *map(str.strip, names)}:
        _refuse_titles(path, lines, skip, separator, missing)
    if len(names) == 1:
        _doubt_separator(path, names[0], separator, {*(wanted.needed or ()), *wanted.also})
    places = wanted.places(names)
    places = list(range(len(names))) if places is None else places
    if any("\ufffd" in names[k] for k in places):
        raise UnicodeError("invalid utf-8")
    if all(map(is_number, names)) and any("." in name for name in names):
        what = f"warning: all names of columns are numbers ({some(names)}): the first line is read as the header"
        wanted.form.notes.add(Note("header", what, rows=1))
    checked = False

    def chosen(part: pl.DataFrame) -> pl.DataFrame:
        nonlocal checked
        broken = part.select(pl.all().str.contains("\n", literal=True).any()).row(0)
        if any(broken):
            if not checked:
                written.require_closed(source, separator, skip)
            checked = True
            for k in compress(range(part.width), broken):
                written.refuse_rows(nameless(part.to_series(k)), k, separator, part.width)
        first, n = nameless(part.to_series(0)), len(part)
        if (first.is_null() | first.str.contains(r"^\s*(?:#|$)")).any():
            part = part.filter(~_is_blank(part))
        sums, is_open = first.filter(first.str.contains(_SUMS)).to_list(), part.to_series(-1).has_nulls()
        read.append(_Part(n, n - len(part), sums, part.width if is_open else 0))
        part = part[:, places]
        part.columns = [names[k] for k in places]
        return part

    rows = pl.scan_csv(source, separator=separator, infer_schema_length=0, skip_lines=skip)
    return rows.map_batches(
        chosen, projection_pushdown=False, predicate_pushdown=False, streamable=True, validate_output_schema=False
    )


def _is_blank(part: pl.DataFrame) -> pl.Series:
    """Mark rows without any value, and rows of several columns that hold a comment alone."""
    part = pl.DataFrame([series.alias(f"c{k}") for k, series in enumerate(part)])
    rest = part[:, 1:].select(pl.all_horizontal(pl.all().is_null() | (pl.all().str.strip_chars() == "")))
    first = part.to_series(0)
    empty = first.is_null() | (first.str.strip_chars() == "")
    if part.width == 1:
        return empty
    return (empty | first.str.starts_with("#")) & rest.to_series()


def _names(source: BinaryIO, separator: str, skip: int) -> list[str]:
    """Return the column names of csv as they are: polars numbers names that occur twice, and leaves quotes doubled."""
    how: Any = {"separator": separator, "skip_lines": skip, "infer_schema_length": 0}
    held = pl.read_csv(source, n_rows=0, **how).columns
    source.seek(0)
    names: list[str] = []
    with suppress(pl.exceptions.PolarsError):
        line = pl.read_csv(source, has_header=False, n_rows=1, **how)
        names = [name or "" for name in line.row(0)]
    source.seek(0)
    names = names if len(names) == len(held) else held
    nameless = [k for k, name in enumerate(names) if not name][1:]  # the first may be an index
    if nameless and separator == " ":
        raise Failure("several blanks separate columns: put one between them (tr -s ' ' < OLD > NEW), or a comma")
    return [f"column {k + 1}" if k in nameless else name for k, name in enumerate(names)]


def _doubt_separator(path: str, names: str, separator: str, needed: Collection[str]) -> None:
    """Fail, with the option to give, if the line of column names seems to have another separator."""
    if separator in names:
        return
    for other, text in _SEPARATORS.items():
        if other in names and (other not in " :" or not {*names.split(other)}.isdisjoint(needed)):
            how = "tab" if other == "\t" else quote(other)
            raise Failure(f"{path}: one column, {short(names)!r}: if {text} separates columns, give --sep {how}")


def _opened(path: str) -> BinaryIO:
    """Open a file; stdin, pipes and devices are read first. Polars would take [ and * in a path for patterns."""
    if path == "-":
        if sys.stdin is None:
            raise Failure("-: stdin is closed")
        return BytesIO(sys.stdin.buffer.read())
    with reading(path):
        is_plain = Path(path).is_file() and not path.startswith("/dev/")
        return open(path, "rb") if is_plain else BytesIO(Path(path).read_bytes())
