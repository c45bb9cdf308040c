"""TauFPL: positives against the mean of the highest negatives."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._parameters import as_float, check_count, check_positive, shown
from rocmax._typing import F64, Bool
from rocmax.designs import as_design, linear_scores
from rocmax.estimators._base import Data, warn_unconverged
from rocmax.estimators._thresholds import Threshold
from rocmax.papers._columns import PaperRanker
from rocmax.risks import Evaluation
from rocmax.risks._base import OwnOracle
from rocmax.solvers import Objective, leave_zero, minimise_convex


@dataclass(eq=False, repr=False)
class TauFPL(PaperRanker):
    """Linear machine that ranks positives above the mean of the highest share tau of the negatives.

    >>> from rocmax.papers import TauFPL
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, random_state=0)
    >>> bool(TauFPL(0.1).fit(X, y).dual_gap_ <= 1e-3)
    True

    Parameters
    ----------
    tau : float, default=0.1
        The share of the negatives, in (0, 1].
    C : float, default=1.0
        Weight of the MEAN loss of the positives; 1 / C is lambda in the paper.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        w.
    objective_ : float
        ``1/2 |w|^2 + C R(Xw)``.
    dual_gap_ : float
    n_iter_ : int

    Warns
    -----
    ConvergenceWarning

    Notes
    -----
    Minimises ``1/2 |w|^2 + C R(Xw)``, with the convex risk

        R(s) = 1/m sum_i (1 - s_i + tbar)_+^2,   tbar = the mean of the j highest scores of negatives, j = ceil(n tau),

    by cutting planes, to a certified gap. If the zero model is within `tol` of optimal, it is replaced by a short model
    that ranks.

    It replaces the asymmetric support vector machine of Wu, Lin, Chen and Chen (KDD 2008), with which the paper on
    partial AUC compares without restating its formulation. `threshold` replaces the bootstrap threshold of the
    reference. Ties: of equal scores at rank j any may count; tbar is the same. Weights: both means are weighted, and
    the last of the highest negatives counts in part. Cost per step: one product with X and one with its transpose.

    References
    ----------
    A. Zhang, N. Li, J. Pu, J. Wang, J. Yan and H. Zha, "tau-FPL: tolerance-constrained learning in linear time", AAAI,
    2018. :doi:`10.1609/aaai.v32i1.11789`
    """

    tau: float = 0.1
    _: KW_ONLY
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 2000
    threshold: Threshold = "auto"

    def _checked(self) -> tuple[Any, ...]:
        tau = as_float(self.tau)
        if not 1e-100 < tau <= 1.0:
            raise ValueError(f"tau must be a number above 0 and at most 1, got {shown(self.tau)}")
        C, tol = check_positive("C", self.C), check_positive("tol", self.tol)
        return tau, C, tol, check_count("max_iter", self.max_iter)

    def _learn(self, data: Data, tau: float, C: float, tol: float, max_iter: int) -> None:
        X, positive, weight = data
        problem = _core.Problem(positive, weight)
        _, top = problem.ranks(0.0, tau)
        risk = TopMean(positive, np.ones(len(positive)) if weight is None else weight, top)
        with np.errstate(over="ignore", invalid="ignore"):  # the risk reports overflow
            design = as_design(X)
            result = minimise_convex(risk, design, C, tol=tol, max_iter=max_iter)
            result = leave_zero(result, Objective(risk, design, C), problem, tol)
        self.coef_ = result.model.vector[None].copy()
        self.objective_, self.dual_gap_, self.n_iter_ = result.objective, result.gap, result.n_iter
        warn_unconverged(self, tol)

    def _scores(self, X: Any) -> F64:
        return linear_scores(X, self.coef_)[:, 0]


class TopMean(OwnOracle):
    """R(s) = 1/m sum_i (1 - s_i + tbar)_+^2, with tbar the mean of the highest negatives of total weight `top`."""

    def __init__(self, positive: Bool, weight: F64, top: float) -> None:
        self._pos, self._neg = np.flatnonzero(positive & (weight > 0)), np.flatnonzero(~positive & (weight > 0))
        self._share = weight[self._pos] / weight[self._pos].sum()
        self._weight, self._top = weight[self._neg], top

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk in O(N log N); ``partial_auc`` is the share of correct pairs with the highest negatives."""
        s, t = scores[self._pos], scores[self._neg]
        order = np.argsort(-t, kind="stable")
        before = np.cumsum(self._weight[order]) - self._weight[order]
        counted = np.clip(self._top - before, 0.0, self._weight[order]) / self._top
        order, counted = order[counted > 0], counted[counted > 0]
        slack = np.maximum(1.0 - s + counted @ t[order], 0.0)
        coef = np.zeros(len(scores))
        coef[self._pos] = -2.0 * self._share * slack
        coef[self._neg[order]] = 2.0 * (self._share @ slack) * counted
        value = float(self._share @ slack**2)
        if not np.isfinite(value):
            raise ValueError("X is too large for its products with a model: scale the features")
        ascending = t[order][::-1]
        below = np.append(0.0, np.cumsum(counted[::-1]))[np.searchsorted(ascending, s, side="left")]
        # coef . s = 2 sum share slack (slack - 1), so that the rest needs no scores.
        offset = float(self._share @ (slack * (2.0 - slack)))
        return Evaluation(value, coef, float(self._share @ below), offset)
