"""Smooth pair losses with second derivatives, for boosted trees and networks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rocmax import _core
from rocmax._typing import F64

PAIR_LOSSES = ("squared_hinge", "smoothed_hinge")


class Derivatives(NamedTuple):
    """The value of a pair loss, its gradient and the diagonal of its Hessian, positive where the gradient is not 0."""

    value: float
    gradient: F64
    hessian: F64


@dataclass(frozen=True)
class PairLoss:
    """R(s) = 1/M sum_ij p_i q_j loss(s_i - t_j), the mean loss of the pairs of a range.

    With u the difference of the scores, "squared_hinge" is (1 - u)_+^2; "smoothed_hinge" is half of that down to u = 0
    and 1/2 - u below. With `rates` "fpr" the pairs are all positives with the negatives ranked in [low, high], with
    "tpr" all negatives with the positives of that range. p_i, q_j are the weights inside the range, where a block of
    ties that an end cuts counts in part, and M is the sum of p_i q_j. See ``rocmax_core::risk::pair_loss``.
    """

    loss: str
    rates: str
    low: float
    high: float

    def derivatives(self, problem: _core.Problem, scores: F64, n_threads: int = 1) -> Derivatives:
        """Return the value, the gradient and the diagonal of the Hessian; O(N log N)."""
        gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
        return Derivatives(self.add_to((gradient, hessian), 1.0, problem, scores, n_threads), gradient, hessian)

    def add_to(
        self, derivatives: tuple[F64, F64], scale: float, problem: _core.Problem, scores: F64, n_threads: int = 1
    ) -> float:
        """Add `scale` times the gradient and the diagonal of the Hessian to those given, and return the value."""
        loss = _core.PairLoss.squared_hinge() if self.loss == "squared_hinge" else _core.PairLoss.smoothed_hinge()
        pairs = (_core.PairRange.tpr if self.rates == "tpr" else _core.PairRange.fpr)(self.low, self.high)
        return _core.pair_loss(problem, scores, loss, pairs, scale, derivatives, n_threads)
