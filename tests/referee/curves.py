"""The ROC curve of weighted samples and what is read from it, in fractions and by the definitions alone.

A curve is a list of steps, one a distinct score from the highest down: the shares of the positives and of the negatives
that have it. What needs logarithms or exponentials is computed with many digits.
"""

from functools import cached_property
from itertools import accumulate, pairwise, product
from operator import mul
from typing import NamedTuple

from tests.referee.exact import Fraction, digits, exp, log, real

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
# Rates that differ by a smaller share are one.
SAME_RATE = Fraction(1 + 1e-10)
# An end of a range that is nearer to a corner of the curve, by its share of the end, is that corner.
SNAP = Fraction(1, 10**12)
ROUNDED = Fraction(1, 2**50)
# How far an end at a corner is moved inside the range, and by how much shares change for a derivative.
FINE = Fraction(1, 2**1500), Fraction(1, 2**3000)  # less than the weights of all cases differ
PLAIN = Fraction(1, 2**80), Fraction(1, 2**160)
DECIMAL = Fraction(1, 10**16), Fraction(1, 10**24)


class Sample(NamedTuple):
    label: int
    score: float
    weight: Fraction
    row: int


class Steps(list):
    """The steps of a curve, pairs of shares, and its corners."""

    @cached_property
    def corners(self):
        """The corners (FPR, TPR) from (0, 0) to (1, 1)."""
        found = [(ZERO, ZERO)]
        for a, b in self:
            x, y = found[-1]
            found.append((x + b, y + a))
        return found

    @cached_property
    def segments(self):
        return list(pairwise(self.corners))

    @cached_property
    def mirrored(self):
        """The curve of 1 - FPR over 1 - TPR: classes and direction are exchanged."""
        return Steps((b, a) for a, b in reversed(self))


class Samples:
    """Samples of one model; those of weight 0 are left out."""

    def __init__(self, labels, scores, weights=None):
        weights = [1] * len(labels) if weights is None else weights
        rows = zip(labels, scores, weights, strict=True)
        self.all = [Sample(int(y), float(s), Fraction(w), row) for row, (y, s, w) in enumerate(rows) if w > 0]
        self.pos, self.neg = ([x for x in self.all if x.label == label] for label in (1, 0))
        self.known = {}  # means over pairs
        self.m, self.n = (sum(x.weight for x in of) for of in (self.pos, self.neg))

    @cached_property
    def levels(self):
        return sorted({x.score for x in self.all}, reverse=True)

    @cached_property
    def steps(self):
        held = {c: [Fraction(0), Fraction(0)] for c in self.levels}
        for x in self.all:
            held[x.score][1 - x.label] += x.weight / (self.m if x.label else self.n)
        return Steps(tuple(held[c]) for c in self.levels)

    @property
    def prevalence(self):
        return self.m / (self.m + self.n)

    def mean(self, kernel):
        """Return the mean of a kernel over the pairs."""
        if kernel not in self.known:
            total = sum(i.weight * j.weight * kernel(i.score, j.score) for i in self.pos for j in self.neg)
            self.known[kernel] = Fraction(total) / (self.m * self.n)
        return self.known[kernel]

    def means(self, kernel):
        """Return by row the mean of a kernel over the pairs of that sample."""
        found = {i.row: sum(j.weight * kernel(i.score, j.score) for j in self.neg) / self.n for i in self.pos}
        return found | {j.row: sum(i.weight * kernel(i.score, j.score) for i in self.pos) / self.m for j in self.neg}

    def derivatives(self, functional, step):
        """Return by row the derivative of a functional of the steps by the share of the sample's score in its class."""
        shares = [list(of) for of in zip(*self.steps, strict=True)]

        def moved(which, level, e):
            found = [(1 - e) * share for share in shares[which]]
            found[self.levels.index(level)] += e
            both = (shares[0], found) if which else (found, shares[1])
            return Fraction(functional(Steps(zip(*both, strict=True))))

        by_level = {
            (1 - which, level): (moved(which, level, step) - moved(which, level, -step)) / (2 * step)
            for which, of in enumerate((self.pos, self.neg))
            for level in {x.score for x in of}
        }
        return {x.row: by_level[x.label, x.score] for x in self.all}


def auc_kernel(s, t):
    return 1 if s > t else HALF if s == t else 0


def scored_kernel(s, t):
    return max(Fraction(0), Fraction(s) - Fraction(t))


def margin_kernel(margin):
    return lambda s, t: int(s - t > margin)


def area(steps, low, high, floor_=ZERO, roof=ONE):
    """Return the area over [low, high] between two heights and below the curve."""
    total = Fraction(0)
    for (x0, y0), (x1, y1) in steps.segments:
        left, right = max(x0, low), min(x1, high)
        if left >= right:
            continue
        slope = (y1 - y0) / (x1 - x0)
        cuts = {left, right}
        if slope and (y0 < floor_ or roof < y1):
            cuts |= {x for x in (x0 + (c - y0) / slope for c in (floor_, roof)) if left < x < right}
        cuts = sorted(cuts)
        for one, two in pairwise(cuts):
            middle = y0 + slope * ((one + two) / 2 - x0)
            total += (two - one) * (min(roof, max(floor_, middle)) - floor_)
    return total


def choices(steps, low, high, inside, which=0, *, turned=False):
    """Return the pairs of ends of a range that components may be those of, moved inside the range from corners.

    Of corners that rounding cannot tell apart each is right. If `turned`, ends are read from 1.
    """
    held = []
    for end, move in ((Fraction(low), inside), (Fraction(high), -inside)):
        if end in (0, 1):  # no rate goes beyond
            held.append([end])
            continue
        size = 1 - end if turned else end
        near = sorted((abs(p[which] - end), p[which]) for p in steps.corners if abs(p[which] - end) <= SNAP * size)
        corners = dict.fromkeys(x for away, x in near if away <= near[0][0] + ROUNDED * size)
        held.append([x + move for x in corners] or [end])
    return [pair for pair in product(*held) if pair[0] < pair[1]] or [(Fraction(low), Fraction(high))]


def partial(fpr_range=None, tpr_range=None, normalize="width", given=None):
    """Return the functional of a partial area; the scale is that of the `given` ranges, if their ends were moved."""
    fpr, tpr = given or (fpr_range, tpr_range)

    def functional(steps):
        if tpr_range is None:
            return scaled(mean(steps, *fpr_range), *fpr, normalize)
        c, d = tpr_range
        if fpr_range is None:
            return scaled(mean(steps.mirrored, 1 - d, 1 - c), 1 - tpr[1], 1 - tpr[0], normalize)
        found = mean(steps, *fpr_range, c, d)
        return found if normalize else found * (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])

    return functional


def mean(steps, a, b, c=ZERO, d=ONE):
    """Return the share of the rectangle [a, b] x [c, d] that is below the curve."""
    return area(steps, a, b, c, d) / ((b - a) * (d - c))


def scaled(share, a, b, normalize):
    """Return an area over [a, b], a share of its width, as it is, as this share, or on McClish's scale."""
    found, least = share * (b - a), (b * b - a * a) / 2
    if normalize == "mcclish":
        return (1 + (found - least) / (b - a - least)) / 2
    return share if normalize else found


def tpr_at_fpr(steps, fpr):
    reached = Fraction(fpr) * SAME_RATE
    return max(y for x, y in steps.corners if x <= reached)


def fpr_at_tpr(steps, tpr):
    missed = (1 - Fraction(tpr)) * SAME_RATE
    return min(x for x, y in steps.corners if 1 - y <= missed)


def average_precision(prevalence):
    def functional(steps):
        total = Fraction(0)
        for (a, _), (x, y) in zip(steps, steps.corners[1:], strict=True):
            total += a * prevalence * y / (prevalence * y + (1 - prevalence) * x) if a else 0
        return total

    return functional


def net_benefit(levels, threshold, prevalence):
    threshold = Fraction(threshold)

    def functional(steps):
        above = [step for level, step in zip(levels, steps, strict=True) if level >= threshold]
        odds = threshold / (1 - threshold)
        return sum(prevalence * a - (1 - prevalence) * odds * b for a, b in above) + Fraction(0)

    return functional


def recall_at(steps, share, prevalence):
    """Return the expected share of the positives among the highest `share` of all, over all orders of ties."""
    left, found = share, Fraction(0)
    for a, b in steps:
        mass = prevalence * a + (1 - prevalence) * b
        taken = min(ONE, left / mass)
        found += taken * a
        left -= taken * mass
        if left <= 0:
            break
    return found


def equal_error_rate(steps):
    for (x0, y0), (x1, y1) in steps.segments:
        if x1 + y1 >= 1:
            return x0 + (x1 - x0) * (1 - x0 - y0) / (x1 + y1 - x0 - y0)
    raise AssertionError("the curve ends at (1, 1)")


def rie(alpha, prevalence):
    """Return the functional: the ratio of the means of exp(-alpha x), x uniform on the places of the ties."""

    @digits
    def functional(steps):
        total, place, before, rate = real(ZERO), ZERO, real(ONE), -real(Fraction(alpha))
        for a, b in steps:
            mass = prevalence * a + (1 - prevalence) * b
            place += mass
            after = exp(rate * real(place))
            total += real(a) * (before - after) / real(mass)
            before = after
        return total / (1 - exp(rate))

    return functional


@digits
def rie_by_ranks(samples, alpha):
    """Return RIE by the ranks of whole samples, or None."""
    if any(x.weight.denominator != 1 for x in samples.all):
        return None
    size = int(samples.m + samples.n)
    share = exp(-real(Fraction(alpha)) / size)
    terms = list(accumulate([share] * size, mul))
    total, rank = real(ZERO), 0
    for level in samples.levels:
        tied = [x for x in samples.all if x.score == level]
        here = int(sum(x.weight for x in tied))
        of_pos = sum(x.weight for x in tied if x.label)
        total += real(of_pos) * sum(terms[rank : rank + here]) / here
        rank += here
    return (total / real(samples.m)) / (sum(terms) / size)


@digits
def rie_ends(alpha, prevalence):
    """Return the least and the greatest RIE."""
    a, p = real(Fraction(alpha)), real(prevalence)
    return (1 - exp(a * p)) / (p * (1 - exp(a))), (1 - exp(-a * p)) / (p * (1 - exp(-a)))


def bedroc(alpha, prevalence):
    value, (least, most) = rie(alpha, prevalence), rie_ends(alpha, prevalence)
    return digits(lambda steps: (value(steps) - least) / (most - least))


def log_auc(a, b):
    """Return the functional: the mean of the curve over the logarithm of the false positive rate."""

    @digits
    def functional(steps):
        total = real(ZERO)
        for (x0, y0), (x1, y1) in steps.segments:
            left, right = max(x0, a), min(x1, b)
            if left < right:
                slope = (y1 - y0) / (x1 - x0)
                total += real(y0 - slope * x0) * log(real(right) / real(left))
                total += real(slope * (right - left))
        return total / log(real(b) / real(a))

    return functional
