"""How many rounds: by the partial AUC of rows held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax._ties import first_best
from rocmax._typing import F64, Bool
from rocmax.metrics.scores._partial import partial_auc_score

# Rounds over which the measure is averaged, on either side: of neighbouring rounds, which differ by a tree or two, the
# best alone is lucky. No fewer than so many are taken: a tree or two rank by a few leaves, and their mean with the
# better ones that follow is not theirs.
_AROUND = 5


class Rounds:
    """The partial AUC of held-out rows after each round, and the best round so far."""

    def __init__(
        self, positive: Bool, weight: F64 | None, fpr_range: tuple[float, float], patience: int, n_threads: int
    ) -> None:
        self._positive, self._weight, self._fpr_range = positive, weight, fpr_range
        self._patience, self._n_threads = patience, n_threads
        self.values: list[float] = []
        self._areas: list[float] = []  # under the whole curve

    def add(self, scores: F64) -> bool:
        """Take the scores after a round; whether it has been better before for long enough to stop."""
        for values, fpr_range in ((self.values, self._fpr_range), (self._areas, (0.0, 1.0))):
            value = partial_auc_score(
                self._positive, scores, fpr_range, sample_weight=self._weight, n_jobs=self._n_threads
            )
            values.append(float(value))
        return len(self.values) - self.best > self._patience

    @property
    def best(self) -> int:
        """The number of rounds of the greatest mean with those around; of several the first.

        If no positive sample reaches the range after any round, as may be where few are held out, by the whole AUC.
        """
        return best_round(np.array(self.values if any(self.values) else self._areas))


def best_round(values: F64) -> int:
    """Return the number of rounds of the greatest smoothed value; of several the first."""
    least = min(_AROUND, len(values) - 1)
    return least + int(first_best(smoothed(values)[least:])) + 1


def smoothed(values: F64) -> F64:
    """Return the mean of each value and the `_AROUND` next ones on either side, fewer at the ends."""
    padded = np.pad(np.stack([values, np.ones_like(values)]), ((0, 0), (_AROUND, _AROUND)))
    # Sums of each window by itself: differences of running sums are off by more the longer a fit goes on.
    sums, counts = np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1, axis=1).sum(axis=2)
    return np.asarray(sums / counts)


@dataclass(frozen=True)
class Candidate:
    """An objective that was tried.

    Attributes
    ----------
    objective : "log_loss" or PartialAUCObjective
        The objective.
    n_estimators : int
        Its best number of rounds.
    score : float
        The partial AUC of the held-out rows after these.
    difference, standard_error : float
        The difference of that from log loss on the same rows, and its standard error; NaN if it was not compared.
    """

    objective: Any
    n_estimators: int
    score: float
    difference: float = np.nan
    standard_error: float = np.nan
