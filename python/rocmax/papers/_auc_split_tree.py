"""AUCSplitTree: a decision tree whose splits maximise the area under the ROC curve."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._parameters import check_count, check_positive
from rocmax._threads import n_threads
from rocmax._typing import F64
from rocmax.estimators._atomic import atomic
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.papers._columns import StumpRanker, by_column, in_memory, require_dense


class AUCSplitTree(StumpRanker):
    """Decision tree grown by AUCsplit: each split has the best ROC curve of its own.

    A split of a node with P positives and N negatives, p and n of them on one side, is worth the area under the curve
    through its two leaves, ordered by positive share:

        ``1/2 (1 + |p / P - n / N|)``.

    The best over all features and thresholds is made while it is above 1/2, a node holds both classes and the
    parameters allow it; nothing is pruned. A leaf's score is its Laplace-corrected share (p + 1) / (p + n + 2).

    Parameters
    ----------
    min_samples_leaf : float, default=1
        Samples that a leaf holds at least; what they weigh where samples have weights.
    max_depth : int, default=None
        The most splits between the root and a leaf; None is no limit.
    threshold : str or tuple, default="auto"
        Where ``predict`` cuts, as in :class:`rocmax.PartialAUCSVC`.
    n_jobs : int, default=None
        Threads; None and -1 mean all. Results are the same to the last bit for any number.

    Attributes
    ----------
    pos_, neg_ : ndarray of shape (n_nodes,)
        What the positives and the negatives of each node weigh; the root is the first.
    feature_ : ndarray of shape (n_nodes,)
        The feature that each node is split by, -1 of a leaf.
    threshold_ : ndarray of shape (n_nodes,)
        Samples whose value exceeds it go right.
    left_, right_ : ndarray of shape (n_nodes,)
        The children, 0 of a leaf.
    intercept_ : ndarray of shape (1,)
        Minus the cut of ``predict``.
    classes_ : ndarray of shape (2,)
        The labels, sorted; ``classes_[1]`` is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had any.

    Notes
    -----
    Ties: splits that are equally good to within rounding go by feature, then the lowest threshold. Nominal features
    are given as indicators. Cost: values are sorted once, O(N d log N); each level of the tree is O(N d), and a tree
    may have as many levels as samples. About 30 bytes a value.

    References
    ----------
    C. Ferri, P. Flach and J. Hernandez-Orallo, "Learning decision trees using the area under the ROC curve", ICML,
    2002, section 3.

    Examples
    --------
    >>> from rocmax.papers import AUCSplitTree
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 1]
    >>> (AUCSplitTree().fit(X, y).decision_function(X) > 0).tolist()
    [False, True, True, True]
    """

    pos_: F64
    neg_: F64
    feature_: NDArray[np.int64]
    threshold_: F64
    left_: NDArray[np.int64]
    right_: NDArray[np.int64]

    def __init__(
        self,
        *,
        min_samples_leaf: float = 1,
        max_depth: int | None = None,
        threshold: Threshold = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.threshold = threshold
        self.n_jobs = n_jobs

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of at least 0; whole numbers are repetitions.

        Returns
        -------
        self : AUCSplitTree
            The fitted model.

        Raises
        ------
        TypeError
            If X is sparse.
        ValueError
            For a parameter out of its domain, features or weights that are not finite, or labels that are not of two
            classes.
        """
        leaf, threads = check_positive("min_samples_leaf", self.min_samples_leaf), n_threads(self.n_jobs)
        depth = 1 << 62 if self.max_depth is None else min(check_count("max_depth", self.max_depth), 1 << 62)
        check_threshold(self.threshold)
        require_dense(X, "AUCSplitTree")
        X, positive, weight = self._validated(X, y, sample_weight)
        samples, labels, weights = in_memory(X, positive, weight, 30)
        problem = _core.Problem(labels, weights)
        found = _core.split_tree(problem, by_column(samples), leaf, depth, threads)
        self.pos_, self.neg_, self.feature_, self.threshold_, self.left_, self.right_ = found
        self._set_threshold(X, positive, weight)
        return self

    def _scores(self, X: Any) -> F64:
        require_dense(X, "AUCSplitTree")
        at = np.zeros(X.shape[0], dtype=np.intp)
        going = np.arange(len(at))
        while len(going := going[self.feature_[at[going]] >= 0]):
            node = at[going]
            values = np.asarray(X)[going, self.feature_[node]]
            at[going] = np.where(values > self.threshold_[node], self.right_[node], self.left_[node])
        share = (self.pos_ + 1.0) / (self.pos_ + self.neg_ + 2.0)
        return np.asarray(share[at])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
