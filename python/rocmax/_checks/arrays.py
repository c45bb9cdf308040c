"""Arrays of other libraries as numpy arrays, copied only if necessary."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._parameters import shown
from rocmax._tables._forms import is_missing


def unmasked(values: ArrayLike, name: str, remedy: str = "leave those samples out") -> NDArray[Any]:
    require_unmasked(values, name, remedy)
    try:
        if isinstance(values, memoryview):
            len(values.tobytes()[:0]) if values.ndim == 0 else len(values)  # raises if it has been released
        found = np.asarray(in_numpy(np.asarray(in_numpy(values))))  # twice, for lists of narrow numbers
    except (TypeError, ValueError) as error:  # such as rows of different lengths
        raise ValueError(f"{name} is not an array: {shown(error)}") from error
    if found.ndim == 0 and hasattr(values, "__iter__") and not isinstance(values, (str, bytes, np.ndarray)):
        how = f"{name}.toarray()" if hasattr(values, "toarray") else f"list({name}), in the order of the samples"
        raise ValueError(f"{name} is a {type(values).__name__}, not an array: pass {how}")
    return found


def require_read(values: Any, name: str) -> None:
    """Refuse a LazyFrame."""
    if hasattr(values, "collect_schema") and not hasattr(values, "shape"):
        raise TypeError(f"{name} is a LazyFrame, whose rows are not read yet; pass {name}.collect()")


def in_numpy(values: Any) -> Any:
    """Return what numpy cannot read (tensors, bfloat16, 128-bit integers) as an array, anything else as it is."""
    if type(values) is np.ndarray and values.dtype.kind != "V":  # the common case, without the dtype's name
        return values
    if hasattr(values, "unify_dictionaries"):
        return one_chunk(values)
    dtypes = getattr(values, "dtypes", None)
    if any("Int128" in str(dtype) for dtype in (dtypes if type(dtypes) is list else [getattr(values, "dtype", "")])):
        return _of_python_numbers(values)
    if not (hasattr(values, "detach") and hasattr(values, "cpu")):
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
    return np.array([is_missing(x) for x in values.flat], dtype=bool).reshape(values.shape)


def is_dask(*arrays: Any) -> bool:
    """Whether one of the arrays is a dask collection."""
    return any([f"{type(array).__module__}.".startswith("dask.") for array in arrays])


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Copy strided and misaligned arrays, which the core cannot read."""
    readable = values.flags.c_contiguous and values.flags.aligned
    return values if readable else np.require(values, requirements=["C", "A"])
