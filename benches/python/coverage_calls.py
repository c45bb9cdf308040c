"""Measures at a threshold, a section of coverage_all.py: python benches/python/coverage_all.py 200 calls.

A sample is positive with the probability m / (m + n), at least two of each class; the threshold is 1 (0.5 for "beta").
Coverage of a model, and of the difference of two with correlation 1/2 ("Youden's J": of a model, of m + n samples).
"""

import numpy as np
from coverage_all import Cell, known
from yardstick import POPULATIONS, quantiles, scores_of, two_models

from rocmax.metrics import AtThreshold, compare, infer
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.at_threshold import FORMULAS

SIZES = ((3, 47), (5, 95), (10, 90), (25, 75), (50, 50), (10, 490), (250, 250))


def true_value(name, m, n, population, cut):
    """Return the value where the rates are those of the population."""
    tpr, fpr = (float((scores >= cut).mean()) for scores in quantiles(population))
    return float(FORMULAS[name](m * tpr, n * fpr, m * (1 - tpr), n * (1 - fpr)))


def drawn(rng, m, n):
    """Return numbers of positives and negatives, two of each at least."""
    while not 2 <= (k := int(rng.binomial(m + n, m / (m + n)))) <= m + n - 2:
        pass
    return k, m + n - k


def rows(count):
    """Yield a row for each measure and size, over populations."""
    for name in FORMULAS:
        for m, n in SIZES:
            cells = []
            for population in POPULATIONS:
                cut, rng = 0.5 if population == "beta" else 1.0, np.random.default_rng(m + n)
                found = np.full((count, 2), np.nan)
                for row in found:
                    k, rest = drawn(rng, m, n)
                    s = scores_of(rng.normal(size=k + rest), k, population)
                    try:
                        row[:] = infer(np.arange(k + rest) < k, s, AtThreshold(name, cut)).confidence_interval
                    except ValueError:
                        continue  # none is called
                cells.append(Cell.of(*found.T, true_value(name, m, n, population, cut)))
            yield name, f"{m} + {n}", cells
        for m, n in SIZES[1:5]:
            rng, found = np.random.default_rng(m + n), np.full((count, 2), np.nan)
            measure, names = AtThreshold(name, 1.0), ("shift 1.5", "shift 1")
            for row in found:
                k, rest = drawn(rng, m, n)
                s = two_models(rng, measure, (k, rest), names, 0.5)
                try:
                    row[:] = compare(np.arange(k + rest) < k, s, measure).confidence_interval
                except ValueError:
                    continue
            first, second = (true_value(name, m, n, one, 1.0) for one in names)
            yield f"{name}, difference", f"{m} + {n}", [Cell.of(*found.T, first - second)]
    youden = as_measure("youden")
    for m, n in SIZES:
        z, cells = np.random.default_rng(m + n).normal(size=(m + n, count)), []
        for population in POPULATIONS:
            low, high = infer(np.arange(m + n) < m, scores_of(z, m, population), youden, n_jobs=1).confidence_interval
            cells.append(Cell.of(low, high, known(youden, m, n, population)))
        yield str(youden), f"{m} + {n}", cells
