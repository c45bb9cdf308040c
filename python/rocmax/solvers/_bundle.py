"""The known cuts of a convex risk, and the piecewise linear model of the objective that they form."""

from collections.abc import Sequence

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Rows
from rocmax.designs import Design, Packed, inner
from rocmax.solvers._objective import Tilt

# Rounding may make a curvature negative by this share of the largest one.
_FLAT = 1e-6

# What is said of a kernel matrix that is not one of inner products.
INDEFINITE = (
    "kernel must be positive semidefinite, but a model has a negative squared length: the problem is not convex; scale "
    "the features, use another kernel or other parameters, or kernel_dtype='float64' if it is only rounded in 'float32'"
)


class Bundle:
    """Cuts R(w) >= offset_k + <vector_k, w> of a convex risk R >= 0; the first is R >= 0 itself.

    Cuts depend neither on C nor on a tilt, so a path over C and the steps of a convex-concave procedure keep them.
    Holds 8 (dim + k) bytes per cut, k the number of cuts; if it `proves` its bounds, also 8 for each sample of a cut.
    """

    def __init__(self, design: Design, *, proves: bool = False) -> None:
        self._design, self._proves = design, proves and not design.dual
        # The coefficients of each cut over the samples, which prove it; vectors of a dual design begin with them.
        self._coefs: list[Packed | None] = [None]
        #: The rows of the design that the next cuts are about, ascending.
        self.rows: Rows | slice = slice(None)
        self._offsets = np.zeros(1)
        self._store = np.zeros((1, design.dim))
        self.gram = np.zeros((1, 1))  # the inner products of the vectors
        self.weights = np.ones(1)
        self.constant = 0.0  # the sum of the offsets, each times its weight
        # The last multipliers of the augmented Lagrangian method less those of the tilt, and its penalty, both times C.
        self.multipliers: tuple[list[Packed], float] | None = None

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def vectors(self) -> F64:
        """One row for each cut, in the order of `weights`."""
        return self._store[: len(self)]

    def cuts_at(self, vector: F64) -> F64:
        """Return the values of the cuts at a vector."""
        return np.asarray(self._offsets + self._design.inner(self.vectors, vector[None])[:, 0])

    def add(self, offsets: Sequence[float] | F64, vectors: F64, coefs: Sequence[F64 | Packed | None]) -> None:
        """Add cuts; k offsets, vectors of shape (k, dim), k arrays of shape (n_samples,)."""
        n = self._design.n_samples
        packed = (Packed(coef, self.rows, n) if isinstance(coef, np.ndarray) else coef for coef in coefs)
        self._coefs += packed if self._proves else [None] * len(offsets)
        self._append(vectors)
        self._offsets = np.concatenate((self._offsets, offsets))
        self.weights = np.concatenate((self.weights, np.zeros(len(offsets))))
        gram, old = np.empty((len(self), len(self))), slice(0, -len(offsets))
        gram[-len(offsets) :] = self._design.inner(vectors, self.vectors)
        gram[old, old], gram[old, -len(offsets) :] = self.gram, gram[-len(offsets) :, old].T
        self.gram = gram

    def join(self, other: "Bundle") -> None:
        """Add the cuts of a lower risk: they hold for this one too."""
        if len(other) > 1:
            self.add(other._offsets[1:], other.vectors[1:], other._coefs[1:])

    def coef(self, k: int) -> F64 | Packed | None:
        """Return the coefficients of a cut over all samples; None if they were not kept."""
        return self._store[k, : self._design.n_samples] if self._design.dual else self._coefs[k]

    def average(self) -> F64:
        """Return the sum of the coefficients of all cuts, each times its weight; 0 if they were not kept."""
        total = np.zeros(self._design.n_samples)
        for k in np.flatnonzero(self.weights).tolist():
            if (coef := self.coef(k)) is not None:
                total += self.weights[k] * np.asarray(coef)
        return total

    def _append(self, vectors: F64) -> None:
        """Write the vectors behind the others; a full store doubles (copying all for each cut took 15 % of a fit)."""
        size = len(self) + len(vectors)
        if size > len(self._store):
            grown = np.empty((2 * size, self._design.dim))
            grown[: len(self)] = self.vectors
            self._store = grown
        self._store[len(self) : size] = vectors

    def minimise(self, C: float, tilt: Tilt, *, tol: float) -> tuple[F64, float]:
        """Minimise 1/2|w|^2 + C (max_k cut_k(w) - tilt(w)); return w and a lower bound, which holds for any `tol`."""
        gain = self._offsets
        if tilt.vector is not None:  # the weights sum to C, so its other products only add a constant
            gain = gain + C * self._design.inner(self.vectors, tilt.vector[None])[:, 0]
        start = self.weights * (C / float(self.weights.sum()))
        try:
            self.weights = _core.minimise_on_simplex(self.gram, gain, C, start, tol)
        except ValueError:  # a NaN: from a negative squared length, or because X is too large
            self.require_definite()
            raise
        vector = -_core.adjoint(self.vectors, [self.weights], self._design.dim)[0]
        if tilt.vector is not None:
            vector += C * tilt.vector
        self.constant = float((self.weights * self._offsets).sum())
        return vector, self.constant - 0.5 * inner(self._design, vector, vector) - C * tilt.offset

    def require_definite(self) -> None:
        """Raise if the cuts show that the kernel is not positive semidefinite: no bound holds then."""
        curvatures = np.linalg.eigvalsh(self.gram) if np.isfinite(self.gram).all() else np.zeros(1)
        if curvatures[0] < -_FLAT * abs(curvatures[-1]):
            raise ValueError(INDEFINITE)
