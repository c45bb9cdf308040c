"""Rates at a cut that the samples themselves set.

A cut is where a cumulative sum of both classes reaches a number: of the weights for the k highest scores, of the rates
for the point at which ``TPR + FPR = 1``. Every order of tied samples is as likely, so that a cut inside a block of ties
takes the same share of its positives and of its negatives.

When a sample is added, the cut moves. What crosses it are positives by the share that they have in the sum near the
cut, r. With P the positives' part of the sum and Q the negatives', P + Q fixed, a change (dP, dQ) of the parts above a
fixed threshold changes P by ``dP - r (dP + dQ) = (1 - r) dP - r dQ``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking

# Half the width of the window around a cut, in standard errors of the sum above it, and how many samples the slope of
# two normal distributions with the same variance counts for: 1 to 3 and 2 to 8 covered as well.
_WINDOW, _PRIOR = 2.0, 4.0


class Cut(NamedTuple):
    """Where a ranking is cut."""

    tpr: float
    fpr: float
    above: F64  # which share of every distinct score lies above the cut
    near: float  # r, the positives' share of the sum near the cut


def cut_of(
    ranking: Ranking, shares: tuple[float, float], at: float, counts: tuple[float, float], *, pooled: bool
) -> Cut:
    """Cut where the sum of both rates, each times its class's share of the sum, reaches `at`.

    `counts` are the numbers of samples behind the rates. In a `pooled` sum both classes have the share of their counts.
    """
    a, b = ranking.shares()
    pos, neg = shares[0] * a, shares[1] * b
    step = pos + neg
    reached = np.cumsum(step)
    k = min(int(np.searchsorted(reached, at)), len(step) - 1)
    share = float(np.clip(1.0 - (reached[k] - at) / step[k], 0.0, 1.0)) if step[k] > 0 else 1.0
    above = (np.arange(len(step)) < k).astype(np.float64)
    above[k] = share
    tpr, fpr = (float(np.clip(part[:k].sum() + share * part[k], 0.0, 1.0)) for part in (a, b))
    m, n = counts
    rates = [(rate * size + 0.5) / (size + 1.0) for rate, size in ((tpr, m), (fpr, n))]
    error = np.sqrt(sum(s**2 * r * (1 - r) / size for s, r, size in zip(shares, rates, counts, strict=True)))
    ends = np.clip([at - _WINDOW * error, at + _WINDOW * error], 0.0, reached[-1])
    corners = np.concatenate([[0.0], reached])
    first, last = max(int(np.searchsorted(corners, ends[0], "right")) - 1, 0), int(np.searchsorted(corners, ends[1]))
    window = slice(first, last + 1)
    inside = [float(np.diff(np.interp(ends, corners[window], _sums(part, first, last)))[0]) for part in (pos, neg)]
    u, v = (float(special.ndtri(rate)) for rate in rates)
    density = shares[0] * np.exp((v**2 - u**2) / 2)
    usual = density / (density + shares[1])
    found = [inside[0] / shares[0] * m, inside[1] / shares[1] * n]
    count = sum(found) if pooled else min(found)
    whole = sum(inside)
    near = (count * inside[0] / whole + _PRIOR * usual) / (count + _PRIOR) if whole > 0 else usual
    return Cut(tpr, fpr, above, float(near))


def _sums(part: F64, first: int, last: int) -> F64:
    return np.concatenate([[0.0], np.cumsum(part[first:last])])
