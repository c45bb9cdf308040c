"""Thresholds with clusters, a section of coverage_all.py: python benches/python/coverage_all.py 200 clusters.

`operating_point(groups=...)` for clusters of 1 to 8 rows, evenly, whose scores have correlation 1/2 and normal
distributions, of positives with mean 1, of negatives with mean 0. Thresholds 0.5 and 1.2816, where 10 % of the
negatives are called positive, and the rules ("fpr", 0.1) and "youden", which choose these two from endless samples;
300 resamples.
"""

import numpy as np
from coverage_all import Cell
from scipy import stats

from rocmax.metrics import Bootstrap, operating_point

CUT = stats.norm.isf(0.1)
THRESHOLDS = [0.5, CUT, ("fpr", 0.1), "youden"]
CUTS = np.array([0.5, CUT, CUT, 0.5])  # of all samples there are
NAMES = ("sensitivity", "specificity", "ppv", "npv", "accuracy", "lr_positive")


def sample(rng, n_clusters, share, whole):
    """Labels, scores and clusters; samples with a class in fewer than two clusters are drawn again."""
    while True:
        group = np.repeat(np.arange(n_clusters), rng.integers(1, 9, n_clusters))
        if whole:
            y = (rng.permutation(n_clusters) < max(2, round(share * n_clusters)))[group]
        else:
            y = rng.random(len(group)) < share
        if min(len(np.unique(group[y])), len(np.unique(group[~y]))) >= 2:
            noise = rng.normal(size=n_clusters)[group] + rng.normal(size=len(group))
            return y, y + noise / np.sqrt(2), group


def truth(share):
    tpr, fpr = stats.norm.sf(CUTS - 1), stats.norm.sf(CUTS)
    called = share * tpr + (1 - share) * fpr
    npv = (1 - share) * (1 - fpr) / (1 - called)
    right = share * tpr + (1 - share) * (1 - fpr)
    return dict(zip(NAMES, (tpr, 1 - fpr, share * tpr / called, npv, right, tpr / fpr), strict=True))


def rows(count):
    """Yield the cells of each quantity and design, one for each threshold."""
    for whole in (False, True):
        for share in (0.5, 0.2):
            for n_clusters in (5, 10, 20, 50, 100):
                rng = np.random.default_rng(n_clusters)
                known = truth(max(2, round(share * n_clusters)) / n_clusters if whole else share)
                found = []
                for k in range(count):
                    y, s, groups = sample(rng, n_clusters, share, whole)
                    how = {"method": Bootstrap(300), "random_state": k, "n_jobs": 1}
                    point = operating_point(y, s, threshold=THRESHOLDS, groups=groups, **how)
                    found.append([getattr(point, f"{name}_interval") for name in NAMES])
                for name, (low, high) in zip(NAMES, np.transpose(found, (1, 2, 3, 0)), strict=True):
                    cells = [Cell.of(low[j], high[j], known[name][j]) for j in range(len(THRESHOLDS))]
                    kind = "one class" if whole else "both classes"
                    yield name, f"{n_clusters} clusters of {kind}, {share:.0%} positive", cells
