"""The proof of a lower bound: the average of the cuts, as an arrangement of pairs that anyone can check.

A cut of a surrogate counts pairs. For each positive i it takes shares x_ij in [0, 1] of the negatives j, with sizes
rho_i = sum_j v_j x_ij (v_j: the weight of a negative, 1 without weights), and

    R(s) >= 1/M sum_i w_i [ sum_j v_j x_ij (t_j - s_i) + gain(rho_i) ],    M = sum_i w_i (J_b - J_a)

if rho_i <= J_b ("naive": always): the shares of the most violated ordering make it tight. So an average of cuts with
weights that sum to at most 1 is a cut, and its row and column sums suffice to check it: some shares have these sums
exactly if no set of columns holds more than the rows can give (Gale, 1957, and Ryser, 1957), which one sort decides.

The gain is convex in rho_i, so that an average keeps apart the arrangements that reach beyond rank J_a and those that
do not (`inside`): of each positive the share of the weights of the former and their mean size.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._typing import F64, Bool

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


@dataclass(frozen=True)
class Pairs:
    """The weights of both classes and the ranks of a range: what an arrangement is about.

    `naive`: whether the gain ends at rank J_b, beyond which rows may reach.
    """

    positives: F64
    negatives: F64
    ranks: tuple[float, float]
    naive: bool = False

    @classmethod
    def of(cls, problem: _core.Problem, ranks: tuple[float, float], below: F64 | None, *, naive: bool) -> "Pairs":
        """Return those of the samples of positive weight; `below` replaces the weights of the negatives."""
        labels, weight = problem.labels, problem.sample_weight
        counted, ones = True if weight is None else weight > 0, np.broadcast_to(1.0, len(labels))
        sides = (weight, labels & counted), (weight if below is None else below, ~labels & counted)
        own = [ones[: np.count_nonzero(side)] if of is None else of[side] for of, side in sides]
        return cls(own[0], own[1], ranks, naive)

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
