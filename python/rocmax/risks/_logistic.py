"""The logistic loss as a function of the scores alone: the intercept is minimised out."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from rocmax import _core
from rocmax._typing import F64
from rocmax.risks._base import Evaluation, Oracle, OwnOracle

# The tolerance of the gradient along the intercept, relative to the size of its terms.
_INTERCEPT_TOL = 1e-12
_LEAST = float(np.finfo(np.float64).tiny)
_MAX_STEPS = 200


@dataclass(frozen=True)
class Logistic:
    """Log loss, R(s) = min_b sum_i w_i log(1 + exp(-y_i (s_i + b))) / sum_i w_i; the partial AUC is of `fpr_range`."""

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle:
        return _LogisticOracle(_core.Oracle.tight(problem, *self.fpr_range), n_threads)


class _LogisticOracle(OwnOracle):
    """All values are sums of terms of one sign, so that a risk next to 0 keeps its digits."""

    def __init__(self, core: _core.Oracle, n_threads: int) -> None:
        super().__init__(core, n_threads)
        positive, weight = self.labels, self.sample_weight
        self._sign = np.where(positive, 1.0, -1.0)
        self._share = np.full(len(positive), 1.0 / len(positive)) if weight is None else weight / weight.sum()
        self._inverse = np.divide(1.0, self._share, out=np.zeros(len(positive)), where=self._share > 0)
        self._level = float(logit((self._share * positive).sum()))

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N) a step of Newton's method for the intercept, and the partial AUC."""
        partial_auc = super().__call__(scores).partial_auc
        shifted = scores + self._intercept(scores)
        value = float((self._share * np.logaddexp(0.0, -self._sign * shifted)).sum())
        coef = self._slopes(shifted)
        missed = np.abs(coef)
        coef -= missed * (coef.sum() / max(missed.sum(), _LEAST))  # zero up to the accuracy of the intercept
        return Evaluation(value, coef, partial_auc, value - float((coef * shifted).sum()))

    def stiffness(self, found: Evaluation) -> F64:
        """Return w_i p_i (1 - p_i) / sum_i w_i, p the probabilities; O(N)."""
        missed = np.abs(found.coef)  # w_i / sum_i w_i times the probability of the other class
        return np.asarray(np.maximum(missed * (1.0 - missed * self._inverse), 0.0))

    def _slopes(self, shifted: F64) -> F64:
        """Return the derivative of each sample's loss: minus its sign times the probability of the other class."""
        return np.asarray(-self._sign * self._share * expit(-self._sign * shifted))

    def _intercept(self, scores: F64) -> float:
        """Return the b at which the slopes sum to 0, by Newton's method with bisection."""
        low, high = self._level - float(scores.max()), self._level - float(scores.min())
        b = self._level - float((self._share * scores).sum())
        for _ in range(_MAX_STEPS):
            slopes = self._slopes(scores + b)
            missed, excess = np.abs(slopes), float(slopes.sum())
            if abs(excess) <= _INTERCEPT_TOL * missed.sum() or high - low <= _INTERCEPT_TOL * (abs(low) + abs(high)):
                break
            low, high = (low, b) if excess > 0 else (b, high)
            slope = float((missed * (1.0 - missed * self._inverse)).sum())
            newton = b - excess / slope if slope > 0 else np.inf
            b = newton if low < newton < high else 0.5 * (low + high)
        return b
