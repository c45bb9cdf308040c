"""Real coverage of nominal 95 % intervals of verification: python benches/python/coverage_pairs.py [n_samples].

Samples are pairs of subjects. A pair of two subjects i and j is negative, with score v_i + v_j + e; a pair of two
pictures of subject i is positive, with score 2.5 + u_i + e. Scores have variance 1 in either class, of which subjects
have the share 0, 0.2 or 0.5; u_i and v_i have correlation 1/2. Each subject has two pictures, and "all" pairs of
pictures are compared, or "some": four of the negatives of each subject, drawn at random. Each line has for the AUC, TPR
at FPR 0.01 and TPR at FPR 0.001 the coverage in n_samples (200) samples, in percent (standard error 1.5 at 95 %), and
the mean width in brackets: "pairs" by ``groups=`` of two columns, "first" by clusters of the first subject alone,
"none" by the default method without groups. It takes five minutes of processor time.
"""

import sys
import time
import warnings

import numpy as np
from scipy import stats

from rocmax.metrics import AUC, TPRAtFPR, infer

SHIFT = 2.5  # of the positives
MEASURES = (AUC(), TPRAtFPR(0.01), TPRAtFPR(0.001))
KNOWN = (stats.norm.cdf(SHIFT / np.sqrt(2)), *(stats.norm.sf(stats.norm.isf([0.01, 0.001]) - SHIFT)))
CELLS = [(design, n, share) for design in ("all", "some") for n in (50, 100, 200, 500) for share in (0.0, 0.2, 0.5)]


def sample(rng, design, n, share):
    """Labels, scores and the subjects of pairs of two pictures a subject."""
    picture = np.repeat(np.arange(n), 2)
    i, j = np.triu_indices(2 * n, 1)
    if design == "some":
        kept = (picture[i] == picture[j]) | (rng.random(len(i)) < 4 / (2 * n))
        i, j = i[kept], j[kept]
    a, b = picture[i], picture[j]
    y = a == b
    v = rng.normal(size=n)
    u = (v + np.sqrt(3) * rng.normal(size=n)) / 2
    effect = np.where(y, u[a], (v[a] + v[b]) / np.sqrt(2))
    return y, SHIFT * y + np.sqrt(share) * effect + np.sqrt(1 - share) * rng.normal(size=len(y)), a, b


def main(n_samples: int) -> None:
    warnings.simplefilter("ignore")  # the coverage shows what they warn of
    start = time.process_time()
    for design, n, share in CELLS:
        rng = np.random.default_rng(n)
        held, width = np.zeros((3, len(MEASURES))), np.zeros((3, len(MEASURES)))
        for _ in range(n_samples):
            y, s, a, b = sample(rng, design, n, share)
            for row, groups in enumerate((np.column_stack([a, b]), a, None)):
                for k, measure in enumerate(MEASURES):
                    low, high = infer(y, s, measure, groups=groups, n_jobs=1).confidence_interval
                    held[row, k] += low <= KNOWN[k] <= high
                    width[row, k] += high - low
        cells = (
            f"{name} "
            + " ".join(f"{100 * h / n_samples:5.1f} ({w / n_samples:.3f})" for h, w in zip(*rows, strict=True))
            for name, *rows in zip(("pairs", "first", "none"), held, width, strict=True)
        )
        print(f"{design:4s} pairs of {n:3d} subjects, share {share:g}:", "  ".join(cells), flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
