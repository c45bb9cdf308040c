"""Values of options: each function converts a text, or says what is needed instead."""

import argparse
import sys
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from rocmax._cli._output import Misuse
from rocmax._parameters import helpful, meant
from rocmax.metrics import Measure
from rocmax.metrics.measures import NAMED, as_measure

MEASURES = (
    "also report this measure with its interval: a name such as bedroc, with its option after a colon"
    " (tpr_at_fpr:0.01), or your own, such as mine.py:Lift or package.module:Lift(0.1)"
)


def number(domain: str, holds: Callable[[float], bool]) -> Callable[[str], float]:
    """Return the conversion of a text to a number for which `holds` is true; `domain` says so in words."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text}: need a number") from None
        if not holds(value):
            raise argparse.ArgumentTypeError(f"{text}: need a number {domain}")
        return value

    return convert


def whole(domain: str, least: int, most: float = float("inf")) -> Callable[[str], int]:
    """Return the conversion of a text to a whole number from `least` to `most`; `domain` says so in words."""

    def convert(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: need a whole number {domain}")
        return int(text)

    return convert


level = number("between 0 and 1", lambda value: 0 < value < 1)
positive = number("above 0", lambda value: 0 < value < float("inf"))
seed = whole("from 0 to 2**32 - 1", 0, 2**32 - 1)
two_at_least = whole("of at least 2", 2)
count = whole("of at least 0", 0)


def range_of(option: str, low: float, high: float) -> tuple[float, float]:
    if not 0 <= low < high <= 1:
        raise Misuse(f"{option} {low:g} {high:g}: need 0 <= LOW < HIGH <= 1")
    return low, high


def separator(text: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r}: need one character, such as ; or |, or the word tab")
    return character


def mark(text: str) -> str:
    """Return a mark between groups of digits."""
    if len(text) != 1 or text.isalnum() or text in "+-":
        raise argparse.ArgumentTypeError(f"{text!r}: need one mark, such as ' or _ or a blank")
    return text


def cutoff(text: str) -> float | str | tuple[str, float]:
    """Return a threshold, or the rule that chooses one, as `operating_point` takes it."""
    from rocmax.metrics.thresholds._rules import RULES, parse_rule  # scipy takes a while to import

    name, equals, number = text.partition("=")
    with suppress(ValueError, argparse.ArgumentTypeError):
        if name == "alerts" and equals:
            return alerts(number)
        asked = (name, finite(number) if name == "cost" else rate(number)) if equals else name
        return asked if parse_rule(asked) is not None else finite(text)
    raise argparse.ArgumentTypeError(
        f"{text}: need fpr=RATE, sensitivity=RATE, specificity=RATE, precision=SHARE, alerts=N, cost=RATIO, youden, "
        f"closest, f1, eer, midpoint or a score{meant(name, RULES)}"
    )


def alerts(text: str) -> tuple[str, float]:
    """Return the rule for a number of alerts: a count of rows, or a share of them in percent or below 1."""
    try:
        value = rate(text)
    except argparse.ArgumentTypeError:
        value = 0.0
    if not (0 < value < 1 or (value >= 1 and value.is_integer() and not text.endswith("%"))):
        raise argparse.ArgumentTypeError(f"{text}: need a number of rows, such as 500, or a share, such as 5%")
    return "alerts", value


def is_count(at: Any) -> bool:
    """Whether a cutoff is a number of alerts."""
    return isinstance(at, tuple) and at[0] == "alerts" and at[1] >= 1


def finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError("not finite")
    return value


def rate(text: str) -> float:
    """Return a rate, which may be in percent: 5% is 0.05."""
    try:
        return float(Decimal(text[:-1]) / 100) if text.endswith("%") else finite(text)
    except (ValueError, ArithmeticError):
        raise argparse.ArgumentTypeError(f"{text}: need a rate, such as 0.05 or 5%") from None


def measure(text: str) -> Measure:
    """Return the measure that a text names."""
    name, _, rest = text.partition(":")
    try:
        if kind := NAMED.get(name):
            return helpful(kind)(*map(_option, filter(None, rest.split(",")))) if rest else _usual(name, kind)
        if rest:
            return _own(name, rest)
        raise ModuleNotFoundError
    except ModuleNotFoundError as error:
        what = "unknown measure" if error.name in (None, name) else error
        known = f"measures are {', '.join(NAMED)}, or FILE.py:NAME{meant(name, NAMED)}"
        raise argparse.ArgumentTypeError(f"{text}: {what}; {known}") from None
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
