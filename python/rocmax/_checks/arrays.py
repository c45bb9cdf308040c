"""Arrays of other libraries as numpy's, copied only where they must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._parameters import shown


def unmasked(values: ArrayLike, name: str, remedy: str = "leave those samples out") -> NDArray[Any]:
    require_unmasked(values, name, remedy)
    try:
        if isinstance(values, memoryview):
            len(values.tobytes()[:0]) if values.ndim == 0 else len(values)  # says if it has been released
        return np.asarray(in_numpy(values))
    except (TypeError, ValueError) as error:  # such as rows of several lengths
        raise ValueError(f"{name} is no array: {shown(error)}") from error


def in_numpy(values: Any) -> Any:
    """Return a tensor of torch as an array: detached, off its device; bfloat16, of any library, as float32.

    Integers of 128 bits of polars, which numpy does not have, are of 64 bits or objects. All else is returned as it is.
    """
    dtypes = getattr(values, "dtypes", None)
    if any("Int128" in str(dtype) for dtype in (dtypes if type(dtypes) is list else [getattr(values, "dtype", "")])):
        return _of_python_numbers(values)
    if not (hasattr(values, "detach") and hasattr(values, "cpu")):
        narrow = str(getattr(values, "dtype", "")) == "bfloat16"  # a type that libraries add to numpy's, as jax does
        return np.asarray(values).astype(np.float32) if narrow else values
    held = values.detach().cpu()
    try:
        return np.asarray(held)
    except TypeError:  # numbers of a kind that numpy does not have
        return np.asarray(held.float())


def _of_python_numbers(values: Any) -> NDArray[Any]:
    """Return a series or a frame of polars as an array, of objects where 64 bits do not hold its numbers."""
    found = np.empty(values.shape, dtype=object)
    found[...] = values.rows() if hasattr(values, "rows") else values.to_list()
    try:
        whole = found.astype(np.int64)
        return whole if (whole == found).all() else found
    except (TypeError, OverflowError):  # None, and what is larger
        return found


def require_unmasked(values: Any, name: str, remedy: str) -> None:
    """Check that no value is masked: what the mask hides would be taken for data."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has {np.count_nonzero(np.ma.getmaskarray(values))} masked values; {remedy}")


def is_dask(*arrays: Any) -> bool:
    """Whether one of the arrays is a collection of dask."""
    return any([f"{type(array).__module__}.".startswith("dask.") for array in arrays])


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Copy only what the core cannot read where it lies: strided or misaligned arrays."""
    readable = values.flags.c_contiguous and values.flags.aligned
    return values if readable else np.require(values, requirements=["C", "A"])
