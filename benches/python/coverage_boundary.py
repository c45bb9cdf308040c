"""Separated classes, a section of coverage_all.py: python benches/python/coverage_all.py 200 boundary.

Normal scores of shift 3, so that many samples separate the classes and estimates lie at a bound: the interval of a
model, and the differences of two equal models, with correlation 1/2 ("paired") and of other samples ("independent").
A cell without width counts as one that does not cover.
"""

import numpy as np
from coverage_all import MEASURES, Cell, known, values

from rocmax.metrics import compare, infer

SIZES = ((5, 95), (10, 90), (50, 50))
NAME = "shift 3"


def rows(count):
    """Yield rows for each measure, over all sizes."""
    for measure in MEASURES:
        for m, n in SIZES:
            rng, y, found = np.random.default_rng(m + n), np.arange(m + n) < m, []
            for _ in range(count):
                z = rng.normal(size=(m + n, 3)) @ np.linalg.cholesky([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]).T
                first, second, other = (values(measure, 3 * y + one, m, n, NAME) for one in z.T)
                paired = compare(y, {"a": first, "b": second}, measure, n_jobs=1)
                independent = compare({"a": y, "b": y}, {"a": first, "b": other}, measure, n_jobs=1)
                of_model = infer(y, first, measure, n_jobs=1)
                found.append([one.confidence_interval for one in (of_model, paired, independent)])
            ends, truths = np.transpose(found, (1, 2, 0)), (known(measure, m, n, NAME), 0.0, 0.0)
            for kind, (low, high), truth in zip(("", ", paired", ", independent"), ends, truths, strict=True):
                wide = np.where(high - low > 1e-9, low, np.inf)
                yield f"{measure}{kind}", f"{m} + {n}", [Cell.of(np.where(np.isnan(low), low, wide), high, truth)]
