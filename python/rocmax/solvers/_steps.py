"""The two things that steps are made of: an exact search of a ray, and Newton's equations.

The equations are (I + H) step = -gradient, with H from springs between samples or from a smoothed risk on a sample.
"""

from collections.abc import Callable
from math import inf, isnan, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Rows
from rocmax.designs import Design, SubsetDesign, conjugate
from rocmax.risks import Curvature, Evaluation, Smoothed
from rocmax.solvers._objective import Model, Objective

# The factor of the next step while the slope is negative; the distance that a step inside a bracket keeps from its
# ends, relative to the width of the bracket.
_FURTHER, _INSIDE = 2.0, 0.1
# If the risk is at most this share of the objective, the model separates nearly all pairs and its length is optimised.
_SEPARATED = 0.1
# A slope of at most this share of the slope of the squared length counts as 0.
_LEVEL = 1e-3
# Terms of a sum that are there at a time.
_PART = 1 << 14
# Newton's equations are solved by at most so many products.
_CG_STEPS = 50
# The width over which the hinge is smoothed, relative to the root of gap / C; and its limits.
_WIDTH, _NARROWEST, _WIDEST = 0.3, 1e-6, 2.0
# The rounding of a smoothed cut, relative to the squared spread of the scores over the width.
_ROUNDING = 1e-14
# The curvature of a smoothed risk comes from a sample of at most _ROWS rows or one of _ONE_OF, and from least and most
# _STEPS products with it: enough for the dimension, and not dearer than a pass over the features.
_ROWS, _ONE_OF, _STEPS = 4000, 5, (5, 20)
_RESIDUAL = 1e-2


class Point(NamedTuple):
    """A step, the objective (NaN if unknown) and its slope there, and the evaluation, None at the start."""

    step: float
    value: float
    slope: float
    found: Any = None


class Ray:
    """The models base + t direction: one product with the features serves them all.

    Holds two vectors over the samples: the scores of the base and their `change`.
    """

    def __init__(self, objective: Objective, base: Model, direction: F64, change: F64 | None = None) -> None:
        self._objective, self.base, self.direction, tilt = objective, base, direction, objective.tilt
        self._change = objective.design.scores(direction) if change is None else change
        pair = [base.vector, direction]
        vectors = pair if tilt.vector is None else [*pair, tilt.vector]
        products: list[list[float]] = objective.design.inner(np.array(vectors), np.array(pair)).tolist()
        (_, along), (_, curvature), (at, lean), *_ = *products, [0.0, 0.0]
        self._along, self.curvature, self._tilt = along, curvature, (tilt.offset + at, lean)

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
        return product(coef, self._change)


def search(
    evaluate: Callable[[float], Point],
    start: Point,
    curvature: float,
    *,
    tol: float = 0.0,
    flat: float = 0.0,
    max_calls: int = 12,
) -> Point:
    """Return the lowest point of phi(t), t > 0, that was found.

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
        point = point._replace(found=None)  # only the lowest keeps its coefficients
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
    return lowest


def _between(left: Point, right: Point) -> float:
    """Return the minimiser of the cubic through two points with these values and slopes, kept inside them."""
    width, slopes = right.step - left.step, left.slope + right.slope
    rise = right.value - left.value
    mean = slopes - 3.0 * (0.5 * slopes if isnan(rise) else rise / width)  # of a parabola if values are unknown
    root = sqrt(max(mean * mean - left.slope * right.slope, 0.0))
    turn = right.slope - left.slope + 2.0 * root
    share = 1.0 - (right.slope + root - mean) / turn if 0 < turn < inf else 0.5
    return left.step + min(max(share, _INSIDE), 1.0 - _INSIDE) * width


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


def product(u: F64, v: F64) -> float:
    """Return sum_k u_k v_k as NumPy adds in pairs, a part at a time: all terms would be a vector over the samples."""
    half = len(u) // 2 - len(u) // 2 % 8
    if half < _PART:
        return float((u * v).sum())
    return product(u[:half], v[:half]) + product(u[half:], v[half:])


def lengthened(
    objective: Objective, model: Model, value: float, found: Evaluation, tol: float
) -> tuple[Model, float, Evaluation]:
    """Return a better multiple of a model that separates nearly all pairs, or the model, its F and evaluation."""
    if value - 0.5 * model.norm > _SEPARATED * value:
        return model, value, found
    ray = Ray(objective, model, model.vector, model.scores)  # away from zero
    slope = ray.slope(0.0, product(found.coef, model.scores))
    if slope >= 0:
        return model, value, found
    lowest = search(ray.point, Point(0.0, value, slope), ray.curvature, tol=tol)
    return (ray.model(lowest.step), lowest.value, lowest.found) if lowest.value < value else (model, value, found)


class Springs:
    """Springs between samples and the means of their groups; `rows` holds the samples group after group."""

    def __init__(self, rows: Rows, starts: Rows, stiffness: F64) -> None:
        self.rows, self.core = rows, (starts, stiffness)

    @classmethod
    def joined(cls, rows: list[Rows], starts: list[Rows], stiffness: list[F64]) -> Self:
        """Return springs over several lists of samples, which may share samples."""
        before = np.cumsum([0, *map(len, rows[:-1])])
        shifted = [start + n for start, n in zip(starts, before, strict=True)]
        return cls(*map(np.concatenate, (rows, shifted, stiffness)))

    def __call__(self, change: F64, /) -> F64:
        """Return the pull on each sample for a change of the scores."""
        starts, stiffness = self.core
        means = np.add.reduceat(stiffness * change, starts) / np.add.reduceat(stiffness, starts)
        return np.asarray(stiffness * (change - np.repeat(means, np.diff(starts, append=len(self.rows)))))


class Scaled(NamedTuple):
    """The curvature of a smoothed risk times C."""

    curvature: _core.Curvature
    C: float

    @property
    def core(self) -> Self:
        """The pair."""
        return self

    def __call__(self, change: F64, /) -> F64:
        """Return the pull on each sample for a change of the scores."""
        return self.C * self.curvature.product(change)


def solve(springs: Springs, gradient: F64, design: Design, residual: float) -> F64:
    """Solve (I + H) step = -gradient, H from springs, to a residual."""
    found = design.newton_step(springs.rows, springs, gradient, (residual, _CG_STEPS))
    if found is not None:
        return found
    return conjugate(springs, SubsetDesign(design, springs.rows), gradient, residual, _CG_STEPS)


def width_at(model: Model, left: float, C: float) -> float:
    """Return the width over which a risk is smoothed at a model, given the gap."""
    # If all scores are tied, every pair gets a curvature: the step is that of least squares.
    width = _WIDEST if model.norm == 0 else _WIDTH * sqrt(max(left, 0.0) / C)
    return min(max(width, _NARROWEST), _WIDEST)


def smoothed_cut(objective: Objective, model: Model, left: float) -> Smoothed | None:
    """Return a smoothed cut of the risk at a model, given the gap; None if the risk has none."""
    width = width_at(model, left, objective.C)
    found = objective.oracle.smooth(model.scores, width)
    if found is None:
        return None
    # Sums of scores are subtracted and divided by the width.
    spread = 1.0 + float(model.scores.max() - model.scores.min())
    slack = _ROUNDING * spread**2 / width * objective.oracle.at_zero(len(model.scores))
    return found._replace(offset=found.offset - slack)


def sampled_step(objective: Objective, model: Model, of_risk: Curvature, slope: F64, seed: int) -> F64 | None:
    """Return the step to the minimiser of the second-order model of the smoothed objective.

    `slope` is the vector of the smoothed cut, `of_risk` its curvature, of which a seed draws the sample. None if the
    design offers no samples.
    """
    design = objective.design
    n_samples = of_risk.n_samples
    size = min(max(design.dim, min(_ROWS, n_samples)), max(_ROWS, n_samples // _ONE_OF))
    rows, curvature = of_risk.sample(size, seed)
    gradient = model.vector + objective.C * slope
    if objective.tilt.vector is not None:
        gradient -= objective.C * objective.tilt.vector
    steps = min(max(n_samples // len(rows), _STEPS[0]), _STEPS[1])
    pull = Scaled(curvature, objective.C)
    step = design.newton_step(rows, pull, gradient, (_RESIDUAL, steps))
    if step is not None:
        return step
    sample = design.rows(rows)
    return None if sample is None else conjugate(pull, sample, gradient, _RESIDUAL, steps)
