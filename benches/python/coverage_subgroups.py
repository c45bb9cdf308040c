"""Coverage and type I errors of inference in subgroups: python benches/python/coverage_subgroups.py [n].

Every subgroup has the same AUC: scores are normal, with mean `shift` and standard deviation `sd` for positives, 0 and 1
for negatives, plus a level of the subgroup's own; "tied" scores are rounded to halves of 1. A line gives, over n
simulated samples (default 1,000), the coverage of the 95 % interval of the AUC that is pooled by pairs, and in percent
at 5 % the rejections of: the test that all subgroups are equal; Wald's chi-square with the variances of DeLong et al.,
for comparison; the first subgroup's difference from the rest, and any difference from the rest after Holm's
adjustment. The last lines are of compare(..., by=...): two models with correlation 1/2 of which both have the same AUC
in every subgroup; coverage of the pooled difference, and rejections of the same difference everywhere. Cells of 12
subgroups and more take a quarter of the samples. About 15 minutes of processor time for n = 1,000.
"""

import sys
import time
import warnings

import numpy as np
from scipy import stats

from rocmax.metrics import PartialAUC, TPRAtFPR, compare, infer

TIE = 0.5
POPULATIONS = (
    ("shift 0.5", 0.5, 1.0, False),
    ("shift 1", 1.0, 1.0, False),
    ("shift 2", 2.0, 1.0, False),
    ("shift 1, tied", 1.0, 1.0, True),
    ("shift 2, sd 2", 2.0, 2.0, False),
)
#: Positives and negatives of every subgroup.
CELLS = (
    ("2 of 3 + 30", [(3, 30)] * 2),
    ("5 of 3 + 30", [(3, 30)] * 5),
    ("20 of 3 + 30", [(3, 30)] * 20),
    ("2 of 10 + 50", [(10, 50)] * 2),
    ("5 of 10 + 50", [(10, 50)] * 5),
    ("20 of 10 + 50", [(10, 50)] * 20),
    ("3, 10, 40 + 50", [(3, 50), (10, 50), (40, 50)]),
    ("10 of 1 + 20, 2 of 20 + 100", [(1, 20)] * 10 + [(20, 100)] * 2),
    ("5 of 50 + 200", [(50, 200)] * 5),
)


def draw(rng, cells, shift, sd, tied):
    """Return labels, scores and subgroups, of which each has a level of its own."""
    y = np.concatenate([np.repeat([True, False], sizes) for sizes in cells])
    by = np.repeat(np.arange(len(cells)), [sum(sizes) for sizes in cells])
    s = np.where(y, shift + sd * rng.normal(size=len(y)), rng.normal(size=len(y)))
    return y, (np.round(s / TIE) * TIE if tied else s) + 0.5 * by, by


def auc_of(shift, sd, tied):
    if not tied:
        return stats.norm.cdf(shift / np.hypot(1.0, sd))
    at = np.arange(-14, 16, TIE)
    pos, neg = (np.diff(stats.norm.cdf(np.append(at, 16) - TIE / 2, m, d)) for m, d in ((shift, sd), (0.0, 1.0)))
    return pos @ (np.cumsum(neg) - neg / 2)


def area_of(shift, sd, high):
    """Return the partial AUC of FPR 0 to `high`, normalised."""
    x = (np.arange(20000) + 0.5) / 20000 * high
    return stats.norm.sf(stats.norm.isf(x), shift, sd).mean()


def wald(found):
    """Return whether Wald's chi-square rejects at 5 %."""
    with np.errstate(divide="ignore", invalid="ignore"):
        v = found.moments.variance
        x, w = found.moments.estimate[v > 0], 1 / v[v > 0]
    return len(x) > 1 and stats.chi2.sf(w @ (x - w @ x / w.sum()) ** 2, len(x) - 1) <= 0.05


def line(rng, n_simulated, cells, population, measure="auc", truth=None):
    shift, sd, tied = population
    truth = auc_of(shift, sd, tied) if truth is None else truth
    rows = []
    for _ in range(n_simulated):
        y, s, by = draw(rng, cells, shift, sd, tied)
        found = infer(y, s, measure, by=by, random_state=0)
        low, high = found.confidence_interval
        rows.append(
            (
                low <= truth + 1e-12 and truth <= high + 1e-12,
                found.equality.pvalue <= 0.05,
                wald(found),
                found.differences[0].pvalue <= 0.05,
                min(one.pvalue_adjusted for one in found.differences) <= 0.05,
            )
        )
    cover, equal, chi2, first, any_of = 100 * np.mean(rows, axis=0)
    return (
        f"pooled {cover:5.1f}  equality {equal:4.1f}  (Wald {chi2:5.1f})  first from the rest {first:4.1f}"
        f"  any, Holm {any_of:4.1f}"
    )


def compared(rng, n_simulated, cells, shift):
    """Return a line of the comparison of two models."""
    rows = []
    for _ in range(n_simulated):
        y, s, by = draw(rng, cells, shift, 1.0, False)
        noise = s - shift * y - 0.5 * by
        other = 0.5 * noise + np.sqrt(0.75) * rng.normal(size=len(y)) + shift * y
        found = compare(y, np.column_stack([s, other]), by=by, random_state=0, method="delong")
        low, high = found.confidence_interval
        rows.append((low <= 0 <= high, found.equality.pvalue <= 0.05))
    cover, same = 100 * np.mean(rows, axis=0)
    return f"pooled {cover:5.1f}  same difference {same:4.1f}"


def main(n_simulated):
    warnings.simplefilter("ignore")
    start = time.process_time()
    for name, cells in CELLS:
        for words, *population in POPULATIONS:
            few = n_simulated if len(cells) < 12 else -(-n_simulated // 4)
            found = line(np.random.default_rng(0), few, cells, population)
            print(f"{name:28s} {words:14s} {found}", flush=True)
    for name, cells in CELLS[4], CELLS[8]:
        population = 1.0, 1.0, False
        truth = area_of(1.0, 1.0, 0.2)
        found = line(np.random.default_rng(0), n_simulated, cells, population, PartialAUC((0, 0.2)), truth)
        print(f"{name:28s} {'FPR 0-0.2':14s} {found}", flush=True)
    for cells, fpr in (([(10, 100)] * 5, 0.01), ([(10, 100)] * 5, 0.1), ([(50, 200)] * 5, 0.1)):
        name = f"5 of {cells[0][0]} + {cells[0][1]}"
        truth = stats.norm.sf(stats.norm.isf(fpr), 1.0)
        found = line(np.random.default_rng(0), n_simulated, cells, (1.0, 1.0, False), TPRAtFPR(fpr), truth)
        print(f"{name:28s} {f'TPR, FPR {fpr:g}':14s} {found}", flush=True)
    for name, cells in CELLS:
        few = n_simulated if len(cells) < 12 else -(-n_simulated // 4)
        print(f"{name:28s} {'two models':14s} {compared(np.random.default_rng(0), few, cells, 1.0)}", flush=True)
    print(f"{(time.process_time() - start) / 60:.0f} minutes of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
