"""Models, the objective of training over them, results, and what replaces the zero model, which ranks nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.designs import Design, Packed, inner
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
    """The linearised concave part, which is subtracted: offset + <vector, w>, or offset + coef . s if that is known."""

    def __init__(self, design: Design, vector: F64 | None = None, offset: float = 0.0, coef: Any = None) -> None:
        self._design, self.vector, self.offset, self.coef = design, vector, offset, coef

    def at(self, vector: F64) -> float:
        """Return its value at a vector."""
        return self.offset + (0.0 if self.vector is None else inner(self._design, self.vector, vector))


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


# A model of a risk that is not convex, and a little better than zero, ranks: its rough gap must not call it zero.
_NEAR = 1e-3


def relative_gap(objective: float, bound: float) -> float:
    """Return |objective - bound| / objective, 0 if the objective is 0: a bound above it shows the rounding of both."""
    return abs(objective - bound) / objective if objective > 0 else 0.0


class Bounded:
    """What has an objective and a lower bound of its minimum."""

    objective: float
    bound: float

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 if the objective is 0."""
        return relative_gap(self.objective, self.bound)


@dataclass(frozen=True)
class Progress(Bounded):
    """The state of a solver after a step.

    Attributes
    ----------
    objective : float
        The lowest value of 1/2|w|^2 + C R(w) so far.
    bound : float
        A proven lower bound; if the risk is not convex, of the current convex step.
    partial_auc : float
        The training partial AUC (ranked, strict) of the best model so far.
    step : str
        The kind of step: "start", the cuts of a first model; "newton" and "plane" for a convex risk; "augmented" for
        the augmented Lagrangian; "descent" for a risk that is not convex; "pairs" for the program of the listed pairs.
    """

    objective: float
    bound: float
    partial_auc: float
    step: str = "start"


# Called after each step, with the model of lowest objective so far.
Callback = Callable[[Progress, Model], None]


@dataclass
class SolverResult(Bounded):
    """A model and its certificate: the objective 1/2|w|^2 + C R(w) and a lower bound of its minimum.

    `zero_objective` is the objective of the zero model, `partial_auc` the training partial AUC, and `ranker` the vector
    with the best one of all steps, whatever its objective. `n_iter` counts steps, `history` has an entry for each.
    `proof` holds the cuts whose average is the lower bound: the share and the coefficients over the samples of each,
    None if they were not kept. Of a risk that is not convex they are those of the last convex step, `before` the scores
    at which it linearises the concave part, and `tilt` the coefficients of that part, None if there is none. `offset`
    is the average of the offsets of the cuts, less that of the concave part. `tangent` are the scores of the minimiser
    of the average of the cuts, if they were computed. `status` is why the last minimisation, of a majorant if the
    risk is not convex, ended: "converged" (to `tol`), "max_iter", "stalled" (no step gains any more), "enough".
    """

    model: Model
    objective: float
    bound: float
    zero_objective: float
    partial_auc: float
    ranker: F64
    n_iter: int
    history: list[Progress] = field(repr=False)
    status: str = "converged"
    proof: list[tuple[float, Any]] | None = field(default=None, repr=False)
    offset: float = 0.0
    before: F64 | None = field(default=None, repr=False)
    tangent: F64 | None = field(default=None, repr=False)
    tilt: Packed | None = field(default=None, repr=False)

    @property
    def pull(self) -> F64:
        """The coefficients over the samples of the average of the cuts, less those of the concave part."""
        none = np.zeros(len(self.model.scores))
        of_cuts = sum((share * np.asarray(coef) for share, coef in self.proof or []), none)
        return of_cuts - (none if self.tilt is None else np.asarray(self.tilt))

    def zero_within(self, tol: float) -> float:
        """Return `tol`, at most _NEAR if the risk is not convex, if zero is so near to optimal; otherwise 0."""
        near = tol if self.before is None else min(tol, _NEAR)
        return near if self.zero_objective - self.bound <= near * self.zero_objective else 0.0


# The most often that a model is shortened to a quarter: far beyond what any tol needs.
_SHORTENINGS = 60


def class_means(problem: _core.Problem, design: Design) -> Model:
    """Return the difference of the class means."""
    positive, weight = problem.labels, problem.sample_weight
    own = np.ones(len(positive)) if weight is None else weight
    coef = np.where(positive, own / own[positive].sum(), -own / own[~positive].sum())
    return Model.of(design.adjoint(coef[None])[0], design)


def leave_zero(result: SolverResult, objective: Objective, problem: _core.Problem, tol: float) -> SolverResult:
    """Return the result; if the zero model is within `tol`, the best of three rankers that are within `tol` too.

    They are its own model, the best ranker of all steps, and the difference of the class means, along which the AUC
    risk falls at zero. The risk is continuous, so that a short enough multiple of any model is within `tol`; the
    length does not change the ranking.
    """
    tol = result.zero_within(tol)
    if not tol:
        return result
    best = result
    for model in (Model.of(result.ranker, objective.design), class_means(problem, objective.design)):
        for k in range(_SHORTENINGS if model.norm > 0 else 0):
            short = model.scaled(0.25**k)
            value, found = objective(short)
            if value - result.bound <= tol * value:
                if short.norm > 0 and (best.model.norm == 0 or found.partial_auc > best.partial_auc):
                    bound = min(result.bound, value)  # lower than the bound only if the risk is not convex
                    best = replace(result, model=short, objective=value, bound=bound, partial_auc=found.partial_auc)
                break
    return best
