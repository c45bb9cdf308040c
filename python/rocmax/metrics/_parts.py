"""Measures of dask collections: every partition is counted where it lies."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax.metrics._accumulator import PAIRS, ROCAccumulator
from rocmax.metrics._inference import AUCInference, ConfidenceInterval
from rocmax.metrics._validation import F64, _require_two, unmasked

# Partial results that one task merges.
_MERGED = 8


class Parts:
    """What all partitions hold, model by model.

    Parameters
    ----------
    models : list of ROCAccumulator
        One a model.
    many : bool
        Whether scores had a column a model, so that results are arrays.
    """

    def __init__(self, models: list[ROCAccumulator], many: bool) -> None:
        self.models = models
        self.many = many

    @property
    def masses(self) -> F64:
        """Weights of either class at the scores of the first model."""
        return self.models[0].masses

    def measure(self, name: str, low: float, high: float) -> Any:
        """Return a measure by the core's name for it."""
        values = [model.measure(name, low, high) for model in self.models]
        return np.array(values) if self.many else values[0]

    def curve(self) -> _core.Curve:
        """Return the curve of a single model."""
        if self.many:
            raise ValueError(f"y_score must be one-dimensional, got {len(self.models)} columns")
        return self.models[0]._core()

    def result(self, **options: Any) -> AUCInference:
        """Measure all models, as :meth:`ROCAccumulator.result` does."""
        found = [model.result(**options) for model in self.models]
        if not self.many:
            return found[0]
        names = ("estimate", "variance", "standard_error")
        intervals = np.array([one.confidence_interval for one in found])
        return AUCInference(
            **{name: np.array([getattr(one, name) for one in found]) for name in names},
            confidence_interval=ConfidenceInterval(*intervals.T),
            n_pos=found[0].n_pos,
            n_neg=found[0].n_neg,
            method=found[0].method,
            confidence_level=found[0].confidence_level,
        )


def from_dask(y_true: Any, y_score: Any, sample_weight: Any = None, pos_label: Any = None) -> Parts:
    """Accumulate every partition where it lies and merge what comes of them."""
    import dask

    given = {"y_true": y_true, "y_score": y_score}
    arrays = _aligned(given if sample_weight is None else {**given, "sample_weight": sample_weight})
    blocks = list(zip(*(array.to_delayed().ravel() for array in arrays), strict=True))

    def accumulated(positive: Any) -> Any:
        parts = [dask.delayed(_part)(positive, *block) for block in blocks]
        while len(parts) > 1:
            parts = [dask.delayed(_merged)(parts[k : k + _MERGED]) for k in range(0, len(parts), _MERGED)]
        return parts[0].compute()

    models = accumulated(pos_label)
    if models is None:  # a part does not tell which of two other labels is the greater
        models = accumulated(_greater([block[0] for block in blocks]))
    return Parts(models, arrays[1].ndim == 2)


def _aligned(given: dict[str, Any]) -> list[Any]:
    """Arrays of dask with the same partitions; scores may have several columns."""
    import dask.array as da

    arrays = []
    for name, values in given.items():
        array = values.to_dask_array(lengths=True) if hasattr(values, "to_dask_array") else values
        array = array if isinstance(array, da.Array) else da.from_array(np.asarray(array))
        if name != "y_score" and array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1 and (name != "y_score" or array.ndim != 2):
            raise ValueError(f"{name} must be one-dimensional, got an array of shape {array.shape}")
        arrays.append(array.rechunk({1: -1}) if array.ndim == 2 else array)
    if any(np.isnan(array.shape[0]) for array in arrays):
        if len({array.numblocks[0] for array in arrays}) > 1:
            raise ValueError("y_true and y_score have partitions of unknown sizes; call compute_chunk_sizes() of each")
        return arrays
    for name, array in zip(given, arrays, strict=True):
        if array.shape[0] != arrays[0].shape[0]:
            raise ValueError(f"{name} has shape {array.shape}, y_true has {arrays[0].shape}")
    rows = arrays[1].chunks[0]
    return [array.rechunk({0: rows}) for array in arrays]


def _part(pos_label: Any, y: Any, s: Any, w: Any = None) -> list[ROCAccumulator] | None:
    """Every model of one partition, or None if its labels must be known beforehand."""
    y = unmasked(y, "y_true")
    if pos_label is None and y.dtype != bool and not any(_distinct(y) <= pair for pair in PAIRS):
        return None
    columns = np.asarray(s).T if np.ndim(s) == 2 else [s]
    return [ROCAccumulator(pos_label=pos_label).update(y, column, sample_weight=w) for column in columns]


def _merged(parts: list[list[ROCAccumulator] | None]) -> list[ROCAccumulator] | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    # Into new ones: a task that is run again must find its input as it was.
    return [
        reduce(ROCAccumulator.merge, models, ROCAccumulator(pos_label=models[0].pos_label))
        for models in zip(*known, strict=True)
    ]


def _distinct(y: NDArray[Any]) -> set[Any]:
    return set(y.tolist()) if y.dtype.kind in "OU" else set(np.unique(y).tolist())


def _greater(blocks: list[Any]) -> Any:
    """Return the greater of the two labels of all blocks."""
    import dask

    found = set().union(*dask.compute(*(dask.delayed(lambda y: _distinct(np.asarray(y)))(block) for block in blocks)))
    classes = np.empty(len(found), dtype=object)
    classes[:] = list(found)
    _require_two(np.unique(classes), len(classes), "y_true")
    return max(found)
