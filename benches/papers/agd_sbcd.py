"""AGD-SBCD: approximate gradient descent on the smoothed partial AUC, by stochastic block coordinate descent."""

from typing import Self

import numpy as np


class AGDSBCD:
    """Linear machine after Yao, Lin and Yang (NeurIPS 2022), for any range of false positive rates (low, high).

    Minimises 1/2 |w|^2 + C R(w), R the mean over the positives of the hinge losses of their pairs with the negatives
    ranked floor(n low) + 1 to ceil(n high): as the difference of f(k, w) for the two ranks k, where

        f(k, w) = mean_i min_l (k l + sum_j (loss_ij(w) - l)_+) / (k_high - k_low)

    sums the k largest losses of each positive. Each f is replaced by its Moreau envelope of width mu; the gradient of
    their difference is that of two proximal points over mu, and these are found roughly: `inner` steps on samples of
    positives and negatives, in w and in the l of the sampled positives, kept from one outer step to the next. Of the
    outer steps' w the last half is averaged.

    The step sizes are fixed here for standardised features, the same on all data; the paper tuned its own.
    """

    def __init__(self, fpr_range: tuple[float, float], C: float, mu: float = 0.02, outer: int = 100, inner: int = 30):
        self.fpr_range, self.C, self.mu, self.outer, self.inner = fpr_range, C, mu, outer, inner

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        rng, P, N = np.random.default_rng(0), X[y == 1], X[y == 0]
        n = len(N)
        ranks = int(np.floor(n * self.fpr_range[0])), int(np.ceil(n * self.fpr_range[1]))
        w, total, levels = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.ones((2, len(P)))
        kinds = [at for at, rank in enumerate(ranks) if rank > 0]
        for step in range(self.outer):
            near = np.tile(w, (2, 1))
            for t in range(self.inner):
                own, others = rng.integers(len(P), size=50), rng.integers(n, size=500)
                for at in kinds:
                    self._move(near[at], w, levels[at], own, P[own], N[others], ranks[at] / n, np.diff(ranks)[0] / n, t)
            # The proximal point of w's own term is w itself, less its shrinkage.
            w = (w + near[1] - near[0]) / (1 + self.mu / self.C)
            total += w * (step >= self.outer // 2)
        self.coef_ = total / (self.outer - self.outer // 2)
        return self

    def _move(
        self,
        v: np.ndarray,
        w: np.ndarray,
        level: np.ndarray,
        own: np.ndarray,
        P: np.ndarray,
        N: np.ndarray,
        share: float,
        width: float,
        t: int,
    ) -> None:
        """One step towards the proximal point v of w, and of the levels of the sampled positives."""
        margin = 1 - (P @ v)[:, None] + (N @ v)[None, :]
        above = np.maximum(margin, 0.0) > level[own][:, None]
        counted = (above & (margin > 0)) / (width * above.size)
        gradient = counted.sum(axis=0) @ N - counted.sum(axis=1) @ P
        v -= self.mu / (t + 2) * (gradient + (v - w) / self.mu)
        level[own] = np.maximum(level[own] + 2.0 * (above.mean(axis=1) - share), 0.0)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X @ self.coef_)
