"""Encode the numeric and categorical columns of a table for trees or for linear models."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._typing import AnyArray, Bool
from rocmax.ensemble._run import quietly

# A text column of at least _FEW values is not a category if more than this share of them are distinct.
_DISTINCT, _FEW = 0.5, 50
# Categories of fewer rows share a column in linear models.
_RARE = 10
_SQUARES = 1e150  # the squares of larger numbers overflow in linear models
_NUMERIC = "biuf"


def is_frame(X: Any) -> bool:
    """Whether X has named columns of their own types."""
    return hasattr(X, "columns") and hasattr(X, "shape")


class TableCoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encode the columns of a table as numbers.

    Numeric and boolean columns keep their values, NaN where missing. Categories (text or categorical columns) become
    ordinal codes for trees, NaN where missing or not seen in training. For linear models each category has a column
    and all rare or unseen ones share one; there, missing numbers are imputed by the median, with an indicator column,
    and numbers are scaled to unit variance.

    Parameters
    ----------
    kind : {"trees", "linear"}
        The kind of model that receives the encoding.

    Attributes
    ----------
    numeric_, categorical_, left_out_ : list of str
        Names of the columns of each kind; columns of arrays are numeric and not listed. Text columns with nearly as
        many values as rows are dropped.
    n_categorical_ : int
        The number of encoded categorical columns, which come last.
    """

    def __init__(self, kind: str = "trees") -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns, their categories and scales."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the columns and return their encoding."""
        self.numeric_, self.categorical_, self.left_out_ = _kinds(X) if is_frame(X) else ([], [], [])
        self.n_categorical_ = len(self.categorical_)
        self.numbers_ = self.names_ = self.columns_ = None
        parts = []
        if self.numeric_ or not self.categorical_:
            numbers = self._numbers(X)
            self.numbers_ = _numbers_coder(numbers) if self.kind == "linear" else None
            parts.append(numbers if self.numbers_ is None else self.numbers_.fit_transform(numbers))
        if self.categorical_:
            names = self._names(X)
            # Unseen categories are coded -1, missing ones NaN.
            self.names_ = OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=np.nan
            )
            codes = self.names_.fit_transform(names)
            if self.kind == "linear":
                self.columns_ = OneHotEncoder(
                    min_frequency=_RARE, handle_unknown="infrequent_if_exist", sparse_output=False
                )
                codes = self.columns_.fit_transform(codes)
            parts.append(codes)
        return self._joined(parts)

    def transform(self, X: Any) -> Any:
        """Return the encoding of other rows."""
        return self.coded(X)

    def coded(self, X: Any, *, tell: bool = True) -> Any:
        """Return the encoding of other rows; warn of categories not seen in training."""
        by_name = self.categorical_ + self.left_out_
        if by_name and not is_frame(X):
            raise ValueError(
                f"X must be a frame with the columns of training, of which {by_name[0]!r} is not numeric, got an array"
            )
        parts = []
        if self.numeric_ or not self.categorical_:
            numbers = self._numbers(X)
            parts.append(numbers if self.numbers_ is None else self.numbers_.transform(numbers))
        if self.names_ is not None:
            names = self._names(X)
            codes = self.names_.transform(names)
            unseen = codes == -1.0
            strange = unseen & (names == names)  # the others are missing
            if tell and strange.any():
                self._warn(names, strange)
            columns = self.columns_
            if columns is None:
                codes[unseen] = np.nan
            else:
                codes = quietly(lambda: columns.transform(codes))
            parts.append(codes)
        return self._joined(parts)

    def _warn(self, names: AnyArray, unseen: Bool) -> None:
        """Warn of the columns with categories not seen in training."""
        found = []
        for name, column, strange in zip(self.categorical_, names.T, unseen.T, strict=True):
            if strange.any():
                values = sorted(set(column[strange]))
                first = ", ".join(map(shown, values[:3])) + (", ..." if len(values) > 3 else "")
                rows = np.count_nonzero(strange)
                found.append(f"column {name!r}: {first} not seen in training ({rows} row{'s' if rows > 1 else ''})")
        warn("; ".join(found) + ": treated as missing", UserWarning)

    def _numbers(self, X: Any) -> Any:
        """Return the numeric columns; all columns of an array are numeric."""
        names = list(self.numeric_ or X.columns) if is_frame(X) else []
        found = np.column_stack([_number(X, name) for name in names]) if is_frame(X) else X
        _require_moderate(found, _SQUARES if self.kind == "linear" else float(np.finfo(np.float32).max), names)
        return found

    def _names(self, X: Any) -> AnyArray:
        """Return the categorical columns, NaN where missing."""
        return np.column_stack([_texts(X, name) for name in self.categorical_])

    def _joined(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        if any(map(sparse.issparse, parts)):
            return sparse.hstack(parts, format="csr")
        return np.hstack(parts)


def _require_moderate(numbers: Any, limit: float, names: list[str]) -> None:
    """Check that numbers are within what the models compute with; NaN is missing."""
    stored: Any = numbers
    values = stored.data[:, None] if sparse.issparse(numbers) else stored
    if values.dtype.kind != "f" or not len(values):
        return
    most = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0))
    if (most > limit).any():
        k = int(np.argmax(most > limit))
        column = "" if sparse.issparse(numbers) else f" in column {names[k]!r}" if names else f" in column {k}"
        raise ValueError(
            f"X holds a number of size {most[k]:.3g}{column}, beyond {limit:.3g}, which the models cannot compute with;"
            " rescale the column, or pass its logarithm or its ranks"
        )


def _numbers_coder(numbers: Any) -> Any:
    """Return the unfitted encoder of numbers for linear models."""
    if sparse.issparse(numbers):
        return MaxAbsScaler()
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return make_pipeline(impute, StandardScaler())


def _kinds(X: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the numeric, categorical and dropped columns."""
    numeric: list[str] = []
    categorical: list[str] = []
    left_out: list[str] = []
    names = list(X.columns)
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns of the name {double!r}: rename one")
    for name in names:
        kind = _kind(X, name)
        if kind == "number":
            numeric.append(name)
        elif kind == "category":
            categorical.append(name)
        else:
            texts = _texts(X, name)
            here = [one for one in texts if isinstance(one, str)]
            distinct = len(set(here))
            if len(here) >= _FEW and distinct > _DISTINCT * len(here):
                left_out.append(name)
                warn(
                    f"column {name!r} has {distinct} distinct values in {len(here)} rows and is ignored: drop it "
                    "if it is an id; otherwise convert it to numbers (for example by TfidfVectorizer) or to a category",
                    UserWarning,
                )
            else:
                categorical.append(name)
    if not numeric and not categorical:
        raise ValueError(f"X has no column to learn from: {', '.join(map(repr, left_out)) or 'it has no columns'}")
    return numeric, categorical, left_out


def _kind(X: Any, name: str) -> str:
    """Return "number", "category" or "text" for a column, or raise TypeError for any other type."""
    dtype = X[name].dtype
    text = str(dtype).lower()
    if text.startswith(("category", "categorical", "enum")):
        return "category"
    kind = getattr(dtype, "kind", None) or "O"
    if text.startswith(("bool", "int", "uint", "float", "double", "decimal", "null", "sparse")) or kind in _NUMERIC:
        return "number"
    if text.startswith(("str", "string", "utf8", "large_string")):
        return "text"
    if text == "object":
        values = [one for one in X[name] if not _is_missing(one)]
        if all(isinstance(one, bool | int | float | np.number | np.bool_) for one in values):
            return "number"
        if all(isinstance(one, str | bool | int | float | np.generic) for one in values):
            return "text"
    raise TypeError(
        f"X: column {name!r} has type {dtype}; convert it to numbers (for a date, days since a "
        "fixed day), booleans, text or a category, or drop it"
    )


def _number(X: Any, name: str) -> AnyArray:
    """Return a numeric column, NaN where missing."""
    column = X[name]
    try:
        if hasattr(column, "to_numpy") and str(column.dtype).lower() not in ("object", "null"):
            kind = getattr(column.dtype, "kind", "O")
            masked = hasattr(column.dtype, "na_value") and kind in _NUMERIC and not isinstance(column.dtype, np.dtype)
            found = column.to_numpy(dtype=np.float64, na_value=np.nan) if masked else column.to_numpy()
            return np.asarray(found, dtype=np.float64)
        return np.array([np.nan if _is_missing(one) else float(one) for one in column], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: column {name!r} was numeric in training, got {shown(column[:3])}: {error}") from error


def _texts(X: Any, name: str) -> AnyArray:
    """Return a categorical column as text, NaN where missing."""
    found = np.empty(X.shape[0], dtype=object)
    found[:] = [np.nan if _is_missing(one) else str(one) for one in X[name]]
    return found


def _is_missing(value: Any) -> bool:
    """Whether this is None, NaN or pandas' NA."""
    if value is None:
        return True
    same = value == value
    return not isinstance(same, bool | np.bool_) or not same
