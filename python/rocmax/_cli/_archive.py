"""What a model file may hold, checked before any of it is unpacked: a small file may stand for gigabytes."""

import json
import math
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
# Bytes that any model may take, and the most per byte of its file: schemas are mostly blanks, which compress about
# thirty times; numbers hardly compress.
_ANY, _OF_SCHEMA, _OF_ARRAYS = 1 << 22, 100, 16


def require(holds: Any, problem: str) -> None:
    """Raise ValueError with what is wrong with a model file unless `holds`."""
    if not holds:
        raise ValueError(problem)


def schema_of(data: bytes) -> dict[str, Any]:
    """Return the schema of a model file, or raise ValueError if its parts are larger than those of a model."""
    with ZipFile(BytesIO(data)) as file:
        sizes = {part.filename: part.file_size for part in file.infolist()}
        known = len(sizes) == len(file.infolist()) and all(name == _SCHEMA or _ARRAY.fullmatch(name) for name in sizes)
        require(known, "it holds parts that no model has")
        kinds = {part.compress_type for part in file.infolist()}
        require(kinds <= {ZIP_STORED, ZIP_DEFLATED}, "it is compressed in an unknown way")
        _require_size(_SCHEMA, sizes.get(_SCHEMA, 0), len(data), _OF_SCHEMA)
        _require_size("its arrays", sum(sizes.values()) - sizes.get(_SCHEMA, 0), len(data), _OF_ARRAYS)
        text = file.read(_SCHEMA)
        nodes = sum(map(text.count, (b"[", b"{", b",")))  # a fiftieth of the text in our models
        require(nodes <= len(text) // 12 + 1000, f"{_SCHEMA} has more nodes than a model")
    return dict(json.loads(text))


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
    """Raise ValueError unless the arrays of a schema are as large as their headers say, and no larger than allowed."""
    named = [node["file"] for node in nodes_of(schema) if "file" in node and "__loader__" in node]
    with ZipFile(BytesIO(data)) as file:
        _require_size("its arrays", sum(file.getinfo(name).file_size for name in named), len(data), _OF_ARRAYS)
        for name in {*named}:
            with file.open(name) as part:
                _check_array(name, part, file.getinfo(name).file_size)


def _require_size(what: str, size: int, n_bytes: int, times: int) -> None:
    fits = size <= _ANY + times * n_bytes
    require(fits, f"{what} would take {size:,} bytes, of a file of {n_bytes:,}: no model needs that")


def _check_array(name: str, part: Any, size: int) -> None:
    """Raise ValueError unless the header of an array gives as many bytes as there are."""
    require(np.lib.format.read_magic(part) == (1, 0), f"{name} has an unknown header")
    shape, _, dtype = np.lib.format.read_array_header_1_0(part)
    whole = part.tell() + math.prod(shape) * dtype.itemsize == size
    whole &= min(shape, default=0) >= 0 and not dtype.hasobject
    require(whole, f"{name} is cut short, or no array of numbers")
