"""Exact minimisation of the objective along a segment of models."""

from collections.abc import Callable
from typing import NamedTuple

from rocmax.risks import Evaluation


class Point(NamedTuple):
    """A step length, the objective and its slope there, and what the oracle found, None at the start."""

    step: float
    value: float
    slope: float
    evaluation: Evaluation | None = None


def minimise_on_ray(
    evaluate: Callable[[float, Point | None], Point],
    start: Point,
    curvature: float,
    *,
    tol: float,
    max_calls: int = 12,
    visit: Callable[[Point], None] = lambda _: None,
) -> list[Point]:
    """Minimise a convex function phi(t), t >= 0, from its values and slopes.

    phi is the sum of a piecewise linear convex function and t^2/2 * curvature, so every point seen gives the lower
    bound phi_k + slope_k (t - t_k) + curvature/2 (t - t_k)^2. The next point is where the bounds of the two nearest
    points on either side of the minimum meet; the search ends when the bound there is within `tol` of the best value.

    Parameters
    ----------
    evaluate : callable
        Step to :class:`Point`, in place of an earlier one, if not None. Each call is one oracle call and no product
        with the features.
    start : Point
        The point at t = 0, with a negative slope.
    curvature : float
        Squared length of the direction.
    tol : float
        Absolute accuracy wanted.
    max_calls : int
        At most this many evaluations.
    visit : callable
        Called with every point evaluated; few of them are kept.

    Returns
    -------
    list of Point
        The last point before the minimum and the first behind it, as far as they were evaluated. By convexity none that
        was evaluated is lower than the lower one of them.
    """
    left = start
    right: Point | None = None
    passed: Point | None = None
    step = 1.0
    for _ in range(max_calls):
        point = evaluate(step, passed)
        visit(point)
        if point.slope < 0:
            left, passed = point, left
        else:
            right, passed = point, right
        if right is None:
            if point.slope >= -curvature * step * 1e-3:
                break
            step = 2.0 * step
            continue
        step, bound = _meeting_point(left, right, curvature)
        if min(left.value, right.value) - bound <= tol or not left.step < step < right.step:
            break
    return [point for point in (left, right) if point is not None and point is not start]


def _meeting_point(left: Point, right: Point, curvature: float) -> tuple[float, float]:
    """Return where the lower bounds of two points are least together, and their value there."""

    def bound(p: Point, t: float) -> float:
        return p.value + (t - p.step) * (p.slope + 0.5 * curvature * (t - p.step))

    # Both bounds have the same curvature, so their difference is linear: left of where they meet the left one counts.
    steeper = (right.slope - curvature * right.step) - (left.slope - curvature * left.step)
    lowest_left, lowest_right = (p.step - p.slope / curvature for p in (left, right))
    meet = (bound(left, 0.0) - bound(right, 0.0)) / steeper if steeper > 0 else lowest_left
    step = max(min(meet, lowest_left), lowest_right)
    return step, max(bound(left, step), bound(right, step))
