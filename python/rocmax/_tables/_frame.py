"""Frames of pandas, polars and pyarrow alike: columns as numbers or texts, and what their types say."""

from decimal import Decimal
from sys import modules
from typing import Any

import narwhals as nw
import numpy as np

from rocmax._parameters import shown
from rocmax._tables._forms import WHOLE, is_missing, names_of
from rocmax._typing import F64

_NUMBERS = (bool, int, float, Decimal, np.number, np.bool_)
_NAMES = (str, *_NUMBERS, np.generic)


def require_own_names(X: Any) -> None:
    """Refuse a frame with two columns of one name."""
    names = names_of(X)
    if len({*names}) < len(names):
        double = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(f"X has two columns of the name {double!r}: rename one")


def readable(X: Any) -> Any:
    """Return a frame that scikit-learn and narwhals read, with the names of its columns; any other as it is."""
    if type(X).__name__ == "RecordBatch":
        return modules["pyarrow"].Table.from_batches([X])
    dtypes = getattr(X, "dtypes", None)
    if type(dtypes) is list and any("Int128" in str(dtype) for dtype in {*dtypes}):
        frame = nw.from_native(X, eager_only=True)
        wide = [name for name, dtype in frame.schema.items() if dtype in (nw.Int128, nw.UInt128)]
        return frame.with_columns(nw.col(*wide).cast(nw.Float64())).to_native()
    return X


def columns_of(X: Any) -> dict[Any, nw.Series[Any]]:
    """Return the columns of a frame by name."""
    if not isinstance(X, nw.DataFrame):
        require_own_names(X)
        X = nw.from_native(readable(X), eager_only=True)
    return dict(zip(X.columns, X.iter_columns(), strict=True))


def numbered(series: nw.Series[Any], name: Any) -> F64:
    """Return numbers as they are, and a number for each text or other value; NaN where missing."""
    if type_of(series) in ("number", "flag"):
        return numbers(series, name)
    known: dict[str | None, float] = {None: np.nan}
    return np.array([known.setdefault(text, len(known)) for text in texts(series)], dtype=np.float64)


def type_of(series: nw.Series[Any]) -> str:
    """Return "number", "flag", "category", "text" or "other"."""
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "flag"
    if dtype.is_numeric():
        return "number"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    if dtype == nw.String:
        return "text"
    native = dtype_of(series).lower()
    if dtype == nw.Object or native in ("null", "object"):
        values = [value for value in series if not is_missing(value)]
        if all(isinstance(value, _NUMBERS) for value in values):
            return "flag" if values and all(isinstance(value, (bool, np.bool_)) for value in values) else "number"
        return "text" if all(isinstance(value, _NAMES) for value in values) else "other"
    return "number" if native.startswith(("sparse[float", "sparse[int", "sparse[bool", "decimal", "float")) else "other"


def is_rounded(series: nw.Series[Any]) -> bool:
    """Whether a column holds integers beyond those that float64 represents, such as long ids."""
    ends = [series.min(), series.max()] if series.dtype.is_integer() else []
    return any(end is not None and abs(end) > WHOLE for end in ends)


def require_numbers(X: Any) -> None:
    """Refuse a frame with a column that holds no numbers, or texts that are none."""
    kinds = {getattr(dtype, "kind", "") for dtype in getattr(X, "dtypes", ())}
    if kinds <= {*"biuf"} and kinds:  # many columns of pandas, in a small part of the time
        return
    frame = nw.from_native(X, eager_only=True)
    for name, dtype in frame.schema.items():
        if dtype.is_numeric() or type_of(series := frame.get_column(name)) in ("number", "flag"):
            continue
        try:
            numbers(series, name)
        except ValueError as error:
            raise ValueError(
                f"X must hold numbers, but its column {shown(name)} is of type {dtype_of(series)}: encode it "
                "(OneHotEncoder), take the days since some day of a date, or leave it out; "
                "PartialAUCEnsembleClassifier takes categories and text"
            ) from error


def dtype_of(series: nw.Series[Any]) -> str:
    """Return the type of a column as its library names it."""
    native = series.to_native()
    return str(getattr(native, "dtype", getattr(native, "type", "")))


def numbers(series: nw.Series[Any], name: Any) -> F64:
    """Return a column as float64, NaN where missing; raise ValueError unless it holds numbers."""
    try:
        found = series.to_numpy() if series.dtype.is_float() or series.dtype.is_integer() else None
        if found is None or found.dtype == object:
            found = np.array([np.nan if is_missing(value) else float(value) for value in series])
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        values = shown(series[:3].to_list())
        raise ValueError(f"X: column {name!r} was numeric in training, got {values}: {error}") from error


def texts(series: nw.Series[Any]) -> list[str | None]:
    """Return a column as texts, None where missing."""
    if series.dtype == nw.String:
        return [value if isinstance(value, str) else None for value in series.to_list()]
    return [None if is_missing(value) else str(value) for value in series.to_list()]
