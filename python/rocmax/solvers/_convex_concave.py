"""Minimise a difference of convex risks: Newton steps first, then a sequence of convex problems."""

from dataclasses import replace

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, inner
from rocmax.risks import Difference, Trimmed
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._convex import minimise_convex
from rocmax.solvers._objective import Model, Objective, Tilt
from rocmax.solvers._result import Callback, Progress, SolverResult
from rocmax.solvers._steps import Point, Ray, sampled_step, search, smoothed_cut

# A convex step ends when it has gained this share of the largest possible gain, unless that is small.
_ENOUGH = 0.5
# The procedure ends when a convex step that is solved within tol gains less than this share of tol.
_STALLED = 0.1
# The gain that is expected to remain, relative to the gain of the last step (at first: to J). Of 1 to 30, on eight
# sets: the fewest steps in all, and mostly the lowest objectives.
_LEFT = 3.0
# The descent ends when two steps in succession gain less than _SMALL tol J or _LEAST J: the rest of the gain is in the
# kinks, which smoothing hides.
_SMALL, _LEAST = 0.05, 1e-5
# Of the sets S that are tried: their number, the move that finds them relative to the length of the model, the gain
# that is worth a step, and the most steps of a try.
_TRIES, _MOVE, _WORTH, _TRY = 8, 0.05, 2e-3, 100
# They are tried if 1/2 |w|^2 is at least this share of J, and with at most so many features: random directions among
# more hardly change the order of the negatives.
_LENGTH, _FEATURES = 0.5, 20
# A search along a ray ends after so many oracle calls, or when the slope has fallen to this share.
_CALLS, _FLAT = 8, 0.3
# The largest number of steps; fewer if there is more than one feature for _SAMPLES samples: the curvature of a sample
# is then poor, and the convex-concave procedure gains more.
_MOST, _MOST_WIDE, _SAMPLES = 100, 10, 5


def minimise_trimmed(
    risk: Trimmed,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    bundle: Bundle | None = None,
    callback: Callback | None = None,
) -> SolverResult:
    """Find a stationary point of J(w) = 1/2|w|^2 + C R(w), R = min_S R_S, R_S = f - g with f and g convex.

    Newton steps on a smoothed f lower J first, unless g counts no pair at the start. Each further step takes the R_S
    that equals R at the current model, replaces its g by a linearisation there, which gives a convex majorant of J, and
    lowers the majorant by at least half of the possible gain. J never increases. The steps end at a model within `tol`
    of the certified minimum of its own majorant. The majorant equals J at all multiples of the model, so none is lower
    by more. Then a few other S are tried (`Choices`), and the steps go on from a model that is lower.

    Narasimhan and Agarwal (2016, Algorithm 4) also linearise the sum over the negatives above the range. Their majorant
    has a kink where such a negative meets a margin, although J has none, and the procedure may end there.

    `start` must not be the zero model, whose ties make g useless. `tol` is for the last convex step, `max_iter` for all
    steps together. In the result, `objective` is J and `bound` that of the last convex step; in `history` the bound is
    0 during the descent.
    """
    whole = Objective(risk.whole, design, C)
    cuts = bundle if bundle is not None and not risk.above else Bundle(design)  # those of one R_S only
    model, value = start, whole(start)[0]
    part = risk.at(model.scores)
    history: list[Progress] = []
    if part.concave is None or part.concave(start.scores).value > 0:
        model, value, history = descend(risk, design, C, tol=tol, max_iter=max_iter - 1, start=start, callback=callback)
    choices = Choices(risk, whole)
    while True:
        before, base = value, model.vector
        last, part = part, risk.at(model.scores, part)
        if part is not last:  # its cuts are those of another risk; its multipliers are a start
            kept, cuts = cuts.multipliers, Bundle(design)
            cuts.multipliers = kept
        tilt, active = _linearised(part, model, design)
        # If g counts no pair, the majorant is hardly above J: linearising g again would gain nothing.
        share = _ENOUGH if active or risk.above else 1.0

        def enough(now: float, bound: float, before: float = before, share: float = share) -> bool:
            left = before - bound
            return left > _STALLED * tol * before and before - now >= share * left

        left = max_iter - len(history)
        step = minimise_convex(
            part.convex, design, C, tol=tol, max_iter=left, start=model, bundle=cuts, tilt=tilt,
            enough=enough, callback=callback,
        )  # fmt: skip
        history += step.history
        model, value = step.model, whole(step.model)[0]
        if value >= before:
            model, value = Model.of(base, design), before
        # A step that lowered the majorant but not J would be repeated: rounding ends the procedure.
        settled = not enough(step.objective, step.bound)
        ended = before - value <= (_STALLED * tol * before if settled else 0.0)
        if ended and len(history) < max_iter:
            found = choices.lower(model, value, cuts.multipliers)
            if found is not None:
                ended, (model, value) = False, found
        if ended or len(history) >= max_iter:
            # Scores that were updated along rays lose digits if a step undoes most of another.
            model = Model.of(model.vector, design)
            value, at = whole(model)
            return replace(
                step,
                model=model,
                objective=value,
                bound=min(step.bound, value),  # the majorant lies above J
                zero_objective=whole.at_zero(),
                partial_auc=at.partial_auc,
                history=history,
                n_iter=len(history),
            )


def _linearised(part: Difference, model: Model, design: Design) -> tuple[Tilt, bool]:
    """Return the linearisation of g at a model, and whether g counts a pair there."""
    if part.concave is None:
        return Tilt(design), False
    found = part.concave(model.scores)
    return Tilt(design, design.adjoint([found.coef])[0], found.offset, found.coef), found.value > 0


class Choices:
    """Other sets S of negatives to leave out, at a model that is optimal for its own.

    S are the highest negatives at a model that is moved by _MOVE of its length in a random direction. If J is lower
    there, so is the minimum of J_S, which a convex step finds. It is the random choice among active pieces of Pang,
    Razaviyayn and Alvarado (2017), for the pieces that are active within _MOVE.
    """

    def __init__(self, risk: Trimmed, whole: Objective) -> None:
        self._risk, self._whole, self._rng = risk, whole, np.random.default_rng(0)

    def lower(self, model: Model, value: float, multipliers: tuple[F64, float] | None) -> tuple[Model, float] | None:
        """Return a model whose J is lower by _WORTH, and its J; None after _TRIES sets S without one.

        None at once if J is mostly risk: then many pairs decide, and no single negative matters.
        """
        risk, design, C = self._risk, self._whole.design, self._whole.C
        if not risk.above or design.dim > _FEATURES or 0.5 * model.norm < _LENGTH * value:
            return None
        own, lowest = risk.at(model.scores), (1.0 - _WORTH) * value
        tried: list[F64 | None] = []

        def enough(now: float, bound: float) -> bool:
            return now < lowest or bound >= lowest

        for _ in range(_TRIES):
            part = risk.at(model.scores + design.scores(self._move(design, model)), own)
            if part is own or any(np.array_equal(part.below, below) for below in tried):  # type: ignore[arg-type]
                continue
            tried.append(part.below)
            cuts = Bundle(design)
            cuts.multipliers = multipliers
            tilt, _ = _linearised(part, model, design)
            found = minimise_convex(
                part.convex, design, C, tol=_WORTH, max_iter=_TRY, start=model, bundle=cuts, tilt=tilt, enough=enough
            ).model
            now, multipliers = self._whole(found)[0], cuts.multipliers
            if now < lowest:
                return found, now
        return None

    def _move(self, design: Design, model: Model) -> F64:
        """Return a random vector of _MOVE times the length of the model."""
        # With a kernel, a vector is a combination of samples.
        random = self._rng.standard_normal(design.n_samples if design.dual else design.dim)
        vector = design.adjoint(random[None])[0] if design.dual else random
        length = inner(design, vector, vector)
        return vector * (_MOVE * np.sqrt(model.norm / length)) if length > 0 else vector


def descend(
    risk: Trimmed,
    design: Design,
    C: float,
    *,
    tol: float,
    max_iter: int,
    start: Model,
    callback: Callback | None = None,
) -> tuple[Model, float, list[Progress]]:
    """Lower J(w) = 1/2|w|^2 + C R(w) for as long as the steps gain.

    Each step linearises the g of the current R_S = f - g and smooths its f over a width that shrinks with the gains. J
    is searched along the ray to the minimiser of the second-order model, with the curvature of a sample. A step is a
    product with X and one of a row with its transpose.

    Returns the best model, its J and the history; `start` if f has no smoothed cuts or the design offers no samples.
    """
    whole = Objective(risk.whole, design, C)
    model, (value, found), part = start, whole(start), None
    partial_auc = found.partial_auc
    rng = np.random.default_rng(0)
    history: list[Progress] = []
    remaining, stalled = _LEFT * value, 0
    most = _MOST_WIDE if _SAMPLES * design.dim > design.n_samples else _MOST
    while len(history) < min(max_iter, most):
        part = risk.at(model.scores, part)
        convex = Objective(part.convex, design, C)
        cut = smoothed_cut(convex, model, remaining)
        if cut is None:
            break
        coef = cut.coef if part.concave is None else cut.coef - part.concave(model.scores).coef
        step = sampled_step(convex, model, cut.curvature, design.adjoint([coef])[0], rng)
        if step is None:
            break
        ray = Ray(whole, model, model.vector + step[0])
        lowest = search(ray.point, Point(0.0, value, step[1]), 0.0, flat=_FLAT, max_calls=_CALLS)
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
