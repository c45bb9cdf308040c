"""Samples with missing values, and scores that are low for positives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.arrays import in_numpy, marked_missing
from rocmax._checks.frames import warn_of_order
from rocmax._checks.samples import require_finite, require_weights
from rocmax._parameters import check_choice, shown
from rocmax._tables._forms import names_of as frame_names

Bool = NDArray[np.bool_]


def complete(missing: Any, /, *, may_be_empty: bool = False, **given: Any) -> tuple[list[Any], int]:
    """Return the arguments without the samples that miss a value in any of them, and the number of these; O(n)."""
    check_choice("missing", missing, ("raise", "drop"))
    columns = {
        name if key is None else f"{name}[{shown(key)}]": column
        for name, values in given.items()
        for key, column in (values.items() if isinstance(values, Mapping) else [(None, values)])
        if column is not None
    }
    warn_of_order(**columns)
    if missing == "raise":
        return list(given.values()), 0
    marks = [_marked(column) for column in columns.values()]
    lengths = {None if mark is None else len(mark) for mark in marks}
    if len(lengths) != 1 or None in lengths:
        return list(given.values()), 0  # later checks of shapes raise
    dropped = np.logical_or.reduce([mark for mark in marks if mark is not None])
    n_dropped = int(np.count_nonzero(dropped))
    if not n_dropped:
        return list(given.values()), 0
    if n_dropped == len(dropped) and not may_be_empty:
        listed = ", ".join(name for name, values in given.items() if values is not None)
        raise ValueError(f"missing='drop' leaves no sample: each misses a value of one of {listed}")

    for name, column in columns.items():
        if name.startswith(("y_score", "sample_weight")):
            _require_numbers(column, name, dropped)
    kept_rows = np.flatnonzero(~dropped)

    def kept(values: Any) -> Any:
        if isinstance(values, Mapping):
            return {key: kept(column) for key, column in values.items()}
        return None if values is None else rows_of(values, kept_rows)

    return [kept(values) for values in given.values()], n_dropped


def _require_numbers(values: Any, name: str, dropped: Bool) -> None:
    """Check the samples that are kept, while their indices are still those of the caller."""
    try:
        number = np.where(dropped.reshape(-1, *(1,) * (np.ndim(values) - 1)), 0.0, np.asarray(in_numpy(values), float))
    except (TypeError, ValueError, OverflowError):  # no numbers: later checks name the values
        return
    require_finite(number, name, columns=frame_names(values) or None)
    if name.startswith("sample_weight"):
        require_weights(number, name)


def _marked(values: Any) -> Bool | None:
    """Mark the samples with a missing value; None if this is not an array of samples."""
    try:
        array = np.asarray(in_numpy(values))
    except (TypeError, ValueError):
        return None
    if array.ndim not in (1, 2):
        return None
    found = marked_missing(array)
    if isinstance(values, np.ma.MaskedArray):
        found = found | np.ma.getmaskarray(values)
    return found if found.ndim == 1 else np.asarray(found.any(axis=1))


def rows_of(values: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows, of a frame or a series as such: labels may be categories with an order."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "to_pylist"):
        return values.take(rows)
    of_polars = type(values).__module__.startswith("polars.")
    if of_polars or isinstance(values, np.ma.MaskedArray) or hasattr(values, "categories"):
        return values[rows]
    return np.asarray(in_numpy(values))[rows]


def directions(higher_is_better: Any, names: Sequence[str] | None, n_models: int) -> Any:
    """Return whether low scores mean positive: a bool, or an array of them if models differ."""
    given = higher_is_better
    if isinstance(given, Mapping):
        unknown = [name for name in given if str(name) not in (names or ())]
        if unknown or names is None:
            held = f"which are {', '.join(map(shown, names))}" if names else "but y_score has none"
            raise ValueError(f"higher_is_better={shown(given)} must be a mapping with the names of models, {held}")
        named = {str(name): value for name, value in given.items()}
        given = [named.get(name, True) for name in names]
    each = given if isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim == 1) else [given]
    wrong_length = each is given and len(each) != n_models
    if wrong_length or not all(isinstance(one, (bool, np.bool_)) for one in each):
        raise ValueError(
            "higher_is_better must be True or False, a list of them with one for each model, or a mapping from names"
            f" of models, got {shown(higher_is_better)}"
        )
    lower = ~np.array(each, dtype=bool)
    return bool(lower[0]) if (lower == lower[0]).all() else lower


def oriented(values: NDArray[Any], lower: Any) -> NDArray[Any]:
    """Flip scores (float32 or float64) so that high ones mean positive, or flip them back. Exact."""
    if isinstance(lower, bool):
        return -values if lower else values
    return np.asarray(values * np.where(lower, -1.0, 1.0).astype(values.dtype))


def in_caller_direction(threshold: Any, lower: Any) -> Any:
    """Return thresholds on the caller's scale; 0 is never negative."""
    return threshold if lower is False else np.where(lower, 0.0 - np.asarray(threshold), threshold)[()]
