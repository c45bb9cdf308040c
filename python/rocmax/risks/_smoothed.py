"""Smoothed risks: cuts with a curvature."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rocmax._typing import F64, Bool, Rows

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
    in the stretch around the threshold of a selection are tied to their mean.
    """

    def __init__(self, labels: Bool, scores: F64, hinges: list[tuple[float, float, Selection]], width: float) -> None:
        self._labels, self._scores, self._hinges, self._width = labels, scores, hinges, width

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Rows, Product]:
        """Return the rows of a sample, and its estimate of the curvature as a product with scores of these rows.

        Half of the rows are positives, the others negatives that have a share, as far as there are so many.
        """
        positives, pos_share = _draw(lambda rows: self._labels[rows], len(self._labels), size // 2, rng)
        positives = positives[np.argsort(self._scores[positives])]
        rows = [positives]
        parts: list[tuple[float, slice, Callable[[F64, F64], F64]]] = []
        first = len(positives)
        for scale, margin, selection in self._hinges:
            lowest = selection[0] - 0.5 * selection[1]

            def counts(rows: slice, lowest: float = lowest) -> Bool:
                return np.asarray(~self._labels[rows] & (self._scores[rows] >= lowest))

            negatives, neg_share = _draw(counts, len(self._labels), size // (2 * len(self._hinges)), rng)
            product = _springs(self._scores[positives], self._scores[negatives], (margin, self._width), selection)
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


def _draw(wanted: Callable[[slice], Bool], n_rows: int, size: int, rng: np.random.Generator) -> tuple[Rows, float]:
    """Return up to `size` of the wanted rows, ascending, and their share; looks at some rows at a time."""
    blocks = [slice(first, min(first + _ROWS, n_rows)) for first in range(0, n_rows, _ROWS)]
    ends = np.cumsum([0, *(np.count_nonzero(wanted(block)) for block in blocks)])
    total = int(ends[-1])
    size = min(size, total)
    drawn = np.arange(total) if size == total else np.sort(rng.choice(total, size, replace=False, shuffle=False))
    parts = [
        block.start + np.flatnonzero(wanted(block))[part - first]
        for block, first, part in zip(blocks, ends, np.split(drawn, np.searchsorted(drawn, ends[1:-1])), strict=False)
        if len(part)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp), size / max(total, 1)


def _springs(pos: F64, neg: F64, hinge: tuple[float, float], selection: Selection) -> Callable[[F64, F64], F64]:
    """Return the curvature of one hinge, times its width, over ascending positives and the negatives."""
    (margin, width), (threshold, stretch, tied) = hinge, selection
    low = np.searchsorted(pos, neg + margin - width)
    high = np.searchsorted(pos, neg + margin)
    share, slope = np.where(neg == threshold, tied, 1.0), np.zeros(len(neg))
    if stretch > 0:
        share = np.clip((neg - threshold) / stretch + 0.5, 0.0, 1.0)
        # How fast the share of a negative rises, times how many positives that concerns.
        slope = np.where((share > 0) & (share < 1), 0.5 * (low + high), 0.0) * (width / stretch)
    n_pos, total = len(pos), float(slope.sum())
    per_neg = share * (high - low)

    def sums(values: F64) -> F64:
        """Sum over the negatives that a positive is paired with."""
        at_low = np.bincount(low, weights=values, minlength=n_pos + 1)
        return np.cumsum(at_low - np.bincount(high, weights=values, minlength=n_pos + 1))[:n_pos]

    per_pos = sums(share)

    def product(u: F64, t: F64) -> F64:
        before = np.concatenate([[0.0], np.cumsum(u)])
        on_neg = per_neg * t - share * (before[high] - before[low])
        if total > 0:
            on_neg += slope * (t - (slope @ t) / total)
        return np.concatenate([per_pos * u - sums(share * t), on_neg])

    return product
