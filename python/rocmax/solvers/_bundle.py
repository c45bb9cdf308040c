"""The known cuts of a convex risk, and the piecewise linear model of the objective that they form."""

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.designs import Design, inner
from rocmax.solvers._objective import Tilt

# Rounding may make a curvature negative by this share of the largest one.
_FLAT = 1e-6


class Bundle:
    """Cuts R(w) >= offset_k + <vector_k, w> of a convex risk R >= 0; the first is R >= 0 itself.

    Cuts depend neither on C nor on a tilt, so a path over C and the steps of a convex-concave procedure keep them.
    Holds 8 (dim + k) bytes per cut, k the number of cuts.
    """

    def __init__(self, design: Design) -> None:
        self._design = design
        self._offsets = np.zeros(1)
        self._store = np.zeros((1, design.dim))
        self.gram = np.zeros((1, 1))  # the inner products of the vectors
        self.weights = np.ones(1)
        # The last multipliers of the augmented Lagrangian method less those of the tilt, and its penalty, both times C.
        self.multipliers: tuple[F64, float] | None = None

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def vectors(self) -> F64:
        """One row for each cut, in the order of `weights`."""
        return self._store[: len(self)]

    def cuts_at(self, vector: F64) -> F64:
        """Return the values of the cuts at a vector."""
        return np.asarray(self._offsets + self._design.inner(self.vectors, vector[None])[:, 0])

    @property
    def constant(self) -> float:
        """Return the sum of the offsets, each times its weight."""
        return float(self.weights @ self._offsets)

    def add(self, offsets: F64, vectors: F64) -> None:
        """Add cuts; offsets of shape (k,), vectors of shape (k, dim)."""
        cross = self._design.inner(self.vectors, vectors)
        own = self._design.inner(vectors, vectors)
        self._append(vectors)
        self.gram = np.block([[self.gram, cross], [cross.T, own]])
        self._offsets = np.concatenate([self._offsets, offsets])
        self.weights = np.concatenate([self.weights, np.zeros(len(offsets))])

    def join(self, other: "Bundle") -> None:
        """Add the cuts of a lower risk: they hold for this one too."""
        if len(other) > 1:
            self.add(other._offsets[1:], other.vectors[1:])

    def _append(self, vectors: F64) -> None:
        """Write the vectors behind the others; a full store doubles (copying all for each cut took 15 % of a fit)."""
        size = len(self) + len(vectors)
        if size > len(self._store):
            grown = np.empty((2 * size, self._design.dim))
            grown[: len(self)] = self.vectors
            self._store = grown
        self._store[len(self) : size] = vectors

    def minimise(self, C: float, tilt: Tilt, *, tol: float) -> tuple[F64, float]:
        """Minimise 1/2|w|^2 + C (max_k cut_k(w) - tilt(w)); return the minimiser and a lower bound of the minimum.

        The bound holds for any accuracy `tol` of the minimiser.
        """
        gain = self._offsets
        if tilt.vector is not None:  # the weights sum to C, so its other products only add a constant
            gain = gain + C * self._design.inner(self.vectors, tilt.vector[None])[:, 0]
        start = self.weights * (C / self.weights.sum())
        try:
            self.weights = _core.minimise_on_simplex(self.gram, gain, C, start, tol)
        except ValueError:  # a NaN: from a negative squared length, or because X is too large
            self.require_definite()
            raise
        vector = -(self.weights @ self.vectors)
        if tilt.vector is not None:
            vector += C * tilt.vector
        norm = inner(self._design, vector, vector)
        return vector, float(self.weights @ self._offsets) - 0.5 * norm - C * tilt.offset

    def require_definite(self) -> None:
        """Raise if the cuts show that the kernel is not positive semidefinite: no bound holds then."""
        curvatures = np.linalg.eigvalsh(self.gram) if np.isfinite(self.gram).all() else np.zeros(1)
        if curvatures[0] < -_FLAT * abs(curvatures[-1]):
            raise ValueError(
                "kernel must be positive semidefinite, but a model has a negative squared length: the problem is not "
                "convex; use another kernel or other kernel parameters"
            )
