"""Where a step of the planes may go: directions that are asked in order, each proposes the end of a ray or passes."""

from functools import cached_property
from typing import Protocol

import numpy as np

from rocmax._typing import F64
from rocmax.solvers._newton import sampled_step, smoothed
from rocmax.solvers._objective import Objective
from rocmax.solvers._state import State

# With fewer samples than this a step costs less than a Newton direction.
_FEW = 1000
# How the record of a kind of step improves while another is taken; how many refused steps are the last.
_GOOD, _GROWTH, _CHANCE, _PATIENCE = 0.1, 1.5, 0.02, 3
# While the zero model is the best, smoothed cuts gain less than they cost once the relative gap is this small.
_SETTLED = 0.1


class Direction(Protocol):
    """A way to choose the next step."""

    name: str

    def propose(self, state: State) -> F64 | None:
        """Return a vector to search the ray to from the best one, or None."""
        ...

    def refused(self) -> None:
        """Take note that the ray leads uphill, and that another direction is asked."""
        ...


class Newton:
    """To the minimiser of the second-order model of the smoothed risk, for as long as such steps close more of the gap.

    The smoothed risk is a cut too, which the loop adds with the others. Its curvature is that of a sample and costs no
    pass over the features; that a step is searched exactly makes up for its errors.
    """

    name = "newton"

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._gap = np.inf
        self._closed = {True: 1.0, False: 1.0}
        self._refusals = self._steps = 0
        self._turn = True
        self.on = objective.design.n_samples >= _FEW

    @cached_property
    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(0)

    def smooth(self, state: State) -> None:
        """Give the state a smoothed cut near its best model, unless the risk has none or they have not served."""
        left = state.value - state.bound if state.history else min(state.value - state.bound, self._objective.C)
        state.smoothed = None
        if self.on and (state.best.norm > 0 or left > _SETTLED * state.value):
            state.smoothed = smoothed(self._objective, state.near, left)
            self.on = state.smoothed is not None

    def propose(self, state: State) -> F64 | None:
        """Return the end of the step if it is the turn of one."""
        turn = self._judge(state.value - state.bound)
        if not turn or state.smoothed is None or state.near is not state.best:
            return None
        best, cut = state.best, state.smoothed
        step = sampled_step(self._objective, best, cut.curvature, state.of_smoothed, self._rng)
        if step is None:
            self.on = False
            return None
        target: F64 = best.vector + step[0]
        return target

    def refused(self) -> None:
        """Give way, in the end for good."""
        self._refusals += 1
        self._turn, self._closed[True] = False, 0.0
        self.on = self._refusals < _PATIENCE

    def _judge(self, gap: float) -> bool:
        """Whether the next step should be a Newton step, given the gap that the last one left.

        The kind of step that closed more of the gap when it was last taken; the other's record improves with time.
        """
        if self._steps > 1:  # the first one only leaves the start
            self._closed[self._turn] = 1.0 - gap / self._gap
            self._closed[not self._turn] = min(1.0, _GROWTH * self._closed[not self._turn] + _CHANCE)
        self._steps += 1
        self._gap = gap
        self._turn = self.on and self._closed[True] >= min(_GOOD, self._closed[False])
        return self._turn


class Master:
    """To the minimiser of the model that all cuts make, which gives the bound; never passes."""

    name = "plane"

    def propose(self, state: State) -> F64 | None:
        """Return the minimiser."""
        return state.of_master

    def refused(self) -> None:
        """Do nothing: the best model is that minimiser, to the last digit or to the smallest number."""
