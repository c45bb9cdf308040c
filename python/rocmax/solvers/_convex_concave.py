"""Minimising a difference of convex risks: Newton steps down it, then a sequence of convex problems."""

from dataclasses import replace

import numpy as np

from rocmax.designs import Design
from rocmax.risks import Difference
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._newton import sampled_step, smoothed
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._planes import minimise_convex
from rocmax.solvers._ray import Point, Ray, search
from rocmax.solvers._result import Callback, Progress, SolverResult

# A convex step ends when it has gained this share of what it could still gain at most, while that is not little.
_ENOUGH = 0.5
# The procedure ends when a convex step solved within tol gains less than this share of tol.
_STALLED = 0.1
# What is taken to be left to gain, relative to what the last step gained, at first to J. Measured on eight sets, 1 to
# 30: the fewest steps in all, and the lowest objectives more often than not.
_LEFT = 3.0
# The descent ends when two steps in succession gain less than this share of tol, or than this share of J: what is left
# is then a matter of the kinks, which smoothing does not see.
_SMALL, _LEAST = 0.05, 1e-5
# A search along a ray takes at most this many oracle calls; it may end where the slope has fallen to this share.
_CALLS, _FLAT = 8, 0.3
# At most so many steps, and fewer where there are more than one feature for _SAMPLES samples: the curvature of a sample
# then says little, and the convex-concave procedure gains more.
_MOST, _MOST_WIDE, _SAMPLES = 100, 10, 5


def minimise_difference(
    risk: Difference,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    bundle: Bundle | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Find a stationary point of J(w) = 1/2|w|^2 + C (f(w) - g(w)), f and g convex and non-negative.

    Newton steps on a smoothed f lower J first, unless g counts no pair at the start. Each further step replaces g by
    its linearisation at the current model, which gives a convex majorant of J, and lowers that by at least half of the
    possible gain (Narasimhan and Agarwal, 2016, Algorithm 4). J never increases, and the cuts of f serve all steps. The
    procedure ends at a model where the certified minimum of the majorant is within `tol`, and no model close to it on
    its own ray, or along coordinates if these are few, is lower.

    `start` must not be the zero model, where all ties make g useless; `tol` is for the last convex step, `max_iter` for
    all steps together. In the result, `objective` is J and `bound` that of the last convex step; in `history` the bound
    is 0 during the descent.
    """
    whole = Objective(risk.whole, design, C)
    bundle = bundle or Bundle(design)
    model, value = start, whole(start)[0]
    history: list[Progress] = []
    if risk.concave(start.scores).value > 0:
        model, value, history = descend(
            risk, design, C, tol=tol, max_iter=max_iter - 1, start=start, bundle=bundle, callback=callback
        )
    while True:
        before, base = value, model.vector
        concave = risk.concave(model.scores)
        tilt = Tilt(design, design.adjoint([concave.coef])[0], concave.offset, concave.coef)
        # Where g counts no pair the majorant is hardly above J: nothing is to be had from linearising g again.
        share = _ENOUGH if concave.value > 0 else 1.0

        def enough(now: float, bound: float, before: float = before, share: float = share) -> bool:
            left = before - bound
            return left > _STALLED * tol * before and before - now >= share * left

        left = max_iter - len(history)
        step = minimise_convex(
            risk.convex, design, C, tol=tol, max_iter=left, start=model, bundle=bundle, tilt=tilt,
            enough=enough, callback=callback,
        )  # fmt: skip
        history += step.history
        model, value = step.model, whole(step.model)[0]
        if value >= before:
            model, value = Model.of(base, design), before
        # A step that did not lower J, though it is said to have, would be taken again: rounding ends the procedure.
        settled = not enough(step.objective, step.bound)
        ended = before - value <= (_STALLED * tol * before if settled else 0.0)
        if ended or len(history) >= max_iter:
            # Scores that were followed along rays lose digits where a step takes back most of another.
            model = Model.of(model.vector, design)
            value, found = whole(model)
            return replace(
                step,
                model=model,
                objective=value,
                bound=min(step.bound, value),  # the majorant's, which lies above J
                zero_objective=whole.at_zero(),
                partial_auc=found.partial_auc,
                history=history,
                n_iter=len(history),
            )


def descend(
    risk: Difference,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    bundle: Bundle,
    callback: Callback | None = None,
) -> tuple[Model, float, list[Progress]]:
    """Lower J(w) = 1/2|w|^2 + C (f(w) - g(w)) for as long as the steps gain.

    Each step takes g as linear and f as smoothed over a width that shrinks with the gains. The minimiser of the
    second-order model of these, with the curvature of a sample, gives the direction along which J itself is searched.
    The smoothed cuts of f go to the bundle. A step is a product with X and one of two rows with its transpose.

    Returns the last model, which is the lowest, its J and the record; `start` if f has no smoothed cuts or the design
    offers no samples.
    """
    whole, convex = Objective(risk.whole, design, C), Objective(risk.convex, design, C)
    model, (value, found) = start, whole(start)
    partial_auc = found.partial_auc
    rng = np.random.default_rng(0)
    history: list[Progress] = []
    remaining, stalled = _LEFT * value, 0
    most = _MOST_WIDE if _SAMPLES * design.dim > design.n_samples else _MOST
    while len(history) < min(max_iter, most):
        cut = smoothed(convex, model, remaining)
        if cut is None:
            break
        vectors = design.adjoint([cut.coef, risk.concave(model.scores).coef])
        bundle.add(np.array([cut.offset]), vectors[:1])
        tilted = Objective(risk.convex, design, C, Tilt(design, vectors[1]))
        step = sampled_step(tilted, model, cut.curvature, vectors[0], rng)
        if step is None:
            break
        ray = Ray(whole, model, model.vector + step[0])
        lowest = search(ray.point, Point(0.0, value, step[1]), 0.0, flat=_FLAT, max_calls=_CALLS)[0]
        gain = value - lowest.value
        if gain > 0:
            model, value, partial_auc = ray.model(lowest.step), lowest.value, lowest.found.partial_auc
        gain = max(gain, 0.0)
        remaining = _LEFT * gain
        history.append(Progress(value, 0.0, partial_auc, "descent"))
        if callback is not None:
            callback(history[-1], model)
        stalled = stalled + 1 if gain <= max(_SMALL * tol, _LEAST) * value else 0
        if stalled == 2 or gain <= 0:
            break
    return model, value, history
