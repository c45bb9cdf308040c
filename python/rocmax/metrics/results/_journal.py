"""Tables as papers print them: an estimate and its interval in one cell, "0.81 (0.76-0.86)"."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rocmax.metrics import _words as words

Row = Mapping[str, Any]

_LEAST, _MOST = 2, 4  # decimals of shares
_HIDDEN = ("measure", "standard_error", "method", "weight_kind", "statistic", "df", "share")
_HEADS = {
    "pvalue": "p",
    "pvalue_adjusted": "adjusted p",
    "pvalue_null": "p of the null value",
    "pvalue_difference": "adjusted p of the difference",
    "n_pos": "positives",
    "n_neg": "negatives",
    "tpr": "sensitivity",
    "fpr": "FPR",
    "ppv": "PPV",
    "npv": "NPV",
    "lr_positive": "LR+",
    "lr_negative": "LR-",
}
_RATES = ("tpr", "fpr", "specificity", "ppv", "npv")
_UNBOUNDED = ("lr_positive", "lr_negative", "threshold")


def journal(
    rows: Sequence[Row], measure: str, level: float | None, is_share: bool = True, as_rate: str = ""
) -> list[dict[str, str]]:
    """Return the rows of a table as text, with `name`, `name_low` and `name_high` in one cell.

    An estimate is the rate `as_rate`, in the words of the style, if it is one.

    All numbers of a column have the same number of decimals: two, or as many as show one digit of the smallest standard
    error, taken as a quarter of the interval's width.
    """
    renamed = [_renamed(row) for row in rows]
    columns: dict[str, list[str]] = {}
    for name in renamed[0]:
        if name in _HIDDEN or name.endswith(("_low", "_high")):
            continue
        values = [(row[name], row.get(f"{name}_low"), row.get(f"{name}_high")) for row in renamed]
        widths = [high - low for _, low, high in values if low is not None and math.isfinite(high - low) and high > low]
        places = _places(min(widths) / 4 if widths else None, is_share and name not in _UNBOUNDED)
        of = words.rate(as_rate if name in ("estimate", "difference") else name if name in _RATES else "")
        form = words.Form(places, of.change if name == "difference" else of)
        cells = [_cell(name, *value, form) for value in values]
        if any(cells):
            head = measure if name == "estimate" else _HEADS.get(name, name)
            head = of.name if name in _RATES and words.style() != "rates" else head
            with_ends = f"{name}_low" in renamed[0] and level is not None
            columns[f"{head} ({words.level(level)})" if with_ends and level is not None else head] = cells
    if all(row.get("pvalue_adjusted") == row.get("pvalue") for row in renamed):
        columns.pop("adjusted p", None)
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _renamed(row: Row) -> dict[str, Any]:
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


def _places(error: float | None, is_share: bool) -> int:
    """Return how many decimals show one digit of a standard error."""
    needed = _LEAST if error is None else -math.floor(math.log10(error))
    return min(max(needed, _LEAST if is_share else 0), _MOST)


def _cell(name: str, value: Any, low: Any, high: Any, places: words.Form) -> str:
    if isinstance(value, tuple):
        return " vs ".join(words.digits(one, places) for one in value)
    if value is None or isinstance(value, str):
        return "" if value is None else words.label_text(value)
    if math.isnan(value):
        return ""
    if name.startswith("pvalue"):
        return words.p_digits(value)
    if name.startswith(("n_", "alerts", "caught")):
        return words.count(value)
    if low is None:
        return words.digits(value, places) if name in ("estimate", "difference") else f"{value:.6g}"
    ends = "" if math.isnan(low) else f" ({words.ends((low, high), places)})"
    return f"{words.digits(value, places)}{ends}"
