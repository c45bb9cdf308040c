"""The number of rounds, chosen by the partial AUC of held-out rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax._selection import first_best
from rocmax._typing import F64, Bool
from rocmax.metrics.scores._scores import partial_auc_score

# The measure is averaged over this number of rounds on either side, as neighbouring rounds differ by a tree or two and
# the best of them is best by luck. No fewer rounds are chosen: their mean would include better rounds that follow.
_AROUND = 5
#: Small trees are taken if their held-out partial AUC is better by more standard errors of the difference than this:
#: with 0 they lose .01 to .03 on some tables, with 2 they are rarely taken where they gain.
ERRORS_OF_SIZE = 1.0


class Rounds:
    """The partial AUC of the held-out rows after each round, and the best number of rounds so far."""

    def __init__(
        self, positive: Bool, weight: F64 | None, fpr_range: tuple[float, float], patience: int, n_threads: int
    ) -> None:
        self._positive, self._weight, self._fpr_range = positive, weight, fpr_range
        self._patience, self._n_threads = patience, n_threads
        self.values: list[float] = []
        self._areas: list[float] = []  # under the whole curve

    def add(self, scores: F64) -> bool:
        """Add the scores after a round; return whether the best round is long enough ago to stop."""
        for values, fpr_range in ((self.values, self._fpr_range), (self._areas, (0.0, 1.0))):
            value = partial_auc_score(
                self._positive, scores, fpr_range, sample_weight=self._weight, n_jobs=self._n_threads
            )
            values.append(float(value))
        return len(self.values) - self.best > self._patience

    @property
    def best(self) -> int:
        """Return the first number of rounds with the greatest smoothed partial AUC, of the AUC where none has any."""
        return best_round(np.array(self.values if any(self.values) else self._areas))


def best_round(values: F64) -> int:
    """Return the first number of rounds with the greatest smoothed value."""
    least = min(_AROUND, len(values) - 1)
    return least + int(first_best(smoothed(values)[least:])) + 1


def smoothed(values: F64) -> F64:
    """Return the mean of each value and its `_AROUND` neighbours on either side, fewer at the ends."""
    padded = np.pad(np.stack([values, np.ones_like(values)]), ((0, 0), (_AROUND, _AROUND)))
    # Each window has a sum of its own: differences of running sums lose accuracy over a long fit.
    sums, counts = np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1, axis=1).sum(axis=2)
    return np.asarray(sums / counts)


@dataclass(frozen=True)
class Candidate:
    """An objective and a size of trees that were tried.

    Attributes
    ----------
    objective : "log_loss" or PartialAUCObjective
        The objective.
    n_estimators : int
        Its best number of rounds.
    score : float
        The partial AUC of the held-out rows after this number of rounds.
    difference, standard_error : float
        The difference from the best candidate before it on the same rows, and its standard error; NaN of the first.
    small : bool
        Whether the trees are small.
    """

    objective: Any
    n_estimators: int
    score: float
    difference: float = np.nan
    standard_error: float = np.nan
    small: bool = False
