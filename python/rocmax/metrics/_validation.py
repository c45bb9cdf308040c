"""Checks of what users pass to the metrics; the one place here that raises for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._threads import n_threads

F64 = NDArray[np.float64]
T = TypeVar("T")

_LABELS = {np.dtype(t) for t in ("?", "i1", "u1", "i4", "i8", "f8")}
_SCORES = {np.dtype("f8"), np.dtype("f4")}
_WHOLE = 2**53  # float64 holds every integer up to here


class Sample(NamedTuple):
    """Arrays in the form the extension module reads without a copy."""

    y: NDArray[Any]
    score: NDArray[Any]
    weight: F64 | None
    threads: int

    @property
    def many(self) -> bool:
        """Whether there is a column of scores for each of several models."""
        return self.score.ndim == 2


def sample(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
    n_jobs: int | None = None,
    name: str = "y_score",
) -> Sample:
    """Convert labels, scores and weights and check their shapes; the core checks the values."""
    y = labels(y_true, pos_label)
    s = scores(y_score, name)
    if len(s) != len(y):
        raise ValueError(f"{name} has {len(s)} samples, y_true has {len(y)}; they must agree")
    w = None if sample_weight is None else weights(sample_weight, len(y))
    return Sample(y, s, w, n_threads(n_jobs))


def is_dask(*arrays: Any) -> bool:
    """Whether one of the arrays is a collection of dask."""
    return any(type(array).__module__.split(".")[0] == "dask" for array in arrays)


def from_dask(y_true: Any, y_score: Any, sample_weight: Any = None, pos_label: Any = None) -> Any:
    """Accumulate dask collections, partition by partition."""
    from rocmax.metrics import _accumulator

    return _accumulator.from_dask(y_true, y_score, sample_weight, pos_label)


def labels(y_true: ArrayLike, pos_label: Any = None) -> NDArray[Any]:
    """Labels as a contiguous array of two values, the greater being the positive class."""
    y = np.asarray(y_true)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y_true must be one-dimensional, got an array of shape {y.shape}")
    if pos_label is not None:
        positive: NDArray[Any] = np.asarray(y == pos_label)
        if positive.shape != y.shape or not positive.any():
            raise ValueError(f"pos_label={pos_label!r} does not occur in y_true")
        if positive.all():
            raise ValueError(f"y_true has one class only: all {len(y)} labels are {pos_label!r}")
        return positive
    if y.dtype in _LABELS:
        return plain(y)
    classes = _classes(y)
    _require_two(classes, len(y))
    return np.asarray(y == classes[1])


def plain(values: NDArray[Any]) -> NDArray[Any]:
    """Copy only what the core cannot read where it lies: strided or misaligned arrays."""
    return np.require(values, requirements=["C", "A"])


def scores(y_score: ArrayLike, name: str = "y_score") -> NDArray[Any]:
    """Scores as float64 or float32, of shape (n_samples,) or (n_samples, n_models)."""
    s = np.asarray(y_score)
    if s.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (n_samples,) or (n_samples, n_models), got {s.shape}")
    if s.dtype not in _SCORES:
        s = _as_float64(s, name)
    return plain(s) if s.ndim == 1 or not s.flags.aligned else s


def weights(sample_weight: ArrayLike, n_samples: int) -> F64:
    """Weights as float64 of shape (n_samples,)."""
    w = plain(_as_float64(np.asarray(sample_weight), "sample_weight"))
    if w.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), got {w.shape}")
    return w


def rate_range(bounds: Any, name: str) -> tuple[float, float]:
    """Check that `bounds` are two rates, 0 <= low < high <= 1."""
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair of numbers (low, high), got {bounds!r}") from None
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"{name} must satisfy 0 <= low < high <= 1, got {bounds!r}")
    return low, high


def choice(value: Any, options: tuple[Any, ...], name: str) -> None:
    """Check that `value` is one of `options`."""
    if not any(value is option or value == option for option in options):
        raise ValueError(f"{name} must be one of {options}, got {value!r}")


def call(function: Callable[..., T], data: Sample, *args: Any) -> T:
    """Call the core with `data`; if it refuses the values, say in users' terms what is wrong."""
    try:
        return function(data.y, data.score, data.weight, *args)
    except ValueError:
        explain(data)
        raise


def explain(data: Sample) -> None:
    """Raise the error that names what is wrong with `data`, if anything is."""
    if len(data.y) == 0:
        raise ValueError("y_true is empty; samples of two classes are needed")
    _require_two(_classes(data.y), len(data.y))
    _require_finite(data.score, "y_score")
    if data.weight is None:
        return
    _require_finite(data.weight, "sample_weight")
    if (data.weight < 0).any():
        index = int(np.argmax(data.weight < 0))
        raise ValueError(f"sample_weight must be non-negative, got {data.weight[index]} at index {index}")
    left = _classes(data.y[data.weight > 0])
    if len(left) < 2:
        raise ValueError("sample_weight leaves one class only: every sample of the other has weight 0")


def _as_float64(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.dtype.kind not in "fiub" and values.dtype != object:
        raise ValueError(f"{name} must be numeric, got an array of dtype {values.dtype}")
    try:
        converted = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numeric, got an array of dtype {values.dtype}") from None
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        largest = max(abs(int(values.min())), abs(int(values.max())))
        if largest > _WHOLE:
            raise ValueError(
                f"{name} holds {largest}, beyond the integers that float64 tells apart (2**53); pass ranks instead"
            )
    return converted


def _classes(y: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(np.unique(y))
    except TypeError:
        raise ValueError("y_true mixes types that cannot be ordered; give pos_label") from None


def _require_two(classes: NDArray[Any], n_samples: int) -> None:
    if classes.dtype.kind == "f" and np.isnan(classes).any():
        raise ValueError("y_true contains NaN; every sample needs a label")
    found = ", ".join(repr(c.item() if hasattr(c, "item") else c) for c in classes[:5])
    if len(classes) == 0:
        raise ValueError("y_true is empty; samples of two classes are needed")
    if len(classes) == 1:
        raise ValueError(f"y_true has one class only: all {n_samples} labels are {found}")
    if len(classes) > 2:
        more = ", ..." if len(classes) > 5 else ""
        raise ValueError(
            f"y_true must have two classes, got {len(classes)}: {found}{more};"
            " give pos_label to rank one class above the rest"
        )


def _require_finite(values: NDArray[Any], name: str) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        where = index[0] if len(index) == 1 else index
        raise ValueError(f"{name} must be finite, got {values[index]} at index {where}")
