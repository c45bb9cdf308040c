"""Encode the columns of a table, read by a schema, for trees or for linear models."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from rocmax._tables._forms import is_frame
from rocmax._tables._schema import Later, Schema, decided, trained_columns
from rocmax._typing import F64, AnyArray

# Categories of fewer rows share a column in linear models.
_RARE = 10
# A coding with a smaller share of entries that are not 0 is sparse, if it may be; one for linear models, if categories
# have more columns: up to here Newton's method and landmarks need arrays.
_DENSE, _WIDE = 0.3, 500
_SQUARES = 1e150  # the squares of larger numbers overflow in linear models


class Feature(NamedTuple):
    """A column of the coding: a name for people, its column, and how much of the column is one unit of it."""

    name: str
    column: str
    unit: float | None


class TableCoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encode the columns of a table as numbers for a `kind` of model, by a schema, or what is decided on the table.

    Numeric and boolean columns keep their values, NaN where missing. Categories (text or categorical columns) become
    ordinal codes for trees, NaN where missing or not seen in training. For linear models each category has a column
    and all rare or unseen ones share one; there, missing numbers are imputed by the median, with an indicator column,
    and numbers are scaled to unit variance. After training on an array, ``schema_`` has no columns.

    The kinds are "trees", with ordinal codes of categories, "one-hot trees", with a column for each category, "linear",
    an array unless categories have many columns, and "sparse linear", sparse where that is smaller, with plain flags.
    """

    trained_: F64 | None = None  # what the columns were in training

    def __init__(self, kind: str = "trees", schema: Schema | None = None) -> None:
        self.kind = kind
        self.schema = schema

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the columns, their categories and scales."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the columns and return their encoding."""
        self.schema_ = self.schema or (decided(X) if is_frame(X) else Schema(()))
        table = self._moderate(self.schema_.table(X) if is_frame(X) else X, X)
        self.trained_ = None if _is_sparse(table) else trained_columns(table)
        self._learn(table)
        return self._coded(table)

    def transform(self, X: Any) -> Any:
        """Return the encoding of other rows."""
        return self.coded(X)

    def coded(self, X: Any, *, tell: bool = True) -> Any:
        """Return the encoding of other rows; warn of what is news of them."""
        later = Later(self.schema_, self.trained_ if tell else None)
        table = self._moderate(later.read(X), X)
        if tell:
            later.warn()
        return self._coded(table)

    def _moderate(self, table: Any, X: Any) -> Any:
        """Return the table of X as numbers, which must be within what the models compute with; NaN is missing."""
        values = table.data[:, None] if _is_sparse(table) else table
        if values.dtype.kind != "f" or not len(values):
            return table
        held = np.float64 if self.kind == "one-hot trees" else np.float32  # LightGBM takes any finite number
        limit = _SQUARES if "linear" in self.kind else float(np.finfo(held).max)
        most = np.fmax(np.fmax.reduce(values, axis=0), -np.fmin.reduce(values, axis=0)).astype(np.float64)
        if (most > limit).any():
            k, names = int(np.argmax(most > limit)), self.schema_.used or [*getattr(X, "columns", ())]
            column = "" if _is_sparse(table) else f" in column {names[k]!r}" if names else f" in column {k}"
            raise ValueError(
                f"X holds a number of size {most[k]:.3g}{column}, beyond {limit:.3g}, which the models cannot compute"
                " with; rescale the column, or pass its logarithm or its ranks"
            )
        return table

    def _parts(self, table: Any) -> tuple[Any, list[AnyArray]]:
        """Return numbers, and the codes of each column of categories: -1 where unseen, their number where missing."""
        names = self.schema_.categories
        n = table.shape[1] - len(names)
        codes = [
            np.nan_to_num(table[:, n + k], nan=len(column.categories)).astype(np.intp) for k, column in enumerate(names)
        ]
        return table[:, :n] if names else table, codes

    def _learn(self, table: Any) -> None:
        """Learn medians and scales of numbers, and the column of each category."""
        values, codes = self._parts(table)
        self.scale_ = self.fill_ = self.mean_ = np.zeros(0)
        self.holes_ = np.zeros(0, dtype=np.intp)
        self.places_: list[AnyArray] = []
        if self.kind in ("linear", "sparse linear"):
            if _is_sparse(values):
                largest: Any = abs(values).max(axis=0).toarray().ravel()
                self.scale_ = np.where(largest > 0, largest, 1.0)
            else:
                self._learn_scales(np.asarray(values, dtype=np.float64))
        if self.kind != "trees":
            pairs = zip(self.schema_.categories, codes, strict=True)
            self.places_ = [_places(np.bincount(of, minlength=len(column.categories) + 1)) for column, of in pairs]

    def _learn_scales(self, values: F64) -> None:
        """Learn what replaces a missing number, which columns get an indicator, means and standard deviations."""
        missing = np.isnan(values)
        self.holes_ = np.flatnonzero(missing.any(axis=0))
        here = [column[~hole] for column, hole in zip(values.T, missing.T, strict=True)]
        self.fill_ = np.array([np.median(column) if len(column) else 0.0 for column in here])
        flags = np.zeros(values.shape[1], dtype=bool)
        if self.kind == "sparse linear" and self.schema_:
            flags = self.schema_.flags()
            self.fill_ = np.where(flags, np.floor(self.fill_), self.fill_)
        filled = self._filled(values)
        self.mean_, self.scale_ = filled.mean(axis=0), filled.std(axis=0)
        same = self.scale_ <= 1e-12 * np.abs(self.mean_)
        plain = np.concatenate([flags, flags[self.holes_]])
        self.mean_[plain], self.scale_[plain | same] = 0.0, 1.0

    def _filled(self, values: F64) -> F64:
        """Return numbers without missing ones, and indicators of those."""
        missing = np.isnan(values)
        filled = np.where(missing, self.fill_, values) if missing.any() else values
        return np.hstack([filled, missing[:, self.holes_]]) if len(self.holes_) else filled

    def _coded(self, table: Any) -> Any:
        """Return the encoding of a table."""
        values, codes = self._parts(table)
        if self.kind == "trees":
            names = table[:, values.shape[1] :]
            return np.hstack([values, np.where(names < 0, np.nan, names)]) if codes else values
        if self.kind != "one-hot trees":
            if len(self.mean_):
                values = values.toarray() if _is_sparse(values) else np.asarray(values, dtype=np.float64)
                values = (self._filled(values) - self.mean_) / self.scale_
            elif len(self.scale_):  # learnt from a sparse matrix
                values = values.multiply(1.0 / self.scale_).tocsr() if _is_sparse(values) else values / self.scale_
        if not codes:
            return values
        n = len(codes[0])
        starts = np.cumsum([0, *(int(of.max()) + 1 for of in self.places_)])
        places = [of[code] for of, code in zip(self.places_, codes, strict=True)]
        rows = [np.flatnonzero(of >= 0) for of in places]
        columns = [of[row] + start for of, row, start in zip(places, rows, starts[:-1], strict=True)]
        entries = np.concatenate(rows), np.concatenate(columns)
        few = values.shape[1] + len(codes) < _DENSE * (values.shape[1] + starts[-1])
        if few and (self.kind != "linear" or starts[-1] > _WIDE):
            found = sparse.csr_array((np.ones(len(entries[0])), entries), shape=(n, starts[-1]))
            return sparse.csr_matrix(sparse.hstack([sparse.csr_array(values), found], format="csr"))
        dense = np.zeros((n, starts[-1]))
        dense[entries] = 1.0
        return np.hstack([values, dense])

    def features(self) -> list[Feature]:
        """Return the columns of the encoding, in its order."""
        numeric = self.schema_.numeric
        units = self.scale_ if len(self.scale_) else np.ones(len(numeric))
        found = [Feature(name, name, float(unit)) for name, unit in zip(numeric, units, strict=False)]
        found += [Feature(f"{numeric[k]} is missing", numeric[k], None) for k in self.holes_]
        categories = self.schema_.categories
        if not self.places_:
            return found + [Feature(column.name, column.name, None) for column in categories]
        for column, places in zip(categories, self.places_, strict=True):
            values = [*(f"{column.name} = {value}" for value in column.categories), f"{column.name} is missing"]
            rare = {int(places[-1]): f"{column.name}: any rare value"}
            names = dict(zip(places.tolist(), [*values, ""], strict=True)) | rare
            found += [Feature(names[k], column.name, None) for k in sorted(names) if k >= 0]
        return found


def _is_sparse(values: Any) -> bool:
    return bool(sparse.issparse(values))


def _places(counts: AnyArray) -> AnyArray:
    """Return the column of each category, of missing ones and of unseen ones (the last); -1 for none."""
    there = counts > 0
    rare = there & (counts < _RARE)
    places = np.where(there & ~rare, np.cumsum(there & ~rare) - 1, -1)
    other = int((there & ~rare).sum()) if rare.any() else -1
    return np.append(np.where(places >= 0, places, other), other)
