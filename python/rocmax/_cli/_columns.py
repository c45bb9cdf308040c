"""The columns that a model learns from: numbers and categories, and their coding as features."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocmax._cli import _table as table
from rocmax._cli._failure import Failure, short, unknown
from rocmax._cli._text import log

# The parts of the coding, for the model file.
PARTS = (Pipeline, ColumnTransformer, SimpleImputer, MissingIndicator, StandardScaler, OneHotEncoder)
# With fewer rows, a column with a different value in every row need not be an id.
_FEW = 50
# Numbers as people write them: with a bound, a currency, separators of thousands, a percent sign or a unit.
_MARKED = (
    r"^\s*(?:[<>~≤≥]=?\s*[+-]?[\d.]+|[+-]?[$€£]\s*[\d,.]+|[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
    r"|[+-]?\d+(?:\.\d+)?(?:\s*[%‰$€£°]| [a-zµ]{1,3}(?:/[a-zA-Z]{1,3})?))\s*$"
)
# Numbers up to this can be scaled.
_LARGEST = 1e150


def split_columns(
    frame: pl.DataFrame, *, exclude: set[str], categorical: list[str]
) -> tuple[list[str], int, list[str], list[str]]:
    """Return the names of numeric columns, the number of flags among them (the last), categorical and empty columns."""
    numeric, flags, nominal, empty = list[str](), list[str](), list[str](), list[str]()
    for series in frame:
        if series.name in exclude:
            continue
        kind = series.dtype
        if series.null_count() == len(series):
            empty.append(series.name)
        elif series.name in categorical or kind in (pl.String, pl.Categorical, pl.Enum):
            nominal.append(series.name)
            if series.name not in categorical:
                _doubt(series)
        elif kind.is_numeric() or kind == pl.Boolean:
            (flags if _is_flag(series) else numeric).append(series.name)
            _check_numbers(series)
        else:
            raise Failure(
                f"column {series.name!r} is {kind}, neither number nor text: --drop it, or write it as a number"
            )
    if not numeric and not flags and not nominal:
        raise Failure("no columns to train on are left")
    return numeric + flags, len(flags), nominal, empty


def _is_flag(series: pl.Series) -> bool:
    """Whether a column holds only 0 and 1, or booleans: like an indicator of a category it is not scaled."""
    if series.dtype == pl.Boolean:
        return True
    values = table.nameless(series).drop_nulls()
    return bool(((values == 0) | (values == 1)).all()) and values.n_unique() == 2


def _doubt(series: pl.Series) -> None:
    """Report that a column of text is treated as a category if it looks like numbers; warn if it looks like an id."""
    texts = table.nameless(series).cast(pl.String)
    half = texts.is_not_null().sum() / 2
    marked = texts.str.contains(_MARKED)
    if marked.sum() > half:
        why = (
            f"it is text, such as {short(texts[int(marked.arg_max() or 0)])!r}; if they are numbers, write them "
            "without units, signs and separators of thousands"
        )
        why += f", or for decimal commas, {table.COMMAS}" if table.has_commas(texts) else ""
    elif table.has_commas(texts):
        why = f"for decimal commas, {table.COMMAS}"
    elif texts.str.strip_chars().cast(pl.Float64, strict=False).is_not_null().sum() > half:
        row = table.first_name(texts)
        why = "it is text" + ("" if row is None else f", but {short(texts[row])!r} in row {row + 1}")
    else:
        if len(texts) >= _FEW and texts.n_unique() == len(texts):
            _warn_of_id(series.name)
        return
    log(f"column {series.name!r} is treated as a category: {why}")


def _check_numbers(series: pl.Series) -> None:
    """Fail for numbers whose squares overflow, so that they cannot be scaled; warn if integers look like an id.

    An id has a different value in every row, with few gaps or in order.
    """
    values, n = table.nameless(series), len(series)
    floats = values.cast(pl.Float64)
    far = (floats.abs() > _LARGEST) & floats.is_finite()
    if far.any():
        row = int(far.arg_true()[0])
        raise Failure(
            f"column {series.name!r} holds {floats[row]:g} in row {row + 1}, and squares of numbers beyond "
            f"{_LARGEST:g} overflow: divide the column by some number, or --drop it"
        )
    if n < _FEW or not values.dtype.is_integer() or values.null_count() or values.n_unique() < n:
        return
    span = int(values.max()) - int(values.min())  # type: ignore[arg-type]
    if span < 2 * n or values.is_sorted() or values.is_sorted(descending=True):
        _warn_of_id(series.name)


def _warn_of_id(name: str) -> None:
    log(f"warning: column {name!r} has a different value in every row; if it is an id, --drop it")


def features(frame: pl.DataFrame, numeric: list[str], categorical: list[str], before: int = 0) -> pl.DataFrame:
    """Return numeric columns as floats, then categorical ones as text; missing values are null.

    `before` is the number of rows before those of the frame, for messages.
    """
    columns = {series.name: series for series in frame}
    for name in (*numeric, *categorical):
        if name not in columns:
            raise unknown("column", name, columns)
    chosen = [_numbers(name, columns[name], before) for name in numeric] + [
        _names(columns[name]) for name in categorical
    ]
    return pl.DataFrame({f"x{k}": series for k, series in enumerate(chosen)})  # names may be * or empty


def _numbers(name: str, series: pl.Series, before: int) -> pl.Series:
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        raise Failure(f"column {name!r} is {series.dtype}; the model was trained on numbers in it")
    numbers = table.nameless(series).cast(pl.Float64).fill_nan(None)
    infinite = numbers.is_infinite()
    if infinite.any():
        raise Failure(f"column {name!r} is infinite in row {before + int(infinite.arg_true()[0]) + 1}")
    return numbers


def _names(series: pl.Series) -> pl.Series:
    if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Duration):
        raise Failure(f"column {series.name!r} is {series.dtype}, which cannot be a category")
    return series.cast(pl.String)


def time_order(frame: pl.DataFrame, name: str) -> NDArray[np.intp]:
    """Return the rows in the order of a column of numbers, dates or times; equal ones keep their order."""
    series = table.nameless(table.column(frame, name))
    if series.dtype == pl.String:
        taken = "--time takes numbers, or dates such as 2024-12-31"
        # In 1/12/2024 the day or the month may be first.
        if (other := ~series.str.contains(r"^\s*\d{4}\D").fill_null(True)).any():
            raise Failure(
                f"column {name!r} holds {short(series[int(other.arg_max() or 0)])!r}: {taken}, the year first"
            )
        try:
            series = series.str.to_datetime()
        except pl.exceptions.PolarsError:
            raise Failure(f"column {name!r} is text with values that are not dates: {taken}") from None
    if not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        raise Failure(f"column {name!r} is {series.dtype}: --time takes numbers, dates or times")
    return np.argsort(table.without_holes(series, name, "time").rank("dense").to_numpy(), kind="stable")


def make_columns(n_numeric: int, n_flags: int, n_categorical: int, *, trees: bool = False) -> ColumnTransformer:
    """Return the unfitted coding of the columns of `features`: of numbers, the last of them flags, and of categories.

    For linear models numbers are imputed and scaled, flags imputed; trees get missing numbers as they are.
    """
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    flags = make_pipeline(
        SimpleImputer(strategy="most_frequent", add_indicator=True),
        OneHotEncoder(drop="if_binary", handle_unknown="ignore"),  # one sparse column each
    )
    # Rare and unseen values share a column.
    names = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="", missing_values=None),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist"),
    )
    kinds: list[tuple[str, Any, int]] = [("numeric", numbers, n_numeric - n_flags), ("flags", flags, n_flags)]
    if trees:
        kinds = [("numeric", StandardScaler(with_mean=False, with_std=False), n_numeric)]  # as they are
    # By position: scikit-learn would search for each name among all.
    parts, start = [], 0
    for name, coding, n in [*kinds, ("categorical", names, n_categorical)]:
        if n:
            parts.append((name, coding, slice(start, start + n)))
        start += n
    return ColumnTransformer(parts, verbose_feature_names_out=False)
