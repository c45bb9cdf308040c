"""Newton's equations (I + H) step = -gradient, H from springs between samples or from a smoothed risk on a sample."""

from collections.abc import Callable
from functools import reduce
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dposv

from rocmax._runtime.settings import settings
from rocmax._typing import F64, Rows
from rocmax.designs import Design, SubsetDesign, inner
from rocmax.risks import Curvature, Smoothed
from rocmax.solvers._objective import Model, Objective

# The features of samples with springs are copied up to so many samples, or up to one of so many.
_COPIED, _SHARE = 4000, 2
# Newton's equations are solved exactly up to so many feature values of these samples, else by at most so many products.
_ENTRIES, _CG_STEPS = 1 << 20, 50
# The width over which the hinge is smoothed, relative to the root of gap / C; and its limits.
_WIDTH, _NARROWEST, _WIDEST = 0.3, 1e-6, 2.0
# The rounding of a smoothed cut, relative to the squared spread of the scores over the width.
_ROUNDING = 1e-14
# The curvature of a smoothed risk comes from a sample of at most _ROWS rows or one of _ONE_OF, and from least and most
# _STEPS products with it: enough for the dimension, and not dearer than a pass over the features.
_ROWS, _ONE_OF, _STEPS = 4000, 5, (5, 20)
_RESIDUAL = 1e-2

# A part of H, as its product with a vector.
Hessian = Callable[[F64], F64]


def solve(parts: list[Hessian], gradient: F64, design: Design, residual: float, steps: int = _CG_STEPS) -> F64:
    """Solve (I + H) step = -gradient, H the sum of the parts: exactly if all have a matrix, else to a residual."""
    matrices = [matrix for part in parts if isinstance(part, Springs) and (matrix := part.matrix()) is not None]
    if matrices and len(matrices) == len(parts):
        hessian = reduce(np.add, matrices)
        hessian.flat[:: design.dim + 1] += 1.0
        _, step, failed = dposv(hessian, -gradient)
        if not failed and gradient @ step < 0:  # strong springs may hide the identity
            return np.asarray(step)
    found, left, direction = np.zeros_like(gradient), -gradient, -gradient
    now = first = inner(design, left, left)
    for _ in range(steps):
        if now <= residual**2 * first:
            break
        image = sum((part(direction) for part in parts), direction)
        curvature = inner(design, direction, image)
        if not 0.0 < curvature < np.inf:
            break
        length = now / curvature
        found = found + length * direction
        left = left - length * image
        before, now = now, inner(design, left, left)
        direction = left + (now / before) * direction
    return found


def is_small(design: Design, n_rows: int) -> bool:
    """Whether the equations with springs at so many samples are solved exactly."""
    return design.dim <= settings().exact_newton and design.dim * n_rows <= _ENTRIES


class Springs:
    """Springs between samples and the means of their groups; `rows` holds the samples group after group."""

    def __init__(self, design: Design, rows: Rows, starts: Rows, stiffness: F64) -> None:
        self._starts, self._stiffness = starts, stiffness
        copied = design.rows(rows) if len(rows) <= max(_COPIED, design.n_samples // _SHARE) else None
        self._sample = SubsetDesign(design, rows) if copied is None else copied
        self._sizes = np.concatenate((starts[1:], [len(rows)])) - starts
        self._sums = np.add.reduceat(stiffness, starts)
        self._features = self._sample.features() if is_small(design, len(rows)) else None

    def __call__(self, vector: F64, /) -> F64:
        """Return the product with a vector."""
        change = self._sample.scores(vector)
        image: F64 = self._sample.adjoint([self._stiffness * self._off_mean(change[:, None])[:, 0]])[0]
        return image

    def matrix(self) -> F64 | None:
        """Return the matrix if it is small and the features are in memory."""
        if self._features is None:
            return None
        apart = self._off_mean(self._features.astype(np.float64, copy=False))
        return np.asarray(apart.T @ (self._stiffness[:, None] * apart))

    def _off_mean(self, values: F64) -> F64:
        """Subtract the means of the groups; `values` has a row for each sample."""
        sums = np.add.reduceat(self._stiffness[:, None] * values, self._starts, axis=0)
        return values - np.repeat(sums / self._sums[:, None], self._sizes, axis=0)


def smoothed(objective: Objective, model: Model, left: float) -> Smoothed | None:
    """Return a smoothed cut of the risk at a model, given the gap; None if the risk has none."""
    # If all scores are tied, every pair gets a curvature: the step is that of least squares.
    width = _WIDEST if model.norm == 0 else _WIDTH * sqrt(max(left, 0.0) / objective.C)
    width = min(max(width, _NARROWEST), _WIDEST)
    found = objective.oracle.smooth(model.scores, width)
    if found is None:
        return None
    # Sums of scores are subtracted and divided by the width.
    spread = 1.0 + float(model.scores.max() - model.scores.min())
    slack = _ROUNDING * spread**2 / width * objective.oracle.at_zero(len(model.scores))
    return found._replace(offset=found.offset - slack)


def sampled_step(
    objective: Objective, model: Model, of_risk: Curvature, slope: F64, rng: np.random.Generator
) -> tuple[F64, float] | None:
    """Return the step to the minimiser of the second-order model of the smoothed objective, and the slope along it.

    `slope` is the vector of the smoothed cut, `of_risk` its curvature. None if the design offers no samples.
    """
    design = objective.design
    n_samples = of_risk.n_samples
    size = min(max(design.dim, min(_ROWS, n_samples)), max(_ROWS, n_samples // _ONE_OF))
    rows, curvature = of_risk.sample(size, rng)
    sample = design.rows(rows)
    if sample is None:
        return None

    def product(vector: F64) -> F64:
        image: F64 = objective.C * sample.adjoint(curvature(sample.scores(vector))[None])[0]
        return image

    gradient = model.vector + objective.C * slope
    if objective.tilt.vector is not None:
        gradient -= objective.C * objective.tilt.vector
    steps = min(max(n_samples // len(rows), _STEPS[0]), _STEPS[1])
    step = solve([product], gradient, design, _RESIDUAL, steps)
    return step, inner(design, gradient, step)
