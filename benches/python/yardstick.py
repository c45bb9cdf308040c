"""Do the defaults still hold? Coverage and width of 95 % intervals of models, differences and pooled subgroups.

python benches/python/yardstick.py [share]: some five minutes; a share of 0.1 takes a tenth of the samples. Each line is
the share of simulated samples whose default interval holds the true value (1,000 samples of a model, 200 of a
difference, 40 of subgroups), its mean width, and that over 3.92 standard deviations of the estimate; for differences
the same by "delong". The command fails if a cell is below 93 % by more than two standard errors, if the interval of a
difference is more than 1.6 times as wide as that of "delong" although that covers, or if that of a pooled value or
difference is more than 1.5 times as wide as its estimate varies.

Scores are functions of normal deviates, which are correlated between two models. The true value is that of the measure
at 20,000 quantiles of either class, with weights that add up to the sample's classes; of pooled subgroups, the mean of
400 samples, whose standard deviation is the true one.
"""

import sys
import time
import warnings

import numpy as np
from scipy import special, stats

from rocmax.metrics import (
    AUC,
    BEDROC,
    RIE,
    AveragePrecision,
    EnrichmentFactor,
    EqualErrorRate,
    FPRAtTPR,
    LogAUC,
    NetBenefit,
    PartialAUC,
    PrecisionAt,
    RecallAt,
    ScoredAUC,
    TPRAtFPR,
    compare,
    infer,
)


def contaminated(z):
    """One negative of ten is drawn about 2: the top of the ranking is of another kind than the rest."""
    u = special.ndtr(z)
    rest = special.ndtri(np.minimum(u / 0.9, 1 - 1e-12))
    return np.where(u < 0.9, rest, 2 + special.ndtri(np.maximum(u - 0.9, 1e-12) / 0.1) / 4)


def lost(z):
    """One positive of ten has the scores of negatives, about 0; the others are drawn about 3."""
    u = special.ndtr(z)
    found = special.ndtri(np.maximum(u - 0.1, 1e-12) / 0.9) + 3
    return np.where(u < 0.1, special.ndtri(np.minimum(u / 0.1, 1 - 1e-12)), found)


# Scores of positives and of negatives, of standard normal deviates.
POPULATIONS = {
    "shift 1": (lambda z: z + 1, lambda z: z),
    "shift 1.5": (lambda z: z + 1.5, lambda z: z),
    "shift 2": (lambda z: z + 2, lambda z: z),
    "shift 3": (lambda z: z + 3, lambda z: z),
    "rounded": (lambda z: np.round(2 * z + 2) / 2, lambda z: np.round(2 * z) / 2),
    "exponential": (lambda z: -3 * special.log_ndtr(-z), lambda z: -special.log_ndtr(-z)),
    "spread 2": (lambda z: 2 * z + 2, lambda z: z),
    "beta": (lambda z: stats.beta.ppf(special.ndtr(z), 4, 2), lambda z: stats.beta.ppf(special.ndtr(z), 2, 3)),
    "contaminated": (lambda z: z + 1.5, contaminated),
    "lost": (lost, lambda z: z),
}
SEPARATED = {"shift 5": (lambda z: z + 5, lambda z: z)}  # the tables of coverage_all.py end at shift 3
MODELS = [  # measure, positives, negatives, population
    (AUC(), 3, 47, "spread 2"),
    (AUC(), 5, 45, "exponential"),
    (AUC(), 5, 495, "shift 2"),
    (AUC(), 10, 90, "beta"),
    (AUC(), 10, 490, "contaminated"),
    (AUC(), 10, 490, "lost"),
    (AUC(), 10, 490, "spread 2"),
    (AUC(), 50, 50, "shift 1"),
    (AUC(), 30, 900, "shift 3"),
    (AUC(), 100, 1900, "shift 3"),
    (AUC(), 1000, 9000, "shift 5"),
    (AveragePrecision(), 1000, 9000, "shift 5"),
    (PartialAUC((0, 0.05)), 5, 45, "shift 1"),
    (PartialAUC((0, 0.2)), 25, 475, "contaminated"),
    (TPRAtFPR(0.1), 10, 90, "spread 2"),
    (TPRAtFPR(0.01), 50, 450, "exponential"),
    (AveragePrecision(), 5, 95, "shift 1"),
    (AveragePrecision(), 10, 490, "shift 1"),
    (AveragePrecision(), 250, 250, "shift 2"),
    (AveragePrecision(), 500, 500, "shift 3"),
    (PrecisionAt(10), 10, 90, "rounded"),
    (PrecisionAt(0.05), 250, 250, "shift 2"),
    (RecallAt(50), 5, 95, "shift 2"),
    (EqualErrorRate(), 10, 90, "spread 2"),
    (EqualErrorRate(), 10, 490, "lost"),
    (LogAUC(), 20, 1980, "shift 1"),
    (LogAUC(), 25, 75, "shift 1"),
    (LogAUC(0.01, 1.0), 10, 90, "shift 1"),
    (BEDROC(), 10, 90, "shift 1"),
    (BEDROC(), 50, 50, "shift 2"),
    (BEDROC(), 50, 50, "lost"),
    (TPRAtFPR(0.1), 250, 250, "rounded"),
    (FPRAtTPR(0.9), 50, 50, "rounded"),
    (FPRAtTPR(0.9), 5, 95, "spread 2"),
]
PAIRS = [  # measure, positives, negatives, both populations, correlation
    (AUC(), 3, 47, "shift 1", "shift 1", 0.5),
    (AUC(), 5, 45, "shift 1.5", "shift 1", 0.5),
    (AUC(), 5, 495, "spread 2", "shift 1", 0.5),
    (AUC(), 10, 90, "shift 2", "shift 2", 0.5),
    (AUC(), 10, 90, "shift 1.5", "shift 1", 0.9),
    (AUC(), 50, 50, "shift 1", "shift 1", 0.9),
    (AUC(), 250, 250, "beta", "exponential", 0.5),
    (PartialAUC((0, 0.05)), 10, 40, "shift 1.5", "shift 1", 0.5),
    (PartialAUC((0, 0.2)), 25, 75, "spread 2", "shift 1", 0.5),
    (TPRAtFPR(0.1), 10, 90, "shift 1", "shift 1", 0.5),
    (TPRAtFPR(0.1), 5, 95, "spread 2", "shift 1", 0.5),
    (AveragePrecision(), 5, 95, "shift 1.5", "shift 1", 0.5),
    (AveragePrecision(), 50, 50, "contaminated", "shift 1", 0.5),
    (PrecisionAt(10), 50, 50, "shift 1.5", "shift 1", 0.5),
    (PrecisionAt(10), 5, 95, "spread 2", "shift 1", 0.5),
    (PrecisionAt(0.05), 25, 475, "shift 1.5", "shift 1", 0.5),
    (RecallAt(50), 5, 95, "shift 1.5", "shift 1", 0.5),
    (EqualErrorRate(), 5, 95, "spread 2", "shift 1", 0.5),
    (EqualErrorRate(), 25, 75, "shift 1", "shift 1", 0.5),
    (LogAUC(0.01, 1.0), 10, 90, "shift 1.5", "shift 1", 0.5),
    (LogAUC(), 50, 50, "shift 1", "shift 1", 0.5),
    (BEDROC(), 5, 95, "shift 1.5", "shift 1", 0.5),
    (BEDROC(), 50, 50, "shift 1.5", "shift 1", 0.5),
    (AveragePrecision(), 5, 95, "shift 1.5", "shift 1", 0.9),
    (PrecisionAt(10), 5, 95, "shift 1.5", "shift 1", 0.9),
    (RecallAt(50), 5, 95, "shift 1.5", "shift 1", 0.9),
    (EqualErrorRate(), 5, 95, "shift 1.5", "shift 1", 0.9),
]
POOLED = [  # measures of two models in 8 subgroups of 10 + 90, shift 1.5 and 1, correlation 1/2
    AUC(),
    PartialAUC((0, 0.01)),
    PartialAUC((0, 0.1)),
    TPRAtFPR(0.1),
    FPRAtTPR(0.8),
    ScoredAUC(),
    AveragePrecision(),
    PrecisionAt(10),
    RecallAt(10),
    EnrichmentFactor(0.05),
    EqualErrorRate(),
    LogAUC(0.01, 1.0),
    RIE(),
    BEDROC(),
    NetBenefit(0.2),
]
_QUANTILES = 20_000
_LEAST = 0.93  # coverage
_WIDEST, _OF_POOLED = 1.6, 1.5  # over the width of "delong", and over 3.92 standard deviations
_DRAWS = 400  # of pooled values


def quantiles(population):
    z = special.ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    return [of_class(z) for of_class in (POPULATIONS | SEPARATED)[population]]


def truth(measure, m, n, population):
    weights = np.repeat([m / _QUANTILES, n / _QUANTILES], _QUANTILES)
    return measure(np.repeat([1, 0], _QUANTILES), np.concatenate(quantiles(population)), weights)


def scores_of(z, m, population):
    pos, neg = (POPULATIONS | SEPARATED)[population]
    return np.concatenate([pos(z[:m]), neg(z[m:])])


def probabilities(s, m, n, population):
    """Return the true probabilities of scores, by the densities of 20,000 quantiles on a grid of 200 bins."""
    pos, neg = quantiles(population)
    edges = np.unique(np.quantile(np.concatenate([pos, neg]), np.linspace(0, 1, 201)))
    counts = [np.histogram(scores, edges)[0] + 1e-3 for scores in (pos, neg)]
    share = m * counts[0] / (m * counts[0] + n * counts[1])
    return share[np.clip(np.searchsorted(edges, s, "right") - 1, 0, len(share) - 1)]


def values(measure, s, m, n, population):
    return probabilities(s, m, n, population) if isinstance(measure, NetBenefit) else s


def held(low, high, value):
    return (low <= value + 1e-9) & (value <= high + 1e-9)


def falls_short(covered, count):
    """Return whether a share is below 93 % by more than two standard errors."""
    return covered < _LEAST - 2 * np.sqrt(_LEAST * (1 - _LEAST) / count)


def two_models(rng, measure, sizes, populations, correlation):
    """Return the scores of two models, positives first."""
    m, n = sizes
    z = rng.normal(size=(m + n, 2)) @ np.linalg.cholesky([[1, correlation], [correlation, 1]]).T
    of = [values(measure, scores_of(z[:, k], m, name), m, n, name) for k, name in enumerate(populations)]
    return np.column_stack(of)


def spread(width, estimates):
    """Return a mean width over what 95 % intervals of a normal estimate with this standard deviation have."""
    return float(np.mean(width) / (2 * stats.norm.ppf(0.975) * np.std(estimates)))


def of_model(count, measure, m, n, population):
    z = np.random.default_rng(m + n).normal(size=(m + n, count))
    found = infer(np.arange(m + n) < m, scores_of(z, m, population), measure, n_jobs=1)
    low, high = found.confidence_interval
    covered = held(low, high, truth(measure, m, n, population)).mean()
    return covered, (high - low).mean(), spread(high - low, found.estimate), "", False


def of_pair(count, measure, m, n, first, second, correlation):
    rng, y = np.random.default_rng(m + n), np.arange(m + n) < m
    value = truth(measure, m, n, first) - truth(measure, m, n, second)
    ends, apart = [], []
    for _ in range(count):
        s = two_models(rng, measure, (m, n), (first, second), correlation)
        found = [compare(y, s, measure, method=how, n_jobs=1) for how in (None, "delong")]
        ends.append([one.confidence_interval for one in found])
        apart.append(found[0].difference)
    (low, high), (wald_low, wald_high) = np.moveaxis(np.array(ends), 0, -1)
    covered, width = held(wald_low, wald_high, value).mean(), (wald_high - wald_low).mean()
    wide = not falls_short(covered, count) and (high - low).mean() > _WIDEST * width
    wald = f'"delong" {100 * covered:5.1f} % {width:.3f}'
    return held(low, high, value).mean(), (high - low).mean(), spread(high - low, apart), wald, wide


def in_subgroups(rng, measure, sizes, k, populations, correlation):
    """Return labels, the scores of two models, and k subgroups of these sizes."""
    s = [two_models(rng, measure, sizes, populations, correlation) for _ in range(k)]
    return np.tile(np.arange(sum(sizes)) < sizes[0], k), np.concatenate(s), np.repeat(np.arange(k), sum(sizes))


def of_subgroups(count, measure, sizes, k, populations=("shift 1.5", "shift 1"), correlation=0.5):
    """Return pooled limits of the first model, and of the difference, each with estimates of 400 other samples."""
    rng, n = np.random.default_rng(sum(sizes)), sum(sizes)
    y, s, _ = in_subgroups(rng, measure, sizes, k * _DRAWS, populations, correlation)
    each = [[measure(y[:n], s[at : at + n, model]) for at in range(0, len(y), n)] for model in (0, 1)]
    first, second = np.reshape(each, (2, _DRAWS, k)).mean(axis=2)
    ends = []
    for _ in range(count):
        y, s, by = in_subgroups(rng, measure, sizes, k, populations, correlation)
        one = infer(y, s[:, 0], measure, by=by, n_jobs=1)
        ends.append([one.confidence_interval, compare(y, s, measure, by=by, n_jobs=1).confidence_interval])
    single, apart = np.moveaxis(np.array(ends), 0, -1)
    return (single, first), (apart, first - second)


def of_pooled(count, measure):
    found = []
    for (low, high), estimates in of_subgroups(count, measure, (10, 90), 8):
        width = spread(high - low, estimates)
        found.append((held(low, high, estimates.mean()).mean(), (high - low).mean(), width, "", width > _OF_POOLED))
    return found


def main(share=1.0):
    warnings.simplefilter("ignore")  # their coverage shows what they warn of
    start, failed = time.process_time(), []

    def show(name, count, covered, width, over, other, wide):
        print(f"{name:72s} {100 * covered:5.1f} %  width {width:.3f} {over:.2f}  {other}", flush=True)
        if falls_short(covered, count) or wide:
            failed.append(name)

    for cells, one, count in ((MODELS, of_model, round(1000 * share)), (PAIRS, of_pair, round(200 * share))):
        for cell in cells:
            show(", ".join(map(str, cell)), count, *one(count, *cell))
    count = max(round(40 * share), 2)
    for measure in POOLED:
        for what, found in zip(("pooled", "pooled difference"), of_pooled(count, measure), strict=True):
            show(f"{measure}, {what}", count, *found)
    print(f"{time.process_time() - start:.0f} s of processor time")
    if failed:
        sys.exit("below 93 % by more than two standard errors, or too wide: " + "; ".join(failed))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
