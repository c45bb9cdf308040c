"""Checks of samples that arrive counted, and of labels of parts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.dask import in_memory
from rocmax._checks.missing import oriented
from rocmax._checks.samples import F64, require_finite, scores, weights
from rocmax.metrics.accumulator import _bins


def of_counts(score: Any, n_pos: Any, n_neg: Any, lower: bool) -> tuple[F64, bool]:
    """Check scores and the number of samples of either class at each, and return their bins: high for positives.

    Also whether the scores are float32.
    """
    score, n_pos, n_neg = in_memory(score=score, n_pos=n_pos, n_neg=n_neg)
    given = scores(score, "score")
    value = given.astype(np.float64, copy=False)
    if value.ndim != 1:
        raise ValueError(f"score must be one-dimensional, got an array of shape {value.shape}")
    counts = [_class_counts(each, len(value), name) for name, each in (("n_pos", n_pos), ("n_neg", n_neg))]
    missing = np.isnan(value)
    if missing.any():
        raise ValueError(
            f"score must be finite, got nan at index {int(np.argmax(missing))}; leave samples without a score out"
            " (WHERE score IS NOT NULL)"
        )
    require_finite(value, "score")
    return _bins.counted(oriented(value, lower), *counts), given.dtype == np.float32 or not len(given)


def _class_counts(values: Any, n_scores: int, name: str) -> F64:
    """Check the counts, or total weights, of a class."""
    counts = weights(values, n_scores, name)
    missing = np.isnan(counts)
    if missing.any():
        raise ValueError(
            f"{name} must be a count, got nan at index {int(np.argmax(missing))}: a sum over no labels is NULL; leave"
            " rows without a label out, or write coalesce(sum(...), 0)"
        )
    require_finite(counts, name)
    if (counts < 0).any():
        index = int(np.argmax(counts < 0))
        raise ValueError(
            f"{name} must be 0 or more, got {counts[index]:g} at index {index}: count labels of -1 and 1 by comparison,"
            " such as sum(CASE WHEN y = 1 THEN 1 ELSE 0 END)"
        )
    return counts


def distinct_labels(y: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, one or two numbers without a sort."""
    if y.dtype.kind in "biuf":
        least, most = y.min(), y.max()
        if ((y == least) | (y == most)).all():
            return [least.item(), most.item()]
    return list(np.unique(y).tolist())
