"""What is news of later tables: how their columns differ from those of training, and the one reader of all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from rocmax._runtime.warn import warn
from rocmax._tables._digests import blocks
from rocmax._tables._forms import Note, first, is_frame
from rocmax._tables._schema import Schema, Unseen
from rocmax._typing import F64, AnyArray

# The share of rows further outside the trained range than it is wide that is reported, if more rows than _SINGLE; and
# the share of rows outside the range at all.
_FAR, _SINGLE, _OUTSIDE = 0.01, 2, 0.5
# The change of the share of missing values that is reported.
_MISSING = 0.25
# With fewer rows only values far outside and columns without any value are reported; a column without any value, or
# with one value, is, if chance rarely makes one. Training rows tell no share below the last.
_FEW, _EMPTY, _CONSTANT, _LEAST = 20, 0.01, 1e-6, 0.005
# The rows by which the most frequent value is found.
_ROWS = 10_000

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


def trained_columns(X: AnyArray) -> F64:
    """Return five rows about columns: share missing, range, most frequent value and its share."""
    n, n_columns = X.shape
    found = np.full((5, n_columns), np.nan)
    found[0] = np.count_nonzero(X != X, axis=0) / n
    found[1], found[2] = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    some = X if n <= _ROWS else X[np.random.default_rng(0).choice(n, _ROWS, replace=False)]
    for k in range(n_columns):
        values, counts = np.unique(some[:, k][~np.isnan(some[:, k])], return_counts=True)
        if len(counts):
            found[3:, k] = values[counts.argmax()], counts.max() / counts.sum()
    return found


class Changes:
    """Compares the columns of a table with those of training, batch by batch."""

    def __init__(self, names: Sequence[Any], trained: F64, n_numeric: int | None = None, flags: Any = None) -> None:
        """Remember the names of columns, those after `n_numeric` being categories, and `flags`, which hold 0 and 1."""
        self.names, self.trained = names, trained
        low, high = trained[1:3]
        with np.errstate(over="ignore", invalid="ignore"):
            wide = np.where(high > low, high - low, np.inf)
            if flags is not None:
                wide[: len(flags)][flags] = 0.0
            self.ends = low - wide, high + wide
        self.is_number = np.arange(len(names)) < (len(names) if n_numeric is None else n_numeric)
        self.n_rows = 0
        self.missing, self.far, self.outside = (np.zeros(len(names), dtype=np.int64) for _ in range(3))
        self.low, self.high = np.full(len(names), np.nan), np.full(len(names), np.nan)

    def add(self, X: AnyArray) -> None:
        """Count some rows."""
        (_, low, high, _, _), (far_low, far_high) = self.trained, self.ends
        for rows in blocks(*X.shape):
            block = X[rows]
            self.far += np.count_nonzero((far_low > block) | (far_high < block), axis=0)
            self.outside += np.count_nonzero((low > block) | (high < block), axis=0)
            self.missing += np.count_nonzero(np.isnan(block), axis=0)
            self.low = np.fmin(self.low, np.fmin.reduce(block, axis=0))
            self.high = np.fmax(self.high, np.fmax.reduce(block, axis=0))
        self.n_rows += len(X)

    def found(self) -> list[Note]:
        """Return the columns that changed; the value of a note is how: "missing", "constant" or "range"."""
        if not self.n_rows:
            return []
        share, _, _, mode, mode_share = self.trained
        here = self.n_rows - self.missing
        now = self.missing / self.n_rows
        empty = (here == 0) & (share < 1.0) & (np.clip(share, _LEAST, 1.0) ** self.n_rows < _EMPTY)
        lost = (self.n_rows >= _FEW) & (np.abs(now - share) > _MISSING) & ~empty
        outside = self.is_number & (here >= _FEW) & (self.outside > _OUTSIDE * here)
        far = self.is_number & (self.far > np.minimum(np.maximum(_FAR * here, _SINGLE), _OUTSIDE * here))
        rarest = np.where(self.low == mode, mode_share, np.minimum(mode_share, 1.0 - mode_share))
        constant = (here >= _FEW) & (self.low == self.high) & (np.clip(rarest, _LEAST, 1.0) ** here < _CONSTANT)
        constant &= self.is_number | (self.low >= 0)  # unseen categories are reported as such
        found = []
        for k in np.flatnonzero(empty | lost | far | outside | constant).tolist():
            if empty[k] or lost[k]:
                found.append(self._change(k, "missing", self._missing(k, share[k]), self.missing[k]))
            if far[k] or outside[k]:
                found.append(self._change(k, "range", *self._range(k, far=bool(far[k]))))
            elif constant[k]:
                value = f"is {self.low[k]:g}" if self.is_number[k] else "has one category"
                found.append(self._change(k, "constant", f"{value} in every row; it varied in training", here[k]))
        return found

    def _change(self, k: int, change: str, what: str, n: int) -> Note:
        return Note("changed", f"column {self.names[k]!r} {what}", str(self.names[k]), (change,), int(n))

    def _missing(self, k: int, share: float) -> str:
        n = int(self.missing[k])
        now = "has no value" if n == self.n_rows else f"has no value in {_percent(n / self.n_rows)} of the rows"
        then = f"{_percent(share)} were missing" if share else "no value was missing"
        return f"{now if n else 'has a value in every row'}; {then} in training"

    def _range(self, k: int, *, far: bool) -> tuple[str, int]:
        low, high = self.trained[1:3, k]
        n = int((self.far if far else self.outside)[k])
        first = self.low[k] if low - self.low[k] > self.high[k] - high else self.high[k]
        where = f"{'far ' if far else ''}outside the trained range [{low:g}, {high:g}]"
        return f"lies {where} in {n:,} of {self.n_rows:,} rows, such as {first:g}", n


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.4g} %"
