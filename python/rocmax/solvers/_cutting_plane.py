"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable

import numpy as np

from rocmax.designs import Design, inner
from rocmax.risks import Evaluation, Oracle, Smoothed
from rocmax.solvers._augmented import minimise_augmented, suits
from rocmax.solvers._bundle import Bundle, Tilt
from rocmax.solvers._candidates import Candidates, Model
from rocmax.solvers._certificate import check_bound
from rocmax.solvers._length import found_at, lengthened, search
from rocmax.solvers._line_search import Point
from rocmax.solvers._newton import Newton
from rocmax.solvers._objective import Objective, Ray
from rocmax.solvers._result import Callback, Progress, SolverResult, certified_limit, relative_gap

# Cuts without weight for _IDLE steps go once there are more than _KEPT of them.
_IDLE, _KEPT = 50, 200
# Multiples of C tried where the zero model is optimal.
_EXPLORED = (10.0, 100.0)
# The accuracy of their minima: they only serve to meet models that rank well.
_ROUGH = 2e-2
# While the zero model is the best, smoothed cuts gain less than they cost once the relative gap is this small.
_SETTLED = 0.1
# Cutting planes give way where, by the rate of the last _LOOKED_AT steps, more than _MANY are to come.
_LOOKED_AT, _MANY = 6, 20
# Where so many steps in succession gain nothing, rounding has ended the search.
_PATIENCE = 50
# Accuracies relative to what is left to gain: of the model's minimiser, of the line search.
_MASTER_TOL, _SEARCH_TOL = 0.01, 0.05
# An accuracy of the model's minimiser that is still of use.
_LOOSE = 0.1


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
    replace the model's minimiser as the end of the ray for as long as they close more of the gap. A best point that
    separates nearly all pairs is searched along its own direction too, with one cut more: minimisers of the model,
    which knows some of the pairs only, are too short, and at a large C the little they lack is what is left to gain. A
    step is one product with X, one of two to four rows with its transpose. Where many steps are still to be expected at
    the rate of the last ones, the augmented Lagrangian method goes on, if the risk and the design suit it.

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
        A linear function taken off R, nowhere above it, such as the linearisation of a convex g <= R: F >= 0.
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
    zero_objective = objective.at_zero()
    best = start or objective.zero()
    del start
    value, found = objective(best)
    candidates = Candidates(tol)
    candidates.offer(value, found.partial_auc, best.vector)
    bound = bundle.minimise(C, objective.tilt, tol=tol * abs(value))[1] if len(bundle) > 1 else -np.inf
    history: list[Progress] = []
    newton = Newton(objective)
    cuts: list[Evaluation | Smoothed] = [found]
    at_best: int | None = 0  # which of them touches the risk at the best model, if one does
    longer = lengthened(objective, best, value, found, _SEARCH_TOL * tol * value, candidates)
    if longer is not None:
        best, value, of_length, at_best = longer
        cuts = [*of_length]
    near = best
    del found, longer  # vectors over all samples

    def report(value: float, bound: float, best: Model) -> bool:
        check_bound(objective, best, value, bound, bundle)
        history.append(Progress(value, bound, candidates.lowest.partial_auc))
        if callback is not None:
            callback(history[-1], best)
        converged = relative_gap(value, bound) <= tol or (enough is not None and enough(value, bound))
        return converged or bound >= value or _stalled(history) or len(history) >= max_iter

    while True:
        left = value - bound if history else min(value - bound, C)
        smoothed = newton.smooth(near, left) if best.norm > 0 or left > _SETTLED * value else None
        if smoothed is not None:
            cuts.append(smoothed)
        vectors = design.adjoint([cut.coef for cut in cuts])
        bundle.add(np.array([cut.offset for cut in cuts]), vectors)
        cuts.clear()
        curvature = None if smoothed is None else smoothed.curvature
        del smoothed
        if at_best is not None:
            subgradient = vectors[at_best]
        left = value - bound if history else tol * abs(value)
        while True:
            accuracy = max(_MASTER_TOL * left, 1e-15 * abs(value))
            vector, lower = bundle.minimise(C, objective.tilt, tol=accuracy)
            bound = max(bound, lower, 0.0)  # rounding of C times the risk may hide that F is not negative
            left = value - bound
            if accuracy <= max(_LOOSE * left, 1e-15 * abs(value)):
                break  # or else the step has left less than the minimiser is accurate to
        bundle.forget(_IDLE, _KEPT)
        if report(value, bound, best):
            break
        slow = bundle.multipliers is not None or _slow(history, tol)
        if slow and best.norm > 0 and suits(objective):
            best, value, bound = minimise_augmented(
                objective, best, value, bound, bundle=bundle, candidates=candidates, report=report
            )
            break

        target = None
        if newton.judge(value - bound) and curvature is not None and near is best:
            target = newton.target(best, curvature, vectors[-1])
        del curvature, near
        ray = Ray(objective, best, vector if target is None else target)
        slope = ray.slope(0.0, inner(design, subgradient, ray.direction))
        if slope >= 0 and target is not None:
            newton.refused()
            ray = Ray(objective, best, vector)
            slope = ray.slope(0.0, inner(design, subgradient, ray.direction))
        if slope >= 0 or ray.curvature <= 0:
            break  # the model's minimiser is the best point, to the last digit or to the smallest number
        accuracy = _SEARCH_TOL * (value - bound)
        enclosing, lowest = search(ray, Point(0.0, value, slope), accuracy, candidates)
        cuts = [*found_at(enclosing)]
        at_best = enclosing.index(lowest) if lowest.value < value else None
        longer = None
        # A best model of equal scores says nothing new; one close to it does.
        near = best if at_best is not None or best.norm > 0 else ray.model(enclosing[-1].step)
        if at_best is not None:
            assert lowest.evaluation is not None
            best, value = ray.model(lowest.step), lowest.value
            longer = lengthened(objective, best, value, lowest.evaluation, accuracy, candidates)
            if longer is not None:
                best, value, of_length, longest = longer
                del cuts[at_best]
                at_best = len(cuts) + longest
                cuts += of_length
            near = best
        del ray, enclosing, lowest, longer  # vectors over all samples
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
            del further  # it holds scores
        ranker = Model.of(max(rankers, key=lambda candidate: candidate.partial_auc).vector, design)
        limit = certified_limit(bound, tol)
        model = _shrunk(objective, ranker, zero_objective, limit)
        shrunk, found = objective(model)
        if shrunk <= limit:
            candidates.offer(shrunk, found.partial_auc, model.vector)
    chosen = candidates.select(bound)
    return SolverResult(
        model=best if np.array_equal(chosen.vector, best.vector) else Model.of(chosen.vector, design),
        objective=chosen.objective,
        bound=bound,
        zero_objective=zero_objective,
        partial_auc=chosen.partial_auc,
        lowest=best,
        lowest_objective=value,
        ranker=candidates.ranker,
        n_iter=n_iter,
        history=history,
    )


def _stalled(history: list[Progress]) -> bool:
    """Whether the last steps gained nothing, to the last digit."""
    if len(history) <= _PATIENCE:
        return False
    before, now = history[-1 - _PATIENCE], history[-1]
    return now.objective >= before.objective and now.bound <= before.bound


def _slow(history: list[Progress], tol: float) -> bool:
    """Whether many more steps are to be expected, at the rate of the last ones."""
    if len(history) <= _LOOKED_AT:
        return False
    before, now = (max(history[k].gap, tol) for k in (-1 - _LOOKED_AT, -1))
    rate = np.log(before / now) / _LOOKED_AT
    return bool(np.log(now / tol) > _MANY * rate)


def _shrunk(objective: Objective, model: Model, zero_objective: float, limit: float) -> Model:
    """Return the model scaled down until its objective is at most `limit`, as far as convexity promises that.

    Where the zero model is certified, so is a short enough multiple of every model, and ranking ignores the scale.
    """
    # By convexity, F(t w) <= (1 - t) F(0) + t F(w).
    excess = objective(model)[0] - zero_objective
    room = max(limit - zero_objective, 0.0)
    return model.scaled(1.0 if excess <= room else room / excess)
