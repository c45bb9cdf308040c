"""Newton steps on a smoothed risk, with the curvature of a sample."""

from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, inner
from rocmax.risks import Curvature, Smoothed
from rocmax.solvers._candidates import Model
from rocmax.solvers._conjugate_gradients import conjugate_gradients
from rocmax.solvers._objective import Objective

# The smoothed stretch of the hinge, relative to the root of what is left to gain in mean pair loss; and its limits.
_WIDTH, _NARROWEST, _WIDEST = 0.3, 1e-6, 2.0
# How far rounding may lift a smoothed cut, relative to the square of the scores over the width.
_ROUNDING = 1e-14
# With fewer samples than this a step costs less than a Newton direction.
_FEW = 1000
# Rows of the sample, at most these or one of so many, and products with it: enough for the dimension, and not dearer
# than a pass over the features.
_ROWS, _SHARE, _STEPS = 4000, 5, (5, 20)
_RESIDUAL = 1e-2
# How the record of a kind of step improves while another is taken; how many refused steps are the last.
_GOOD, _GROWTH, _CHANCE, _PATIENCE = 0.1, 1.5, 0.02, 3


class Newton:
    """Smoothed cuts and Newton steps for one minimisation, for as long as they serve.

    The sample's curvature costs no pass over the features; that a step is searched exactly makes up for its errors.
    """

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

    def smooth(self, model: Model, gap: float) -> Smoothed | None:
        """Return a smoothed cut at a model, unless the risk has none or they have not served."""
        if not self.on:
            return None
        found = smoothed(self._objective, model, gap)
        self.on = found is not None
        return found

    def judge(self, gap: float) -> bool:
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

    def refused(self) -> None:
        """Take note that a Newton step led nowhere, and another kind of step is taken instead."""
        self._refusals += 1
        self._turn, self._closed[True] = False, 0.0
        self.on = self._refusals < _PATIENCE

    def target(self, model: Model, of_risk: Curvature, slope: F64) -> F64 | None:
        """Return the end of a Newton step from a model, or None if the design has no samples to offer."""
        step = newton_step(self._objective, model, of_risk, slope, self._rng)
        if step is None:
            self.on = False
            return None
        target: F64 = model.vector + step.vector
        return target


class Step(NamedTuple):
    """The way to another model, and the slope of the smoothed objective at its start."""

    vector: F64
    slope: float


def is_wide(design: Design) -> bool:
    """Whether there are more features than rows in any sample."""
    return design.dim > min(design.n_samples, _most_rows(design.n_samples))


def _most_rows(n_samples: int) -> int:
    return max(_ROWS, n_samples // _SHARE)


def smoothed(objective: Objective, model: Model, left: float) -> Smoothed | None:
    """Return a smoothed cut of the risk at a model, given what is left to gain; None if the risk has none."""
    # At scores that are all tied every pair is to have a curvature: the step is that of least squares.
    width = _WIDEST if model.norm == 0 else _WIDTH * sqrt(max(left, 0.0) / objective.C)
    width = min(max(width, _NARROWEST), _WIDEST)
    found = objective.oracle.smooth(model.scores, width)
    if found is None:
        return None
    # The shares of a pair are found from either side, by differences of sums of scores over the width.
    spread = 1.0 + float(model.scores.max() - model.scores.min())
    slack = _ROUNDING * spread**2 / width * objective.oracle.at_zero(len(model.scores))
    return found._replace(offset=found.offset - slack)


def newton_step(
    objective: Objective, model: Model, of_risk: Curvature, slope: F64, rng: np.random.Generator
) -> Step | None:
    """Return the way to the minimiser of the second-order model of the smoothed objective.

    `slope` is the vector of the smoothed cut, `of_risk` its curvature, of which a sample is drawn. None if the design
    has no samples to offer.
    """
    design = objective.design
    n_samples = of_risk.n_samples
    size = min(max(design.dim, min(_ROWS, n_samples)), _most_rows(n_samples))
    rows, curvature = of_risk.sample(size, rng)
    sample = design.rows(rows)
    if sample is None:
        return None
    gradient = model.vector + objective.C * slope
    if objective.tilt.vector is not None:
        gradient -= objective.C * objective.tilt.vector
    steps = min(max(n_samples // len(rows), _STEPS[0]), _STEPS[1])

    def product(vector: F64) -> F64:
        image: F64 = vector + objective.C * sample.adjoint(curvature(sample.scores(vector))[None])[0]
        return image

    vector = conjugate_gradients(product, -gradient, design, steps, _RESIDUAL)
    return Step(vector, inner(design, gradient, vector))
