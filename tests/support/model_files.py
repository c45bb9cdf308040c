"""Model files taken apart, changed and written again."""

import json
import zipfile
from pathlib import Path
from typing import Any

VALUES: list[Any] = [None, True, 0, -1, 10**20, 1.5, "", "x", "NaN", "1e999", [], {}, [1], {"a": 1}, "null", "[1, 2]"]


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all nodes of a JSON document."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path] + [place for key, child in children for place in places(child, (*path, key))]


def changed(document: Any, place: tuple[Any, ...], value: Any, *, delete: bool) -> Any:
    copy = json.loads(json.dumps(document))
    if not place:
        return value
    node = copy
    for key in place[:-1]:
        node = node[key]
    if delete:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    return copy
