"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable

import numpy as np

from rocmax._runtime.settings import settings
from rocmax.designs import Design
from rocmax.risks import Oracle
from rocmax.solvers._augmented import minimise_augmented, suits
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._directions import Direction, Master, directions_for
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._result import Callback, Progress, SolverResult
from rocmax.solvers._state import State


def minimise_convex(
    oracle: Oracle,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model | None = None,
    bundle: Bundle | None = None,
    tilt: Tilt | None = None,
    enough: Callable[[float, float], bool] | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R convex and non-negative, to a certified relative gap.

    Each step minimises the maximum of all cuts, a lower bound of F, and searches a ray from the best model exactly
    (Franc and Sonnenburg, 2009), which takes oracle calls but no product with the features. The two cuts around the
    minimum on the ray join the others. The ray leads to the proposal of the first direction (`_directions`) that leads
    downhill. A step is one product with X and one of two to four rows with its transpose. If many more steps are
    expected at the rate of the last ones, the augmented Lagrangian method takes over, if the risk and the design suit
    it.

    The fit starts from the model `start` (default: zero) and the cuts of `bundle`, which come from the same oracle and
    design; new cuts are added to it. It ends when (F - bound) / F <= `tol`, after `max_iter` steps, or when
    ``enough(F, bound)`` is true. `tilt` must lie below R, so that F >= 0. `callback` is called after each step.
    """
    objective = Objective(oracle, design, C, tilt)
    state = State(objective, bundle or Bundle(design), start or objective.zero(), tol, max_iter, enough, callback)
    directions = directions_for(objective)
    step = "start"
    while True:
        for direction in directions:
            direction.prepare(state)
        state.add_cuts()
        if state.ended(step):
            return state.result()
        slow = state.bundle.multipliers is not None or _slow(state.history, tol)
        if slow and state.best.norm > 0 and suits(objective):
            minimise_augmented(state)
            return state.result()
        found = _descended(state, directions)
        if found is None:
            # The rough minimiser of the cuts may be the best model itself; the accurate one may not.
            if not state.sharpen() or state.ended(Master.name):
                return state.result()
            found = _descended(state, directions)
        if found is None:
            return state.result()
        step = found


def _descended(state: State, directions: list[Direction]) -> str | None:
    """Descend along the first direction that leads downhill; return its name, or None."""
    for direction in directions:
        target = direction.propose(state)
        if target is not None and state.descend(target):
            return direction.name
    return None


def _slow(history: list[Progress], tol: float) -> bool:
    """Whether many more steps are expected at the rate of the last ones."""
    seen, to_come = settings().steps_seen, settings().steps_to_come
    if len(history) <= seen:
        return False
    before, now = (max(history[k].gap, tol) for k in (-1 - seen, -1))
    return bool(max(seen, 1) * np.log(now / tol) > to_come * np.log(before / now))
