"""The small dense quadratic program at the heart of every cutting-plane step."""

from rocmax import _core
from rocmax._typing import F64


def minimise_on_simplex(gram: F64, gain: F64, total: float, start: F64, *, tol: float) -> F64:
    """Minimise 1/2 l'Gl - d'l over l >= 0, sum l = total.

    A primal active set method: Newton steps on the support, one variable in when the support is optimal, those that
    reach zero out, with a Cholesky factor that follows. From the solution of the last call, one more cut takes a few
    steps of O(k p), p the support (at most the dimension of the model plus one). Every iterate is feasible.

    Parameters
    ----------
    gram : ndarray of shape (k, k)
        G, positive semidefinite.
    gain : ndarray of shape (k,)
        d.
    total : float
        Sum of the solution.
    start : ndarray of shape (k,)
        A feasible point.
    tol : float
        Stop once the duality gap l'g - total * min(g), with g = Gl - d, is this small, or rounding lets it fall no
        further.

    Returns
    -------
    ndarray of shape (k,)
        The minimiser.
    """
    return _core.minimise_on_simplex(gram, gain, total, start, tol)
