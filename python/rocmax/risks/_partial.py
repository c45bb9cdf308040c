"""Surrogates of the partial AUC risk on a range of false positive rates."""

from dataclasses import dataclass

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

    With h(j) = 1/M sum_i sum_{r<=j} (1 - s_i + t_(r))_+, a convex function, R = h(j_b) - h(j_a)
    (Narasimhan and Agarwal, 2016, section 6 and Algorithm 4).
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle | Difference:
        return _difference(problem, self.fpr_range, [(1.0, True, 1.0)], [(1.0, False, 1.0)], n_threads)


@dataclass(frozen=True)
class Ramp:
    """The mean of min(1, (1 - s + t)_+) over the pairs of the range: each pair costs at most 1; not convex.

    With h(j, k) = 1/M sum_i sum_{r<=j} (k - s_i + t_(r))_+, a convex function,
    R = [h(j_b, 1) + h(j_a, 0)] - [h(j_b, 0) + h(j_a, 1)].
    """

    fpr_range: tuple[float, float]

    def bind(self, problem: _core.Problem, n_threads: int) -> Oracle | Difference:
        convex = [(1.0, True, 1.0), (1.0, False, 0.0)]
        concave = [(1.0, True, 0.0), (1.0, False, 1.0)]
        return _difference(problem, self.fpr_range, convex, concave, n_threads)


_Terms = list[tuple[float, bool, float]]  # weight, whether the sum ends at j_b (else at j_a), margin


def _difference(
    problem: _core.Problem, fpr_range: tuple[float, float], convex: _Terms, concave: _Terms, n_threads: int
) -> Oracle | Difference:
    """Return convex - concave, or only the convex part if the concave one sums over no negatives."""

    def oracle(terms: _Terms, of: _core.Problem = problem, span: tuple[float, float] = fpr_range) -> Oracle:
        return Oracle(_core.Oracle.top_hinge(of, *span, terms), n_threads)

    j_a, j_b = problem.ranks(*fpr_range)
    f, g = oracle(convex), oracle(concave)
    if j_a == 0 and not any(high for _, high, _ in concave):
        return f
    whole = oracle(convex + [(-weight, high, margin) for weight, high, margin in concave])
    if j_a == 0:
        return Difference(f, g, whole)
    convex, concave = ([term for term in terms if term[1]] for terms in (convex, concave))

    def without(above: F64) -> Difference:
        rest = float(above[~problem.labels].sum())
        of = _core.Problem(problem.labels, above), (0.0, min((j_b - j_a) / rest, 1.0))
        return Difference(oracle(convex, *of), oracle(concave, *of) if concave else None, whole)

    return Trimmed(f, g, whole, j_a, without)
