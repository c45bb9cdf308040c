"""The metric I + lambda Sigma, Sigma the sum of the covariances of the two classes."""

from copy import copy

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from rocmax._runtime.memory import require_memory
from rocmax._typing import F64, AnyArray, Bool, Coefs, Rows
from rocmax.designs._base import Design
from rocmax.designs._blocks import moments


def class_covariance(design: Design, positive: Bool, weight: F64 | None = None) -> F64:
    """Return Sigma; each covariance is divided by the weight of its class, without a correction. Two passes over X."""
    sigma = np.zeros((design.dim, design.dim))
    for members in (positive, ~positive):
        share = np.zeros(len(positive))
        share[members] = _shares(members, weight)
        gram, left = moments(design, share, design.adjoint([share])[0])  # about the mean, up to rounding
        sigma += gram - np.outer(left, left)
    return sigma


def _shares(members: Bool, weight: F64 | None) -> F64:
    """Return the weight of each member of a class as a share of the class."""
    own = np.ones(int(members.sum())) if weight is None else weight[members]
    return np.asarray(own / own.sum())


class StructuredDesign(Design):
    """A linear design under the metric <u, v> = u'(I + lambda Sigma) v.

    Minimising 1/2 <w, w> + C R(Xw) is then the structure-embedded machine: 1/2 |w|^2 + lambda/2 w'Sigma w + C R.
    """

    def __init__(self, design: Design, positive: Bool, structure: float, weight: F64 | None = None) -> None:
        self.n_samples, self.dim, self.divisible = design.n_samples, design.dim, design.divisible
        self._design, self.eps = design, design.eps
        self._metric = structure * class_covariance(design, positive, weight)
        self._metric[np.diag_indices(self.dim)] += 1.0
        self._factor = _factor(self._metric.copy())

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector)

    def adjoint(self, coefs: Coefs, /) -> F64:
        return np.ascontiguousarray(cho_solve(self._factor, self._design.adjoint(coefs).T).T)

    def inner(self, u: F64, v: F64, /) -> F64:
        return u @ self._metric @ v.T

    def accurate(self, *, shifted: bool = True) -> "StructuredDesign":
        design = self._design.accurate(shifted=shifted)
        return self if design is self._design else self._over(design)

    def rows(self, index: Rows, /) -> "StructuredDesign | None":
        rows = self._design.rows(index)
        return None if rows is None else self._over(rows)

    def _over(self, design: Design) -> "StructuredDesign":
        """Return the same metric over another design."""
        found = copy(self)
        found._design, found.n_samples, found.eps = design, design.n_samples, design.eps
        return found


def structured_gram(matrix: AnyArray, positive: Bool, structure: float, weight: F64 | None = None) -> AnyArray:
    """Return the kernel matrix K' of k'(x, z) = phi(x)'(I + lambda Sigma)^-1 phi(z), given K.

    K' = K - lambda K H (I + lambda H'K H)^-1 H'K with R = H H' as in Sigma = X' R X. R is singular: the published form,
    which inverts it, does not exist. O(N^3), four matrices at a time.
    """
    n = len(matrix)
    require_memory(3 * 8 * n * n, f"the structured kernel matrix of {n} samples, beside the kernel matrix,")
    half = _centred(matrix, positive, weight, power=0.5)
    system = structure * _centred(half.T, positive, weight, power=0.5).T
    system[np.diag_indices(n)] += 1.0
    factor, _ = _factor(system)
    half = solve_triangular(factor, half, lower=True, overwrite_b=True, check_finite=False)
    return np.asarray(matrix - (structure * (half.T @ half)), dtype=matrix.dtype)


def _factor(metric: F64) -> tuple[F64, bool]:
    """Return the lower Cholesky factor of I + lambda Sigma, which is overwritten."""
    try:
        return cho_factor(metric, lower=True, overwrite_a=True)
    except ValueError as failure:  # not positive definite (LinAlgError), or infinite
        size = float(np.abs(np.diag(metric)).max())
        raise ValueError(
            f"structure: I + structure * Sigma is not numerically positive definite (its diagonal "
            f"reaches {size:.1e}); scale the features, lower structure, or use a positive definite kernel"
        ) from failure


def plain_coefficients(coefs: F64, scores: F64, positive: Bool, structure: float, weight: F64 | None = None) -> F64:
    """Return the coefficients over k of the function that has `coefs` over k'.

    (I + lambda Sigma) w = sum_l a_l phi(x_l) gives w = sum_l (a - lambda R s)_l phi(x_l), s the training scores.
    """
    return coefs - structure * _centred(scores, positive, weight, power=1.0)


def _centred(values: AnyArray, positive: Bool, weight: F64 | None, *, power: float) -> F64:
    """Return share^power (v - mean of its class) along the first axis, with the share of a sample in its class.

    This is R v of Sigma = X' R X for power 1, and H'v of R = H H' for power 1/2.
    """
    out = np.array(values, dtype=np.float64)
    for members in (positive, ~positive):
        block, share = out[members], _shares(members, weight)
        block -= share @ block
        block.T[...] *= share**power
        out[members] = block
    return out
