"""PAUCBoost: boosting of the smoothed partial AUC."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_count
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, AnyArray
from rocmax.estimators._base import Data
from rocmax.estimators._thresholds import Threshold
from rocmax.papers._columns import PaperRanker, in_memory, sum_of_stumps

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

    _by_scale = _sparse = False

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
