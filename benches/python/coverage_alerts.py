"""Budgets of alerts, a section of coverage_all.py: python benches/python/coverage_all.py 200 alerts.

`operating_point(threshold=("alerts", k))` for samples of normal scores, of positives with mean 2, of negatives with
mean 0, where a sample is positive with the probability given. The truth is that of the threshold above which a share
k / n of all lie.
"""

import numpy as np
from coverage_all import Cell
from scipy import optimize, stats

from rocmax.metrics import Bootstrap, operating_point

SHIFT = 2.0


def truth(share: float, alerts: float) -> tuple[float, float, float]:
    """Return precision, recall and threshold where a share of the population raises an alert."""

    def called(threshold: float) -> tuple[float, float]:
        return share * stats.norm.sf(threshold - SHIFT), (1 - share) * stats.norm.sf(threshold)

    threshold = optimize.brentq(lambda at: sum(called(at)) - alerts, -9.0, 9.0)
    return called(threshold)[0] / alerts, called(threshold)[0] / share, threshold


def rows(count):
    """Yield the cell of each quantity and budget, by the default bootstrap of 500 resamples."""
    names = {"ppv": "precision", "tpr": "recall", "threshold": "threshold"}
    for n, share, k in ((200, 0.2, 20), (1000, 0.05, 50), (1000, 0.05, 10), (5000, 0.01, 50), (5000, 0.01, 250)):
        rng, found = np.random.default_rng(k), []
        for seed in range(count):
            y = rng.random(n) < share
            s = rng.normal(size=n) + SHIFT * y
            how = {"method": Bootstrap(500, stratified=False), "random_state": seed}
            point = operating_point(y, s, threshold=("alerts", k), **how)
            found.append([getattr(point, f"{name}_interval") for name in names])
        ends = np.transpose(found, (1, 2, 0))
        for name, (low, high), value in zip(names.values(), ends, truth(share, k / n), strict=True):
            yield name, f"{k} of {n:,}, {share:.0%} positive", [Cell.of(low, high, value)]
