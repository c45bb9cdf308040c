"""Inference in subgroups, a section of coverage_all.py: python benches/python/coverage_all.py 200 subgroups.

Every subgroup has the same AUC: scores are normal, with mean `shift` and standard deviation `sd` for positives, 0 and 1
for negatives, plus a level of the subgroup's own; "tied" scores are rounded to halves of 1. Rows are the interval that
is pooled by pairs, and the tests at 5 % that all subgroups are equal, of the first subgroup's difference from the rest,
and of any difference from the rest after Holm's adjustment; of two models of correlation 1/2 and of one AUC in every
subgroup the pooled difference and the test of the same difference everywhere. 12 subgroups and more take a quarter of
the samples.
"""

import numpy as np
from coverage_all import Cell
from scipy import stats

from rocmax.metrics import PartialAUC, TPRAtFPR, compare, infer

TIE = 0.5
POPULATIONS = (
    ("shift 0.5", 0.5, 1.0, False),
    ("shift 1", 1.0, 1.0, False),
    ("shift 2", 2.0, 1.0, False),
    ("shift 1, tied", 1.0, 1.0, True),
    ("shift 2, sd 2", 2.0, 2.0, False),
)
#: Positives and negatives of every subgroup.
CELLS = (
    ("2 of 3 + 30", [(3, 30)] * 2),
    ("5 of 3 + 30", [(3, 30)] * 5),
    ("20 of 3 + 30", [(3, 30)] * 20),
    ("2 of 10 + 50", [(10, 50)] * 2),
    ("5 of 10 + 50", [(10, 50)] * 5),
    ("20 of 10 + 50", [(10, 50)] * 20),
    ("3, 10, 40 + 50", [(3, 50), (10, 50), (40, 50)]),
    ("10 of 1 + 20, 2 of 20 + 100", [(1, 20)] * 10 + [(20, 100)] * 2),
    ("5 of 50 + 200", [(50, 200)] * 5),
)


def draw(rng, cells, shift, sd, tied):
    """Return labels, scores and subgroups, of which each has a level of its own."""
    y = np.concatenate([np.repeat([True, False], sizes) for sizes in cells])
    by = np.repeat(np.arange(len(cells)), [sum(sizes) for sizes in cells])
    s = np.where(y, shift + sd * rng.normal(size=len(y)), rng.normal(size=len(y)))
    return y, (np.round(s / TIE) * TIE if tied else s) + 0.5 * by, by


def auc_of(shift, sd, tied):
    if not tied:
        return stats.norm.cdf(shift / np.hypot(1.0, sd))
    at = np.arange(-14, 16, TIE)
    pos, neg = (np.diff(stats.norm.cdf(np.append(at, 16) - TIE / 2, m, d)) for m, d in ((shift, sd), (0.0, 1.0)))
    return pos @ (np.cumsum(neg) - neg / 2)


def area_of(shift, sd, high):
    """Return the partial AUC of FPR 0 to `high`, normalised."""
    x = (np.arange(20000) + 0.5) / 20000 * high
    return stats.norm.sf(stats.norm.isf(x), shift, sd).mean()


def of_one(rng, n_simulated, cells, population, measure, truth):
    """Return the cells of one model: pooled, equality, first from the rest, any from the rest."""
    ends, rejected = [], []
    for _ in range(n_simulated):
        y, s, by = draw(rng, cells, *population)
        found = infer(y, s, measure, by=by, n_jobs=1)
        ends.append(found.confidence_interval)
        adjusted = [one.pvalue_adjusted for one in found.differences]
        rejected.append([found.equality.pvalue, found.differences[0].pvalue, min(adjusted)])
    return [Cell.of(*np.transpose(ends), truth), *map(Cell.of_tests, np.transpose(rejected) <= 0.05)]


def of_two(rng, n_simulated, cells, shift):
    """Return the cells of two models: the pooled difference and the test of the same difference."""
    ends, rejected = [], []
    for _ in range(n_simulated):
        y, s, by = draw(rng, cells, shift, 1.0, False)
        noise = s - shift * y - 0.5 * by
        other = 0.5 * noise + np.sqrt(0.75) * rng.normal(size=len(y)) + shift * y
        found = compare(y, np.column_stack([s, other]), by=by, n_jobs=1)
        ends.append(found.confidence_interval)
        rejected.append(found.equality.pvalue <= 0.05)
    return [Cell.of(*np.transpose(ends), 0.0), Cell.of_tests(rejected)]


def rows(count):
    parts = ("pooled", "equality", "first from the rest", "any from the rest")
    for name, cells in CELLS:
        few = count if len(cells) < 12 else -(-count // 4)
        of = [
            of_one(np.random.default_rng(0), few, cells, population, "auc", auc_of(*population))
            for _, *population in POPULATIONS
        ]
        for part, found in zip(parts, zip(*of, strict=True), strict=True):
            yield f"AUC, {part}", name, found
        for part, cell in zip(
            ("pooled", "same difference"), of_two(np.random.default_rng(0), few, cells, 1.0), strict=True
        ):
            yield f"AUC of two models, {part}", name, [cell]
    for m, n, k, fpr in ((10, 100, 5, 0.01), (10, 100, 5, 0.1), (10, 100, 20, 0.1), (50, 200, 5, 0.1)):
        for measure, truth in (
            (TPRAtFPR(fpr), stats.norm.sf(stats.norm.isf(fpr), 1.0)),
            (PartialAUC((0.0, 2 * fpr)), area_of(1.0, 1.0, 2 * fpr)),
        ):
            few = count if k < 12 else -(-count // 4)
            of = of_one(np.random.default_rng(0), few, [(m, n)] * k, (1.0, 1.0, False), measure, truth)
            for part, cell in zip(parts, of, strict=True):
                yield f"{type(measure).__name__}, {part}", f"{k} of {m} + {n}, FPR {fpr:g}", [cell]
