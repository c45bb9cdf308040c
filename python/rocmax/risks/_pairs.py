"""The hinge over listed pairs."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._typing import F64
from rocmax.risks._base import Evaluation, OwnOracle


class Listed:
    """The hinge over listed pairs (i, j), whatever the labels."""

    def __init__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> None:
        self.pairs = i, j
        self.__name__ = "hinge"  # of `surrogate_`

    def bind(self, problem: _core.Problem, n_threads: int) -> "PairHinge":
        return PairHinge(*self.pairs)


class PairHinge(OwnOracle):
    """R(s) = 1/p sum over the p listed pairs (i, j) of (1 - s_i + s_j)_+; convex.

    Keeps which pairs each subgradient counts, one bit a pair: the multipliers of the pairs follow from those of the
    cuts.
    """

    def __init__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> None:
        self.i, self.j = i, j
        self._active: dict[bytes, NDArray[np.uint8]] = {}

    def __call__(self, scores: F64, /) -> Evaluation:
        """Evaluate the risk; O(N + p). ``partial_auc`` is the share of the listed pairs in the right order."""
        margins = scores[self.i] - scores[self.j]
        if not np.isfinite(margins).all():
            raise ValueError("scores must be finite and their differences too")
        active = margins < 1.0
        n_samples, p = len(scores), len(margins)
        counts = np.bincount(self.j[active], minlength=n_samples) - np.bincount(self.i[active], minlength=n_samples)
        coef = counts / p
        self._active[_key(coef)] = np.packbits(active)
        value = float(np.sum(1.0 - margins[active])) / p
        return Evaluation(value, coef, float(np.mean(margins > 0)), np.count_nonzero(active) / p)

    def multipliers(self, weights: F64, coefs: F64) -> F64:
        """Return al_ij = 1/p sum_k weight_k 1[cut k counts (i, j)], given the coefficients of cuts at earlier calls."""
        total = np.zeros(len(self.i))
        for weight, coef in zip(weights, coefs, strict=True):
            bits = self._active.get(_key(coef))
            if weight > 0 and bits is not None:
                total += weight / len(total) * np.unpackbits(bits, count=len(total))
        return total


def _key(coef: F64) -> bytes:
    return blake2b(coef.tobytes(), digest_size=16).digest()
