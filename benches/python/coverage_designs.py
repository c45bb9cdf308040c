"""Clusters and sampling weights, a section of coverage_all.py: python benches/python/coverage_all.py 200 designs.

Positives are normal with mean 1.5, negatives with mean 0; `infer` takes the default method. Clusters: patients with so
many rows each, whose scores have correlation 1/2; rows are positive by themselves ("mixed") or with their patient
("whole"). Weights are inverse probabilities, from a population of random size: "equal" samples all alike, "random" has
weights 4 and 4/3 that nothing depends on, "case-control" keeps all positives and one of 20 negatives, "by score" all
above the 95 % quantile of the negatives and one of 20 below. True values are those at the prevalence of the sample,
which intervals take as fixed.
"""

import numpy as np
from coverage_all import Cell
from scipy import stats

from rocmax.metrics import AUC, AveragePrecision, FPRAtTPR, LogAUC, PartialAUC, PrecisionAt, RecallAt, TPRAtFPR, infer

SHIFT = 1.5
T = np.linspace(9.0, -8.0, 40001)
TPR, FPR = stats.norm.sf(T - SHIFT), stats.norm.sf(T)
MEASURES = {
    "AUC": AUC(),
    "pAUC": PartialAUC((0.0, 0.1)),
    "TPR": TPRAtFPR(0.1),
    "FPR": FPRAtTPR(0.9),
    "P@10%": PrecisionAt(0.1),
    "R@10%": RecallAt(0.1),
    "LogAUC": LogAUC(0.01, 1.0),
    "AP": AveragePrecision(),
}


def truth(pi):
    """Values at a prevalence."""
    called = pi * TPR + (1 - pi) * FPR
    recall = np.interp(0.1, called, TPR)
    precision = np.trapezoid(pi * TPR / called, TPR)
    return KNOWN | {"P@10%": pi * recall / 0.1, "R@10%": recall, "AP": precision}


def of_rates():
    """Values that do not depend on the prevalence."""
    x = np.geomspace(0.01, 1.0, 20001)
    return {
        "AUC": stats.norm.cdf(SHIFT / np.sqrt(2)),
        "pAUC": np.trapezoid(np.interp(np.linspace(0, 0.1, 20001), FPR, TPR), dx=1 / 20000),
        "TPR": np.interp(0.1, FPR, TPR),
        "FPR": np.interp(0.9, TPR, FPR),
        "LogAUC": np.trapezoid(np.interp(x, FPR, TPR), np.log(x)) / np.log(100),
    }


KNOWN = of_rates()


def clusters(n_clusters, rows, pi, whole):
    def draw(rng):
        while True:
            group = np.repeat(np.arange(n_clusters), rows)
            y = (rng.random(n_clusters) < pi)[group] if whole else rng.random(len(group)) < pi
            if min(len(np.unique(group[y])), len(np.unique(group[~y]))) > 1:
                noise = rng.normal(size=n_clusters)[group] + rng.normal(size=len(group))
                return y, SHIFT * y + noise / np.sqrt(2), {"groups": group}

    return draw


def weights(n, pi, kind):
    def draw(rng):
        while True:
            n_all = n if kind == "equal" else 2 * n if kind == "random" else 20 * n
            y = rng.random(n_all) < pi
            s = rng.normal(size=n_all) + SHIFT * y
            p = np.ones(n_all)
            if kind == "random":
                p = rng.choice([0.25, 0.75], n_all)
            elif kind == "case-control":
                p = np.where(y, 1.0, 0.05)
            elif kind == "by score":
                p = np.where(s > stats.norm.isf(0.05), 1.0, 0.05)
            kept = rng.random(n_all) < p
            y, s, w = y[kept], s[kept], 1 / p[kept]
            if min(y.sum(), (~y).sum()) > 1:
                return y, s, {"sample_weight": w, "weight_kind": "sampling"}

    return draw


DESIGNS = {
    "clusters of 1, 100, 20 %": clusters(100, 1, 0.2, False),
    "10 x 10 mixed, 30 %": clusters(10, 10, 0.3, False),
    "50 x 4 mixed, 20 %": clusters(50, 4, 0.2, False),
    "50 x 4 whole, 20 %": clusters(50, 4, 0.2, True),
    "300 x 20 whole, 50 %": clusters(300, 20, 0.5, True),
    "equal, 50, 20 %": weights(50, 0.2, "equal"),
    "equal, 200, 10 %": weights(200, 0.1, "equal"),
    "random, 200, 10 %": weights(200, 0.1, "random"),
    "case-control, 10, 10 %": weights(10, 0.1, "case-control"),
    "by score, 100, 1 %": weights(100, 0.01, "by score"),
    "by score, 250, 1 %": weights(250, 0.01, "by score"),
    "by score, 250, 10 %": weights(250, 0.1, "by score"),
}


def rows(count):
    """Yield a row for each measure, over all designs."""
    cells = {name: [] for name in MEASURES}
    for draw in DESIGNS.values():
        rng, found = np.random.default_rng(0), []
        for _ in range(count):
            y, s, how = draw(rng)
            known = truth(np.average(y, weights=how.get("sample_weight")))
            found.append(
                [(*infer(y, s, one, **how, n_jobs=1).confidence_interval, known[k]) for k, one in MEASURES.items()]
            )
        for name, of_measure in zip(MEASURES, np.moveaxis(found, 1, 0), strict=True):
            cells[name].append(Cell.of(*of_measure.T))
    for name, of_designs in cells.items():
        for design, cell in zip(DESIGNS, of_designs, strict=True):
            yield name, design, [cell]
