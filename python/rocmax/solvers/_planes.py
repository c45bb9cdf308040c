"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable

import numpy as np

from rocmax.designs import Design
from rocmax.risks import Oracle
from rocmax.solvers._augmented import minimise_augmented, suits
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._certificate import check_bound
from rocmax.solvers._directions import Direction, directions_for
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._result import Callback, Progress, SolverResult, relative_gap
from rocmax.solvers._state import State

# Cutting planes give way where, by the rate of the last _LOOKED_AT steps, more than _MANY are to come.
_LOOKED_AT, _MANY = 6, 20
# Where so many steps in succession gain nothing, rounding has ended the search.
_PATIENCE = 50


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

    Each step minimises the model that all cuts make, a lower bound of F, and searches a ray from the best model
    exactly, which takes oracle calls but no product with the features; the two cuts that enclose the minimum on the ray
    join the others. The ray leads to what the first of the directions proposes that leads downhill (`_directions`). A
    step is one product with X, one of two to four rows with its transpose. Where many steps are still to be expected at
    the rate of the last ones, the augmented Lagrangian method goes on, if the risk and the design suit it.

    Parameters
    ----------
    oracle, design, C
        R, of which a value and a subgradient are enough, the features and the weight of the risk.
    tol : float
        Stop once (F - bound) / F is this small.
    max_iter : int
        At most this many steps.
    start : Model, default=None
        Where to begin; the zero model by default.
    bundle : Bundle, default=None
        Cuts of the same oracle and design to go on with; new ones are added to it.
    tilt : Tilt, default=None
        A linear function taken off R, nowhere above it, such as the linearisation of a convex g <= R: F >= 0.
    enough : callable, default=None
        Stops early when ``enough(F, bound)`` is true.
    callback : callable, default=None
        Called with a :class:`Progress` and the best model after each step.

    Returns
    -------
    SolverResult
        The certified model of best training partial AUC, or the one of lowest F if none is certified.

    References
    ----------
    Narasimhan and Agarwal (2016), Algorithm 1; Franc and Sonnenburg (2009) for the line search.
    """
    objective = Objective(oracle, design, C, tilt)
    state = State(objective, bundle or Bundle(design), start or objective.zero(), tol)
    del start
    directions = directions_for(objective)
    report = _Report(state, tol, max_iter, enough, callback)
    while True:
        for direction in directions:
            direction.prepare(state)
        state.add_cuts()
        if report(state.value, state.bound, state.best):
            break
        slow = state.bundle.multipliers is not None or _slow(state.history, tol)
        if slow and state.best.norm > 0 and suits(objective):
            report.step = "augmented"
            minimise_augmented(state, report)
            break
        taken = next((direction for direction in directions if _take(direction, state)), None)
        if taken is None:
            break  # no way leads down
        report.step = taken.name
    return state.result(report.status or "stalled")


def _take(direction: Direction, state: State) -> bool:
    """Take a step of a direction; False if it proposes none, or one that leads uphill."""
    target = direction.propose(state)
    if target is None:
        return False
    downhill = state.descend(target)
    if not downhill:
        direction.refused()
    return downhill


class _Report:
    """Writes down the steps of a minimisation, each with its kind, and says when they are enough."""

    def __init__(
        self,
        state: State,
        tol: float,
        max_iter: int,
        enough: Callable[[float, float], bool] | None,
        callback: Callback | None,
    ) -> None:
        self._state, self._tol, self._max_iter = state, tol, max_iter
        self._enough, self._callback = enough, callback
        self.step, self.status = "start", ""

    def __call__(self, value: float, bound: float, best: Model) -> bool:
        """Write down a step, and say whether it is the last."""
        state = self._state
        check_bound(state.objective, best, value, bound, state.bundle)
        state.history.append(Progress(value, bound, state.candidates.lowest.partial_auc, self.step))
        if self._callback is not None:
            self._callback(state.history[-1], best)
        if relative_gap(value, bound) <= self._tol or bound >= value:
            self.status = "converged"
        elif self._enough is not None and self._enough(value, bound):
            self.status = "enough"
        elif len(state.history) >= self._max_iter:
            self.status = "max_iter"
        return self.status != "" or _stalled(state.history)


def _stalled(history: list[Progress]) -> bool:
    """Whether the last steps gained nothing, to the last digit."""
    if len(history) <= _PATIENCE:
        return False
    before, now = history[-1 - _PATIENCE], history[-1]
    return now.objective >= before.objective and now.bound <= before.bound


def _slow(history: list[Progress], tol: float) -> bool:
    """Whether many more steps are to be expected, at the rate of the last ones."""
    if len(history) <= _LOOKED_AT:
        return False
    before, now = (max(history[k].gap, tol) for k in (-1 - _LOOKED_AT, -1))
    rate = np.log(before / now) / _LOOKED_AT
    return bool(np.log(now / tol) > _MANY * rate)
