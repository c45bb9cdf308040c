"""Real coverage of nominal 95 % intervals of verification: python benches/python/coverage_pairs.py [n_samples].

Samples are pairs of pictures. A pair of two subjects i and j is negative, with score v_i + v_j + e; a pair of two
pictures of subject i is positive, with score 2.5 + u_i + e. Scores have variance 1 in either class, of which subjects
have the share 0 or 0.5; u_i and v_i have correlation 1/2. Each subject has 2 or 5 pictures, and "all" pairs of pictures
are compared, or all positives and "some" negatives, four a picture, drawn at random. Each line has for the AUC, TPR at
FPR 0.01 and TPR at FPR 0.001 the coverage in n_samples (150) samples, in percent (standard error 1.8 at 95 %), and the
mean width in brackets: "pairs" by ``groups=`` of two columns, "first" by clusters of the first subject alone, "none" by
the default method without groups. It takes five minutes of processor time. ``time`` in place of n_samples prints the
processor time and the memory of ten million pairs of 5,000 subjects.
"""

import resource
import sys
import time
import warnings

import numpy as np
from scipy import stats

from rocmax.metrics import AUC, TPRAtFPR, infer

SHIFT = 2.5  # of the positives
MEASURES = (AUC(), TPRAtFPR(0.01), TPRAtFPR(0.001))
KNOWN = (stats.norm.cdf(SHIFT / np.sqrt(2)), *(stats.norm.sf(stats.norm.isf([0.01, 0.001]) - SHIFT)))
SIZES = {"all": ((50, 2), (50, 5), (100, 5), (200, 2)), "some": ((50, 5), (200, 5), (500, 5))}


def sample(rng, design, n, pictures, share):
    """Labels, scores and the subjects of pairs of pictures."""
    subject = np.repeat(np.arange(n), pictures)
    i, j = np.triu_indices(len(subject), 1)
    if design == "some":
        kept = (subject[i] == subject[j]) | (rng.random(len(i)) < 8 / len(subject))
        i, j = i[kept], j[kept]
    a, b = subject[i], subject[j]
    y = a == b
    v = rng.normal(size=n)
    u = (v + np.sqrt(3) * rng.normal(size=n)) / 2
    effect = np.where(y, u[a], (v[a] + v[b]) / np.sqrt(2))
    return y, SHIFT * y + np.sqrt(share) * effect + np.sqrt(1 - share) * rng.normal(size=len(y)), a, b


def main(n_samples: int) -> None:
    warnings.simplefilter("ignore")  # the coverage shows what they warn of
    start = time.process_time()
    cells = [(design, *size, share) for design, sizes in SIZES.items() for size in sizes for share in (0.0, 0.5)]
    for design, n, pictures, share in cells:
        rng = np.random.default_rng(n)
        held, width = np.zeros((3, len(MEASURES))), np.zeros((3, len(MEASURES)))
        for _ in range(n_samples):
            y, s, a, b = sample(rng, design, n, pictures, share)
            for row, groups in enumerate((np.column_stack([a, b]), a, None)):
                for k, measure in enumerate(MEASURES):
                    low, high = infer(y, s, measure, groups=groups, n_jobs=1).confidence_interval
                    held[row, k] += low <= KNOWN[k] <= high
                    width[row, k] += high - low
        shown = []
        for name, h, w in zip(("pairs", "first", "none"), 100 * held / n_samples, width / n_samples, strict=True):
            shown += [name, *(f"{one:5.1f} ({wide:.3f})" for one, wide in zip(h, w, strict=True)), ""]
        print(f"{design:4s} of {n:3d} x {pictures} pictures, share {share:g}:", *shown, flush=True)
    print(f"{time.process_time() - start:.0f} s of processor time")


def seconds(n_pairs: int = 10_000_000, n: int = 5000) -> None:
    """Print what the TPR at FPR 0.001 of many pairs costs, on one thread."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(n, size=(2, n_pairs))
    b = np.where(rng.random(n_pairs) < 0.01, a, b)
    y, v = a == b, rng.normal(size=n)
    s = SHIFT * y + (v[a] + v[b]) / 2 + rng.normal(size=n_pairs) / np.sqrt(2)
    for name, groups in (("none", None), ("first", a), ("pairs", np.column_stack([a, b]))):
        start = time.process_time()
        infer(y, s, TPRAtFPR(0.001), groups=groups, n_jobs=1)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(f"{name:5s} {time.process_time() - start:.1f} s, at most {memory:.1f} GB in all", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["time"]:
        seconds()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
