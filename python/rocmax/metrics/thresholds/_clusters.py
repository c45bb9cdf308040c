"""Thresholds on clusters that are drawn again: the bootstrap of samples that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax import _core
from rocmax.metrics._interval import critical
from rocmax.metrics._measure import positives
from rocmax.metrics._validation import F64, Sample, call, explain, names_of
from rocmax.metrics.thresholds._rules import Rule
from rocmax.metrics.thresholds._worth import Calls, Ends, Sizes, intervals, percentiles, values


def cluster_intervals(
    data: Sample,
    groups: Any,
    rules: Sequence[Rule],
    thresholds: F64,
    found: dict[str, F64],
    prevalence: float | None,
    level: float,
    n_resamples: int,
    seed: int,
) -> dict[str, Ends]:
    """Return the intervals of :func:`intervals` for the effective numbers of samples, of thresholds percentiles."""
    flat = cluster_cuts(data, groups, rules, n_resamples, seed)
    threshold, tpr, fpr, share = np.moveaxis(flat, 2, 0)
    sizes = cluster_sizes(data, groups, thresholds, values(Calls.of_rates(tpr, fpr, share)), level)
    return intervals(found, sizes, prevalence, critical(level)) | percentiles({"threshold": threshold}, level)


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


def cluster_sizes(data: Sample, groups: Any, thresholds: F64, drawn: dict[str, F64], level: float) -> Sizes:
    """Return how many independent samples would vary as much as replicates of clusters do (Korn and Graubard, 1998).

    A share whose replicates have mean p and variance v has ``p (1 - p) / v`` samples, at most as many as there are of
    its kind, and as many as there are clusters with any where it is always 0 or 1; times ``(z / t)^2``, t the quantile
    of Student's distribution of as many degrees of freedom as there are such clusters, less one.
    """
    names, group = names_of(groups, len(data.y), "groups")
    positive = positives(data)
    top, least = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    np.maximum.at(top, group, data.score)
    np.minimum.at(least, group, data.score)
    n_called = _at_least(data.score, thresholds)
    n, n_pos = len(data.y), int(positive.sum())
    of_class = [len(np.unique(group[rows])) for rows in (positive, ~positive)]
    called = _at_least(top, thresholds), len(names) - _at_least(least, thresholds)
    # Of every share its name, how many samples it is of, and how many clusters hold some.
    kinds = (
        ("tpr", n_pos, of_class[0]),
        ("specificity", n - n_pos, of_class[1]),
        ("ppv", n_called, called[0]),
        ("npv", n - n_called, called[1]),
        ("accuracy", n, len(names)),
        ("predicted_positive", n, len(names)),
    )
    return Sizes(*(_effective(drawn[name], rows, clusters, level) for name, rows, clusters in kinds))


def _at_least(values: F64, thresholds: F64) -> NDArray[np.intp]:
    """Count the values at or above every threshold."""
    return len(values) - np.searchsorted(np.sort(values), thresholds, side="left")


def _effective(replicates: F64, rows: Any, clusters: Any, level: float) -> F64:
    """Return the effective number of samples of shares, of replicates by row."""
    kept = ~np.isnan(replicates)
    count = kept.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(kept, replicates, 0.0).sum(axis=0) / count
        variance = (np.where(kept, replicates - mean, 0.0) ** 2).sum(axis=0) / (count - 1)
        size = np.minimum(mean * (1 - mean) / variance, rows)
    size = np.where((variance > 0) | ((mean > 0) & (mean < 1)), size, clusters)
    t = special.stdtrit(np.maximum(np.asarray(clusters) - 1, 1), (1 + level) / 2)
    return np.asarray(size * (critical(level) / t) ** 2)


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
