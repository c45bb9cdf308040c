"""Solvers: they know neither the features nor the risk, only products with a design and calls of an oracle.

A storage of your own is a :class:`rocmax.designs.Design` with ``scores`` and ``adjoint``::

    risk = Tight((0.0, 0.1)).bind(Problem(y == 1), 1)  # from rocmax.risks
    found = minimise_convex(risk, MyStorage(...), C=10.0, tol=1e-3, max_iter=1000)
    found.model.vector, found.gap
"""

from rocmax.solvers._bundle import Bundle
from rocmax.solvers._certificate import reach, rounded, squares_of
from rocmax.solvers._convex import minimise_convex
from rocmax.solvers._convex_concave import minimise_trimmed
from rocmax.solvers._cvxopt import minimise_pairs
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._result import Callback, Progress, SolverResult
from rocmax.solvers._smooth import minimise_smooth, suits_newton
from rocmax.solvers._steps import lengthened
from rocmax.solvers._zero_model import leave_zero

__all__ = [
    "Bundle",
    "Callback",
    "Model",
    "Objective",
    "Progress",
    "SolverResult",
    "Tilt",
    "leave_zero",
    "lengthened",
    "minimise_convex",
    "minimise_pairs",
    "minimise_smooth",
    "minimise_trimmed",
    "reach",
    "rounded",
    "squares_of",
    "suits_newton",
]
