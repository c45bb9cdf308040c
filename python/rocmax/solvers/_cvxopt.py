"""The explicit quadratic program with one variable for each pair: the reference that the other solvers are held to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._memory import require_memory
from rocmax._typing import F64, AnyArray

# The matrix, cvxopt's copy, the scaled one and its factor.
_COPIES = 4


def solve_pair_dual(
    gram: AnyArray, i: NDArray[np.intp], j: NDArray[np.intp], cap: float, *, tol: float, max_iter: int
) -> tuple[F64, int]:
    """Maximise sum(al) - 1/2 al' E K E' al over 0 <= al <= cap, E the incidence of the pairs (i, j).

    Returns al, which is feasible, and the number of iterations. O(p^3) time and 32 p^2 bytes for p pairs.

    References
    ----------
    Rakotomamonjy (2004), eq. 8.
    """
    p = len(i)
    require_memory(
        _COPIES * 8 * p * p,
        f"solver='cvxopt' on {p:,} pairs",
        "solver='auto' solves the same problem without a variable for each pair",
    )
    try:
        import cvxopt
    except ImportError as error:
        raise ImportError("solver='cvxopt' needs cvxopt: pip install 'rocmax[cvxopt]'") from error

    hessian = _pair_gram(gram, i, j)
    # In units of the mean squared difference the program does not depend on the scale of the kernel.
    unit = max(float(np.trace(hessian)) / p, np.finfo(float).tiny)
    hessian /= unit
    bounds = cvxopt.spdiag([cvxopt.matrix(1.0, (1, 1))] * p)
    constraints = cvxopt.sparse([[-bounds, bounds]])
    limits = cvxopt.matrix(np.repeat([0.0, cap * unit], p))
    options: dict[str, Any] = {
        "show_progress": False,
        "abstol": 1e-12,
        "reltol": min(tol, 1e-6) / 10,
        "feastol": 1e-9,
        "maxiters": max_iter,
    }
    found = cvxopt.solvers.qp(cvxopt.matrix(hessian), cvxopt.matrix(-1.0, (p, 1)), constraints, limits, options=options)
    return np.clip(np.array(found["x"])[:, 0] / unit, 0.0, cap), int(found["iterations"])


def _pair_gram(gram: AnyArray, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
    """Return E K E': k(i, u) - k(i, v) - k(j, u) + k(j, v) for every two pairs (i, j) and (u, v)."""
    rows = gram[i] - gram[j]
    return np.asarray(rows[:, i] - rows[:, j], dtype=np.float64)
