"""The quadratic losses of regularised least squares, over samples (RLS) and over pairs (AUC-RLS).

Both minimise (f - y)' L (f - y) + alpha |f|^2, y = +-1, with L = F F'. RLS has L = W, the diagonal of the weights w;
AUC-RLS has the Laplacian of the pairs, sum_ij w_i w_j (2 - f_i + f_j)^2:

    L = D - w_+ w_-' - w_- w_+',   D = w_i W_- on positives, w_j W_+ on negatives,

where w_+ and w_- are w on one class and 0 on the other, W_+ and W_- their sums. With e = sqrt(D), q = e / |e|, t = +-1,

    F = diag(e) B,   B = (I - q q' - p p')^(-1/2) on the complement of q,   p = (I - q q') (e t) / sqrt(4 W_+ W_-),

so c = F (F' K F + alpha I)^-1 F' y needs one symmetric matrix, is exact on singular kernels, and its spectrum serves
every alpha. (Paper 5, eq. 8 has the unsymmetric (L K + alpha I)^-1 L y.)
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from rocmax._typing import F64, Bool


@dataclass(frozen=True)
class Loss:
    """L = F F' of a quadratic loss, and the coupling of its noise covariance.

    Up to the free shift of AUC-RLS, L is the inverse of S = D^-1 - omega t t' (omega = 0 for RLS). If D is built from
    the class weights of a subset, S restricted to the subset is the noise of the model trained on it: held-out scores
    are a marginalisation (see `_held_out`).
    """

    root: F64
    shift: F64 | None = None
    tilt: F64 | None = None
    totals: tuple[float, float] = (0.0, 0.0)
    """W_+ and W_-, of AUC-RLS."""
    omega: float = 0.0
    bend: float = 0.0
    """|p|^2: below 1 if S is positive definite, 1/2 if the class weights are those of the samples."""

    @classmethod
    def samples(cls, weight: F64) -> Self:
        """Return the loss of RLS: L = W."""
        return cls(np.sqrt(weight))

    @classmethod
    def centred(cls, weight: F64) -> Self:
        """Return the loss of samples measured from their weighted mean: L = W - w w' / sum(w)."""
        root = np.sqrt(weight)
        return cls(root, root / np.linalg.norm(root))

    @classmethod
    def pairs(cls, pos: Bool, weight: F64, totals: tuple[float, float] | None = None) -> Self:
        """Return the loss of AUC-RLS; `totals` replaces the class weights (W_+, W_-) of the samples."""
        w_pos, w_neg = totals or (float(weight[pos].sum()), float(weight[~pos].sum()))
        root = np.sqrt(weight * np.where(pos, w_neg, w_pos))
        shift = root / np.linalg.norm(root)
        tilt = root * targets(pos) / np.sqrt(4.0 * w_pos * w_neg)
        tilt -= shift * (shift @ tilt)
        return cls(root, shift, tilt, (w_pos, w_neg), 1.0 / (4.0 * w_pos * w_neg), float(tilt @ tilt))

    @property
    def between(self) -> float:
        """The weight of the squared difference of the class means in f' L f, besides D of each class about its mean."""
        return self.bend / (1 - self.bend) * self.totals[0] * self.totals[1]

    def right(self, M: F64) -> F64:
        """Return F' M."""
        return self._bent(self._scaled(M))

    def left(self, M: F64) -> F64:
        """Return F M."""
        return self._scaled(self._bent(M))

    def times(self, v: F64) -> F64:
        """Return L v, for each column of v."""
        return self.left(self.right(v))

    def sandwich(self, K: F64) -> F64:
        """Return F' K F, symmetric to the last bit."""
        M = self.right(self.right(K).T)
        M += M.T
        M *= 0.5
        return M

    def _scaled(self, M: F64) -> F64:
        return self.root.reshape(-1, *(1,) * (M.ndim - 1)) * M

    def _bent(self, M: F64) -> F64:
        """Return B M."""
        if self.shift is not None:
            M = M - np.multiply.outer(self.shift, self.shift @ M)
        if self.tilt is not None and self.bend > 0:
            stretch = ((1 - self.bend) ** -0.5 - 1) / self.bend
            M += np.multiply.outer(self.tilt * stretch, self.tilt @ M)
        return M


def targets(pos: Bool) -> F64:
    """Return y: +1 on positives, -1 on negatives."""
    return np.where(pos, 1.0, -1.0)


def squares(positive: Bool, weight: F64, scores: F64, C: float, *, pairwise: bool) -> tuple[float, F64]:
    """Return C times the least squares of AUCRLS or RLS at scores, and the gradient."""
    loss = Loss.pairs(positive, weight) if pairwise else Loss.samples(weight)
    rest = targets(positive) - scores
    pull = loss.times(rest)
    return C * float(rest @ pull), -2.0 * C * pull
