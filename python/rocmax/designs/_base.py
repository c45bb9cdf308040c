"""The interface between solvers and features, and some samples of a design."""

from typing import Any, Protocol

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Coefs, Rows


class Packed:
    """Coefficients over the samples without the zeros: most, of a narrow range."""

    def __init__(self, coef: F64, rows: Rows | slice = slice(None), n_samples: int | None = None) -> None:
        self._n, used = n_samples or len(coef), coef != 0.0
        counted = np.zeros(self._n, dtype=bool)
        counted[rows] = used
        self._counted, self._values = np.packbits(counted), coef[used]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> F64:  # always a new array
        found = np.zeros(self._n)
        found[np.unpackbits(self._counted, count=self._n).view(bool)] = self._values
        return found


class Pull(Protocol):
    """The product of a change of the scores of some rows with a matrix H; `core` is what the core knows it by."""

    @property
    def core(self) -> Any: ...

    def __call__(self, change: F64, /) -> F64: ...


class Design:
    """The features behind a ranking problem, seen as a linear map.

    A *vector* is a model: the weights of the features in a linear design. Solvers add and scale vectors, and use the
    features only through the products below, or as a whole if they are few. So a new storage is one new class with
    ``scores`` and ``adjoint``, and ``moments`` if it can do better than two products per feature (see :func:`moments`).
    """

    n_samples: int
    # The length of a vector.
    dim: int
    # Whether a product with some of the samples costs no more than their share.
    divisible = False
    # Whether a vector begins with a coefficient for each sample.
    dual = False
    # The relative rounding of products, and whether squared lengths are sums over pairs of samples, which cancel.
    eps, rounds_lengths = float(np.finfo(np.float64).eps), False

    def scores(self, vector: F64, /) -> F64:
        """Return X v, one score for each sample: shape (dim,) to (n_samples,), a new array."""
        raise NotImplementedError

    def adjoint(self, coefs: Coefs, /) -> F64:
        """Return X' a for each row a: shape (k, n_samples), or a list of k rows, to (k, dim)."""
        raise NotImplementedError

    def inner(self, u: F64, v: F64, /) -> F64:
        """Return the inner products between the rows of u and the rows of v: shape (k, l)."""
        return np.asarray(np.einsum("ij,kj->ik", u, v))  # in the same order on any processor, unlike the BLAS

    def rows(self, index: Rows, /) -> "Design | None":
        """Return the design of some samples, in memory, or None if it is no cheaper than the whole."""
        return None

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        """Return a step that solves (I + X'HX) step = -gradient, X some rows and ``pull`` their products with H.

        ``until`` has its residual, relative to the gradient, and the largest number of products. None if products of
        the rows, which serve any design, are as fast.
        """
        return None

    def single(self, rows: Rows | None = None, /) -> "tuple[Design, float] | None":
        """Return the design less the mean of its samples in single precision, and the square of the longest sample.

        Of all samples, or of some `rows` alone.

        None if that is no cheaper, or takes much of the memory.
        """
        return None

    def accurate(self, *, shifted: bool = True) -> "Design":
        """Return the design for products that prove a bound: in double precision, of features less a common vector.

        So scores lack a constant, which changes no pair, and large features that hardly vary lose no digits. Not
        `shifted`, the features stay where they are.
        """
        return self


def inner(design: Design, u: F64, v: F64) -> float:
    """Return the inner product of two vectors of a design."""
    return float(design.inner(u[None], v[None])[0, 0])


def conjugate(pull: Pull, sample: Design, gradient: F64, residual: float, steps: int) -> F64:
    """Solve (I + H) step = -gradient to a residual, by at most so many products with a sample and its pull."""

    def product(vector: F64) -> F64:
        return np.asarray(sample.adjoint([pull(sample.scores(vector))])[0])

    step: F64 = _core.conjugate(gradient, (residual, steps), product, lambda u, v: inner(sample, u, v))
    return step


class SubsetDesign(Design):
    """The samples `index` of a design that is not copied; each product is one with the whole design."""

    def __init__(self, design: Design, index: Rows) -> None:
        self.n_samples, self.dim, self.divisible = len(index), design.dim, design.divisible
        self._design, self._index = design, index

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector)[self._index]

    def adjoint(self, coefs: Coefs, /) -> F64:
        # A sample may be there more than once.
        sums = np.array([np.bincount(self._index, coef, self._design.n_samples) for coef in coefs], dtype=np.float64)
        return self._design.adjoint(sums)

    def inner(self, u: F64, v: F64, /) -> F64:
        return self._design.inner(u, v)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        return self._design.newton_step(self._index[rows], pull, gradient, until)

    def single(self, rows: Rows | None = None, /) -> "tuple[Design, float] | None":
        return self._design.single(self._index if rows is None else self._index[rows])

    def rows(self, index: Rows, /) -> "Design | None":
        return self._design.rows(self._index[index])
