"""Models, the objective of training over them, and what a solver may need of it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

import numpy as np

from rocmax._runtime.settings import settings
from rocmax._typing import F64
from rocmax.designs import Design, inner
from rocmax.risks import Evaluation, Oracle


class Model(NamedTuple):
    """A vector, its scores on the training samples, and its squared length."""

    vector: F64
    scores: F64
    norm: float

    @classmethod
    def of(cls, vector: F64, design: Design) -> Self:
        """Return the model of a vector of the design; one product with the features."""
        return cls(vector, design.scores(vector), inner(design, vector, vector))

    def scaled(self, step: float) -> Self:
        """Return a multiple of the model."""
        return type(self)(step * self.vector, step * self.scores, step * (step * self.norm))


class Tilt:
    """A linear function offset + <vector, w> that is subtracted from the risk: the linearised concave part.

    As a function of the scores it is offset + coef . s, if `coef` is known.
    """

    def __init__(self, design: Design, vector: F64 | None = None, offset: float = 0.0, coef: F64 | None = None) -> None:
        self._design, self.vector, self.offset, self.coef = design, vector, offset, coef

    def slope(self, direction: F64) -> float:
        """Return its derivative along a direction."""
        return 0.0 if self.vector is None else inner(self._design, self.vector, direction)

    def at(self, vector: F64) -> float:
        """Return its value at a vector."""
        return self.offset + self.slope(vector)


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


# What a solver or a step may need: declared as `NEEDS`, checked before any work.
HINGES = "a risk that is a sum of hinges"
SECOND_DERIVATIVE = "a risk with a second derivative (`stiffness`)"
DIVISIBLE = "a design of which some samples cost only their share (`divisible`)"
SAMPLED = "at least 1,000 samples, and no fewer than features"

_MET: dict[str, Callable[[Objective], bool]] = {
    HINGES: lambda objective: objective.oracle.hinges is not None,
    SECOND_DERIVATIVE: lambda objective: type(objective.oracle).stiffness is not Oracle.stiffness,
    DIVISIBLE: lambda objective: objective.design.divisible,
    # With fewer samples than features the curvature of a sample says little.
    SAMPLED: lambda objective: objective.design.n_samples >= max(settings().newton_samples, objective.design.dim),
}


def missing(needs: Iterable[str], objective: Objective) -> list[str]:
    """Return the needs that an objective does not meet."""
    return [need for need in needs if not _MET[need](objective)]


def require(solver: str, needs: Iterable[str], objective: Objective) -> None:
    """Raise ValueError if an objective does not meet the needs of a solver."""
    lacks = missing(needs, objective)
    if lacks:
        kinds = f"{type(objective.oracle).__name__} over {type(objective.design).__name__}"
        raise ValueError(f"{solver} needs {' and '.join(lacks)}, got {kinds}; use minimise_convex")
