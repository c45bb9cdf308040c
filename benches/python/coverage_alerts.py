"""Real coverage of nominal 95 % intervals at a budget of alerts: python benches/python/coverage_alerts.py [n_samples].

`operating_point(threshold=("alerts", k))` for samples of normal scores, of positives with mean 2, of negatives with
mean 0, where a sample is positive with the probability given. The truth is that of the threshold above which a share
k / n of all lie. Each line has the coverage of precision (PPV), recall (TPR) and threshold in 1,000 samples, in percent
(standard error 0.7 at 95 %), with 500 resamples; "wilson" takes the threshold as fixed and has no interval of it. It
takes a minute of processor time.
"""

import sys
import warnings

import numpy as np
from scipy import optimize, stats

from rocmax.metrics import Bootstrap, operating_point

SHIFT = 2.0
METHODS = {
    "wilson": "wilson",
    "bootstrap, stratified": Bootstrap(500),
    "bootstrap, pooled": Bootstrap(500, stratified=False),
}


def truth(share: float, alerts: float) -> tuple[float, float, float]:
    """Return precision, recall and threshold where a share of the population raises an alert."""

    def called(threshold: float) -> tuple[float, float]:
        return share * stats.norm.sf(threshold - SHIFT), (1 - share) * stats.norm.sf(threshold)

    threshold = optimize.brentq(lambda at: sum(called(at)) - alerts, -9.0, 9.0)
    return called(threshold)[0] / alerts, called(threshold)[0] / share, threshold


def main(n_simulated: int) -> None:
    warnings.simplefilter("ignore")
    for n, share, k in ((200, 0.2, 20), (1000, 0.05, 50), (1000, 0.05, 10), (5000, 0.01, 50), (5000, 0.01, 250)):
        known, rng = truth(share, k / n), np.random.default_rng(k)
        held = dict.fromkeys(METHODS, np.zeros(3))
        for seed in range(n_simulated):
            y = rng.random(n) < share
            s = rng.normal(size=n) + SHIFT * y
            for name, method in METHODS.items():
                found = operating_point(y, s, threshold=("alerts", k), method=method, random_state=seed)
                ends = found.ppv_interval, found.tpr_interval, found.threshold_interval or (np.nan, np.nan)
                held[name] = held[name] + [low <= value <= high for value, (low, high) in zip(known, ends, strict=True)]
        for name, counts in held.items():
            shown = " / ".join(f"{100 * count / n_simulated:.1f}" for count in counts)
            print(f"n = {n}, {share:.0%} positive, {k} alerts, {name}: {shown}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
