"""Cutting planes with an exact line search, for any convex risk and any design."""

from collections.abc import Callable

import numpy as np

from rocmax.designs import Design
from rocmax.risks import Oracle
from rocmax.solvers._augmented import minimise_augmented, suits
from rocmax.solvers._bundle import Bundle, Tilt
from rocmax.solvers._candidates import Model
from rocmax.solvers._certificate import check_bound
from rocmax.solvers._directions import Direction, Master, Newton
from rocmax.solvers._objective import Objective
from rocmax.solvers._result import Callback, Progress, SolverResult, certified_limit, relative_gap
from rocmax.solvers._state import State

# Multiples of C tried where the zero model is optimal, and the accuracy of their minima: they only serve to meet models
# that rank well.
_EXPLORED, _ROUGH = (10.0, 100.0), 2e-2
# Cutting planes give way where, by the rate of the last _LOOKED_AT steps, more than _MANY are to come.
_LOOKED_AT, _MANY = 6, 20
# Where so many steps in succession gain nothing, rounding has ended the search.
_PATIENCE = 50


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

    Each step minimises the model that all cuts make, a lower bound of F, and searches a ray from the best model
    exactly, which takes oracle calls but no product with the features; the two cuts that enclose the minimum on the ray
    join the others. The ray leads to what the first of the directions proposes that leads downhill (see `_directions`):
    a Newton step, where the risk is a sum of hinges, and so has smoothed cuts, as long as these serve; else the model's
    minimiser. A best model that separates nearly all pairs is searched along its own length too: minimisers of the
    model, which knows some of the pairs only, are too short, and at a large C the little they lack is what is left to
    gain. A step is one product with X, one of two to four rows with its transpose. Where many steps are still to be
    expected at the rate of the last ones, the augmented Lagrangian method goes on, if the risk and the design suit it.

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
    state = State(objective, bundle or Bundle(design), start or objective.zero(), tol)
    del start
    newton = Newton(objective)
    directions: list[Direction] = [newton, Master()]
    status, step = "", "start"

    def report(value: float, bound: float, best: Model) -> bool:
        """Write down a step, and say whether it is the last."""
        nonlocal status
        check_bound(objective, best, value, bound, state.bundle)
        state.history.append(Progress(value, bound, state.candidates.lowest.partial_auc, step))
        if callback is not None:
            callback(state.history[-1], best)
        if relative_gap(value, bound) <= tol or bound >= value:
            status = "converged"
        elif enough is not None and enough(value, bound):
            status = "enough"
        elif len(state.history) >= max_iter:
            status = "max_iter"
        return status != "" or _stalled(state.history)

    while True:
        newton.smooth(state)
        state.add_cuts()
        if report(state.value, state.bound, state.best):
            break
        slow = state.bundle.multipliers is not None or _slow(state.history, tol)
        if slow and state.best.norm > 0 and suits(objective):
            step = "augmented"
            state.best, state.value, state.bound = minimise_augmented(
                objective,
                state.best,
                state.value,
                state.bound,
                bundle=state.bundle,
                candidates=state.candidates,
                report=report,
            )
            break
        for direction in directions:
            target = direction.propose(state)
            if target is not None and state.descend(target):
                step = direction.name
                break
            if target is not None:
                direction.refused()
        else:
            break  # no way leads down
    n_iter = len(state.history)
    if explore and relative_gap(objective.at_zero(), state.bound) <= tol:
        n_iter += _explore(state, tol, max_iter)
    chosen, best = state.candidates.select(state.bound), state.best
    return SolverResult(
        model=best if np.array_equal(chosen.vector, best.vector) else Model.of(chosen.vector, design),
        objective=chosen.objective,
        bound=state.bound,
        zero_objective=objective.at_zero(),
        partial_auc=chosen.partial_auc,
        lowest=best,
        lowest_objective=state.value,
        ranker=state.candidates.ranker,
        n_iter=n_iter,
        history=state.history,
        status=status or "stalled",
    )


def _explore(state: State, tol: float, max_iter: int) -> int:
    """Offer a certified model that ranks well, on the way to the minima for larger C; return the steps this took."""
    objective, candidates, n_iter = state.objective, state.candidates, 0
    rankers = [candidates.ranker]
    for factor in _EXPLORED:
        further = minimise_convex(
            objective.oracle,
            objective.design,
            factor * objective.C,
            tol=max(tol, _ROUGH),
            max_iter=max_iter,
            bundle=state.bundle,
            tilt=objective.tilt,
            explore=False,
        )
        n_iter += further.n_iter
        rankers.append(further.ranker)
        del further  # it holds scores
    ranker = Model.of(max(rankers, key=lambda candidate: candidate.partial_auc).vector, objective.design)
    limit = certified_limit(state.bound, tol)
    model = _shrunk(objective, ranker, objective.at_zero(), limit)
    shrunk, found = objective(model)
    if shrunk <= limit:
        candidates.offer(shrunk, found.partial_auc, model.vector)
    return n_iter


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
