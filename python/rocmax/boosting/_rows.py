"""Rows and features for the boosting libraries: as they take them, and which rows are held out."""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse

from rocmax._parameters import shown
from rocmax._tables._forms import is_frame, is_number
from rocmax._tables._frame import columns_of
from rocmax._tables._later import Later
from rocmax._tables._schema import Schema
from rocmax._typing import AnyArray, Bool
from rocmax.estimators._folds import check_folds
from rocmax.estimators._repeats import equal_rows, held_whole, warn_of_kept, warn_of_shared


def check_validation(validation: Any) -> None:
    """Raise unless `validation` is None, a pair of rows or a splitter."""
    pair = isinstance(validation, tuple | list) and len(validation) == 2
    splitter = hasattr(validation, "split") and not isinstance(validation, str | bytes | bytearray)
    if not (validation is None or pair or splitter):
        raise ValueError(
            "validation must be None, a pair (rows to train on, rows to hold out) or a splitter, got "
            f"{shown(validation)}"
        )


def given(
    validation: Any, X: Any, positive: Bool, there: Bool, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return a pair of rows, or the last split of a splitter, numbered among the rows that are `there`."""
    pairs = [validation]
    if hasattr(validation, "split"):
        own = {} if groups is None else {"groups": groups}
        pairs = list(validation.split(X, positive.astype(int), **own))
    train, held = (rows[there[rows]] for rows in check_folds(pairs, np.ones_like(there), name="validation: pair")[-1])
    for rows, use in ((train, "train on"), (held, "hold out")):
        if len(np.unique(positive[rows])) < 2:
            raise ValueError(f"validation needs both classes among the rows to {use}")
    if np.intersect1d(train, held).size:
        raise ValueError("validation must not hold out rows that it trains on")
    if groups is None:
        warn_of_shared(X, [(train, held)])
    place = np.cumsum(there) - 1
    return place[train], place[held]


def drawn(
    positive: Bool, share: float, rng: np.random.Generator, X: Any = None, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return rows to train on and to hold out, drawn at random from either class; groups and equal rows of X whole."""
    fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
    if fewest < 2:
        raise ValueError(f"y must hold at least two samples of each class, one to hold out, got {fewest} of one")
    equal = equal_rows(X) if groups is None and X is not None else None
    whole = groups if equal is None else equal
    if whole is not None:
        held = held_whole(whole, positive, share, rng)
        both = all(0 < held[of].sum() < of.sum() for of in (positive, ~positive))
        if groups is not None and not both:
            raise ValueError("groups leave one class only to train on or to hold out; pass more groups or validation=")
        if both:
            warn_of_kept(whole) if groups is None else None
            return np.flatnonzero(~held), np.flatnonzero(held)
    index = []
    for of_class in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        n_held = int(np.clip(round(len(of_class) * share), 1, len(of_class) - 1))
        index.append(rng.choice(of_class, n_held, replace=False))
    held = np.zeros(len(positive), dtype=bool)
    held[np.concatenate(index)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


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
