"""The augmented Lagrangian method, for data on which cutting planes converge slowly."""

import numpy as np

from rocmax.designs import inner
from rocmax.solvers._envelope import Envelope
from rocmax.solvers._objective import Objective
from rocmax.solvers._ray import Point, Ray, search
from rocmax.solvers._requirements import DIVISIBLE, HINGES, missing, require
from rocmax.solvers._state import State

# The inner problem ends when half its squared gradient is at most _INNER times the move of the multipliers, or after
# _INNER_STEPS steps.
_INNER, _INNER_STEPS = 2.0, 12
# The residual of a Newton step.
_RESIDUAL = 0.3
# The accuracy of the best length of a model, relative to the gap.
_LENGTH = 0.05
# The search along a step ends when the slope has fallen to this share, or after so many oracle calls.
_FLAT, _CALLS = 0.1, 20

NEEDS = HINGES, DIVISIBLE


def suits(objective: Objective) -> bool:
    """Whether the risk and the design meet the needs."""
    return not missing(NEEDS, objective)


def minimise_augmented(state: State) -> None:
    """Minimise F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R a sum of hinges, from the best model of a state, and update it.

    The model w and, for each hinge, its scores s = X w are separate variables, joined by a constraint with multipliers.
    For given multipliers the best scores are the proximal point of the hinge; what remains is a smooth function of w.
    Newton steps minimise it, with the curvature of the samples that are tied in the proximal points. The slopes there
    are the next multipliers, and cuts of R, which give the bound. About ten inner problems reach any accuracy, also on
    wide and separable data, where many samples matter (Rockafellar, 1976; Li, Sun and Toh, 2018).

    Holds up to ten vectors over the samples for each hinge, and the features of at most half of the samples.
    """
    objective = state.objective
    require("the augmented Lagrangian method", NEEDS, objective)
    design, C, tilt = objective.design, objective.C, objective.tilt
    lean = 0.0 if tilt.vector is None else tilt.vector
    envelope = Envelope(objective, state.bundle)
    model = state.best
    steps = 0
    found = envelope.begin(model.scores, state.value - state.bound)
    while True:
        pull = design.adjoint([found.coef])[0]
        of_dual = C * (lean - pull)
        gradient = model.vector - of_dual
        bound = C * (found.offset - tilt.offset) - 0.5 * inner(design, of_dual, of_dual)
        state.prove(bound, [(1.0, found.coef)])
        enough = state.ended("augmented")
        slack = 0.5 * inner(design, gradient, gradient)
        if enough or slack <= _INNER * C * envelope.moved(found) or steps == _INNER_STEPS:
            state.bundle.add(np.array([found.offset]), pull[None], [found.coef])
            if enough:
                state.bundle.multipliers = envelope.multipliers_of(found)
                return
            envelope.update(found, steps)
            steps = 0
            found = envelope(model.scores)
            continue
        steps += 1
        ray = Ray(objective, model, model.vector + envelope.newton_step(found, gradient, _RESIDUAL))
        slope = inner(design, gradient, ray.direction)
        if not (slope < 0.0 and 0.0 < ray.curvature < np.inf):
            return  # no descent direction to the accuracy of the numbers

        def slopes_at(step: float, ray: Ray = ray) -> Point:
            model = ray.model(step)
            found = envelope(model.scores)
            return Point(step, np.nan, ray.slope(step, ray.change(found.coef)), (model, found))

        model, found = search(slopes_at, Point(0.0, np.nan, slope), 0.0, flat=_FLAT, max_calls=_CALLS)[0].found
        state.offer(model, _LENGTH)
