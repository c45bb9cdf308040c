"""Naive twins of the least-squares rankers: every pair a row of one problem, every held-out set retrained."""

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel


def sample(n=23, d=4, seed=0, share=0.4):
    """Return features and labels, at least two of each class."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:4] = [0, 1, 0, 1]
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def features(X, kernel="linear", gamma=None):
    """Explicit features whose inner products are the kernel's."""
    X = np.asarray(X, dtype=np.float64)
    if kernel == "linear":
        return X
    K = rbf_kernel(X, gamma=gamma) if kernel == "rbf" else polynomial_kernel(X, gamma=gamma, coef0=1.0)
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def fit(phi, y, alpha, w=None, *, pairwise=True):
    """The least-norm minimiser, by a QR-based solve of the stacked rows."""
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if pairwise:
        i, j = (index.ravel() for index in np.meshgrid(np.flatnonzero(y == 1), np.flatnonzero(y == 0), indexing="ij"))
        root = np.sqrt(w[i] * w[j])
        rows, rhs = root[:, None] * (phi[i] - phi[j]), 2.0 * root
    else:
        root = np.sqrt(w)
        rows, rhs = root[:, None] * phi, root * np.where(y == 1, 1.0, -1.0)
    d = phi.shape[1]
    rows, rhs = np.vstack([rows, np.sqrt(alpha) * np.eye(d)]), np.append(rhs, np.zeros(d))
    return np.linalg.lstsq(rows, rhs, rcond=1e-12)[0]


def held_out(phi, y, alpha, held, w=None, *, pairwise=True, centred=False):
    """Scores of the samples `held` by the model of the others."""
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    rest = np.setdiff1d(np.arange(len(y)), held)
    coef = fit(phi[rest], y[rest], alpha, w[rest], pairwise=pairwise)
    scores = phi[np.asarray(held)] @ coef
    if centred and pairwise:
        means = [np.average(phi[rest][y[rest] == k] @ coef, weights=w[rest][y[rest] == k]) for k in (0, 1)]
        scores = scores - sum(means) / 2
    return scores


def pairs(y):
    return [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]
