"""Bands, a section of coverage_all.py: python benches/python/coverage_all.py 200 bands.

Positives are normal with mean 1 or 2, negatives with mean 0. `roc_band` holds the true curve at all of 4,400 false
positive rates, close enough for no step to be passed over. At a recall the precision of `PrecisionRecallDisplay` falls
as the false positive rate rises: their limits hold the truth together.
"""

import itertools

import numpy as np
from coverage_all import Cell
from scipy import stats

from rocmax.metrics import FPRAtTPR, infer, roc_band

GRID = np.unique(np.concatenate([np.geomspace(1e-3, 1, 400), np.linspace(0, 1, 4001)]))
SHIFTS = (1, 2)
RECALLS = (0.1, 0.2, 0.4, 0.6, 0.8)
SIZES = ((100, 100), (30, 300), (10, 10), (5, 50), (50, 5))


def rows(count):
    """Yield the cells of each kind of band; one of the curve holds the truth if it does at all rates."""
    for method in ("fixed-width", "kolmogorov-smirnov"):
        for sizes, shift in itertools.product(SIZES, SHIFTS):
            y, truth = np.repeat([True, False], sizes), stats.norm.sf(stats.norm.isf(GRID) - shift)
            rng, found = np.random.default_rng(0), []
            for seed in range(count):
                band = roc_band(y, rng.normal(size=len(y)) + shift * y, method=method, random_state=seed)
                low, high = band.low(GRID), band.high(GRID)
                found.append((((low <= truth) & (truth <= high)).all(), np.trapezoid(high - low, GRID)))
            cell = Cell(*np.array(found, dtype=float).T)
            yield f"{method} band", f"{sizes[0]} + {sizes[1]}, shift {shift}", [cell]
    for recall in RECALLS:
        for sizes, shift in itertools.product(SIZES, SHIFTS):
            y = np.repeat([True, False], sizes)
            s = np.random.default_rng(0).normal(size=(len(y), count)) + shift * y[:, None]
            reached = np.ceil(sizes[0] * recall - 1e-9) / sizes[0]
            low, high = infer(y, s, FPRAtTPR(reached), method="score").confidence_interval
            cell = Cell.of(low, high, stats.norm.sf(shift + stats.norm.isf(reached)))
            yield f"precision at recall {recall:g}", f"{sizes[0]} + {sizes[1]}, shift {shift}", [cell]
