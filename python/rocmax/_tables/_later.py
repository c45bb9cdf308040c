"""What is news of later tables: the one reader of all that come after training."""

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._changes import Changes
from rocmax._tables._frame import is_frame
from rocmax._tables._notes import Note, first
from rocmax._tables._schema import Schema, Unseen
from rocmax._typing import F64

_SHOWN = 10  # columns in a warning


class Later:
    """Reads tables by the schema of training, whose columns `trained` sums up, and collects their news by batches."""

    def __init__(self, schema: Schema, trained: F64 | None, names: Sequence[Any] | None = None) -> None:
        self.schema, self.trained, self.names, self.unseen = schema, trained, names, Unseen()
        self.changes: Changes | None = None

    def read(self, X: Any) -> Any:
        """Return a frame as numbers, then the places of categories, as `Schema.table` does; an array as it is."""
        if is_frame(X):
            X = self.schema.table(X, self.unseen)
        elif named := [*self.schema.categorical, *self.schema.left_out]:
            what = f"a frame with the columns of training, of which {named[0]!r} is not numeric"
            raise ValueError(f"X must be {what}, got {type(X).__name__}")
        if self.trained is not None and not sparse.issparse(X):
            if self.changes is None:
                names = self.schema.used or (range(X.shape[1]) if self.names is None else self.names)
                n_numeric = len(names) - len(self.schema.categories)
                self.changes = Changes(names, self.trained, n_numeric, self.schema.flags())
            self.changes.add(X)
        return X

    def notes(self, rare: str = "missing") -> list[Note]:
        """Return the news; unseen categories are treated as `rare`."""
        return self.unseen.found(rare) + (self.changes.found() if self.changes is not None else [])

    def warn(self) -> None:
        """Warn once of all news but of columns with one value, which curves of partial dependence have on purpose."""
        texts = [note.text for note in self.notes() if note.values != ("constant",)]
        if texts := first(texts, _SHOWN, "changed since training"):
            warn("; ".join(texts), UserWarning)
