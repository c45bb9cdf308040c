"""Read tables: whole, or in batches of rows. Texts of csv stay texts, but for columns of numbers."""

import csv
import gzip
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import polars as pl

from rocmax._cli import _table as table
from rocmax._cli._output import Failure, Misuse, reading, unknown
from rocmax._cli._parser import TableOptions
from rocmax._cli._table import Form, nameless
from rocmax._runtime.settings import settings
from rocmax._tables._forms import Note, is_number, of_rows, short, some
from rocmax._tables._schema import Schema

_BLOCK = 2**16  # bytes
_GZIP = b"\x1f\x8b"
_Texts = tuple[pl.LazyFrame, Callable[[], None]]
_NOT_TEXT = "not text in UTF-8: save it as .csv in UTF-8 (perhaps by iconv -f WINDOWS-1252 -t UTF-8) or as .parquet"
_QUOTES = "a quotation mark stands inside a value, or is not closed: take it out, or double it and quote the value"


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
    with _rows(path, wanted) as (rows, require_rows):
        frame = rows.collect(engine="streaming")
        if require_rows:
            require_rows()
    if frame.is_empty():
        raise Failure(f"{path}: no rows")
    return Table(_converted(frame, wanted, 0) if require_rows else frame, bool(require_rows))


def batches(path: str, wanted: ColumnRequest = ColumnRequest()) -> Iterator[Table]:
    """Yield the same columns in batches of rows, in their order."""
    n_rows = 0
    with _rows(path, wanted) as (rows, require_rows):
        for frame in rows.collect_batches(chunk_size=settings().batch_rows, maintain_order=True):
            if require_rows:
                require_rows()
            if len(frame):
                yield Table(_converted(frame, wanted, n_rows) if require_rows else frame, bool(require_rows))
                n_rows += len(frame)
    if not n_rows:
        raise Failure(f"{path}: no rows")


def n_rows(path: str) -> int:
    """Return the number of rows of a parquet file, by its metadata."""
    with _rows(path, ColumnRequest()) as (rows, _):
        return int(rows.select(pl.len()).collect().item())


def _converted(frame: pl.DataFrame, wanted: ColumnRequest, before: int) -> pl.DataFrame:
    """Return a table of texts with its numbers and names."""
    columns = []
    for series in frame:
        name = series.name
        if name in wanted.names:
            columns.append(table.without_missing(series, wanted.form))
        elif name in wanted.scores or name in wanted.numbers:
            columns.append(table.number_column(series, wanted.form, before, exact=name in wanted.scores))
    return frame.with_columns(columns)


@contextmanager
def _rows(path: str, wanted: ColumnRequest) -> Iterator[_Texts | tuple[pl.LazyFrame, None]]:
    """Yield the rows to be read and, if they are texts, a check to call after reading, which refuses some rows."""
    suffixes = [s.lower() for s in Path(path).suffixes]
    form, blank = wanted.form, list[int]()
    with _opened(path) as source:
        head = source.read(64)
        source.seek(0)
        try:
            if head[:4] == b"PAR1" or suffixes[-1:] == [".parquet"]:
                places = wanted.places(list(pl.read_parquet_schema(source)))
                source.seek(0)
                rows = pl.scan_parquet(source)
                yield (rows if places is None else rows.select(pl.nth(places))), None
            elif b"\0" in head and not head.startswith(_GZIP):
                raise Failure(f"{path}: {_NOT_TEXT}")
            elif form.separator or {".csv", ".tsv"} & {*suffixes} or not isinstance(source, BufferedReader):
                separator = form.separator or ("\t" if ".tsv" in suffixes else ",")
                yield _texts(path, source, separator, wanted, blank)
            else:
                raise Failure(f"{path}: not .csv, .tsv or .parquet; for other text files give --sep")
        except pl.exceptions.PanicException as error:
            raise Failure(f"{path}: cannot be read: it is damaged") from error
        except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, UnicodeError) as error:
            raise Failure(f"{path}: cannot be read: {_reason(str(error))}") from error
    if n := sum(blank):
        form.notes.add(Note("blank", f"{of_rows(n)} without any value skipped", rows=n))


def _reason(error: str) -> str:
    """Return what polars says of a text that it cannot read, and what to do."""
    fact = error.partition("\n")[0]
    if "more fields" in fact:
        return (
            "a row has more fields than the header; check --sep and --decimal, that each column has a name, and that no"
            " lines are above the header"
        )
    if "invalid utf-8" in fact:
        return _NOT_TEXT
    if "CSV malformed" in fact or "as dtype `str`" in error:
        return _QUOTES
    return fact


def _texts(path: str, source: BinaryIO, separator: str, wanted: ColumnRequest, blank: list[int]) -> _Texts:
    """Return columns of csv as texts, and a check of its rows; `blank` gets numbers of empty rows."""
    with _lines(source) as lines:  # polars numbers names that occur twice, and leaves quotes doubled
        names = next(filter(None, csv.reader(lines, delimiter=separator)), None)
        if lines.newlines == "\r":  # polars ends lines at line feeds
            raise Failure(f"{path}: its lines end in carriage returns alone: save it with line feeds")
    if names is None:
        raise Failure(f"{path}: no rows")
    asked = list(dict.fromkeys([*(wanted.needed or ()), *wanted.also]))
    if len(names) == 1 and asked and names[0] not in asked:
        how = "the first line must hold the names of columns, and --sep the mark between them"
        raise Failure(f"{path}: one column, {short(names[0])!r}, not {some(asked)}: {how}")
    names = [name or (f"column {k}" if k > 1 else "") for k, name in enumerate(names, 1)]  # the first may be an index
    places = wanted.places(names)
    places = list(range(len(names))) if places is None else places
    if any("\ufffd" in names[k] for k in places):
        raise UnicodeError("invalid utf-8")
    doubt, checked = threading.Event(), False  # polars looks at parts in several threads

    def chosen(part: pl.DataFrame) -> pl.DataFrame:
        if not doubt.is_set() and (part.to_series(-1).has_nulls() or _have_lines(part)):
            doubt.set()
        held = part[:, places]
        held.columns = [names[k] for k in places]
        if (nameless(part.to_series(0)).str.strip_chars().fill_null("") == "").any():
            part.columns = [f"c{k}" for k in range(part.width)]
            kept = part.select(pl.any_horizontal(pl.all().str.strip_chars() != "")).to_series().fill_null(False)
            blank.append(len(kept) - int(kept.sum()))
            held = held.filter(kept)
        return held

    def require_rows() -> None:  # in the main thread, which Ctrl-C stops
        nonlocal checked
        if doubt.is_set() and not checked:
            _require_rows(source, separator, len(names))
            checked = True

    rows = pl.scan_csv(source, separator=separator, infer_schema_length=0)
    rows = rows.map_batches(
        chosen, projection_pushdown=False, predicate_pushdown=False, streamable=True, validate_output_schema=False
    )
    return rows, require_rows


def _have_lines(part: pl.DataFrame) -> bool:
    return any(part.select(pl.all().str.contains("\n", literal=True).any()).row(0))


@contextmanager
def _lines(source: Any) -> Iterator[TextIOWrapper]:
    """Open a source once more, for the csv module."""
    limit = csv.field_size_limit(2**31 - 1)
    with open(source.name, "rb") if isinstance(source, BufferedReader) else BytesIO(source.getvalue()) as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        try:
            yield TextIOWrapper(gzip.GzipFile(fileobj=raw) if packed else raw, "utf-8-sig", "replace", newline="")
        finally:
            csv.field_size_limit(limit)


def _require_rows(source: BinaryIO, separator: str, width: int) -> None:
    """Fail at a row that polars would read otherwise: too few values, a quote inside a value, rows inside a value."""
    with _lines(source) as lines:
        lacking, quoted, block = 0, False, b""
        for block in iter(lambda: bytes(lines.buffer.read(_BLOCK)), b""):  # in a tenth of the time of the csv module
            lacking += (width - 1) * block.count(b"\n") - block.count(separator.encode())
            quoted |= b'"' in block
        if not quoted and lacking + (0 if block.endswith(b"\n") else width - 1) == 0:
            return
        lines.seek(0)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            line = 0
            for row in reader:
                if len(row) < width and any(map(str.strip, row)):
                    what = f"line {reader.line_num}, {short(separator.join(row))!r}, has {len(row)} of {width} values"
                    raise Failure(f"{what}: complete it, or take it out")
                for k, value in enumerate(row if reader.line_num > line + 1 else ()):
                    if "\n" in value and _are_rows(value, k, separator, width):
                        what = f"a value of {value.count(chr(10)) + 1:,} lines, up to line {reader.line_num}"
                        raise Failure(f"{what}, looks like rows: {_QUOTES}")
                line = reader.line_num
        except csv.Error as error:
            if "expected after" in str(error):
                raise Failure(f"line {reader.line_num}: {_QUOTES}") from None


def _are_rows(value: str, k: int, separator: str, width: int) -> bool:
    """Whether a value in the k-th column is many rows, as of an open quote: two lines with numbers in other columns."""
    first, *rows, last = (line.split(separator) for line in value.split("\n"))
    counts = len(first), {*map(len, rows)} or {width}, len(last)
    joined = counts == (width - k, {width}, k + 1) and width > 2
    return joined and (bool(rows) or any(is_number(one.strip()) for one in (*first[1:], *last[:-1])))


def _opened(path: str) -> BinaryIO:
    """Open a file; stdin, pipes and devices are read first. Polars would take [ and * in a path for patterns."""
    if path == "-":
        if sys.stdin is None:
            raise Failure("-: stdin is closed")
        return BytesIO(sys.stdin.buffer.read())
    with reading(path):
        is_plain = Path(path).is_file() and not path.startswith("/dev/")
        return open(path, "rb") if is_plain else BytesIO(Path(path).read_bytes())
