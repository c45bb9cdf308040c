"""Real coverage of nominal 95 % intervals: python benches/python/coverage_metrics.py [n_samples].

Positives are normal with mean 1, negatives with mean 0: a binormal curve whose areas and rates are known. Each line is
the share of simulated samples whose interval holds the truth (its standard error is 0.5 % for 2,000 of them) and the
mean width of the intervals; a sample that a method refuses counts as missed. Samples are measured 100 at a time, as
models of one call, so that the bootstrap's draws differ between hundreds. The range [0, 0.05] has 1.25 negatives of 50
balanced samples. The defaults take 8 minutes of processor time.
"""

import sys
import time
import warnings

import numpy as np
from scipy import integrate, stats

from rocmax.metrics import auc_inference

BATCH = 100


def height(fpr):
    return stats.norm.sf(stats.norm.isf(fpr) - 1)


def area(high):
    return integrate.quad(height, 0, high)[0] / high


ROOT = np.sqrt(2)
SCORED = stats.norm.cdf(1 / ROOT) + ROOT * stats.norm.pdf(1 / ROOT)
BOOTSTRAP = {"method": "bootstrap", "n_resamples": 500}
DELONG, LOGIT, SCORE, NEWCOMBE, OBUCHOWSKI, WU = (
    {"method": method} for method in ("delong", "logit-delong", "score", "newcombe", "obuchowski", "wu")
)
BCA = {**BOOTSTRAP, "bootstrap_interval": "bca"}
# What is measured, its true value, and by which methods.
MEASURES = {
    "auc": ({}, stats.norm.cdf(1 / ROOT), [DELONG, LOGIT, SCORE, NEWCOMBE, OBUCHOWSKI, BOOTSTRAP, BCA]),
    "pauc [0, 0.2]": (
        {"metric": "partial_auc", "fpr_range": (0.0, 0.2)},
        area(0.2),
        [DELONG, LOGIT, SCORE, OBUCHOWSKI, BOOTSTRAP, BCA],
    ),
    "pauc [0, 0.05]": (
        {"metric": "partial_auc", "fpr_range": (0.0, 0.05)},
        area(0.05),
        [DELONG, LOGIT, SCORE, OBUCHOWSKI, BOOTSTRAP, BCA],
    ),
    "tpr at fpr 0.1": ({"metric": "tpr_at_fpr", "fpr": 0.1}, height(0.1), [DELONG, LOGIT, SCORE, BOOTSTRAP]),
    "fpr at tpr 0.9": (
        {"metric": "fpr_at_tpr", "tpr": 0.9},
        stats.norm.sf(stats.norm.isf(0.9) + 1),
        [DELONG, LOGIT, SCORE, BOOTSTRAP],
    ),
    "scored auc": ({"metric": "scored_auc"}, SCORED, [DELONG, LOGIT, WU, BOOTSTRAP]),
    "margin auc 0.5": (
        {"metric": "margin_auc", "margin": 0.5},
        stats.norm.cdf(0.5 / ROOT),
        [DELONG, LOGIT, BOOTSTRAP],
    ),
}


def ends(y, s, options):
    """The ends of the intervals of all columns; NaN where the method refuses the sample."""
    try:
        return auc_inference(y, s, n_jobs=1, **options).confidence_interval
    except ValueError:
        if s.shape[1] == 1:
            return [np.nan], [np.nan]
        return np.hstack([ends(y, s[:, [k]], options) for k in range(s.shape[1])])


def main(n_simulated: int) -> None:
    warnings.simplefilter("ignore")  # their coverage shows what they warn of
    start = time.process_time()
    for n in (50, 500):
        for m in (2, 3, 5, n // 20, n // 2) if n > 50 else (2, 3, 5, n // 2):
            rng = np.random.default_rng(n + m)
            y = np.arange(n) < m
            samples = [rng.normal(size=(n, BATCH)) + y[:, None] for _ in range(-(-n_simulated // BATCH))]
            for name, (what, truth, methods) in MEASURES.items():
                for method in methods:
                    found = [ends(y, s, {**what, **method, "random_state": k}) for k, s in enumerate(samples)]
                    low, high = np.hstack(found)
                    share, width = 100 * ((low <= truth) & (truth <= high)).mean(), np.nanmean(high - low)
                    kind = f"{name} {method['method']} {method.get('bootstrap_interval', '')}"
                    print(f"n = {n:3d}  positives = {m:3d}  {kind:36s} {share:5.1f} %  width {width:.3f}", flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
