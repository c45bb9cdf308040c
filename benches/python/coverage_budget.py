"""Real coverage of nominal 95 % intervals of measures judged by a budget: python benches/python/coverage_budget.py [n].

Positives are normal with mean `shift`, negatives with mean 0, so that the true values are integrals over the threshold;
"tied" scores are rounded to halves. Each line is the share of n simulated samples (default 1,000) whose interval holds
the true value and the mean width of the intervals, by the default method; at shift 1 by others too, of which the
bootstrap (200 resamples) has a fifth of the samples. The bias is that of the estimate. 6 minutes of processor time.
"""

import sys
import time
import warnings

import numpy as np
from scipy import special, stats

from rocmax.metrics import (
    BEDROC,
    AveragePrecision,
    Bootstrap,
    EnrichmentFactor,
    EqualErrorRate,
    LogAUC,
    NetBenefit,
    PrecisionAt,
    RecallAt,
    infer,
)

BATCH = 100
TIE = 0.5
CELLS = ((100, 5), (100, 10), (100, 25), (100, 50), (500, 5), (500, 10), (500, 50), (500, 250), (2000, 20), (2000, 200))
MEASURES = (
    AveragePrecision(),
    PrecisionAt(10),
    PrecisionAt(0.05),
    RecallAt(50),
    EqualErrorRate(),
    LogAUC(),
    LogAUC(0.01, 1.0),
    EnrichmentFactor(0.05),
    BEDROC(),
    NetBenefit(0.2),
)


class Population:
    """Rates at every threshold, highest first."""

    def __init__(self, n, m, shift, tied=False):
        self.n, self.pi, self.shift, self.tied = n, m / n, shift, tied
        t = np.arange(14.0, -12.0, -TIE) - TIE / 2 if tied else np.linspace(14.0, -12.0, 200001)
        self.tpr, self.fpr = stats.norm.sf(t - shift), stats.norm.sf(t)

    def at(self, rate, of):
        """Return the true positive rate where a rate reaches `of`."""
        return np.interp(of, rate, self.tpr)

    def share(self, measure):
        return measure.k / self.n if isinstance(measure.k, int) else measure.k

    def value(self, measure):
        pi, tpr, fpr = self.pi, self.tpr, self.fpr
        called = pi * tpr + (1 - pi) * fpr
        rise, run = np.diff(tpr, prepend=0), np.diff(fpr, prepend=0)
        if isinstance(measure, AveragePrecision):
            precision = pi * tpr / np.maximum(called, 1e-300)
            return rise @ (precision if self.tied else (precision + np.append(precision[0], precision[:-1])) / 2)
        if isinstance(measure, PrecisionAt):
            return pi * self.at(called, self.share(measure)) / self.share(measure)
        if isinstance(measure, RecallAt):
            return self.at(called, self.share(measure))
        if isinstance(measure, EnrichmentFactor):
            return self.at(called, measure.fraction) / measure.fraction
        if isinstance(measure, EqualErrorRate):
            return 1 - self.at(tpr + fpr, 1.0)
        if isinstance(measure, LogAUC):
            x = np.geomspace(measure.low, measure.high, 20001)
            return np.trapezoid(self.at(fpr, x), np.log(x)) / np.log(measure.high / measure.low)
        if isinstance(measure, BEDROC):
            alpha, width = measure.alpha, pi * rise + (1 - pi) * run
            early = -np.diff(np.exp(-alpha * called), prepend=1.0) * pi * rise / np.maximum(width, 1e-300)
            ends = np.exp(-alpha * (1 - pi)), 1.0
            ends = [end * -np.expm1(-alpha * pi) for end in ends]
            return (early.sum() - ends[0]) / (ends[1] - ends[0])
        score = (special.logit(measure.threshold) - special.logit(pi) + self.shift**2 / 2) / self.shift
        odds = measure.threshold / (1 - measure.threshold)
        return pi * stats.norm.sf(score - self.shift) - (1 - pi) * odds * stats.norm.sf(score)

    def scores(self, noise, y, measure=None):
        s = noise + self.shift * y[:, None]
        if isinstance(measure, NetBenefit):  # the true probability
            return special.expit(special.logit(self.pi) + self.shift * s - self.shift**2 / 2)
        return np.round(s / TIE) * TIE if self.tied else s


def intervals(n_simulated):
    for n, m in CELLS:
        y = np.arange(n) < m
        for shift, tied in ((0.5, False), (1.0, False), (2.0, False), (1.0, True)):
            rng = np.random.default_rng(n + m)
            noise = [rng.normal(size=(n, BATCH)) for _ in range(-(-n_simulated // BATCH))]
            of = Population(n, m, shift, tied)
            for measure in MEASURES:
                if tied and isinstance(measure, NetBenefit):
                    continue
                truth = of.value(measure)
                shown = []
                others = ["delong", "logit-delong", Bootstrap(200)]
                methods = [None, *others] if shift == 1.0 and not tied else [None]
                for method in methods:
                    some = noise if not isinstance(method, Bootstrap) else noise[: -(-len(noise) // 5)]
                    found = [infer(y, of.scores(s, y, measure), measure, method=method, random_state=0) for s in some]
                    low, high = np.hstack([each.confidence_interval for each in found])
                    share = 100 * ((low <= truth + 1e-12) & (truth <= high + 1e-12)).mean()
                    name = f"default ({found[0].method})" if method is None else found[0].method
                    if method is None:
                        bias = np.hstack([each.estimate for each in found]).mean() - truth
                        name += f" width {(high - low).mean():.3f}"
                    shown.append(f"{name} {share:.1f}")
                scores = f"shift {shift:g}{' tied' if tied else ''}"
                head = f"n = {n:4d}  positives = {m:3d}  {scores:12s} {measure!s:36s}"
                print(f"{head} true {truth:.3f} bias {bias:+.3f}  {'  '.join(shown)}", flush=True)


def main(n_simulated):
    warnings.simplefilter("ignore")  # their coverage shows what they warn of
    start = time.process_time()
    intervals(n_simulated)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
