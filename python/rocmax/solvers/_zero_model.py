"""A replacement for the zero model, which ranks nothing, if it is optimal within the tolerance."""

from dataclasses import replace

import numpy as np

from rocmax import _core
from rocmax.designs import Design
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._result import SolverResult

# The most often that a model is shortened to a quarter: far beyond what any tol needs.
_SHORTENINGS = 60


def class_means(problem: _core.Problem, design: Design) -> Model:
    """Return the difference of the class means."""
    positive, weight = problem.labels, problem.sample_weight
    own = np.ones(len(positive)) if weight is None else weight
    coef = np.where(positive, own / own[positive].sum(), -own / own[~positive].sum())
    return Model.of(design.adjoint(coef[None])[0], design)


def leave_zero(result: SolverResult, objective: Objective, problem: _core.Problem, tol: float) -> SolverResult:
    """Return the result; if the zero model is within `tol`, the best of three rankers that are within `tol` too.

    They are its own model, the best ranker of all steps, and the difference of the class means, along which the AUC
    risk falls at zero. The risk is continuous, so that a short enough multiple of any model is within `tol`; the
    length does not change the ranking.
    """
    tol = result.zero_within(tol)
    if not tol:
        return result
    best = result
    for model in (Model.of(result.ranker, objective.design), class_means(problem, objective.design)):
        for k in range(_SHORTENINGS if model.norm > 0 else 0):
            short = model.scaled(0.25**k)
            value, found = objective(short)
            if value - result.bound <= tol * value:
                if short.norm > 0 and (best.model.norm == 0 or found.partial_auc > best.partial_auc):
                    bound = min(result.bound, value)  # lower than the bound only if the risk is not convex
                    best = replace(result, model=short, objective=value, bound=bound, partial_auc=found.partial_auc)
                break
    return best
