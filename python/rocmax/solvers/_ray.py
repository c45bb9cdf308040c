"""Models along a ray, and the one search of it that all solvers share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rocmax._typing import F64
from rocmax.risks import Evaluation
from rocmax.solvers._objective import Model, Objective

# The factor of the next step while the slope is negative; the distance that a step inside a bracket keeps from its
# ends, relative to the width of the bracket.
_FURTHER, _INSIDE = 2.0, 0.1
# If the risk is at most this share of the objective, the model separates nearly all pairs and its length is optimised.
_SEPARATED = 0.1
# A slope of at most this share of the slope of the squared length counts as 0.
_LEVEL = 1e-3


class Point(NamedTuple):
    """A step, the objective (NaN if unknown) and its slope there, and the evaluation, None at the start."""

    step: float
    value: float
    slope: float
    found: Any = None


class Ray:
    """The models base + t (target - base): one product with the features serves them all.

    Holds two vectors over the samples: the scores of the base and their `change`.
    """

    def __init__(self, objective: Objective, base: Model, target: F64, change: F64 | None = None) -> None:
        self._objective, self.base = objective, base
        self.direction = target - base.vector
        self._change = objective.design.scores(self.direction) if change is None else change
        pair = np.array([base.vector, self.direction])
        along, curvature = objective.design.inner(pair, self.direction[None])[:, 0]
        self._along, self.curvature = float(along), float(curvature)
        self._tilt = objective.tilt.at(base.vector), objective.tilt.slope(self.direction)

    def _norm(self, step: float) -> float:
        return max(self.base.norm + step * (2.0 * self._along + step * self.curvature), 0.0)

    def vector(self, step: float) -> F64:
        """Return the vector at a step."""
        return self.base.vector + step * self.direction

    def model(self, step: float) -> Model:
        """Return the model at a step."""
        return Model(self.vector(step), self.base.scores + step * self._change, self._norm(step))

    def point(self, step: float) -> Point:
        """Evaluate the objective at a step."""
        found = self._objective.oracle.on_ray(self.base.scores, step, self._change)
        at, lean = self._tilt
        value = 0.5 * self._norm(step) + self._objective.C * (found.value - at - step * lean)
        return Point(step, value, self.slope(step, self.change(found.coef)), found)

    def slope(self, step: float, of_risk: float) -> float:
        """Return the derivative of the objective at a step, given that of the risk."""
        return self._along + step * self.curvature + self._objective.C * (of_risk - self._tilt[1])

    def change(self, coef: F64) -> float:
        """Return the derivative of coef . scores along the ray."""
        return float(coef @ self._change)


def search(
    evaluate: Callable[[float], Point],
    start: Point,
    curvature: float,
    *,
    tol: float = 0.0,
    flat: float = 0.0,
    max_calls: int = 12,
) -> list[Point]:
    """Return the lowest point of phi(t), t > 0, that was found, and the other end of its bracket if it was evaluated.

    phi starts at t = 0 with a negative slope; `curvature` is the squared length of the direction. The first step is 1.
    Steps double until the minimum is bracketed. The next step minimises the cubic through both ends of the bracket or,
    with `tol`, is where the lower bounds of both ends meet, which finds the kink of a convex phi.

    The search ends after `max_calls` evaluations (oracle calls, no product with the features); when phi is below its
    start and the slope at most `flat` times the first one; or, for a convex phi, within `tol` of the minimum. The
    lowest point may be above the start.
    """
    left, right, lowest, step = start, None, None, 1.0
    for _ in range(max_calls):
        point = evaluate(step)
        if lowest is None or not point.value >= lowest.value:
            lowest = point
        if abs(point.slope) <= flat * abs(start.slope) and not point.value >= start.value:
            break
        if point.slope < 0 and not point.value >= left.value:
            left = point
        else:
            right = point
        if right is None:
            if point.slope >= -_LEVEL * curvature * step:
                break
            step *= _FURTHER
            continue
        if tol > 0.0:
            step, bound = _meeting_point(left, right, curvature)
            if min(left.value, right.value) - bound <= tol:
                break
        else:
            step = _between(left, right)
        if not left.step < step < right.step:
            break
    assert lowest is not None
    return [lowest, *(end for end in (left, right) if end is not None and end is not start and end is not lowest)]


def _between(left: Point, right: Point) -> float:
    """Return the minimiser of the cubic through two points with these values and slopes, kept inside them."""
    width, slopes = right.step - left.step, left.slope + right.slope
    rise = right.value - left.value
    mean = slopes - 3.0 * (0.5 * slopes if np.isnan(rise) else rise / width)  # of a parabola if values are unknown
    root = np.sqrt(max(mean * mean - left.slope * right.slope, 0.0))
    turn = right.slope - left.slope + 2.0 * root
    share = 1.0 - (right.slope + root - mean) / turn if 0 < turn < np.inf else 0.5
    return left.step + min(max(float(share), _INSIDE), 1.0 - _INSIDE) * width


def _meeting_point(left: Point, right: Point, curvature: float) -> tuple[float, float]:
    """Return where the lower bounds phi_k + slope_k d + curvature/2 d^2 of both ends meet, and their value there."""

    def bound(p: Point, t: float) -> float:
        return p.value + (t - p.step) * (p.slope + 0.5 * curvature * (t - p.step))

    # Both bounds have the same curvature, so their difference is linear.
    steeper = (right.slope - curvature * right.step) - (left.slope - curvature * left.step)
    lowest_left, lowest_right = (p.step - p.slope / curvature for p in (left, right))
    meet = (bound(left, 0.0) - bound(right, 0.0)) / steeper if steeper > 0 else lowest_left
    step = max(min(meet, lowest_left), lowest_right)
    return step, max(bound(left, step), bound(right, step))


def lengthened(
    objective: Objective, model: Model, value: float, found: Evaluation, tol: float
) -> tuple[Model, float, list[Evaluation]] | None:
    """Return a better multiple of a model that separates nearly all pairs, its F and the cuts around it, or None."""
    if value - 0.5 * model.norm > _SEPARATED * value:
        return None
    ray = Ray(objective, model, 2.0 * model.vector, model.scores)  # away from zero
    slope = ray.slope(0.0, float(found.coef @ model.scores))
    if slope >= 0:
        return None
    ends = search(ray.point, Point(0.0, value, slope), ray.curvature, tol=tol)
    if ends[0].value >= value:
        return None
    return ray.model(ends[0].step), ends[0].value, [end.found for end in ends]
