"""What a solver may ask of the features."""

from rocmax._typing import F64, AnyArray, Coefs, Rows


class Design:
    """The features behind a ranking problem, seen as a linear map.

    A *vector* is a model: the weights of the features in a linear design. Solvers add and scale vectors as they are,
    and use nothing of the features but the products below, and the features themselves where they are few, so a new
    storage is one new class, with ``scores`` and ``adjoint`` of its own. One that can do better than two products a
    feature has a method of its own for :func:`moments` too.

    Attributes
    ----------
    n_samples, dim : int
        The numbers of samples, and of entries of a vector.
    divisible : bool
        Whether a product with some of the samples costs no more than their share of one with all.
    dual : bool
        Whether a vector begins with a coefficient for each sample.
    """

    n_samples: int
    dim: int
    divisible = False
    dual = False

    def scores(self, vector: F64, /) -> F64:
        """Return X v, one score for each sample: shape (dim,) to (n_samples,), an array that the caller may change."""
        raise NotImplementedError

    def adjoint(self, coefs: Coefs, /) -> F64:
        """Return X' a for each row a: shape (k, n_samples), or a list of k rows, to (k, dim)."""
        raise NotImplementedError

    def inner(self, u: F64, v: F64, /) -> F64:
        """Return the inner products of model space between the rows of u and of v: shape (k, l)."""
        return u @ v.T

    def rows(self, index: Rows, /) -> "Design | None":
        """Return the design of some samples, in memory, or None if it is no cheaper than the whole."""
        return None

    def features(self) -> AnyArray | None:
        """Return the features, dense, or None if they are not in memory or inner products not the ordinary ones."""
        return None


def inner(design: Design, u: F64, v: F64) -> float:
    """Return the inner product of two vectors of a design."""
    return float(design.inner(u[None], v[None])[0, 0])
