"""What a model file may hold, looked at before anything of it is unpacked: a small file may stand for gigabytes."""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

_SCHEMA = "schema.json"
_ARRAY = re.compile(r"[0-9]+\.npy")
# The loaders of skops for what `rocmax fit` writes; others would unpack archives of their own.
LOADERS = {"CachedNode", "DictNode", "DTypeNode", "JsonNode", "ListNode", "NdArrayNode", "ObjectNode", "SliceNode"}
LOADERS |= {"TupleNode", "TypeNode"}
# Bytes that any model may have, and how often more than its file: names in a schema are a twentieth of it, and compress
# less than the rest; numbers hardly do.
_ANY, _OF_SCHEMA, _OF_ARRAYS = 1 << 22, 40, 16


def compact(data: bytes) -> bytes:
    """Return a file of skops without the blanks in its schema, which are most of it, compressed."""
    made = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(made, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, json.dumps(json.loads(part), separators=(",", ":")) if name == _SCHEMA else part)
    return made.getvalue()


def schema_of(data: bytes) -> dict[str, Any]:
    """Return the schema of a model file, or raise ValueError where its parts are larger than those of a model."""
    with ZipFile(BytesIO(data)) as file:
        sizes = {part.filename: part.file_size for part in file.infolist()}
        if len(sizes) < len(file.infolist()) or not all(name == _SCHEMA or _ARRAY.fullmatch(name) for name in sizes):
            raise ValueError("it holds parts that no model has")
        if any(part.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for part in file.infolist()):
            raise ValueError("it is compressed in a way that is not known")
        _require(_SCHEMA, sizes.get(_SCHEMA, 0), len(data), _OF_SCHEMA)
        _require("its arrays", sum(sizes.values()) - sizes.get(_SCHEMA, 0), len(data), _OF_ARRAYS)
        text = file.read(_SCHEMA)
        if sum(map(text.count, (b"[", b"{", b","))) > len(text) // 12 + 1000:  # of what is written a twentieth
            raise ValueError(f"{_SCHEMA} has more nodes than a model")
        schema: dict[str, Any] = json.loads(text)
    return schema


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a schema."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def check_arrays(data: bytes, schema: Any) -> None:
    """Raise ValueError unless the arrays that a schema names are as large as they say, and no larger than allowed."""
    named = [node["file"] for node in nodes_of(schema) if "file" in node and "__loader__" in node]
    with ZipFile(BytesIO(data)) as file:
        _require("its arrays", sum(file.getinfo(name).file_size for name in named), len(data), _OF_ARRAYS)
        for name in {*named}:
            with file.open(name) as part:
                _check_array(name, part, file.getinfo(name).file_size)


def _require(what: str, size: int, n_bytes: int, times: int) -> None:
    if size > _ANY + times * n_bytes:
        raise ValueError(f"{what} would take {size:,} bytes, of a file of {n_bytes:,}: no model needs that")


def _check_array(name: str, part: Any, size: int) -> None:
    """Raise ValueError unless the header of an array says as many bytes as there are."""
    version = np.lib.format.read_magic(part)
    if version != (1, 0):
        raise ValueError(f"{name} has a header that is not known")
    shape, _, dtype = np.lib.format.read_array_header_1_0(part)
    n = 1
    for length in shape:
        n *= length
    if dtype.hasobject or min(shape, default=0) < 0 or part.tell() + n * dtype.itemsize != size:
        raise ValueError(f"{name} is cut short, or no array of numbers")
