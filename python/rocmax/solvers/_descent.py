"""Newton steps down a difference of convex risks."""

import numpy as np

from rocmax.designs import Design
from rocmax.risks import Difference
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._newton import is_wide, sampled_step, smoothed
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._ray import Point, Ray, search
from rocmax.solvers._result import Callback, Progress

# What is taken to be left to gain, relative to what the last step gained. Measured on eight sets, 1 to 30: the fewest
# steps in all, and the lowest objectives more often than not.
_LEFT = 3.0
# The descent ends when two steps in succession gain less than this share of tol, or than this share of J: what is left
# is then a matter of the kinks, which smoothing does not see.
_STALLED, _LEAST = 0.05, 1e-5
# A search along a ray takes at most this many oracle calls; it may end where the slope has fallen to this share.
_CALLS, _FLAT = 8, 0.3
# At most so many steps: where each gains little, the convex-concave procedure gains more. Fewer where the sample that
# the steps see has fewer rows than there are features: on text and sparse data, 10 instead of 100 save a third of the
# time and end in minima as good.
_MOST, _MOST_WIDE = 100, 10


def descend(
    risk: Difference,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    left: float,
    bundle: Bundle,
    callback: Callback | None = None,
) -> tuple[Model, float, list[Progress]]:
    """Go down J(w) = 1/2|w|^2 + C (f(w) - g(w)) for as long as the steps gain.

    Each step takes g as linear and f as smoothed over a width that shrinks with what the steps gain: the minimiser of
    the second-order model of these, its curvature that of a sample, is the direction; J itself is searched along it.
    Nothing is solved to an accuracy or certified on the way. The smoothed cuts of f go to the bundle. A step is a
    product with X, and one of two rows with its transpose.

    Parameters
    ----------
    left : float
        About what is left to gain, relative to J: the first step smooths over a width for that.

    Returns
    -------
    Model, float, list of Progress
        The last model, which is the lowest, its J, and one entry a step; `start` where f has no smoothed cuts or the
        design no samples to offer.
    """
    whole, convex = Objective(risk.whole, design, C), Objective(risk.convex, design, C)
    model, (value, found) = start, whole(start)
    del start
    partial_auc = found.partial_auc
    rng = np.random.default_rng(0)
    history: list[Progress] = []
    remaining, stalled = left * value, 0
    most = min(max_iter, _MOST_WIDE if is_wide(design) else _MOST)
    while len(history) < most:
        cut = smoothed(convex, model, remaining)
        if cut is None:
            break
        vectors = design.adjoint([cut.coef, risk.concave(model.scores).coef])
        bundle.add(np.array([cut.offset]), vectors[:1])
        tilted = Objective(risk.convex, design, C, Tilt(design, vectors[1]))
        step = sampled_step(tilted, model, cut.curvature, vectors[0], rng)
        if step is None:
            break
        del cut
        ray = Ray(whole, model, model.vector + step[0])
        lowest = search(ray.point, Point(0.0, value, step[1]), 0.0, flat=_FLAT, max_calls=_CALLS)[0]
        gain = value - lowest.value
        if gain > 0:
            model, value, partial_auc = ray.model(lowest.step), lowest.value, lowest.found.partial_auc
        gain = max(gain, 0.0)
        remaining = _LEFT * gain
        del ray, lowest
        history.append(Progress(value, 0.0, partial_auc, "descent"))
        if callback is not None:
            callback(history[-1], model)
        stalled = stalled + 1 if gain <= max(_STALLED * tol, _LEAST) * value else 0
        if stalled == 2 or gain <= 0:
            break
    return model, value, history
