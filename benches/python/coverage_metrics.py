"""Real coverage of nominal 95 % intervals: python benches/python/coverage_metrics.py [n_samples].

Positives are normal with mean 1, negatives with mean 0, so that the AUC is Phi(1/sqrt 2); the true partial AUC over
[0, 0.2] comes from the binormal curve. Each line is the share of simulated samples whose interval holds the truth (its
standard error is 0.5 % for 2,000 of them) and the mean width of the intervals.
"""

import sys
import warnings

import numpy as np
from scipy import integrate, stats

from rocmax.metrics import auc_inference

AUC = stats.norm.cdf(1 / np.sqrt(2))
PARTIAL = integrate.quad(lambda u: stats.norm.sf(stats.norm.isf(u) - 1), 0, 0.2)[0] / 0.2
RANGE = {"metric": "partial_auc", "fpr_range": (0.0, 0.2)}
BOOTSTRAP = {"method": "bootstrap", "n_resamples": 500}
KINDS = {
    "auc delong": (AUC, {}),
    "auc logit-delong": (AUC, {"method": "logit-delong"}),
    "auc score": (AUC, {"method": "score"}),
    "auc newcombe": (AUC, {"method": "newcombe"}),
    "auc bootstrap percentile": (AUC, BOOTSTRAP),
    "auc bootstrap bca": (AUC, {**BOOTSTRAP, "bootstrap_interval": "bca"}),
    "pauc [0, 0.2] delong": (PARTIAL, RANGE),
    "pauc [0, 0.2] logit-delong": (PARTIAL, {**RANGE, "method": "logit-delong"}),
    "pauc [0, 0.2] score": (PARTIAL, {**RANGE, "method": "score"}),
    "pauc [0, 0.2] bootstrap percentile": (PARTIAL, {**RANGE, **BOOTSTRAP}),
}


def main(n_simulated: int) -> None:
    warnings.filterwarnings("ignore", "an interval has no width")  # its coverage shows it
    for n in (50, 500):
        for m in (2, 3, 5, n // 20, n // 2) if n > 50 else (2, 3, 5, n // 2):
            rng = np.random.default_rng(n + m)
            y = np.arange(n) < m
            held, width = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0.0)
            for k in range(n_simulated):
                s = rng.normal(size=n) + y
                for name, (truth, options) in KINDS.items():
                    found = auc_inference(y, s, random_state=k, n_jobs=1, **options)
                    low, high = found.confidence_interval
                    held[name] += low <= truth <= high
                    width[name] += (high - low) / n_simulated
            for name, count in held.items():
                share = 100 * count / n_simulated
                print(f"n = {n:3d}  positives = {m:3d}  {name:36s} {share:5.1f} %  width {width[name]:.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
