"""Public names of a package that are imported when they are first used: SciPy and scikit-learn take seconds."""

import ast
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# One thread imports at a time: modules that import each other's package, first used by several threads at once, would
# see each other half made. A thread that waits this long goes on: the other may wait for a module of this one.
_IMPORTS, _SECONDS = threading.RLock(), 10.0


def from_stub(package: str, file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package whose public names its `__init__.pyi` imports.

    So a public name is one line, which type checkers read too.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    places = {alias.name: str(node.module) for node in imports for alias in node.names}
    names = sorted(places)

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        alone = _IMPORTS.acquire(timeout=_SECONDS)
        try:
            if places[name] == package:
                return import_module(f"{package}.{name}")
            value = getattr(import_module(places[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        finally:
            if alone:
                _IMPORTS.release()

    return names, find, lambda: names
