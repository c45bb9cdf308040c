"""AUCSplitTree: a decision tree whose splits maximise the area under the ROC curve."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._parameters import check_count, check_positive
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64
from rocmax.estimators._base import Data
from rocmax.estimators._thresholds import Threshold
from rocmax.papers._columns import PaperRanker, by_column, in_memory


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

    _by_scale = _sparse = False

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
        found = _core.split_tree(_core.Problem(labels, weights), by_column(samples), leaf, depth, threads)
        self.pos_, self.neg_, self.feature_, self.cut_, self.left_, self.right_ = found

    def _scores(self, X: Any) -> F64:
        at = np.zeros(X.shape[0], dtype=np.intp)
        going = np.arange(len(at))
        while len(going := going[self.feature_[at[going]] >= 0]):
            node = at[going]
            values = np.asarray(X)[going, self.feature_[node]]
            at[going] = np.where(values > self.cut_[node], self.right_[node], self.left_[node])
        share = (self.pos_ + 1.0) / (self.pos_ + self.neg_ + 2.0)
        return np.asarray(share[at])
