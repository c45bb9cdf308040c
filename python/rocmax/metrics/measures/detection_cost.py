"""The least cost of detection over all thresholds (minDCF of the NIST speaker recognition evaluations).

``min_t (p c_miss (1 - R(t)) + (1 - p) c_fa F(t)) / min(p c_miss, (1 - p) c_fa)``, over the points of the ROC curve from
(0, 0), for the prior p of a target. At the least the slope of the cost is 0, so that the threshold counts as fixed.
"""

from __future__ import annotations

import numpy as np

from rocmax._typing import F64
from rocmax.metrics.measures._ranking import Ranking


def _costs(prior: float, miss: float, false_alarm: float) -> tuple[float, float]:
    costs = prior * miss, (1.0 - prior) * false_alarm
    return costs[0] / min(costs), costs[1] / min(costs)


def _best(ranking: Ranking, costs: tuple[float, float]) -> tuple[float, int]:
    """Return the least cost and how many distinct scores are called positive there."""
    a, b = ranking.shares()
    cost = np.concatenate([[costs[0]], costs[0] * (1.0 - np.cumsum(a)) + costs[1] * np.cumsum(b)])
    k = int(np.argmin(cost))
    return max(float(cost[k]), 0.0), k


def value(ranking: Ranking, prior: float, miss: float = 1.0, false_alarm: float = 1.0) -> float:
    """Return the least cost. O(n) after the sort."""
    return _best(ranking, _costs(prior, miss, false_alarm))[0]


def components(ranking: Ranking, prior: float, miss: float = 1.0, false_alarm: float = 1.0) -> tuple[F64, F64]:
    """Return the components of the positives and of the negatives at every distinct score."""
    costs = _costs(prior, miss, false_alarm)
    called = (np.arange(len(ranking.pos)) < _best(ranking, costs)[1]).astype(np.float64)
    return -costs[0] * called, costs[1] * called
