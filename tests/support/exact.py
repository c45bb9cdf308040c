"""Exact twins of the measures: rational arithmetic on the very numbers, O(n^2) and written from the definitions."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

# All float64 are whole multiples of 1 / _UNIT. Integers are added without the greatest common divisors of fractions.
_UNIT = 1 << 1074
# Rates that differ by less, relatively, are the same.
ROUNDING = Fraction(1 + 1e-10)
_SNAPPED = Fraction(1, 10**12)
# Rates are quotients of two rounded sums: four roundings of 2^-53, of either of two.
_ONE_AND_THE_SAME = Fraction(1, 2**50)


def whole(x):
    """Return x in units."""
    numerator, denominator = float(x).as_integer_ratio()
    return numerator * (_UNIT // denominator)


class Exact:
    """Samples of positive weight, and what is measured of them."""

    def __init__(self, y, s, w=None):
        self.unit = 1 if w is None else _UNIT
        weights = [1] * len(s) if w is None else [whole(x) for x in w]
        rows = [(float(score), weight, bool(label)) for score, weight, label in zip(s, weights, y, strict=True)]
        self.pos, self.neg = (
            [(score, weight) for score, weight, label in rows if label == wanted and weight] for wanted in (True, False)
        )
        self.n_pos, self.n_neg = (sum(weight for _, weight in rows) for rows in (self.pos, self.neg))

    def mirrored(self):
        """Exchange the classes and turn the scores round."""
        other = object.__new__(Exact)
        other.unit = self.unit
        other.pos, other.neg = ([(-score, weight) for score, weight in rows] for rows in (self.neg, self.pos))
        other.n_pos, other.n_neg = self.n_neg, self.n_pos
        return other

    @cached_property
    def is_perfect(self):
        return min(s for s, _ in self.pos) > max(t for t, _ in self.neg)

    @cached_property
    def is_reversed(self):
        return max(s for s, _ in self.pos) < min(t for t, _ in self.neg)

    @property
    def totals(self):
        """Return the weight of either class."""
        return Fraction(self.n_pos, self.unit), Fraction(self.n_neg, self.unit)

    def mean(self, kernel, unit=1):
        """Return the mean over pairs of a kernel, a whole number of parts of `unit`."""
        won = sum(p * q * kernel(s, t) for s, p in self.pos for t, q in self.neg)
        return Fraction(won, unit * self.n_pos * self.n_neg)

    def auc(self):
        return self.mean(lambda s, t: 2 * (s > t) + (s == t), 2)

    def scored(self):
        return self.mean(lambda s, t: max(0, whole(s) - whole(t)), _UNIT)

    def margin(self, margin):
        return self.mean(lambda s, t: int(s - t > margin))

    def ranked(self, j_a, j_b):
        """Return the share of pairs with the units of negatives ranked j_a + 1 to j_b that are won."""
        won, above = 0, 0
        for t, q in sorted(self.neg, reverse=True):
            inside = max(0, min(above + q, j_b * self.unit) - max(above, j_a * self.unit))
            won += inside * sum(p for s, p in self.pos if s > t)
            above += q
        return Fraction(won, (j_b - j_a) * self.unit * self.n_pos)

    @cached_property
    def segments(self):
        """Return (x0, x1, y0, y1) of every distinct score, the highest first, and the score."""
        found, tp, fp = [], 0, 0
        for c in sorted({score for score, _ in self.pos + self.neg}, reverse=True):
            x0, y0 = Fraction(fp, self.n_neg), Fraction(tp, self.n_pos)
            fp += sum(q for t, q in self.neg if t == c)
            tp += sum(p for s, p in self.pos if s == c)
            found.append((x0, Fraction(fp, self.n_neg), y0, Fraction(tp, self.n_pos), c))
        return found

    def partial(self, low, high):
        """Return the share of [low, high] that is below the curve."""
        low, high = Fraction(low), Fraction(high)
        area = 0
        for x0, x1, y0, y1, _ in self.segments:
            left, right = max(x0, low), min(x1, high)
            if left < right:
                area += (right - left) * (y0 + (y1 - y0) * ((left + right) / 2 - x0) / (x1 - x0))
        return area / (high - low)

    @cached_property
    def points(self):
        """Return the rates of every threshold, from one above all scores."""
        return [(Fraction(0), Fraction(0)), *((x1, y1) for _, x1, _, y1, _ in self.segments)]

    def tpr_at(self, fpr):
        return max(y for x, y in self.points if x <= Fraction(fpr) * ROUNDING)

    def fpr_at(self, tpr):
        return min(x for x, y in self.points if 1 - y <= Fraction(1.0 - tpr) * ROUNDING)

    def auc_components(self):
        """Return V10 of the positives and V01 of the negatives, with their weights."""
        v10 = [
            (Fraction(sum(q * (2 * (s > t) + (s == t)) for t, q in self.neg), 2 * self.n_neg), p) for s, p in self.pos
        ]
        v01 = [
            (Fraction(sum(p * (2 * (s > t) + (s == t)) for s, p in self.pos), 2 * self.n_pos), q) for t, q in self.neg
        ]
        return v10, v01

    def margin_components(self, margin):
        v10 = [(Fraction(sum(q for t, q in self.neg if s - t > margin), self.n_neg), p) for s, p in self.pos]
        v01 = [(Fraction(sum(p for s, p in self.pos if s - t > margin), self.n_pos), q) for t, q in self.neg]
        return v10, v01

    def scored_components(self):
        def lead(s, t):
            return max(0, whole(s) - whole(t))

        v10 = [(Fraction(sum(q * lead(s, t) for t, q in self.neg), _UNIT * self.n_neg), p) for s, p in self.pos]
        v01 = [(Fraction(sum(p * lead(s, t) for s, p in self.pos), _UNIT * self.n_pos), q) for t, q in self.neg]
        return v10, v01

    def partial_components(self, low, high):
        """Return those of the share, ``min(1, max(0, (b - G) / w))`` and ``R(min(b, max(a, G))) / w``, as a list.

        An end next to a point of the curve is that point's. Of points whose rates are one and the same float64, as
        where what lies between them weighs less than the rounding of a total, each is as right: all are returned.
        """
        low, high = Fraction(low), Fraction(high)

        def points_near(end):
            away = sorted((abs(x1 - end), x1) for _, x1, _, _, _ in self.segments if abs(x1 - end) < _SNAPPED * end)
            return [x1 for distance, x1 in away if distance <= away[0][0] + _ONE_AND_THE_SAME * end] or [end]

        ends = [ends for ends in product(points_near(low), points_near(high)) if ends[0] < ends[1]] or [(low, high)]
        return [self._components_of(a, b) for a, b in ends]

    def _components_of(self, a, b):
        segments = self.segments
        width = b - a

        def height(x, holds):
            for x0, x1, y0, y1, _ in segments:
                if holds(x0, x1):
                    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            return Fraction(1)

        # Where the curve jumps at an end, the range has the side that is inside.
        at_low = height(a, lambda x0, x1: x0 <= a < x1)
        at_high = height(b, lambda x0, x1: x0 < b <= x1)
        of_score = {}
        for x0, x1, y0, y1, c in segments:
            left, right = (min(b, max(a, x)) for x in (x0, x1))
            if x0 == x1:
                of_score[c] = (b - left) / width, Fraction(0)
                continue
            before, after = max(0, min(x1, a) - x0), max(0, x1 - max(x0, b))
            v10 = (before * width + (right - left) * (b - (left + right) / 2)) / (x1 - x0) / width
            middle = y0 + (y1 - y0) * ((left + right) / 2 - x0) / (x1 - x0)
            v01 = (before * at_low + (right - left) * middle + after * at_high) / (x1 - x0) / width
            of_score[c] = v10, v01
        return [(of_score[s][0], p) for s, p in self.pos], [(of_score[t][1], q) for t, q in self.neg]

    def covariance(self, one, two, kind="frequency"):
        """Return DeLong's covariance by the components of either model, None without enough samples."""
        parts = []
        for a, b in zip(one, two, strict=True):
            total = sum(w for _, w in a)
            means = [sum(v * w for v, w in of) / total for of in (a, b)]
            products = [(w, (va - means[0]) * (vb - means[1])) for (va, w), (vb, _) in zip(a, b, strict=True)]
            if kind == "sampling":
                if len(a) < 2:
                    return None
                spread = sum(w * w * product for w, product in products)
                parts.append(Fraction(len(a), len(a) - 1) * spread / total**2)
            else:
                if total * 10**9 <= self.unit * (10**9 + 1):
                    return None
                parts.append(self.unit * sum(w * product for w, product in products) / (total * (total - self.unit)))
        return sum(parts)


def rises(values):
    """Whether values never descend."""
    return all(x <= y for x, y in pairwise(values))
