"""Net benefit of acting on every score of at least t, where scores are probabilities (Vickers and Elkin, 2006).

``NB = pi R - (1 - pi) F t / (1 - t)`` with R and F the true and the false positive rate at t and pi the prevalence:
true positives per sample, less the false positives at the odds of t.
"""

from __future__ import annotations

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking


def value(ranking: Ranking, threshold: float, prevalence: float | None = None) -> float:
    """Return the net benefit."""
    pi = ranking.prevalence if prevalence is None else prevalence
    called = ranking.score >= threshold
    a, b = (float(part[called].sum()) for part in ranking.shares())
    return pi * a - (1.0 - pi) * b * threshold / (1.0 - threshold)


def components(ranking: Ranking, threshold: float, prevalence: float | None = None) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score."""
    pi = ranking.prevalence if prevalence is None else prevalence
    called = (ranking.score >= threshold).astype(np.float64)
    return pi * called, -(1.0 - pi) * threshold / (1.0 - threshold) * called
