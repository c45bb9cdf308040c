"""The categories of a training frame, by which later frames are read."""

from typing import Any

import numpy as np
from scipy import sparse

from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._tables._changes import Changes, messages
from rocmax._tables._frame import columns_of, dtype_of, is_frame, numbers, texts, type_of
from rocmax._tables._notes import of_rows
from rocmax._tables._schema import Column
from rocmax._typing import F64

#: The categories of each categorical column, in the order of their codes.
Categories = dict[Any, list[Any]]


def as_features(X: Any, known: Categories | None = None) -> Any:
    """Return a frame as the libraries take it: numbers, or one of pandas with texts as categories; else X as it is.

    With `known` categories of training it is one of pandas.
    """
    of_pandas = hasattr(X, "iloc")
    others = [k for k, one in enumerate(X.dtypes) if not _is_taken(one)] if of_pandas else []
    if not is_frame(X) or (of_pandas and not others):
        return X
    columns = columns_of(X.iloc[:, others] if of_pandas else X)
    kinds = {name: type_of(series) for name, series in columns.items()}
    for name, kind in kinds.items():
        if kind == "other":
            dtype = dtype_of(columns[name])
            raise TypeError(f"X: column {name!r} has type {dtype}; pass numbers, such as the days since a date")
    coded = {name for name, kind in kinds.items() if kind in ("text", "category")}
    if not coded and not known and not of_pandas:
        return np.column_stack([numbers(series, name) for name, series in columns.items()])
    from pandas import Categorical, DataFrame

    made = {
        name: Categorical(texts(series)) if name in coded else numbers(series, name) for name, series in columns.items()
    }
    return replaced(X, made) if of_pandas else DataFrame(made)


def replaced(X: Any, columns: dict[Any, Any]) -> Any:
    """Return a pandas frame with other values in some columns."""
    X = X.copy(deep=False) if columns else X
    for name, values in columns.items():
        X[name] = values
    return X


def _is_taken(dtype: Any) -> bool:
    """Whether the libraries take a type of pandas as it is: numbers, and categories of numbers or texts."""
    if hasattr(dtype, "categories"):
        return all(isinstance(one, str | bool | int | float | np.generic) for one in dtype.categories)
    # Brackets are in the names of sparse types and of those of pyarrow.
    return dtype.kind in "biuf" and getattr(dtype, "itemsize", 8) <= 8 and not str(dtype).endswith("]")


def categories_of(X: Any) -> Categories:
    """Return the categories that occur in a pandas frame; {} of anything else."""
    coded = {name: column.cat for name, column in X.items() if hasattr(column, "cat")} if hasattr(X, "iloc") else {}
    return {name: held.remove_unused_categories().cat.categories.tolist() for name, held in coded.items()}


def table_of(X: Any, known: Categories) -> tuple[list[Any], Any]:
    """Return the names of columns, categories last, and their numbers, NaN where missing; None of a sparse matrix."""
    if not hasattr(X, "iloc"):
        return [*range(X.shape[1])], None if sparse.issparse(X) else np.asarray(X)
    names = [*(name for name in X if name not in known), *known]
    found = np.column_stack(
        [
            (X[name].cat.codes if name in known else X[name]).to_numpy(dtype=np.float64, na_value=np.nan)
            for name in names
        ]
    )
    codes = found[:, len(names) - len(known) :]
    codes[codes < 0] = np.nan
    return names, found


def aligned(X: Any, known: Categories, trained: F64 | None = None, names: Any = None) -> Any:
    """Return a frame whose columns have the categories of training; warn of others, which become missing.

    Categories of one text are equal; if all those of training are numbers, equal numbers are, such as 1, 1.0 and "1".
    The warning also names columns that changed since training, of which `trained` is the summary; `names` are those of
    an array.
    """
    columns, notes, unknown = dict[Any, Any](), list[str](), set[Any]()
    for name, categories in categories_of(X).items():
        if name not in known and categories:
            raise ValueError(
                f"X: column {name!r} was numeric in training, got categories, such as {shown(categories[:1])}"
            )
        if name not in known:
            columns[name] = np.full(len(X), np.nan)
    if known and not hasattr(X, "iloc"):
        raise ValueError(
            f"X must be a frame with the columns of training, of which {next(iter(known))!r} is a category, "
            f"got {type(X).__name__}"
        )
    for name, of_training in known.items():
        column = X[name]
        if hasattr(column, "cat") and repr(column.cat.categories.tolist()) == repr(of_training):
            continue
        from pandas import Categorical

        given = Categorical(column)
        values = given.categories.tolist()
        place = Column(name, "category", categories=tuple(map(str, of_training))).codes([*map(str, values)])
        codes = np.append(place, -1)[given.codes]
        columns[name] = Categorical.from_codes(codes, categories=of_training)
        kinds = {isinstance(one, str) for one in [*values, *of_training]}
        if len(kinds) > 1:
            notes.append(f"column {name!r}: text where training had numbers, or the reverse; compared by value")
        unseen = np.flatnonzero((place < 0) & np.isin(np.arange(len(place)), given.codes))
        if len(unseen):
            unknown.add(name)
            n_rows = int(np.count_nonzero(np.isin(given.codes, unseen)))
            first = ", ".join(shown(values[k]) for k in unseen[:3]) + (", ..." if len(unseen) > 3 else "")
            notes.append(f"column {name!r}: {first} not seen in training ({of_rows(n_rows)}): treated as missing")
    X = replaced(X, columns)
    own, found = table_of(X, known) if trained is not None else ([], None)
    if trained is not None and found is not None:
        changes = Changes(own if hasattr(X, "iloc") or names is None else names, trained, len(own) - len(known))
        changes.add(found)
        notes += messages([one for one in changes.found() if one.column not in unknown])
    if notes:
        warn("; ".join(notes), UserWarning)
    return X
