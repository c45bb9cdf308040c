"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design
from rocmax.risks import Evaluation, Oracle
from rocmax.solvers._bundle import Bundle, Tilt
from rocmax.solvers._candidates import Candidates, Model
from rocmax.solvers._line_search import Point, minimise_on_ray
from rocmax.solvers._newton import Newton
from rocmax.solvers._result import Callback, Progress, SolverResult, certified_limit, relative_gap

# Cuts without weight for _IDLE steps go once there are more than _KEPT of them.
_IDLE, _KEPT = 50, 200
# Multiples of C tried where the zero model is optimal.
_EXPLORED = (10.0, 100.0)
# The accuracy of their minima: they only serve to meet models that rank well.
_ROUGH = 1e-2
# Accuracies relative to what is left to gain: of the model's minimiser, of the line search.
_MASTER_TOL, _SEARCH_TOL = 0.01, 0.05
# An accuracy of the model's minimiser that is still of use.
_LOOSE = 0.1


class Cut(NamedTuple):
    """R(s) >= offset + coef . s."""

    offset: float
    coef: F64

    @classmethod
    def at(cls, found: Evaluation, scores: F64) -> Self:
        """Return the cut that an evaluation at these scores gives."""
        return cls(found.value - float(found.coef @ scores), found.coef)


class Objective:
    """F(w) = 1/2|w|^2 + C (R(w) - tilt(w)) over models that carry their scores."""

    def __init__(self, oracle: Oracle, design: Design, C: float, tilt: Tilt | None = None) -> None:
        self.oracle, self.design, self.C = oracle, design, C
        self.tilt = tilt or Tilt(design)

    def zero(self) -> Model:
        """Return the model of weights zero."""
        return Model(np.zeros(self.design.dim), np.zeros(self.design.n_samples), 0.0)

    def __call__(self, model: Model) -> tuple[float, Evaluation]:
        """Return F and what the oracle found."""
        found = self.oracle(model.scores)
        return 0.5 * model.norm + self.C * (found.value - self.tilt.at(model.scores)), found


class Ray:
    """The models base + t (target - base): one product with the features serves them all."""

    def __init__(self, objective: Objective, base: Model, target: F64) -> None:
        self._objective, self.base = objective, base
        self._direction = target - base.vector
        self._change = objective.design.scores(self._direction)
        pair = np.array([base.vector, self._direction])
        self._along, self.curvature = objective.design.inner(pair, self._direction[None])[:, 0].tolist()

    def model(self, step: float) -> Model:
        """Return the model at a step."""
        norm = self.base.norm + step * (2.0 * self._along + step * self.curvature)
        vector = self.base.vector + step * self._direction
        return Model(vector, self.scores(step), max(norm, 0.0))

    def scores(self, step: float) -> F64:
        """Return its scores."""
        return self.base.scores + step * self._change

    def point(self, step: float) -> Point:
        """Evaluate the objective at a step."""
        scores = self.scores(step)
        found = self._objective.oracle(scores)
        norm = self.base.norm + step * (2.0 * self._along + step * self.curvature)
        value = 0.5 * norm + self._objective.C * (found.value - self._objective.tilt.at(scores))
        return Point(step, value, self.slope(step, found), found)

    def slope(self, step: float, found: Evaluation) -> float:
        """Return the derivative of the objective at a step, given the evaluation there."""
        risk = self._objective.tilt.lean(found.coef) @ self._change
        return float(self._along + step * self.curvature + self._objective.C * risk)


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
    explore: bool = True,
) -> SolverResult:
    """Minimise F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R convex and non-negative, to a certified relative gap.

    Each step minimises the model that all cuts make, a lower bound of F, and searches the ray from the best point
    through that minimiser exactly, which takes oracle calls but no product with the features. It adds the two cuts that
    enclose the minimum on the ray: between them they hold the kink that the best point sits on, which one cut cannot.
    Where the risk is a sum of hinges it also adds the cut of a smoothed one, whose curvature gives Newton steps: these
    replace the model's minimiser as the end of the ray for as long as they close more of the gap. A step is one product
    with X, one of two or three rows with its transpose.

    Parameters
    ----------
    oracle, design, C
        R, the features and the weight of the risk.
    tol : float
        Stop once (F - bound) / F is this small.
    max_iter : int
        At most this many steps.
    start : Model, default=None
        Where to begin; the zero model by default.
    bundle : Bundle, default=None
        Cuts of the same oracle and design to go on with; new ones are added to it.
    tilt : Tilt, default=None
        A linear function taken off R.
    enough : callable, default=None
        Stops early when ``enough(F, bound)`` is true.
    callback : callable, default=None
        Called with a :class:`Progress` and the best model after each step.
    explore : bool, default=True
        Where the zero model is certified, look for a model that ranks well among the equally certified small ones, on
        the way to the minima for larger C.

    Returns
    -------
    SolverResult
        The certified model of best training partial AUC, or the one of lowest F if none is certified.

    References
    ----------
    Narasimhan and Agarwal (2016), Algorithm 1; Franc and Sonnenburg (2009) for the line search.
    """
    objective = Objective(oracle, design, C, tilt)
    bundle = bundle or Bundle(design)
    best = start or objective.zero()
    value, found = objective(best)
    zero_objective = objective(objective.zero())[0]
    candidates = Candidates(tol)
    candidates.add(value, found.partial_auc, best)
    bound = bundle.minimise(C, objective.tilt, tol=tol * abs(value))[1] if len(bundle) > 1 else -np.inf
    history: list[Progress] = []
    newton = Newton(objective)
    near = best
    smoothed = newton.smooth(near, min(value - bound, C))
    cuts = [Cut.at(found, best.scores)]
    while True:
        if smoothed is not None:
            cuts.insert(0, Cut(smoothed.offset, smoothed.coef))
        offsets, coefs = np.array([cut.offset for cut in cuts]), np.array([cut.coef for cut in cuts])
        cuts.clear()
        vectors = design.adjoint(coefs)
        del coefs
        bundle.add(offsets, vectors)
        left = value - bound if history else tol * abs(value)
        while True:
            accuracy = max(_MASTER_TOL * left, 1e-15 * abs(value))
            vector, lower = bundle.minimise(C, objective.tilt, tol=accuracy)
            bound = max(bound, lower)
            left = value - bound
            if accuracy <= max(_LOOSE * left, 1e-15 * abs(value)):
                break  # or else the step has left less than the minimiser is accurate to
        bundle.forget(_IDLE, _KEPT)
        history.append(Progress(value, bound, candidates.lowest.partial_auc))
        if callback is not None:
            callback(history[-1], best)
        converged = relative_gap(value, bound) <= tol or (enough is not None and enough(value, bound))
        if converged or len(history) >= max_iter:
            break

        target = None
        if newton.judge(value - bound) and smoothed is not None and near is best:
            target = newton.target(best, smoothed, vectors[0])
        ray = Ray(objective, best, vector if target is None else target)
        slope = ray.slope(0.0, found)
        if slope >= 0 and target is not None:
            newton.refused()
            ray = Ray(objective, best, vector)
            slope = ray.slope(0.0, found)
        if slope >= 0:
            break  # the model's minimiser is the best point, to the last digit
        here = Point(0.0, value, slope, found)

        def keep(point: Point, ray: Ray = ray) -> None:
            if candidates.wants(point.value, point.evaluation.partial_auc):
                candidates.add(point.value, point.evaluation.partial_auc, ray.model(point.step))

        accuracy = _SEARCH_TOL * (value - bound)
        enclosing, lowest = minimise_on_ray(ray.point, here, ray.curvature, tol=accuracy, visit=keep)
        cuts = [Cut.at(point.evaluation, ray.scores(point.step)) for point in enclosing]
        moved = lowest.value < value
        if moved:
            best, value, found = ray.model(lowest.step), lowest.value, lowest.evaluation
        # A best model of equal scores says nothing new; one close to it does.
        near = best if moved or best.norm > 0 else ray.model(enclosing[-1].step)
        del ray, here, keep, enclosing, lowest  # vectors over all samples
        smoothed = newton.smooth(near, value - bound)
    n_iter = len(history)
    if explore and relative_gap(zero_objective, bound) <= tol:
        rankers = [candidates.ranker]
        for factor in _EXPLORED:
            further = minimise_convex(
                oracle,
                design,
                factor * C,
                tol=max(tol, _ROUGH),
                max_iter=max_iter,
                bundle=bundle,
                tilt=tilt,
                explore=False,
            )
            n_iter += further.n_iter
            rankers.append(further.ranker)
        ranker = max(rankers, key=lambda candidate: candidate.partial_auc).model
        limit = certified_limit(bound, tol)
        model = _shrunk(objective, ranker, zero_objective, limit)
        value, found = objective(model)
        if value <= limit and candidates.wants(value, found.partial_auc):
            candidates.add(value, found.partial_auc, model)
    chosen = candidates.select(bound)
    return SolverResult(
        model=chosen.model,
        objective=chosen.objective,
        bound=bound,
        zero_objective=zero_objective,
        partial_auc=chosen.partial_auc,
        lowest=candidates.lowest,
        ranker=candidates.ranker,
        n_iter=n_iter,
        history=history,
    )


def _shrunk(objective: Objective, model: Model, zero_objective: float, limit: float) -> Model:
    """Return the model scaled down until its objective is at most `limit`, as far as convexity promises that.

    Where the zero model is certified, so is a short enough multiple of every model, and ranking ignores the scale.
    """
    # By convexity, F(t w) <= (1 - t) F(0) + t F(w).
    excess = objective(model)[0] - zero_objective
    room = max(limit - zero_objective, 0.0)
    return model.scaled(1.0 if excess <= room else room / excess)
