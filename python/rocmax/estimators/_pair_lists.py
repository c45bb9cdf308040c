"""The pairs of a positive and a negative that a machine is trained on."""

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
    rows, columns = np.flatnonzero(positive), np.flatnonzero(~positive)
    X = _dense(X)
    of_negatives = rows[_nearest(X[columns], X[rows], n_neighbors, n_threads)]
    used = np.unique(of_negatives) if rule == "two-step" else rows
    of_positives = columns[_nearest(X[used], X[columns], n_neighbors, n_threads)]
    i, j = np.repeat(used, of_positives.shape[1]), of_positives.ravel()
    if rule == "symmetric":
        i, j = np.append(i, of_negatives.ravel()), np.append(j, np.repeat(columns, of_negatives.shape[1]))
    keys = np.unique(i.astype(np.int64) * len(positive) + j)
    return (keys // len(positive)).astype(np.intp), (keys % len(positive)).astype(np.intp)


def kernel_pairs(gram: AnyArray, positive: Bool, n_neighbors: int, rule: str) -> Pairs:
    """Return the same pairs by distances in the space of a kernel matrix."""
    rows, columns = np.flatnonzero(positive), np.flatnonzero(~positive)
    diagonal = np.diag(gram)
    squared = diagonal[rows][:, None] + diagonal[columns] - 2.0 * gram[np.ix_(rows, columns)]
    near = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    far = np.argsort(squared.T, axis=1, kind="stable")[:, :n_neighbors]
    kept = np.zeros(squared.shape, dtype=bool)
    np.put_along_axis(kept, near, True, axis=1)
    if rule == "two-step":
        kept[np.setdiff1d(np.arange(len(rows)), far)] = False
    else:
        np.put_along_axis(kept.T, far, True, axis=1)
    i, j = np.nonzero(kept)
    return rows[i], columns[j]


def _nearest(queries: F64, targets: F64, k: int, n_threads: int) -> NDArray[np.uint32]:
    found = _core.nearest(np.ascontiguousarray(queries), np.ascontiguousarray(targets), min(k, len(targets)), n_threads)
    return found.reshape(len(queries), -1)


def _dense(X: Any) -> F64:
    if hasattr(X, "toarray"):
        require_memory(
            8 * X.shape[0] * X.shape[1], "pairs='neighbors' makes a sparse X dense, which", "use pairs='all'"
        )
        X = X.toarray()
    return np.asarray(X, dtype=np.float64)
