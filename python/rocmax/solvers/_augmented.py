"""The augmented Lagrangian method: for data on which cutting planes converge slowly."""

from collections.abc import Callable

import numpy as np

from rocmax._typing import F64
from rocmax.designs import Design, SubsetDesign, inner
from rocmax.risks import Proximal
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._candidates import Candidates, Model
from rocmax.solvers._conjugate_gradients import conjugate_gradients
from rocmax.solvers._length import lengthened
from rocmax.solvers._objective import Objective, Ray

# The first penalty: so many times the positives' multipliers, relative to the most that they can sum to; at most 1.
_FIRST = 5.0
# It grows where the inner problem took few steps, and falls where it took many.
_FEW, _GROWTH, _MANY, _RELIEF = 5, 1.5, 10, 0.3
_LEAST, _MOST = 1e-30, 1e30
# The inner problem is solved once its gradient is this small beside the move of the multipliers; at most so many steps.
_INNER, _INNER_STEPS = 2.0, 12
# The residual of a Newton step: the first, how it falls after a step that left more than _LITTLE of the gradient's
# square, and the last. At most so many products a step.
_RESIDUAL, _SHARPER, _LITTLE, _SHARPEST, _CG_STEPS = 0.3, 0.3, 0.5, 1e-3, 50
# Tied samples whose features are copied: so many, or one of so many.
_COPIED, _SHARE = 4000, 5
# The accuracy of the best length of a model, relative to what is left to gain.
_LENGTH = 0.05
# The search along a step ends where the slope has fallen to this share, or after so many calls of the hinge, each well
# inside the stretch that holds the minimum.
_FLAT, _CALLS, _INSIDE = 0.1, 20, 0.1

# Takes F, its bound and the best model after each step, and says whether that is enough.
Report = Callable[[float, float, Model], bool]


class _Envelope:
    """The slopes of the Moreau envelope of a hinge around multipliers, as a function of the scores."""

    def __init__(self, objective: Objective, bundle: Bundle) -> None:
        self._oracle = objective.oracle
        labels = objective.oracle.labels
        assert objective.oracle.hinges is not None
        ((scale, top),) = objective.oracle.hinges
        # What the hinge can pull at a positive, and at a negative.
        self._pulls = scale * top, scale * np.count_nonzero(labels)
        self._of_samples = np.where(labels, *self._pulls)
        if bundle.multipliers is None:
            self.multipliers = np.zeros(len(labels))
            self.penalty = float(np.clip(_FIRST * bundle.constant / objective.C, _LEAST, 1.0))
        else:
            self.multipliers = bundle.multipliers[0] / objective.C
            self.penalty = bundle.multipliers[1] / objective.C

    def __call__(self, scores: F64) -> Proximal:
        """Return what the hinge finds at some scores; its slopes are those of the envelope."""
        shifted = scores + self.multipliers / (self.penalty * self._of_samples)
        return self._oracle.proximal(0, shifted, (self.penalty * self._pulls[0], self.penalty * self._pulls[1]))

    def moved(self, found: Proximal) -> float:
        """Return half the square of how far the multipliers would move, in the metric of the penalty."""
        move = found.coef - self.multipliers
        return 0.5 * float(move @ (move / self._of_samples)) / self.penalty

    def update(self, found: Proximal, steps: int) -> None:
        """Go on with the slopes found as multipliers, after an inner problem of so many steps."""
        self.multipliers = found.coef
        factor = _GROWTH if steps <= _FEW else _RELIEF if steps >= _MANY else 1.0
        self.penalty = float(np.clip(factor * self.penalty, _LEAST, _MOST))

    def curvature(self, design: Design, found: Proximal) -> Callable[[F64], F64]:
        """Return the second derivative as a product with vectors."""
        rows, starts = found.rows, found.starts
        if not len(rows):
            return np.zeros_like
        copied = design.rows(rows) if len(rows) <= max(_COPIED, design.n_samples // _SHARE) else None
        sample = SubsetDesign(design, rows) if copied is None else copied
        stiffness = self.penalty * self._of_samples[rows]
        sizes, sums = np.diff(np.append(starts, len(rows))), np.add.reduceat(stiffness, starts)

        def product(vector: F64) -> F64:
            change = sample.scores(vector)
            change -= np.repeat(np.add.reduceat(stiffness * change, starts) / sums, sizes)
            image: F64 = sample.adjoint([stiffness * change])[0]
            return image

        return product


def suits(objective: Objective) -> bool:
    """Whether the risk is one hinge, and the design divisible.

    Risks of two hinges, as the convex part of a ramp with a > 0, took no fewer steps than by cutting planes.
    """
    hinges = objective.oracle.hinges
    return hinges is not None and len(hinges) == 1 and objective.design.divisible


def minimise_augmented(
    objective: Objective,
    best: Model,
    value: float,
    bound: float,
    *,
    bundle: Bundle,
    candidates: Candidates,
    report: Report,
) -> tuple[Model, float, float]:
    """Minimise F(w) = 1/2|w|^2 + C (R(w) - tilt(w)), R a hinge over the highest negatives, from the best model known.

    Models and their scores are kept apart, w and s = X w, the second being a constraint with multipliers. Given these,
    the best scores are the proximal point of the hinge, so that a smooth function of w is left; Newton steps minimise
    it, their curvature that of the samples tied in the proximal point, and the slopes found there are the next
    multipliers. Unlike the widths of smoothed hinges the penalty need not grow without end: some ten inner problems are
    enough for any accuracy, also where many samples decide, as in wide and separable data. The slopes are cuts of R,
    which give the bound.

    Holds the multipliers and some ten more vectors over the samples, and the features of tied samples as far as these
    are no more than a fifth of all.

    References
    ----------
    Rockafellar (1976), Augmented Lagrangians and applications of the proximal point algorithm in convex programming;
    Li, Sun and Toh (2018), A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso problems.
    """
    design, C, tilt = objective.design, objective.C, objective.tilt
    lean = 0.0 if tilt.vector is None else tilt.vector
    envelope = _Envelope(objective, bundle)
    model = best
    steps, residual, before = 0, _RESIDUAL, np.inf
    found = envelope(model.scores)
    while True:
        pull = design.adjoint([found.coef])[0]
        of_dual = C * (lean - pull)
        gradient = model.vector - of_dual
        bound = max(bound, C * (found.offset - tilt.offset) - 0.5 * inner(design, of_dual, of_dual))
        enough = report(value, bound, best)
        slack = 0.5 * inner(design, gradient, gradient)
        if enough or slack <= _INNER * C * envelope.moved(found) or steps == _INNER_STEPS:
            bundle.add(np.array([found.offset]), pull[None])
            if enough:
                bundle.multipliers = C * found.coef, C * envelope.penalty
                return best, value, bound
            envelope.update(found, steps)
            steps, residual, before = 0, _RESIDUAL, np.inf
            found = envelope(model.scores)
            continue
        steps += 1
        if slack > _LITTLE * before:
            residual = max(_SHARPER * residual, _SHARPEST)
        before = slack
        curvature = envelope.curvature(design, found)
        step = conjugate_gradients(lambda v: v + C * curvature(v), -gradient, design, _CG_STEPS, residual)  # noqa: B023
        ray = Ray(objective, model, model.vector + step)
        if not 0.0 < ray.curvature < np.inf:
            return best, value, bound  # nowhere to go, to the last digit or beyond the range of numbers
        slope = inner(design, gradient, step)
        model, found = _search(ray, envelope, slope)
        reached, evaluation = objective(model)
        candidates.offer(reached, evaluation.partial_auc, model.vector)
        if reached < value:
            best, value = model, reached
        longer = lengthened(objective, model, reached, evaluation, _LENGTH * (value - bound), candidates)
        if longer is not None and longer[1] < value:
            best, value, _, _ = longer


def _search(ray: Ray, envelope: _Envelope, slope: float) -> tuple[Model, Proximal]:
    """Return about the lowest model on the ray, by the smooth function, and what the envelope finds there."""
    low, high = (0.0, slope), None
    step = 1.0
    for _ in range(_CALLS):
        model = ray.at(step)
        found = envelope(model.scores)
        here = ray.slope(step, ray.change(found.coef))
        if abs(here) <= _FLAT * abs(slope):
            break
        if here < 0:
            low = step, here
        else:
            high = step, here
        if high is None:
            step *= 2.0
        else:
            share = low[1] / (low[1] - high[1])  # where the line through both slopes is zero
            step = low[0] + float(np.clip(share, _INSIDE, 1.0 - _INSIDE)) * (high[0] - low[0])
    return model, found
