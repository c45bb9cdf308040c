"""Solvers: they know neither the features nor the risk, only products with a design and calls of an oracle."""

from rocmax.solvers._bundle import Bundle
from rocmax.solvers._candidates import Candidate
from rocmax.solvers._certificate import check_bound
from rocmax.solvers._convex_concave import minimise_difference
from rocmax.solvers._cvxopt import solve_pair_dual
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._planes import minimise_convex
from rocmax.solvers._ray import Ray
from rocmax.solvers._result import Callback, Progress, SolverResult
from rocmax.solvers._smooth import minimise_smooth, suits_newton
from rocmax.solvers._zero_model import leave_zero, mean_difference

__all__ = [
    "Bundle",
    "Callback",
    "Candidate",
    "Model",
    "Objective",
    "Progress",
    "Ray",
    "SolverResult",
    "Tilt",
    "check_bound",
    "leave_zero",
    "mean_difference",
    "minimise_convex",
    "minimise_difference",
    "minimise_smooth",
    "solve_pair_dual",
    "suits_newton",
]
