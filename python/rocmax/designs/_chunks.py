"""The blocks of rows of a dask array, and functions that run where the blocks are."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from rocmax._typing import AnyArray, Rows

# The number of results that one task adds up.
_ADDED = 8


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, without importing dask."""
    return type(X).__module__.startswith("dask.array")


class Chunks:
    """The blocks of rows of a two-dimensional dask array.

    Blocks in the memory of this process, as after ``from_array`` or ``persist`` without a cluster, are used directly: a
    task takes ten times as long as the product of a small block. Others get one task each, and only its result crosses
    the network.
    """

    def __init__(self, X: Any) -> None:
        X = X.rechunk({1: -1})
        self.ends = np.cumsum((0, *X.chunks[0]))
        held = X.__dask_graph__().layers.get(X.name, {})
        found = [held.get(key) for (key,) in X.__dask_keys__()]
        self.in_memory = all(type(block) is np.ndarray for block in found)
        self._blocks = found if self.in_memory else X.to_delayed()[:, 0].tolist()

    def parts(self) -> list[slice]:
        """Return the rows of each block."""
        return [slice(first, last) for first, last in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def each(self, function: Callable[..., Any], own: Iterable[Any] = (), *shared: Any) -> list[Any]:
        """Return ``function(block, own, *shared)`` for each block whose `own` is not None."""
        return self._found(self._calls(function, own, shared))

    def total(self, function: Callable[..., Any], own: Iterable[Any], *shared: Any) -> Any:
        """Return the sum of ``function(block, own, *shared)`` over all blocks."""
        parts = self._calls(function, own, shared)
        while len(parts) > 1 and not self.in_memory:
            parts = [_task(_sum)(parts[first : first + _ADDED]) for first in range(0, len(parts), _ADDED)]
        return _sum(self._found(parts))

    def take(self, index: Rows) -> AnyArray:
        """Return the rows of an index, in its order."""
        order = np.argsort(index, kind="stable")
        edges = np.searchsorted(index[order], self.ends)
        wanted = [
            index[order[first:last]] - start if last > first else None
            for first, last, start in zip(edges[:-1], edges[1:], self.ends[:-1], strict=True)
        ]
        ascending = np.concatenate(self.each(_rows, wanted))
        found = np.empty_like(ascending)
        found[order] = ascending
        return found

    def _calls(self, function: Callable[..., Any], own: Iterable[Any], shared: Sequence[Any]) -> list[Any]:
        pairs = [(block, mine) for block, mine in zip(self._blocks, own, strict=True) if mine is not None]
        if self.in_memory:
            return [function(block, mine, *shared) for block, mine in pairs]
        call, shared = _task(function), [_task(value) for value in shared]
        return [call(block, mine, *shared) for block, mine in pairs]

    def _found(self, parts: list[Any]) -> list[Any]:
        if self.in_memory:
            return parts
        import dask

        return list(dask.compute(*parts, optimize_graph=False))


def _rows(block: AnyArray, index: Rows) -> AnyArray:
    return block[index]


def _sum(parts: Sequence[Any]) -> Any:
    return reduce(add, parts)


def _task(of: Any) -> Any:
    import dask

    return dask.delayed(of, pure=False, traverse=False)
