"""Wide tables of a reader study: one row per case, one column per reader and modality."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.arrays import in_numpy, unmasked
from rocmax._checks.frames import coded
from rocmax._checks.missing import rows_of
from rocmax._checks.samples import F64, marked_missing, scores
from rocmax._parameters import shown
from rocmax._tables._frame import names_of as frame_names

_SEPARATORS = ("_", ".", "-", " ", ":", "/")  # of modality and reader in the name of a column


class Wide(NamedTuple):
    """The readings of a wide table, one row per reading."""

    score: F64
    reader: list[Any]
    modality: list[Any]
    per_case: dict[str, Any]


def from_wide(y_score: Any, per_case: dict[str, Any]) -> Wide:
    """Stack columns that are pairs (modality, reader), without missing readings; `per_case` has one value per row."""
    columns = _columns(y_score)
    n_rows = len(np.atleast_1d(in_numpy(per_case["y_true"])))
    parts, rows = [], []
    for pair, column in columns:
        name = f"y_score[{shown(pair)}]"
        held = unmasked(coded(column, name), name)
        _check_rows(held, name, n_rows)
        row = np.flatnonzero(~marked_missing(held))
        if not len(row):
            raise ValueError(f"{name} has no ratings, only missing values; leave this column out")
        parts.append(scores(held[row], name).astype(np.float64))
        rows.append(row)
    counts = [len(row) for row in rows]
    modality, reader = (
        [pair[k] for (pair, _), count in zip(columns, counts, strict=True) for _ in range(count)] for k in (0, 1)
    )
    place = np.concatenate(rows)
    given = {name: values for name, values in per_case.items() if values is not None}
    for name, values in given.items():
        if name != "y_true":
            _check_rows(values, name, n_rows)
    of_readings = {name: rows_of(values, place) for name, values in given.items()}
    return Wide(np.concatenate(parts), reader, modality, {**per_case, "case": place, **of_readings})


def _check_rows(values: Any, name: str, n_rows: int) -> None:
    try:
        shape = np.shape(in_numpy(values))
    except ValueError as error:  # of rows of different lengths
        raise ValueError(f"{name} is not an array: {shown(error)}") from error
    if shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one row per case as in y_true, got {shape}")


def _columns(y_score: Any) -> list[tuple[Any, Any]]:
    """Return the pairs (modality, reader) and their scores."""
    names = list(y_score) if isinstance(y_score, Mapping) else frame_names(y_score)
    if not names:
        raise ValueError(_NEITHER)
    if not all(isinstance(name, tuple) and len(name) == 2 for name in names):
        raise ValueError(_advice(names, "table" if isinstance(y_score, Mapping) else "table.columns"))
    return [(name, y_score[name]) for name in names]


_NEITHER = (
    "reader and modality are missing: give both, with one row per reading, or give y_score as a wide table: a mapping"
    " {(modality, reader): scores}, or a data frame whose columns are pairs (modality, reader)"
)


def _advice(names: list[Any], columns: str) -> str:
    """Return the line of Python that turns the columns of a table into pairs."""
    found = {
        mark: [name for name in names if isinstance(name, str) and 0 < name.find(mark) < len(name) - 1]
        for mark in _SEPARATORS
    }
    mark = max(found, key=lambda each: len(found[each]))
    head = "reader and modality are missing, and the columns of y_score are not pairs (modality, reader)"
    if len(found[mark]) < 2:
        line = f"{{('readers', column): table[column] for column in {columns}}}"
        return f"{head}; if there is one modality and each column is a reader, pass y_score={line}"
    modality, reader = found[mark][0].split(mark, 1)
    line = f"{{tuple(column.split({mark!r}, 1)): table[column] for column in {columns} if {mark!r} in column}}"
    return f"{head}; if {found[mark][0]!r} is modality {modality!r} and reader {reader!r}, pass y_score={line}"
