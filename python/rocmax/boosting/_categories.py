"""The categories of a training frame, by which later frames are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from rocmax._parameters import as_float, shown
from rocmax._runtime.warn import warn

#: The categories of each categorical column, in the order of their codes.
Categories = dict[Any, list[Any]]


def categories_of(X: Any) -> Categories:
    """Return the categories of a pandas frame; {} of anything else. Refuse columns that the libraries cannot take."""
    if not hasattr(X, "columns"):
        return {}
    if hasattr(X, "iloc"):
        return {name: column.cat.categories.tolist() for name, column in X.items() if hasattr(column, "cat")}
    for name, dtype in getattr(X, "schema", {}).items() if hasattr(X, "to_pandas") else ():
        if not (dtype.is_numeric() or str(dtype) in ("Boolean", "Null")):
            raise TypeError(
                f"X: column {name!r} has type {dtype}, which the libraries of trees take from pandas only; pass "
                "X.to_pandas() with the column as a category, or use PartialAUCEnsembleClassifier"
            )
    return {}


def aligned(X: Any, known: Categories) -> Any:
    """Return a frame whose columns have the categories of training; warn of others, which become missing.

    Categories of one text are equal. If all those of training are different numbers, equal numbers are equal: 1, 1.0
    and "1".
    """
    if not known:
        return X
    if not hasattr(X, "iloc"):
        raise ValueError(
            f"X must be a pandas frame with the columns of training, of which {next(iter(known))!r} is a category, "
            f"got {type(X).__name__}"
        )
    from pandas import Categorical

    columns, notes = {}, []
    for name, of_training in known.items():
        column = X[name]
        if hasattr(column, "cat") and repr(column.cat.categories.tolist()) == repr(of_training):
            continue
        given = Categorical(column)
        values = given.categories.tolist()
        place = _places(values, of_training)
        codes = np.append(place, -1)[given.codes]
        columns[name] = Categorical.from_codes(codes, categories=of_training)
        kinds = {isinstance(one, str) for one in [*values, *of_training]}
        if len(kinds) > 1:
            notes.append(f"column {name!r}: text where training had numbers, or the reverse; compared by value")
        unseen = np.flatnonzero((place < 0) & np.isin(np.arange(len(place)), given.codes))
        if len(unseen):
            n_rows = np.count_nonzero(np.isin(given.codes, unseen))
            first = ", ".join(shown(values[k]) for k in unseen[:3]) + (", ..." if len(unseen) > 3 else "")
            rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
            notes.append(f"column {name!r}: {first} not seen in training ({rows}): treated as missing")
    if notes:
        warn("; ".join(notes), UserWarning)
    return X.assign(**columns) if columns else X


def _places(given: list[Any], known: list[Any]) -> Any:
    """Return the place of each given category among the known ones, -1 if it has none."""
    texts = {str(one): k for k, one in enumerate(known)}
    numbers = {_number(one): k for k, one in enumerate(known)}
    of_numbers = len(numbers) == len(known) and all(number == number for number in numbers)
    found = [texts.get(str(one), numbers.get(_number(one), -1) if of_numbers else -1) for one in given]
    return np.array(found, dtype=np.intp)


def _number(value: Any) -> float:
    """Return a number, also of its text; NaN for anything else."""
    try:
        return float(value) if isinstance(value, str) else as_float(value)
    except ValueError:
        return float("nan")
