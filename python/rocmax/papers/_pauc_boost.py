"""PAUCBoost: boosting of the smoothed partial AUC."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._parameters import check_count
from rocmax._threads import n_threads
from rocmax._typing import F64, AnyArray
from rocmax.estimators._atomic import atomic
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.metrics._validation import rate_range
from rocmax.papers._columns import StumpRanker, in_memory, require_dense, sum_of_stumps

# A bin is one byte.
_MOST = 255


class PAUCBoost(StumpRanker):
    """Boosted stumps that maximise a smoothed partial AUC on a range of false positive rates.

    Scores are F(x) = sum_t beta_t 1[x_k > theta]. A round finds the negatives of the range anew, those ranked
    floor(n low) + 1 to ceil(n high) by F so far, and adds the stump and the coefficient that make

        mean over positives i and these negatives j of Phi(F(x_i) - F(z_j) - 2)

    largest, Phi the normal distribution function.

    Parameters
    ----------
    fpr_range : tuple of float, default=(0.0, 1.0)
        The false positive rates (low, high) that matter.
    n_estimators : int, default=100
        Rounds. Fewer are made where no stump gains anything, or where one goes in and out for ever.
    n_thresholds : int, default=100
        Thresholds a feature, at most 254: between all its distinct values if they are that few, else at shares of the
        samples as equal as can be.
    threshold : str or tuple, default="auto"
        Where ``predict`` cuts, as in :class:`rocmax.PartialAUCSVC`.
    n_jobs : int, default=None
        Threads; None and -1 mean all. Results are the same to the last bit for any number.

    Attributes
    ----------
    feature_ : ndarray of shape (n_rounds,)
        The feature of each stump.
    threshold_ : ndarray of shape (n_rounds,)
        theta of each.
    coef_ : ndarray of shape (n_rounds,)
        beta of each.
    history_ : dict of ndarray
        "before" and "after" each round, the objective over the negatives of that round.
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
    Beside the paper: its width of smoothing is 1 here, as only its ratio to F matters. It has no 2: but stumps leave
    many scores equal, and at Phi(0) = 1/2 for a tie a constant score beats all others on most data, to which boosting
    then comes back time and again; here a tie is worth Phi(-2) = 0.02, next to the 0 of the ranked partial AUC.
    Coefficients are sixteenths, at most 1 up or down, so that scores lie on a grid, sums over all pairs are exact, and
    the best coefficient of every stump is found, where the paper takes a Newton step. The paper's other functions of a
    feature, natural cubic splines, and its penalty of their curvature are left out: no tuning. Within a round the
    objective never falls; over the next round's negatives it may be lower, and the best stump there may be the one just
    made, taken back. It would go in and out for ever: boosting ends there, with the better of the two.

    Ties: of equal scores at an end of the range the share that lies in it counts; equally good stumps go by feature,
    then the highest threshold, then the smallest change. Weights: a pair weighs w_i w_j. Cost: O(N d) and O(T d K L) a
    round for T thresholds, K sixteenths between the highest and the lowest score and L between the ends of the range.
    About 18 bytes a value.

    References
    ----------
    O. Komori and S. Eguchi, "A boosting method for maximizing the partial area under the ROC curve", BMC
    Bioinformatics 11:314, 2010. :doi:`10.1186/1471-2105-11-314`

    Examples
    --------
    >>> from rocmax.papers import PAUCBoost
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(400, random_state=0)
    >>> model = PAUCBoost((0.0, 0.2), 20).fit(X, y)
    >>> bool((model.history_["after"] > model.history_["before"]).all())
    True
    """

    feature_: NDArray[np.int64]
    threshold_: F64
    coef_: F64
    history_: dict[str, F64]

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 1.0),
        n_estimators: int = 100,
        *,
        n_thresholds: int = 100,
        threshold: Threshold = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.fpr_range = fpr_range
        self.n_estimators = n_estimators
        self.n_thresholds = n_thresholds
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
        self : PAUCBoost
            The fitted model.

        Raises
        ------
        TypeError
            If X is sparse.
        ValueError
            For a parameter out of its domain, features or weights that are not finite, or labels that are not of two
            classes.
        """
        low, high = rate_range(self.fpr_range, "fpr_range")
        n_estimators, threads = check_count("n_estimators", self.n_estimators), n_threads(self.n_jobs)
        n_thresholds = check_count("n_thresholds", self.n_thresholds, _MOST - 1)
        check_threshold(self.threshold)
        require_dense(X, "PAUCBoost")
        X, positive, weight = self._validated(X, y, sample_weight)
        samples, labels, weights = in_memory(X, positive, weight, 18)
        cuts = []
        codes = np.empty(samples.shape[::-1], dtype=np.uint8)
        for k in range(len(codes)):
            column = samples[:, k].astype(np.float64)
            cuts.append(_cuts(column, weights, n_thresholds))
            codes[k] = np.searchsorted(cuts[k], column, side="left")
        n_bins = np.array([len(own) + 1 for own in cuts], dtype=np.uint64)
        problem = _core.Problem(labels, weights)
        found = _core.partial_boost(problem, codes, n_bins, low, high, min(n_estimators, 1 << 62), threads)
        self.feature_, bins, self.coef_, before, after = found
        self.threshold_ = np.array([cuts[k][b - 1] for k, b in zip(self.feature_, bins, strict=True)], dtype=np.float64)
        self.history_ = {"before": before, "after": after}
        self._set_threshold(X, positive, weight)
        return self

    def _scores(self, X: Any) -> F64:
        require_dense(X, "PAUCBoost")
        missing = np.zeros(len(self.feature_), dtype=bool)
        return sum_of_stumps(X, self.feature_, self.threshold_, self.coef_, missing)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _cuts(values: AnyArray, weight: F64 | None, n_cuts: int) -> F64:
    """Return thresholds between distinct values, all of them or `n_cuts` at most, dividing the weight evenly."""
    distinct, which = np.unique(values, return_inverse=True)
    middle = distinct[:-1] / 2 + distinct[1:] / 2
    middle = np.where((distinct[:-1] <= middle) & (middle < distinct[1:]), middle, distinct[:-1])
    if len(middle) <= n_cuts:
        return np.asarray(middle)
    below = np.cumsum(np.bincount(which, weight))
    wanted = below[-1] * np.arange(1, n_cuts + 1) / (n_cuts + 1)
    at = np.searchsorted(below[:-1], wanted * (1 - 1e-12))
    return np.asarray(middle[np.unique(np.minimum(at, len(middle) - 1))])
