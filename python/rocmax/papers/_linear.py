"""GreedyPAUC, features added one by one; TauFPL, positives against the mean of the highest negatives."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import as_float, check_count, check_positive, shown
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.designs import as_design, linear_scores
from rocmax.estimators._base import Data, warn_unconverged
from rocmax.estimators._thresholds import Threshold
from rocmax.metrics import partial_auc_score
from rocmax.papers._columns import PaperRanker, column, columns_of, in_memory
from rocmax.risks import Evaluation
from rocmax.risks._base import OwnOracle
from rocmax.solvers import Objective, leave_zero, minimise_convex

# Partial areas that differ by no more are equal, so that rounding does not choose.
_TIE = 1e-12
# The largest number of steps of the grid.
_MOST = 1_000_000
# The number of score columns that are measured at once.
_AT_ONCE = 8


@dataclass(eq=False, repr=False)
class GreedyPAUC(PaperRanker):
    """A linear combination of features, found one feature at a time by the partial AUC of the training samples.

    >>> from rocmax.papers import GreedyPAUC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, 6, random_state=0)
    >>> model = GreedyPAUC((0.0, 0.2)).fit(X, y)
    >>> bool((model.partial_auc_[1:] >= model.partial_auc_[:-1] - 1e-9).all())
    True

    Parameters
    ----------
    n_steps : int, default=100
        Number of steps of the grid, at most a million.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights of the features.
    order_ : ndarray of shape (n_features,)
        The features in the order in which they were added.
    partial_auc_ : ndarray of shape (n_features,)
        The training partial AUC after each feature.

    Notes
    -----
    Features are added in the order of their own partial AUC, the best first. The combination f so far and the next
    feature g are replaced by the best of

        f + lambda g   and   lambda f + g,   lambda in a grid of equal steps of [-1, 1],

    until all features are in. The partial AUC is the area under the ROC curve on the range, divided by its width.

    Ties: tied pairs count one half. Of features or combinations that are equal to within rounding, the first is taken:
    f + lambda g before lambda f + g, small lambda before large. Weights: those of the partial AUC. Features should be
    on one scale, as the grid is the same for all. Cost: 2 d (n_steps + 1) partial AUCs of N samples, O(N) to O(N log N)
    each.

    References
    ----------
    M. T. Ricamato and F. Tortorella, "Partial AUC maximization in a linear combination of dichotomizers", Pattern
    Recognition 44, 2011. :doi:`10.1016/j.patcog.2011.03.022`
    """

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    n_steps: int = 100
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    def _checked(self) -> tuple[Any, ...]:
        fpr_range, n_steps = rate_range(self.fpr_range, "fpr_range"), check_count("n_steps", self.n_steps, _MOST)
        return fpr_range, n_steps, n_threads(self.n_jobs)

    def _learn(self, data: Data, fpr_range: tuple[float, float], n_steps: int, threads: int) -> None:
        samples, labels, weights = in_memory(data, 8)
        with np.errstate(over="ignore"):
            _require_finite(abs(samples).sum(axis=1, dtype=np.float64))  # no combination exceeds this
        columns = columns_of(samples)
        area = partial(partial_auc_score, labels, fpr_range=fpr_range, sample_weight=weights, n_jobs=threads)
        n_features = columns.shape[1]
        own = _areas(area, n_features, lambda k: column(columns, k))
        self.order_ = np.argsort(-_merged(own), kind="stable")
        self.coef_ = np.zeros((1, n_features))
        self.partial_auc_ = np.empty(n_features)
        first = self.order_[0]
        scores, self.coef_[0, first], self.partial_auc_[0] = column(columns, first), 1.0, own[first]
        for rank, feature in enumerate(self.order_[1:], 1):
            added = column(columns, feature)
            (kept, share), self.partial_auc_[rank] = _best(area, scores, added, n_steps)
            scores = kept * scores + share * added
            self.coef_ *= kept
            self.coef_[0, feature] = share

    def _scores(self, X: Any) -> F64:
        with np.errstate(over="ignore", invalid="ignore"):
            return _require_finite(linear_scores(X, self.coef_)[:, 0])


def _areas(area: Any, n: int, scores: Any) -> F64:
    """Return the partial AUCs of scores(0), ..., scores(n - 1)."""
    starts = range(0, n, _AT_ONCE)
    parts = (np.column_stack([scores(k) for k in range(first, min(first + _AT_ONCE, n))]) for first in starts)
    return np.concatenate([area(part) for part in parts])


def _best(area: Any, f: F64, g: F64, n_steps: int) -> tuple[tuple[float, float], float]:
    """Return the factors of f and g in the best sum, and its partial AUC."""

    def factors(k: int) -> tuple[float, float]:
        share = (2.0 * (k % (n_steps + 1)) - n_steps) / n_steps
        return (1.0, share) if k <= n_steps else (share, 1.0)

    areas = _areas(area, 2 * (n_steps + 1), lambda k: factors(k)[0] * f + factors(k)[1] * g)
    at = int(np.argmax(areas >= areas.max() - _TIE))
    return factors(at), float(areas[at])


def _require_finite(scores: F64) -> F64:
    """Return the scores if they are finite."""
    if not np.isfinite(scores).all():
        raise ValueError("X is too large for sums of its features: scale them")
    return scores


def _merged(values: F64) -> F64:
    """Raise each value that is within rounding of the next higher value to that value."""
    descending = np.argsort(-values, kind="stable")
    close = np.append(False, -np.diff(values[descending]) <= _TIE)
    starts = np.maximum.accumulate(np.where(close, 0, np.arange(len(values))))
    merged = np.empty_like(values)
    merged[descending] = values[descending][starts]
    return merged


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
