"""Verification, a section of coverage_all.py: python benches/python/coverage_all.py 200 pairs.

Samples are pairs of pictures. A pair of two subjects i and j is negative, with score v_i + v_j + e; a pair of two
pictures of subject i is positive, with score 2.5 + u_i + e. Scores have variance 1 in either class, of which subjects
have the share 0 or 0.5; u_i and v_i have correlation 1/2. Each subject has 2 or 5 pictures, and "all" pairs of pictures
are compared, or all positives and "some" negatives, four a picture, drawn at random. The command
``python benches/python/coverage_pairs.py`` prints the processor time and the memory of ten million pairs of 5,000
subjects.
"""

import resource
import time

import numpy as np
from coverage_all import Cell
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


def rows(count):
    """Yield a row for each measure and design, by ``groups=`` of both subjects; a quarter of the samples."""
    for design, sizes in SIZES.items():
        for n, pictures in sizes:
            ends = {measure: [] for measure in MEASURES}
            for share in (0.0, 0.5):
                rng, found = np.random.default_rng(n), []
                for _ in range(-(-count // 4)):
                    y, s, a, b = sample(rng, design, n, pictures, share)
                    groups = np.column_stack([a, b])
                    found.append([infer(y, s, one, groups=groups, n_jobs=1).confidence_interval for one in MEASURES])
                for measure, of_measure, value in zip(MEASURES, np.moveaxis(found, 1, 0), KNOWN, strict=True):
                    ends[measure].append(Cell.of(*of_measure.T, value))
            for measure, cells in ends.items():
                yield str(measure), f"{n} x {pictures} pictures, {design}", cells


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
    seconds()
