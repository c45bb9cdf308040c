"""Intervals and paired tests that the Rust crate's `Roc` must repeat: `--write` stores Python's in its folder of tests.

Run: PYTHONPATH=.:tests/support python tests/support/rust_intervals.py --write
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rocmax.metrics import AUC, AveragePrecision, FPRAtTPR, MarginAUC, PartialAUC, ScoredAUC, TPRAtFPR, compare, infer

STORED = Path(__file__).parents[2] / "rust/core/tests/cases/intervals.csv"
HEADER = "n_pos,n_neg,levels,shift,weighted,measure,level,estimate,standard_error,low,high,difference,error,from,to,p"
MEASURES = {
    "auc": AUC(),
    "partial": PartialAUC((0.0, 0.1)),
    "mcclish": PartialAUC((0.1, 0.5), normalize="mcclish"),
    "area": PartialAUC(tpr_range=(0.75, 1.0), normalize=None),
    "tpr": TPRAtFPR(0.1),
    "fpr": FPRAtTPR(0.9),
    "precision": AveragePrecision(),
    "rare": AveragePrecision(0.01),
    "margin": MarginAUC(0.2),
    "scored": ScoredAUC(),
}
# Positives, negatives, distinct scores per unit (0: any), shift of the positives, weights, level.
SAMPLES = [
    (40, 60, 0, 0.5, False, 0.95),
    (3, 30, 0, 0.7, False, 0.95),
    (20, 200, 10, 0.5, False, 0.99),
    (12, 15, 0, 5.0, False, 0.9),
    (30, 70, 8, 0.4, True, 0.8),
    (5, 5, 0, -0.5, False, 0.999999),
    (2000, 3000, 64, 0.3, False, 0.95),
]


def uniform(seed: int) -> Callable[[], float]:
    """Return numbers in [0, 1) as the crate's tests draw them."""
    state = seed

    def draw() -> float:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) / 2**31

    return draw


def sample(n_pos: int, n_neg: int, levels: int, shift: float, weighted: bool) -> tuple[Any, Any, Any, Any]:
    """Return labels, the scores of two models, and weights or None."""
    draw = uniform(n_pos)
    labels, one, other, weights = [], [], [], []
    for k in range(n_pos + n_neg):
        added = shift if k < n_pos else 0.0
        common, first, second, weight = (draw() for _ in range(4))
        pair = [common + first + added, common + second + added / 2.0]
        first, second = (np.floor(score * levels) / levels if levels else score for score in pair)
        labels.append(k < n_pos)
        one.append(first)
        other.append(second)
        weights.append(np.floor(weight * 4.0))
    return np.array(labels), np.array(one), np.array(other), np.array(weights) if weighted else None


def rows() -> Iterator[list[Any]]:
    """Yield what the file holds, line by line."""
    for *how, level in SAMPLES:
        y, one, other, weight = sample(*how)
        given = {"sample_weight": weight, "weight_kind": "frequency"} if weight is not None else {}
        for name, measure in MEASURES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = infer(y, one, measure, method="logit-delong", confidence_level=level, **given)
                scores = {"one": one, "other": other}
                pair = compare(y, scores, measure, method="delong", **given).pairs[0]
            low, high = found.confidence_interval
            if low == high:  # a scored AUC that does not vary: an error in Rust
                continue
            numbers = [found.estimate, found.standard_error, low, high]
            numbers += [pair.difference, pair.standard_error, *pair.confidence_interval, pair.pvalue]
            yield [*how, name, level, *map(float, numbers)]


def written() -> str:
    """Return the file."""
    return "\n".join([HEADER, *(",".join(map(str, row)) for row in rows())]) + "\n"


if __name__ == "__main__" and "--write" in sys.argv:
    STORED.write_text(written(), encoding="utf-8")
