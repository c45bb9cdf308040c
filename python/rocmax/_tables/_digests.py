"""Which rows of a table trained a model, by digests of their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocmax._typing import AnyArray

Digests = NDArray[np.uint64]

# The rows that are kept: a sample by digest, so that the same rows are looked for in every table. 4 bytes are kept of
# each; another row has the same ones with a probability of at most _MOST / 2^32, 1.5 in 100,000.
_MOST, _BITS = 65_536, 32
_ALL = 2**64 - 1
# Rows of one population equal training rows as often as these equal each other. More are reported: by this many
# standard deviations, and at least so many.
_DEVIATIONS, _FEWEST = 4.0, 3
# Of the generator SplitMix64 (Steele, Lea and Flood, 2014).
_BLOCK = 32_768  # numbers at a time
STEP, _MIX = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def digests(X: AnyArray) -> Digests:
    """Return 64 bits for each row that depend on its value in each column, in single precision; NaN is one value."""
    n, n_columns = X.shape
    found = np.empty(n, dtype=np.uint64)
    steps = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(STEP)  # so that columns differ
    for rows in blocks(n, n_columns):
        with np.errstate(over="ignore"):
            short = X[rows].astype(np.float32, order="C") + np.float32(0.0)  # without -0
        short[np.isnan(short)] = np.nan  # of one kind
        bits = short.view(np.uint32) + steps
        found[rows] = mixed(mixed(bits).sum(axis=1))
    return found


def blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows whose numbers fit into the cache."""
    size = max(1, _BLOCK // max(n_columns, 1))
    for first in range(0, n_rows, size):
        yield slice(first, first + size)


@dataclass(frozen=True)
class TrainedRows:
    """Digests of the rows that trained a model, or of a sample of them."""

    kept: NDArray[np.uint32]  # the last 32 bits of the digests up to the limit, in order
    limit: int
    repeats: int  # rows of the `n_rows` that equal another
    n_rows: int

    @classmethod
    def of(cls, found: Digests) -> TrainedRows:
        """Keep the digests of some rows."""
        distinct, counts = np.unique(found, return_counts=True)
        limit = _ALL if len(distinct) <= _MOST else int(distinct[_MOST - 1])
        kept = np.unique(distinct[:_MOST].astype(np.uint32))
        return cls(kept, limit, int(counts[counts > 1].sum()), len(found))


class RowsSeenInTraining:
    """Counts the rows of a table that trained a model, batch by batch."""

    def __init__(self, trained: TrainedRows) -> None:
        self.trained, self.n_rows, self.n_checked, self.n_met = trained, 0, 0, 0

    def add(self, found: Digests) -> None:
        """Count some rows by their digests."""
        ends, kept = found[found <= np.uint64(self.trained.limit)].astype(np.uint32), self.trained.kept
        if len(kept):
            place = np.minimum(np.searchsorted(kept, ends), len(kept) - 1)
            self.n_met += int(np.count_nonzero(kept[place] == ends))
        self.n_rows += len(found)
        self.n_checked += len(ends)

    @property
    def n_trained(self) -> int:
        """The number of rows that trained the model, from a sample an estimate; 0 if chance explains them."""
        n, n_trained = self.n_checked, max(self.trained.n_rows, 1)
        share = min(max(self.trained.repeats, 1) / n_trained + _MOST / 2**_BITS, 1.0)
        by_chance = n * share + _DEVIATIONS * np.sqrt(n * share * (1.0 - share) * (1.0 + n / n_trained))
        if self.n_met < _FEWEST or self.n_met <= by_chance:
            return 0
        return round(self.n_met / n * self.n_rows)

    def message(self) -> str | None:
        """Return how many rows trained the model, if any did."""
        n = self.n_trained
        about = "about " if self.trained.limit < _ALL and n < self.n_rows else ""
        these = f"{about}{n:,} of these {self.n_rows:,} rows" if n < self.n_rows else f"all of these {n:,} rows"
        return f"{these} trained the model: measured on them, it looks better than on new ones" if n else None


def mixed(x: Digests) -> Digests:
    """Return well-mixed bits; overwrites its argument."""
    for shift, factor in _MIX:
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x
