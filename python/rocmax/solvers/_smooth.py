"""Newton's method, for a smooth risk and a problem that is not large."""

import numpy as np

from rocmax.designs import Design, inner
from rocmax.solvers._candidates import Model
from rocmax.solvers._objective import Objective, Ray
from rocmax.solvers._springs import Springs, is_small, newton_step

# Of the decrease that the slope promises, a step has to keep this share; it is halved at most so often until it does.
_KEPT, _HALVINGS = 1e-4, 40
_MOST_STEPS = 100
# The residual of steps that are not exact.
_RESIDUAL = 1e-3


def suits_newton(design: Design) -> bool:
    """Whether the equations of a step cost about as little as a few passes over the features."""
    return design.divisible and is_small(design, design.n_samples)


def minimise_smooth(objective: Objective, start: Model, *, tol: float) -> Model:
    """Minimise F(w) = 1/2|w|^2 + C R(w), R convex with a second derivative, until half the gradient's square is tol F.

    That is what is left to gain at most, as F is strongly convex. Steps are Newton's, halved until F falls.
    """
    design, C = objective.design, objective.C
    rows, one_group = np.arange(design.n_samples), np.zeros(1, dtype=np.intp)
    model = start
    value, found = objective(model)
    for _ in range(_MOST_STEPS):
        gradient = model.vector + C * design.adjoint([found.coef])[0]
        if 0.5 * inner(design, gradient, gradient) <= tol * value:
            break
        springs = Springs(design, rows, one_group, C * objective.oracle.stiffness(found))
        ray = Ray(objective, model, model.vector + newton_step([springs], gradient, design, _RESIDUAL))
        slope = inner(design, gradient, ray.direction)
        step, point = 1.0, ray.point(1.0)
        for _ in range(_HALVINGS):
            if point.value <= value + _KEPT * step * slope:
                break
            step *= 0.5
            point = ray.point(step, point)
        if point.value >= value or point.evaluation is None:
            break  # nothing to gain but rounding errors
        model, value, found = ray.model(step), point.value, point.evaluation
    return model
