"""The values of options: what a text stands for, or what is wrong with it."""

import argparse
from decimal import Decimal

_RATES = ("fpr", "sensitivity", "specificity")  # cutoffs may be named by


def fpr_range(values: list[float]) -> tuple[float, float]:
    low, high = values
    if not 0 <= low < high <= 1:
        raise ValueError("need 0 <= LOW < HIGH <= 1")
    return low, high


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: need a number") from None


def level(text: str) -> float:
    value = number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text}: need a number between 0 and 1")
    return value


def positive(text: str) -> float:
    value = number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: need a number above 0")
    return value


def seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text}: need a whole number from 0 to 2**32 - 1")
    return int(text)


def two_at_least(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text}: need a whole number of at least 2")
    return int(text)


def count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: need a whole number of at least 0")
    return int(text)


def separator(text: str) -> str:
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1 or not character.isascii() or character in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r}: need one character, such as ; or |, or the word tab")
    return character


def cutoff(text: str) -> float | str | tuple[str, float]:
    """Return a threshold, or the rule that chooses one, as `operating_point` takes it."""
    name, equals, number = text.partition("=")
    try:
        if not equals:
            return name if name in ("youden", "closest", "eer", "midpoint") else finite(name)
        if name == "alerts":
            return alerts(number)
        value = finite(number) if name == "cost" else rate(number)
        if (name == "cost" and value > 0) or (name in _RATES and 0 <= value <= 1):
            return name, value
    except (ValueError, argparse.ArgumentTypeError):
        pass
    raise argparse.ArgumentTypeError(
        f"{text}: need fpr=RATE, sensitivity=RATE, specificity=RATE, alerts=N, cost=RATIO, youden, closest, eer, "
        "midpoint or a score"
    )


def alerts(text: str) -> tuple[str, float]:
    """Return the rule of a budget: a number of rows, or a share of them in percent or below 1."""
    try:
        value = rate(text)
    except argparse.ArgumentTypeError:
        value = 0.0
    if not (0 < value < 1 or (value >= 1 and value.is_integer() and not text.endswith("%"))):
        raise argparse.ArgumentTypeError(f"{text}: need a number of rows, such as 500, or a share, such as 5%")
    return "alerts", value


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
