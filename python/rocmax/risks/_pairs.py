"""The hinge over listed pairs."""

from hashlib import blake2b

import numpy as np

from rocmax import _core
from rocmax._typing import F64, Bool
from rocmax.risks._base import Evaluation, OwnOracle


class Listed:
    """The hinge over listed pairs."""

    def __init__(self, pairs: _core.PairList) -> None:
        self.pairs = pairs
        self.__name__ = "hinge"  # of `surrogate_`

    def bind(self, problem: _core.Problem, n_threads: int) -> "PairHinge":
        return PairHinge(self.pairs, problem.labels, n_threads)


class PairHinge(OwnOracle):
    """R(s) = 1/p sum over the p listed pairs (i, j) of (1 - s_i + s_j)_+; convex.

    Keeps the scores of each call: the multipliers of the pairs follow from those of the cuts, and from the scores where
    these touch.
    """

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
