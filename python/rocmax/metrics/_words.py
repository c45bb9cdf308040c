"""Numbers, names and tables as people read them: the only place that decides on digits and words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from rocmax._parameters import check_choice, shown
from rocmax._typing import Style

_DECIMALS = 3
#: Places of a number with unknown error: three decimals, or two significant digits if these are more.
UNKNOWN = -_DECIMALS
_IN_ERRORS = 4.0  # the width of a 95 % interval, nearly
_NOISE = 1e-12  # what rounding leaves of 0 and of 1
_MOST_ZEROS = 5  # of 0 itself
_LEAST_FIXED = 1e-4  # smaller numbers are written with an exponent
MOST_ROWS = 60  # of a table that is printed
MOST_NAMED = 20  # things that a sentence lists
_MEASURED = (
    *("estimate", "difference", "standard_error", "ci_", "tpr", "fpr", "low", "high"),
    *("specificity", "ppv", "npv", "accuracy", "predicted_positive"),
)


class Rate(NamedTuple):
    """A rate in the words of a style, and what becomes of its numbers: ``zero + slope * number``."""

    name: str = ""
    at: str = ""  # with a number, if that is not behind the name
    zero: float = 0.0
    slope: float = 1.0
    unit: str = ""

    def of(self, *numbers: float) -> str:
        """Return the rate at a number, or between two, such as "FPR 0-0.05"."""
        ends = sorted(self.zero + self.slope * number for number in numbers)
        scale = 100.0 if self.unit else 1.0
        text = "-".join(f"{scale * end:g}" for end in ends) + self.unit
        return self.at.format(text) if self.at else f"{self.name} {text}".lstrip()

    @property
    def change(self) -> "Rate":
        """A difference of such rates."""
        return self._replace(zero=0.0, unit=self.unit and " percentage points")


class Notation(NamedTuple):
    """How a number is written: its decimals, as :func:`digits` takes them, and its words and unit."""

    places: int | None
    rate: Rate


_PLAIN, _PERCENT = Rate(), Rate(unit=" %")
#: How each style names rates; the others have their own names, in capitals if they are short.
_STYLES: dict[str, dict[str, Rate]] = {
    "rates": {},
    "clinical": {
        "tpr": _PERCENT._replace(name="sensitivity"),
        "fpr": Rate("specificity", zero=1.0, slope=-1.0, unit=" %"),
    },
    "alerts": {
        "tpr": _PERCENT._replace(name="share caught", at="{} caught"),
        "fpr": Rate("false alerts", "{} false alerts"),
        "ppv": _PERCENT._replace(name="precision"),
    },
}
STYLES = tuple(_STYLES)
_CRITERIA = {
    "clinical": {"TPR - FPR": "sensitivity + specificity - 1", "lowest FPR": "highest specificity"},
    "alerts": {"TPR - FPR": "share caught - FPR", "lowest FPR": "fewest false alerts", "TPR": "share caught"},
}
_LEAST_PLACES, _MOST_PLACES = 2, 4  # of shares in the tables of papers
_HIDDEN = ("measure", "standard_error", "method", "weight_kind", "statistic", "df", "share")
_HEADS = {
    "pvalue": "p",
    "pvalue_adjusted": "adjusted p",
    "pvalue_null": "p of the null value",
    "pvalue_difference": "adjusted p of the difference",
    "n_pos": "positives",
    "n_neg": "negatives",
    "TPR": "sensitivity",
}
_RATIOS = {"lr_positive": Rate("LR+"), "lr_negative": Rate("LR-")}
_RATES = ("tpr", "fpr", "specificity", "ppv", "npv", *_RATIOS)
_UNBOUNDED = (*_RATIOS, "threshold")
_SPOKEN: ContextVar[tuple[Style, float, bool]] = ContextVar("spoken", default=("rates", math.nan, False))


@contextmanager
def spoken(style: Style, n_neg: Any = None, percent: bool = True) -> Iterator[None]:
    """Say all numbers of the block in a style; `n_neg` negatives turn an FPR into false alerts."""
    check_choice("style", style, STYLES)
    known = n_neg if isinstance(n_neg, (int, float)) else math.nan
    before = _SPOKEN.set((style, known, percent and style != "rates"))
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def style() -> Style:
    """Return the style that results speak."""
    return _SPOKEN.get()[0]


def rate(name: str) -> Rate:
    """Return a rate, such as "fpr", in the words of the style; "" is a number that is no rate."""
    now, n_neg, percent = _SPOKEN.get()
    usual = Rate(name.upper() if len(name) == 3 else name.replace("_", " "), unit=" %" if name else "")
    found = (_STYLES[now] | _RATIOS).get(name, usual)
    if found.name == "false alerts":
        found = usual if math.isnan(n_neg) else found._replace(slope=n_neg)
    return found if percent else found._replace(unit="")


def criterion(text: str) -> str:
    """Return in the words of the style how a threshold is chosen."""
    for rates, own in {**_CRITERIA.get(style(), {}), "TPR": rate("tpr").name}.items():
        text = text.replace(rates, own)
    return text


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


def numbered(kind: str, name: Any) -> str:
    """Return a name as text, one that is a number alone with what it is the number of, such as "modality 1"."""
    text = label_text(name)
    return f"{kind} {text}" if text.replace(".", "").isdigit() else text


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


def digits(value: Any, places: int | Notation | None = UNKNOWN, sign: str = "") -> str:
    """Return a number with so many decimals, or with four digits; "not available" for NaN and None.

    A number that is not 0 is not written as 0, nor one below 1 as 1: it gets two significant digits.
    """
    if value is None or math.isnan(value):
        return "not available"
    if isinstance(places, Notation):
        places, of = places
        value = of.zero + of.slope * value
        if not of.unit:
            return digits(value, 0 if abs(of.slope) > 1 else places, sign)
        text = digits(value, places, sign)
        return f"{Decimal(text).scaleb(2) if value else Decimal(0):{sign}f}{of.unit}"
    if places is None or math.isinf(value) or abs(value) >= 1e6:
        return f"{value:{sign}.4g}"
    size, shown_places = abs(value), abs(places)
    if (size == 0 or abs(1.0 - size) <= _NOISE) and shown_places > _MOST_ZEROS:
        return f"{value:{sign}.0f}" if size else "0"
    if size > _NOISE:
        least = _two_digits(size)
        few = least > -places if places < 0 else size < 0.5 * 10.0**-places  # fewer than two digits, or none of them
        shown_places = least if few else shown_places
        mantissa = shown_places - least + 1
        if size < _LEAST_FIXED and mantissa > 0:
            return f"{value:{sign}.{mantissa}e}"
    if _NOISE < 1.0 - size < (1.0 if places < 0 else 0.5) * 10.0**-shown_places:
        shown_places = _two_digits(1.0 - size)
    text = f"{value:{sign}.{shown_places}f}"
    return text.replace("-", sign if sign == "+" else "", 1) if float(text) == 0 else text


def _two_digits(size: float) -> int:
    """Return how many decimals show two digits of a number that is not 0."""
    return 1 - math.floor(math.log10(size))


def _together(values: Any, places: int | Notation | None, sign: str = "") -> list[str]:
    """Return limits, the lower one first, and what stands beside them; 0 has no decimals next to an exponent."""
    low, high, *others = values
    of = places.rate if isinstance(places, Notation) else _PLAIN
    values = [low, high, *others] if of.slope > 0 else [high, low, *others]
    found = [digits(value, places, sign).removesuffix(of.unit) for value in values]
    small = any("e-" in text for text in found)
    return ["0" if small and value == 0 else text for value, text in zip(values, found, strict=True)]


def named(name: str, text: str) -> str:
    """Return a name and its number, with "=" between them if the name ends in a number."""
    return f"{name} = {text}" if name[-1:].isdigit() or name.endswith("%") else f"{name} {text}"


def ends(interval: Any, places: int | Notation | None = UNKNOWN) -> str:
    """Return the ends of an interval as text has them, "0.630-0.830" or "-0.123 to 0.015"."""
    low, high = _together(interval, places)
    if low == high == digits(None):
        return f"interval {low}"
    return f"{low}-{high}" if (low + high).replace(".", "").isdigit() else f"{low} to {high}"


def with_ends(estimate: Any, interval: Any, places: int | Notation | None = UNKNOWN) -> str:
    """Return an estimate with its interval as text has them, "0.730 (0.630-0.830)"."""
    return digits(estimate, places) if interval is None else f"{digits(estimate, places)} ({ends(interval, places)})"


def bracketed(estimate: Any, interval: Any, places: int | Notation | None = UNKNOWN, sign: str = "") -> str:
    """Return an estimate with its interval as tables have them, "0.730 [0.630, 0.830]"."""
    if interval is None or math.isnan(interval[0]):
        return digits(estimate, places, sign)
    low, high, middle = _together((*interval, estimate), places, sign)
    return f"{middle}{places.rate.unit if isinstance(places, Notation) else ''} [{low}, {high}]"


def level(confidence: float) -> str:
    """Return "95 % CI"."""
    return f"{100 * confidence:.12g} % CI"


def confident(confidence: float, interval: Any, places: int | Notation | None = UNKNOWN) -> str:
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


def p_digits(pvalue: Any, least: int = 2) -> str:
    """Return a p-value with three decimals, or from 0.1 on with at least so many; the cells of a table have three."""
    if pvalue is None or math.isnan(pvalue):
        return "not available"
    return "< 0.001" if pvalue < 0.001 else f"{pvalue:.{3 if pvalue < 0.1 else least}f}"


def against(alternative: str, null: float, margin: float | None, of: Rate = _PLAIN) -> str:
    """Return the hypothesis of a test in words."""
    value, within = of.of(null) if null or of.zero else "0", of.change._replace(slope=abs(of.slope)).of(margin or 0.0)
    if alternative == "equivalence":
        return f"test of equivalence within {within} of {value}, two one-sided tests of Schuirmann 1987"
    if alternative == "non-inferiority":
        return f"one-sided test of non-inferiority{f' to {value}' if null else ''}, margin {within}"
    if alternative == "two-sided":
        return "two-sided test" + (f" against {value}" if null else "")
    greater = (alternative == "greater") == (of.slope > 0)
    return f"one-sided test, {'greater' if greater else 'less'} than {value}"


def alike(values: Sequence[float], places: Sequence[int | Notation | None], sign: str = "") -> list[str]:
    """Return the numbers of a column, all but those with an exponent with as many decimals; NaN is empty."""
    units = [of.rate.unit if isinstance(of, Notation) else "" for of in places]
    pairs = list(zip(values, places, strict=True))
    texts = ["" if math.isnan(value) else digits(value, of, sign) for value, of in pairs]
    bare = [text.removesuffix(unit) for text, unit in zip(texts, units, strict=True)]
    fixed = [k for k, text in enumerate(bare) if text and "e" not in text and math.isfinite(values[k])]
    most, small = max((len(bare[k].partition(".")[2]) for k in fixed), default=0), any("e-" in text for text in bare)
    for k in fixed:
        value, of = pairs[k]
        wanted = of._replace(places=most + 2 * bool(units[k])) if isinstance(of, Notation) else most
        texts[k] = "0" if small and value == 0 else digits(value, wanted, sign)
    return texts


def beside(
    estimates: Sequence[float], limits: Sequence[Any], places: Sequence[int | Notation | None], sign: str = ""
) -> list[str]:
    """Return a column of estimates with their intervals, "0.730 [0.630, 0.830]", all with as many decimals."""
    both = [(math.nan, math.nan) if ends is None else ends for ends in limits]
    texts = alike([*estimates, *(low for low, _ in both), *(high for _, high in both)], [*places] * 3, sign)
    n, cells_of = len(both), []
    for k, of in enumerate(places):
        middle, *ends_of = texts[k::n]
        rate_of = of.rate if isinstance(of, Notation) else _PLAIN
        low, high = (text.removesuffix(rate_of.unit) for text in ends_of[:: 1 if rate_of.slope > 0 else -1])
        cells_of.append(f"{middle} [{low}, {high}]" if low else middle)
    return cells_of


def text_table(rows: Sequence[Mapping[str, Any]], bounded: bool = True) -> list[str]:
    """Return the first rows of a table as lines of plain text: names to the left, numbers to the right.

    What is measured has one number of decimals (`bounded` as in :func:`decimals`), every other column its own.
    """
    kept = rows[:MOST_ROWS]
    ends_of = [(row["ci_low"], row["ci_high"]) if "ci_low" in row else None for row in kept]
    places = [decimals(row.get("standard_error"), bounded, both) for row, both in zip(kept, ends_of, strict=True)]
    columns = {name: [row[name] for row in kept] for name in rows[0]}
    numbers = [name for name, of in columns.items() if all(isinstance(one, (float, np.floating)) for one in of)]
    measured = [name for name in numbers if name.startswith(_MEASURED)]
    flat = iter(alike([value for name in measured for value in columns[name]], places * len(measured)))
    padded = []
    for name, every in columns.items():
        whole = name not in numbers or all(one.is_integer() or math.isnan(one) for one in every)
        if name in measured:
            texts = [next(flat) for _ in every]
        elif whole or name.startswith("pvalue"):
            texts = [_cell(name, value) for value in every]
        else:
            texts = alike(every, [None] * len(every))
        side, width = "<" if isinstance(every[0], str) else ">", max(map(len, (name, *texts)))
        padded.append([f"{text:{side}{width}}" for text in (name, *texts)])
    more = [f"and {len(rows) - MOST_ROWS:,} more rows: to_frame() has all"] if len(rows) > MOST_ROWS else []
    return [*("  ".join(line).rstrip() for line in zip(*padded, strict=True)), *more]


def _cell(name: str, value: Any) -> str:
    if value is None or (isinstance(value, str) and not value):
        return ""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return label_text(value)
    if name.startswith("pvalue"):
        return "" if math.isnan(value) else p_digits(value, 3)
    return "" if math.isnan(value) else f"{value:,.0f}" if math.isfinite(value) else str(value)


def journal(
    rows: Sequence[Mapping[str, Any]], measure: str, confidence: float | None, is_share: bool = True, as_rate: str = ""
) -> list[dict[str, str]]:
    """Return the rows of a table as text, with `name`, `name_low` and `name_high` in one cell.

    All numbers of a column have two decimals, or as many as show one digit of a quarter of the narrowest interval.
    """
    renamed = [_renamed(row) for row in rows]
    columns: dict[str, list[str]] = {}
    for name in renamed[0]:
        if name in _HIDDEN or name.endswith(("_low", "_high")):
            continue
        values = [(row[name], row.get(f"{name}_low"), row.get(f"{name}_high")) for row in renamed]
        widths = [high - low for _, low, high in values if low is not None and math.isfinite(high - low) and high > low]
        needed = -math.floor(math.log10(min(widths) / 4)) if widths else _LEAST_PLACES  # of one digit of an error
        places = min(max(needed, _LEAST_PLACES if is_share and name not in _UNBOUNDED else 0), _MOST_PLACES)
        of = rate(as_rate if name in ("estimate", "difference") else name if name in _RATES else "")
        form = Notation(places, of.change if name == "difference" else of)
        cells = [_journal_cell(name, *value, form) for value in values]
        if any(cells):
            own = of.name if name in _RATES else name
            head = measure if name == "estimate" else _HEADS.get(own, own)
            with_ends = f"{name}_low" in renamed[0] and confidence is not None
            columns[f"{head} ({level(confidence)})" if with_ends and confidence is not None else head] = cells
    if all(row.get("pvalue_adjusted") == row.get("pvalue") for row in renamed):
        columns.pop("adjusted p", None)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with limits named after their number, and with both models in one column."""
    of = "estimate" if "estimate" in row else "difference"
    ends = {"ci_low": f"{of}_low", "ci_high": f"{of}_high"}
    found = {ends.get(name, name): value for name, value in row.items()}
    if "model_a" in found:
        pair = {"comparison": f"{found.pop('model_a')} - {found.pop('model_b')}"}
        both = found.pop("estimate_a"), found.pop("estimate_b")
        named = {name: found.pop(name) for name in ("subgroup",) if name in found}
        found = named | pair | {"estimate": both} | found
    return found


def _journal_cell(name: str, value: Any, low: Any, high: Any, places: Notation) -> str:
    if isinstance(value, tuple):
        return " vs ".join(digits(one, places) for one in value)
    if value is None or isinstance(value, str):
        return "" if value is None else label_text(value)
    if math.isnan(value):
        return ""
    if name.startswith("pvalue"):
        return p_digits(value)
    if name.startswith(("n_", "alerts", "caught")):
        return count(value)
    if low is None:
        return digits(value, places) if name in ("estimate", "difference") else f"{value:.6g}"
    return digits(value, places) + ("" if math.isnan(low) else f" ({ends((low, high), places)})")
