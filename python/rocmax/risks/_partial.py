"""Surrogates of the partial AUC risk on a range of false positive rates."""

from dataclasses import dataclass

from rocmax import _core
from rocmax.risks._base import Difference, Oracle


@dataclass(frozen=True)
class Tight:
    """The tight structural surrogate; convex.

    R(s) = 1/M sum_i max_{0<=r<=j_b} [ sum_{k<=r} (t_(k) - s_i) + max(0, r - j_a) ], M = m (j_b - j_a).

    The pairwise hinge where the range starts at zero. Unbounded: hopeless positives weigh ever more, and where no
    direction lifts the mean positive above the mean of the top j_b negatives its minimiser is the zero model.

    References
    ----------
    Narasimhan and Agarwal (2016), eq. 18 and Algorithms 2-3.
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle:
        """Return the oracle of this risk for labels."""
        return Oracle(_core.Oracle.tight(problem, *self.fpr_range), n_threads)


@dataclass(frozen=True)
class Ramp:
    """The mean of min(1, (1 - s + t)_+) over the pairs of the range: each pair costs at most 1; not convex.

    With h(j, k) = 1/M sum_i sum_{r<=j} (k - s_i + t_(r))_+, a convex function,
    R = [h(j_b, 1) + h(j_a, 0)] - [h(j_b, 0) + h(j_a, 1)].
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Difference:
        """Return the two convex parts and the whole of this risk for labels."""
        j_a, j_b = _core.ranks(*self.fpr_range, problem.n_neg)
        convex = [(1.0, j_b, 1.0), (1.0, j_a, 0.0)]
        concave = [(1.0, j_b, 0.0), (1.0, j_a, 1.0)]
        whole = convex + [(-weight, top, margin) for weight, top, margin in concave]
        parts = (
            Oracle(_core.Oracle.top_hinge(problem, *self.fpr_range, terms), n_threads)
            for terms in (convex, concave, whole)
        )
        return Difference(*parts)
