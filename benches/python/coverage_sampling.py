"""Sampling weights and prevalences, a section of coverage_all.py: python benches/python/coverage_all.py 200 sampling.

Of 10,000 rows, whose positives are normal with mean 2 and whose negatives with mean 0, so many are labelled: half of
them the highest scores, the others at random ("alerts"); with probabilities like 1 / sqrt(rank) ("rank"); or at random
("uniform", from five expected positives on). True values are those of the population at the prevalence given. Samples
with fewer than two positives are drawn again. Other
methods, and means over four subgroups of labelled rows: python benches/python/coverage_sampling.py 40.
"""

import sys
import warnings
from functools import partial

import numpy as np
from coverage_all import Cell, table
from scipy import optimize, special, stats

from rocmax.metrics import (
    AUC,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    NetBenefit,
    PrecisionAt,
    RecallAt,
    compare,
    infer,
)

N, SHIFT, SIZES = 10_000, 2.0, (100, 300, 1000)


def truth(share, pi):
    """Precision and recall of a share of the population."""

    def recall(t):
        return stats.norm.sf(t - SHIFT)

    t = optimize.brentq(lambda t: pi * recall(t) + (1 - pi) * stats.norm.sf(t) - share, -9.0, 9.0)
    return recall(t) * pi / share, recall(t)


def measures(pi):
    """Yield measures and their true values."""
    for share in (0.01, 0.1):
        precision, recall = truth(share, pi)
        for at in (share, round(share * N)):
            yield PrecisionAt(at), precision
            yield RecallAt(at), recall
        yield EnrichmentFactor(share), recall / share
    t = np.linspace(9.0, -8.0, 40001)
    tpr, fpr = stats.norm.sf(t - SHIFT), stats.norm.sf(t)
    yield AveragePrecision(), np.trapezoid(pi * tpr / (pi * tpr + (1 - pi) * fpr), tpr)
    odds = 1 / 3
    at = (np.log(odds * (1 - pi) / pi) + SHIFT**2 / 2) / SHIFT
    yield NetBenefit(0.25), pi * stats.norm.sf(at - SHIFT) - (1 - pi) * odds * stats.norm.sf(at)


def drawn(rng, pi, n, kind):
    """Return labels, the scores of two models of which the first decides who is labelled, and weights."""
    ranks = np.sqrt(np.arange(1.0, N + 1.0))
    scale = optimize.brentq(lambda c: np.minimum(1.0, c / ranks).sum() - n, 0.0, N)
    while True:
        y = rng.random(N) < pi
        s = rng.normal(size=(N, 2)) + SHIFT * y[:, None]
        place = np.argsort(np.argsort(-s[:, 0]))
        p = np.full(N, n / N)
        if kind == "alerts":
            p = np.where(place < n // 2, 1.0, (n - n // 2) / (N - n // 2))
        elif kind == "rank":
            p = np.minimum(1.0, scale / ranks[place])
        kept = rng.random(N) < p
        if 1 < y[kept].sum() < kept.sum() - 1:
            return y[kept], s[kept], 1 / p[kept]


def rows(count):
    """Yield the cells of each measure, and of the difference of two equal models."""
    for kind in ("alerts", "rank", "uniform"):
        for pi in (0.005, 0.01, 0.05, 0.2):
            for n in SIZES if kind != "uniform" else [n for n in SIZES if n * pi >= 5]:
                rng = np.random.default_rng(n)
                samples = [drawn(rng, pi, n, kind) for _ in range(count)]
                design = f"{kind}, {n}, {100 * pi:g} %"
                for measure, value in measures(pi):
                    probable = isinstance(measure, NetBenefit)
                    ends, apart = [], []
                    for y, s, w in samples:
                        how = {"sample_weight": w, "weight_kind": "sampling", "n_jobs": 1}
                        s = special.expit(SHIFT * s - SHIFT**2 / 2 + special.logit(pi)) if probable else s
                        ends.append(infer(y, s[:, 0], measure, **how).confidence_interval)
                        if measure in (PrecisionAt(0.1), RecallAt(0.1)):
                            apart.append(compare(y, s, measure, **how).confidence_interval)
                    yield str(measure), design, [Cell.of(*np.transpose(ends), value)]
                    if apart:
                        yield f"{measure}, difference", design, [Cell.of(*np.transpose(apart), 0.0)]


def by_method(count):
    """Yield the cells of other methods than the default, and of the AUC pooled over subgroups by pairs."""
    methods = ("delong", "logit-delong", Bootstrap(200), None)
    for pi, n in ((0.05, 300), (0.05, 1000), (0.2, 300)):
        rng = np.random.default_rng(n)
        samples = [drawn(rng, pi, n, "alerts") for _ in range(count)]
        precision, recall = truth(0.1, pi)
        auc = stats.norm.cdf(SHIFT / np.sqrt(2))
        for measure, value in ((AUC(), auc), (PrecisionAt(0.1), precision), (RecallAt(0.1), recall)):
            for method in methods:
                ends, by = [], None
                for k, (y, s, w) in enumerate(samples):
                    if method is None:
                        by = np.random.default_rng(k).permutation(len(y)) % 4
                        if measure != AUC() or min(np.bincount(by[y])) < 2:
                            continue
                    how = {"sample_weight": w, "weight_kind": "sampling", "method": method, "by": by, "n_jobs": 1}
                    ends.append(infer(y, s[:, 0], measure, random_state=k, **how).confidence_interval)
                name = "4 subgroups" if method is None else getattr(method, "name", method)
                if ends:
                    yield f"{measure}, {name}", f"alerts, {n}, {100 * pi:g} %", [Cell.of(*np.transpose(ends), value)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the coverage shows what they warn of
    table({"sampling": partial(by_method, int(sys.argv[1]) if len(sys.argv) > 1 else 40)})
