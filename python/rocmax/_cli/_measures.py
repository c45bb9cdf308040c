"""Measures as the command line names them: ``bedroc``, ``tpr_at_fpr:0.01``, ``mine.py:Lift``, ``package:lift(0.1)``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rocmax._parameters import meant
from rocmax.metrics import Measure
from rocmax.metrics.measures import NAMED, as_measure

HELP = (
    "also report this measure with its interval: a name such as bedroc, with its option after a colon"
    " (tpr_at_fpr:0.01), or your own, such as mine.py:Lift or package.module:Lift(0.1)"
)


def measure(text: str) -> Measure:
    """Return the measure that a text names."""
    name, _, rest = text.partition(":")
    try:
        if kind := NAMED.get(name):
            return kind(*map(_option, filter(None, rest.split(",")))) if rest else _usual(name, kind)
        if rest:
            return _own(name, rest)
        raise ModuleNotFoundError("unknown measure")
    except ModuleNotFoundError as error:
        known = f"measures are {', '.join(NAMED)}, or FILE.py:NAME{meant(name, NAMED)}"
        raise argparse.ArgumentTypeError(f"{text}: {error}; {known}") from None
    except (ValueError, TypeError, ImportError, OSError, AttributeError, NameError, SyntaxError) as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


def _usual(name: str, kind: Callable[..., Measure]) -> Measure:
    """Return a measure without options."""
    try:
        return kind()
    except TypeError:
        raise ValueError(f"needs its option after a colon, such as {name}:0.1") from None


def _option(text: str) -> Any:
    """Return an option of a measure: a number if it is one, else a text."""
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text.strip()


def _own(module: str, expression: str) -> Measure:
    """Return the user's measure in a file or module: a class, an instance, or a function of labels and scores."""
    if module.endswith(".py"):
        spec = spec_from_file_location(Path(module).stem, module)
        assert spec is not None and spec.loader is not None
        found = module_from_spec(spec)
        sys.modules[spec.name] = found  # where dataclasses look for it
        spec.loader.exec_module(found)
    else:
        found = import_module(module)
    value = eval(expression, vars(found))
    if isinstance(value, type) and issubclass(value, Measure):
        value = value()
    return Measure.of(value) if callable(value) and not isinstance(value, Measure) else as_measure(value)


def chosen(requested: Sequence[Measure], usual: Sequence[Measure]) -> list[Measure]:
    """Return the usual and the requested measures, each once."""
    return list(dict.fromkeys([*usual, *requested]))
