"""Thresholds on clusters that are drawn again: the bootstrap of samples that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rocmax import _core
from rocmax.metrics._cutoff import Rule
from rocmax.metrics._diagnostic import Calls
from rocmax.metrics._measure import positives
from rocmax.metrics._validation import F64, Sample, call, explain, names_of


def cluster_cuts(data: Sample, groups: Any, rules: Sequence[Rule], n_resamples: int, seed: int) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on replicates, of shape (n_resamples, n_rules, 4).

    A replicate draws as many clusters as there are, with replacement, each with all its samples (Field and Welsh,
    2007); draws that leave a class without any are passed over. O(n log n) each.
    """
    data, draws = _drawn(data, groups, seed)
    found = np.empty((n_resamples, len(rules), 4))
    for row, weight in zip(found, draws, strict=False):
        kept = weight > 0
        part = data._replace(y=data.y[kept], score=data.score[kept], weight=weight[kept])
        curve = call(_core.Curve, part, part.threads)
        cuts = np.array([rule.number if rule.name == "at" else rule.of(curve) for rule in rules])
        tp, fp, fn, tn = Calls.at(curve, cuts)
        row[:] = np.stack([cuts, tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fp + fn + tn)], axis=1)
    return found


def _drawn(data: Sample, groups: Any, seed: int) -> tuple[Sample, Iterator[F64]]:
    """Return the samples by score, so that no replicate has much to sort, and how often each is drawn, without end."""
    explain(data)
    names, group = names_of(groups, len(data.y), "groups")
    order = np.argsort(data.score, kind="stable")
    data, group = data._replace(y=data.y[order], score=data.score[order]), group[order]
    positive = positives(data)
    held = min(len(np.unique(group[rows])) for rows in (positive, ~positive))
    if held < 2:
        raise ValueError(f"groups must spread each class over two of them or more, got {held}")
    rng = np.random.default_rng(seed)

    def draws() -> Iterator[F64]:
        while True:
            times = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))
            weight = times[group].astype(np.float64)
            if weight[positive].any() and weight[~positive].any():
                yield weight

    return data, draws()
