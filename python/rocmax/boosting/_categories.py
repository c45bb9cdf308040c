"""Frames as the boosting libraries take them: read by what the columns were in training."""

from typing import Any

import numpy as np
from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._changes import Changes, messages
from rocmax._tables._forms import is_number
from rocmax._tables._frame import columns_of, is_frame, numbers
from rocmax._tables._schema import Schema, Unseen
from rocmax._typing import F64


def as_features(X: Any, schema: Schema, texts: dict[Any, bool], unseen: Unseen | None = None) -> tuple[Any, Any]:
    """Return X as the libraries take it, and its numbers, those of categories last; None of a sparse matrix.

    A frame becomes one of pandas with the categories of training, which are numbers if they are no `texts`, so that the
    booster also reads the frame that was given; or, without categories, numbers, if it is not one of pandas.
    """
    if not is_frame(X):
        if schema.categories:
            name = schema.categories[0].name
            what = f"a frame with the columns of training, of which {name!r} is a category"
            raise ValueError(f"X must be {what}, got {type(X).__name__}")
        return X, None if sparse.issparse(X) else np.asarray(X)
    if not schema:  # after training on an array
        table = np.column_stack([numbers(series, name) for name, series in columns_of(X).items()])
        return table, table
    table = schema.table(X, unseen)
    if not hasattr(X, "iloc") and not schema.categories:
        return table, table
    from pandas import Categorical, DataFrame

    if not schema.categories and all(map(_is_taken, X.dtypes)):
        return X, table
    made = dict(zip(schema.used, table.T, strict=True))
    for column in schema.categories:
        codes = np.nan_to_num(made[column.name], nan=-1.0).astype(np.intp)
        values = column.categories if texts.get(column.name, True) else list(map(_plain, column.categories))
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


def are_texts(X: Any, schema: Schema) -> dict[Any, bool]:
    """Return whether the values of each column of categories are texts."""
    columns = columns_of(X) if schema.categories else {}
    values = {one.name: columns[one.name].drop_nulls().unique().to_list() for one in schema.categories}
    return {name: any(isinstance(value, str) for value in held) for name, held in values.items() if held}


def later_features(X: Any, schema: Schema, texts: dict[Any, bool], trained: F64 | None, names: Any = None) -> Any:
    """Return the same of later rows, after a warning of unseen categories and of columns that changed.

    `texts` are those of training, as is `trained`, the summary of the columns; `names` are those of an array.
    """
    given, unseen = X, Unseen()
    X, table = as_features(given, schema, texts, unseen)
    other = [name for name, held in are_texts(given, schema).items() if texts.get(name, held) != held]
    notes = [f"column {name!r}: text where training had numbers, or the reverse; compared by value" for name in other]
    notes += [f"{text}: treated as missing" for *_, text in unseen.found()]
    if trained is not None and table is not None:
        names = schema.used or (range(table.shape[1]) if names is None else names)
        changes = Changes(names, trained, len(names) - len(schema.categories), schema.flags() if schema else None)
        changes.add(table)
        notes += messages(changes.found(), constant=False)
    if notes:
        warn("; ".join(notes), UserWarning)
    return X
