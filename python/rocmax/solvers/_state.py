"""The state of a minimisation by planes: how it is updated, and when it ends."""

from collections.abc import Callable

import numpy as np

from rocmax._typing import F64
from rocmax.designs import inner
from rocmax.risks import Evaluation, Smoothed
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._certificate import check_bound, check_design, check_promises
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._ray import Point, Ray, lengthened, search
from rocmax.solvers._result import Callback, Progress, SolverResult, relative_gap

# Accuracies relative to the gap: of the minimiser of the cuts, and of the line search.
_MASTER_TOL, _SEARCH_TOL = 0.01, 0.05
# Rounding, relative to the objective.
_LAST_DIGITS = 1e-15
# The search stalls after so many steps in succession that gain nothing.
_PATIENCE = 100


class State:
    """The `best` model, its F as `value`, the `bound` of F, the cuts, and the record of the steps.

    `near` is where the risk is smoothed next: at the best model, or close to it if its scores are all equal.
    `of_master` minimises the maximum of all cuts, `smoothed` is the smoothed cut added last, if any, and `of_smoothed`
    its vector.
    """

    def __init__(
        self,
        objective: Objective,
        bundle: Bundle,
        start: Model,
        tol: float,
        max_iter: int,
        enough: Callable[[float, float], bool] | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.objective, self.bundle, self.tol = objective, bundle, tol
        self._max_iter, self._enough, self._callback = max_iter, enough, callback
        self.history: list[Progress] = []
        self.status = "stalled"
        self.smoothed: Smoothed | None = None
        self.value, self.bound, self._ranked = np.inf, -np.inf, -1.0
        self._proof: list[tuple[float, int | F64]] = []  # the cuts of the bound, by number or coefficients
        found = objective.oracle(start.scores)
        value = objective.value(start, found)
        self._cuts = self._take(start, value, found, _SEARCH_TOL * tol * value)
        self._at_best = True  # whether the first cut touches the risk at the best model
        self.near = self.best
        if len(bundle) > 1:
            self.prove(bundle.minimise(objective.C, objective.tilt, tol=tol * abs(value))[1], self._used())

    def add_cuts(self) -> None:
        """Add the new cuts to the bundle, and minimise the maximum of all cuts."""
        bundle, objective = self.bundle, self.objective
        cuts: list[Evaluation | Smoothed] = [*self._cuts, *([] if self.smoothed is None else [self.smoothed])]
        vectors = objective.design.adjoint([cut.coef for cut in cuts])
        bundle.add(np.array([cut.offset for cut in cuts]), vectors, [cut.coef for cut in cuts])
        self._cuts.clear()
        if self._at_best:
            self._subgradient = vectors[0]
        self.of_smoothed = vectors[-1]
        left = self.value - self.bound if self.history else self.tol * abs(self.value)
        self._minimise(_MASTER_TOL * left)

    def sharpen(self) -> bool:
        """Minimise the maximum of the cuts as accurately as the numbers allow; return False if it already was."""
        if self._accuracy <= _LAST_DIGITS * abs(self.value):
            return False
        self._minimise(0.0)
        return True

    def _minimise(self, accuracy: float) -> None:
        """Minimise the maximum of the cuts."""
        self._accuracy = max(accuracy, _LAST_DIGITS * abs(self.value))
        self.of_master, lower = self.bundle.minimise(self.objective.C, self.objective.tilt, tol=self._accuracy)
        self.prove(lower, self._used())

    def prove(self, bound: float, cuts: list[tuple[float, int | F64]]) -> None:
        """Take a bound, and the shares and coefficients of the cuts that prove it, if it is the highest so far.

        F >= 0 needs no cuts: rounding of C times the risk may hide it.
        """
        if self.bound < max(bound, 0.0):
            self.bound, self._proof = max(bound, 0.0), cuts if bound > 0 else []

    def _cuts_of_bound(self) -> list[tuple[float, F64]] | None:
        """Return the share and the coefficients of each cut that proves the bound; None if they were not kept."""
        found = [(share, self.bundle.coef(cut) if isinstance(cut, int) else cut) for share, cut in self._proof]
        known = [(share, coef) for share, coef in found if coef is not None]
        return known if len(known) == len(found) else None

    def _used(self) -> list[tuple[float, int | F64]]:
        """Return the shares and numbers of the cuts of positive weight, without the first, which is 0."""
        weights = self.bundle.weights / self.objective.C
        return [(float(weights[k]), int(k)) for k in np.flatnonzero(weights) if k > 0]

    def ended(self, step: str) -> bool:
        """Record a step of this kind, and return whether it is the last."""
        check_bound(self.objective, self.best, self.value, self.bound, self.bundle)
        self.history.append(Progress(self.value, self.bound, self._partial_auc, step))
        if self._callback is not None:
            self._callback(self.history[-1], self.best)
        if relative_gap(self.value, self.bound) <= self.tol or self.bound >= self.value:
            self.status = "converged"
        elif self._enough is not None and self._enough(self.value, self.bound):
            self.status = "enough"
        elif len(self.history) >= self._max_iter:
            self.status = "max_iter"
        elif len(self.history) > _PATIENCE:
            before = self.history[-1 - _PATIENCE]
            return self.value >= before.objective and self.bound <= before.bound
        return self.status != "stalled"

    def descend(self, target: F64) -> bool:
        """Search the ray from the best model through a vector; return False if it leads uphill."""
        self.smoothed = None  # a vector over all samples
        ray = Ray(self.objective, self.best, target)
        slope = ray.slope(0.0, inner(self.objective.design, self._subgradient, ray.direction))
        if slope >= 0 or ray.curvature <= 0:
            return False
        accuracy = _SEARCH_TOL * (self.value - self.bound)
        # The two cuts enclose the kink at the minimum; one cut cannot.
        lowest, *others = search(ray.point, Point(0.0, self.value, slope), ray.curvature, tol=accuracy)
        self._at_best, self._cuts = lowest.value < self.value, [lowest.found]
        if self._at_best:
            self._cuts = self._take(ray.model(lowest.step), lowest.value, lowest.found, accuracy)
        else:
            self._rank(ray.vector(lowest.step), lowest.found)
        self._cuts += [other.found for other in others]
        # At equal scores a smoothed cut is of little use; close to them it is.
        self.near = self.best if self._at_best or self.best.norm > 0 else ray.model(lowest.step)
        return True

    def offer(self, model: Model, accuracy: float) -> None:
        """Take a model, or a better multiple of it, if its F is lower than the best."""
        self._take(model, *self.objective(model), accuracy * (self.value - self.bound))

    def result(self) -> SolverResult:
        """Return the best model and its certificate."""
        check_promises(self.objective, self.best, self.bundle)
        if self.status in ("stalled", "max_iter"):
            check_design(self.objective)
        return SolverResult(
            model=self.best,
            objective=self.value,
            bound=self.bound,
            zero_objective=self.objective.at_zero(),
            partial_auc=self._partial_auc,
            ranker=self.ranker,
            n_iter=len(self.history),
            history=self.history,
            status=self.status,
            proof=self._cuts_of_bound(),
        )

    def _take(self, model: Model, value: float, found: Evaluation, accuracy: float) -> list[Evaluation]:
        """Offer a model and its evaluation, or a better multiple if it separates nearly all pairs; return its cuts."""
        model, value, cuts = lengthened(self.objective, model, value, found, accuracy) or (model, value, [found])
        self._rank(model.vector, cuts[0])
        if value < self.value:
            self.best, self.value, self._partial_auc = model, value, cuts[0].partial_auc
        return cuts

    def _rank(self, vector: F64, found: Evaluation) -> None:
        """Keep the vector with the best training partial AUC so far, whatever its F."""
        if found.partial_auc > self._ranked:
            self.ranker, self._ranked = vector, found.partial_auc
