"""How csv is written: encoding, lines above the header, and rows that are damaged."""

import bz2
import csv
import gzip
import lzma
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO, TextIOWrapper
from itertools import islice
from typing import Any, BinaryIO

import polars as pl

from rocmax._cli._numbers import Form
from rocmax._cli._output import Failure
from rocmax._tables._forms import is_number
from rocmax._tables._notes import Note, short

_HEAD = 2**16  # bytes that tell how a file is written
_PACKED: dict[bytes, Callable[[bytes], bytes]] = {b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
_GZIP = b"\x1f\x8b"
QUOTES = "a quotation mark stands inside a value, or is not closed: take it out, or double it and quote the value"


def dialect(source: BinaryIO, magic: bytes, separator: str) -> tuple[BinaryIO, list[str], int, str | None]:
    """Return a source of UTF-8 with line feeds, its first lines, how many are above the header, and its separator."""
    for begin, decompress in _PACKED.items():
        if magic.startswith(begin):
            source = BytesIO(decompress(source.read()))
    packed = magic.startswith(_GZIP)
    head = b""
    with suppress(OSError, EOFError, zlib.error):  # polars says what is wrong with a damaged file
        head = gzip.GzipFile(fileobj=source).read(_HEAD) if packed else source.read(_HEAD)
    source.seek(0)
    encoding = _utf16(head)
    if encoding or (b"\r" in head and b"\n" not in head):
        content = gzip.GzipFile(fileobj=source).read() if packed else source.read()
        content = content.decode(encoding).encode() if encoding else content
        content = content if b"\n" in content else content.replace(b"\r", b"\n")
        source, head = BytesIO(content), content[:_HEAD]
    lines = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines()
    own, skip = None, 0
    if lines and lines[0].lower().startswith("sep=") and len(lines[0]) == 5:
        own, skip = lines[0][4], 1
    separator = own or separator
    while len(lines) > skip + 1 and lines[skip].startswith("#"):
        following = next((line for line in lines[skip + 1 :] if not line.startswith("#")), "")
        if lines[skip].count(separator) == following.count(separator) and separator in following:
            break  # a header such as #id,label
        skip += 1
    return source, lines, skip, own


def _utf16(head: bytes) -> str | None:
    """Return the encoding of a text in UTF-16, by its mark or because every other byte is zero."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(head) > 3 and 2 * head[start::2].count(0) > len(head) // 2 and not head[1 - start :: 2].count(0):
            return encoding
    return None


def refuse_rows(series: pl.Series, k: int, separator: str, width: int) -> None:
    """Fail if a value of the k-th column is many rows, as of an open quote: two lines with numbers in other columns."""
    for text in series.filter(series.str.contains("\n", literal=True)):
        first, *rows, last = (line.split(separator) for line in text.split("\n"))
        counts = len(first), {*map(len, rows)} or {width}, len(last)
        joined = counts == (width - k, {width}, k + 1) and width > 2
        if joined and (rows or any(is_number(value.strip()) for value in (*first[1:], *last[:-1]))):
            what = f"a value of {len(rows) + 2:,} lines, from {short(separator.join(first))!r} on, looks like rows"
            raise Failure(f"{what}: {QUOTES}")


@contextmanager
def _again(source: Any) -> Iterator[Any]:
    """Open a source once more, for the csv module."""
    limit = csv.field_size_limit(2**31 - 1)
    with open(source.name, "rb") if isinstance(source, BufferedReader) else BytesIO(source.getvalue()) as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        try:
            yield TextIOWrapper(gzip.GzipFile(fileobj=raw) if packed else raw, "utf-8", "replace", newline="")
        finally:
            csv.field_size_limit(limit)


def require_closed(source: BinaryIO, separator: str, skip: int) -> None:
    """Fail where a quoted value goes on after a quote: polars would read it up to a quote in a later line."""
    with _again(source) as lines:
        reader = csv.reader(islice(lines, skip, None), delimiter=separator, strict=True)
        try:
            deque(reader, maxlen=0)
        except csv.Error as error:
            if "expected after" in str(error):
                raise Failure(f"line {skip + reader.line_num}: {QUOTES}") from None


def tell_of_short(source: BinaryIO, separator: str, skip: int, width: int, form: Form) -> None:
    """Report rows with too few values: polars takes the others for missing."""
    with _again(source) as lines:
        lacking, quoted, block = 0, False, b""
        for block in iter(lambda: lines.buffer.read(_HEAD), b""):  # in a tenth of the time of the csv module
            lacking += (width - 1) * block.count(b"\n") - block.count(separator.encode())
            quoted |= b'"' in block
        if not quoted and lacking + (0 if block.endswith(b"\n") else width - 1) == 0:
            return
        lines.seek(0)
        n, fact = 0, ""
        for row in (reader := csv.reader(islice(lines, skip, None), delimiter=separator)):
            if len(row) < width and any(map(str.strip, row)) and (any(row[1:]) or row[0][0] != "#"):
                line, n = short(separator.join(row)), n + 1
                fact = fact or f"line {skip + reader.line_num}, {line!r}, has {len(row)} of {width} values"
    if n:
        fact += f", and {n - 1:,} more have too few" if n > 1 else ""
        how = "the others are read as missing; correct it if it is a remark, cut off or lacks a separator"
        form.notes.add(Note("short", f"warning: {fact}: {how}", None, (fact,), n))
