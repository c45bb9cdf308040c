"""Numbers, names and tables as people read them: the only place that decides on digits and words."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from rocmax._parameters import shown

_DECIMALS = 3
#: Places of a number with unknown error: three decimals, or two significant digits if these are more.
UNKNOWN = -_DECIMALS
_IN_ERRORS = 4.0  # the width of a 95 % interval, nearly
_NOISE = 1e-12  # what rounding leaves of 0 and of 1
_MOST_ZEROS = 5  # of 0 itself
_LEAST_FIXED = 1e-4  # smaller numbers are written with an exponent
MOST_ROWS = 60  # of a table that is printed
MOST_NAMED = 20  # things that a sentence lists
_SHARES = ("specificity", "ppv", "npv", "accuracy", "predicted_positive")


def samples(n_pos: float, n_neg: float, pos_label: Any = 1) -> str:
    """Return the numbers of samples in words, with the positive label if it is not 1."""
    usual = pos_label is None or (isinstance(pos_label, (bool, int, float, np.generic)) and bool(pos_label == 1))
    named = "" if usual else f" ({label_text(pos_label)})"
    return f"{count(n_pos)} positive{named}, {count(n_neg)} negative samples"


def weighted(of: Any, counted: str) -> str:
    """Return the samples of a result in words, with the kind of their weights if they have any."""
    if of.weight_kind is None:
        return counted
    if of.weight_kind == "planned":
        return f"{counted}, estimated from {count(of.n_samples)} labels"
    rows = "" if of.n_samples is None else f" in {count(of.n_samples)} rows"
    return f"{of.weight_kind} weights: {counted}{rows}"


def exceptions(of: Any) -> str:
    """Return in words which models have low scores for positives, and how many samples were left out."""
    higher, names = of.higher_is_better, getattr(of, "names", None)
    text = ""
    if higher is False:
        text = "; low scores are for positives"
    elif higher is not True:
        listed = [label_text(names[k]) if names else f"model {k + 1}" for k, high in enumerate(higher) if not high]
        text = f"; low scores of {listing(listed)} are for positives"
    return text + (f"; {count(of.n_dropped)} dropped with missing values" if of.n_dropped else "")


def listing(texts: Sequence[str], between: str = ", ") -> str:
    """Return texts side by side; of many the first, and the number of the others."""
    others = len(texts) - MOST_NAMED
    return between.join([*texts[:MOST_NAMED], f"and {others:,} more"] if others > 0 else texts)


def percent(share: float) -> str:
    """Return a share in percent: with one decimal, or two significant digits of a small share or a small rest."""
    small = 100 * min(share, 1 - share)
    places = max(1, _two_digits(small)) if small > _NOISE else 1
    return f"{100 * share:.1e} %" if 0 < 100 * share < _LEAST_FIXED else f"{100 * share:.{places}f} %"


def label_text(label: Any) -> str:
    """Return a label or a name as text, on one line and not too long, a date as "2024-03-01", blanks in quotes."""
    if isinstance(label, (np.datetime64, datetime)) and getattr(label, "tzinfo", None) is None:
        label = str(np.datetime_as_string(np.datetime64(label), unit="auto"))
    elif hasattr(label, "item"):
        label = label.item()
    try:
        text = str(label)
    except ValueError:  # of integers of more digits than Python prints
        text = shown(label)
    return " ".join(text.split())[:80] or shown(label)


def count(number: float) -> str:
    """Return a number of samples, or what their weights add up to."""
    return f"{round(number):,}" if number == round(number) and abs(number) < 1e15 else f"{number:,.4g}"


def decimals(error: Any, bounded: bool = True, interval: Any = None) -> int | None:
    """Return how many decimals show two digits of an error, or of a far wider interval; None for four digits."""
    if interval is not None and error != 0:
        width = float(interval[1] - interval[0])
        usual = error if isinstance(error, (int, float)) and math.isfinite(error) else 0.0
        error = width / _IN_ERRORS if width > 2.5 * _IN_ERRORS * usual else error
    known = isinstance(error, (int, float)) and math.isfinite(error) and error > 0
    if not known:
        return UNKNOWN if bounded else None
    needed = 1 - math.floor(math.log10(error))
    return min(max(needed, _DECIMALS), 8) if bounded else needed if 0 <= needed <= 8 else None


def digits(value: Any, places: int | None = UNKNOWN, sign: str = "") -> str:
    """Return a number with so many decimals, or with two digits if it would be written as 0 or 1."""
    if value is None or math.isnan(value):
        return "not available"
    if places is None or math.isinf(value) or abs(value) >= 1e6:
        return f"{value:{sign}.4g}"
    size, shown_places = abs(value), abs(places)
    if (size == 0 or abs(1.0 - size) <= _NOISE) and shown_places > _MOST_ZEROS:
        return f"{value:{sign}.0f}" if size else "0"
    if size > _NOISE:
        least = _two_digits(size)
        shown_places = least if _few(size, places) else shown_places
        mantissa = shown_places - least + 1
        if size < _LEAST_FIXED and mantissa > 0:
            return f"{value:{sign}.{mantissa}e}"
    if _NOISE < 1.0 - size < (1.0 if places < 0 else 0.5) * 10.0**-shown_places:
        shown_places = _two_digits(1.0 - size)
    text = f"{value:{sign}.{shown_places}f}"
    return text.replace("-", sign if sign == "+" else "", 1) if float(text) == 0 else text


def decimals_of(values: Any, least: int) -> int:
    """Return how many decimals a column has in which the smallest number has so many digits."""
    sizes = [abs(float(value)) for value in values if math.isfinite(value) and abs(value) > _NOISE]
    return max(0, least - 1 - math.floor(math.log10(max(min(sizes, default=1.0), _LEAST_FIXED))))


def _two_digits(size: float) -> int:
    """Return how many decimals show two digits of a number that is not 0."""
    return 1 - math.floor(math.log10(size))


def _few(size: float, places: int) -> bool:
    """Whether so many decimals show fewer than two digits of a number, or none if its error is known."""
    return _two_digits(size) > -places if places < 0 else size < 0.5 * 10.0**-places


def _together(values: Any, places: int | None, sign: str = "") -> list[str]:
    """Return numbers that stand side by side; 0 has no decimals next to a number with an exponent."""
    found = [digits(value, places, sign) for value in values]
    small = any("e-" in text for text in found)
    return ["0" if small and value == 0 else text for value, text in zip(values, found, strict=True)]


def named(name: str, text: str) -> str:
    """Return a name and its number, with "=" between them if the name ends in a digit."""
    return f"{name} = {text}" if name[-1:].isdigit() else f"{name} {text}"


def ends(interval: Any, places: int | None = UNKNOWN) -> str:
    """Return the ends of an interval as text has them, "0.630-0.830" or "-0.123 to 0.015"."""
    low, high = _together(interval, places)
    if low == high == digits(None):
        return f"interval {low}"
    return f"{low}-{high}" if (low + high).replace(".", "").isdigit() else f"{low} to {high}"


def with_ends(estimate: Any, interval: Any, places: int | None = UNKNOWN) -> str:
    """Return an estimate with its interval as text has them, "0.730 (0.630-0.830)"."""
    return digits(estimate, places) if interval is None else f"{digits(estimate, places)} ({ends(interval, places)})"


def bracketed(estimate: Any, interval: Any, places: int | None = UNKNOWN, sign: str = "") -> str:
    """Return an estimate with its interval as tables have them, "0.730 [0.630, 0.830]"."""
    if interval is None or math.isnan(interval[0]):
        return digits(estimate, places, sign)
    middle, low, high = _together((estimate, *interval), places, sign)
    return f"{middle} [{low}, {high}]"


def level(confidence: float) -> str:
    """Return "95 % CI"."""
    return f"{100 * confidence:.12g} % CI"


def confident(confidence: float, interval: Any, places: int | None = UNKNOWN) -> str:
    """Return the ends of an interval after its level, "95 % CI 0.630-0.830", or "no 95 % CI"."""
    text = ends(interval, places)
    return f"no {level(confidence)}" if text.startswith("interval") else f"{level(confidence)} {text}"


def p_value(pvalue: Any) -> str:
    """Return "p = 0.015", "p < 0.001"."""
    text = p_digits(pvalue)
    return f"p = {text}" if text[0].isdigit() else f"p {text}"


def f_test(test: Any) -> str:
    """Return the statistic, the degrees of freedom and the p-value of a test."""
    df = f"{test.df:g} and {test.df_denominator:.1f} degrees of freedom"
    return f"F {digits(test.statistic, 2)} with {df}, {p_value(test.pvalue)}"


def p_digits(pvalue: Any) -> str:
    """Return a p-value for the cell of a table."""
    if pvalue is None or math.isnan(pvalue):
        return "not available"
    return "< 0.001" if pvalue < 0.001 else f"{pvalue:.3f}" if pvalue < 0.1 else f"{pvalue:.2f}"


def against(alternative: str, null: float, margin: float | None) -> str:
    """Return the hypothesis of a test in words."""
    if alternative == "equivalence":
        return f"test of equivalence within {margin:g} of {null:g}, two one-sided tests of Schuirmann 1987"
    if alternative == "non-inferiority":
        return f"one-sided test of non-inferiority{f' to {null:g}' if null else ''}, margin {margin:g}"
    sided = {"two-sided": "two-sided test", "less": "one-sided test, less", "greater": "one-sided test, greater"}
    than = f" than {null:g}" if alternative != "two-sided" else f" against {null:g}" if null else ""
    return sided[alternative] + than


def cells(row: Mapping[str, Any], bounded: bool = True) -> dict[str, str]:
    """Return the row of a table as texts for people; `bounded` as in :func:`decimals`."""
    ends_of = (row["ci_low"], row["ci_high"]) if "ci_low" in row and "standard_error" in row else None
    places = decimals(row.get("standard_error"), bounded, ends_of)
    return {name: _cell(name, value, places) for name, value in row.items()}


def _cell(name: str, value: Any, places: int | None) -> str:
    if value is None or (isinstance(value, str) and not value):
        return ""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return label_text(value)
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if math.isnan(value):
        return ""
    if name.startswith("pvalue"):
        return p_digits(value)
    measured = ("estimate", "difference", "standard_error", "ci_", "tpr", "fpr", "low", "high", *_SHARES)
    return digits(float(value), places) if name.startswith(measured) else f"{value:,.4g}"


def text_table(rows: Sequence[Mapping[str, Any]], bounded: bool = True) -> list[str]:
    """Return the first rows of a table as lines of plain text: names to the left, numbers to the right."""
    names = list(rows[0])
    shown_rows = [cells(row, bounded) for row in rows[:MOST_ROWS]]
    left = {name for name in names if isinstance(rows[0][name], str)}
    width = {name: max(len(name), *(len(row[name]) for row in shown_rows)) for name in names}

    def line(texts: Mapping[str, str]) -> str:
        return "  ".join(
            f"{texts[name]:<{width[name]}}" if name in left else f"{texts[name]:>{width[name]}}" for name in names
        ).rstrip()

    more = [f"and {len(rows) - MOST_ROWS:,} more rows: to_frame() has all"] if len(rows) > MOST_ROWS else []
    return [line(dict(zip(names, names, strict=True))), *(line(row) for row in shown_rows), *more]
