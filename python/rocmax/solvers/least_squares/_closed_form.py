"""Regularised least squares in closed form: one symmetric system a label, of the features or of the kernel."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from rocmax._typing import F64, Bool
from rocmax.solvers.least_squares._features import Features, KernelFeatures, kernel_noise, require_size, zero_below
from rocmax.solvers.least_squares._loss import Loss, laplacian, targets

# alpha / trace below which a Cholesky factor would lose digits to the null space of a singular matrix.
_SMALL = 1e-10
# Labels from which one spectrum of K for all of them is cheaper than one Cholesky factor each.
_MANY_LABELS = 24


def fit(features: Features, labels: Bool, weight: F64, alphas: F64, *, pairwise: bool) -> F64:
    """Return a row for each column of `labels` and its alpha: dual coefficients from a kernel, else feature weights.

    RLS takes one factor for each distinct alpha, of the kernel O(N^3 / 3), of the features O(d^2 N + d^3). AUC-RLS
    takes O(N^3 / 3) a label, or one spectrum of K in O(9 N^3) and then O(N p^2) a label, p the size of its smaller
    class, where labels are many; of features, which share a weighted Gram matrix, O(d^2 p + d^3) a label.
    """
    if pairwise and isinstance(features, KernelFeatures) and labels.shape[1] >= _MANY_LABELS and alphas.min() > 0:
        return _fit_labels(features.K, labels, weight, alphas)
    each = np.arange(labels.shape[1])
    groups = each[:, None] if pairwise else [each[alphas == alpha] for alpha in np.unique(alphas)]
    coefs = []
    for group in groups:
        loss = Loss.pairs(labels[:, group[0]], weight) if pairwise else Loss.samples(weight)
        M, rhs, noise = features.system(loss, labels[:, group])
        nullity, what = (features.nullity, f"{features.what}, up to shifts,") if pairwise else (0, features.what)
        solved = _solve_psd(M, float(alphas[group[0]]), rhs, noise=noise, nullity=nullity, what=what)
        coefs.append(features.model(loss, solved).T)
    return np.concatenate(coefs)[np.argsort(np.concatenate(groups))]


def _solve_psd(M: F64, alpha: float, rhs: F64, *, noise: float, nullity: int, what: str) -> F64:
    """Return (M + alpha I)^-1 rhs for a positive semi-definite M.

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
            return _solve_definite(M.copy(), alpha, rhs)
        except LinAlgError:
            pass  # not positive semi-definite: the spectrum says by how much
    values, vectors = np.linalg.eigh(M)
    # What lies in the null space up to rounding is dropped: 1 / alpha would only amplify the rounding.
    kept = values > zero_below(values, noise, what)
    if alpha == 0 and kept.sum() < len(M) - nullity:
        raise ValueError(
            f"alpha=0 is ill-posed here: {what} has rank {kept.sum()} of {len(M) - nullity} (constant or collinear "
            f"features, repeated samples, or fewer features than samples in a kernel); use alpha > 0, for "
            f"example alpha={1e-6 * max(float(values[-1]), 1e-300):.2g}"
        )
    return np.asarray(vectors[:, kept] @ ((vectors[:, kept].T @ rhs) / (values[kept] + alpha)[:, None]))


def _solve_definite(M: F64, diagonal: F64 | float, rhs: F64) -> F64:
    """Return (M + diag)^-1 rhs; M is overwritten."""
    M.flat[:: len(M) + 1] += diagonal
    return np.asarray(cho_solve(cho_factor(M, overwrite_a=True, check_finite=False), rhs))


def _fit_labels(K: F64, labels: Bool, weight: F64, alphas: F64) -> F64:
    """All labels of AUC-RLS from one spectrum: L is, up to a diagonal, of the rank of the smaller class.

    In features Z with Z Z' = K and weighted mean 0, a = min(W_+, W_-), b = max(W_+, W_-), and s, P the weighted sum
    and the rows of the lighter class:  Z' L Z = a Z' W Z + (b - a) Z_P' W Z_P + 2 s s',  a sum of positive terms.
    """
    root, total = np.sqrt(weight), float(weight.sum())
    mean = weight @ K / total
    whole = root[:, None] * (K - mean - mean[:, None] + weight @ mean / total) * root
    require_size(whole)
    values, vectors = np.linalg.eigh(whole)
    keep = values > zero_below(values, kernel_noise(K, Loss.samples(weight)), KernelFeatures.what)
    values, rows = values[keep], vectors[:, keep] * np.sqrt(values[keep])
    coefs = np.empty((labels.shape[1], len(weight)))
    for coef, pos, alpha in zip(coefs, labels.T, alphas, strict=True):
        w_pos, w_neg = float(weight[pos].sum()), float(weight[~pos].sum())
        light, sign = (pos, 1.0) if w_pos <= w_neg else (~pos, -1.0)
        diagonal = min(w_pos, w_neg) * values + alpha
        of_light = rows[light].T @ root[light]
        extra = np.column_stack([np.sqrt(abs(w_neg - w_pos)) * rows[light].T, np.sqrt(2.0) * of_light])
        rhs = 2.0 * sign * total * of_light
        # (diag + extra extra')^-1 rhs, through the smaller of the two sides.
        if extra.shape[1] >= len(diagonal):
            w = _solve_definite(extra @ extra.T, diagonal, rhs)
        else:
            scaled = extra / diagonal[:, None]
            w = rhs / diagonal - scaled @ _solve_definite(extra.T @ scaled, 1.0, scaled.T @ rhs)
        coef[:] = laplacian(targets(pos) - rows @ w / root, pos, weight) / alpha
    return coefs
