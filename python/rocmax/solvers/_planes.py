"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable

import numpy as np

from rocmax._settings import settings
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

    Each step minimises the model that all cuts make, a lower bound of F, and searches a ray from the best model exactly
    (Franc and Sonnenburg, 2009), which takes oracle calls but no product with the features. The two cuts around the
    minimum on the ray join the others. The ray leads to the proposal of the first direction that leads downhill
    (`_directions`). A step is one product with X and one of two to four rows with its transpose. If many more steps are
    expected at the rate of the last ones, the augmented Lagrangian method takes over, if the risk and the design suit
    it.

    Parameters
    ----------
    oracle, design, C
        R, by a value and a subgradient, the features and the weight of the risk.
    tol : float
        Stops once (F - bound) / F is at most this.
    max_iter : int
        Largest number of steps.
    start : Model, default=None
        The first model; the zero model by default.
    bundle : Bundle, default=None
        Earlier cuts of the same oracle and design; new ones are added.
    tilt : Tilt, default=None
        A linear function below R that is subtracted, such as the linearisation of a convex g <= R: F >= 0.
    enough : callable, default=None
        Stops early if ``enough(F, bound)`` is true.
    callback : callable, default=None
        Called with a :class:`Progress` and the best model after each step.

    Returns
    -------
    SolverResult
        The model of lowest F.
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
            # The unfinished minimiser of the model may be the best model itself: the finished one may not.
            if not state.sharpen() or state.ended(Master.name):
                return state.result()
            found = _descended(state, directions)
        if found is None:
            return state.result()  # no way leads down
        step = found


def _descended(state: State, directions: list[Direction]) -> str | None:
    """Go down the first way that leads there; return its name, None if none does."""
    for direction in directions:
        target = direction.propose(state)
        if target is not None and state.descend(target):
            return direction.name
    return None


def _slow(history: list[Progress], tol: float) -> bool:
    """Whether many more steps are to be expected, at the rate of the last ones."""
    seen, to_come = settings().steps_seen, settings().steps_to_come
    if len(history) <= seen:
        return False
    before, now = (max(history[k].gap, tol) for k in (-1 - seen, -1))
    return bool(max(seen, 1) * np.log(now / tol) > to_come * np.log(before / now))
