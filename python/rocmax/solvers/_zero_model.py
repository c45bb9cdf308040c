"""A way out of the zero model, which ranks nothing, where it is optimal to the accuracy that was asked for."""

from dataclasses import replace

import numpy as np

from rocmax import _core
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._result import SolverResult

# A model is shortened at most so often, to a quarter each time: far beyond what any tol needs.
_SHORTENINGS = 60


def leave_zero(result: SolverResult, objective: Objective, problem: _core.Problem, tol: float) -> SolverResult:
    """Return the result; if the zero model is within `tol`, the best of three rankers, short enough to be certified.

    They are its own model, the best ranking met, and the difference of the class means, along which the AUC risk falls
    at zero. A short enough multiple of any model is within `tol` too, as the risk is continuous; ranking ignores the
    length.
    """
    if not result.zero_will_do(tol):
        return result
    positive, weight = problem.labels, problem.sample_weight
    own = np.ones(len(positive)) if weight is None else weight
    coef = np.where(positive, own / own[positive].sum(), -own / own[~positive].sum())
    best = result
    for vector in (result.ranker, objective.design.adjoint(coef[None])[0]):
        model = Model.of(vector, objective.design)
        for k in range(_SHORTENINGS if model.norm > 0 else 0):
            short = model.scaled(0.25**k)
            value, found = objective(short)
            if value - result.bound <= tol * value:
                if short.norm > 0 and (best.model.norm == 0 or found.partial_auc > best.partial_auc):
                    bound = min(result.bound, value)  # only where the risk is not convex can the model be lower
                    best = replace(result, model=short, objective=value, bound=bound, partial_auc=found.partial_auc)
                break
    return best
