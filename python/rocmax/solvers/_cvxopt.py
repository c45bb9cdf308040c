"""The explicit quadratic program with one variable for each pair: the reference for the other solvers."""

import numpy as np
from numpy.typing import NDArray

from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray
from rocmax.designs import Design
from rocmax.risks import PairHinge
from rocmax.solvers._certificate import check_bound
from rocmax.solvers._objective import Model, Objective, Progress, SolverResult

# The matrix, cvxopt's copy, a scaled copy and its factor.
_COPIES = 4
# An interior point method leaves every multiplier above zero; below this share of the largest one they are set to 0.
_NONE = 1e-7


def solve_pair_dual(
    gram: AnyArray, i: NDArray[np.intp], j: NDArray[np.intp], cap: float, *, tol: float, max_iter: int
) -> tuple[F64, int]:
    """Maximise sum(al) - 1/2 al' E K E' al over 0 <= al <= cap, E the incidence of the pairs (i, j).

    Returns a feasible al and the number of iterations (Rakotomamonjy, 2004, eq. 5, with kernels 12). O(p^3), 32 p^2
    bytes for p pairs.
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
        raise ImportError("solver='cvxopt' needs cvxopt: pip install cvxopt") from error

    rows = gram[i] - gram[j]
    hessian = np.asarray(rows[:, i] - rows[:, j], dtype=np.float64)
    # Units of the mean squared difference make the program independent of the scale of the kernel.
    unit = max(float(np.trace(hessian)) / p, np.finfo(float).tiny)
    hessian /= unit
    bounds = cvxopt.spdiag([cvxopt.matrix(1.0, (1, 1))] * p)
    constraints = cvxopt.sparse([[-bounds, bounds]])
    limits = cvxopt.matrix(np.repeat([0.0, cap * unit], p))
    options = {"abstol": 1e-12, "reltol": min(tol, 1e-6) / 10, "feastol": 1e-9, "maxiters": max_iter}
    options["show_progress"] = False
    found = cvxopt.solvers.qp(cvxopt.matrix(hessian), cvxopt.matrix(-1.0, (p, 1)), constraints, limits, options=options)
    return np.clip(np.array(found["x"])[:, 0] / unit, 0.0, cap), int(found["iterations"])


def minimise_pairs(
    oracle: PairHinge, design: Design, C: float, *, tol: float, max_iter: int
) -> tuple[SolverResult, F64]:
    """Minimise 1/2|f|^2 + C R(f), R the mean hinge over listed pairs; return the model and the multipliers."""
    n, (i, j) = design.n_samples, oracle.pairs.rows().T
    every = design.adjoint(np.eye(n))
    values, n_iter = solve_pair_dual(design.inner(every, every), i, j, C / len(i), tol=tol, max_iter=max_iter)
    coefs = np.asarray(np.bincount(i, values, n) - np.bincount(j, values, n), dtype=np.float64)
    model, objective = Model.of(design.adjoint(coefs[None])[0], design), Objective(oracle, design, C)
    value, found = objective(model)
    bound = float(values.sum()) - 0.5 * model.norm
    check_bound(objective, model, value, bound)
    history, of_zero = [Progress(value, bound, found.partial_auc, "pairs")], objective(objective.zero())[0]
    result = SolverResult(model, value, bound, of_zero, found.partial_auc, model.vector, n_iter, history)
    return result, np.where(values > _NONE * values.max(), values, 0.0)
