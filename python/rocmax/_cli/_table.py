"""Tables: files read whole or in batches of rows, and their columns; every error names column, row and value."""

import csv
import gzip
import re
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._checks.samples import scores as as_scores
from rocmax._cli._output import Failure, Misuse, failing, log, unknown
from rocmax._cli._parser import TableOptions
from rocmax._runtime.settings import settings
from rocmax._tables._forms import MISSING, WHOLE, Note, is_number, short, some
from rocmax._tables._schema import Schema

_BLOCK = 2**16  # bytes
_GZIP = b"\x1f\x8b"
_NOT_TEXT = "not text in UTF-8: save it as .csv in UTF-8 (perhaps by iconv -f WINDOWS-1252 -t UTF-8) or as .parquet"
_QUOTES = "a quotation mark stands inside a value, or is not closed: take it out, or double it and quote the value"
_FIELDS = (
    "a row has more fields than the header; check --sep and --decimal, that each column has a name, and that no lines"
    " are above the header"
)
# What polars says of a text that it cannot read, and what it means.
_REASONS = {"more fields": _FIELDS, "invalid utf-8": _NOT_TEXT, "CSV malformed": _QUOTES, "as dtype `str`": _QUOTES}
_CELLS = 2**22  # that are converted at once
_SPACES = " \u00a0\u2007\u2009\u202f"  # marks between groups of three digits
_LEADING = r"[+-]?[1-9]\d{0,2}"  # how a number with such marks begins: not with 0
# Numbers whose dots may separate thousands, if all numbers with a dot, at least so many, are such and others have none.
_DOTTED, _DOUBTFUL = rf"^{_LEADING}\.\d{{3}}$", 5
_SUBGROUPS = 100  # in a table, at most


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
        return {"notes": [asdict(note) for note in self.values()], "warnings": self.warnings}


@dataclass(frozen=True)
class Form:
    """How csv is written and codes missing values, news about the table, and how many numbers are a code."""

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    notes: Notes = field(default_factory=Notes, compare=False)
    codes: Counter[str] = field(default_factory=Counter, compare=False)

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

    def tell(self) -> None:
        """Report what is news, and which codes were read as missing in columns of numbers."""
        if self.codes:
            listed = ", ".join(f"{code!r} ({n:,})" for code, n in self.codes.most_common(5))
            listed += ", ..." if len(self.codes) > 5 else ""
            text = f"read as missing in columns of numbers: {listed}"
            self.notes.add(Note("missing", text, None, tuple(self.codes), self.codes.total()))
            self.codes.clear()
        self.notes.tell()


@dataclass(frozen=True)
class ColumnRequest:
    """Columns to read, and how csv is written."""

    needed: Collection[str] | None = None  # which must be there; all but those `dropped`
    also: Collection[str] = ()  # which are read if they are there
    dropped: Collection[str] = ()
    numbers: Collection[str] = ()  # whose texts of csv are numbers; others stay
    names: Collection[str] = ()  # in which empty texts are missing
    form: Form = field(default_factory=Form)
    most: float = float("inf")  # columns: wider tables are refused before their rows are read

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of the columns among `names`, or fail if one is missing or there twice."""
        if len(names) > self.most:
            raise Failure(f"{len(names):,} columns, more than {self.most:,}")
        known = set(names)
        for name in (*(self.needed or ()), *self.dropped):
            if name not in known:
                raise unknown("column", name, names)
        taken = {*(known - {*self.dropped} if self.needed is None else self.needed), *self.also}
        found = [k for k, name in enumerate(names) if name in taken]
        for name, n in Counter(names[k] for k in found).items():
            if n > 1:
                raise Failure(f"column {name!r} occurs more than once; rename one")
        return found or [0]  # one column tells the number of rows


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
    parts = [*batches(path, wanted)]
    return Table(pl.concat([part.frame for part in parts]), parts[0].is_text)


def batches(path: str, wanted: ColumnRequest = ColumnRequest()) -> Iterator[Table]:
    """Yield the same columns in batches of rows, in their order."""
    suffixes, form, n_rows = [s.lower() for s in Path(path).suffixes], wanted.form, 0
    with _opened(path) as source:
        head = source.read(64)
        source.seek(0)
        require_rows: Callable[[], None] | None = None
        try:
            if head[:4] == b"PAR1" or suffixes[-1:] == [".parquet"]:
                places = wanted.places(list(pl.read_parquet_schema(source)))
                source.seek(0)
                rows = pl.scan_parquet(source).select(pl.nth(places))
            elif b"\0" in head and not head.startswith(_GZIP):
                raise Failure(_NOT_TEXT)
            elif form.separator or {".csv", ".tsv"} & {*suffixes} or not isinstance(source, BufferedReader):
                separator = form.separator or ("\t" if ".tsv" in suffixes else ",")
                rows, require_rows = _texts(source, separator, wanted)
            else:
                raise Failure("not .csv, .tsv or .parquet; for other text files give --sep")
            for frame in rows.collect_batches(chunk_size=settings().batch_rows, maintain_order=True):
                if require_rows is not None:
                    require_rows()
                    names = {*frame.columns}
                    read = {name: number_column(frame[name], form, n_rows) for name in wanted.numbers if name in names}
                    read |= {name: without_missing(frame[name], form) for name in wanted.names if name in names}
                    frame = frame.with_columns(*read.values())
                if len(frame):
                    yield Table(frame, require_rows is not None)
                    n_rows += len(frame)
        except pl.exceptions.PanicException as error:
            raise Failure("cannot be read: it is damaged") from error
        except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, UnicodeError) as error:
            fact = next((why for sign, why in _REASONS.items() if sign in str(error)), str(error).partition("\n")[0])
            raise Failure(f"cannot be read: {fact}") from error
    if not n_rows:
        raise Failure("no rows")


def _texts(source: BinaryIO, separator: str, wanted: ColumnRequest) -> tuple[pl.LazyFrame, Callable[[], None]]:
    """Return columns of csv as texts, and a check to call after reading, which refuses some rows."""
    with _lines(source) as lines:  # polars numbers names that occur twice, and leaves quotes doubled
        names = next(filter(None, csv.reader(lines, delimiter=separator)), None)
        if lines.newlines == "\r":  # polars ends lines at line feeds
            raise Failure("its lines end in carriage returns alone: save it with line feeds")
    if names is None:
        raise Failure("no rows")
    asked = list(dict.fromkeys([*(wanted.needed or ()), *wanted.also]))
    if len(names) == 1 and asked and names[0] not in asked:
        how = "the first line must hold the names of columns, and --sep the mark between them"
        raise Failure(f"one column, {short(names[0])!r}, not {some(asked)}: {how}")
    names = [name or (f"column {k}" if k > 1 else "") for k, name in enumerate(names, 1)]  # the first may be an index
    places = wanted.places(names)
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
    with failing(path, "read"):
        is_plain = Path(path).is_file() and not path.startswith("/dev/")
        return open(path, "rb") if is_plain else BytesIO(Path(path).read_bytes())


def without_missing(series: pl.Series, form: Form) -> pl.Series:
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
    if form.decimal == ",":
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
                yield without_missing(series, form)
            else:
                tell(name, texts, values, form)
                yield values.alias(name)


def number_column(series: pl.Series, form: Form, before: int = 0, *, booleans: bool = True) -> pl.Series:
    """Return texts as numbers, true and false as 1 and 0, or fail at the first that is none, or that is rounded."""
    name, texts = series.name, nameless(series)
    found, (n_bad,) = floats(texts.to_frame(), form)
    values = found.to_series()
    flags = _flags(texts, form) if n_bad and booleans else None
    if flags is not None:
        values = flags.cast(pl.Float64)
    elif n_bad:
        held = texts.str.strip_chars()
        read = held.to_frame().select(_unmarked(form).cast(pl.Float64, strict=False)).to_series()
        row = int((read.is_null() & ~held.is_in(form.missing_texts) & texts.is_not_null()).arg_max() or 0)
        fact = f"column {name!r} holds {short(texts[row])!r} in row {before + row + 1}, which is not a number"
        how = f"or say how they are written (--decimal, --thousands, --missing-values {quote(texts[row])})"
        raise Failure(f"{fact}: write plain numbers, {how}")
    if rounded := _rounded(texts, values):
        as_scores(rounded, f"column {name!r}")  # refuses them
    tell(name, texts, values, form)
    return values.alias(name)


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
    if form.decimal != "," and (values.abs() < 1000).all() and (values == values.floor()).any():
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


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, under a plain name, or fail with the nearest name."""
    if name not in frame:
        raise unknown("column", name, frame.columns)
    return nameless(frame[name])


def nameless(series: pl.Series) -> pl.Series:
    """Return a column under a plain name: polars reads *, and what looks like ^a pattern$, as many columns."""
    return series.alias("column")


def weights(frame: pl.DataFrame, name: str, before: int = 0) -> NDArray[np.float64]:
    """Return a column of weights: finite numbers of at least 0."""
    found = np.asarray(scores(frame, name, before), dtype=np.float64)
    if (bad := np.flatnonzero(found < 0)).size:
        raise Failure(f"column {name!r} is {found[bad[0]]:g} in row {before + bad[0] + 1}: weights must be at least 0")
    return found


def names(frame: pl.DataFrame, name: str, what: str) -> pl.Series:
    """Return a column whose values name something: numbers, texts or dates."""
    series = column(frame, name)
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise Failure(f"column {name!r} is {series.dtype}: a {what} is a number, a text or a date")
    if series.dtype == pl.String and series.str.contains(r"^(?:0|-?[1-9]\d{0,17})$").all():
        return series.cast(pl.Int64)  # the same names, in the order of numbers
    return series


def subgroups(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return the subgroup of each row: numbers, local times and ordered categories as they are, all else as text."""
    series = names(frame, name, "subgroup")
    count = series.n_unique()
    if count > _SUBGROUPS:
        raise Failure(f"column {name!r} has {count:,} values: --by takes at most {_SUBGROUPS} subgroups")
    kept = series.dtype.is_numeric() or series.dtype in (pl.Enum, *(pl.Datetime(unit) for unit in ("ms", "us", "ns")))
    as_text = series.dt.to_string("polars") if series.dtype == pl.Duration else series.cast(pl.String)
    return (series if kept else as_text).alias(name)


def cluster_numbers(frame: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each row's cluster, or of two columns those of both subjects, one for a name in both."""
    found = [names(frame, name, "group").to_frame() for name in columns]
    ranks = pl.concat(found, how="vertical_relaxed").to_series().rank("dense")
    numbers = ranks.to_numpy().astype(np.int64).reshape(len(found), -1)
    return numbers[0] if len(found) == 1 else numbers.T


def scores(frame: pl.DataFrame, name: str, before: int = 0) -> NDArray[Any]:
    """Return a column of numbers, refused as the measures do it in Python; `before` counts earlier rows."""
    series = column(frame, name)
    kind = series.dtype
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null)):
        raise Failure(f"column {name!r} is {kind}, not numeric: it can hold no scores or weights")
    floats = series.cast(pl.Float64)
    if (bad := floats.is_infinite().fill_null(False)).any():
        where = f"in row {before + int(bad.arg_max() or 0) + 1} ({bad.sum()} in all)"
        raise Failure(f"column {name!r} is infinite {where}: as a score, a number beyond all others ranks alike")
    return as_scores(floats if kind.is_decimal() else series, f"column {name!r}")
