"""Arrays, frames, series and dask collections of other libraries: as NumPy arrays, their categories and labels."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._tables._forms import is_missing, names_of

_TEXTS = ("string", "large_string", "string_view")  # types of pyarrow


def unmasked(values: ArrayLike, name: str, remedy: str = "leave those samples out") -> NDArray[Any]:
    require_unmasked(values, name, remedy)
    try:
        found = np.asarray(in_numpy(np.asarray(in_numpy(values))))  # twice, for lists of narrow numbers
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        raise ValueError(f"{name} is not an array: {shown(error)}") from error
    if found.ndim == 0 and hasattr(values, "__iter__") and not isinstance(values, (str, bytes, np.ndarray)):
        how = f"{name}.toarray()" if hasattr(values, "toarray") else f"list({name}), in the order of the samples"
        raise ValueError(f"{name} is a {type(values).__name__}, not an array: pass {how}")
    return found


def as_floats(values: Any, name: str) -> NDArray[np.float64]:
    """Return numbers as float64, of any shape; NaN in place of all if they are none."""
    found = unmasked(values, name, "leave them out")
    try:
        return np.full(found.shape, np.nan) if found.dtype.kind not in "fiubO" else found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.full(found.shape, np.nan)


def require_read(values: Any, name: str) -> None:
    """Refuse a LazyFrame."""
    if hasattr(type(values), "collect_schema") and not hasattr(values, "shape"):
        raise TypeError(f"{name} is a LazyFrame, whose rows are not read yet; pass {name}.collect()")


def in_numpy(values: Any) -> Any:
    """Return what numpy cannot read (tensors, bfloat16, 128-bit integers) as an array, anything else as it is."""
    if type(values) is np.ndarray and values.dtype.kind != "V":  # the common case, without the dtype's name
        return values
    of = type(values)  # series look for a method that they lack among their labels
    if hasattr(of, "unify_dictionaries"):
        return one_chunk(values)
    dtypes = values.dtypes if hasattr(of, "dtypes") else None
    if any("Int128" in str(dtype) for dtype in (dtypes if type(dtypes) is list else [getattr(values, "dtype", "")])):
        return _of_python_numbers(values)
    if not (hasattr(of, "detach") and hasattr(of, "cpu")):
        added = getattr(getattr(values, "dtype", None), "isbuiltin", 1) == 2  # by libraries such as jax
        return np.asarray(values).astype(np.float32) if added else values
    held = values.detach().cpu()
    try:
        return np.asarray(held)
    except TypeError:  # a dtype that numpy does not have
        return np.asarray(held.float())


def one_chunk(values: Any) -> Any:
    """Return chunks of pyarrow as one array: NumPy takes a missing value among categories in chunks for another."""
    parts = getattr(values, "chunks", [values])
    return parts[0] if len(parts) == 1 else values.unify_dictionaries().combine_chunks()


def _of_python_numbers(values: Any) -> NDArray[Any]:
    """Return a series or a frame of polars as an array, of objects if 64 bits do not hold its numbers."""
    found = np.empty(values.shape, dtype=object)
    found[...] = values.rows() if hasattr(values, "rows") else values.to_list()
    try:
        whole = found.astype(np.int64)
        return whole if (whole == found).all() else found
    except (TypeError, OverflowError):  # None, or a larger number
        return found


def require_unmasked(values: Any, name: str, remedy: str = "leave those samples out") -> None:
    """Check that no value is masked: masked values would be taken for data."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has {np.count_nonzero(np.ma.getmaskarray(values))} masked values; {remedy}")


def marked_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark NaN, NaT, None and pandas' NA."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)
    if values.dtype != object:
        return np.zeros(values.shape, dtype=bool)
    if two_kinds(values):
        return np.zeros(len(values), dtype=bool)
    return np.array([type(x) is not str and is_missing(x) for x in values.flat], dtype=bool).reshape(values.shape)


def missing_texts(values: Any) -> NDArray[np.bool_] | None:
    """Mark the missing ones among texts and categories, without making objects of them; None of any others."""
    if type(values) is list:
        return np.zeros(len(values), dtype=bool) if two_kinds(values) else None
    kind = type(getattr(values, "dtype", None)).__name__
    if kind in ("StringDtype", "CategoricalDtype"):
        return np.asarray(values.isna())
    of_pyarrow = hasattr(type(values), "null_count") and str(getattr(values, "type", "")) in _TEXTS
    return np.asarray(values.is_null()) if of_pyarrow or kind in ("String", "Categorical", "Enum") else None


def is_dask(*arrays: Any) -> bool:
    """Whether one of the arrays is a dask collection."""
    return any([f"{type(array).__module__}.".startswith("dask.") for array in arrays])


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Copy strided and misaligned arrays, which the core cannot read."""
    readable = values.flags.c_contiguous and values.flags.aligned
    return values if readable else np.require(values, requirements=["C", "A"])


def declared_order(values: Any) -> list[Any]:
    """Return the labels of an ordered categorical of pandas or an Enum of polars, in their order; else []."""
    dtype: Any = getattr(values, "dtype", None)
    ordered = getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum"
    return list(dtype.categories) if ordered else []


def coded(values: Any, name: str) -> Any:
    """Return ordered categories as 0, 1, ..., or as their own increasing numbers; anything else as it is."""
    dtype: Any = getattr(values, "dtype", None)
    if type(dtype).__name__ not in ("CategoricalDtype", "Categorical", "Enum"):
        return values
    order = declared_order(values)
    numbers = getattr(getattr(dtype, "categories", None), "dtype", np.dtype(object))
    if getattr(numbers, "kind", "O") in "iuf" and (not order or (np.diff(order) > 0).all()):
        return values
    if not order:
        raise ValueError(
            f"{name} holds categories without an order; declare it, such as by"
            " pandas.CategoricalDtype(['low', 'mid', 'high'], ordered=True), or pass numbers"
        )
    if hasattr(values, "to_physical"):
        return values.to_physical().cast(float).to_numpy()
    codes = np.asarray(getattr(values, "cat", values).codes)
    return np.where(codes < 0, np.nan, codes)


def two_kinds(values: Any) -> tuple[list[Any], NDArray[np.bool_]] | None:
    """Return the two texts, or bools as objects, that labels are, and which differ from the first; None of others."""
    if type(values) is np.ndarray and (values.ndim != 1 or values.dtype.kind not in "OU" or not values.nbytes):
        return None
    dtype: Any = getattr(values, "dtype", "")
    if "pyarrow" in str(getattr(dtype, "storage", dtype)):  # pandas
        values = getattr(values, "array", values).__arrow_array__()
    arrow = str(getattr(values, "type", "")) if hasattr(type(values), "null_count") else ""
    of_polars, codes, found = type(dtype).__name__ if hasattr(type(values), "to_physical") else "", None, None
    if (arrow and values.null_count) or (of_polars and values.null_count()):
        return None
    if type(values) is np.ndarray and values.dtype.kind == "U":
        found = _core.two_rows(np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1))
    elif type(values) is np.ndarray:
        found = _core.two_texts(plain(values))
    elif type(values) is list and values and isinstance(values[0], str):  # objects: a copy of the texts takes longer
        found = _core.two_texts(np.fromiter(values, object, len(values)))
    elif of_polars == "String" and len(values):
        differs = values != values[0]
        others = values.filter(differs)
        if len(others) and (others == others[0]).all():
            found = differs.to_numpy(), int(differs.arg_max())
    elif arrow in _TEXTS and len(values):
        found = _slices(values)
    elif arrow.startswith("dictionary<"):
        codes = one_chunk(values).indices
    elif of_polars in ("Categorical", "Enum"):
        codes = values.to_physical()
    elif type(dtype).__name__ == "CategoricalDtype":
        codes = getattr(values, "cat", values).codes
    if codes is not None:
        found = _core.two_rows(np.asarray(codes).astype(np.uint32, copy=False)[:, None])
    if found is None or found[1] == len(values):
        return None
    labels = [values.iloc[k] if hasattr(values, "iloc") else values[k] for k in (0, found[1])]
    pair = [label.as_py() if arrow else label for label in labels]  # codes may be missing ones, or have equal texts
    alike = type(values) is np.ndarray or all(isinstance(label, str) for label in pair)
    return (pair, found[0]) if alike and pair[0] != pair[1] else None


def _slices(texts: Any) -> tuple[NDArray[np.bool_], int] | None:
    """Compare texts of pyarrow where they lie."""
    whole = one_chunk(texts.cast("large_string"))
    _, offsets, held = whole.buffers()
    of_each = np.frombuffer(offsets, np.int64)[whole.offset :][: len(whole) + 1]
    return _core.two_slices(of_each, np.frombuffer(held or b"", np.uint8))


def class_columns(frame: Any, classes: list[Any], name: str) -> list[int] | None:
    """Return the place of every class's column by the names of a mapping or a frame; None if these are positions."""
    names = list(frame) if isinstance(frame, Mapping) else names_of(frame)
    if not names:
        return None
    texts = list(map(str, names))
    whole = [str(int(one)) if isinstance(one, float) and one.is_integer() else str(one) for one in classes]
    for keys, wanted in ((names, classes), (texts, list(map(str, classes))), (texts, whole)):
        place = {key: k for k, key in enumerate(keys)}
        if len(place) == len(names) and all(one in place for one in wanted):
            return [place[one] for one in wanted]
    if any(texts == [f"{stem}{k}" for k in range(len(names))] for stem in ("", "column_")):
        return None
    raise ValueError(
        f"{name} has the columns {listed(names)}, which are not the classes {listed(classes)}: name every column"
        " after its class, or pass an array with the columns in the order of the classes"
    )


def listed(names: list[Any]) -> str:
    """Return the first names or labels."""
    return ", ".join(map(shown, names[:5])) + (", ..." if len(names) > 5 else "")


def warn_of_order(**given: Any) -> None:
    """Warn of series and frames whose index has the labels of the first one's index in another order. O(n)."""
    held = {name: values.index for name, values in given.items() if hasattr(type(values), "iloc")}
    if len(held) < 2:
        return
    first, index = next(iter(held.items()))
    for name, other in held.items():
        if index.name is not None and getattr(given[name], "columns", other).name == index.name != other.name:
            raise ValueError(f"{name} has {shown(index.name)} of {first} as its columns: pass its transpose")
        if len(other) != len(index) or other.nlevels != index.nlevels or other.equals(index):
            continue
        pair = [index, other]
        if other.dtype != index.dtype:  # pandas finds 1 of one width among 1 of another only as objects
            pair = [labels.astype(object) for labels in pair]
        unique = other.is_unique and index.is_unique
        if pair[0].isin(pair[1]).all() if unique else Counter(index) == Counter(other):
            by_label = f"{name}.loc[{first}.index] to pair them by label" if unique else "series with unique labels"
            warn(
                f"{name} has the index labels of {first} in another order, and samples are paired by position: pass"
                f" {by_label}, or {name}.to_numpy() if the positions agree",
                UserWarning,
            )


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
    puts, tasks = [], []
    for name, array in lazy.items():
        # Optimised separately, arrays would not share their common tasks.
        for part, block in enumerate(array.to_delayed(optimize_graph=False).ravel()):
            puts.append(partial(wholes[name].put, part))
            tasks.append(dask.delayed(_sent)(block, name, name == labels))
    _stream(tasks, lambda task, values: puts[task](values))
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
    _stream(tasks, lambda _, part: total.merge(part))
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
        self._ends = np.cumsum(array.chunks[0])
        self._known = not np.isnan(self._ends).any()
        self._shape = array.shape
        self._parts: list[Any] = [None] * len(self._ends)
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
