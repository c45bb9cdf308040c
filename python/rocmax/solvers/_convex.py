"""Convex risks: cutting planes with an exact line search, for any risk and any design."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from rocmax._runtime.settings import settings
from rocmax._typing import F64
from rocmax.designs import Design, Packed, inner
from rocmax.risks import Evaluation, Oracle, Smoothed
from rocmax.solvers._augmented import Augmented, suits_augmented
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._certificate import check_bound, check_design, check_promises, squares_of
from rocmax.solvers._objective import Callback, Model, Objective, Progress, SolverResult, Tilt, relative_gap
from rocmax.solvers._steps import Point, Ray, lengthened, sampled_step, search, smoothed_cut

# Accuracies relative to the gap: of the minimiser of the cuts, and of the search of a ray.
_MASTER_TOL, _SEARCH_TOL = 0.01, 0.05
# Rounding, relative to the objective.
_LAST_DIGITS = 1e-15
# Scores and lengths that were updated along rays lose digits if a step undoes most of another. They are computed anew
# if the bound is above the objective by this share.
_UPDATED = 1e-9
# The search stalls after so many steps in succession that gain nothing.
_PATIENCE = 100
# After a Newton step that closed less than this share of the gap, the next step is a plane.
_POOR = 0.2
# While the zero model is the best, smoothed cuts do not pay once the relative gap is this small.
_SETTLED = 0.1


def minimise_convex(
    oracle: Oracle,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model | None = None,
    bundle: Bundle | None = None,
    tilt: Tilt | None = None,
    enough: Callable[[float, float], bool] | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R convex and non-negative, to a certified relative gap.

    Each step minimises the maximum of all cuts, a lower bound of F, and searches a ray from the best model exactly
    (Franc and Sonnenburg, 2009), which takes oracle calls but no product with the features. The cut at the minimum on
    the ray joins the others. The ray is a Newton step or leads to the minimiser of the cuts. A step is one product with
    X and one of one or two rows with its transpose. If many more steps are expected at the rate of the last ones, the
    augmented Lagrangian method takes over, if the risk and the design suit it.

    The fit starts from the model `start` (default: zero) and the cuts of `bundle`, which come from the same oracle and
    design; new cuts are added to it. It ends when (F - bound) / F <= `tol`, after `max_iter` steps, or when
    ``enough(F, bound)`` is true. `tilt` must lie below R, so that F >= 0. `callback` is called after each step.
    """
    objective = Objective(oracle, design, C, tilt)
    state = State(objective, bundle or Bundle(design), tol, max_iter, enough, callback, start or objective.zero())
    del start  # its scores
    newton, step = Newton(objective, state.bundle), "start"
    while True:
        smoothed = newton.smoothed(state)
        state.add_cuts(smoothed)
        if state.ended(step):
            break
        if state.is_slow() and suits_augmented(objective):
            _minimise_augmented(state)
            break
        direction = newton.direction(state, smoothed)
        smoothed = None  # vectors over the samples
        if direction is not None and state.descend(direction):
            step = "newton"
        # The rough minimiser of the cuts may be the best model itself; the accurate one may not.
        elif state.descend() or (state.sharpen() and not state.ended("plane") and state.descend()):
            step = "plane"
        else:
            break  # the best model is the minimiser, to the accuracy of the numbers
    return state.result()


@dataclass
class State:
    """What a minimisation knows between two steps."""

    objective: Objective  # F
    bundle: Bundle  # all cuts
    tol: float  # the relative gap to reach
    max_iter: int  # the largest number of steps
    enough: Callable[[float, float], bool] | None  # ends it earlier, told F and its bound
    callback: Callback | None  # called after each step
    best: Model  # the model of the lowest F
    value: float = np.inf  # that F
    partial_auc: float = -1.0  # the training partial AUC of the best model
    bound: float = -np.inf  # the highest lower bound of F
    # The cuts of the bound: the share of each, and its number in the bundle or its coefficients.
    proof: list[tuple[float, int | Packed]] = field(default_factory=list)
    offset: float = 0.0  # the average of their offsets
    ranker: F64 = field(init=False)  # the vector of the best training partial AUC, whatever its F
    ranked: float = -1.0  # that partial AUC
    cut: Evaluation = field(init=False)  # the last one, which the bundle does not have yet
    touches: bool = True  # whether it touches the risk at the best model
    subgradient: F64 = field(init=False)  # of the risk at the best model
    near: Model = field(init=False)  # where the risk is smoothed: the best model, or close to it if its scores tie
    of_smoothed: F64 = field(init=False)  # the vector of the smoothed cut added last
    of_cuts: F64 = field(init=False)  # the minimiser of the maximum of all cuts
    accuracy: float = 0.0  # of that minimum
    history: list[Progress] = field(default_factory=list)  # an entry for each step
    status: str = "stalled"  # why it ended

    def __post_init__(self) -> None:
        start, value, found = self.best, *self.objective(self.best)
        self.cut = self._take(start, value, found, _SEARCH_TOL * self.tol * value)
        self.near = self.best
        if len(self.bundle) > 1:
            self._minimise_cuts(self.tol * abs(value))

    @property
    def left(self) -> float:
        """The largest possible gain."""
        return self.value - self.bound

    def add_cuts(self, smoothed: Smoothed | None) -> None:
        """Add the last cut and a smoothed one to the bundle, and minimise the maximum of all cuts."""
        cuts: list[Evaluation | Smoothed] = [self.cut] if smoothed is None else [self.cut, smoothed]
        vectors = self.objective.design.adjoint([cut.coef for cut in cuts])
        self.bundle.add([cut.offset for cut in cuts], vectors, [cut.coef for cut in cuts])
        if self.touches:
            self.subgradient = vectors[0]
        self.of_smoothed = vectors[-1]
        self._minimise_cuts(_MASTER_TOL * (self.left if self.history else self.tol * abs(self.value)))

    def sharpen(self) -> bool:
        """Minimise the maximum of the cuts as accurately as the numbers allow; return False if it already was."""
        if self.accuracy <= _LAST_DIGITS * abs(self.value):
            return False
        self._minimise_cuts(0.0)
        return True

    def _minimise_cuts(self, accuracy: float) -> None:
        """Minimise the maximum of all cuts, which is a bound."""
        bundle, C = self.bundle, self.objective.C
        self.accuracy = max(accuracy, _LAST_DIGITS * abs(self.value))
        self.of_cuts, bound = bundle.minimise(C, self.objective.tilt, tol=self.accuracy)
        shares = enumerate((bundle.weights / C).tolist())
        # Without the first cut, which is 0.
        self.prove(bound, bundle.constant / C, [(share, k) for k, share in shares if k and share])

    def prove(self, bound: float, offset: float, cuts: Sequence[tuple[float, int | F64]]) -> None:
        """Take a bound and the cuts that prove it if it is the highest so far.

        F >= 0 needs no cuts: rounding of C times the risk may hide it.
        """
        if bound <= 0.0:
            bound, offset, cuts = 0.0, 0.0, []
        if self.bound < bound:
            self.bound, self.offset = bound, offset
            self.proof = [(share, cut if isinstance(cut, int) else Packed(cut)) for share, cut in cuts]

    def _of_bound(self) -> F64:
        """Return the minimiser of the average of the cuts of the bound."""
        design, tilt = self.objective.design, self.objective.tilt
        pull = np.zeros(design.dim)
        for share, cut in self.proof:
            pull -= share * (
                self.bundle.vectors[cut] if isinstance(cut, int) else design.adjoint(np.asarray(cut)[None])[0]
            )
        return self.objective.C * (pull if tilt.vector is None else pull + tilt.vector)

    def descend(self, direction: F64 | None = None) -> bool:
        """Search the ray from the best model, by default to the minimiser of the cuts; return False if it rises."""
        ray = Ray(self.objective, self.best, self.of_cuts - self.best.vector if direction is None else direction)
        slope = ray.slope(0.0, inner(self.objective.design, self.subgradient, ray.direction))
        if slope >= 0 or ray.curvature <= 0:
            return False
        accuracy = _SEARCH_TOL * self.left
        lowest = search(ray.point, Point(0.0, self.value, slope), ray.curvature, tol=accuracy)
        self.touches, self.cut = lowest.value < self.value, lowest.found
        if self.touches:
            self.cut = self._take(ray.model(lowest.step), lowest.value, lowest.found, accuracy)
        else:
            self._rank(ray.vector(lowest.step), lowest.found)
        # At equal scores a smoothed cut is of little use; close to them it is.
        self.near = self.best if self.touches or self.best.norm > 0 else ray.model(lowest.step)
        return True

    def offer(self, model: Model) -> None:
        """Take a model, or a better multiple of it, if its F is lower than the best."""
        self._take(model, *self.objective(model), _SEARCH_TOL * self.left)

    def _take(self, model: Model, value: float, found: Evaluation, accuracy: float) -> Evaluation:
        """Offer a model and its evaluation, or a better multiple if it separates nearly all pairs; return its cut."""
        model, value, found = lengthened(self.objective, model, value, found, accuracy)
        self._rank(model.vector, found)
        if value < self.value:
            self.best, self.value, self.partial_auc = model, value, found.partial_auc
        return found

    def _rank(self, vector: F64, found: Evaluation) -> None:
        """Keep the vector with the best training partial AUC so far."""
        if found.partial_auc > self.ranked:
            self.ranker, self.ranked = vector, found.partial_auc

    def is_slow(self) -> bool:
        """Whether many more steps are expected at the rate of the last ones, or were by a fit that left its cuts."""
        limits, design = settings(), self.objective.design
        wide = design.dim > design.n_samples and design.dim >= limits.newton_samples
        usual = limits.early_steps if wide or self.best.norm == 0 else (limits.steps_seen, limits.steps_to_come)
        seen, to_come = limits.kernel_steps if design.dual else usual
        if self.bundle.multipliers is not None or len(self.history) <= seen:
            return self.bundle.multipliers is not None
        before, now = (max(self.history[k].gap, self.tol) for k in (-1 - seen, -1))
        return max(seen, 1) * log(now / self.tol) > to_come * log(before / now)

    def ended(self, step: str) -> bool:
        """Record a step of this kind, and return whether it is the last."""
        if self.bound > (1.0 + _UPDATED) * self.value:
            self.best = Model.of(self.best.vector, self.objective.design)
            self.value = self.objective(self.best)[0]
        check_bound(self.objective, self.best, self.value, self.bound, self._of_bound)
        self.history.append(Progress(self.value, self.bound, self.partial_auc, step))
        if self.callback is not None:
            self.callback(self.history[-1], self.best)
        if relative_gap(self.value, self.bound) <= self.tol or self.bound >= self.value:
            self.status = "converged"
        elif self.enough is not None and self.enough(self.value, self.bound):
            self.status = "enough"
        elif len(self.history) >= self.max_iter:
            self.status = "max_iter"
        elif len(self.history) > _PATIENCE:
            before = self.history[-1 - _PATIENCE]
            return self.value >= before.objective and self.bound <= before.bound
        return self.status != "stalled"

    def result(self) -> SolverResult:
        """Return the best model and its certificate."""
        check_promises(self.objective, self.best, self.bundle)
        if self.status in ("stalled", "max_iter"):
            check_design(self.objective)
        proof = [(share, self.bundle.coef(cut) if isinstance(cut, int) else cut) for share, cut in self.proof]
        known = [(share, coef) for share, coef in proof if coef is not None]
        return SolverResult(
            self.best, self.value, self.bound, self.objective.at_zero(), self.partial_auc, self.ranker,
            n_iter=len(self.history), history=self.history, status=self.status,
            proof=known if len(known) == len(proof) else None, offset=self.offset - self.objective.tilt.offset,
        )  # fmt: skip


def of_cuts(result: SolverResult, bundle: Bundle, objective: Objective) -> SolverResult:
    """Return a result with the model that the weighted cuts of a dual design make, and the bound that they prove."""
    n, C, used = objective.design.n_samples, objective.C, np.flatnonzero(bundle.weights[1:] > 0) + 1
    coef = bundle.weights[used] @ bundle.vectors[used, :n]
    model = Model.of(objective.design.adjoint(-coef[None])[0], objective.design)
    value, found = objective(model)
    _, most = squares_of(coef, float(np.abs(coef).sum()), objective.design)
    bound = max(bundle.constant - 0.5 * most, 0.0)
    last = Progress(value, bound, found.partial_auc, result.history[-1].step)
    return replace(
        result, model=model, objective=value, bound=bound, partial_auc=found.partial_auc,
        history=[*result.history[:-1], last], offset=bundle.constant / C,
        proof=[(float(bundle.weights[k]) / C, bundle.vectors[k, :n]) for k in used],
    )  # fmt: skip


class Newton:
    """Steps to the minimiser of the second-order model of the smoothed risk, whose cut joins the others.

    The curvature comes from a sample and costs no pass over the features; the exact search makes up for its errors.
    """

    def __init__(self, objective: Objective, bundle: Bundle) -> None:
        self._objective = objective
        # With fewer samples than features the curvature of a sample says little; kept multipliers need no planes.
        enough = objective.design.n_samples >= max(settings().newton_samples, objective.design.dim)
        self._on = enough and (bundle.multipliers is None or not suits_augmented(objective))
        self._before: float | None = None  # the gap before the last step, if that was a Newton step

    def smoothed(self, state: State) -> Smoothed | None:
        """Return a smoothed cut of the risk near the best model, if it helps."""
        if not self._on or (state.best.norm == 0 and state.left <= _SETTLED * state.value):
            return None
        found = smoothed_cut(self._objective, state.near, state.left)
        self._on = found is not None
        return found

    def direction(self, state: State, smoothed: Smoothed | None) -> F64 | None:
        """Return the step from the best model, None after a poor one."""
        poor = self._before is not None and state.left > (1.0 - _POOR) * self._before
        self._before = None
        if poor or smoothed is None or state.near is not state.best:
            return None
        seed = len(state.history)
        found = sampled_step(self._objective, state.best, smoothed.curvature, state.of_smoothed, seed)
        self._on = found is not None
        if self._on and len(state.history) > 1:  # the first step only leaves the start
            self._before = state.left
        return found


def _minimise_augmented(state: State) -> None:
    """Minimise F by the augmented Lagrangian method, from the best model on."""
    del state.cut  # a vector over the samples
    method = Augmented(state.objective, state.bundle, state.best, state.left)
    while True:
        state.prove(method.bound, method.found.offset, [(1.0, method.found.coef)])
        if state.ended("augmented"):
            method.keep()
            break
        before = method.model
        if not method.step():
            break  # no descent direction to the accuracy of the numbers
        if method.model is not before:
            state.offer(method.model)
