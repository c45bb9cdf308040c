"""Directions of the steps of the planes: asked in order, each proposes the end of a ray or None."""

import numpy as np

from rocmax._typing import F64
from rocmax.solvers._newton import sampled_step, smoothed
from rocmax.solvers._objective import Objective
from rocmax.solvers._requirements import SAMPLED, missing
from rocmax.solvers._state import State

# After a Newton step that closed less than this share of the gap, the next step is a plane.
_POOR = 0.2
# While the zero model is the best, smoothed cuts do not pay once the relative gap is this small.
_SETTLED = 0.1


class Direction:
    """A way to choose the next step, used if the risk and the design meet its `needs` (see `_requirements`).

    `name` is the kind of its steps in the history.
    """

    name: str
    needs: tuple[str, ...] = ()

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def prepare(self, state: State) -> None:
        """Set a smoothed cut on the state, if it helps, before the new cuts are added."""

    def propose(self, state: State) -> F64 | None:
        """Return a vector; the ray from the best model to it is searched. None to pass."""
        raise NotImplementedError


class Newton(Direction):
    """To the minimiser of the second-order model of the smoothed risk; the smoothed cut joins the others.

    The curvature comes from a sample and costs no pass over the features; the exact search makes up for its errors.
    """

    name = "newton"
    needs = (SAMPLED,)

    def __init__(self, objective: Objective) -> None:
        super().__init__(objective)
        self._rng = np.random.default_rng(0)
        self._on = True
        self._before: float | None = None  # the gap before the last step, if that was a Newton step

    def prepare(self, state: State) -> None:
        """Smooth the risk near the best model."""
        left = state.value - state.bound if state.history else min(state.value - state.bound, self._objective.C)
        if self._on and (state.best.norm > 0 or left > _SETTLED * state.value):
            state.smoothed = smoothed(self._objective, state.near, left)
            self._on = state.smoothed is not None

    def propose(self, state: State) -> F64 | None:
        """Return the end of the step, or None after a poor one."""
        gap = state.value - state.bound
        poor = self._before is not None and gap > (1.0 - _POOR) * self._before
        self._before = None
        if poor or state.smoothed is None or state.near is not state.best:
            return None
        found = sampled_step(self._objective, state.best, state.smoothed.curvature, state.of_smoothed, self._rng)
        if found is None:
            self._on = False
            return None
        if len(state.history) > 1:  # the first step only leaves the start
            self._before = gap
        target: F64 = state.best.vector + found[0]
        return target


class Master(Direction):
    """To the minimiser of the maximum of all cuts; always proposed.

    If it leads uphill, the best model is that minimiser, up to the accuracy of the minimiser.
    """

    name = "plane"

    def propose(self, state: State) -> F64 | None:
        """Return the minimiser."""
        return state.of_master


# In the order in which they are asked:
DIRECTIONS: list[type[Direction]] = [Newton, Master]


def directions_for(objective: Objective) -> list[Direction]:
    """Return those whose needs are met."""
    return [kind(objective) for kind in DIRECTIONS if not missing(kind.needs, objective)]
