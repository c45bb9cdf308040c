"""The pairs of a positive and a negative that a machine is trained on, and their multipliers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray, Bool

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
RULES = ("two-step", "symmetric")


def every_pair(positive: Bool) -> Pairs:
    """Return all m n pairs."""
    rows, columns = np.flatnonzero(positive), np.flatnonzero(~positive)
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows))


def neighbor_pairs(X: Any, positive: Bool, n_neighbors: int, rule: str, n_threads: int) -> Pairs:
    """Return the rows (i, j) of neighbouring positives and negatives by the rule of :class:`AUCSVC`, sorted, each once.

    Distances are Euclidean; of equal ones the lower row is nearer. All of a class with fewer than k samples are near.
    """
    X = _dense(X)

    def nearest(queries: AnyArray, targets: AnyArray) -> AnyArray:
        k = min(n_neighbors, len(targets))
        found = _core.nearest(np.ascontiguousarray(X[queries]), np.ascontiguousarray(X[targets]), k, n_threads)
        return found.reshape(len(queries), -1)

    return _pairs(nearest, positive, rule)


def _pairs(nearest: Callable[[AnyArray, AnyArray], AnyArray], positive: Bool, rule: str) -> Pairs:
    """Return the pairs, given the places of the nearest targets of each query among rows."""
    rows, columns = np.flatnonzero(positive), np.flatnonzero(~positive)
    of_negatives = rows[nearest(columns, rows)]
    used = np.unique(of_negatives) if rule == "two-step" else rows
    of_positives = columns[nearest(used, columns)]
    i, j = np.repeat(used, of_positives.shape[1]), of_positives.ravel()
    if rule == "symmetric":
        i, j = np.append(i, of_negatives.ravel()), np.append(j, np.repeat(columns, of_negatives.shape[1]))
    keys = np.unique(i.astype(np.int64) * len(positive) + j)
    return (keys // len(positive)).astype(np.intp), (keys % len(positive)).astype(np.intp)


def kernel_pairs(gram: AnyArray, positive: Bool, n_neighbors: int, rule: str) -> Pairs:
    """Return the same pairs by distances in the space of a kernel matrix."""
    diagonal = np.diag(gram)

    def nearest(queries: AnyArray, targets: AnyArray) -> AnyArray:
        squared = diagonal[queries][:, None] + diagonal[targets] - 2.0 * gram[np.ix_(queries, targets)]
        return np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]

    return _pairs(nearest, positive, rule)


def _dense(X: Any) -> F64:
    if hasattr(X, "toarray"):
        require_memory(
            8 * X.shape[0] * X.shape[1], "pairs='neighbors' makes a sparse X dense, which", "use pairs='all'"
        )
        X = X.toarray()
    return np.asarray(X, dtype=np.float64)


class CutMultipliers:
    """Multipliers over all pairs from those of the cuts: al_ij = 1 / (m n) sum_k weight_k 1[cut k counts (i, j)].

    A cut counts the pairs with s_i - s_j < 1 at some scores s. Sorted by score, these pairs form a staircase, which its
    row sums determine: with r_i the row sum of i, cut k counts (i, j) if fewer than r_i negatives have a larger column
    sum than j. The coefficients of the cuts are these sums. With weights, numbers become sums of weights and 1 / (m n)
    becomes w_i w_j over the totals of the classes; half of w_j is added so that rounding does not decide. Memory
    O(cuts N).
    """

    def __init__(self, weights: F64, coefs: F64, problem: _core.Problem) -> None:
        positive, weight, used = problem.labels, problem.sample_weight, weights > 0
        own = np.ones(len(positive)) if weight is None else weight
        of_pos, of_neg = own[positive], own[~positive]
        self._share = own / np.where(positive, of_pos.sum(), of_neg.sum())
        self._weights = weights[used]
        self._steps = np.abs(coefs[used]) * (of_pos.sum() * of_neg.sum()) / np.where(own > 0, own, 1.0)
        for steps in self._steps:
            order = np.argsort(row := -steps[~positive], kind="stable")
            ahead = np.append(0.0, np.cumsum(of_neg[order]))
            steps[~positive] = ahead[np.searchsorted(row[order], row)] + of_neg / 2.0

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        total = np.zeros(np.shape(i))
        for weight, steps in zip(self._weights, self._steps, strict=True):
            total += weight * (steps[j] < steps[i])
        total *= self._share[i] * self._share[j]
        return total


class ListedMultipliers:
    """Multipliers of listed pairs; others are 0."""

    def __init__(self, i: NDArray[np.intp], j: NDArray[np.intp], values: F64, n_samples: int) -> None:
        kept = values > 0
        keys = i[kept].astype(np.int64) * n_samples + j[kept]
        order = np.argsort(keys)
        self._n_samples = n_samples
        self._keys, self._values = keys[order], values[kept][order]

    @property
    def support(self) -> NDArray[np.intp]:
        """The pairs with a multiplier above 0, of shape (k, 2), sorted by positive, then by negative."""
        return np.column_stack([self._keys // self._n_samples, self._keys % self._n_samples]).astype(np.intp)

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        keys = np.asarray(i, dtype=np.int64) * self._n_samples + j
        if not len(self._keys):
            return np.zeros(keys.shape)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, self._values[place], 0.0)


def check_pairs(i: Any, j: Any, positive: Bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Check and broadcast the indices i of positive and j of negative rows."""
    checked = []
    for name, rows, label, kind in (("i", i, True, "positive"), ("j", j, False, "negative")):
        array = np.asarray(rows)
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be a whole number or an array of them, got dtype {array.dtype}")
        outside = array[(array < 0) | (array >= len(positive))]
        if len(outside):
            raise ValueError(f"{name} must be a training row, 0 to {len(positive) - 1}, got {outside[0]}")
        wrong = array[positive[array] != label]
        if len(wrong):
            raise ValueError(f"{name} must index {kind} training rows, but row {wrong[0]} is not")
        checked.append(array.astype(np.intp))
    try:
        first, second = np.broadcast_arrays(*checked)
    except ValueError:
        shapes = " and ".join(str(rows.shape) for rows in checked)
        raise ValueError(f"i and j must have shapes that broadcast, such as (k,) and (k,), got {shapes}") from None
    return first, second
