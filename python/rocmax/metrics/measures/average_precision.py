"""Average precision: the mean, over the positives, of the precision at their scores.

With A and B the true and the false positive rate at a score and pi the prevalence, the precision there is
``g = pi A / (pi A + (1 - pi) B)``, and ``AP = sum_k a_k g_k`` over the distinct scores, scikit-learn's
`average_precision_score`. Its derivatives are

    dAP/da_j = g_j + sum_{k >= j} a_k pi (1 - pi) B_k / (pi A_k + (1 - pi) B_k)^2,
    dAP/db_j =     - sum_{k >= j} a_k pi (1 - pi) A_k / (pi A_k + (1 - pi) B_k)^2.
"""

from __future__ import annotations

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking, from_here, quotient


def value(ranking: Ranking, prevalence: float | None = None) -> float:
    """Return the average precision, at the samples' own prevalence or another. O(n) after the sort."""
    if prevalence is None:
        a, b = ranking.pos, ranking.neg
    else:
        a, b = ranking.shares()
        a, b = prevalence * a, (1.0 - prevalence) * b
    above = np.cumsum(a)
    return float(a @ quotient(above, above + np.cumsum(b)) / above[-1])


def components(ranking: Ranking, prevalence: float | None = None) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score. O(n) after the sort."""
    pi = ranking.prevalence if prevalence is None else prevalence
    a, b = ranking.shares()
    above, below = np.cumsum(a), np.cumsum(b)
    called = pi * above + (1.0 - pi) * below
    slope = pi * (1.0 - pi) * quotient(quotient(a, called), called)
    return pi * quotient(above, called) + from_here(slope * below), -from_here(slope * above)
