"""Blocks of dense features, all in C order: products then round alike whatever the layout of X."""

import mmap
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from operator import add, getitem
from typing import Any
from weakref import ref

import numpy as np

from rocmax._runtime.settings import settings
from rocmax._typing import F64, AnyArray, Rows

# Bytes of the largest tile, and of the largest block of whole rows, which callers copy and which fits the cache.
_BLOCK, _WHOLE = 1 << 26, 1 << 24
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)


def in_rows(X: Any) -> Any:
    """Return an array in C order, aligned and in native byte order; anything else as it is.

    BLAS adds in an order that depends on the layout: equal values in another layout would give another model.
    """
    if not isinstance(X, np.ndarray) or _is_in_rows(X):
        return X
    X = np.require(X, X.dtype.newbyteorder("="), ["C", "A", "E"])
    # An axis of length 1 may have any stride, on which numpy's choice of the routine depends.
    return X.reshape(-1).reshape(X.shape)


def _is_in_rows(X: AnyArray) -> bool:
    flags = X.flags
    return type(X) is np.ndarray and flags.c_contiguous and flags.aligned and X.dtype.isnative and 1 not in X.shape


def is_plain(X: Any) -> bool:
    """Whether products read X as it is: an array of floats in C order, in memory."""
    return _is_in_rows(X) and X.dtype in _FLOATS


def slices(size: int, step: int) -> Iterator[slice]:
    """Yield the slices of at least 1 and at most `step` that cover range(size)."""
    step = max(1, step)
    return (slice(first, min(first + step, size)) for first in range(0, size, step))


def tiles(X: AnyArray) -> Iterator[tuple[slice, slice, AnyArray]]:
    """Yield (rows, columns, X[rows, columns]) over an ndarray or a memmap, whose pages are released afterwards.

    The tiles depend on the shape alone. Each is a view, or a copy of at most 64 MB in C order; float32 stays, other
    numbers become float64.
    """
    n_samples, dim = X.shape
    width = max(1, -(-dim // max(1, -(-dim // settings().tile_columns))))
    height = min(settings().tile_rows, _BLOCK // (8 * width))
    if n_samples <= height and width == dim and is_plain(X):
        yield slice(0, n_samples), slice(0, dim), X  # to cut small features takes longer than to multiply them
        return
    as_it_is = X.flags.c_contiguous and X.flags.aligned and X.dtype.isnative
    for rows in slices(n_samples, height):
        for columns in slices(dim, width):
            require_whole(X)
            block = as_float(X[rows, columns])
            yield rows, columns, block if as_it_is and width < dim else in_rows(block)
            _release(X)


def row_blocks(X: Any) -> Iterator[tuple[slice, Any]]:
    """Yield (rows, X[rows]) as `tiles` does, up to 16 MB at a time; sparse rows are values, columns and starts."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        for rows in slices(X.shape[0], _WHOLE * X.shape[0] // (8 * max(1, X.nnz))):
            starts = X.indptr[rows.start : rows.stop + 1]
            own = slice(starts[0], starts[-1])
            values, columns = X.data[own].astype(np.float64, copy=False), X.indices[own].astype(np.int32, copy=False)
            yield rows, (values, columns, (starts - starts[0]).astype(np.int32))
        return
    for rows in slices(len(X), min(settings().block_rows, _WHOLE // (8 * max(1, X.shape[1])))):
        require_whole(X)
        yield rows, in_rows(as_float(X[rows]))
        _release(X)


def as_float(block: AnyArray) -> AnyArray:
    """Return an array in the precision of products: single for float32, else double."""
    single = block.dtype.kind == "f" and block.dtype.itemsize == 4
    return np.asarray(block).astype(np.float32 if single else np.float64, copy=False)


def require_whole(X: Any) -> None:
    """Refuse a memmap whose file was cut: reading beyond its end kills the process, as a cut during a block can."""
    source = getattr(X, "_mmap", None)
    if not isinstance(source, mmap.mmap):
        return
    try:
        held = source.size()
    except (OSError, ValueError):  # a map without a file
        return
    offset = int(getattr(X, "offset", 0))
    needed = offset - offset % mmap.ALLOCATIONGRANULARITY + len(source)
    if held < needed:
        raise OSError(
            f"X: the file {getattr(X, 'filename', None)} was cut after it was mapped, to {held:,} of {needed:,} bytes;"
            " write new features to a new file"
        )


def _release(X: AnyArray) -> None:
    """Release the pages of a file, except those of a copy-on-write map, whose changes would be lost."""
    require_whole(X)
    source = getattr(X, "_mmap", None)
    if isinstance(source, mmap.mmap) and hasattr(source, "madvise") and X.mode in ("r", "r+", "w+"):  # type: ignore[attr-defined]
        source.madvise(mmap.MADV_DONTNEED)


# The number of results that one task adds up.
_ADDED = 8
_sum = partial(reduce, add)


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, without importing dask."""
    return type(X).__module__.startswith("dask.array")


class Chunks:
    """The blocks of rows of a two-dimensional dask array.

    Blocks in the memory of this process, as after ``from_array`` or ``persist`` without a cluster, are used directly: a
    task takes ten times as long as the product of a small block. Those that a cluster holds get one message to each
    worker, which takes less than the tasks of one block. Others get one task each. Only results cross the network.
    """

    def __init__(self, X: Any) -> None:
        self.name, self.ends = X.name, np.cumsum((0, *X.chunks[0]))
        held = X.__dask_graph__().layers.get(X.name, {})
        found = [held.get(key) for (key,) in X.__dask_keys__()]
        self.in_memory = all(type(block) is np.ndarray for block in found)
        self._holders = [(list(range(len(found))), _Held(*found))] if self.in_memory else _workers(found)
        self._tasks = X.to_delayed()[:, 0].tolist()

    @classmethod
    def of(cls, X: Any, *, taken: bool = False) -> "Chunks":
        """Return the blocks, which X keeps until a design has `taken` them; values that are set give another name."""
        X = X.rechunk({1: -1})
        found: Chunks | None = X.__dict__.get("_rocmax", lambda: None)()
        if new := found is None or found.name != X.name:
            found = cls(X)
        if new or taken:  # workers are free to spill and move blocks once the design is gone
            X.__dict__["_rocmax"] = ref(found) if taken else (lambda: found)
        return found

    def parts(self) -> list[slice]:
        """Return the rows of each block."""
        return [slice(first, last) for first, last in zip(self.ends[:-1], self.ends[1:], strict=True)]

    def each(self, function: Callable[..., Any], own: Iterable[Any], *shared: Any) -> list[Any]:
        """Return ``function(block, own, *shared)`` for each block whose `own` is not None."""
        own = list(own)
        if (held := self._of_holders(_each, function, own, shared)) is None:
            return _computed(_each(self._tasks, _task(function), own, [_task(value) for value in shared]))
        found = {place: value for places, values in held for place, value in zip(places, values, strict=True)}
        return [found[place] for place in sorted(found)]

    def total(self, function: Callable[..., Any], own: Iterable[Any], *shared: Any) -> Any:
        """Return the sum of ``function(block, own, *shared)``, added where blocks are, on which last digits depend."""
        own = list(own)
        if (held := self._of_holders(_total, function, own, shared)) is not None:
            return _sum([value for _, value in held])
        parts = _each(self._tasks, _task(function), own, [_task(value) for value in shared])
        while len(parts) > 1:
            parts = [_task(_sum)(parts[first : first + _ADDED]) for first in range(0, len(parts), _ADDED)]
        return _computed(parts)[0]

    def take(self, index: Rows) -> AnyArray:
        """Return the rows of an index, in its order."""
        order = np.argsort(index, kind="stable")
        edges = np.searchsorted(index[order], self.ends)
        wanted = [
            index[order[first:last]] - start if last > first else None
            for first, last, start in zip(edges[:-1], edges[1:], self.ends[:-1], strict=True)
        ]
        ascending = np.concatenate(self.each(getitem, wanted))
        found = np.empty_like(ascending)
        found[order] = ascending
        return found

    def _of_holders(self, how: Any, function: Any, own: list[Any], shared: Any) -> list[tuple[list[int], Any]] | None:
        """Return the places of some blocks and what `how` returns of them, for each holder; None if there is none."""
        try:
            called = []
            for every, holder in self._holders:
                if places := [place for place in every if own[place] is not None]:
                    call = partial(how, function=function, own=[own[place] for place in every], shared=shared)
                    called.append((places, holder.apply(call)))
            return [(places, found if self.in_memory else found.result()) for places, found in called] or None
        except (OSError, RuntimeError):  # a worker was lost: the cluster makes its blocks again
            if self.in_memory:
                raise
            self._holders = []
            return None


class _Held:
    """Blocks in memory, as an actor in that of a worker; those that were sent may lie anywhere."""

    def __init__(self, *blocks: AnyArray) -> None:
        self._blocks = [np.require(block, requirements="A") for block in blocks]

    def apply(self, call: Callable[..., Any]) -> Any:
        return call(self._blocks)


def _workers(blocks: list[Any]) -> list[tuple[list[int], Any]]:
    """Return the places of the blocks that each worker of a cluster holds, and an actor with these; [] if one has none.

    A fit within a task gets none: it would wait for the thread that it occupies.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None or not all(isinstance(block, distributed.Future) for block in blocks):
        return []
    client = blocks[0].client
    if client is None or client.asynchronous or hasattr(distributed.worker.thread_state, "execution_state"):
        return []
    distributed.wait(blocks)
    at = client.who_has(blocks)
    if not all(at.values()):  # lost, or failed
        return []
    holders: dict[str, list[int]] = {}
    for place, block in enumerate(blocks):
        holders.setdefault(at[block.key][0], []).append(place)
    actors = [
        client.submit(_Held, *(blocks[place] for place in places), workers=[worker], actor=True)
        for worker, places in holders.items()
    ]
    return [(places, actor.result()) for places, actor in zip(holders.values(), actors, strict=True)]


def _each(blocks: list[Any], function: Callable[..., Any], own: list[Any], shared: Sequence[Any]) -> list[Any]:
    pairs = zip(blocks, own, strict=True)
    return [function(block, mine, *shared) for block, mine in pairs if mine is not None]


def _total(blocks: list[Any], function: Callable[..., Any], own: list[Any], shared: Sequence[Any]) -> Any:
    return _sum(_each(blocks, function, own, shared))


def _computed(tasks: list[Any]) -> list[Any]:
    import dask

    return list(dask.compute(*tasks, optimize_graph=False))


def _task(of: Any) -> Any:
    import dask

    return dask.delayed(of, pure=False, traverse=False)


def some_rows(X: Any, n_rows: int) -> AnyArray:
    """Return about so many rows of X in ten runs: single rows of a file would each read a page."""
    run = min(1 + n_rows // 10, X.shape[0])
    starts = np.linspace(0, X.shape[0] - run, 10).astype(int)
    if is_dask(X):
        return Chunks.of(X).take(np.concatenate([np.arange(start, start + run) for start in starts]))
    return np.concatenate([np.asarray(X[start : start + run, :]) for start in starts])


def rough_mean(some: AnyArray) -> F64:
    """Return the mean of some rows, 0 in columns where it is at most twice the standard deviation."""
    some = np.asarray(some, dtype=np.float64)
    mean = some.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):  # features near 1e154 and above are refused by their products
        return np.where(np.abs(mean) > 2 * some.std(axis=0), mean, 0.0)


def add_moments(gram: F64, total: F64, Z: AnyArray, weight: F64, shift: F64) -> None:
    """Add the moments of some rows."""
    used = np.flatnonzero(weight)
    if len(used) < len(Z):
        Z, weight = Z[used], weight[used]
    Z = np.asarray(Z, dtype=np.float64)
    if shift.any():
        Z = Z - shift
    total += weight @ Z
    if (weight != 1.0).any():
        Z = Z * np.sqrt(weight)[:, None]
    gram += Z.T @ Z
