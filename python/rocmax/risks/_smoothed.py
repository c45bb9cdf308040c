"""Smoothed risks: cuts with a curvature."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rocmax import _core
from rocmax._typing import F64, AnyArray, Bool, Rows

# Rows looked at together.
_ROWS = 1 << 16

Product = Callable[[F64], F64]
# Of the negatives: the score of which half counts, the stretch over which the share rises, the share of a tie.
Selection = tuple[float, float, float]


class Smoothed(NamedTuple):
    """A cut R(s') >= offset + coef . s', close to R around the scores it was made at, and its curvature there."""

    offset: float
    coef: F64
    curvature: "Curvature"


class Curvature:
    """The second derivative of a smoothed sum of hinges over the scores.

    A pair whose difference lies in the smoothed stretch of its hinge is a spring between its two scores; the negatives
    in the stretch around the threshold of a selection are tied to their mean. Samples may have weights.
    """

    def __init__(
        self,
        labels: Bool,
        scores: F64,
        hinges: list[tuple[float, float, Selection]],
        width: float,
        sample_weight: F64 | None = None,
    ) -> None:
        self._labels, self._scores, self._hinges, self._width = labels, scores, hinges, width
        self._sample_weight = sample_weight

    @property
    def n_samples(self) -> int:
        """The number of samples, those without weight left out."""
        return len(self._labels) if self._sample_weight is None else int(np.count_nonzero(self._sample_weight))

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Rows, Product]:
        """Return the rows of a sample, and its estimate of the curvature as a product with scores of these rows.

        Half of the rows are positives, the others negatives that have a share, as far as there are so many, and at
        least one of each. None has no weight.
        """
        positives, of_pos, pos_share = self._draw(lambda rows: self._labels[rows], max(size // 2, 1), rng)
        ascending = np.argsort(self._scores[positives])
        positives, of_pos = positives[ascending], of_pos[ascending]
        rows, hinges = [positives], []
        for scale, margin, selection in self._hinges:
            lowest = selection[0] - 0.5 * selection[1]

            def counts(rows: slice, lowest: float = lowest) -> Bool:
                return np.asarray(~self._labels[rows] & (self._scores[rows] >= lowest))

            negatives, of_neg, neg_share = self._draw(counts, max(size // (2 * len(self._hinges)), 1), rng)
            factor = scale / (self._width * pos_share * neg_share)
            hinges.append(((factor, margin, selection), (self._scores[negatives], of_neg)))
            rows.append(negatives)
        curvature = _core.Curvature((self._scores[positives], of_pos), hinges, self._width)
        return np.concatenate(rows), curvature.product

    def _draw(self, wanted: Callable[[slice], Bool], size: int, rng: np.random.Generator) -> tuple[Rows, F64, float]:
        """Return up to `size` of the wanted rows, ascending, what they weigh, and their share of all that weight.

        Weighted rows are drawn by their weights, and then weigh as often as they were drawn.
        """
        n_rows = len(self._labels)
        blocks = [slice(first, min(first + _ROWS, n_rows)) for first in range(0, n_rows, _ROWS)]

        def weigh(block: slice) -> tuple[Rows, F64]:
            rows = wanted(block).nonzero()[0] + block.start
            if self._sample_weight is None:
                return rows, np.ones(len(rows))
            weights = self._sample_weight[rows]
            return rows[weights > 0], weights[weights > 0]

        count, sums = 0, [0.0]
        drawn: list[tuple[Rows, F64]] = []
        for rows, weights in map(weigh, blocks):
            count += len(rows)
            sums.append(float(weights.sum()))
            drawn = [*drawn, (rows, weights)] if count <= size else []
        if count <= size:
            return *_joined(drawn), 1.0
        ends = np.cumsum(sums)
        total = float(ends[-1])
        places: AnyArray
        if self._sample_weight is not None:
            places = (np.arange(size) + rng.random(size)) * (total / size)
        else:
            places = np.sort(rng.choice(count, size, replace=False, shuffle=False)) + 0.5
        parts = np.split(places, np.searchsorted(places, ends[1:-1]))
        for block, first, part in zip(blocks, ends[:-1], parts, strict=True):
            rows, weights = weigh(block)
            if len(rows):
                at = np.searchsorted(np.cumsum(weights), part - first, side="right")
                times = np.bincount(np.minimum(at, len(rows) - 1))
                at = np.flatnonzero(times)
                rows, weights = rows[at], times[at].astype(np.float64)
            drawn.append((rows, weights))
        return *_joined(drawn), size / total


def _joined(drawn: list[tuple[Rows, F64]]) -> tuple[Rows, F64]:
    return np.concatenate([rows for rows, _ in drawn]), np.concatenate([weights for _, weights in drawn])
