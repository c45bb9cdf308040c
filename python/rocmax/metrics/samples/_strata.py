"""A column that samples are counted by, such as the day."""

from typing import Any

import numpy as np

from rocmax._checks.dask import in_memory
from rocmax._checks.samples import names_of
from rocmax._parameters import shown
from rocmax.metrics._words import label_text


class Strata:
    """The names in a column, and the rows that each is of; equal if title and column are."""

    def __init__(self, column: Any, name: str) -> None:
        if isinstance(column, str) or np.ndim(column) != 1 or not len(column):
            raise ValueError(f"{name} must be a column with a value for each sample, got {shown(column)}")
        (values,) = in_memory(**{name: column})
        self.names, place = names_of(values, len(values), name)
        self.place = place.astype(np.intp, copy=False)
        title = getattr(column, "name", None)
        self.title = label_text(title) if isinstance(title, str) and title else f"value of {name}"
        self.rows = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
        self._hash = hash((self.title, self.place.tobytes()))

    def __len__(self) -> int:
        return len(self.place)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strata):
            return NotImplemented
        same = self.title == other.title and np.array_equal(self.place, other.place)
        return same and bool((self.names == other.names).all())

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.title if " " not in self.title else f"<{len(self.names):,} values>"
