"""Weighted losses, training samples as linear systems, and their spectra."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import Chunks, as_design, is_dask, is_sparse, rough_mean, some_rows
from rocmax.designs._blocks import row_blocks


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


_EPS = float(np.finfo(np.float64).eps)
# Above this alpha / largest eigenvalue the ranking is that of the limit, to the accuracy of the limit.
_LIMIT = 1e6
# Below this one, alpha only divides the rounding in the null space of K.
_LEAST = 1e-22
# Single precision may make an eigenvalue negative by this share of the largest one.
_SINGLE = 1e-6


@dataclass(frozen=True)
class Inverse:
    """P = U diag(g) U' + diag(h) at one alpha."""

    basis: F64
    scale: F64
    remainder: F64

    def diagonal(self) -> F64:
        """Return P_ii."""
        return np.asarray(self.basis**2 @ self.scale + self.remainder)

    def times(self, v: F64) -> F64:
        """Return P v, for each column of v."""
        return np.asarray(self.basis @ (self.scale * (self.basis.T @ v).T).T + (self.remainder * v.T).T)

    def block(self, index: AnyArray) -> F64:
        """Return P_BB."""
        rows = self.basis[index]
        return np.asarray((rows * self.scale) @ rows.T + np.diag(self.remainder[index]))

    def solve(self, index: AnyArray, v: F64) -> F64:
        """Return P_BB^-1 v, O(|B| r min(|B|, r))."""
        rows, rest = self.basis[index], self.remainder[index]
        divides = all(part.all() and np.isfinite(part).all() for part in (rest, self.scale))
        if len(index) <= rows.shape[1] or not divides:
            return np.asarray(np.linalg.solve(self.block(index), v), dtype=np.float64)
        scaled, v = rows / rest[:, None], v / rest
        return np.asarray(v - scaled @ np.linalg.solve(np.diag(1.0 / self.scale) + rows.T @ scaled, rows.T @ v))


@dataclass(frozen=True)
class Spectrum:
    """F' K F = V diag(values) V', from which P follows for any alpha in O(N r) at most.

    From a kernel the basis is F V; from r < N features it is [F F' X V, F q, F p], and the rest of P is 1 / alpha.
    """

    loss: Loss
    values: F64
    basis: F64
    rows: F64
    """K, or X V of features: gives scores without c, which grows like 1 / alpha."""
    in_features: bool

    def alpha(self, alpha: float, most: float = _LIMIT) -> float:
        """Return alpha, moved to where held-out scores are larger than rounding (with the ranking of the limit)."""
        largest = float(self.values.max())
        return min(max(alpha, _LEAST * largest), most * largest) if largest > 0 else alpha

    def scores(self, rows: AnyArray, alpha: float, v: F64) -> F64:
        """Return K[rows] P v for each column of `v`."""
        if not self.in_features:
            return np.asarray(self.rows[rows] @ self.inverse(alpha).times(v))
        along = self.basis[:, : len(self.values)].T @ v
        return np.asarray(self.rows[rows] @ (along.T / (self.values + alpha)).T)

    def inverse(self, alpha: float) -> Inverse:
        """Return P at one alpha > 0."""
        if not self.in_features:
            return Inverse(self.basis, 1 / (self.values + alpha), np.zeros(len(self.basis)))
        scale = -1 / (self.values + alpha)
        if self.loss.shift is not None:
            scale = np.append(scale, [-1.0, 1 / (1 - self.loss.bend)])
        return Inverse(self.basis, scale / alpha, self.loss.root**2 / alpha)


def eigen(M: F64, noise: float, what: str) -> tuple[F64, F64]:
    """Return the eigenvalues of M, ascending, with those within rounding set to 0, and its eigenvectors.

    `noise` is the rounding of M. Raises ValueError if the spectrum is further below zero, or not finite.
    """
    require_size(M)
    values, vectors = np.linalg.eigh(M)
    largest = max(float(values[-1]), 0.0)
    if values[0] < -_SINGLE * largest - noise:
        raise ValueError(
            f"{what} is not positive semi-definite: its eigenvalues reach from {values[0]:.3g} to {values[-1]:.3g}; "
            "scale the features, or use a positive semi-definite kernel such as 'linear', 'rbf' or 'poly'"
        )
    return np.where(values > max(len(values) * _EPS * largest, noise), values, 0.0), vectors


def require_size(*products: F64) -> None:
    """Raise unless these products of features or of a kernel are finite."""
    if not all(np.isfinite(values).all() for values in products):
        raise ValueError(
            "X is too large, or a weight or the kernel: sums of squares over the samples overflow; scale the features"
        )


# The number of rows for the rough mean.
_SOME = 500
# A vector shorter than this share of the longest one counts as 0.
_NONE = 1e-12


class _Weighted:
    """Weighted samples, for RLS or (`pairwise`) for AUC-RLS; equal samples share a number of `rows`."""

    def __init__(self, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        self.weight, self.pairwise = weight, pairwise
        self.rows: AnyArray = np.arange(len(weight)) if rows is None else rows

    def loss(self, pos: Bool, totals: tuple[float, float] | None = None) -> Loss:
        """Return the loss of a label; `totals` replaces the class weights of AUC-RLS."""
        return Loss.pairs(pos, self.weight, totals) if self.pairwise else Loss.samples(self.weight)


class KernelFeatures(_Weighted):
    """Samples given by their kernel matrix; `nullity` is the rank that a system always lacks."""

    what = "the kernel matrix"

    def __init__(self, K: F64, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        super().__init__(weight, pairwise=pairwise, rows=rows)
        self.K = K
        self.nullity = int(pairwise)  # the shift

    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        """Return F' K F, or X' F F' X, a right-hand side for each column of `labels`, and the matrix's rounding."""
        # Projecting out the shift may leave only rounding.
        noise = len(self.K) * _EPS * float(np.max(loss.root**2 * np.abs(np.diag(self.K)), initial=0.0))
        return loss.sandwich(self.K), loss.right(targets(labels)), noise

    def model(self, loss: Loss, solved: F64) -> F64:
        """Return the coefficients, of samples or features, for the solution of a system."""
        return loss.left(solved)

    def take(self, index: AnyArray) -> "KernelFeatures":
        """Return some of the samples."""
        return KernelFeatures(self.K[np.ix_(index, index)], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        """Return K[:, train] coef for each column of `coef`."""
        return np.asarray(self.K[:, train] @ coef)

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """Return the spectrum of F' K F: O(9 N^3) of a kernel, O(d^2 N + d^3) of features."""
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        basis = loss.left(vectors)
        length = np.linalg.norm(basis, axis=0)
        basis[:, (values == 0) & (length <= _NONE * length.max())] = 0.0  # F q: 1 / alpha would amplify its rounding
        return Spectrum(loss, values, basis, self.K, False)


class LinearFeatures(_Weighted):
    """Samples with few features: nothing of size N^2 is formed.

    One pass over X (an ndarray, sparse matrix, memmap or dask array) gives the weighted moments for all labels; AUC-RLS
    takes one pass over a class for each label. It subtracts a rough mean first, which L ignores, to avoid cancellation.
    """

    what, nullity = "the matrix of features", 0

    @np.errstate(over="ignore", invalid="ignore")  # the system is refused then
    def __init__(self, X: Any, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        super().__init__(weight, pairwise=pairwise, rows=rows)
        self._X = X
        self._design = as_design(X)
        dense_pairs = pairwise and not is_sparse(X)
        self._shift = rough_mean(some_rows(X, _SOME)) if dense_pairs else np.zeros(X.shape[1])
        self._gram, self._sum = self._design.moments(weight, self._shift)

    @np.errstate(over="ignore", invalid="ignore")
    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        if not self.pairwise:
            return self._gram, self._adjoint(self.weight[:, None] * targets(labels)), 0.0
        # X' L X: each class about its mean, weighted by the other class, and the squared difference of the means.
        sides = labels[:, 0], ~labels[:, 0]
        own = [float(self.weight[side].sum()) for side in sides]
        light, heavy = (0, 1) if own[0] <= own[1] else (1, 0)
        gram, total = self._design.moments(self.weight * sides[light], self._shift)
        H, means = np.zeros_like(gram), [total, total]
        for side, G, s in ((light, gram, total), (heavy, self._gram - gram, self._sum - total)):
            means[side] = s / own[side]
            H += loss.totals[1 - side] * (G - np.outer(s, means[side]))
        apart = means[0] - means[1]
        H += loss.between * np.outer(apart, apart)
        # The rounding of features that hardly differ from their mean.
        size = own[0] * loss.totals[1] + own[1] * loss.totals[0]
        noise = len(H) * size * (4 * _EPS * float(np.abs(self._shift).max(initial=0.0))) ** 2
        return H, 2 * loss.between * apart[:, None], noise

    def model(self, loss: Loss, solved: F64) -> F64:
        return solved

    def take(self, index: AnyArray) -> "LinearFeatures":
        return LinearFeatures(self._X[index], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        return np.asarray(self._X @ (self._X[train].T @ coef))

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        rotated = np.asarray(self._X @ vectors, dtype=np.float64)
        basis = loss.times(rotated)
        basis[:, values == 0] = 0.0  # rounding, which 1 / alpha would amplify
        if loss.shift is not None and loss.tilt is not None:
            basis = np.column_stack([basis, loss.root * loss.shift, loss.root * loss.tilt])
        return Spectrum(loss, values, basis, rotated, True)

    def _adjoint(self, columns: F64) -> F64:
        """Return X' V in double precision, V of shape (n_samples, k)."""
        X = self._X
        if is_dask(X):
            chunks = Chunks.of(X)
            found: F64 = chunks.total(_transposed_product, (columns[rows] for rows in chunks.parts()))
            return found
        rows = [(slice(None), X)] if is_sparse(X) else row_blocks(X)
        return sum((np.asarray(part.T @ columns[some], dtype=np.float64) for some, part in rows), np.zeros(1))


Features = KernelFeatures | LinearFeatures


def _transposed_product(block: AnyArray, columns: F64) -> F64:
    return np.asarray(block.T.astype(np.float64) @ columns)
