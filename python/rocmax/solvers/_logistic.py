"""Logistic regression, roughly, on data of any size."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from rocmax._typing import F64, Bool
from rocmax.designs import Design

_MOST_STEPS = 100
# Of the gradient at zero, which is small where features are sparse, no more than this share may be left.
_LEFT = 0.1


def logistic_regression(design: Design, positive: Bool, weight: F64 | None, C: float, tol: float) -> F64:
    """Return about the w of min over w, b of 1/2 |w|^2 + C sum_i w_i log(1 + exp(-y_i (s_i + b))), s = Xw.

    By L-BFGS, until no entry of the gradient of the mean loss is above `tol`, or a tenth of the largest at w = 0 if
    that is less, or for 100 steps: what is left to gain is not said. scikit-learn's would warn of the latter, which
    only filters of the whole process could silence.
    """
    total = float(len(positive) if weight is None else weight.sum())
    share = np.full(len(positive), 1.0 / total) if weight is None else weight / total
    y = positive.astype(np.float64)
    ridge = 1.0 / (C * total)

    def loss(point: Any) -> tuple[float, Any]:
        w, shifted = point[:-1], design.scores(point[:-1])
        shifted += point[-1]
        value = float(share @ np.logaddexp(0.0, shifted)) - float((share * y) @ shifted)
        shifted = expit(shifted, out=shifted)
        shifted -= y
        shifted *= share
        gradient = np.append(design.adjoint([shifted])[0] + ridge * w, shifted.sum())
        return value + 0.5 * ridge * float(w @ w), gradient

    start = np.zeros(design.dim + 1)
    start[-1] = logit(float(share @ y))
    with np.errstate(over="ignore", invalid="ignore"):  # of features too large, which the solvers refuse
        steepest = float(np.abs(loss(start)[1]).max())
        gtol = min(tol, _LEFT * steepest)
        stop: Any = {"maxiter": _MOST_STEPS, "maxls": 50, "gtol": gtol, "ftol": 64 * np.finfo(float).eps}
        found = minimize(loss, start, method="L-BFGS-B", jac=True, options=stop)
    return np.asarray(found.x[:-1], dtype=np.float64)
