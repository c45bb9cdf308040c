"""Probabilities of scores."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rocmax._typing import F64, Bool


def sigmoid(scores: F64, positive: Bool, weight: F64 | None = None) -> tuple[float, float]:
    """Return (slope, offset) of the logistic curve ``1 / (1 + exp(-(slope s + offset)))`` of the least log loss.

    Targets are (n_pos + 1) / (n_pos + 2) for positives and 1 / (n_neg + 2) for negatives, which keeps the curve from
    becoming a step where the classes separate; the slope is at least 0. O(n) a step, a few dozen of them.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Scores of rows that the model has not seen.
    positive : ndarray of shape (n_samples,)
        Which of them are positive.
    weight : ndarray of shape (n_samples,), default=None
        Their weights.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.
    """
    weight = np.ones(len(scores)) if weight is None else weight * (len(weight) / weight.sum())
    center, scale = float(scores.mean()), float(scores.std()) or 1.0
    x = (scores - center) / scale
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))

    def loss(at: F64) -> tuple[float, F64]:
        z = at[0] * x + at[1]
        excess = weight * (expit(z) - target)
        value = float(np.sum(weight * (np.logaddexp(0.0, z) - target * z)))
        return value, np.array([excess @ x, excess.sum()])

    start = np.array([1.0, np.log((n_pos + 1.0) / (n_neg + 1.0))])
    slope, offset = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)]).x
    return float(slope / scale), float(offset - slope * center / scale)
