"""Rates at a cut whose place depends on the samples.

The cut is where a cumulative sum over both classes reaches a number: a sum of weights for the k highest scores, a sum
of rates for the point with ``TPR + FPR = 1``. All orders of tied samples are equally likely, so a cut inside a block of
ties takes the same share of its positives and of its negatives.

Adding a sample moves the cut, and r, the positives' share of the sum near the cut, is their share of what crosses it.
With P the positives' part of the sum and Q the negatives', P + Q fixed, a change (dP, dQ) of the parts above a fixed
threshold changes P by ``dP - r (dP + dQ) = (1 - r) dP - r dQ``.
"""

from typing import NamedTuple

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking

# Half the width of the window around a cut, in standard errors of the sum above it, and the number of samples that the
# prior counts for: the share r of two normal distributions with equal variances.
_WINDOW, _PRIOR = 2.0, 4.0


class Cut(NamedTuple):
    """A cut of a ranking."""

    tpr: float
    fpr: float
    above: F64  # share of the samples with each distinct score
    near: float  # r, the positives' share of the sum near the cut


def cut_of(
    ranking: Ranking, scales: tuple[float, float], at: float, counts: tuple[float, float], *, pooled: bool
) -> Cut:
    """Cut where the sum of the weights of both classes, each times its scale, reaches `at`.

    `counts` are the numbers of samples behind the weights. In a `pooled` sum both classes have the same scale.
    """
    pos, neg = scales[0] * ranking.pos, scales[1] * ranking.neg
    step = pos + neg
    reached = np.cumsum(step)
    k = min(int(np.searchsorted(reached, at)), len(step) - 1)
    share = float(np.clip(1.0 - (reached[k] - at) / step[k], 0.0, 1.0)) if step[k] > 0 else 1.0
    above = (np.arange(len(step)) < k).astype(np.float64)
    above[k] = share
    tpr, fpr = (
        min(float(part[:k].sum() + share * part[k]) / size, 1.0)
        for part, size in zip((ranking.pos, ranking.neg), ranking.sizes, strict=True)
    )
    return Cut(tpr, fpr, above, _near(ranking, scales, at, counts, (tpr, fpr), (pos, neg, reached), pooled))


def _near(
    ranking: Ranking,
    scales: tuple[float, float],
    at: float,
    counts: tuple[float, float],
    rates: tuple[float, float],
    sums: tuple[F64, F64, F64],
    pooled: bool,
) -> float:
    """Return the positives' share in a window around the cut, shrunk towards that of normal scores."""
    pos, neg, reached = sums
    inner = [(rate * count + 0.5) / (count + 1.0) for rate, count in zip(rates, counts, strict=True)]
    wholes = [scale * size for scale, size in zip(scales, ranking.sizes, strict=True)]
    error = sum(w**2 * r * (1.0 - r) / n for w, r, n in zip(wholes, inner, counts, strict=True)) ** 0.5
    ends = np.clip([at - _WINDOW * error, at + _WINDOW * error], 0.0, reached[-1])
    corners = np.concatenate([[0.0], reached])
    first, last = max(int(np.searchsorted(corners, ends[0], "right")) - 1, 0), int(np.searchsorted(corners, ends[1]))
    inside = []
    for part in (pos, neg):
        summed = np.concatenate([[0.0], np.cumsum(part[first:last])])
        inside.append(float(np.diff(np.interp(ends, corners[first : last + 1], summed))[0]))
    from scipy import special  # takes a while to import

    u, v = (float(special.ndtri(rate)) for rate in inner)
    density = wholes[0] * np.exp((v**2 - u**2) / 2)
    usual = density / (density + wholes[1])
    found = [part / whole * count for part, whole, count in zip(inside, wholes, counts, strict=True)]
    count = sum(found) if pooled else min(found)
    whole = sum(inside)
    return float((count * inside[0] / whole + _PRIOR * usual) / (count + _PRIOR)) if whole > 0 else float(usual)
