"""A look around where a convex-concave procedure ends: it may be held by a kink that the objective does not have."""

import numpy as np

from rocmax.designs import inner
from rocmax.solvers._objective import Model, Objective
from rocmax.solvers._ray import Ray

# Steps along a model's own ray, and along coordinates, relative to its length.
_NEAR = tuple(sign * h for h in (1e-3, 0.01, 0.03, 0.1) for sign in (1.0, -1.0))
_FURTHER = tuple(2.0 ** (k / 8) - 1.0 for k in range(-40, 41) if k)
_COORDINATE = (*_NEAR, *(sign * h for h in (1e-4, 0.3, 1.0) for sign in (1.0, -1.0)))
# The latter two where coordinates are few, times the samples: a kink is that of single pairs, which then have weight.
_FEW = 1 << 14


def lower_nearby(objective: Objective, model: Model, value: float, least: float) -> tuple[Model, float] | None:
    """Return the lowest model met along a model's own ray and along coordinates, if it is lower by more than `least`.

    f and g of a difference may both have a kink where f - g has none, such as at pairs beyond the low end of a range.
    The majorant, which takes g as linear, keeps that of f, and its minimum is held there. A handful of oracle calls;
    where features (of a kernel: samples) and samples are few, one for each of some steps along every coordinate.
    """
    if model.norm == 0:
        return None
    design, own = objective.design, Ray.onwards(objective, model)
    rays, coordinates = [(own, _NEAR)], np.zeros((0, design.dim))
    if design.dim * design.n_samples <= _FEW:
        rays = [(own, _NEAR + _FURTHER)]
        by_features = design.divisible or design.dim <= design.n_samples  # whatever the storage
        coordinates = np.eye(design.dim) if by_features else design.adjoint(np.eye(design.n_samples))
    for direction in coordinates:
        length = inner(design, direction, direction)
        if length > 0:
            target = model.vector + np.sqrt(model.norm / length) * direction
            rays.append((Ray(objective, model, target), _COORDINATE))
    met = [(value, own, 0.0), *((ray.point(step).value, ray, step) for ray, steps in rays for step in steps)]
    lowest, ray, step = min(met, key=lambda at: at[0])
    return (ray.model(step), lowest) if value - lowest > least else None
