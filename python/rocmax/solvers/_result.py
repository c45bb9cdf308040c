"""The result of a solver, and its record of the steps."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rocmax._typing import F64
from rocmax.solvers._objective import Model

# A model of a risk that is not convex, and a little better than zero, ranks: its rough gap must not call it zero.
_NEAR = 1e-3


@dataclass(frozen=True)
class Progress:
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

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 if the objective is 0."""
        return relative_gap(self.objective, self.bound)


# Called after each step, with the model of lowest objective so far.
Callback = Callable[[Progress, Model], None]


@dataclass
class SolverResult:
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
    proof: list[tuple[float, F64]] | None = field(default=None, repr=False)
    offset: float = 0.0
    before: F64 | None = field(default=None, repr=False)
    tangent: F64 | None = field(default=None, repr=False)
    tilt: F64 | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 if the objective is 0."""
        return relative_gap(self.objective, self.bound)

    @property
    def pull(self) -> F64:
        """The coefficients over the samples of the average of the cuts, less those of the concave part."""
        none = np.zeros(len(self.model.scores))
        of_cuts = sum((share * coef for share, coef in self.proof or []), none)
        return of_cuts - (none if self.tilt is None else self.tilt)

    def zero_within(self, tol: float) -> float:
        """Return `tol`, at most _NEAR if the risk is not convex, if zero is so near to optimal; otherwise 0."""
        near = tol if self.before is None else min(tol, _NEAR)
        return near if self.zero_objective - self.bound <= near * self.zero_objective else 0.0


def relative_gap(objective: float, bound: float) -> float:
    """Return |objective - bound| / objective, 0 if the objective is 0.

    A bound above the objective shows the rounding of both: the gap is no smaller.
    """
    return abs(objective - bound) / objective if objective > 0 else 0.0
