"""Dask collections: fetched partition by partition, or counted where they are."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.arrays import is_dask, require_read, require_unmasked


def in_memory(**given: Any) -> list[Any]:
    """Return the arrays, dask collections computed in one graph and copied part by part; the first holds labels."""
    for name, values in given.items():
        require_read(values, name)
        if hasattr(type(values), "to_pandas") and hasattr(values, "dims"):  # xarray: pandas keeps its names and labels
            given[name] = values.to_pandas()
    if not is_dask(*given.values()):
        return list(given.values())
    import dask

    lazy = {name: _array(values, name) for name, values in given.items() if is_dask(values)}
    labels = next(iter(given))
    wholes = {name: _Whole(array) for name, array in lazy.items()}
    places, tasks = [], []
    for name, array in lazy.items():
        # Optimised separately, arrays would not share their common tasks.
        for part, block in enumerate(array.to_delayed(optimize_graph=False).ravel()):
            places.append((wholes[name], part))
            tasks.append(dask.delayed(_sent)(block, name, name == labels))

    def take(task: int, values: NDArray[Any]) -> None:
        whole, part = places[task]
        whole.put(part, values)

    _stream(tasks, take)
    return [wholes[name].values() if name in wholes else values for name, values in given.items()]


def accumulated(new: Callable[[], Any], given: dict[str, Any]) -> Any:
    """Accumulate each partition where it is, in a `new` accumulator, and merge the accumulators as they arrive."""
    import dask
    import dask.array as da

    arrays = {
        name: _array(values, name) if is_dask(values) else da.from_array(np.asarray(values))
        for name, values in given.items()
    }
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if not any(map(np.isnan, sizes.values())):
        if len({*sizes.values()}) > 1:
            raise ValueError(f"{', '.join(sizes)} must have as many samples, got {[*sizes.values()]}")
        rows = arrays["y_score"].chunks[0]
        arrays = {name: array.rechunk({0: rows}) for name, array in arrays.items()}
    elif len({array.numblocks[0] for array in arrays.values()}) > 1:
        raise ValueError("y_true and y_score have partitions of unknown sizes; call compute_chunk_sizes() of each")
    blocks = (array.to_delayed(optimize_graph=False).ravel() for array in arrays.values())
    tasks = [dask.delayed(_counted)(new, *block) for block in zip(*blocks, strict=True)]
    total = new()

    def take(_: int, part: Any) -> None:
        total.merge(part)

    _stream(tasks, take)
    return total


def _array(values: Any, name: str) -> Any:
    """Return a collection as a dask array whose partitions hold whole rows."""
    array = values.to_dask_array() if hasattr(values, "to_dask_array") else values
    if not hasattr(array, "to_delayed") or getattr(array, "ndim", 0) not in (1, 2):
        raise ValueError(f"{name} must be a dask array of one or two dimensions, got {values!r}")
    return array.rechunk({1: -1}) if array.ndim == 2 else array


class _Whole:
    """An array that is filled partition by partition."""

    def __init__(self, array: Any) -> None:
        ends = np.cumsum(array.chunks[0])
        self._known = not np.isnan(ends).any()
        self._ends = ends
        self._shape = array.shape
        self._parts: list[Any] = [None] * len(ends)
        self._values: NDArray[Any] | None = None

    def put(self, part: int, values: NDArray[Any]) -> None:
        if not self._known:
            self._parts[part] = values
            return
        if self._values is None:
            self._values = np.empty(self._shape, values.dtype)
        dtype = np.result_type(self._values, values)
        if dtype != self._values.dtype:
            self._values = self._values.astype(dtype)
        to = int(self._ends[part])
        self._values[to - len(values) : to] = values

    def values(self) -> NDArray[Any]:
        if self._values is None:
            self._values, self._parts = np.concatenate(self._parts), []
        return self._values


def _stream(tasks: list[Any], take: Callable[[int, Any], None]) -> None:
    """Compute all tasks in one graph; call `take` with the index and the result of each as it ends, one at a time."""
    import dask

    get = dask.base.get_scheduler(collections=tasks)
    client: Any = getattr(get, "__self__", None)
    if type(client).__module__.startswith("distributed."):
        from distributed import as_completed

        futures = client.compute(tasks)
        place = {future.key: k for k, future in enumerate(futures)}
        completed = as_completed(futures, with_results=True)
        del futures  # the cluster releases results without a future
        for future, value in completed:
            take(place[future.key], value)
            del future, value
    elif get in (dask.threaded.get, dask.get):
        lock = threading.Lock()

        def here(k: int, value: Any) -> None:
            with lock:
                take(k, value)

        dask.compute([dask.delayed(here)(k, task) for k, task in enumerate(tasks)])
    else:
        for k, value in enumerate(dask.compute(*tasks)):
            take(k, value)


def _sent(block: Any, name: str, is_labels: bool) -> NDArray[Any]:
    """Return the values of a partition to send; labels that are whole numbers as bytes."""
    require_unmasked(block, name)
    values = np.asarray(block)
    if not is_labels or values.dtype.kind not in "iuf" or values.dtype.itemsize == 1:
        return values
    with np.errstate(invalid="ignore"):
        narrow = values.astype(np.uint8 if values.dtype.kind == "u" else np.int8)
    return narrow if (narrow == values).all() else values


def _counted(new: Callable[[], Any], y: Any, s: Any, w: Any = None) -> Any:
    return new().update(y, s, sample_weight=w)
