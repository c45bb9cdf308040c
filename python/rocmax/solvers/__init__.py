"""Solvers: they know neither the features nor the risk, only products with a design and calls of an oracle.

A storage of your own is a :class:`rocmax.designs.Design` with ``scores`` and ``adjoint``::

    risk = tight(_core.Problem(y == 1), (0.0, 0.1), 1)  # of rocmax.risks
    found = minimise_convex(risk, MyStorage(...), C=10.0, tol=1e-3, max_iter=1000)
    found.model.vector, found.gap
"""

from rocmax.solvers._bundle import Bundle as Bundle
from rocmax.solvers._certificate import reach as reach, rounded as rounded, squares_of as squares_of
from rocmax.solvers._convex import minimise_convex as minimise_convex, of_cuts as of_cuts
from rocmax.solvers._convex_concave import minimise_trimmed as minimise_trimmed
from rocmax.solvers._newton import descend as descend, minimise_smooth as minimise_smooth, suits_newton as suits_newton
from rocmax.solvers._objective import (
    Callback as Callback,
    Model as Model,
    Objective as Objective,
    Progress as Progress,
    SolverResult as SolverResult,
    Tilt as Tilt,
    class_means as class_means,
    leave_zero as leave_zero,
)
from rocmax.solvers._steps import lengthened as lengthened
