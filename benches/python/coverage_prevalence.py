"""Tests in subgroups whose prevalences differ by chance: python benches/python/coverage_all.py 200 prevalence.

Every sample is positive with probability 0.2; scores are the true probabilities, by normal scores of shift 1.5. So all
subgroups are equal, and measures that depend on the prevalence differ between them by chance: the tests at 5 % that all
are equal, of the first subgroup's difference from the rest, and of any after Holm's adjustment.
"""

import numpy as np
from coverage_all import Cell
from scipy import special

from rocmax.metrics import RIE, AveragePrecision, NetBenefit, PrecisionAt, infer

SUBGROUPS = {"3 of 100": [100] * 3, "4 of 300": [300] * 4, "8 of 150": [150] * 8}
MEASURES = (NetBenefit(0.2), AveragePrecision(), PrecisionAt(0.1), RIE())


def rows(count):
    """Yield the cells of the tests of each measure."""
    for measure in MEASURES:
        for name, sizes in SUBGROUPS.items():
            rng, by, rejected = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes), []
            for _ in range(count):
                y = rng.random(len(by)) < 0.2
                z = rng.normal(size=len(by)) + 1.5 * y
                found = infer(y, special.expit(1.5 * z - 1.125 - np.log(4.0)), measure, by=by, n_jobs=1)
                adjusted = min(one.pvalue_adjusted for one in found.differences)
                rejected.append([found.equality.pvalue, found.differences[0].pvalue, adjusted])
            for part, tests in zip(("equality", "first", "any"), np.transpose(rejected) <= 0.05, strict=True):
                yield f"{measure}, {part}", name, [Cell.of_tests(tests)]
