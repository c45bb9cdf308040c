"""Bounds are proven: one above the objective by more than rounding is a mistake, and must not pass for a gap of 0."""

import numpy as np

from rocmax.designs import inner
from rocmax.solvers._bundle import Bundle
from rocmax.solvers._objective import Model, Objective

# What rounding may do, relative to the terms that the objective is the sum of, and to what it is seen to do.
_RELATIVE, _SEEN = 1e-6, 1e3
# Directions in which it is looked at.
_LOOKS = 4


def check_bound(objective: Objective, model: Model, value: float, bound: float, bundle: Bundle | None = None) -> None:
    """Raise unless the lower bound is at most the objective of a model, to the accuracy of the numbers.

    Free where the bound is below; else one product with the transpose of the features.

    Raises
    ------
    ValueError
        If the cuts of the bundle show that the kernel is not positive semidefinite: there are no bounds then. If the
        risk is a user's own: it is not convex.
    RuntimeError
        If they do not.
    """
    if bound <= value:
        return
    terms = abs(value) + objective.C * abs(objective.tilt.at(model.vector))
    if bound - value <= _RELATIVE * terms + _SEEN * objective.C * _rounding(objective, model):
        return
    if bundle is not None:
        bundle.require_definite()
    if objective.oracle.doubt:
        raise ValueError(objective.oracle.doubt)
    raise RuntimeError(
        f"internal error: the lower bound {bound:.17g} lies above the objective {value:.17g} (C={objective.C:g}, "
        f"{objective.design.n_samples} samples, dimension {objective.design.dim}). This is a bug in rocmax: please "
        "report it with the data, or numbers like them"
    )


def _rounding(objective: Objective, model: Model) -> float:
    """Return how far apart two ways to a mean difference of scores are seen to be.

    One takes the scores, as the objective does, the other the mean difference of the features, as its bounds do.
    """
    design = objective.design
    coefs = np.random.default_rng(0).random((_LOOKS, design.n_samples))
    coefs -= coefs.mean(axis=1, keepdims=True)
    coefs *= 2.0 / np.abs(coefs).sum(axis=1, keepdims=True)
    apart = (
        coef @ model.scores - inner(design, vector, model.vector)
        for coef, vector in zip(coefs, design.adjoint(coefs), strict=True)
    )
    return float(np.max(np.abs(list(apart))))
