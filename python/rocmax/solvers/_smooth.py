"""Newton's method for a smooth risk."""

import numpy as np

from rocmax.designs import inner
from rocmax.solvers._objective import DIVISIBLE, SECOND_DERIVATIVE, Model, Objective, missing, require
from rocmax.solvers._steps import Point, Ray, Springs, search, solve

# A search along a ray ends when the slope has fallen to this share, or after so many calls.
_FLAT, _CALLS = 0.5, 40
_MOST_STEPS = 100
# The residual of steps that are not exact.
_RESIDUAL = 0.1

NEEDS = SECOND_DERIVATIVE, DIVISIBLE


def suits_newton(objective: Objective) -> bool:
    """Whether the risk and the design meet the needs."""
    return not missing(NEEDS, objective)


def minimise_smooth(objective: Objective, start: Model, *, tol: float) -> Model:
    """Minimise F(w) = 1/2|w|^2 + C R(w) by Newton steps, R convex with a second derivative.

    Ends when half the squared gradient, which bounds the possible gain, is at most tol F.
    """
    require("Newton's method", NEEDS, objective)
    design, C = objective.design, objective.C
    rows, one_group = np.arange(design.n_samples), np.zeros(1, dtype=np.intp)
    model = start
    value, found = objective(model)
    for _ in range(_MOST_STEPS):
        gradient = model.vector + C * design.adjoint([found.coef])[0]
        if 0.5 * inner(design, gradient, gradient) <= tol * value:
            break
        springs = Springs(rows, one_group, C * objective.oracle.stiffness(found))
        ray = Ray(objective, model, model.vector + solve(springs, gradient, design, _RESIDUAL))
        origin = Point(0.0, value, inner(design, gradient, ray.direction))
        lowest = search(ray.point, origin, 0.0, flat=_FLAT, max_calls=_CALLS)
        if lowest.value >= value:
            break  # only rounding is left
        model, value, found = ray.model(lowest.step), lowest.value, lowest.found
    return model
