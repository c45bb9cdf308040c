"""Regularised least squares in closed form, over samples (RLS) and over pairs (AUC-RLS).

Both minimise (f - y)' L (f - y) + alpha |f|^2, y = +-1, with L = F F'. RLS has L = W, the diagonal of the weights w;
AUC-RLS has the Laplacian of the pairs, sum_ij w_i w_j (2 - f_i + f_j)^2:

    L = D - w_+ w_-' - w_- w_+',   D = w_i W_- on positives, w_j W_+ on negatives,

w_+ and w_- being w on one class and 0 on the other, W_+ and W_- their sums. With e = sqrt(D), q = e / |e| and t = +-1,

    F = diag(e) B,   B = (I - q q' - p p')^(-1/2) on the complement of q,   p = (I - q q') (e t) / sqrt(4 W_+ W_-),

so c = F (F' K F + alpha I)^-1 F' y needs one symmetric matrix, is exact on singular kernels, and its spectrum serves
every alpha. (Paper 5, eq. 8 has the unsymmetric (L K + alpha I)^-1 L y.)
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rocmax._typing import F64, Bool
from rocmax.designs import as_design, is_dask, is_stored, moments, some_rows
from rocmax.designs._memmap import row_blocks

# Rows of which the rough mean is taken.
_SOME = 500
_EPS = float(np.finfo(np.float64).eps)
# alpha / trace below which a Cholesky factor would lose digits to the null space of a singular matrix.
_SMALL = 1e-10
# Labels from which one spectrum of K for all of them is cheaper than one Cholesky factor each.
_MANY_LABELS = 24


@dataclass(frozen=True)
class Loss:
    """L = F F' of a quadratic loss, and the coupling of its noise covariance.

    Up to the free shift of AUC-RLS, L is the inverse of S = D^-1 - omega t t' (omega = 0 for RLS); S restricted to a
    subset of the samples is the noise of the model trained on that subset, provided that D was built from the subset's
    class weights. That makes held-out scores a marginalisation (see `rocmax.solvers.least_squares._held_out`).
    """

    root: F64
    shift: F64 | None
    tilt: F64
    omega: float
    totals: tuple[float, float] | None

    @classmethod
    def samples(cls, weight: F64) -> Self:
        """Return the loss of RLS: L = W."""
        return cls(np.sqrt(weight), None, np.zeros(0), 0.0, None)

    @classmethod
    def pairs(cls, pos: Bool, weight: F64, totals: tuple[float, float] | None = None) -> Self:
        """Return the loss of AUC-RLS, with class weights `totals` (W_+, W_-) in place of the samples' own sums."""
        if totals is None:
            totals = float(weight[pos].sum()), float(weight[~pos].sum())
        w_pos, w_neg = totals
        root = np.sqrt(weight * np.where(pos, w_neg, w_pos))
        shift = root / np.linalg.norm(root)
        tilt = root * np.where(pos, 1.0, -1.0) / np.sqrt(4.0 * w_pos * w_neg)
        return cls(root, shift, tilt - shift * (shift @ tilt), 1.0 / (4.0 * w_pos * w_neg), totals)

    @property
    def bend(self) -> float:
        """|p|^2: below 1 wherever S is positive definite. 1/2 without totals."""
        return float(self.tilt @ self.tilt)

    def right(self, M: F64) -> F64:
        """Return F' M."""
        M = self.root.reshape(-1, *(1,) * (M.ndim - 1)) * M
        if self.shift is not None:
            M -= np.multiply.outer(self.shift, self.shift @ M)
            if self.bend > 0:
                stretch = ((1 - self.bend) ** -0.5 - 1) / self.bend
                M += np.multiply.outer(self.tilt * stretch, self.tilt @ M)
        return M

    def left(self, M: F64) -> F64:
        """Return F M."""
        if self.shift is not None:
            along = self.tilt @ M
            M = M - np.multiply.outer(self.shift, self.shift @ M)
            if self.bend > 0:
                stretch = ((1 - self.bend) ** -0.5 - 1) / self.bend
                M += np.multiply.outer(self.tilt * stretch, along)
        return self.root.reshape(-1, *(1,) * (M.ndim - 1)) * M

    def sandwich(self, K: F64) -> F64:
        """Return F' K F, symmetric to the last bit."""
        M = self.right(self.right(K).T)
        M += M.T
        M *= 0.5
        return M


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy sparse matrix."""
    return bool(sp.issparse(X))


def targets(pos: Bool) -> F64:
    """Return y: +1 on positives, -1 on negatives."""
    return np.where(pos, 1.0, -1.0)


def solve_psd(M: F64, alpha: float, rhs: F64, *, noise: float, nullity: int, what: str) -> F64:
    """Return (M + alpha I)^-1 rhs for a positive semi-definite M; M may be overwritten.

    Through Cholesky, or the spectrum where alpha is tiny. With alpha = 0 the least-norm solution, which depends
    continuously on M only while its rank is len(M) - nullity.

    Raises
    ------
    ValueError
        M is not positive semi-definite, or alpha = 0 and M has a lower rank.
    """
    require_size(M, rhs)
    if alpha > _SMALL * np.trace(M):
        try:
            H = M.copy()
            H.flat[:: len(M) + 1] += alpha
            return np.asarray(cho_solve(cho_factor(H, overwrite_a=True, check_finite=False), rhs))
        except LinAlgError:
            pass  # not positive semi-definite: the spectrum says by how much
    values, vectors = np.linalg.eigh(M)
    floor = zero_below(values, noise, what)
    # What lies in the null space up to rounding is dropped: 1 / alpha would only amplify the rounding.
    rank = int((values > floor).sum())
    if alpha == 0 and rank < len(M) - nullity:
        raise ValueError(
            f"alpha=0 is ill-posed here: {what} has rank {rank} of {len(M) - nullity} (constant or collinear "
            f"features, repeated samples, or fewer features than samples in a kernel); use alpha > 0, for "
            f"example alpha={1e-6 * max(float(values[-1]), 1e-300):.2g}"
        )
    scale = np.zeros(len(M))
    scale[len(M) - rank :] = 1 / (values[len(M) - rank :] + alpha)
    return np.asarray(vectors @ (scale.reshape(-1, *(1,) * (rhs.ndim - 1)) * (vectors.T @ rhs)))


def require_size(*products: F64) -> None:
    """Raise unless these products of features, or of a kernel, are finite."""
    if not all(np.isfinite(values).all() for values in products):
        raise ValueError(
            "X is too large, or a weight or the kernel: sums of squares over the samples overflow; scale the features"
        )


def zero_below(values: F64, noise: float, what: str) -> float:
    """Return the size below which eigenvalues (ascending) are zero up to rounding; `noise` is what M was formed with.

    Raises
    ------
    ValueError
        The spectrum reaches below zero by more than that.
    """
    largest = max(float(values[-1]), 0.0)
    if values[0] < -1e-8 * largest - noise:
        raise ValueError(
            f"{what} is not positive semi-definite: its eigenvalues reach from {values[0]:.3g} to {values[-1]:.3g}; "
            "use a positive semi-definite kernel such as 'linear', 'rbf' or 'poly'"
        )
    return max(len(values) * _EPS * largest, noise)


def kernel_noise(K: F64, loss: Loss) -> float:
    """Return the rounding of F' K F: projecting the shift out may cancel everything else."""
    return len(K) * _EPS * float(np.max(loss.root**2 * np.abs(np.diag(K)), initial=0.0))


def fit_kernel(K: F64, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> F64:
    """Return the dual coefficients c, one row for each column of `labels` and its alpha: shape (n_labels, n_samples).

    O(N^3) for RLS, whatever the number of labels. AUC-RLS takes O(N^3 / 3) a label, or one spectrum of K in O(9 N^3)
    and then O(N p^2) a label, p the size of its smaller class, whichever is less.
    """
    if not pairwise:
        loss = Loss.samples(weight)
        rhs = loss.right(targets(labels))
        solved = _solve_each(loss.sandwich(K), alphas, rhs, noise=kernel_noise(K, loss), what="the kernel matrix")
        return np.ascontiguousarray(loss.left(solved).T)
    if labels.shape[1] >= _MANY_LABELS and alphas.min() > 0:
        return _fit_labels(K, labels, weight, alphas)
    each = zip(labels.T, alphas, strict=True)
    return np.array([_fit_kernel_pairs(K, pos, weight, alpha) for pos, alpha in each])


def _solve_each(M: F64, alphas: F64, rhs: F64, *, noise: float, what: str) -> F64:
    """Return (M + alpha I)^-1 rhs for each column of rhs and its alpha; one factor for each distinct alpha."""
    solved = np.empty_like(rhs)
    for alpha in np.unique(alphas):
        columns = alphas == alpha
        solved[:, columns] = solve_psd(M, float(alpha), rhs[:, columns], noise=noise, nullity=0, what=what)
    return solved


def _fit_kernel_pairs(K: F64, pos: Bool, weight: F64, alpha: float) -> F64:
    loss = Loss.pairs(pos, weight)
    what = "the kernel matrix, up to shifts,"
    M, rhs = loss.sandwich(K), loss.right(targets(pos))
    return loss.left(solve_psd(M, alpha, rhs, noise=kernel_noise(K, loss), nullity=1, what=what))


def _fit_labels(K: F64, labels: Bool, weight: F64, alphas: F64) -> F64:
    """All labels from one spectrum: L of a label is, up to a diagonal, of the rank of its smaller class.

    In features Z with Z Z' = K and weighted mean 0, a = min(W_+, W_-), b = max(W_+, W_-), and s, P the weighted sum
    and the rows of the lighter class:  Z' L Z = a Z' W Z + (b - a) Z_P' W Z_P + 2 s s',  a sum of positive terms.
    """
    root, total = np.sqrt(weight), float(weight.sum())
    mean = weight @ K / total
    centred = K - mean - mean[:, None] + weight @ mean / total
    whole = root[:, None] * centred * root
    require_size(whole)
    values, vectors = np.linalg.eigh(whole)
    noise = kernel_noise(K, Loss.samples(weight))
    keep = values > zero_below(values, noise, "the kernel matrix")
    values, rows = values[keep], vectors[:, keep] * np.sqrt(values[keep])
    coefs = np.empty((labels.shape[1], len(weight)))
    for coef, pos, alpha in zip(coefs, labels.T, alphas, strict=True):
        w_pos, w_neg = float(weight[pos].sum()), float(weight[~pos].sum())
        light, sign = (pos, 1.0) if w_pos <= w_neg else (~pos, -1.0)
        low, high = min(w_pos, w_neg), max(w_pos, w_neg)
        diagonal = low * values + alpha
        total_light = rows[light].T @ root[light]
        extra = np.column_stack([np.sqrt(high - low) * rows[light].T, np.sqrt(2.0) * total_light])
        w = _solve_diagonal_plus(diagonal, extra, 2.0 * sign * total * total_light)
        residual = targets(pos) - rows @ w / root
        coef[:] = laplacian(residual, pos, weight) / alpha
    return coefs


def _solve_diagonal_plus(diagonal: F64, extra: F64, rhs: F64) -> F64:
    """Return (diag + extra extra')^-1 rhs through the smaller of the two sides."""
    if extra.shape[1] >= len(diagonal):
        H = extra @ extra.T
        H.flat[:: len(H) + 1] += diagonal
        return np.asarray(cho_solve(cho_factor(H, overwrite_a=True), rhs))
    scaled = extra / diagonal[:, None]
    H = extra.T @ scaled
    H.flat[:: len(H) + 1] += 1.0
    inner = cho_solve(cho_factor(H, overwrite_a=True), scaled.T @ rhs)
    return np.asarray(rhs / diagonal - scaled @ inner)


def laplacian(v: F64, pos: Bool, weight: F64) -> F64:
    """Return L v of AUC-RLS in O(N)."""
    one = pos.astype(np.float64)
    (w_pos, sum_pos), (w_all, sum_all) = ((u @ weight, (u * weight) @ v) for u in (one, np.ones_like(one)))
    other_weight = w_pos + (w_all - 2 * w_pos) * one
    other_sum = sum_pos + (sum_all - 2 * sum_pos) * one
    return np.asarray(weight * (other_weight * v - other_sum))


def fit_linear(X: Any, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> F64:
    """Return the feature weights w, one row for each column of `labels` and its alpha: shape (n_labels, n_features).

    O(d^2 N + d^3) for RLS, whatever the number of labels; AUC-RLS adds O(d^2 p + d^3) a label, p the size of its
    smaller class: the labels share one weighted Gram matrix.
    """
    what = "the matrix of features"
    system = Moments(X, weight, centred=pairwise)
    if not pairwise:
        signed = weight[:, None] * targets(labels)
        rhs = _adjoint(X, signed)
        return np.ascontiguousarray(_solve_each(system.gram, alphas, rhs, noise=0.0, what=what).T)
    what += ", up to shifts,"
    coefs = np.empty((labels.shape[1], X.shape[1]))
    for coef, pos, alpha in zip(coefs, labels.T, alphas, strict=True):
        H, rhs = system.of_pairs(pos)
        coef[:] = solve_psd(H, float(alpha), rhs, noise=system.noise(pos), nullity=0, what=what)
    return coefs


def _adjoint(X: Any, columns: F64) -> F64:
    """Return X' V in double precision whatever X has, V of shape (n_samples, k)."""
    if is_dask(X):
        return np.asarray(X.rechunk({1: -1}).astype(np.float64).T.dot(columns).compute())
    rows = row_blocks(X) if is_stored(X) else [(slice(None), X)]
    return sum((np.asarray(part.T @ columns[some], dtype=np.float64) for some, part in rows), np.zeros(1))


class Moments:
    """Weighted moments of the features, made in one pass over X and shared by all labels; each takes one over a class.

    Parameters
    ----------
    X : ndarray, sparse matrix, memmap or dask array of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
    centred : bool
        Whether a rough mean may be taken off the features first, so that nothing below cancels; L does not see it.
    """

    def __init__(self, X: Any, weight: F64, *, centred: bool) -> None:
        self._design, self._weight = as_design(X), weight
        self._shift = rough_mean(X) if centred else np.zeros(X.shape[1])
        self.gram, self._sum = moments(self._design, weight, self._shift)

    def of_pairs(self, pos: Bool, totals: tuple[float, float] | None = None) -> tuple[F64, F64]:
        """Return X' F F' X and 2 X' D t of ``Loss.pairs(pos, weight, totals)``; without totals X' L X and X' L y.

        Through the rows of the class of the smaller weight in D only, and with positive terms only: about the middle of
        the class means, L is D plus a multiple of the square of their difference.
        """
        own = float(self._weight[pos].sum()), float(self._weight[~pos].sum())
        w_pos, w_neg = totals or own
        # D = w W_- on positives: the class of the larger D has its rows added to a multiple of the Gram matrix of all.
        more = pos if w_neg >= w_pos else ~pos
        extra, sum_more = moments(self._design, self._weight * more, self._shift)
        s_pos, s_neg = (sum_more, self._sum - sum_more) if w_neg >= w_pos else (self._sum - sum_more, sum_more)
        H = min(w_pos, w_neg) * self.gram
        H += abs(w_neg - w_pos) * extra
        # Along q and along p of F.
        total = own[0] * w_neg + own[1] * w_pos
        along = (w_neg * s_pos + w_pos * s_neg) / np.sqrt(total)
        across = w_neg * s_pos - w_pos * s_neg
        skew = (own[0] * w_neg - own[1] * w_pos) / np.sqrt(total)
        omega = 1.0 / (4.0 * w_pos * w_neg)
        tilted = np.sqrt(omega) * (across - skew * along)
        bend = omega * (total - skew**2)
        H -= np.outer(along, along)
        H += np.outer(tilted, tilted) / (1 - bend)
        return H, 2 * across

    def noise(self, pos: Bool, totals: tuple[float, float] | None = None) -> float:
        """Return the rounding of X' F F' X that is left where features hardly differ from their mean."""
        w_pos, w_neg = totals or (float(self._weight[pos].sum()), float(self._weight[~pos].sum()))
        total = float(self._weight[pos].sum()) * w_neg + float(self._weight[~pos].sum()) * w_pos
        return len(self._shift) * total * (4 * _EPS * float(np.abs(self._shift).max(initial=0.0))) ** 2


def rough_mean(X: Any) -> F64:
    """Return the mean of some rows where it is large beside their spread, else 0, as for sparse X."""
    if is_sparse(X):
        return np.zeros(X.shape[1])
    some = some_rows(X, _SOME) if is_stored(X) else X[:: max(1, len(X) // _SOME)]
    some = np.asarray(some, dtype=np.float64)
    mean = some.mean(axis=0)
    return np.where(np.abs(mean) > 2 * some.std(axis=0), mean, 0.0)
