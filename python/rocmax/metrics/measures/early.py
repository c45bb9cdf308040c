"""Components of the measures of early recognition: the enrichment factor, RIE and BEDROC.

With C the share of all samples at a score or above, the positives at the k-th distinct score count the mean of
``exp(-alpha x)`` over their place ``[C_{k-1}, C_k]``, of width c_k:

    RIE = sum_k a_k phi_k / (1 - exp(-alpha)),    phi_k = (exp(-alpha C_{k-1}) - exp(-alpha C_k)) / c_k.

A positive at score j adds phi_j and, as every sample does, moves the ends of all places from its own on, by its class's
share of all samples.
"""

from __future__ import annotations

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures import at_k
from rocmax.metrics.measures._ranking import Ranking, from_here, quotient


def enrichment_components(
    ranking: Ranking, fraction: float, counts: tuple[float, float] | None = None
) -> tuple[F64, F64]:
    """Return the components of the enrichment factor, which is the recall over the fraction."""
    of_pos, of_neg = at_k.recall_components(ranking, fraction, counts)
    return of_pos / fraction, of_neg / fraction


def rie_components(ranking: Ranking, alpha: float) -> tuple[F64, F64]:
    """Return the components of the RIE for the positives and the negatives at every distinct score."""
    pi = ranking.prevalence
    a, b = ranking.shares()
    width = pi * a + (1.0 - pi) * b
    end = np.cumsum(width)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = np.exp(-alpha * (end - width)), np.exp(-alpha * end)
        mean = np.where(width > 0, quotient(first * -np.expm1(-alpha * width), width), alpha * last)
        # Of phi_k by the beginning and by the end of its place; narrow places have half the slope at either.
        of_start, of_end = quotient(mean - alpha * first, width), quotient(alpha * last - mean, width)
    narrow = alpha * width < 1e-5
    half = -(alpha**2) / 2 * first
    of_start, of_end = np.where(narrow, half, of_start), np.where(narrow, half, of_end)
    moved = from_here(a * (of_start + of_end)) - a * of_start
    scale = -np.expm1(-alpha)
    return (mean + pi * moved) / scale, (1.0 - pi) * moved / scale


def bedroc_scale(alpha: float, prevalence: float) -> float:
    """Return what a change of the RIE is multiplied by to be one of the BEDROC."""
    p = prevalence
    most = np.expm1(-alpha * p) / (p * np.expm1(-alpha))
    least = np.exp(-alpha * (1 - p)) * np.expm1(-alpha * p) / (p * np.expm1(-alpha))
    return float(1.0 / (most - least))
