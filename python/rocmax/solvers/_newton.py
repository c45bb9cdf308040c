"""Newton's method for a smooth risk, and quasi-Newton steps on a smoothed one, which have no certificate."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.designs import Design, inner
from rocmax.risks import Difference, Evaluation, Oracle
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._steps import Point, Ray, Springs, search, solve, width_at

# A search along a ray ends when the slope has fallen to this share, or after so many calls.
_FLAT_END, _MOST_CALLS = 0.5, 40
_MOST_STEPS = 100
# The residual of steps that are not exact.
_RESIDUAL = 0.1


def suits_newton(objective: Objective) -> bool:
    """Whether the risk has a second derivative, and some samples of the design cost only their share."""
    return type(objective.oracle).stiffness is not Oracle.stiffness and objective.design.divisible


def minimise_smooth(objective: Objective, start: Model, *, tol: float) -> Model:
    """Minimise F(w) = 1/2|w|^2 + C R(w) by Newton steps, R convex with a second derivative.

    Ends when half the squared gradient, which bounds the possible gain, is at most tol F.
    """
    if not suits_newton(objective):
        raise ValueError(
            "Newton's method needs a risk with a second derivative (`stiffness`) and a design of which some samples "
            "cost only their share (`divisible`); use minimise_convex"
        )
    design, C = objective.design, objective.C
    rows, one_group = np.arange(design.n_samples), np.zeros(1, dtype=np.intp)
    model = start
    value, found = objective(model)
    for _ in range(_MOST_STEPS):
        gradient = model.vector + C * design.adjoint([found.coef])[0]
        if 0.5 * inner(design, gradient, gradient) <= tol * value:
            break
        springs = Springs(rows, one_group, C * objective.oracle.stiffness(found))
        ray = Ray(objective, model, solve(springs, gradient, design, _RESIDUAL))
        origin = Point(0.0, value, inner(design, gradient, ray.direction))
        lowest = search(ray.point, origin, 0.0, flat=_FLAT_END, max_calls=_MOST_CALLS)
        if lowest.value >= value:
            break  # only rounding is left
        model, value, found = ray.model(lowest.step), lowest.value, lowest.found
    return model


# The pairs of moves and changes of the gradient that tell the curvature.
_MEMORY = 10
# The gain that is expected to remain, relative to the gain of the last step (at first: to F); the share of it that is
# left after a step without a gain.
_LEFT, _LESS = 3.0, 0.1
# The steps end when two in succession gain less than this share of tol F.
_SMALL = 0.3
# A search along a ray ends after so many oracle calls, or when the slope has fallen to this share.
_CALLS, _FLAT = 8, 0.3


def descend(
    objective: Objective,
    part_at: Callable[[F64], Difference],
    model: Model,
    value: float,
    *,
    tol: float,
    max_iter: int,
    report: Callable[[float, Evaluation, Model], None] = lambda *_: None,
) -> tuple[Model, F64 | None]:
    """Lower F(w) = 1/2|w|^2 + C R(w) from a model, given its F, by L-BFGS steps (Liu and Nocedal, 1989).

    ``part_at`` gives the difference f - g of convex risks that equals R at some scores. The gradient is that of both,
    smoothed over a width that shrinks with the gains; F itself is searched along the ray. A step is a product with X
    and one of a row with its transpose. Return the model, and the coefficients of the last gradient of R over the
    samples; None if f or g have no smoothed form.
    """
    design, C = objective.design, objective.C
    memory, small, smoothed = Memory(design), 0, None
    left = _LEFT * value
    for _ in range(max_iter):
        slopes = _slopes(part_at(model.scores), objective, model, left)
        if slopes is None:
            break
        smoothed = slopes
        gradient = model.vector + C * design.adjoint([smoothed])[0]
        direction, slope = memory.direction(model, gradient)
        if not slope < 0.0:
            break
        ray = Ray(objective, model, direction)
        lowest = search(ray.point, Point(0.0, value, slope), 0.0, flat=_FLAT, max_calls=_CALLS)
        gain = max(value - lowest.value, 0.0)
        small = small + 1 if gain <= _SMALL * tol * value else 0
        if gain > 0.0:
            model, value, left = ray.model(lowest.step), lowest.value, _LEFT * gain
            report(value, lowest.found, model)
        else:
            memory, left = Memory(design), _LESS * left
        del ray, lowest  # vectors over the samples
        if small == 2:
            break
    return model, smoothed


def _slopes(part: Difference, objective: Objective, model: Model, left: float) -> F64 | None:
    """Return the coefficients of the gradient of f - g, both smoothed; None if they have no smoothed form."""
    coef: F64 | None = None
    width = width_at(model, left, objective.C)
    for of in filter(None, (part.convex, part.concave)):
        cut = of.smooth(model.scores, width)
        if cut is None:
            return None
        coef = cut.coef if coef is None else np.subtract(coef, cut.coef, out=coef)
    return coef


class Memory:
    """The last moves of the model and the changes of the gradient."""

    def __init__(self, design: Design) -> None:
        self._design, self._pairs = design, np.zeros((2, 0, design.dim))
        self._last: tuple[F64, F64] | None = None

    def direction(self, model: Model, gradient: F64) -> tuple[F64, float]:
        """Return the step from a model, given the gradient there, and the slope along it."""
        design = self._design
        if self._last is not None:
            pair = np.array([model.vector - self._last[0], gradient - self._last[1]])
            if inner(design, *pair) > 0.0:
                self._pairs = np.concatenate((self._pairs[:, 1 - _MEMORY :], pair[:, None]), axis=1)
        self._last, k = (model.vector, gradient), self._pairs.shape[1]
        every = np.concatenate((self._pairs.reshape(2 * k, design.dim), gradient[None]))
        products = design.inner(every, every[k:])
        if k == 0:
            square = float(products[0, 0])
            length = sqrt(model.norm / square) if model.norm > 0.0 and square > 0.0 else 1.0
            return -length * gradient, -length * square
        weights = _core.quasi_newton(products)
        return _core.adjoint(every, [weights], design.dim)[0], float((weights * products[:, k]).sum())
