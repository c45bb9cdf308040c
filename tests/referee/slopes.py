"""Components of what moves with a threshold: rates at a fixed rate, and measures that are read at a cut."""

import math
from itertools import pairwise

from scipy import special
from tests.referee import curves
from tests.referee.exact import Fraction
from tests.referee.variances import Components

LAST = math.nextafter(1.0, 0.0)


class Sizes(list):
    """Numbers of samples of both classes, and whether the weights are sampling weights."""

    sampling = False

    def above(self, of, level):
        """Return the numbers that tell how much the weight at scores from a level up varies."""
        found = list(self)
        for k, (rows, total) in enumerate(((of.pos, of.m), (of.neg, of.n))):
            held = [x.weight for x in rows if x.score >= level]
            if self.sampling and held:
                found[k] = total * sum(held) / sum(w * w for w in held)
        return found


def effective(of, kind, groups=None):
    """Return the effective numbers of samples of both classes."""
    if groups is None and kind == "frequency":
        return Sizes([of.m, of.n])
    found = Sizes()
    found.sampling = kind == "sampling"
    for rows in (of.pos, of.neg):
        held = [groups[x.row] for x in rows] if groups is not None else []
        masses = [Fraction(held.count(g)) for g in set(held)] or [x.weight for x in rows]
        found.append(sum(masses) ** 2 / sum(x * x for x in masses))
    return found


def quantile(rate):
    return float(special.ndtri(min(float(rate), LAST)))


def density(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def slope(steps, rate, m, n):
    """Return the slope of the curve at a false positive rate, for m positives and n negatives."""

    def true_rate(x):
        return min(math.floor(n * Fraction(x) + Fraction(1, 10**9)) + 1, n) / (n + 1)

    def inner(x):
        return (m * curves.tpr_at_fpr(steps, x) + Fraction(1, 2)) / (m + 1)

    size = float(n)
    middle, half = rate * size + 2, 2 * math.sqrt(rate * (1 - rate) * size + 1)
    ends = [max((middle - half) / (size + 4), 0.0), min((middle + half) / (size + 4), 1.0)]
    heights, places = [curves.tpr_at_fpr(steps, x) for x in ends], [true_rate(x) for x in ends]
    b = 1.0
    if places[1] > places[0]:
        count = float(min(m * (heights[1] - heights[0]), (n + 1) * (places[1] - places[0])))
        rise, run = (quantile(of(ends[1])) - quantile(of(ends[0])) for of in (inner, true_rate))
        b = (1 + count * rise / run) / (1 + count)
    return b * density(quantile(inner(rate))) / density(quantile(true_rate(rate)))


def of_rate(of, rate, sizes, *, turned):
    """Return by row the components of the TPR at an FPR or, if `turned`, of the FPR at a TPR."""
    if turned:  # 1 less the rate of the curve with the classes exchanged
        m, n = sizes[::-1]
        factor = slope(of.steps.mirrored, 1.0 - rate, m, n)
    else:
        factor = slope(of.steps, rate, *sizes)
    above = set()
    for level, ((_, before), (x, _)) in zip(of.levels, pairwise(of.steps.corners), strict=True):
        reached = 1 - before <= (1 - Fraction(rate)) * curves.SAME_RATE
        if not reached if turned else x <= Fraction(rate) * curves.SAME_RATE:
            above.add(level)
    factors = (Fraction(1), Fraction(factor)) if turned else (Fraction(factor), Fraction(1))  # negatives, positives
    return {x.row: factors[x.label] * ((x.score in above) == (x.label != turned)) for x in of.all}


def of_cut(of, units, at, sizes, *, pooled):
    """Return by score the share above a cut, the rates, and all r of which rounding cannot tell which is right.

    `units` are those of a weight of either class in the sum.
    """
    totals = [of.m * units[0], of.n * units[1]]
    corners, above, left = [(Fraction(0), Fraction(0))], {}, Fraction(at)
    rates = [Fraction(0), Fraction(0)]
    for level, (a, b) in zip(of.levels, of.steps, strict=True):
        parts = a * totals[0], b * totals[1]
        corners.append(tuple(x + y for x, y in zip(corners[-1], parts, strict=True)))
        above[level] = min(Fraction(1), left / sum(parts))
        rates = [rate + above[level] * step for rate, step in zip(rates, (a, b), strict=True)]
        left -= above[level] * sum(parts)
    slack = at / 2**44
    last = [
        level
        for level, (one, two) in zip(of.levels, pairwise(corners), strict=True)
        if sum(one) - slack <= at <= sum(two) + slack
    ]
    found = dict.fromkeys(tuple(sizes.above(of, level)) for level in last)
    return above, rates, [Fraction(share_at(totals, corners, at, rates, one, pooled=pooled)) for one in found]


def share_at(totals, corners, at, rates, sizes, *, pooled):
    """Return r, the share of the positives in what crosses a moving cut, for these numbers of samples."""
    inner = [(rate * size + Fraction(1, 2)) / (size + 1) for rate, size in zip(rates, sizes, strict=True)]
    variance = sum(w * w * r * (1 - r) / n for w, r, n in zip(totals, inner, sizes, strict=True))
    error = 2 * Fraction(math.sqrt(variance))

    def summed(x):
        """Return the parts of both classes in the first x of the sum."""
        for one, two in pairwise(corners):
            if sum(two) >= x:
                share = (x - sum(one)) / (sum(two) - sum(one))
                return [p + share * (q - p) for p, q in zip(one, two, strict=True)]
        return corners[-1]

    ends = [min(max(Fraction(at) + side * error, Fraction(0)), sum(corners[-1])) for side in (-1, 1)]
    inside = [q - p for p, q in zip(*(summed(x) for x in ends), strict=True)]
    u, v = (quantile(rate) for rate in inner)
    d = float(totals[0]) * math.exp((v * v - u * u) / 2)
    usual = d / (d + float(totals[1]))
    found = [part / whole * size for part, whole, size in zip(inside, totals, sizes, strict=True)]
    count = float(sum(found) if pooled else min(found))
    if sum(inside) == 0:
        return usual
    return (count * float(inside[0] / sum(inside)) + 4 * usual) / (count + 4)


def of_recall(of, alerts, grows, factor, moved, sizes):
    """Return by row the components of the recall at a number of alerts, times a factor, for every r.

    The alerts are `grows` of what the total grows by; `moved` are the derivatives of the factor's logarithm by those of
    the totals.
    """
    above, (tpr, fpr), shares = of_cut(of, (1, 1), alerts, sizes, pooled=True)
    odds = of.n / of.m
    found = []
    for r in shares:
        components = {x.row: factor * above[x.score] * ((1 - r) if x.label else -r * odds) for x in of.all}
        # Of m TPR + n FPR = alerts: what a total adds beyond the alerts' growth crosses the cut.
        crossing = r * (grows - tpr), r * (grows - fpr) * odds
        by_totals = [factor * (c + tpr * m) for c, m in zip(crossing, moved, strict=True)]
        found.append(Components(components, by_totals))
    return found


def of_equal_errors(of, sizes):
    """Return by row the components of the equal error rate, for every r."""
    above, _, shares = of_cut(of, (1 / of.m, 1 / of.n), 1, sizes, pooled=False)
    return [{x.row: above[x.score] * (r - 1 if x.label else r) for x in of.all} for r in shares]
