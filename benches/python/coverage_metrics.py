"""Real coverage of nominal 95 % intervals: python benches/python/coverage_metrics.py [n_samples].

Positives are normal with mean 1, negatives with mean 0: a binormal curve whose areas and rates are known. Each line is
the share of simulated samples whose interval holds the truth (its standard error is 0.5 % for 2,000 of them) and the
mean width of the intervals; a sample that a method refuses counts as missed. Samples are measured 100 at a time, as
models of one call, so that the bootstrap's draws differ between hundreds. The range [0, 0.05] has 1.25 negatives of 50
balanced samples. Then comes "score" where 0.1 to 3 negatives set a partial AUC or a TPR, with chance scores and with
mean 1, and the type I error of the test against the truth. It takes 10 minutes of processor time; a second argument,
"few", runs the second part. coverage_all.py has the defaults in more populations, and differences.
"""

import sys
import time
import warnings

import numpy as np
from scipy import integrate, stats

from rocmax.metrics import AUC, Bootstrap, FPRAtTPR, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR, infer

BATCH = 100


def height(fpr, shift=1.0):
    return stats.norm.sf(stats.norm.isf(fpr) - shift)


def area(high, shift=1.0):
    return integrate.quad(height, 0, high, args=(shift,))[0] / high


ROOT = np.sqrt(2)
SCORED = stats.norm.cdf(1 / ROOT) + ROOT * stats.norm.pdf(1 / ROOT)
BOOTSTRAP, BCA = Bootstrap(500), Bootstrap(500, interval="bca")
DELONG, LOGIT, SCORE, NEWCOMBE, OBUCHOWSKI, WU = "delong", "logit-delong", "score", "newcombe", "obuchowski", "wu"
# What is measured, its true value, and by which methods.
MEASURES = {
    "auc": (AUC(), stats.norm.cdf(1 / ROOT), [DELONG, LOGIT, SCORE, NEWCOMBE, OBUCHOWSKI, BOOTSTRAP, BCA]),
    "pauc [0, 0.2]": (
        PartialAUC((0.0, 0.2)),
        area(0.2),
        [DELONG, LOGIT, SCORE, OBUCHOWSKI, BOOTSTRAP, BCA],
    ),
    "pauc [0, 0.05]": (
        PartialAUC((0.0, 0.05)),
        area(0.05),
        [DELONG, LOGIT, SCORE, OBUCHOWSKI, BOOTSTRAP, BCA],
    ),
    "tpr at fpr 0.1": (TPRAtFPR(0.1), height(0.1), [DELONG, LOGIT, SCORE, BOOTSTRAP]),
    "fpr at tpr 0.9": (
        FPRAtTPR(0.9),
        stats.norm.sf(stats.norm.isf(0.9) + 1),
        [DELONG, LOGIT, SCORE, BOOTSTRAP],
    ),
    "scored auc": (ScoredAUC(), SCORED, [DELONG, LOGIT, WU, BOOTSTRAP]),
    "margin auc 0.5": (
        MarginAUC(0.5),
        stats.norm.cdf(0.5 / ROOT),
        [DELONG, LOGIT, BOOTSTRAP],
    ),
}


def ends(y, s, measure, method, seed):
    """The ends of the intervals of all columns; NaN where the method refuses the sample."""
    try:
        return infer(y, s, measure, method=method, random_state=seed, n_jobs=1).confidence_interval
    except ValueError:
        if s.shape[1] == 1:
            return [np.nan], [np.nan]
        return np.hstack([ends(y, s[:, [k]], measure, method, seed) for k in range(s.shape[1])])


# Positives, negatives, how many of these the range holds: the cells of small studies, then a grid.
FEW = [(50, 8, 0.4), (5, 3, 0.3), (5, 5, 0.5), (10, 5, 0.5)]
FEW += [(m, n, held) for held in (0.1, 0.3, 1.0, 3.0) for m in (2, 10, 50) for n in (2, 10, 50) if held < n]


def few(n_simulated: int) -> None:
    print("positives, negatives, held: coverage in %, its mean width; size of the test in %", flush=True)
    for m, n, held in FEW:
        rng = np.random.default_rng(1000 * m + n)
        y, rate = np.arange(m + n) < m, held / n
        noise = [rng.normal(size=(m + n, BATCH)) for _ in range(-(-n_simulated // BATCH))]
        shown = []
        for shift in (0.0, 1.0):
            for kind, measure, truth in (
                ("pAUC", PartialAUC((0.0, rate)), area(rate, shift)),
                ("TPR", TPRAtFPR(rate), height(rate, shift)),
            ):
                found = [
                    infer(y, s + shift * y[:, None], measure, method="score", n_jobs=1, null_value=truth) for s in noise
                ]
                low, high = np.hstack([each.confidence_interval for each in found])
                size = 100 * np.mean([each.pvalue <= 0.05 for each in found])
                share = 100 * ((low <= truth) & (truth <= high)).mean()
                shown.append(f"{kind}, shift {shift:g}: {share:5.1f} {(high - low).mean():.2f} {size:4.1f}")
        print(f"{m:3d} {n:3d} {held:4.1f}  " + "  ".join(shown), flush=True)


def main(n_simulated: int, part: str = "all") -> None:
    warnings.simplefilter("ignore")  # their coverage shows what they warn of
    start = time.process_time()
    for n in (50, 500) if part == "all" else ():
        for m in (2, 3, 5, n // 20, n // 2) if n > 50 else (2, 3, 5, n // 2):
            rng = np.random.default_rng(n + m)
            y = np.arange(n) < m
            samples = [rng.normal(size=(n, BATCH)) + y[:, None] for _ in range(-(-n_simulated // BATCH))]
            for name, (measure, truth, methods) in MEASURES.items():
                for method in methods:
                    found = [ends(y, s, measure, method, k) for k, s in enumerate(samples)]
                    low, high = np.hstack(found)
                    share, width = 100 * ((low <= truth) & (truth <= high)).mean(), np.nanmean(high - low)
                    kind = f"{name} {getattr(method, 'name', method)} {getattr(method, 'interval', '')}"
                    print(f"n = {n:3d}  positives = {m:3d}  {kind:36s} {share:5.1f} %  width {width:.3f}", flush=True)
    few(n_simulated)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, *sys.argv[2:])
