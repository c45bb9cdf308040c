"""The surrogates by name, all that is known of each, their risks at given scores, and what averages of cuts prove.

What proves a lower bound is the average of the cuts, as an arrangement of pairs that anyone can check. For each
positive i a cut takes shares x_ij in [0, 1] of the negatives j, with sizes rho_i = sum_j v_j x_ij (v_j: the weight of a
negative, 1 without weights), and

    R(s) >= 1/M sum_i w_i [ sum_j v_j x_ij (t_j - s_i) + gain(rho_i) ],    M = sum_i w_i (J_b - J_a)

if rho_i <= J_b ("naive": always): the shares of the most violated ordering make it tight. So an average of cuts with
weights that sum to at most 1 is a cut, and its row and column sums suffice to check it: some shares have these sums
exactly if no set of columns holds more than the rows can give (Gale, 1957, and Ryser, 1957), which one sort decides.

The gain is convex in rho_i, so that an average keeps apart the arrangements that reach beyond rank J_a and those that
do not (`inside`): of each positive the share of the weights of the former and their mean size.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._parameters import check_choice
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, Bool
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import one_model, verify
from rocmax.metrics.samples._samples import Samples
from rocmax.risks import Logistic, Oracle, Range, Trimmed, hinge, naive, ramp, tight

FULL = (0.0, 1.0)


class NamedSurrogate(NamedTuple):
    """What is known of a surrogate beside its risk on a range."""

    risk: Callable[[_core.Problem, Range, int], Oracle | Trimmed]
    given: bool = True  # whether users may name it
    proven: bool = True  # whether its cuts count pairs, which a certificate lists
    convex: bool = True  # on every range; others are no candidates with landmarks
    steady: bool = False  # whether it learns from all samples
    # The standard errors by which a candidate of "auto" must be better than the one chosen before it; None of others.
    lead: float | None = None
    from_zero: str | None = None  # what it equals on ranges that start at 0


# Leads were measured on test thirds of 30 sets of 113 to 141,691 samples, [0.02, 0.05]: 0 or 0.75 for "auc", which is
# full-range training on any range, and means not smoothed over C, are worse.
SURROGATES = {
    "logistic": NamedSurrogate(Logistic, given=False, proven=False, steady=True, lead=0.0),
    "auc": NamedSurrogate(
        lambda problem, _, threads: tight(problem, FULL, threads), given=False, steady=True, lead=0.5, from_zero="tight"
    ),
    "tight": NamedSurrogate(tight, lead=1.0),
    "naive": NamedSurrogate(naive),
    "hinge": NamedSurrogate(hinge, convex=False, from_zero="tight"),
    "ramp": NamedSurrogate(ramp, convex=False, lead=1.0),
}
PROVEN = {name: known.risk for name, known in SURROGATES.items() if known.proven}


class SurrogateRisk(NamedTuple):
    """What :func:`surrogate_risk` returns.

    Attributes
    ----------
    value : float
        R(s).
    subgradient : ndarray of shape (n_samples,)
        dR / ds, a subgradient where R has a kink; its sum is 0.
    counts : ndarray of shape (n_samples,)
        The most violated ordering: for a positive the negatives ranked above it, for a negative the positives ranked
        below it, as numbers or as sums of weights.
    """

    value: float
    subgradient: F64
    counts: F64


def named(surrogate: Any, *others: str) -> str:
    """Return the name of a surrogate that users may give, or of one of the others; "dc" is "hinge"."""
    given = (name for name, known in SURROGATES.items() if known.given)
    name = check_choice("surrogate", surrogate, (*others, *given, "dc"))
    return "hinge" if name == "dc" else name


def surrogate_risk(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr_range: tuple[float, float],
    surrogate: Literal["tight", "naive", "hinge", "dc", "ramp"] = "tight",
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> SurrogateRisk:
    """Surrogate of the partial AUC risk at given scores: its value, a subgradient and the most violated ordering.

    Use it to train a model of your own, or to see which samples a surrogate counts: one call per step, in O(N log N),
    without a matrix of pairs.

    >>> from rocmax import surrogate_risk
    >>> surrogate_risk([0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0], (0, 0.5)).value
    0.625

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As of :class:`rocmax.metrics.Samples`, with the scores of one model.
    fpr_range : tuple of two floats, or float
        The false positive rates [a, b].
    surrogate : {"tight", "naive", "hinge", "dc", "ramp"}, default="tight"
        As in :class:`PartialAUCSVC`.

    Returns
    -------
    SurrogateRisk
        A named tuple (value, subgradient, counts).

    Notes
    -----
    With positives i, negatives ranked k and ``M = m (j_b - j_a)`` pairs in the range, "tight" is (reference [1]_, eq.
    18) ``1/M sum_i max_{r <= j_b} [sum_{k <= r} (t_(k) - s_i) + max(0, r - j_a)]``. The maximiser r_i is the number of
    negatives above i in the most violated ordering (Algorithms 2 and 3), and the subgradient is ``-r_i / M`` and
    ``#{i : r_i >= k} / M``. "naive" is eq. 11. "hinge" and "ramp" are no maximum over orderings if the range does not
    start at 0: then the counts are those of the pairs whose loss has a slope, M times the size of the subgradient.
    With weights a pair counts as the product of both, and M is the sum over the range.

    References
    ----------
    .. [1] H. Narasimhan and S. Agarwal, "Support vector algorithms for optimizing the partial area under the ROC
       curve", Neural Computation 29, 2017. :doi:`10.1162/NECO_a_00972`
    """
    name = named(surrogate)
    bounds, of_score = rate_range(fpr_range, "fpr_range"), {"sample_weight": sample_weight, "pos_label": pos_label}
    if not isinstance(y_true, Samples):
        of_score["remedy"] = ""  # the subgradient is one of all samples: none is dropped
    data = one_model(read(surrogate_risk, y_true, y_score, {}, Labelled, **of_score).two)
    verify(data)
    positive, weight = np.ascontiguousarray(data.positive), data.weights
    problem = _core.Problem(positive, weight)
    risk = SURROGATES[name].risk(problem, bounds, data.threads)
    found = (risk if isinstance(risk, Oracle) else risk.whole)(np.ascontiguousarray(data.score, dtype=np.float64))
    low, high = problem.ranks(*bounds)
    counts = np.abs(found.coef) * weight[positive].sum() * (high - low) / np.where(weight > 0, weight, 1.0)
    return SurrogateRisk(found.value, found.coef, counts if data.weight is not None else np.rint(counts))


# The sums over the classes may differ by one part in so many.
_EQUAL = 10**9
# The relative rounding of a total weight.
_TOTAL = 1e-13
# The shares of the cuts that are given up, until rounding no longer hides that their sums are those of shares of pairs.
# The offset falls by as much; the vector of the cuts may change more, if a concave part cancels most of it.
_SLACKS = (0.0, *(10.0**-k for k in range(15, 5, -1)), 1.0)

Whole = NDArray[Any]  # Python's integers, so that sums and products are exact


class Arrangement(NamedTuple):
    """Row and column sums of shares of pairs, in weight of the other class; samples of weight 0 are left out.

    Of each positive: `share`, the weights of the cuts that reach beyond rank J_a, `beyond`, their mean size, and
    `inside`, the mean size of the others. Of each negative: `columns`.
    """

    share: F64
    beyond: F64
    inside: F64
    columns: F64

    def scaled(self, factor: float) -> "Arrangement":
        """Return the sums times a factor below 1: fewer shares, of the same cuts."""
        return self._replace(beyond=factor * self.beyond, inside=factor * self.inside, columns=factor * self.columns)


def classes_of(problem: _core.Problem) -> list[Bool]:
    """Return which samples are positives, and which are negatives, of positive weight."""
    labels, weight = problem.labels, problem.sample_weight
    return [side if weight is None else side & (weight > 0) for side in (labels, ~labels)]


@dataclass(frozen=True)
class Pairs:
    """What an arrangement is about; if `naive`, the gain ends at rank J_b, beyond which rows may reach."""

    positives: F64
    negatives: F64
    ranks: tuple[float, float]
    naive: bool = False

    @classmethod
    def of(cls, problem: _core.Problem, ranks: tuple[float, float], below: F64 | None, naive: bool = False) -> "Pairs":
        """Return those of the samples of positive weight; `below` replaces the weights of the negatives."""
        weights = problem.sample_weight, problem.sample_weight if below is None else below
        positives, negatives = (
            np.broadcast_to(1.0, int(side.sum())) if weight is None else weight[side]
            for weight, side in zip(weights, classes_of(problem), strict=True)
        )
        return cls(positives, negatives, ranks, naive)

    @property
    def total(self) -> float:
        """M, the weight of the pairs of the range."""
        return float(self.positives.sum()) * (self.ranks[1] - self.ranks[0])

    @property
    def _most(self) -> float:
        """J_b; of a share of a total weight a little less, since the total depends on the order of its sum."""
        return self.ranks[1] if self.ranks[1].is_integer() else self.ranks[1] * (1.0 - _TOTAL)

    def average(self, cuts: list[tuple[float, Any]], classes: list[Bool]) -> Arrangement:
        """Return the average of cuts, given the share and the coefficients of each; one of them is there at a time."""
        m, (low, _), (positive, negative) = len(self.positives), self.ranks, classes
        share, beyond, inside = (np.zeros(m) for _ in range(3))
        columns, scale = np.zeros(len(positive)), -self.total / self.positives
        for weight, cut in cuts:
            coef = np.array(cut, dtype=np.float64)
            sizes = np.maximum(scale * coef[positive], 0.0)
            reach = sizes > low if low > 0 else True
            share += weight * reach
            beyond += weight * np.where(reach, sizes, 0.0)
            if low > 0:
                inside += weight * np.where(reach, 0.0, sizes)
            np.maximum(coef, 0.0, out=coef)
            coef *= self.total * weight
            columns += coef
            del coef
        columns = columns[negative]
        np.divide(columns, self.negatives, out=columns, where=self.negatives > 0)  # others have coefficient 0
        return Arrangement(np.minimum(share, 1.0), beyond, inside, columns)

    def coefs(self, found: Arrangement) -> tuple[F64, F64]:
        """Return the coefficients of the cut: of the positives and of the negatives."""
        return (
            -self.positives * (found.beyond + found.inside) / self.total,
            self.negatives * found.columns / self.total,
        )

    def offset(self, found: Arrangement) -> float:
        """Return the cut at scores zero: the mean gain."""
        low, high = self.ranks
        sizes = np.minimum(found.beyond, high * found.share) if self.naive else found.beyond
        return float(self.positives @ (sizes - low * found.share)) / self.total

    def proven(self, found: Arrangement) -> Arrangement:
        """Return the sums scaled down as little as makes them those of shares of pairs; none at all always are."""
        return next(scaled for slack in _SLACKS if not self.fault(scaled := found.scaled(1.0 - slack)))

    def fault(self, found: Arrangement) -> str:
        """Return why no shares have these sums, "" if some do. Exact; O(N log N)."""
        for name, values in zip(found._fields, found, strict=True):
            if not (np.isfinite(values).all() and (values >= 0).all()):
                return f"{name} must hold finite numbers of at least 0"
        if (found.share > 1).any():
            return "share must hold numbers of at most 1"
        share, beyond, inside, columns, w, v, (one, high) = _whole(
            *found, self.positives, self.negatives, np.array([1.0, self._most])
        )
        most = int(v.sum()) if self.naive else high
        if (beyond * one > most * share).any() or (inside * one > most * (one - share)).any():
            return "a positive takes more negatives than " + ("there are" if self.naive else "the range has")
        rows, caps, held = (
            np.concatenate([w * beyond, w * inside]), np.concatenate([w * share, w * (one - share)]), v * columns
        )  # fmt: skip
        given, taken = int(rows.sum()), int(held.sum())
        if abs(given - taken) * _EQUAL > taken:
            return "the sums over the positives and over the negatives differ"
        # Rounding may leave a difference: the greater side is scaled down to the other.
        rows, caps, held = rows * taken, caps * max(given, taken), held * given
        used, order = rows > 0, np.argsort(-found.columns, kind="stable")
        if not _flows(rows[used], caps[used], held[order] * one, np.cumsum(v[order]), one):
            return "no shares of pairs have these sums"
        return ""


def _whole(*arrays: F64) -> list[Whole]:
    """Return floats as whole numbers of one unit, a power of two."""
    mantissas, exponents = np.frexp(np.concatenate(arrays))
    digits = (mantissas * 2.0**53).astype(np.int64)
    exponents = np.where(digits == 0, exponents.max(), exponents)
    shifts = exponents - exponents.min()
    found = np.empty(len(digits), dtype=object)
    found[:] = [digit << shift for digit, shift in zip(digits.tolist(), shifts.tolist(), strict=True)]
    return np.split(found, np.cumsum([len(one) for one in arrays])[:-1])


def _flows(rows: Whole, caps: Whole, held: Whole, widths: Whole, one: int) -> bool:
    """Whether rows can fill columns, which are sorted by held / width, descending.

    `widths` are running sums, in units of 1 / one. A row gives at most cap * width to a column. The first k columns can
    be filled if they hold at most sum_i min(row_i, cap_i widths_k).
    """
    if (caps == 0).any():
        return False
    most = np.array(rows / caps, dtype=np.float64)  # division of whole numbers is rounded correctly, so in order
    order = np.argsort(most)
    rows, caps, most = rows[order] * one, caps[order], most[order]
    rows_before, caps_before = (np.concatenate([[0], np.cumsum(values)]) for values in (rows, caps))
    at = np.array(widths / one, dtype=np.float64)
    first, last = np.searchsorted(most, at, side="left"), np.searchsorted(most, at, side="right")
    most_of_all = rows_before[first] + widths * (caps_before[-1] - caps_before[last])
    for k in np.flatnonzero(last > first):
        some = slice(first[k], last[k])
        most_of_all[k] += np.minimum(rows[some], caps[some] * widths[k]).sum()
    return bool((np.cumsum(held) <= most_of_all).all())


class Convex(NamedTuple):
    """What an arrangement is about: pairs, the concave part, linearised at the scores `before`, and the whole risk."""

    problem: _core.Problem
    pairs: Pairs
    concave: Oracle | None
    before: F64
    risk: Oracle | None

    @classmethod
    def of(cls, problem: _core.Problem, surrogate: str, fpr_range: tuple[float, float], before: F64) -> Self:
        """Return the risk of a surrogate; if it is not convex, the convex step from some scores."""
        low, high = problem.ranks(*(FULL if surrogate == "auc" else fpr_range))
        kind = PROVEN.get(surrogate)
        risk = kind and kind(problem, fpr_range, n_threads(None))
        if not isinstance(risk, Trimmed):
            return cls(problem, Pairs.of(problem, (low, high), None, surrogate == "naive"), None, before, risk)
        part = risk.at(before)
        return cls(problem, Pairs.of(problem, (0.0, high - low), part.below), part.concave, before, risk.whole)

    @property
    def classes(self) -> list[Bool]:
        """Which samples are positives, and which are negatives, of positive weight."""
        return classes_of(self.problem)

    def value(self, scores: F64) -> float:
        """Return the risk; 0 if there is none."""
        return 0.0 if self.risk is None else self.risk(scores).value

    def cut(self, found: Arrangement) -> tuple[float, F64, float]:
        """Return the offset of the cut less the concave part, its coefficients over all samples, and their size."""
        coef = np.zeros(self.problem.n_samples)
        for rows, of_class in zip(self.classes, self.pairs.coefs(found), strict=True):
            coef[rows] = of_class
        tilt = 0.0 if self.concave is None else self.concave(self.before).coef
        return self.pairs.offset(found), coef - tilt, float(np.abs(coef).sum() + np.abs(tilt).sum())
