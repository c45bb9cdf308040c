"""The choice of landmarks, their features, and the rows that choose among models of them."""

from typing import Any

import numpy as np

from rocmax._parameters import check_count, shown
from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray, Bool, Rows
from rocmax.designs import Design, LandmarkDesign, Landmarks, StructuredDesign, as_design, is_dask
from rocmax.estimators._base import Data
from rocmax.estimators._folds import Fold

# The place of samples of weight 0, after all others.
_LAST = np.iinfo(np.intp).max


def check_landmarks(n_landmarks: Any, kernel: Any, X: Any) -> int | None:
    """Check and return the number of landmarks, None without landmarks."""
    if n_landmarks is None:
        return None
    n = check_count("n_landmarks", n_landmarks)
    if isinstance(kernel, str) and kernel in ("linear", "precomputed"):
        raise ValueError(
            f"n_landmarks={shown(n)} is for kernels that are functions of two samples, got kernel={kernel!r}; use "
            "kernel='rbf', or n_landmarks=None"
        )
    if is_dask(X):
        raise ValueError(f"dask input is not supported with n_landmarks={shown(n)}; pass X.compute() or a memmap")
    return n


def ranks(positive: Bool, weight: F64 | None, seed: int) -> Rows:
    """Return the place of each sample in a random order; samples of weight 0 come last."""
    place = np.full(len(positive), _LAST)
    counted = np.arange(len(positive)) if weight is None else np.flatnonzero(weight > 0)
    place[counted] = np.random.default_rng(seed).permutation(len(counted))
    return place


def first_of_both(positive: Bool, place: Rows, n: int) -> Rows:
    """Return at most `n` rows: the first of either class by `place`, a third, if there are, of the smaller class."""
    counted = place < _LAST
    small, large = sorted((np.flatnonzero(counted & of) for of in (positive, ~positive)), key=len)
    size = min(len(small), max(n // 3, n - len(large)))
    parts = [rows[np.argsort(place[rows])[:k]] for rows, k in ((small, size), (large, n - size))]
    return np.sort(np.concatenate(parts))


def thinned(folds: list[Fold], positive: Bool, place: Rows, n_train: int, n_test: int) -> tuple[Rows, list[Fold]]:
    """Cut folds to at most `n_train` and `n_test` rows; return the rows they still need, and the folds of these."""
    kept = [
        tuple(
            rows[first_of_both(positive[rows], place[rows], n)] for rows, n in zip(fold, (n_train, n_test), strict=True)
        )
        for fold in folds
    ]
    some = np.unique(np.concatenate([rows for fold in kept for rows in fold]))
    return some, [(np.searchsorted(some, train), np.searchsorted(some, test)) for train, test in kept]


def copied(X: Any, rows: Rows) -> Any:
    """Return some rows of X, in memory."""
    found: AnyArray = X[rows]
    return found if hasattr(found, "tocsr") else np.array(found, order="C")


def landmark_design(landmarks: Landmarks, data: Data, structure: float) -> Design:
    """Return the features of landmarks; if they do not fit in memory, every product recomputes them."""
    X, positive, weight = data
    if structure:
        require_memory(landmarks.size(X.shape[0]), f"structure={structure:g} with the features of landmarks")
        features = landmarks.features(X)
        return StructuredDesign(as_design(features), positive, structure, weight)
    return as_design(landmarks.features(X)) if landmarks.fit(X.shape[0]) else LandmarkDesign(landmarks, X)
