"""Newton steps where the curvature of a risk is that of springs between samples and the means of their groups."""

from functools import reduce

import numpy as np
from scipy.linalg.lapack import dposv

from rocmax._typing import F64, Rows
from rocmax.designs import Design, SubsetDesign
from rocmax.solvers._conjugate_gradients import conjugate_gradients

# Samples whose features are copied: so many, or one of so many.
_COPIED, _SHARE = 4000, 2
# With no more features than _DIRECT, and _ENTRIES in those of the samples, Newton's equations are solved exactly; else
# by at most so many products.
_DIRECT, _ENTRIES, _CG_STEPS = 256, 1 << 20, 50


def is_small(design: Design, n_rows: int) -> bool:
    """Whether the equations of a step with springs at so many samples are better solved exactly."""
    return design.dim <= _DIRECT and design.dim * n_rows <= _ENTRIES


class Springs:
    """A spring between each of some samples and the mean of its group.

    Parameters
    ----------
    design : Design
        The design of all samples.
    rows, starts : ndarray
        The samples, group after group, and where each group begins.
    stiffness : ndarray of shape (n_rows,)
        The strength of each spring.
    """

    def __init__(self, design: Design, rows: Rows, starts: Rows, stiffness: F64) -> None:
        self._starts, self._stiffness = starts, stiffness
        copied = design.rows(rows) if len(rows) <= max(_COPIED, design.n_samples // _SHARE) else None
        self._sample = SubsetDesign(design, rows) if copied is None else copied
        self._sizes = np.concatenate((starts[1:], [len(rows)])) - starts
        self._sums = np.add.reduceat(stiffness, starts)
        self._features = self._sample.features() if is_small(design, len(rows)) else None
        # Whether the matrix is small, and the features are at hand.
        self.small = self._features is not None

    def __call__(self, vector: F64) -> F64:
        """Return the product with a vector."""
        change = self._sample.scores(vector)
        image: F64 = self._sample.adjoint([self._stiffness * self._off_mean(change[:, None])[:, 0]])[0]
        return image

    def matrix(self) -> F64:
        """Return the matrix of the products, if it is `small`."""
        assert self._features is not None
        apart = self._off_mean(self._features.astype(np.float64, copy=False))
        return np.asarray(apart.T @ (self._stiffness[:, None] * apart))

    def _off_mean(self, values: F64) -> F64:
        """Return the values, a row for each sample, less the means of their groups."""
        sums = np.add.reduceat(self._stiffness[:, None] * values, self._starts, axis=0)
        return values - np.repeat(sums / self._sums[:, None], self._sizes, axis=0)


def newton_step(springs: list[Springs], gradient: F64, design: Design, residual: float) -> F64:
    """Return the way to where (I + springs) step = -gradient, exactly or to a relative residual."""
    if springs and all(part.small for part in springs):
        hessian = reduce(np.add, (part.matrix() for part in springs))
        hessian.flat[:: design.dim + 1] += 1.0
        _, step, failed = dposv(hessian, -gradient)
        if not failed and gradient @ step < 0:  # springs may be so strong that the identity is lost beside them
            return np.asarray(step)
    return conjugate_gradients(
        lambda vector: sum((part(vector) for part in springs), vector), -gradient, design, _CG_STEPS, residual
    )
