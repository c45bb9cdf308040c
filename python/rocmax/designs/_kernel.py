"""Kernels, and the designs whose vectors are coefficients over the training samples."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from rocmax._parameters import as_float, check_finite, meant, shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import one_at_a_time
from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._blocks import in_rows, is_dask, rough_mean, row_blocks, slices
from rocmax.designs._linear import Design, Pull, SubsetDesign, conjugate

KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
# Bytes of kernel values that are made, and that are cast up, at a time.
_BLOCK = 1 << 23
_CACHED = 1 << 20
# Below this share of nonzero coefficients a product uses the rows of these samples only. A Newton step copies the
# kernel values between its samples up to this share of all: a quarter of the values.
_SPARSE = 0.5
# The number of rows for the rough mean.
_SOME = 500
# The allowed difference of k(x, z) and k(z, x), relative to the largest value.
_ROUGH = 1e-3


@dataclass(frozen=True)
class Kernel:
    """A kernel k(x, z) with its parameters resolved on the training samples.

    ``linear`` x'z, ``rbf`` exp(-gamma |x - z|^2), ``poly`` (gamma x'z + coef0)^degree, ``sigmoid`` tanh(gamma x'z +
    coef0), ``precomputed``, or a function.
    """

    name: str
    function: Callable[..., Any] | None
    gamma: float
    degree: float
    coef0: float

    @classmethod
    def resolve(cls, kernel: Any, gamma: Any, degree: Any, coef0: Any, X: Any, weight: F64 | None = None) -> Self:
        """Check the parameters; gamma "scale" is 1 / (n_features * weighted variance of X), "auto" 1 / n_features."""
        if is_dask(X) and not (isinstance(kernel, str) and kernel == "linear"):
            raise ValueError(f"dask input needs kernel='linear', got kernel={shown(kernel)}; or pass X.compute()")
        if not callable(kernel) and (not isinstance(kernel, str) or kernel not in KERNELS):
            known = f"one of {', '.join(map(repr, KERNELS))} or a function"
            raise ValueError(f"kernel must be {known}, got {shown(kernel)}{meant(kernel, KERNELS)}")
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' takes the square matrix of kernel values between the training samples, got X of "
                f"shape {X.shape}: Precomputed matrix must be a square matrix"
            )
        if kernel == "precomputed":
            _require_symmetric(X)
        function = _of_matrices(kernel, X) if callable(kernel) else None
        name = kernel if function is None else "function"
        used = name in ("rbf", "poly", "sigmoid")
        numbers = (check_finite("degree", degree), check_finite("coef0", coef0)) if used else (0.0, 0.0)
        return cls(name, function, _gamma(gamma, X, weight) if used else 0.0, *numbers)

    def __call__(self, X: Any, Z: Any) -> AnyArray:
        """Return the values between the rows of X and of Z; X itself if precomputed."""
        if self.name == "precomputed":
            return np.asarray(in_rows(_dense(X)))
        X = np.asarray(X) if is_dask(X) else X  # a sparse Z cannot be multiplied with a block of dask
        X, Z = in_rows(X), in_rows(Z)
        if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray) and np.may_share_memory(X, Z) and len(X) == len(Z):
            X = X.copy()  # BLAS rounds the product of a matrix with itself differently
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            values = self._values(X, Z) if self.function is None else self._given(self.function(X, Z), X, Z)
        if not np.isfinite(values).all():
            advice = "scale the features, or change its parameters"
            raise ValueError(f"kernel must return finite values, got NaN or infinity from {shown(self)}; {advice}")
        return values

    def _values(self, X: Any, Z: Any) -> F64:
        # Not scikit-learn's pairwise_kernels: its checks change the warning filters of the process for a moment.
        if self.name == "rbf":
            # A shift leaves distances unchanged, and large squares would drown them.
            centre = _centre(Z)
            X, Z = _less(X, centre), _less(Z, centre)
        values = _dense(X @ Z.T)
        if self.name == "rbf":
            values *= -2.0
            values += _squares(X)[:, None]
            values += _squares(Z)
            np.maximum(values, 0.0, out=values)
            values *= -self.gamma
            return np.exp(values, out=values)
        if self.name != "linear":
            values *= self.gamma
            values += self.coef0
            values = np.tanh(values, out=values) if self.name == "sigmoid" else np.power(values, self.degree)
        return values

    def _given(self, values: Any, X: Any, Z: Any) -> F64:
        """Check that a function returned a matrix of numbers."""
        found = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
        if found.shape != (X.shape[0], Z.shape[0]) or found.dtype.kind not in "biufO":
            raise ValueError(
                f"kernel must return numbers of shape (n, m) for matrices of n and m rows, got {found.dtype} of shape "
                f"{found.shape} for {X.shape[0]} and {Z.shape[0]} rows from {self.function!r}"
            )
        return found.astype(np.float64, copy=False)

    def gram(self, X: Any, dtype: Any) -> AnyArray:
        """Return the kernel matrix of all rows of X in `dtype`, a block of float64 rows at a time."""
        n = X.shape[0]
        require_memory(n * n * np.dtype(dtype).itemsize, f"the kernel matrix of {n} samples in {np.dtype(dtype)}")
        matrix = np.empty((n, n), dtype=dtype)
        X = in_rows(X.astype(np.float64, copy=False))
        for rows in slices(n, _BLOCK // (8 * n)):
            with np.errstate(over="ignore"):  # of single precision: products with a model then overflow
                matrix[rows] = self(X[rows], X)
        return matrix

    def scores(self, X: Any, Z: Any, coefs: F64) -> F64:
        """Return sum_l coefs_l k(x, z_l) for each row x of X, in blocks; if precomputed, Z are columns of X."""
        scores = np.zeros((X.shape[0], *coefs.shape[1:]))
        if not len(coefs):
            return scores
        precomputed = self.name == "precomputed"
        if not precomputed:
            X, Z = X.astype(np.float64, copy=False), Z.astype(np.float64, copy=False)
        for rows in slices(X.shape[0], _BLOCK // (8 * len(coefs))):
            block = X[rows]
            scores[rows] = self(block[:, Z] if precomputed else block, Z) @ coefs
        return scores


def _require_symmetric(matrix: Any) -> None:
    """Refuse a matrix that is more asymmetric than single precision explains."""
    n, largest, apart = matrix.shape[0], 0.0, 0.0
    for rows in slices(n, _BLOCK // (8 * n)):
        part, other = _dense(matrix[rows]), _dense(matrix[:, rows]).T
        largest, apart = max(largest, float(np.abs(part).max())), max(apart, float(np.abs(part - other).max()))
    if apart > _ROUGH * largest:
        raise ValueError(
            f"kernel='precomputed' takes a symmetric matrix, got X with k(x, z) and k(z, x) up to {apart:.2g} apart; "
            "pass the kernel of the training samples with themselves"
        )


def _dense(matrix: Any) -> F64:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def _centre(Z: Any) -> AnyArray:
    """Return a rough mean of the rows, rounded to hide their layout; 0 in columns that a sparse Z does not fill."""
    some = Z[:: max(1, Z.shape[0] // _SOME)]
    if isinstance(Z, np.ndarray):
        return rough_mean(some).astype(np.float32)
    centre = np.zeros(Z.shape[1], dtype=np.float32)
    full = np.flatnonzero(np.bincount(Z.indices, minlength=len(centre)) == Z.shape[0])
    centre[full] = rough_mean(some[:, full].toarray())
    return centre


def _less(X: Any, centre: AnyArray) -> Any:
    """Subtract the centre from every row; a sparse X stores it in the columns where it is not 0."""
    if isinstance(X, np.ndarray):
        return X - centre
    at, n = np.flatnonzero(centre), X.shape[0]
    if not at.size:
        return X
    shift = np.tile(centre[at].astype(np.float64), n), np.tile(at, n), np.arange(n + 1) * len(at)
    return X - sp.csr_matrix(shift, shape=X.shape)


def _squares(X: Any) -> F64:
    """Return the squared length of each row."""
    if hasattr(X, "multiply"):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X), dtype=np.float64)


def _gamma(gamma: Any, X: Any, weight: F64 | None) -> float:
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        if gamma == "auto":
            return 1.0 / int(X.shape[1])
        scale = int(X.shape[1]) * _variance(X, weight)
        return 1.0 / scale if scale > 0 else 1.0
    number = as_float(gamma)
    if not 0 <= number < np.inf:
        raise ValueError(f"gamma must be 'scale', 'auto' or a finite number of at least 0, got {shown(gamma)}")
    return number


@np.errstate(over="ignore", invalid="ignore")  # gamma is then 0, and the kernel is refused
def _variance(X: Any, weight: F64 | None) -> float:
    """Return the variance of all entries of X, including the zeros of a sparse matrix; exactly 0 if all are equal."""
    share = (np.ones(X.shape[0]) if weight is None else weight) / X.shape[1]
    share /= X.shape[0] if weight is None else weight.sum()
    if not sp.issparse(X):
        first = float(X[0, 0])  # relative to an entry, sums of equal ones are not rounded
        sums = ((rows, (block.astype(np.float64) - first).sum(axis=1)) for rows, block in row_blocks(X))
        mean = first + sum(float(share[rows] @ of_row) for rows, of_row in sums)
        apart = ((rows, block.astype(np.float64) - mean) for rows, block in row_blocks(X))
        return sum(float(share[rows] @ _squares(block)) for rows, block in apart)
    matrix: Any = X  # CSR, as all checked features are
    stored = np.asarray(matrix.data, dtype=np.float64)
    of_stored = np.repeat(share, np.diff(matrix.indptr))
    left_out = max(1.0 - float(of_stored.sum()), 0.0)  # the share of entries that are zero and not stored
    if len(stored) == matrix.shape[0] * matrix.shape[1]:
        stored, left_out = stored - stored[0], 0.0
    off = float(of_stored @ stored)
    return float(of_stored @ (stored - off) ** 2) + left_out * off * off


def _of_matrices(function: Callable[..., Any], X: Any) -> Callable[..., Any]:
    """Return k(X, Z) for a function of two matrices, as in SVC, or of two rows, as in pairwise_kernels."""

    def gives(n: int, m: int) -> bool:
        try:
            return bool(np.shape(function(X[:n], X[:m])) == (n, m))
        except (TypeError, ValueError, IndexError):
            return False

    # Three shapes: x @ z of two rows may give one of them by chance.
    if X.shape[0] >= 2 and gives(1, 1) and gives(2, 1) and gives(1, 2):
        return function

    @wraps(function)
    def values(A: Any, B: Any) -> Any:
        try:
            with one_at_a_time():
                return pairwise_kernels(A, B, metric=function)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "kernel must be a function of two matrices (giving a matrix) or of two rows (giving a number), which "
                f"{function!r} is not: {error}"
            ) from error

    return values


class KernelDesign(Design):
    """Samples in a kernel space: a vector is [a, K a], coefficients and scores; only ``adjoint`` multiplies by K."""

    divisible, dual, rounds_lengths = True, True, True

    def __init__(self, matrix: AnyArray) -> None:
        self.n_samples = len(matrix)
        self.dim = 2 * self.n_samples
        self._matrix = matrix

    def scores(self, vector: F64, /) -> F64:
        return vector[self.n_samples :].copy()

    def adjoint(self, coefs: Coefs, /) -> F64:
        coefs = np.asarray(coefs)
        used = np.flatnonzero(coefs.any(axis=0))
        sparse = len(used) < _SPARSE * self.n_samples
        if self._matrix.dtype == np.float64 and not sparse:
            return np.hstack([coefs, coefs @ self._matrix])
        total = np.zeros((len(coefs), self.n_samples))
        for rows in slices(len(used), _CACHED // (8 * self.n_samples)):
            block = used[rows]
            total += coefs[:, block] @ self._matrix[block].astype(np.float64, copy=False)
        return np.hstack([coefs, total])

    def inner(self, u: F64, v: F64, /) -> F64:
        return u[:, : self.n_samples] @ v[:, self.n_samples :].T

    def rows(self, index: Rows, /) -> Design:
        return SubsetDesign(self, index)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        if len(rows) > _SPARSE * self.n_samples:
            return None
        n, coefs = self.n_samples, np.zeros(self.n_samples)
        gram = self._matrix[np.ix_(rows, rows)].astype(np.float64, copy=False)
        span = _Span(gram, gradient[n:][rows], float(gradient[:n] @ gradient[n:]))
        step = conjugate(pull, span, span.gradient, *until)
        np.add.at(coefs, rows, step[1 : len(rows) + 1])
        return np.asarray(step[0] * gradient + self.adjoint(coefs[None])[0])


class _Span(Design):
    """Some rows, whose vectors are share * gradient + sum of coefs_k phi(x_k): conjugate gradients stay among these.

    A vector is an array of share, coefs and its scores on the rows, so that a product is one with their kernel values.
    """

    def __init__(self, gram: F64, scores: F64, square: float) -> None:
        self.n_samples = len(gram)
        self.dim = 1 + 2 * self.n_samples
        self._gram, self._scores, self._square = gram, scores, square  # the last two are the gradient's

    @property
    def gradient(self) -> F64:
        """The gradient as a vector."""
        return np.concatenate([[1.0], np.zeros(self.n_samples), self._scores])

    def scores(self, vector: F64, /) -> F64:
        return vector[self.n_samples + 1 :]

    def adjoint(self, coefs: Coefs, /) -> F64:
        coefs = np.asarray(coefs)
        return np.hstack([np.zeros((len(coefs), 1)), coefs, coefs @ self._gram])

    def inner(self, u: F64, v: F64, /) -> F64:
        n = self.n_samples
        of_gradient = v[:, 0] * self._square + v[:, 1 : n + 1] @ self._scores
        return np.asarray(np.outer(u[:, 0], of_gradient) + u[:, 1 : n + 1] @ v[:, n + 1 :].T)


class DualDesign(Design):
    """A linear design whose vectors are [a, X'a]: models keep their coefficients over the samples."""

    dual = True

    def __init__(self, design: Design) -> None:
        self.n_samples = design.n_samples
        self.dim = design.n_samples + design.dim
        self._design, self.eps = design, design.eps

    def accurate(self, *, shifted: bool = True) -> "DualDesign":
        design = self._design.accurate(shifted=shifted)
        return self if design is self._design else DualDesign(design)

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector[self.n_samples :])

    def adjoint(self, coefs: Coefs, /) -> F64:
        return np.hstack([np.asarray(coefs), self._design.adjoint(coefs)])

    def inner(self, u: F64, v: F64, /) -> F64:
        return self._design.inner(u[:, self.n_samples :], v[:, self.n_samples :])
