"""A design of some samples of another design, without a copy of their features."""

import numpy as np

from rocmax._typing import F64, Coefs, Rows
from rocmax.designs._base import Design, Pull


class SubsetDesign(Design):
    """The samples `index` of a design that is not copied; each product is one with the whole design."""

    def __init__(self, design: Design, index: Rows) -> None:
        self.n_samples, self.dim, self.divisible = len(index), design.dim, design.divisible
        self._design, self._index = design, index

    def scores(self, vector: F64, /) -> F64:
        return self._design.scores(vector)[self._index]

    def adjoint(self, coefs: Coefs, /) -> F64:
        # A sample may be there more than once.
        sums = np.array([np.bincount(self._index, coef, self._design.n_samples) for coef in coefs], dtype=np.float64)
        return self._design.adjoint(sums)

    def inner(self, u: F64, v: F64, /) -> F64:
        return self._design.inner(u, v)

    def newton_step(self, rows: Rows, pull: Pull, gradient: F64, until: tuple[float, int], /) -> F64 | None:
        return self._design.newton_step(self._index[rows], pull, gradient, until)

    def single(self, rows: Rows | None = None, /) -> "tuple[Design, float] | None":
        return self._design.single(self._index if rows is None else self._index[rows])

    def rows(self, index: Rows, /) -> "Design | None":
        return self._design.rows(self._index[index])
