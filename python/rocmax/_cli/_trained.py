"""What a model file remembers of the training table, and what is news of later ones."""

from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._tables._digests import RowsSeenInTraining, TrainedRows, digests
from rocmax._tables._later import Later, trained_columns
from rocmax._tables._notes import Note
from rocmax._tables._schema import Schema
from rocmax._tables._suspects import found_in

# With fewer rows equal scores are no news.
_FEW = 20


@dataclass(frozen=True)
class Trained:
    """What was in the columns that trained a model, and digests of its rows."""

    columns: NDArray[np.float64]
    rows: TrainedRows

    @classmethod
    def of(cls, X: pl.DataFrame, schema: Schema) -> "Trained":
        """Remember a table of `features`."""
        read = schema.table(X)
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


class LaterRows(Later):
    """What is news of a later table and of its scores, over its batches; unseen categories are treated as `rare`."""

    def __init__(self, trained: Trained, schema: Schema, rare: str) -> None:
        super().__init__(schema, trained.columns)
        self.rare, self.met = rare, RowsSeenInTraining(trained.rows)
        self.low, self.high, self.n_rows = np.inf, -np.inf, 0

    def add(self, X: pl.DataFrame, scores: NDArray[np.float64]) -> None:
        """Count some rows of `features`, and their scores."""
        self.met.add(digests(self.read(X)))
        self.low, self.high = min(self.low, float(scores.min())), max(self.high, float(scores.max()))
        self.n_rows += len(scores)

    def told(self) -> list[Note]:
        """Return the news."""
        found = [replace(note, text=f"warning: {note.text}") for note in self.notes(self.rare)]
        if self.n_rows >= _FEW and self.low == self.high:
            found.append(Note("equal scores", f"warning: all {self.n_rows:,} scores are equal", rows=self.n_rows))
        if fact := self.met.message():
            found.append(Note("trained rows", fact, rows=self.met.n_trained))
        return found


def suspects(X: pl.DataFrame, positive: NDArray[np.bool_], groups: Any = None, *, in_time: bool = False) -> list[Note]:
    """Return the news of columns that leak the label, or name what rows are about."""
    found = found_in(X, positive, groups)
    group = "--drop it, or give --groups {}" if in_time else "give --groups {}"
    notes = []
    for one in found:
        text = f"warning: {one.message('--drop it', group.replace('{}', quote(str(one.column))))}"
        notes.append(Note("suspect", text, str(one.column), (one.by or one.only or "groups",), one.n_rows or None))
    return notes
