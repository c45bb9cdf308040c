"""Where a minimisation by planes stands, and how it moves on."""

import numpy as np

from rocmax._typing import F64
from rocmax.designs import inner
from rocmax.risks import Evaluation, Smoothed
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._candidates import Candidates
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._ray import Point, Ray, lengthened, search_convex
from rocmax.solvers._result import Progress, SolverResult

# Cuts without weight for _IDLE steps go once there are more than _KEPT of them.
_IDLE, _KEPT = 50, 200
# Accuracies relative to what is left to gain: of the model's minimiser, of the line search.
_MASTER_TOL, _SEARCH_TOL = 0.01, 0.05
# An accuracy of the model's minimiser that is still of use.
_LOOSE = 0.1


class State:
    """The best model, the bound, and what is known of the risk.

    Attributes
    ----------
    best, value, bound
        The best model, its F, and what F cannot fall below.
    near : Model
        Where the risk is smoothed next: the best model, or one close to it where that has equal scores.
    of_master : ndarray
        The minimiser of the model that all cuts make.
    smoothed, of_smoothed
        The smoothed cut added last, if there was one, and its vector.
    """

    def __init__(self, objective: Objective, bundle: Bundle, start: Model, tol: float) -> None:
        self.objective, self.bundle, self.candidates = objective, bundle, Candidates(tol)
        self.history: list[Progress] = []
        self.best = self.near = start
        self.value, found = objective(start)
        self.candidates.offer(self.value, found.partial_auc, start.vector)
        self.bound = -np.inf
        if len(bundle) > 1:
            self.bound = bundle.minimise(objective.C, objective.tilt, tol=tol * abs(self.value))[1]
        self._tol = tol
        self._cuts: list[Evaluation] = [found]
        self._at_best = True  # whether the first of them touches the risk at the best model
        self.smoothed: Smoothed | None = None
        self._lengthen(_SEARCH_TOL * tol * self.value)

    def add_cuts(self) -> None:
        """Add the cuts found since the last time to the model that they make, and minimise that."""
        bundle, objective = self.bundle, self.objective
        cuts: list[Evaluation | Smoothed] = [*self._cuts, *([] if self.smoothed is None else [self.smoothed])]
        vectors = objective.design.adjoint([cut.coef for cut in cuts])
        bundle.add(np.array([cut.offset for cut in cuts]), vectors)
        self._cuts.clear()
        if self._at_best:
            self._subgradient = vectors[0]
        self.of_smoothed = vectors[-1]
        left = self.value - self.bound if self.history else self._tol * abs(self.value)
        while True:
            accuracy = max(_MASTER_TOL * left, 1e-15 * abs(self.value))
            self.of_master, lower = bundle.minimise(objective.C, objective.tilt, tol=accuracy)
            self.bound = max(self.bound, lower, 0.0)  # rounding of C times the risk may hide that F >= 0
            left = self.value - self.bound
            if accuracy <= max(_LOOSE * left, 1e-15 * abs(self.value)):
                break  # or else the step has left less than the minimiser is accurate to
        bundle.forget(_IDLE, _KEPT)

    def descend(self, target: F64) -> bool:
        """Search the ray from the best model to a vector and on; False if it leads uphill."""
        self.smoothed = None  # a vector over all samples
        ray = Ray(self.objective, self.best, target)
        slope = ray.slope(0.0, inner(self.objective.design, self._subgradient, ray.direction))
        if slope >= 0 or ray.curvature <= 0:
            return False
        accuracy = _SEARCH_TOL * (self.value - self.bound)
        # Two cuts hold the kink that the best model sits on between them, which one cannot.
        ends = search_convex(ray, Point(0.0, self.value, slope), accuracy, self.candidates)
        lowest = ends[0]
        self._cuts, self._at_best = [end.found for end in ends], lowest.value < self.value
        if self._at_best:
            self.best, self.value = ray.model(lowest.step), lowest.value
            self._lengthen(accuracy)
        # A best model of equal scores says nothing new; one close to it does.
        self.near = self.best if self._at_best or self.best.norm > 0 else ray.model(lowest.step)
        return True

    def offer(self, model: Model, accuracy: float) -> None:
        """Take a model, and a better multiple of it, if they are lower than the best one."""
        value, found = self.objective(model)
        self.candidates.offer(value, found.partial_auc, model.vector)
        if value < self.value:
            self.best, self.value = model, value
        left = accuracy * (self.value - self.bound)
        longer = lengthened(self.objective, model, value, found, left, self.candidates)
        if longer is not None and longer[1] < self.value:
            self.best, self.value, _ = longer

    def result(self, status: str) -> SolverResult:
        """Return the certified model of best training partial AUC, or the lowest if none is certified."""
        chosen, best = self.candidates.select(self.bound), self.best
        same = np.array_equal(chosen.vector, best.vector)
        return SolverResult(
            model=best if same else Model.of(chosen.vector, self.objective.design),
            objective=chosen.objective,
            bound=self.bound,
            zero_objective=self.objective.at_zero(),
            partial_auc=chosen.partial_auc,
            lowest=best,
            lowest_objective=self.value,
            ranker=self.candidates.ranker,
            n_iter=len(self.history),
            history=self.history,
            status=status,
        )

    def _lengthen(self, accuracy: float) -> None:
        """Take a better multiple of the best model, if that separates nearly all pairs."""
        found = lengthened(self.objective, self.best, self.value, self._cuts[0], accuracy, self.candidates)
        if found is not None:
            self.best, self.value, cuts = found
            self._cuts, self.near = [*cuts, *self._cuts[1:]], self.best
