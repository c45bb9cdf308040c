"""A way out of the zero model, which ranks nothing, where it is optimal to the accuracy that was asked for."""

from dataclasses import replace

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.designs import Design
from rocmax.solvers._candidates import Candidate
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._result import SolverResult, certified_limit

# A model is shortened at most so often, to a quarter each time: far beyond what any tol needs.
_SHORTENINGS = 60


def mean_difference(design: Design, problem: _core.Problem) -> F64:
    """Return the vector along the difference of the classes' means, in which the AUC risk falls at zero."""
    positive, weight = problem.labels, problem.sample_weight
    own = np.ones(len(positive)) if weight is None else weight
    coef = np.where(positive, own / own[positive].sum(), -own / own[~positive].sum())
    vector: F64 = design.adjoint(coef[None])[0]
    return vector


def leave_zero(result: SolverResult, objective: Objective, directions: list[F64], tol: float) -> SolverResult:
    """Return the result with, in place of the zero model, the best ranker of some, so short that it is certified.

    A short enough multiple of any model is within `tol` of optimal too, since the risk is continuous; ranking ignores
    the length. The result is returned as it is if its model is not zero or no direction will do.
    """
    limit = certified_limit(result.bound, tol)
    if result.model.norm > 0 or result.objective > limit:
        return result
    found = [candidate for vector in directions for candidate in _shortened(objective, vector, limit)]
    if not found:
        return result
    chosen = max(found, key=lambda candidate: candidate.partial_auc)
    model = Model.of(chosen.vector, objective.design)
    bound = min(result.bound, chosen.objective)  # only where the risk is not convex can the model be lower
    return replace(result, model=model, objective=chosen.objective, bound=bound, partial_auc=chosen.partial_auc)


def _shortened(objective: Objective, vector: F64, limit: float) -> list[Candidate]:
    """Return the longest of the vector's multiples by 1, 1/4, ... whose objective is at most `limit`, if any is."""
    model = Model.of(vector, objective.design)
    if model.norm == 0:
        return []
    for k in range(_SHORTENINGS):
        short = model.scaled(0.25**k)
        value, evaluation = objective(short)
        if value <= limit:
            return [Candidate(value, evaluation.partial_auc, short.vector)] if short.norm > 0 else []
    return []
