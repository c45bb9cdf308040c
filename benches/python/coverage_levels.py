"""Scores of few levels, a section of coverage_all.py: python benches/python/coverage_all.py 200 levels.

Normal scores with shift 1 in 3, 10 and 30 levels that hold as many samples each, of measures at a cut. Widths are those
over 3.92 standard deviations of the estimate, those of "logit-delong" beside the default's.
"""

from functools import partial

import numpy as np
from coverage_all import Cell
from scipy import stats
from yardstick import spread, truth

from rocmax.metrics import EnrichmentFactor, EqualErrorRate, PrecisionAt, RecallAt, infer

MEASURES = (PrecisionAt(10), PrecisionAt(0.2), RecallAt(50), EnrichmentFactor(0.05), EqualErrorRate())
SIZES = ((10, 90), (50, 50), (25, 475), (250, 250))


def thresholds(m, n, levels):
    """Return the scores between levels of which each holds the same share of the samples."""
    grid = np.linspace(-6.0, 8.0, 20_001)
    return np.interp(
        np.arange(1, levels) / levels, (m * stats.norm.cdf(grid - 1) + n * stats.norm.cdf(grid)) / (m + n), grid
    )


def of_levels(measure, cut, y, s, weight):
    return measure(y, np.searchsorted(cut, s).astype(float), weight)


def rows(count):
    for measure in MEASURES:
        for levels in (3, 10, 30):
            for m, n in SIZES:
                y, cut = np.arange(m + n) < m, thresholds(m, n, levels)
                z = np.random.default_rng(m + n + levels).normal(size=(m + n, count))
                s = np.searchsorted(cut, z + y[:, None]).astype(float)
                value = truth(partial(of_levels, measure, cut), m, n, "shift 1")
                for name, method in (("", None), (', "logit-delong"', "logit-delong")):
                    found = infer(y, s, measure, method=method, n_jobs=1)
                    cell = Cell.of(*found.confidence_interval, value)
                    wide = cell._replace(width=np.full(count, spread(cell.width, found.estimate)))
                    yield f"{measure}, {levels} levels{name}", f"{m} + {n}", [wide]
