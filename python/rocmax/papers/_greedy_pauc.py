"""GreedyPAUC: features added one by one, by the partial AUC of the sum."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from rocmax._checks.samples import rate_range
from rocmax._parameters import check_count
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64
from rocmax.designs import linear_scores
from rocmax.estimators._base import Data
from rocmax.estimators._thresholds import Threshold
from rocmax.metrics import partial_auc_score
from rocmax.papers._columns import PaperRanker, column, columns_of, in_memory

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

    found = _areas(area, 2 * (n_steps + 1), lambda k: factors(k)[0] * f + factors(k)[1] * g)
    at = int(np.argmax(found >= found.max() - _TIE))
    return factors(at), float(found[at])


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
