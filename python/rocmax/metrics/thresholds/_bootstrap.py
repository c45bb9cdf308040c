"""Intervals of thresholds and of what they are worth by resampling, of samples or of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax import _core
from rocmax._memory import require_memory
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._interval import critical
from rocmax.metrics._resample import drawable
from rocmax.metrics._sample import Sample, call, explain
from rocmax.metrics._validation import F64, names_of
from rocmax.metrics.thresholds._rules import Rule
from rocmax.metrics.thresholds._worth import Calls, Ends, Sizes, intervals, percentiles, values


class Drawing(NamedTuple):
    """How resamples are drawn."""

    n_resamples: int
    seed: int
    stratified: bool = True
    weight_kind: str = "frequency"

    def check_memory(self, n_thresholds: int) -> None:
        """Fail before any work where the replicates do not fit."""
        needed = 8 * 16 * self.n_resamples * n_thresholds
        require_memory(needed, f"n_resamples={self.n_resamples} with {n_thresholds} thresholds", "take fewer")


def sample_intervals(
    data: Sample, rules: Sequence[Rule], prevalence: float | None, level: float, drawing: Drawing
) -> dict[str, Ends]:
    """Return percentiles over samples that are drawn again, on which every rule chooses anew."""
    data = drawable(data._replace(weight_kind=drawing.weight_kind), "method='wilson' has intervals of one")
    n, seed, stratified, weight_kind = drawing
    flat = call(_core.bootstrap_cuts, data, weight_kind, list(map(tuple, rules)), stratified, n, seed, data.threads)
    threshold, tpr, fpr, share = np.moveaxis(flat.reshape(n, len(rules), 4), 2, 0)
    drawn = values(Calls.of_rates(tpr, fpr, share if prevalence is None else prevalence))
    # The rates as they are: they would be rounded on their way through the shares.
    return percentiles({"threshold": threshold, **drawn, "tpr": tpr, "fpr": fpr}, level)


def warn_of_no_width(ends: dict[str, Ends], thresholds: F64) -> None:
    """Warn of rates that are 1 and 0 in all replicates."""
    (tpr, _), (_, fpr) = ends["tpr"], ends["fpr"]
    apart = (tpr >= 1) & (fpr <= 0)
    if apart.any():
        fact = f"the threshold {thresholds[apart][0]:g} separates the classes in all replicates, so rates do not vary"
        message = f"{fact}; method='wilson' gives intervals with a width"
        warnings.warn(CoverageWarning(message, fact, "wilson"), stacklevel=4)


def cluster_intervals(
    data: Sample,
    groups: Any,
    rules: Sequence[Rule],
    thresholds: F64,
    found: dict[str, F64],
    prevalence: float | None,
    level: float,
    drawing: Drawing,
) -> dict[str, Ends]:
    """Return the intervals of :func:`intervals` for the effective numbers of samples, of thresholds percentiles."""
    threshold, tpr, fpr, share = np.moveaxis(_cluster_cuts(data, groups, rules, drawing), 2, 0)
    sizes = _cluster_sizes(data, groups, thresholds, values(Calls.of_rates(tpr, fpr, share)), level)
    return intervals(found, sizes, prevalence, critical(level)) | percentiles({"threshold": threshold}, level)


def _cluster_cuts(data: Sample, groups: Any, rules: Sequence[Rule], drawing: Drawing) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on replicates, of shape (n_resamples, n_rules, 4).

    A replicate draws as many clusters as there are, with replacement, each with all its samples (Field and Welsh,
    2007); draws without one of the classes are skipped. O(n log n) each.
    """
    data, draws = _drawn(data, groups, drawing.seed)
    found = np.empty((drawing.n_resamples, len(rules), 4))
    for row, weight in zip(found, draws, strict=False):
        kept = weight > 0
        part = data._replace(y=data.y[kept], score=data.score[kept], weight=weight[kept])
        cuts, (tp, fp, fn, tn) = Calls.of_rules(call(_core.Curve, part, part.threads), rules)
        row[:] = np.stack([cuts, tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fp + fn + tn)], axis=1)
    return found


def _cluster_sizes(data: Sample, groups: Any, thresholds: F64, drawn: dict[str, F64], level: float) -> Sizes:
    """Return how many independent samples would vary as much as replicates of clusters do (Korn and Graubard, 1998).

    A share whose replicates have mean p and variance v has ``p (1 - p) / v`` samples, at most as many as there are of
    its kind, and as many as there are clusters with any where it is always 0 or 1; times ``(z / t)^2``, t the quantile
    of Student's distribution of as many degrees of freedom as there are such clusters, less one.
    """
    names, group = names_of(groups, len(data.y), "groups")
    positive = data.positive
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
    positive = data.positive
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
