"""Rankers of tables: level, threshold and calibrated probabilities from held-out scores."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from rocmax._checks.training import check_features_for_trees, check_labels
from rocmax._typing import F64, AnyArray, Bool
from rocmax.estimators._base import Data, Ranker

# Scores whose range is a smaller share of the greatest are equal but for rounding.
_EQUAL = 1e-12
# Weights keep so many bits, as in the libraries of trees, which hold them in single precision. So weights that differ
# by a factor give the same models, not models that rounding has sent different ways.
_BITS = 24


class CalibratedRanker(Ranker):
    """A ranker of tables with missing values and categories, with ``predict_proba``."""

    _by_scale, _takes_missing = False, True
    calibration_: tuple[float, float]

    def predict_proba(self, X: Any) -> F64:
        """Return calibrated probabilities of the two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, as for ``decision_function``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            A logistic curve of the score, fitted to samples that the model was not trained on; see
            ``calibration_``. ``predict`` uses ``threshold_``, not these probabilities.
        """
        check_is_fitted(self)
        slope, offset = self.calibration_
        positive = expit(slope * self.decision_function(X) + offset)
        return np.column_stack([1.0 - positive, positive])

    def _checked_features(self, X: Any) -> Any:
        return check_features_for_trees(self, X, reset=False)

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        X = check_features_for_trees(self, X, reset=True)
        return X, check_labels(y, X)

    def _validated(self, X: Any, y: Any, sample_weight: Any = None) -> Data:
        data = super()._validated(X, y, sample_weight)
        return data if data.weight is None else data._replace(weight=relative(data.weight))

    def _calibrate(self, held_out: F64, data: Data, training: Data | None = None) -> None:
        """Set threshold and calibration by scores of held-out rows; a number of alerts is for all `training` rows."""
        _, positive, weight = data
        self.intercept_ = np.array([sigmoid(held_out, positive, weight, slope=1.0)[1]])
        scores = held_out + self.intercept_
        total = None if training is None else float(np.count_nonzero(training.counted))
        self.threshold_ = self._chosen(data._replace(X=scores), total=total)
        self.calibration_ = sigmoid(scores, positive, weight)


def relative(weight: F64) -> F64 | None:
    """Return weights of mean 1 above 0, None if all are 1: libraries compare sums with fixed numbers."""
    weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))  # exact; sums do not overflow
    found = weight / weight[weight > 0].mean()
    if np.ptp(found[found > 0]) <= _EQUAL:
        found = np.where(found > 0, 1.0, 0.0)
    mantissa, exponent = np.frexp(found)
    found = np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return None if np.all(found == 1.0) else found


def sigmoid(scores: F64, positive: Bool, weight: F64 | None = None, slope: float | None = None) -> tuple[float, float]:
    """Return (slope, offset) of the logistic curve ``1 / (1 + exp(-(slope s + offset)))`` with the least log loss.

    Targets are (n_pos + 1) / (n_pos + 2) for positives and 1 / (n_neg + 2) for negatives, so that separable classes do
    not give a step; the slope is at least 0 (Platt, 1999), or is given. O(n) per step, a few dozen steps.
    """
    weight = np.ones(len(scores)) if weight is None else weight * (len(weight) / weight.sum())
    center, scale = float(scores.mean()), float(scores.std())
    if np.ptp(scores) <= _EQUAL * np.abs(scores).max():  # all equal: the slope stays 1
        scale = 1.0
    x = (scores - center) / scale
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))

    def loss(at: F64) -> tuple[float, F64]:
        z = at[0] * x + at[1]
        excess = weight * (expit(z) - target)
        value = float(np.sum(weight * (np.logaddexp(0.0, z) - target * z)))
        return value, np.array([excess @ x, excess.sum()])

    limits = (0.0, None) if slope is None else (slope * scale, slope * scale)
    start = np.array([limits[1] or 1.0, np.log((n_pos + 1.0) / (n_neg + 1.0))])
    slope, offset = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[limits, (None, None)]).x
    return float(slope / scale), float(offset - slope * center / scale)
