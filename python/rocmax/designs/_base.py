"""What a solver may ask of the features, and the choice of who answers."""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rocmax._typing import F64, AnyArray, Coefs, Rows
from rocmax.designs._dask import DaskDesign
from rocmax.designs._linear import DenseDesign, SparseDesign
from rocmax.designs._memmap import MemmapDesign


class Design(Protocol):
    """The features behind a ranking problem, seen as a linear map.

    A *vector* is a model: the weights of the features in a linear design. Solvers add and scale vectors as they are,
    and use nothing of the features but the products below, and the features themselves where they are few, so a new
    storage is one new class. One that can do better than two products a feature has a method of its own for
    :func:`moments` too.
    """

    n_samples: int
    dim: int
    # Whether a product with some of the samples costs no more than their share of one with all.
    divisible: bool

    def scores(self, vector: F64, /) -> F64:
        """Return X v, one score for each sample: shape (dim,) to (n_samples,)."""
        ...

    def adjoint(self, coefs: Coefs, /) -> F64:
        """Return X' a for each row a: shape (k, n_samples), or a list of k rows, to (k, dim)."""
        ...

    def inner(self, u: F64, v: F64, /) -> F64:
        """Return the inner products of model space between the rows of u and of v: shape (k, l)."""
        ...

    def rows(self, index: Rows, /) -> "Design | None":
        """Return the design of some samples, in memory, or None if it is no cheaper than the whole."""
        ...

    def features(self) -> AnyArray | None:
        """Return the features, dense, or None if they are not in memory or inner products not the ordinary ones."""
        ...


def as_design(X: Any) -> Design:
    """Return the design for X, which the caller has validated: ndarray, scipy sparse, memmap or dask array."""
    if sp.issparse(X):
        return SparseDesign(X)
    if isinstance(X, np.memmap):
        return MemmapDesign(X)
    if isinstance(X, np.ndarray):
        return DenseDesign(X)
    if is_dask(X):
        return DaskDesign(X)
    raise TypeError(f"X must be an ndarray, scipy sparse, memmap or dask array, got {type(X).__name__}")


def inner(design: Design, u: F64, v: F64) -> float:
    """Return the inner product of two vectors of a design."""
    return float(design.inner(u[None], v[None])[0, 0])


def is_stored(X: Any) -> bool:
    """Whether X is not in memory: a numpy.memmap or a dask array."""
    return isinstance(X, np.memmap) or is_dask(X)


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, without importing dask."""
    return type(X).__module__.startswith("dask.array")
