"""Rankers with a kernel: its parameters, the scores of new samples, and landmarks in place of the kernel."""

from typing import Any

import numpy as np
from sklearn.utils import Tags

from rocmax import designs
from rocmax._parameters import check_count, shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import interruptible
from rocmax._typing import F64, AnyArray, Bool, Rows
from rocmax.designs import Design, Kernel, Landmarks
from rocmax.designs._blocks import in_rows
from rocmax.estimators._base import Data, Ranker


class KernelRanker(Ranker):
    """A ranker with scores sum_l ``dual_coef_``_l k(x_l, x), of one label or of many."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    coef_: F64  # of the linear kernel alone
    dual_coef_: F64
    _kernel: Kernel
    _support: Any
    _samples: Any

    def _set_kernel(self, X: Any, weight: F64 | None = None) -> Kernel:
        """Resolve the kernel on the training samples."""
        self._kernel = Kernel.resolve(self.kernel, self.gamma, self.degree, self.coef0, X, weight)
        return self._kernel

    def _scores(self, X: Any) -> F64:
        if hasattr(self, "coef_"):
            return designs.linear_scores(X, self.coef_)[:, 0]
        return self._kernel.scores(X, self._samples, self.dual_coef_[0][self._support])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def support_of(kernel: Kernel, X: Any, dual_coef: F64) -> dict[str, Any]:
    """Return the attributes that score new samples: copies, or columns of a kernel, of those with a coefficient."""
    support = np.flatnonzero(dual_coef.any(axis=0))
    return {"_support": support, "_samples": support if kernel.name == "precomputed" else in_rows(X[support])}


def kernel_design(kernel: Kernel, data: Data, structure: float, dtype: type) -> Design:
    """Return the features if the kernel is linear, else the kernel matrix in `dtype`."""
    X, positive, weight = data
    if kernel.name == "linear":
        if not structure:
            return designs.as_design(designs.compact(X))
        work = X.shape[0] * X.shape[1]
        return interruptible(work, designs.StructuredDesign, designs.as_design(X), positive, structure, weight)
    gram = kernel.gram(X, dtype)
    if structure:
        gram = interruptible(gram.size, designs.structured_gram, gram, positive, structure, weight)
    return designs.KernelDesign(gram)


# The place of samples of weight 0, after all others.
_LAST = np.iinfo(np.intp).max


def check_landmarks(n_landmarks: Any, kernel: Any) -> int | None:
    """Check and return the number of landmarks, None without landmarks."""
    if n_landmarks is None:
        return None
    n = check_count("n_landmarks", n_landmarks)
    if isinstance(kernel, str) and kernel in ("linear", "precomputed"):
        raise ValueError(
            f"n_landmarks={shown(n)} is for kernels that are functions of two samples, got kernel={kernel!r}; use "
            "kernel='rbf', or n_landmarks=None"
        )
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


def copied(X: Any, rows: Rows) -> Any:
    """Return some rows of X, in memory."""
    found: AnyArray = X[rows]
    return found if hasattr(found, "tocsr") else np.array(found, order="C")


def points_of(X: Any, positive: Bool, place: Rows, n: int) -> Any:
    """Return at most `n` landmarks: rows of X, of both classes."""
    return copied(X, first_of_both(positive, place, n))


def landmark_design(landmarks: Landmarks, data: Data, structure: float) -> Design:
    """Return the features of landmarks; if they do not fit in memory, every product recomputes them."""
    X, positive, weight = data
    if structure:
        require_memory(landmarks.size(X.shape[0]), f"structure={structure:g} with the features of landmarks")
        features = landmarks.features(X)
        return designs.StructuredDesign(designs.as_design(features), positive, structure, weight)
    return (
        designs.as_design(landmarks.features(X)) if landmarks.fit(X.shape[0]) else designs.LandmarkDesign(landmarks, X)
    )
