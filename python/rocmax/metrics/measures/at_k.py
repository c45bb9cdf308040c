"""Precision and recall among the k highest scores.

With R and F the true and the false positive rate at the cut and pi the prevalence, ``pi R + (1 - pi) F = k / N``, the
precision is ``N pi R / k`` and the recall R. The cut is set by the same samples: with r the share of positives near it,
R has the components ``(1 - r) 1[s_i above]`` and ``-r (1 - pi) / pi 1[t_j above]``. For a precision p the variance of
these is

    V(p) = ((1 - r)^2 p (1 - k p / m) + r^2 (1 - p) (1 - k (1 - p) / n)) / k,

and the limits of the score interval are the p with ``(estimate - p)^2 = z^2 V(p)``.
"""

from __future__ import annotations

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._cut import Cut, cut_of
from rocmax.metrics.measures._ranking import Ranking


def cut(ranking: Ranking, share: float, counts: tuple[float, float] | None = None) -> Cut:
    """Cut a ranking after this share of all samples."""
    pi = ranking.prevalence
    return cut_of(ranking, (pi, 1.0 - pi), share, counts or ranking.sizes, pooled=True)


def recall_components(ranking: Ranking, share: float, counts: tuple[float, float] | None = None) -> tuple[F64, F64]:
    """Return the components of the recall for the positives and the negatives at every distinct score."""
    at, pi = cut(ranking, share, counts), ranking.prevalence
    return (1.0 - at.near) * at.above, -at.near * (1.0 - pi) / pi * at.above


def limits(precision: float, near: float, k: float, sizes: tuple[float, float], z: float) -> tuple[float, float]:
    """Return the limits of the precision among k samples: the ends of a quadratic inequality."""
    m, n = sizes
    first, second = (1.0 - near) ** 2 / k, near**2 / k
    # V(p) = c0 + c1 p + c2 p^2.
    c0 = second * (1 - k / n)
    c1 = first + second * (2 * k / n - 1)
    c2 = -first * k / m - second * k / n
    a, b, c = 1 - z**2 * c2, -2 * precision - z**2 * c1, precision**2 - z**2 * c0
    root = np.sqrt(max(b**2 - 4 * a * c, 0.0))
    low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
    least, most = max(0.0, 1 - n / k), min(1.0, m / k)
    return float(np.clip(low, least, precision)), float(np.clip(high, precision, most))
