"""A ranking without a full sort, for measures that see a negative only through the positives below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking
from rocmax.metrics.samples._sample import Sample, explain

_MOST = 2**31  # samples: twice their number has 32 bits


@dataclass(frozen=True)
class Positives:
    """The distinct scores of the positives, descending, each with the negatives that are tied or next above.

    All negatives between two of these scores have the same component.

    Attributes
    ----------
    ranking : Ranking
        The weights at these scores; the last step has the negatives below all positives.
    rows : (ndarray, ndarray)
        The positives among the samples, and the negatives.
    order : ndarray of shape (n_pos,)
        The positives by descending score.
    counts : ndarray of shape (n_distinct,)
        How many positives have each score.
    placed : ndarray of shape (n_neg,)
        Of each negative, twice the number of positives above plus the number that are tied.
    """

    ranking: Ranking
    rows: tuple[NDArray[np.intp], NDArray[np.intp]]
    order: NDArray[np.intp]
    counts: NDArray[np.intp]
    placed: NDArray[np.uint32]

    @classmethod
    def takes(cls, sample: Sample) -> bool:
        """Whether there are samples, all of weight 1, and not too many."""
        return sample.weight is None and sample.steps is None and len(sample.y) < _MOST

    @classmethod
    def of(cls, sample: Sample) -> Positives:
        """Sort the m positives and place the negatives among them, in O(n + m log m)."""
        try:
            placed = _core.placements(sample.y, sample.score, sample.threads)
        except ValueError:
            explain(sample)
            raise
        positive = sample.positive
        rows = np.flatnonzero(positive), np.flatnonzero(~positive)
        placed, scores = placed[rows[1]], sample.score[rows[0]]
        order = np.argsort(scores)[::-1]
        scores = scores[order]
        starts = np.concatenate([[0], np.flatnonzero(scores[1:] != scores[:-1]) + 1])
        counts = np.diff(np.append(starts, len(scores)))
        of_place = np.bincount(placed, minlength=2 * len(scores) + 1)
        neg = np.append(of_place[2 * starts] + of_place[2 * starts + counts], of_place[-1])
        ranking = Ranking(np.append(counts, 0).astype(np.float64), neg.astype(np.float64), scores[starts])
        return cls(ranking, rows, order, counts, placed)

    def place(self, of_pos: F64, of_neg: F64) -> F64:
        """Return for every sample the component of its class at its step, in the samples' own order."""
        starts = np.cumsum(self.counts) - self.counts
        of_place = np.empty(2 * len(self.order) + 1)
        of_place[2 * starts] = of_place[2 * starts + self.counts] = of_neg[:-1]
        of_place[-1] = of_neg[-1]
        found = np.empty(len(self.order) + len(self.placed))
        found[self.rows[0][self.order]] = np.repeat(of_pos[:-1], self.counts)
        found[self.rows[1]] = of_place[self.placed]
        return found


def at_positives(ranking: Ranking) -> Ranking:
    """Return the same ranking as that of :class:`Positives`, by the weights at all distinct scores."""
    held = np.flatnonzero(ranking.pos > 0)
    ends = np.append(held + 1, len(ranking.pos))
    neg: Any = np.add.reduceat(np.append(ranking.neg, 0.0), np.concatenate([[0], ends[:-1]]))
    return Ranking(np.append(ranking.pos[held], 0.0), neg, ranking.score[held])
