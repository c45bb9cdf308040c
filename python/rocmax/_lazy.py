"""Public names of a package that are imported when they are first used: SciPy and scikit-learn take seconds."""

import dis
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# One thread imports at a time: modules that import each other's package, first used by several threads at once, would
# see each other half made. A thread that waits this long goes on: the other may wait for a module of this one.
_IMPORTS, _SECONDS = threading.RLock(), 10.0


def public_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package from the imports in `_public`, read and not run."""
    spec: Any = find_spec(f"{package}._public")
    places: dict[str, str] = {}
    module = ""
    for step in dis.get_instructions(spec.loader.get_code(spec.name)):
        if step.opname == "IMPORT_NAME":
            module = step.argval
        elif step.opname == "IMPORT_FROM":
            places[step.argval] = module
    names = sorted(places)

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        alone = _IMPORTS.acquire(timeout=_SECONDS)
        try:
            if places[name] == package:
                return import_module(f"{package}.{name}")
            from rocmax._parameters import helpful  # NumPy takes a while to import

            value = helpful(getattr(import_module(places[name]), name))
            setattr(sys.modules[package], name, value)
            return value
        finally:
            if alone:
                _IMPORTS.release()

    return names, find, lambda: names
