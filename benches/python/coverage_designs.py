"""Real coverage of 95 % intervals of clusters and of sampling weights: python benches/python/coverage_designs.py [n].

Positives are normal with mean 1.5, negatives with mean 0; `infer` takes the default method. Clusters: patients with so
many rows each, whose scores have correlation 1/2; rows are positive by themselves ("mixed") or with their patient
("whole"). Weights are inverse probabilities, from a population of random size: "equal" samples all alike, "random" has
weights 4 and 4/3 that nothing depends on, "case-control" keeps all positives and one of 20 negatives, "by score" all
above the 95 % quantile of the negatives and one of 20 below. Each line has the coverage in n samples (default 400;
standard error 1.1 at 95 %) in percent; in brackets the mean width and the percentage of samples with a warning. True
values are those at the prevalence of the sample, which intervals take as fixed. Two minutes of processor time; a second
argument selects designs by a part of their name.
"""

import sys
import time
import warnings

import numpy as np
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


def main(n_simulated, only=""):
    start = time.process_time()
    for design, draw in DESIGNS.items():
        if only not in design:
            continue
        rng = np.random.default_rng(0)
        held, width, warned = (dict.fromkeys(MEASURES, 0.0) for _ in range(3))
        for _ in range(n_simulated):
            y, s, how = draw(rng)
            known = truth(np.average(y, weights=how.get("sample_weight")))
            for name, measure in MEASURES.items():
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    low, high = infer(y, s, measure, **how, n_jobs=1).confidence_interval
                held[name] += low - 1e-12 <= known[name] <= high + 1e-12
                width[name] += high - low
                warned[name] += bool(told)
        shown = []
        for name in MEASURES:
            rate, told_of = (100 * of[name] / n_simulated for of in (held, warned))
            shown.append(f"{name} {rate:.1f} ({width[name] / n_simulated:.3f}, {told_of:.0f})")
        print(f"{design}: {'  '.join(shown)}", flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400, *sys.argv[2:])
