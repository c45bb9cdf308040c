"""Smoothed risks: cuts with a curvature."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Bool, Rows

# Of the negatives: the score at which half a sample counts, the width over which its share rises, the share of a tie.
Selection = tuple[float, float, float]


class Smoothed(NamedTuple):
    """A cut R(s') >= offset + coef . s', close to R around the scores it was made at, and its curvature there."""

    offset: float
    coef: F64
    curvature: "Curvature"


@dataclass(frozen=True)
class Curvature:
    """The second derivative of a smoothed sum of hinges over the scores.

    A pair whose difference lies in the smoothed part of its hinge is a spring between its two scores; the negatives
    near the threshold of a selection are tied to their mean.
    """

    labels: Bool
    scores: F64
    hinges: list[tuple[float, float, Selection]]
    width: float
    sample_weight: F64 | None = None

    @property
    def n_samples(self) -> int:
        """The number of samples of positive weight."""
        return len(self.labels) if self.sample_weight is None else int(np.count_nonzero(self.sample_weight))

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Rows, _core.Curvature]:
        """Return the rows of a sample, and its estimate of the curvature, over the scores of these rows.

        Half of the rows are positives, the others negatives that have a share, as far as there are enough, and at
        least one of each; all have positive weights.
        """
        positives, of_pos, pos_share = self._draw(self.labels, max(size // 2, 1), rng)
        ascending = np.argsort(self.scores[positives])
        positives, of_pos = positives[ascending], of_pos[ascending]
        rows, hinges = [positives], []
        for scale, margin, selection in self.hinges:
            counts = ~self.labels & (self.scores >= selection[0] - 0.5 * selection[1])
            negatives, of_neg, neg_share = self._draw(counts, max(size // (2 * len(self.hinges)), 1), rng)
            factor = scale / (self.width * pos_share * neg_share)
            hinges.append(((factor, margin, selection), (self.scores[negatives], of_neg)))
            rows.append(negatives)
        return np.concatenate(rows), _core.Curvature((self.scores[positives], of_pos), hinges, self.width)

    def _draw(self, wanted: Bool, size: int, rng: np.random.Generator) -> tuple[Rows, F64, float]:
        """Return up to `size` of the wanted rows, drawn by weight, with new weights, and their share of the total."""
        if self.sample_weight is None:
            rows = np.flatnonzero(wanted)
            if len(rows) <= size:
                return rows, np.ones(len(rows)), 1.0
            drawn = np.sort(rng.choice(len(rows), size, replace=False, shuffle=False))
            return rows[drawn], np.ones(size), size / len(rows)
        rows = np.flatnonzero(wanted & (self.sample_weight > 0))
        weights = self.sample_weight[rows]
        if len(rows) <= size:
            return rows, weights, 1.0
        total = float(weights.sum())
        places = (np.arange(size) + rng.random(size)) * (total / size)
        drawn = np.minimum(np.searchsorted(np.cumsum(weights), places, side="right"), len(rows) - 1)
        drawn, times = np.unique(drawn, return_counts=True)
        return rows[drawn], times.astype(np.float64), size / total
