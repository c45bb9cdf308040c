"""The small dense quadratic program at the heart of every cutting-plane step."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from rocmax._typing import F64

# Added to the diagonal relative to its mean, the first that lets dependent cuts factorise. It bends single steps only:
# the gradient that decides when to stop is exact.
_RIDGES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-8, 1e-4)


def minimise_on_simplex(gram: F64, gain: F64, total: float, start: F64, *, tol: float, max_iter: int = 500) -> F64:
    """Minimise 1/2 l'Gl - d'l over l >= 0, sum l = total.

    A primal active set method: Newton steps on the support, one variable in when the support is optimal, those that
    reach zero out. From the solution of the last call, one more cut takes a few steps of O(p^3), p the support (at most
    the dimension of the model plus one). Every iterate is feasible, so stopping early is safe.

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
        Stop once the duality gap l'g - total * min(g), with g = Gl - d, is this small.
    max_iter : int
        At most this many steps.

    Returns
    -------
    ndarray of shape (k,)
        The minimiser.
    """
    weights = start.copy()
    support = np.flatnonzero(weights)
    settled = False  # the weights are optimal on their support
    refinements = 0
    for _ in range(max_iter):
        gradient = gram @ weights - gain
        best = int(np.argmin(gradient))
        if weights @ gradient - total * gradient[best] <= tol:
            break
        entering = settled and weights[best] == 0
        if entering:
            support = np.append(support, best)
        refinements = refinements + 1 if settled and not entering else 0
        step = _newton_step(gram, gradient, support)
        if refinements > 3 or (entering and step[-1] <= 0):
            break  # what is left is rounding
        limits = np.full(len(step), np.inf)
        np.divide(-weights[support], step, out=limits, where=step < 0)
        length = min(1.0, float(limits.min()))
        moved = np.maximum(weights[support] + length * step, 0.0)
        moved[limits <= length] = 0.0
        weights[support] = moved * (total / moved.sum())
        support = support[moved > 0]
        settled = length == 1.0
    return weights


def _newton_step(gram: F64, gradient: F64, support: NDArray[np.intp]) -> F64:
    """Return the step to the minimum over the plane of the support, the sum of the weights kept."""
    block = gram[support[:, None], support]
    size = float(block.trace()) / len(support) + np.finfo(float).tiny
    # A constant added to every entry changes nothing on the plane, and makes up for a cut that is zero.
    block += size
    right = np.ones((2, len(support)))
    right[0] = gradient[support]
    solved = _solve(block, right.T, size)
    step: F64 = solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum()) - solved[:, 0]
    return step


def _solve(block: F64, right: F64, size: float) -> F64:
    """Solve the positive definite system; LAPACK at first hand, since at this size SciPy's wrappers take the time."""
    for ridge in _RIDGES:
        ridged = block.copy()
        ridged.ravel()[:: len(block) + 1] += ridge * size
        # The transpose, equal to the matrix, is in LAPACK's order.
        _, solved, info = dposv(ridged.T, right, lower=1, overwrite_a=1)
        if info == 0:
            return np.asarray(solved)
    raise FloatingPointError("the inner products of the cuts are not finite: scale the features, or lower C")
