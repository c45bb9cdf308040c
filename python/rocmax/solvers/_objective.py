"""The objective of training."""

import numpy as np

from rocmax.designs import Design
from rocmax.risks import Evaluation, Oracle
from rocmax.solvers._bundle import Tilt
from rocmax.solvers._candidates import Model


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
