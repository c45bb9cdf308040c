"""Regularised least squares, over samples (RLS) and over pairs (AUC-RLS): losses, systems, spectra, and fits."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rocmax._runtime.threads import checkpoint
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
    """Return eigenvalues of M, ascending, 0 if within its rounding `noise`, and eigenvectors; refuse negative ones."""
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

    def __init__(self, matrix: Any, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        self.matrix, self.weight, self.pairwise = matrix, weight, pairwise  # the kernel matrix, or X
        self.rows: AnyArray = np.arange(len(weight)) if rows is None else rows

    def loss(self, pos: Bool, totals: tuple[float, float] | None = None) -> Loss:
        """Return the loss of a label; `totals` replaces the class weights of AUC-RLS."""
        return Loss.pairs(pos, self.weight, totals) if self.pairwise else Loss.samples(self.weight)


class KernelFeatures(_Weighted):
    """Samples given by their kernel matrix."""

    what = "the kernel matrix"

    def system(self, loss: Loss, labels: Bool) -> tuple[F64, F64, float]:
        """Return F' K F, or X' F F' X, a right-hand side for each column of `labels`, and the matrix's rounding."""
        # Projecting out the shift may leave only rounding.
        noise = len(self.matrix) * _EPS * float(np.max(loss.root**2 * np.abs(np.diag(self.matrix)), initial=0.0))
        return loss.sandwich(self.matrix), loss.right(targets(labels)), noise

    def model(self, loss: Loss, solved: F64) -> F64:
        """Return the coefficients, of samples or features, for the solution of a system."""
        return loss.left(solved)

    def take(self, index: AnyArray) -> "KernelFeatures":
        """Return some of the samples."""
        return KernelFeatures(self.matrix[np.ix_(index, index)], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        """Return K[:, train] coef for each column of `coef`."""
        return np.asarray(self.matrix[:, train] @ coef)

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        """Return the spectrum of F' K F: O(9 N^3) of a kernel, O(d^2 N + d^3) of features."""
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        basis = loss.left(vectors)
        length = np.linalg.norm(basis, axis=0)
        basis[:, (values == 0) & (length <= _NONE * length.max())] = 0.0  # F q: 1 / alpha would amplify its rounding
        return Spectrum(loss, values, basis, self.matrix, False)


class LinearFeatures(_Weighted):
    """Samples with few features: nothing of size N^2 is formed.

    One pass over X (an ndarray, sparse matrix, memmap or dask array) gives the weighted moments for all labels; AUC-RLS
    takes one pass over a class for each label. It subtracts a rough mean first, which L ignores, to avoid cancellation.
    """

    what = "the matrix of features"

    @np.errstate(over="ignore", invalid="ignore")  # the system is refused then
    def __init__(self, X: Any, weight: F64, *, pairwise: bool, rows: AnyArray | None = None) -> None:
        super().__init__(X, weight, pairwise=pairwise, rows=rows)
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
        return LinearFeatures(self.matrix[index], self.weight[index], pairwise=self.pairwise)

    def scores(self, train: AnyArray, coef: F64) -> F64:
        return np.asarray(self.matrix @ (self.matrix[train].T @ coef))

    def spectrum(self, loss: Loss, pos: Bool) -> Spectrum:
        M, _, noise = self.system(loss, pos[:, None])
        values, vectors = eigen(M, noise, self.what)
        rotated = np.asarray(self.matrix @ vectors, dtype=np.float64)
        basis = loss.times(rotated)
        basis[:, values == 0] = 0.0  # rounding, which 1 / alpha would amplify
        if loss.shift is not None and loss.tilt is not None:
            basis = np.column_stack([basis, loss.root * loss.shift, loss.root * loss.tilt])
        return Spectrum(loss, values, basis, rotated, True)

    def _adjoint(self, columns: F64) -> F64:
        """Return X' V in double precision, V of shape (n_samples, k)."""
        X = self.matrix
        if is_dask(X):
            chunks = Chunks.of(X)
            found: F64 = chunks.total(_transposed_product, (columns[rows] for rows in chunks.parts()))
            return found
        rows = [(slice(None), X)] if is_sparse(X) else row_blocks(X)
        return sum((np.asarray(part.T @ columns[some], dtype=np.float64) for some, part in rows), np.zeros(1))


Features = KernelFeatures | LinearFeatures


def _transposed_product(block: AnyArray, columns: F64) -> F64:
    return np.asarray(block.T.astype(np.float64) @ columns)


# alpha / trace below which a Cholesky factor of a singular matrix would lose digits.
_SMALL = 1e-10
# From so many labels on, one spectrum of K is cheaper than one Cholesky factor per label.
_MANY_LABELS = 24


def fit(features: Features, labels: Bool, alphas: F64) -> F64:
    """Return a row for each column of `labels` and its alpha: dual coefficients of a kernel, or feature weights.

    RLS takes one factor for each distinct alpha, of the kernel O(N^3 / 3), of the features O(d^2 N + d^3). AUC-RLS
    takes O(N^3 / 3) per label, or with many labels one spectrum of K in O(9 N^3) and O(N p^2) each, p the size of the
    smaller class; with features, which share a weighted Gram matrix, O(d^2 p + d^3) per label.
    """
    each = np.arange(labels.shape[1])
    if features.pairwise and isinstance(features, KernelFeatures) and len(each) >= _MANY_LABELS and alphas.min() > 0:
        return _fit_labels(features, labels, alphas)
    groups = each[:, None] if features.pairwise else [each[alphas == alpha] for alpha in np.unique(alphas)]
    coefs = []
    for group in groups:
        checkpoint()
        loss = features.loss(labels[:, group[0]])
        solved = _solve(features, *features.system(loss, labels[:, group]), float(alphas[group[0]]))
        coefs.append(features.model(loss, solved).T)
    return np.concatenate(coefs)[np.argsort(np.concatenate(groups))]


def scale(features: Features, pos: Bool) -> float:
    """Return the trace of L K, the unit of alpha; 1 if all samples are equal."""
    M, _, noise = features.system(features.loss(pos), pos[:, None])
    trace = float(np.trace(M))
    return trace if trace > noise else 1.0


def _solve(features: Features, M: F64, rhs: F64, noise: float, alpha: float) -> F64:
    """Return (M + alpha I)^-1 rhs by Cholesky, or by the spectrum for a tiny alpha; alpha = 0: least norm."""
    require_size(M, rhs)
    if alpha > _SMALL * np.trace(M):
        try:
            return _solve_definite(M.copy(), alpha, rhs)
        except LinAlgError:
            pass  # not positive semi-definite: the spectrum shows by how much
    what = features.what + (", up to shifts," if features.pairwise else "")
    values, vectors = eigen(M, noise, what)
    # The null space is dropped: 1 / alpha would amplify its rounding.
    # AUC-RLS leaves the shift of a kernel free.
    kept, full = values > 0, len(M) - int(features.pairwise and isinstance(features, KernelFeatures))
    if alpha == 0 and kept.sum() < full:
        raise ValueError(
            f"alpha=0 is ill-posed here: {what} has rank {kept.sum()} of {full} (constant or collinear "
            f"features, repeated samples, or fewer features than samples in a kernel); use alpha > 0, for "
            f"example alpha={1e-6 * max(float(values[-1]), 1e-300):.2g}"
        )
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ rhs) / (values[kept] + alpha)[:, None]))


def _solve_definite(M: F64, diagonal: F64 | float, rhs: F64) -> F64:
    """Return (M + diag)^-1 rhs; M is overwritten."""
    M.flat[:: len(M) + 1] += diagonal
    return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), rhs))


def _fit_labels(features: KernelFeatures, labels: Bool, alphas: F64) -> F64:
    """Fit all labels of AUC-RLS from one spectrum: L is, up to a diagonal, of the rank of the smaller class.

    In features Z with Z Z' = K and weighted mean 0, a = min(W_+, W_-), b = max(W_+, W_-), and s, P the weighted sum and
    the rows of the lighter class: Z' L Z = a Z' W Z + (b - a) Z_P' W Z_P + 2 s s', a sum of positive terms.
    """
    weight = features.weight
    centred, total = Loss.centred(weight), float(weight.sum())
    root = centred.root
    whole, _, noise = features.system(centred, labels[:, :1])
    values, vectors = eigen(whole, noise, features.what)
    kept = values > 0
    vectors, lengths = vectors[:, kept], np.sqrt(values[kept])
    rows = vectors * lengths
    coefs = np.empty((labels.shape[1], len(weight)))
    for coef, pos, alpha in zip(coefs, labels.T, alphas, strict=True):
        checkpoint()
        loss = features.loss(pos)
        lesser, greater = sorted(loss.totals)
        light, sign = (pos, 1.0) if loss.totals[0] == lesser else (~pos, -1.0)
        diagonal = lesser * lengths**2 + alpha
        of_light = rows[light].T @ root[light]
        extra = np.column_stack([np.sqrt(greater - lesser) * rows[light].T, np.sqrt(2.0) * of_light])
        rhs = 2.0 * sign * total * of_light
        # (diag + extra extra')^-1 rhs, through the smaller side.
        if extra.shape[1] >= len(diagonal):
            w = _solve_definite(extra @ extra.T, diagonal, rhs)
        else:
            scaled = extra / diagonal[:, None]
            w = rhs / diagonal - scaled @ _solve_definite(extra.T @ scaled, 1.0, scaled.T @ rhs)
        # c is L (y - f) / alpha; outside the null space of K, w has more digits than this quotient.
        rest = loss.times(targets(pos) - rows @ w / root) / alpha / root
        coef[:] = centred.left(rest + vectors @ (w / lengths - vectors.T @ rest))
    return coefs


@np.errstate(over="ignore", invalid="ignore")  # the caller refuses what is not finite
def fit_products(
    X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool, tol: float, max_iter: int
) -> tuple[F64, AnyArray, F64]:
    """Solve (X' L X + alpha I) w = X' L y for every column of `labels` and its alpha > 0.

    About sqrt(condition number) log(1 / tol) iterations at most, preconditioned by the diagonal if X is sparse. Returns
    the coefficients (n_labels, n_features), and the iterations and the relative residual of each label.
    """
    system = _System(X, labels, weight, alphas, pairwise=pairwise)
    rhs, everything = system.rhs, np.arange(labels.shape[1])
    norm = np.linalg.norm(rhs, axis=0)
    require_size(norm, system.times(rhs, everything))
    W, R = np.zeros_like(rhs), rhs.copy()
    n_iter = np.zeros(len(everything), dtype=np.int64)
    P = Z = system.inverse_diagonal * R
    rho = np.einsum("ij,ij->j", R, Z)
    active = np.flatnonzero(norm > min(tol, 1.0) * norm)
    for _ in range(max_iter):
        if len(active) == 0:
            break
        direction = P[:, active]
        image = system.times(direction, active)
        step = rho[active] / np.einsum("ij,ij->j", direction, image)
        W[:, active] += step * direction
        R[:, active] -= step * image
        n_iter[active] += 1
        active = active[np.linalg.norm(R[:, active], axis=0) > min(tol, 1.0) * norm[active]]
        Z = system.inverse_diagonal[:, active] * R[:, active]
        new = np.einsum("ij,ij->j", R[:, active], Z)
        P[:, active] = Z + new / rho[active] * P[:, active]
        rho[active] = new
    left = np.linalg.norm(rhs - system.times(W, everything), axis=0)
    return W.T.copy(), n_iter, left / np.where(norm > 0, norm, 1.0)


class _System:
    """The normal equations, divided by W_+ W_- (RLS: by 1) to keep their numbers small.

    L / (W_+ W_-) = diag(u_+ + u_-) - u_+ u_-' - u_- u_+', u_+ and u_- the weights' shares of their class; RLS has only
    the weights, as the diagonal.
    """

    def __init__(self, X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> None:
        self._X, self._Xt, self._ridge = X, X.T, alphas
        self._diagonal = np.broadcast_to(weight[:, None], labels.shape)
        self._shares: list[F64] = []
        if pairwise:
            of_class = [self._diagonal * labels, self._diagonal * ~labels]
            sums = [of.sum(axis=0) for of in of_class]
            self._shares = [of / total for of, total in zip(of_class, sums, strict=True)]
            self._ridge = alphas / (sums[0] * sums[1])
            self._diagonal = self._shares[0] + self._shares[1]
        self.rhs = self._adjoint((2.0 if pairwise else 1.0) * self._diagonal * targets(labels))
        self.inverse_diagonal = np.ones_like(self.rhs)
        if is_sparse(X):
            diagonal = np.asarray(X.multiply(X).T @ self._diagonal)
            if pairwise:
                diagonal -= 2 * self._adjoint(self._shares[0]) * self._adjoint(self._shares[1])
            self.inverse_diagonal = np.asarray(1 / (np.maximum(diagonal, 0) + self._ridge))

    def _adjoint(self, V: F64) -> F64:
        return np.asarray(self._Xt @ V, dtype=np.float64)

    def times(self, W: F64, columns: AnyArray) -> F64:
        """Return the product for some labels."""
        F = np.asarray(self._X @ W, dtype=np.float64)
        V = self._diagonal[:, columns] * F
        shares = [share[:, columns] for share in self._shares]
        for own, other in zip(shares, shares[::-1], strict=True):
            V -= own * np.einsum("ij,ij->j", other, F)
        return self._adjoint(V) + self._ridge[columns] * W
