"""Power that is planned and power that is simulated: python benches/python/power.py [n_studies].

Scores are normal with equal variances in both classes, of two models with correlation 1/2. Each line has the power that
:func:`rocmax.metrics.auc_power` gives from the true AUCs, the share of simulated studies in which the default test of
`compare` (of one model, of `infer`) rejects at 5 % (its standard error is 1 % for 2,000 studies), and the power planned
from pilots of 200 + 200 samples: median and quartiles over 50 of them. A pilot's estimate is taken for the truth, so
that the quartiles are as wide as a pilot of that size leaves them. Two minutes.
"""

import sys
import warnings

import numpy as np
from scipy import stats

from rocmax.metrics import AUC, PartialAUC, TPRAtFPR, auc_power, compare, infer

TWO = {"auc": 0.9, "auc_b": 0.82, "correlation": 0.5}
CASES = [
    (AUC(), TWO, 100, 100, {}),
    (PartialAUC((0.0, 0.2)), TWO, 100, 100, {}),
    (PartialAUC((0.0, 0.2)), TWO, 50, 250, {}),
    (PartialAUC((0.0, 0.1)), TWO, 150, 300, {}),
    (PartialAUC((0.5, 1.0), normalize="width"), TWO, 300, 300, {}),
    (TPRAtFPR(0.1), TWO, 100, 100, {}),
    (TPRAtFPR(0.1), TWO, 60, 300, {}),
    (TPRAtFPR(0.05), TWO, 150, 300, {}),
    (PartialAUC((0.0, 0.2)), {"auc": 0.8}, 60, 60, {"null_value": 0.3}),
    (TPRAtFPR(0.1), {"auc": 0.85}, 80, 160, {"null_value": 0.4}),
]


def drawn(rng, m, n, truth):
    """Labels, and the scores of one model or two."""
    areas = np.array([value for name, value in truth.items() if name.startswith("auc")])
    correlation = truth.get("correlation", 0.0)
    root = np.linalg.cholesky((1 - correlation) * np.eye(len(areas)) + correlation)
    y = np.arange(m + n) < m
    return y, rng.normal(size=(m + n, len(areas))) @ root.T + np.sqrt(2) * stats.norm.ppf(areas) * y[:, None]


def rejected(rng, measure, m, n, truth, test):
    y, s = drawn(rng, m, n, truth)
    if s.shape[1] == 1:
        return infer(y, s[:, 0], measure, **test).pvalue < 0.05
    return compare(y, s, measure, **test).pvalue < 0.05


def main(n_studies):
    warnings.simplefilter("ignore")
    print(f"{'measure':<32}{'models':>7}{'n_pos':>7}{'n_neg':>7}{'planned':>9}{'simulated':>11}{'from pilots':>20}")
    for measure, truth, m, n, test in CASES:
        rng = np.random.default_rng(0)
        planned = auc_power(**truth, n_pos=m, n_neg=n, measure=measure, **test)
        found = np.mean([rejected(rng, measure, m, n, truth, test) for _ in range(n_studies)])
        pilots = [
            auc_power(pilot=drawn(rng, 200, 200, truth), n_pos=m, n_neg=n, measure=measure, **test) for _ in range(50)
        ]
        low, middle, high = np.quantile(pilots, [0.25, 0.5, 0.75])
        models = 2 if "auc_b" in truth else 1
        shown = f"{middle:.2f} ({low:.2f}-{high:.2f})"
        print(f"{measure!s:<32}{models:>7}{m:>7}{n:>7}{planned:>9.2f}{found:>11.2f}{shown:>20}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
