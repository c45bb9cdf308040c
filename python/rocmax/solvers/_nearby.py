"""A look around where a convex-concave procedure ends: it may be held by a kink that the objective does not have."""

from collections.abc import Iterator

import numpy as np

from rocmax._typing import F64
from rocmax.designs import inner
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._ray import Ray

# Multiples of a model, and steps along coordinates relative to its length; fewer multiples where samples are many.
_NEAR = (1e-3, 0.01, 0.03, 0.1)
_MULTIPLES = (*(1.0 - h for h in _NEAR), *(1.0 + h for h in _NEAR))
_MORE = tuple(2.0 ** (k / 8) for k in range(-40, 41) if k)
_STEPS = tuple(sign * h for h in (1e-4, *_NEAR, 0.3, 1.0) for sign in (1.0, -1.0))
# Coordinates are tried where they are few, times the samples: a kink is that of single pairs, which then have weight.
_FEW = 1 << 14


def lower_nearby(objective: Objective, model: Model, value: float, least: float) -> tuple[Model, float] | None:
    """Return the lowest model met along a model's own ray and along coordinates, if it is lower by more than `least`.

    f and g of a difference may both have a kink where f - g has none, such as at pairs beyond the low end of a range.
    The majorant, which takes g as linear, keeps that of f, and its minimum is held there. A handful of oracle calls;
    where features and samples are few, one for each of some steps along every coordinate.
    """
    if model.norm == 0:
        return None
    few = objective.design.dim * objective.design.n_samples <= _FEW
    own = Ray.onwards(objective, model)
    found: tuple[float, Ray, float] = (value, own, 0.0)
    for ray, steps in [
        (own, [t - 1.0 for t in _MULTIPLES + (_MORE if few else ())]),
        *_coordinates(objective, model, few),
    ]:
        point = None
        for step in steps:
            point = ray.point(step, point)
            if point.value < found[0]:
                found = point.value, ray, step
    lowest, ray, step = found
    return (ray.model(step), lowest) if value - lowest > least else None


def _coordinates(objective: Objective, model: Model, few: bool) -> Iterator[tuple[Ray, tuple[float, ...]]]:
    """Yield the rays along the features, or along the samples of a kernel, each as long as the model at step 1."""
    design = objective.design
    if not few:
        return
    by_features = design.divisible or design.dim <= design.n_samples  # whatever the storage
    directions: F64 = np.eye(design.dim) if by_features else design.adjoint(np.eye(design.n_samples))
    for direction in directions:
        length = inner(design, direction, direction)
        if length > 0:
            yield Ray(objective, model, model.vector + np.sqrt(model.norm / length) * direction), _STEPS
