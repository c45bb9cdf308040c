"""The pairs of a positive and a negative that a machine is trained on, and their multipliers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._runtime.memory import available_memory, require_memory
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
RULES = ("two-step", "symmetric")
# Bytes that a pair of `support_pairs_` takes while it is found.
_SUPPORT = 32


def neighbor_pairs(
    X: Any, problem: _core.Problem, k: int, rule: str, threads: int, *, kernel: bool = False
) -> _core.PairList:
    """Return the pairs of near samples by the rule of :class:`AUCSVC`; of equal distances the lower row is nearer."""
    if hasattr(X, "toarray"):
        require_memory(
            8 * X.shape[0] * X.shape[1], "pairs='neighbors' makes a sparse X dense, which", "use pairs='all'"
        )
        X = X.toarray()
    values = np.ascontiguousarray(X, dtype=np.float64)
    return _core.PairList.neighbors(problem, (values, kernel), k, rule == "two-step", threads)


def given_pairs(pairs: Any, problem: _core.Problem, threads: int) -> _core.PairList:
    """Return the pairs that a user lists."""
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        what = f"an array of shape {rows.shape}" if rows.ndim else repr(pairs)
        raise ValueError(f"pairs must be 'all', 'neighbors', 'random' or an array of shape (n_pairs, 2), got {what}")
    i, j = check_pairs(rows[:, 0], rows[:, 1], problem.labels, ("pairs[:, 0]", "pairs[:, 1]"))
    return _core.PairList.listed(problem, np.column_stack([i, j]).astype(np.int64), threads)


class CutMultipliers:
    """Multipliers over all pairs: al_ij = share_i share_j sum_k weight_k 1[cut k counts (i, j)].

    The shares are those of the samples in the weight of their class. Memory O(cuts N).
    """

    def __init__(self, weights: F64, coefs: F64, problem: _core.Problem) -> None:
        positive, weight = problem.labels, problem.sample_weight
        own = np.ones(len(positive)) if weight is None else weight
        totals = own[positive].sum(), own[~positive].sum()
        self._labels, self._own = positive, weight
        self._share = own / np.where(positive, *totals)
        self._weights = np.ascontiguousarray(weights[weights > 0])
        self._levels = _core.pair_levels(problem, coefs[weights > 0] * np.prod(totals))

    def support(self) -> NDArray[np.intp]:
        """Return the pairs with a multiplier above 0, of shape (k, 2), sorted by positive, then by negative."""
        most = available_memory() // _SUPPORT
        problem = _core.Problem(self._labels, self._own)
        found, total = _core.pair_support(problem, self._weights, self._levels, min(most, 2**62), n_threads(None))
        if total > len(found):
            advice = "pair_dual(i, j) has the multipliers of chosen pairs without a list"
            require_memory(_SUPPORT * total, f"support_pairs_ of {total:,} pairs", advice)
        return found

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        rows = (np.ascontiguousarray(rows, dtype=np.int64).ravel() for rows in (i, j))
        found = _core.pair_multipliers(self._weights, self._levels, *rows).reshape(np.shape(i))
        return np.asarray(found * self._share[i] * self._share[j])


class ListedMultipliers:
    """Multipliers of listed pairs, sorted; others are 0."""

    def __init__(self, pairs: _core.PairList, values: F64, n_samples: int) -> None:
        kept = values > 0
        self._rows, self._values, self._n_samples = pairs.rows()[kept], values[kept], n_samples

    def support(self) -> NDArray[np.intp]:
        """Return the pairs with a multiplier above 0, of shape (k, 2), sorted by positive, then by negative."""
        return self._rows.copy()

    def __call__(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> F64:
        keys, wanted = self._rows @ [self._n_samples, 1], np.asarray(i) * self._n_samples + j
        if not len(keys):
            return np.zeros(wanted.shape)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self._values[place], 0.0)


def check_pairs(i: Any, j: Any, positive: Bool, names: tuple[str, str] = ("i", "j")) -> Pairs:
    """Check and broadcast the indices i of positive and j of negative rows."""
    checked = []
    for name, rows, label, kind in zip(names, (i, j), (True, False), ("positive", "negative"), strict=True):
        array = np.asarray(rows)
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be a whole number or an array of them, got dtype {array.dtype}")
        outside = array[(array < 0) | (array >= len(positive))]
        if len(outside):
            raise ValueError(f"{name} must be a training row, 0 to {len(positive) - 1}, got {outside[0]}")
        wrong = array[positive[array] != label]
        if len(wrong):
            raise ValueError(f"{name} must index {kind} training rows, but row {wrong[0]} is not")
        checked.append(array.astype(np.intp))
    try:
        first, second = np.broadcast_arrays(*checked)
    except ValueError:
        shapes = " and ".join(str(rows.shape) for rows in checked)
        raise ValueError(f"i and j must have shapes that broadcast, such as (k,) and (k,), got {shapes}") from None
    return first, second
