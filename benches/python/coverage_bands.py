"""How often a nominal 95 % band holds the true ROC curve: python benches/python/coverage_bands.py [n_samples].

Positives are normal with mean 1 or 2, negatives with mean 0. Each line is the share of simulated samples whose band
holds the curve at all of 4,400 false positive rates, close enough for no step to be passed over, and its mean height:
the two of `roc_band`, and the pointwise bootstrap band that `ROCDisplay` draws, which holds each point but not all.
Then comes the pointwise band of `PrecisionRecallDisplay`: the share of samples (a tenth of them) whose band holds the
true precision at each recall that is reached.
"""

import itertools
import sys
import time
import warnings

import matplotlib

matplotlib.use("agg")

import numpy as np
from scipy import stats

from rocmax.display._curves import Resamples, percentile_band, tpr_at
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import FPRAtTPR, infer, roc_band

GRID = np.unique(np.concatenate([np.geomspace(1e-3, 1, 400), np.linspace(0, 1, 4001)]))
SHIFTS = (1, 2)
RECALLS = (0.1, 0.2, 0.4, 0.6, 0.8)
SIZES = ((100, 100), (30, 300), (10, 10), (5, 50), (50, 5))


def edges(method, y, s, seed):
    if method == "pointwise":
        _, low, high = percentile_band(y, s, GRID, Resamples(0.95, 400, seed), tpr_at)
        return low, high
    band = roc_band(y, s, method=method, n_resamples=400, random_state=seed)
    return band.low(GRID), band.high(GRID)


def main(n_samples):
    print(f"{'positives, negatives':22} {'shift':5} {'band':20} {'holds all, %':>12} {'mean height':>12}   s")
    for sizes, shift in itertools.product(SIZES, SHIFTS):
        y, truth = np.repeat([True, False], sizes), stats.norm.sf(stats.norm.isf(GRID) - shift)
        for method in ("pointwise", "fixed-width", "kolmogorov-smirnov"):
            rng, start = np.random.default_rng(0), time.process_time()
            held, heights = 0, []
            for seed in range(n_samples):
                low, high = edges(method, y, rng.normal(size=len(y)) + shift * y, seed)
                held += bool((low <= truth).all() and (high >= truth).all())
                heights.append(np.trapezoid(high - low, GRID))
            taken = time.process_time() - start
            print(
                f"{sizes!s:22} {shift:5} {method:20} {100 * held / n_samples:12.1f} {np.mean(heights):12.3f}"
                f" {taken:4.0f}",
                flush=True,
            )
    warnings.simplefilter("ignore", CoverageWarning)
    precision_recall(max(1, n_samples // 10))


def precision_recall(n_samples):
    """At a recall the precision falls as the false positive rate rises: their limits hold the truth together."""
    columns = "".join(f"{recall:>7g}" for recall in RECALLS)
    print(f"\n{'positives, negatives':22} {'shift':5} {'precision at recall':20} {columns}")
    for sizes, shift in itertools.product(SIZES, SHIFTS):
        y, recalls = np.repeat([True, False], sizes), np.ceil(sizes[0] * np.array(RECALLS) - 1e-9) / sizes[0]
        rng, held = np.random.default_rng(0), np.zeros(len(recalls))
        s = rng.normal(size=(len(y), n_samples)) + shift * y[:, None]
        for k, recall in enumerate(recalls):
            truth = stats.norm.sf(shift + stats.norm.isf(recall))
            low, high = infer(y, s, FPRAtTPR(recall), method="score").confidence_interval
            held[k] = ((low <= truth) & (truth <= high)).mean()
        shown = "".join(f"{100 * share:7.1f}" for share in held)
        print(f"{sizes!s:22} {shift:5} {'pointwise':20} {shown}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
