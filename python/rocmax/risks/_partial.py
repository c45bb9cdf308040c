"""Surrogates of the partial AUC risk on a range of false positive rates."""

from dataclasses import dataclass

import numpy as np

from rocmax import _core
from rocmax._typing import F64
from rocmax.risks._base import Difference, Oracle, Trimmed


@dataclass(frozen=True)
class Tight:
    """The tight structural surrogate; convex.

    R(s) = 1/M sum_i max_{0<=r<=j_b} [ sum_{k<=r} (t_(k) - s_i) + max(0, r - j_a) ], M = m (j_b - j_a)
    (Narasimhan and Agarwal, 2016, eq. 18 and Algorithms 2-3).

    The pairwise hinge if the range starts at zero. Unbounded: positives ranked very low dominate the risk. If no
    direction lifts the mean positive above the mean of the top j_b negatives, the zero model is the minimiser.
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle:
        return Oracle(_core.Oracle.tight(problem, *self.fpr_range), n_threads)


@dataclass(frozen=True)
class Naive:
    """The structural surrogate over the order of all negatives, an upper bound of the tight one; convex.

    R(s) = 1/M sum_i max_{0<=r<=n} [ sum_{k<=r} (t_(k) - s_i) + max(0, min(r, j_b) - j_a) ], M = m (j_b - j_a)
    (Narasimhan and Agarwal, 2016, eq. 11).

    The tight surrogate plus 1/M sum_i sum_{k>j_b} (t_(k) - s_i)_+, which penalises negatives beyond the range.
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle:
        return Oracle(_core.Oracle.naive(problem, *self.fpr_range), n_threads)


@dataclass(frozen=True)
class Hinge:
    """The mean of the hinge (1 - s + t)_+ over the pairs of the range; convex only if the range starts at zero.

    Otherwise it is the minimum, over all sets S of j_a negatives, of the convex hinge without S (see `Trimmed`).
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle | Trimmed:
        found = _trimmed(problem, self.fpr_range, [1.0], n_threads)
        return found if found.above else found.part(None).convex


@dataclass(frozen=True)
class Ramp:
    """The mean of min(1, (1 - s + t)_+) over the pairs of the range: each pair costs at most 1; not convex.

    With h(k) = 1/M sum_i sum_r (k - s_i + t_(r))_+ over the range, R = h(1) - h(0). If the range starts at zero, both
    are convex; otherwise they are if the negatives above the range are left out (see `Trimmed`).
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Trimmed:
        return _trimmed(problem, self.fpr_range, [1.0, 0.0], n_threads)


def _trimmed(problem: _core.Problem, fpr_range: tuple[float, float], margins: list[float], n_threads: int) -> Trimmed:
    """Return the hinge of the first margin over the pairs of the range, less that of the second margin, if any."""
    (j_a, j_b), n = problem.ranks(*fpr_range), problem.ranks(0.0, 1.0)[1]
    labels, weight = problem.labels, problem.sample_weight

    def oracle(terms: list[tuple[float, bool, float]], of: _core.Problem, span: tuple[float, float]) -> Oracle:
        return Oracle(_core.Oracle.top_hinge(of, *span, terms), n_threads)

    def part(below: F64 | None) -> Difference:
        if below is None:
            rest, span = problem, fpr_range
        else:
            # Negatives that happen to have whole weights must not turn shares of them into ranks.
            unit = n - j_a if weight is not None and np.any(weight % 1.0) else 1.0
            own = np.ones(len(labels)) if weight is None else weight
            rest = _core.Problem(labels, np.where(labels, own, below / unit))
            span = 0.0, min((j_b - j_a) / (n - j_a), 1.0)
        convex, *concave = (oracle([(1.0, True, margin)], rest, span) for margin in margins)
        return Difference(convex, concave[0] if concave else None, below)

    terms = [
        (sign * own, high, margin)
        for sign, margin in zip((1.0, -1.0), margins, strict=False)
        for own, high in ((1.0, True), (-1.0, False))
    ]
    return Trimmed(oracle(terms, problem, fpr_range), j_a, part)
