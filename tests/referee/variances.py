"""DeLong's variances and covariances from components, with weights, clusters and shared subjects."""

from collections import defaultdict

from tests.referee.exact import Fraction


class Components(dict):
    """Components by row, and the derivatives of the value by the logarithms of the totals of both classes."""

    def __init__(self, components, by_totals):
        super().__init__(components)
        self.by_totals = by_totals


def centred(samples, components, kind="frequency"):
    """Return by row the components less their weighted mean in the class.

    Sampling weights estimate the totals of the classes: a sample's influence is also that on its class's total.
    """
    by_totals = getattr(components, "by_totals", (0, 0)) if kind == "sampling" else (0, 0)
    found = {}
    for of, total, moved in zip((samples.pos, samples.neg), (samples.m, samples.n), by_totals, strict=True):
        mean = sum(Fraction(components[x.row]) * x.weight for x in of) / total
        found |= {x.row: Fraction(components[x.row]) - mean + Fraction(moved) for x in of}
    return found


def covariance(samples, one, two, kind="frequency"):
    """Return sum w V V' / (m (m - 1)) + the same of negatives; with sampling weights m/(m-1) sum w^2 V V' / W^2."""
    a = centred(samples, one, kind)
    b = a if one is two else centred(samples, two, kind)
    total = Fraction(0)
    for of, weight in ((samples.pos, samples.m), (samples.neg, samples.n)):
        if kind == "sampling":
            spread = sum(x.weight**2 * a[x.row] * b[x.row] for x in of) / weight**2
            total += spread * Fraction(len(of), len(of) - 1)
        else:
            total += sum(x.weight * a[x.row] * b[x.row] for x in of) / (weight * (weight - 1))
    return total


def of_clusters(samples, one, two, groups):
    """Return Obuchowski's covariance: sums over clusters in place of samples, with a term across the classes."""
    sums = []
    for components in (one, two):
        held = centred(samples, components)
        by_class = []
        for of, total in ((samples.pos, samples.m), (samples.neg, samples.n)):
            by_cluster = defaultdict(Fraction)
            for x in of:
                by_cluster[groups[x.row]] += x.weight * held[x.row] / total
            by_class.append(by_cluster)
        sums.append(by_class)
    clusters = {groups[x.row] for x in samples.all}
    found = Fraction(0)
    for c in (0, 1):
        size = len(sums[0][c])
        products = sum(sums[0][c][k] * sums[1][c][k] for k in sums[0][c])
        found += Fraction(size, size - 1) * products
    size = len(clusters)
    across = sum(sums[0][c].get(k, 0) * sums[1][1 - c].get(k, 0) for c in (0, 1) for k in clusters)
    return found + Fraction(size, size - 1) * across


def of_subjects(samples, components, subjects):
    """Return the variance of pairs that share subjects, with a factor for each class and their greater one for both."""
    held = centred(samples, components)
    parts = []
    for of, total in ((samples.pos, samples.m), (samples.neg, samples.n)):
        parts.append([(frozenset(subjects[x.row]), x.weight * held[x.row] / total) for x in of])
    sizes = [len(frozenset().union(*(pair for pair, _ in of))) for of in parts]
    factors = [Fraction(k * (k - 1), (k - 2) ** 2) for k in sizes]
    both = min(factors)
    own = sum((factor - both) * dyadic(of) for factor, of in zip(factors, parts, strict=True))
    return both * dyadic(parts[0] + parts[1]) + own


def dyadic(parts):
    """Return sum_k S_k^2 - sum_{k<l} D_kl^2, or an eighth of the first sum if that is more."""
    by_subject, by_pair = defaultdict(Fraction), defaultdict(Fraction)
    for pair, part in parts:
        by_pair[pair] += part
        for k in pair:
            by_subject[k] += part
    first = sum(s * s for s in by_subject.values())
    return max(first - sum(d * d for d in by_pair.values()), first / 8)
