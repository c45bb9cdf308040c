"""The base of the papers' rankers; trees and stumps, which learn by column: RankBoost, PAUCBoost and AUCSplitTree."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_count, check_positive
from rocmax._runtime.memory import require_memory
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import is_sparse, is_stored
from rocmax.estimators._base import Data, Ranker, Threshold, atomic, check_threshold, warn_if_constant


class PaperRanker(Ranker):
    """A ranker whose `fit` checks its parameters, learns, and sets the threshold."""

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples; AUCSplitTree and PAUCBoost do not accept sparse X. RankBoost treats NaN as missing.

        Raises
        ------
        TypeError
            If X is sparse and the model needs dense features.
        """
        parameters = self._checked()
        check_threshold(self.threshold)
        data = self._validated(X, y, sample_weight)
        self._learn(data, *parameters)
        warn_if_constant(self._set_threshold(data))
        return self

    def _checked(self) -> tuple[Any, ...]:
        """Check and return the parameters."""
        raise NotImplementedError

    def _learn(self, data: Data, *parameters: Any) -> None:
        """Set the fitted attributes except the threshold."""
        raise NotImplementedError


def in_memory(data: Data, n_bytes: int) -> Data:
    """Return the samples of positive weight in memory, which with a fit take `n_bytes` per value."""
    X = data.X
    n_values = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    require_memory(n_bytes * n_values, "the features by column", "fewer samples or features need less")
    data = data._replace(X=np.asarray(X) if is_stored(X) else X)
    return data if data.weight is None or data.weight.all() else data.take(np.flatnonzero(data.weight))


def by_column(X: Any) -> F64:
    """Return all values, column by column."""
    return np.asarray(X, dtype=np.float64).ravel(order="F")


def columns_of(X: Any) -> Any:
    """Return X in a form with cheap columns."""
    return sp.csc_array(X) if is_sparse(X) else X


def column(X: Any, k: int) -> F64:
    """Return a column of `columns_of`, dense."""
    values = X[:, [k]].toarray()[:, 0] if is_sparse(X) else X[:, k]
    return np.asarray(values, dtype=np.float64)


def sum_of_stumps(X: Any, feature: NDArray[np.int64], threshold: F64, coef: F64, missing: Bool) -> F64:
    """Return sum_t coef_t 1[x > threshold_t], where the indicator of a NaN is missing_t; O(N log T) for T stumps."""
    scores = np.zeros(X.shape[0])
    X = columns_of(X)
    for k in np.unique(feature):
        own = np.flatnonzero(feature == k)
        own = own[np.argsort(threshold[own], kind="stable")]
        steps = np.append(0.0, np.cumsum(coef[own]))
        values = column(X, int(k))
        added = steps[np.searchsorted(threshold[own], values, side="left")]
        gone = np.isnan(values)
        if gone.any():
            added[gone] = coef[own] @ missing[own]
        scores += added
    return scores


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
        stumps = _core.rank_boost(_core.Problem(labels, weights), values, lists, n_estimators, threads)
        self.feature_, self.cut_, self.missing_above_, self.coef_, self.edge_ = stumps
        self.bound_ = float(np.prod(np.sqrt(np.maximum(1.0 - self.edge_**2, 0.0))))

    def _scores(self, X: Any) -> F64:
        return sum_of_stumps(X, self.feature_, self.cut_, self.coef_, self.missing_above_)


# A bin is one byte.
_MOST = 255


@dataclass(eq=False, repr=False)
class PAUCBoost(PaperRanker):
    """Boosted stumps that maximise a smoothed partial AUC on a range of false positive rates.

    >>> from rocmax.papers import PAUCBoost
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, random_state=0)
    >>> model = PAUCBoost((0.0, 0.2), 20).fit(X, y)
    >>> bool((model.history_["after"] > model.history_["before"]).all())
    True

    Parameters
    ----------
    n_estimators : int, default=100
        Largest number of rounds. Boosting ends earlier if no stump improves the objective (see Notes).
    n_thresholds : int, default=100
        Largest number of thresholds per feature, at most 254. Features with more distinct values are cut at equal
        shares of the samples, others between all their values.

    Attributes
    ----------
    feature_ : ndarray of shape (n_rounds,)
        The feature of each stump.
    cut_ : ndarray of shape (n_rounds,)
        theta of each stump.
    coef_ : ndarray of shape (n_rounds,)
        beta of each stump.
    history_ : dict of ndarray
        The objective "before" and "after" each round, over the negatives of that round.

    Notes
    -----
    Scores are F(x) = sum_t beta_t 1[x_k > theta]. Each round takes the negatives that F ranks floor(n low) + 1 to
    ceil(n high), and adds the stump and the coefficient that maximise

        mean over positives i and these negatives j of Phi(F(x_i) - F(z_j) - 2)

    with Phi the normal distribution function.

    Differences from the paper: The smoothing width is 1, as only its ratio to F matters. The 2 in Phi is added: stumps
    leave many scores equal, and with Phi(0) = 1/2 for a tie a constant score is best on most data; here a tie counts
    Phi(-2) = 0.02, close to its 0 in the ranked partial AUC. Coefficients are multiples of 1/16 in [-1, 1], so that
    sums over all pairs are exact and the best coefficient of every stump is found; the paper takes a Newton step.
    Natural cubic splines and their penalty are left out. The objective never falls within a round, but may fall from
    the negatives of one round to those of the next. Boosting ends when the best stump undoes the last one, and keeps
    the better of the two models.

    Ties: equal scores at an end of the range count by the share inside it. Among equal stumps the lowest feature wins,
    then the highest threshold, then the smallest change. Weights: a pair has weight w_i w_j. Cost: O(N d) and
    O(T d K L) per round for T thresholds, K sixteenths between the highest and the lowest score and L between the ends
    of the range. About 18 bytes per value.

    References
    ----------
    O. Komori and S. Eguchi, "A boosting method for maximizing the partial area under the ROC curve", BMC
    Bioinformatics 11:314, 2010. :doi:`10.1186/1471-2105-11-314`
    """

    _by_scale = _takes_sparse = False

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    n_estimators: int = 100
    _: KW_ONLY
    n_thresholds: int = 100
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    def _checked(self) -> tuple[Any, ...]:
        return (
            *rate_range(self.fpr_range, "fpr_range"),
            min(check_count("n_estimators", self.n_estimators), 1 << 62),
            check_count("n_thresholds", self.n_thresholds, _MOST - 1),
            n_threads(self.n_jobs),
        )

    def _learn(self, data: Data, low: float, high: float, n_estimators: int, n_thresholds: int, threads: int) -> None:
        samples, labels, weights = in_memory(data, 18)
        cuts = []
        codes = np.empty(samples.shape[::-1], dtype=np.uint8)
        for k in range(len(codes)):
            column = samples[:, k].astype(np.float64)
            cuts.append(_cuts(column, weights, n_thresholds))
            codes[k] = np.searchsorted(cuts[k], column, side="left")
        n_bins = np.array([len(own) + 1 for own in cuts], dtype=np.uint64)
        problem = _core.Problem(labels, weights)
        self.feature_, bins, self.coef_, before, after = _core.partial_boost(
            problem, codes, n_bins, low, high, n_estimators, threads
        )
        self.cut_ = np.array([cuts[k][b - 1] for k, b in zip(self.feature_, bins, strict=True)], dtype=np.float64)
        self.history_ = {"before": before, "after": after}

    def _scores(self, X: Any) -> F64:
        missing = np.zeros(len(self.feature_), dtype=bool)
        return sum_of_stumps(X, self.feature_, self.cut_, self.coef_, missing)


def _cuts(values: AnyArray, weight: F64 | None, n_cuts: int) -> F64:
    """Return thresholds between all distinct values, or at most `n_cuts` that divide the weight evenly."""
    distinct, which = np.unique(values, return_inverse=True)
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    middle = np.where((distinct[:-1] <= middle) & (middle < distinct[1:]), middle, distinct[:-1])
    if len(middle) <= n_cuts:
        return np.asarray(middle)
    below = np.cumsum(np.bincount(which, weight))
    wanted = below[-1] * np.arange(1, n_cuts + 1) / (n_cuts + 1)
    at = np.searchsorted(below[:-1], wanted * (1 - 1e-12))
    return np.asarray(middle[np.unique(np.minimum(at, len(middle) - 1))])


@dataclass(eq=False, repr=False)
class AUCSplitTree(PaperRanker):
    """Decision tree grown by AUCsplit: each split maximises the area under its own ROC curve.

    >>> from rocmax.papers import AUCSplitTree
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1]
    >>> (AUCSplitTree().fit(X, y).decision_function(X) > 0).tolist()
    [False, True, True, True]

    Parameters
    ----------
    min_samples_leaf : float, default=1
        Smallest number of samples in a leaf; with weights, their smallest total weight.
    max_depth : int, default=None
        Largest number of splits between the root and a leaf; None means no limit.

    Attributes
    ----------
    pos_, neg_ : ndarray of shape (n_nodes,)
        Total weights of the positives and of the negatives in each node; the root is the first.
    feature_ : ndarray of shape (n_nodes,)
        The feature that splits each node; -1 for a leaf.
    cut_ : ndarray of shape (n_nodes,)
        Samples whose value exceeds it go right.
    left_, right_ : ndarray of shape (n_nodes,)
        The children; 0 for a leaf.

    Notes
    -----
    A split of a node with P positives and N negatives puts p and n of them on one side. Its value is the area under the
    curve through its two leaves, ordered by their share of positives:

        ``1/2 (1 + |p / P - n / N|)``.

    The best split over all features and thresholds is made while its value exceeds 1/2, the node has both classes and
    the parameters allow it; nothing is pruned. A leaf scores its Laplace-corrected share (p + 1) / (p + n + 2).

    Ties: among splits that are equal to within rounding, the lowest feature wins, then the lowest threshold.
    Encode nominal features as indicators. Cost: values are sorted once, O(N d log N); each level of the tree is O(N d),
    and a tree may have as many levels as samples. About 30 bytes per value.

    References
    ----------
    C. Ferri, P. Flach and J. Hernandez-Orallo, "Learning decision trees using the area under the ROC curve", ICML,
    2002, section 3.
    """

    _by_scale = _takes_sparse = False

    _: KW_ONLY
    min_samples_leaf: float = 1
    max_depth: int | None = None
    threshold: Threshold = "auto"
    n_jobs: int | None = None

    def _checked(self) -> tuple[Any, ...]:
        depth = 1 << 62 if self.max_depth is None else min(check_count("max_depth", self.max_depth), 1 << 62)
        return check_positive("min_samples_leaf", self.min_samples_leaf), depth, n_threads(self.n_jobs)

    def _learn(self, data: Data, leaf: float, depth: int, threads: int) -> None:
        samples, labels, weights = in_memory(data, 30)
        tree = _core.split_tree(_core.Problem(labels, weights), by_column(samples), leaf, depth, threads)
        self.pos_, self.neg_, self.feature_, self.cut_, self.left_, self.right_ = tree

    def _scores(self, X: Any) -> F64:
        at = np.zeros(X.shape[0], dtype=np.intp)
        going = np.arange(len(at))
        while len(going := going[self.feature_[at[going]] >= 0]):
            node = at[going]
            values = np.asarray(X)[going, self.feature_[node]]
            at[going] = np.where(values > self.cut_[node], self.right_[node], self.left_[node])
        share = (self.pos_ + 1.0) / (self.pos_ + self.neg_ + 2.0)
        return np.asarray(share[at])
