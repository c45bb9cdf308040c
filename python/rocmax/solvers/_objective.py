"""The objective of training, and models along a ray."""

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design
from rocmax.risks import Evaluation, Oracle
from rocmax.solvers._bundle import Tilt
from rocmax.solvers._candidates import Model
from rocmax.solvers._line_search import Point


class Objective:
    """F(w) = 1/2|w|^2 + C (R(w) - tilt(w)) over models that carry their scores."""

    def __init__(self, oracle: Oracle, design: Design, C: float, tilt: Tilt | None = None) -> None:
        self.oracle, self.design, self.C = oracle, design, C
        self.tilt = tilt or Tilt(design)

    def zero(self) -> Model:
        """Return the model of weights zero."""
        return Model(np.zeros(self.design.dim), np.zeros(self.design.n_samples), 0.0)

    def at_zero(self) -> float:
        """Return F of the zero model."""
        return self.C * (self.oracle.at_zero(self.design.n_samples) - self.tilt.offset)

    def __call__(self, model: Model) -> tuple[float, Evaluation]:
        """Return F and what the oracle found."""
        found = self.oracle(model.scores)
        return 0.5 * model.norm + self.C * (found.value - self.tilt.at(model.vector)), found


class Ray:
    """The models base + t (target - base): one product with the features serves them all.

    Holds two vectors over the samples, the scores of the base and their change.

    Parameters
    ----------
    objective, base, target
        As above.
    change : ndarray of shape (n_samples,), default=None
        The scores of target - base, where they are known; the ray writes into them.
    """

    def __init__(self, objective: Objective, base: Model, target: F64, change: F64 | None = None) -> None:
        self._objective, self.base = objective, base
        self.direction = target - base.vector
        self._change = objective.design.scores(self.direction) if change is None else change
        pair = np.array([base.vector, self.direction])
        along, curvature = objective.design.inner(pair, self.direction[None])[:, 0]
        self._along, self.curvature = float(along), float(curvature)
        self._tilt = objective.tilt.at(base.vector), objective.tilt.slope(self.direction)

    def _norm(self, step: float) -> float:
        return max(self.base.norm + step * (2.0 * self._along + step * self.curvature), 0.0)

    def vector(self, step: float) -> F64:
        """Return the vector at a step."""
        return self.base.vector + step * self.direction

    def at(self, step: float) -> Model:
        """Return the model at a step."""
        return Model(self.vector(step), self.base.scores + step * self._change, self._norm(step))

    def model(self, step: float) -> Model:
        """Return the model at a step; its scores are in the memory of the ray, which is of no use afterwards."""
        scores = self._change
        scores *= step
        scores += self.base.scores
        return Model(self.vector(step), scores, self._norm(step))

    def point(self, step: float, instead: Point | None = None) -> Point:
        """Evaluate the objective at a step, in the memory of a point that is of no use any more."""
        out = None if instead is None or instead.evaluation is None else instead.evaluation.coef
        found = self._objective.oracle.on_ray(self.base.scores, step, self._change, out)
        at, lean = self._tilt
        value = 0.5 * self._norm(step) + self._objective.C * (found.value - at - step * lean)
        return Point(step, value, self.slope(step, self.change(found.coef)), found)

    def slope(self, step: float, of_risk: float) -> float:
        """Return the derivative of the objective at a step, given that of the risk."""
        return self._along + step * self.curvature + self._objective.C * (of_risk - self._tilt[1])

    def change(self, coef: F64) -> float:
        """Return how coef . scores changes with the step."""
        return float(coef @ self._change)
