"""What all kernel rankers share: the kernel, the training samples it is taken with, scores of new samples."""

from typing import Any

import numpy as np
from sklearn.utils import Tags

from rocmax._typing import F64
from rocmax._validation import check_choice
from rocmax.designs import Kernel
from rocmax.estimators._base import Ranker


class KernelRanker(Ranker):
    """A ranker with scores sum_l ``dual_coef_``_l k(x_l, x)."""

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    dual_coef_: F64
    _kernel: Kernel
    _samples: Any

    def _set_kernel(self, X: Any) -> Kernel:
        """Resolve the kernel on the training samples and keep what later scores need."""
        self._kernel = Kernel.resolve(self.kernel, self.gamma, self.degree, self.coef0, X)
        self._samples = None if self._kernel.name == "precomputed" else X
        return self._kernel

    def _scores(self, X: Any) -> F64:
        return self._kernel.scores(X, self._samples, self.dual_coef_[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def check_kernel_dtype(value: Any) -> type:
    """Return the type that the kernel matrix is stored in."""
    return {"float64": np.float64, "float32": np.float32}[check_choice("kernel_dtype", value, ("float64", "float32"))]


def check_nonnegative(name: str, value: Any) -> float:
    """Return a finite number of at least 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number
