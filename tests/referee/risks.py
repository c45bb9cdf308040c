"""What training minimises: surrogates, losses of pairs and least squares, in fractions and by the definitions alone."""

from functools import cached_property
from math import ceil, floor

from tests.referee.exact import Fraction

ZERO, ONE = Fraction(0), Fraction(1)


def ranks(weights, total, rates, doubts=(ONE, ONE)):
    """Return the ranks of a range of rates: floor(n a) and ceil(n b), or, of weights that are not whole, n a and n b.

    A product within 1e-9, or 2^-50 of itself, of a whole number is that number; a range has at least one negative.
    The `doubts` multiply these slacks.
    """
    low, high = (total * Fraction(end) for end in rates)
    if any(w.denominator != 1 for w in weights):
        return low, high
    below, above = (d * max(Fraction(1, 10**9), end / 2**50) for d, end in zip(doubts, (low, high), strict=True))
    first = min(floor(low + below), total - 1)
    return Fraction(first), max(Fraction(ceil(high - above)), Fraction(first + 1))


class Ranking:
    """Scores of positives and, by descending score, of negatives, with weights; and the ranks of a range."""

    def __init__(self, labels, scores, weights, fpr_range, doubts=(ONE, ONE)):
        weights = [1] * len(labels) if weights is None else weights
        rows = [(Fraction(s), Fraction(w), y) for y, s, w in zip(labels, scores, weights, strict=True) if w > 0]
        self.pos = [(s, w) for s, w, y in rows if y]
        self.neg = sorted([(s, w) for s, w, y in rows if not y], reverse=True)
        m, n = (sum(w for _, w in of) for of in (self.pos, self.neg))
        self.low, self.high = ranks([w for _, w, _ in rows], n, fpr_range, doubts)
        self.pairs = m * (self.high - self.low)

    @cached_property
    def inside(self):
        """The negatives ranked in the range, with the weight that is inside."""
        above, found = ZERO, []
        for t, w in self.neg:
            part = min(above + w, self.high) - max(above, self.low)
            if part > 0:
                found.append((t, part))
            above += w
        return found

    def mean(self, loss):
        """Return the mean of a loss of s - t over the pairs of the range."""
        total = sum(v * u * loss(s - t) for s, v in self.pos for t, u in self.inside)
        return total / self.pairs

    def worst(self, gain, end):
        """Return the mean over positives of the greatest sum of t - s over the highest r negatives, plus gain(r)."""
        sums, above, summed = {ZERO: ZERO}, ZERO, ZERO  # of the highest r scores; it is linear between these r
        for t, w in self.neg:
            sums |= {r: summed + (r - above) * t for r in (self.low, self.high) if above < r < above + w}
            above, summed = above + w, summed + w * t
            sums[above] = summed
        leads = [(r, found + gain(r)) for r, found in sums.items() if r <= end]
        return sum(v * max(lead - r * s for r, lead in leads) for s, v in self.pos) / self.pairs

    def risk(self, name):
        if name == "tight":
            return self.worst(lambda r: max(ZERO, r - self.low), self.high)
        if name == "naive":
            n = sum(w for _, w in self.neg)
            return self.worst(lambda r: max(ZERO, min(r, self.high) - self.low), n)
        return self.mean({"hinge": hinge, "ramp": ramp}[name])

    def share_won(self):
        """Return the share of the pairs of the range that are won."""
        return self.mean(lambda u: Fraction(int(u > 0)))


def hinge(u):
    return max(ZERO, 1 - u)


def ramp(u):
    return min(ONE, hinge(u))


def squared_hinge(u):
    return hinge(u) ** 2


def smoothed_hinge(u):
    return hinge(u) ** 2 / 2 if u > 0 else Fraction(1, 2) - u


SLOPES = {
    "squared_hinge": (squared_hinge, lambda u: -2 * hinge(u)),
    "smoothed_hinge": (smoothed_hinge, lambda u: -hinge(u) if u > 0 else -ONE),
}


def pair_loss(labels, scores, weights, loss, rates, low, high):
    """Return the mean loss over the pairs of a range of false ("fpr") or true ("tpr") positive rates, and its gradient.

    Tied samples at an end share the weight that is inside.
    """
    weights = [1] * len(labels) if weights is None else weights
    of_range = 0 if rates == "fpr" else 1
    rows = [k for k in range(len(labels)) if weights[k] > 0]
    total = sum(Fraction(weights[k]) for k in rows if labels[k] == of_range)
    inside = {k: Fraction(weights[k]) for k in rows if labels[k] != of_range}
    start, end = ranks([Fraction(weights[k]) for k in rows], total, (low, high))
    above = ZERO
    for level in sorted({scores[k] for k in rows if labels[k] == of_range}, reverse=True):
        tied = [k for k in rows if labels[k] == of_range and scores[k] == level]
        mass = sum(Fraction(weights[k]) for k in tied)
        part = max(ZERO, min(above + mass, end) - max(above, start))
        inside |= {k: Fraction(weights[k]) * part / mass for k in tied}
        above += mass
    value, slope = SLOPES[loss]
    found, gradient, pairs = ZERO, [ZERO] * len(labels), ZERO
    for i in rows:
        for j in rows:
            if labels[i] and not labels[j]:
                weight, u = inside[i] * inside[j], Fraction(scores[i]) - Fraction(scores[j])
                pairs += weight
                found += weight * value(u)
                gradient[i] += weight * slope(u)
                gradient[j] -= weight * slope(u)
    return found / pairs, [g / pairs for g in gradient]


def least_squares(X, labels, alpha, weights=None, *, pairs=True):
    """Return the w of the least sum of (2 - w.(x_i - x_j))^2 over pairs, or (y_i - w.x_i)^2, plus alpha |w|^2."""
    weights = [1] * len(labels) if weights is None else weights
    rows = []
    X = [[Fraction(v) for v in x] for x in X]
    if pairs:
        for i, j in ((i, j) for i, y in enumerate(labels) if y for j, z in enumerate(labels) if not z):
            rows.append(
                (Fraction(weights[i]) * Fraction(weights[j]), [a - b for a, b in zip(X[i], X[j], strict=True)], 2)
            )
    else:
        rows = [(Fraction(w), x, 1 if y else -1) for w, x, y in zip(weights, X, labels, strict=True)]
    n_features = range(len(X[0]))
    system = [
        [sum(w * x[k] * x[j] for w, x, _ in rows) + Fraction(alpha) * (j == k) for j in n_features] for k in n_features
    ]
    return solved(system, [sum(w * x[k] * target for w, x, target in rows) for k in n_features])


def solved(system, right):
    """Return the solution of linear equations, by elimination."""
    lines = [[*line, value] for line, value in zip(system, right, strict=True)]
    for k in range(len(lines)):
        pivot = next(j for j in range(k, len(lines)) if lines[j][k])
        lines[k], lines[pivot] = lines[pivot], lines[k]
        lines[k] = [v / lines[k][k] for v in lines[k]]
        for j, line in enumerate(lines):
            if j != k:
                lines[j] = [v - line[k] * u for v, u in zip(line, lines[k], strict=True)]
    return [line[-1] for line in lines]
