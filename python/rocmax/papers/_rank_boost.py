"""RankBoost: stumps boosted on the pairs."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._parameters import check_count
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64
from rocmax.designs import is_sparse
from rocmax.estimators._base import Data
from rocmax.estimators._thresholds import Threshold
from rocmax.papers._columns import PaperRanker, by_column, columns_of, in_memory, sum_of_stumps


@dataclass(eq=False, repr=False)
class RankBoost(PaperRanker):
    """Boosted stumps that minimise the exponential loss over all positive-negative pairs.

    >>> from rocmax.papers import RankBoost
    >>> from rocmax.datasets import load_estrogen
    >>> X, y = load_estrogen(return_X_y=True)
    >>> model = RankBoost(50).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.75
    True

    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds. Boosting ends earlier if a stump ranks all pairs or none is better than chance.

    Attributes
    ----------
    feature_ : ndarray of shape (n_rounds,)
        The feature of each stump.
    cut_ : ndarray of shape (n_rounds,)
        theta of each stump; -inf separates samples with a value from those without.
    missing_above_ : ndarray of shape (n_rounds,)
        h of samples whose value is missing.
    coef_ : ndarray of shape (n_rounds,)
        alpha of each stump; if r is 1 or -1, that of 1 - 1e-12.
    edge_ : ndarray of shape (n_rounds,)
        r of each stump.
    bound_ : float
        The product of sqrt(1 - r_t^2).

    Notes
    -----
    Scores are F(x) = sum_t alpha_t h_t(x), h_t(x) = 1[x_k > theta]. Pair (i, j) has weight v_i u_j. A round takes the
    stump with the largest ``|r|``,

        r = sum_i v_i h(x_i) - sum_j u_j h(z_j),   alpha = 1/2 ln((1 + r) / (1 - r)),

    and sets v_i ~ v_i exp(-alpha h(x_i)) and u_j ~ u_j exp(alpha h(z_j)), each with sum 1. The share of training pairs
    that F ties or misorders is at most the product of sqrt(1 - r_t^2).

    Ties: among stumps that are equal to within rounding, the lowest feature wins, then the highest threshold. Missing
    values (NaN) go to the side that makes the stump better. Weights: v and u start from them, so that a pair has weight
    w_i w_j. Cost: values are sorted once, O(N d log N); a round is O(N d), for sparse X O(stored values). About 30
    bytes per value.

    References
    ----------
    Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, "An efficient boosting algorithm for combining preferences",
    Journal of Machine Learning Research 4, 2003, sections 3.2 and 3.3.
    """

    _by_scale, _takes_missing = False, True

    n_estimators: int = 100
    _: KW_ONLY
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    def _checked(self) -> tuple[Any, ...]:
        # More rounds than this take longer than anyone has.
        return min(check_count("n_estimators", self.n_estimators), 1 << 62), n_threads(self.n_jobs)

    def _learn(self, data: Data, n_estimators: int, threads: int) -> None:
        samples, labels, weights = in_memory(data, 30)
        lists = None
        if is_sparse(samples):
            columns = columns_of(samples)
            lists = columns.indptr.astype(np.uint64), columns.indices.astype(np.uint32)
            values = columns.data.astype(np.float64)
        else:
            values = by_column(samples)
        found = _core.rank_boost(_core.Problem(labels, weights), values, lists, n_estimators, threads)
        self.feature_, self.cut_, self.missing_above_, self.coef_, self.edge_ = found
        self.bound_ = float(np.prod(np.sqrt(np.maximum(1.0 - self.edge_**2, 0.0))))

    def _scores(self, X: Any) -> F64:
        return sum_of_stumps(X, self.feature_, self.cut_, self.coef_, self.missing_above_)
