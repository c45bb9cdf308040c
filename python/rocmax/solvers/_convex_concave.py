"""The convex-concave procedure: a sequence of convex problems for a difference of convex risks."""

from dataclasses import replace

from rocmax.designs import Design
from rocmax.risks import Difference
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._descent import descend
from rocmax.solvers._nearby import lower_nearby
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._planes import minimise_convex
from rocmax.solvers._result import Callback, Progress, SolverResult

# A convex step ends when it has gained this share of what it could still gain at most, while that is not little.
_ENOUGH = 0.5
# The procedure ends when a convex step solved within tol gains less than this share of tol.
_STALLED = 0.1
# Where it is held at a model that has a lower one nearby, that is lower by this share of J.
_HELD = 1e-7


def minimise_difference(
    risk: Difference,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    left: float,
    bundle: Bundle | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Find a stationary point of J(w) = 1/2|w|^2 + C (f(w) - g(w)), f and g convex and non-negative.

    Newton steps on a smoothed f take J down first, as far as they do, unless g counts no pair from the start. Each step
    then replaces g by its linearisation at the current model, which leaves a convex majorant of J that touches it
    there, and takes that down by at least half of what can be gained. J never increases. The cuts of f serve all steps.
    The procedure ends at a model where the majorant's certified minimum is within `tol` of it, and that none is lower
    of those close to it on its own ray, and on coordinates if these are few.

    Parameters
    ----------
    risk : Difference
        f and g.
    design, C, tol, max_iter, callback
        As in :func:`minimise_convex`; `tol` is for the last convex step, `max_iter` for the steps of all of them.
    start : Model
        Where to begin; not the zero model, at which all ties make g useless.
    bundle : Bundle, default=None
        Cuts of f to go on with.
    left : float
        About what is left to gain, relative to J, which the Newton steps begin with.

    Returns
    -------
    SolverResult
        With `objective` = J and `bound` that of the last convex step; `history` has the bound 0 on the way down.

    References
    ----------
    Narasimhan and Agarwal (2016), Algorithm 4.
    """
    whole = Objective(risk.whole, design, C)
    bundle = bundle or Bundle(design)
    model, value = start, whole(start)[0]
    history: list[Progress] = []
    if risk.concave(start.scores).value > 0:
        model, value, history = descend(
            risk, design, C, tol=tol, max_iter=max_iter - 1, start=start, bundle=bundle, callback=callback, left=left
        )
    del start
    while True:
        before, models = value, [model]
        del model  # the step holds the only reference: its scores go as soon as there is a better model
        step, settled = _convex_step(risk, bundle, models, value, design, C, tol, max_iter - len(history), callback)
        history += step.history
        model, value = step.lowest, step.lowest_objective
        # A step that did not lower J, though it is said to have, would be taken again: rounding ends the procedure.
        ended = before - value <= (_STALLED * tol * before if settled else 0.0)
        if ended and (lower := lower_nearby(whole, model, value, max(_STALLED * tol, _HELD) * value)) is not None:
            ended, (model, value) = False, lower
        if ended or len(history) >= max_iter:
            # Scores that were followed along rays lose digits where a step takes back most of another.
            found = Model.of(step.model.vector, design)
            objective = whole(found)[0]
            return replace(
                step,
                model=found,
                objective=objective,
                bound=min(step.bound, objective),  # the majorant's, which lies above J
                zero_objective=whole.at_zero(),
                lowest=model,
                lowest_objective=value,
                history=history,
                n_iter=len(history),
            )
        del step  # it holds scores


def _convex_step(
    risk: Difference,
    bundle: Bundle,
    models: list[Model],
    value: float,
    design: Design,
    C: float,
    tol: float,
    max_iter: int,
    callback: Callback | None,
) -> tuple[SolverResult, bool]:
    """Minimise the majorant that touches J at the one model, whose J is `value`, as far as is worth while.

    Returns the result, its lowest model that of the least J, and whether the majorant has no more to give.
    """
    concave = risk.concave(models[0].scores)
    tilt = Tilt(design, design.adjoint([concave.coef])[0], concave.offset)
    # Where g counts no pair the majorant is hardly above J: nothing is to be had from linearising g again.
    share = _ENOUGH if concave.value > 0 else 1.0
    base = models[0].vector
    del concave

    def enough(now: float, bound: float) -> bool:
        left = value - bound
        return left > _STALLED * tol * value and value - now >= share * left

    step = minimise_convex(
        risk.convex,
        design,
        C,
        tol=tol,
        max_iter=max_iter,
        start=models.pop(),
        bundle=bundle,
        tilt=tilt,
        enough=enough,
        callback=callback,
    )
    settled = not enough(step.lowest_objective, step.bound)
    now = Objective(risk.whole, design, C)(step.lowest)[0]
    lowest, least = (step.lowest, now) if now < value else (Model.of(base, design), value)
    return replace(step, lowest=lowest, lowest_objective=least), settled
