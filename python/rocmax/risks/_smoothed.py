"""Smoothed risks: cuts with a curvature."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

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

        Half of the rows are positives, the others negatives that have a share, as far as there are so many. None has
        no weight.
        """
        positives, of_pos, pos_share = self._draw(lambda rows: self._labels[rows], size // 2, rng)
        ascending = np.argsort(self._scores[positives])
        positives, of_pos = positives[ascending], of_pos[ascending]
        rows = [positives]
        parts: list[tuple[float, slice, Callable[[F64, F64], F64]]] = []
        first = len(positives)
        for scale, margin, selection in self._hinges:
            lowest = selection[0] - 0.5 * selection[1]

            def counts(rows: slice, lowest: float = lowest) -> Bool:
                return np.asarray(~self._labels[rows] & (self._scores[rows] >= lowest))

            negatives, of_neg, neg_share = self._draw(counts, size // (2 * len(self._hinges)), rng)
            product = _springs(
                (self._scores[positives], of_pos),
                (self._scores[negatives], of_neg),
                (margin, self._width),
                selection,
            )
            weight = scale / (self._width * pos_share * neg_share)
            parts.append((weight, slice(first, first + len(negatives)), product))
            rows.append(negatives)
            first += len(negatives)

        def apply(change: F64) -> F64:
            out = np.zeros_like(change)
            n_pos = len(positives)
            for weight, block, product in parts:
                found = weight * product(change[:n_pos], change[block])
                out[:n_pos] += found[:n_pos]
                out[block] = found[n_pos:]
            return out

        return np.concatenate(rows), apply

    def _draw(self, wanted: Callable[[slice], Bool], size: int, rng: np.random.Generator) -> tuple[Rows, F64, float]:
        """Return up to `size` of the wanted rows, ascending, what they weigh, and their share of all that weight.

        Weighted rows are drawn by their weights, and then weigh as often as they were drawn.
        """
        n_rows = len(self._labels)
        blocks = [slice(first, min(first + _ROWS, n_rows)) for first in range(0, n_rows, _ROWS)]

        def weigh(block: slice) -> F64:
            found = wanted(block).astype(np.float64)
            return found if self._sample_weight is None else found * self._sample_weight[block]

        sums = np.array([(np.count_nonzero(weights), weights.sum()) for weights in map(weigh, blocks)])
        count, total = int(sums[:, 0].sum()), float(sums[:, 1].sum())
        places: AnyArray
        if count <= size:
            places = np.empty(0)
        elif self._sample_weight is not None:
            places = (np.arange(size) + rng.random(size)) * (total / size)
        else:
            places = np.sort(rng.choice(count, size, replace=False, shuffle=False)) + 0.5
        ends = np.cumsum(np.append(0.0, sums[:, 1]))
        parts = np.split(places, np.searchsorted(places, ends[1:-1]))
        drawn: list[tuple[Rows, F64]] = []
        for block, first, part in zip(blocks, ends[:-1], parts, strict=True):
            weights = weigh(block)
            rows = np.flatnonzero(weights)
            weights = weights[rows]
            if count > size and len(rows):
                at = np.searchsorted(np.cumsum(weights), part - first, side="right")
                times = np.bincount(np.minimum(at, len(rows) - 1))
                at = np.flatnonzero(times)
                rows, weights = rows[at], times[at].astype(np.float64)
            drawn.append((block.start + rows, weights))
        rows, of_rows = (np.concatenate(found) for found in zip(*drawn, strict=True))
        return rows, of_rows, size / total if count > size else 1.0


def _springs(
    positives: tuple[F64, F64], negatives: tuple[F64, F64], hinge: tuple[float, float], selection: Selection
) -> Callable[[F64, F64], F64]:
    """Return the curvature of one hinge, times its width, over scores and weights; ascending ones of the positives."""
    (pos, of_pos), (neg, of_neg) = positives, negatives
    (margin, width), (threshold, stretch, tied) = hinge, selection
    low = np.searchsorted(pos, neg + margin - width)
    high = np.searchsorted(pos, neg + margin)
    below = np.concatenate([[0.0], np.cumsum(of_pos)])
    share, slope = np.where(neg == threshold, tied, 1.0) * of_neg, np.zeros(len(neg))
    if stretch > 0:
        of_one = np.clip((neg - threshold) / stretch + 0.5, 0.0, 1.0)
        share = of_one * of_neg
        # How fast the share of a negative rises, times how many positives that concerns.
        rising = (of_one > 0) & (of_one < 1)
        slope = np.where(rising, 0.5 * (below[low] + below[high]) * of_neg, 0.0) * (width / stretch)
    n_pos, total = len(pos), float(slope.sum())
    per_neg = share * (below[high] - below[low])

    def sums(values: F64) -> F64:
        """Sum over the negatives that a positive is paired with."""
        at_low = np.bincount(low, weights=values, minlength=n_pos + 1)
        return of_pos * np.cumsum(at_low - np.bincount(high, weights=values, minlength=n_pos + 1))[:n_pos]

    per_pos = sums(share)

    def product(u: F64, t: F64) -> F64:
        before = np.concatenate([[0.0], np.cumsum(of_pos * u)])
        on_neg = per_neg * t - share * (before[high] - before[low])
        if total > 0:
            on_neg += slope * (t - (slope @ t) / total)
        return np.concatenate([per_pos * u - sums(share * t), on_neg])

    return product
