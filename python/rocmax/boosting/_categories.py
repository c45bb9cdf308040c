"""Frames as the boosting libraries take them: read by what the columns were in training."""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse

from rocmax._tables._forms import is_number
from rocmax._tables._frame import columns_of, is_frame
from rocmax._tables._later import Later
from rocmax._tables._schema import Schema


def as_features(X: Any, later: Later, texts: Collection[Any]) -> tuple[Any, Any]:
    """Return X as the libraries take it, and its numbers, those of categories last; None of a sparse matrix.

    A frame becomes one of pandas with the categories of training, which are numbers if they are no `texts`, so that the
    booster also reads the frame that was given; or, without categories, numbers, if it is not one of pandas.
    """
    schema, table = later.schema, later.read(X if is_frame(X) or sparse.issparse(X) else np.asarray(X))
    if not is_frame(X):
        return X, None if sparse.issparse(X) else table
    if not schema or (not hasattr(X, "iloc") and not schema.categories):  # trained on an array, or as good as one
        return table, table
    from pandas import Categorical, DataFrame

    if not schema.categories and all(map(_is_taken, X.dtypes)):
        return X, table
    made = dict(zip(schema.used, table.T, strict=True))
    for column in schema.categories:
        codes = np.nan_to_num(made[column.name], nan=-1.0).astype(np.intp)
        values = column.categories if column.name in texts else list(map(_plain, column.categories))
        made[column.name] = Categorical.from_codes(codes, values)
    return DataFrame({column.name: made[column.name] for column in schema.columns}), table


def _plain(text: str) -> Any:
    """Return the number or flag that a category was before its text, or the text of anything else."""
    if text in ("True", "False"):
        return text == "True"
    return text if not is_number(text) else int(float(text)) if float(text).is_integer() else float(text)


def _is_taken(dtype: Any) -> bool:
    """Whether the libraries take a type of pandas as it is; brackets are in the names of sparse types and pyarrow's."""
    return dtype.kind in "biuf" and getattr(dtype, "itemsize", 8) <= 8 and not str(dtype).endswith("]")


def names_of_texts(X: Any, schema: Schema) -> set[Any]:
    """Return the columns of categories whose values are texts."""
    columns = columns_of(X) if schema.categories else {}
    values = {one.name: columns[one.name].drop_nulls().unique().to_list() for one in schema.categories}
    return {name for name, held in values.items() if any(isinstance(value, str) for value in held)}
