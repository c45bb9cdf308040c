"""Rankers with a kernel: its parameters, and the scores of new samples."""

from typing import Any

import numpy as np
from sklearn.utils import Tags

from rocmax._runtime.interrupt import interruptible
from rocmax._typing import F64, Bool
from rocmax.designs import (
    Design,
    Kernel,
    KernelDesign,
    StructuredDesign,
    as_design,
    compact,
    is_dask,
    linear_scores,
    plain_coefficients,
    structured_gram,
)
from rocmax.designs._blocks import in_rows
from rocmax.estimators._base import Data, Ranker
from rocmax.solvers import Model


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
        if is_dask(X) and self.kernel != "linear":
            raise ValueError(f"dask input needs kernel='linear', got kernel={self.kernel!r}; or pass X.compute()")
        self._kernel = Kernel.resolve(self.kernel, self.gamma, self.degree, self.coef0, X, weight)
        return self._kernel

    def _dual_coef(self, model: Model, positive: Bool, structure: float, weight: F64 | None = None) -> F64:
        """Return the coefficients over k of a model of `kernel_design`."""
        coefs, scores = model.vector[: len(positive)], model.scores
        return np.array(plain_coefficients(coefs, scores, positive, structure, weight) if structure else coefs)[None]

    def _scores(self, X: Any) -> F64:
        if hasattr(self, "coef_"):
            return linear_scores(X, self.coef_)[:, 0]
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
            return as_design(compact(X))
        work = X.shape[0] * X.shape[1]
        return interruptible(work, StructuredDesign, as_design(X), positive, structure, weight)
    gram = kernel.gram(X, dtype)
    if structure:
        gram = interruptible(gram.size, structured_gram, gram, positive, structure, weight)
    return KernelDesign(gram)
