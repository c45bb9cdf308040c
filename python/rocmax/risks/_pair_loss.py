"""Risks of pairs: smooth losses with second derivatives, and the hinge over listed pairs."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from rocmax import _core
from rocmax._parameters import as_float, check_choice, check_positive, shown
from rocmax._typing import F64, Bool
from rocmax.risks._base import Evaluation, OwnOracle

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


def blended_pair_loss(
    blend: Any, loss: Any, widen: Any, of_tpr: bool, low: float, high: float
) -> tuple[float, PairLoss]:
    """Check and return the share of a pair loss, and the loss on a range of rates widened downwards."""
    share = as_float(blend)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"blend must be a number in [0, 1], got {shown(blend)}")
    loss = check_choice("loss", loss, PAIR_LOSSES)
    if widen is not None:
        if check_positive("widen", widen) < 1.0:
            raise ValueError(f"widen must be at least 1, or None, got {shown(widen)}")
        low, high = 0.0, min(1.0, float(widen) * high)
    return share, PairLoss(loss, "tpr", 1.0 - high, 1.0 - low) if of_tpr else PairLoss(loss, "fpr", low, high)


class Listed:
    """The hinge over listed pairs."""

    def __init__(self, pairs: _core.PairList) -> None:
        self.pairs = pairs
        self.__name__ = "hinge"  # of `surrogate_`

    def bind(self, problem: _core.Problem, n_threads: int) -> "PairHinge":
        return PairHinge(self.pairs, problem.labels, n_threads)


class PairHinge(OwnOracle):
    """R(s) = 1/p sum over p pairs (i, j) of (1 - s_i + s_j)_+; keeps the scores of calls, for the multipliers."""

    def __init__(self, pairs: _core.PairList, positive: Bool, n_threads: int) -> None:
        self.pairs, self._positive, self._n_threads = pairs, positive, n_threads
        self._scores: dict[bytes, F64] = {}

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N + p). ``partial_auc`` is the share of the listed pairs in the right order."""
        coef = np.empty(len(scores))
        value, partial_auc, offset = self.pairs.hinge(scores, coef, self._n_threads)
        self._scores[_key(coef)] = scores.copy()
        return Evaluation(value, coef, partial_auc, offset)

    def multipliers(self, weights: F64, coefs: F64) -> F64:
        """Return al_ij = 1/p sum_k weight_k 1[cut k counts (i, j)], given the coefficients of cuts at earlier calls."""
        known = [self._scores.get(_key(coef)) for coef in coefs]
        used = [k for k, scores in enumerate(known) if scores is not None and weights[k] > 0]
        if not used:
            return np.zeros(len(self.pairs))
        scores = np.column_stack([known[k] for k in used])  # type: ignore[misc]
        levels = np.where(self._positive[:, None], 1.0 - scores, -scores)  # (i, j) counts if s_j > s_i - 1
        return self.pairs.multipliers(weights[used] / len(self.pairs), levels, self._n_threads)


def _key(coef: F64) -> bytes:
    return blake2b(coef.tobytes(), digest_size=16).digest()
