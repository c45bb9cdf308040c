"""What a model file remembers of the training table, and what is news of later ones."""

from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli._table import nameless
from rocmax._tables._changes import Changes, trained_columns
from rocmax._tables._digests import Met, TrainedRows, digests
from rocmax._tables._notes import Note, of_rows, some
from rocmax._tables._schema import Schema
from rocmax._tables._suspects import found_in

# With fewer rows equal scores are no news.
_FEW = 20
_NAMED = 3  # categories in a warning


@dataclass(frozen=True)
class Trained:
    """What was in the columns that trained a model, and digests of its rows."""

    columns: NDArray[np.float64]
    rows: TrainedRows

    @classmethod
    def of(cls, X: pl.DataFrame, schema: Schema) -> "Trained":
        """Remember a table of `features`."""
        read = _read(X, schema)
        return cls(trained_columns(read), TrainedRows.of(digests(read)))

    def plain(self) -> dict[str, Any]:
        """Return the parts, for the model file."""
        return {"columns": self.columns, "rows": self.rows.plain()}

    @classmethod
    def restored(cls, parts: dict[str, Any], schema: Schema) -> "Trained":
        """Return the same from its parts, or raise ValueError if they are not whole."""
        columns = parts["columns"]
        shape = (5, len(schema.used))
        if type(columns) is not np.ndarray or columns.dtype != np.float64 or columns.shape != shape:
            raise ValueError("what the columns were in training is damaged")
        return cls(columns, TrainedRows.restored(parts["rows"]))


class Later:
    """What is news of a later table, over its batches; unseen categories are treated as `rare`."""

    def __init__(self, trained: Trained, schema: Schema, rare: str) -> None:
        self.schema, self.rare = schema, rare
        self.unseen: dict[str, tuple[list[str], int]] = {}  # the first of each column, and the number of their rows
        self.changes = Changes(schema.used, trained.columns, len(schema.numeric), schema.flags())
        self.met = Met(trained.rows)
        self.low, self.high, self.n_rows = np.inf, -np.inf, 0

    def add(self, X: pl.DataFrame, scores: NDArray[np.float64]) -> None:
        """Count some rows of `features`, and their scores."""
        read = _read(X, self.schema)
        for k, column in enumerate(self.schema.categories, len(self.schema.numeric)):
            if len(rows := np.flatnonzero(read[:, k] < 0)):
                first, n_rows = self.unseen.get(column.name, ([], 0))
                new = nameless(X[:, k])[rows].unique(maintain_order=True).head(2 * _NAMED + 2).to_list()
                self.unseen[column.name] = list(dict.fromkeys([*first, *new]))[: _NAMED + 1], n_rows + len(rows)
        self.changes.add(read)
        self.met.add(digests(read))
        self.low, self.high = min(self.low, float(scores.min())), max(self.high, float(scores.max()))
        self.n_rows += len(scores)

    def notes(self) -> list[Note]:
        """Return the news."""
        found = []
        for name, (values, n) in self.unseen.items():
            new = f"{some(values, _NAMED)} not seen in training ({of_rows(n)})"
            text = f"warning: column {name!r}: {new}: treated as {self.rare}"
            found.append(Note("unseen", text, name, tuple(values[:_NAMED]), n))
        found += [
            Note("changed", f"warning: {one.text}", str(one.column), (one.change,), one.n_rows)
            for one in self.changes.found()
        ]
        if self.n_rows >= _FEW and self.low == self.high:
            found.append(Note("equal scores", f"warning: all {self.n_rows:,} scores are equal", rows=self.n_rows))
        if said := self.met.message():
            found.append(Note("trained rows", said, rows=self.met.n_trained))
        return found


def suspects(X: pl.DataFrame, positive: NDArray[np.bool_], groups: Any = None, *, in_time: bool = False) -> list[Note]:
    """Return the news of columns that leak the label, or name what rows are about."""
    found = found_in(X, positive, groups)
    group = "--drop it, or give --groups {} in place of --time" if in_time else "give --groups {}"
    notes = []
    for one in found:
        text = f"warning: {one.message('--drop it', group.replace('{}', quote(str(one.column))))}"
        notes.append(Note("suspect", text, str(one.column), (one.by or one.only or "groups",), one.n_rows or None))
    return notes


def _read(X: pl.DataFrame, schema: Schema) -> NDArray[np.float64]:
    """Return a table of `features` as numbers: categories by their place, -1 where unseen; NaN is missing."""
    found = np.empty((len(X), len(schema.used)), order="F")
    n = len(schema.numeric)
    for k in range(n):
        found[:, k] = X[:, k].to_numpy()
    for k, column in enumerate(schema.categories, n):
        held = nameless(X[:, k])
        distinct = held.drop_nulls().unique()
        codes = column.codes(distinct.to_list()).astype(np.float64)
        found[:, k] = held.replace_strict(distinct, pl.Series(codes), default=None, return_dtype=pl.Float64).to_numpy()
    return found
