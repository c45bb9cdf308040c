"""Multi-class AUCs, a section of coverage_all.py: python benches/python/coverage_all.py 200 multiclass.

Three classes with normal scores, the column of the true class higher by 1, two thirds as frequent one after the other.
The true values are those of 200,000 samples.
"""

import numpy as np
from coverage_all import Cell
from scipy.special import softmax

from rocmax.metrics import AUC, infer, roc_auc_score

SHARES = np.array([9, 6, 4]) / 19


def drawn(rng, n):
    y = rng.choice(3, size=n, p=SHARES)
    return y, softmax(rng.normal(size=(n, 3)) + (y[:, None] == np.arange(3)), axis=1)


def rows(count):
    """Yield the cell of each kind, average, method and number of samples."""
    y, p = drawn(np.random.default_rng(0), 200_000)
    for kind, average in ((kind, average) for kind in ("ovr", "ovo") for average in ("macro", "weighted")):
        measure = AUC(multi_class=kind, average=average)
        truth = roc_auc_score(y, p, multi_class=kind, average=average)
        for method in ("delong", "logit-delong"):
            for n in (150, 600):
                rng = np.random.default_rng(1)
                ends = [infer(*drawn(rng, n), measure, method=method).confidence_interval for _ in range(count)]
                yield f"{kind} {average}, {method}", f"{n} samples", [Cell.of(*np.transpose(ends), truth)]
