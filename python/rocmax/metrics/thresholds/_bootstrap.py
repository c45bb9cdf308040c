"""Bootstrap intervals of thresholds and of the rates there, from resamples of samples or of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._runtime.memory import require_memory
from rocmax.metrics.intervals._interval import critical
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.samples._sample import Sample, call, explain
from rocmax.metrics.thresholds._quantities import Calls, Ends, Sizes, intervals, percentiles, values
from rocmax.metrics.thresholds._rules import Rule
from rocmax.metrics.variances._resample import drawable, masses, seed_of


def resampled(
    data: Sample,
    rules: Sequence[Rule],
    thresholds: F64,
    found: dict[str, F64],
    prevalence: float | None,
    level: float,
    bootstrap: Bootstrap,
    random_state: Any,
    sizes: Sizes,
) -> dict[str, Ends]:
    """Return percentiles over resamples on which every rule chooses its threshold anew.

    Where all replicates of a quantity are the same, it has its interval for a fixed threshold, with `sizes`. With
    clusters, only thresholds have percentiles; the others have :func:`intervals` for effective numbers of samples.
    """
    needed = 8 * 16 * bootstrap.n_resamples * len(rules)
    require_memory(needed, f"n_resamples={bootstrap.n_resamples} with {len(rules)} thresholds", "take fewer")
    draw = _cluster_cuts
    if data.group is None:
        data = drawable(data, "; method='wilson' has intervals for one sample")
        draw = _own_cuts if any(rule.kind.of_calls for rule in rules) else _cuts
    threshold, tpr, fpr, share = np.moveaxis(draw(data, rules, bootstrap, seed_of(random_state)), 2, 0)
    ends = percentiles({"threshold": threshold}, level)
    if data.group is not None:
        of_clusters = _cluster_sizes(data, thresholds, values(Calls.of_rates(tpr, fpr, share)), level)
        return intervals(found, of_clusters, prevalence, critical(level)) | ends
    drawn = values(Calls.of_rates(tpr, fpr, share if prevalence is None else prevalence))
    # The rates themselves: their way through the shares rounds.
    drawn |= {"tpr": tpr, "fpr": fpr}
    fixed = intervals(found, sizes, prevalence, critical(level))
    for name, (low, high) in percentiles(drawn, level).items():
        ends[name] = np.where(low == high, fixed[name][0], low), np.where(low == high, fixed[name][1], high)
    return ends


def _cuts(data: Sample, rules: Sequence[Rule], bootstrap: Bootstrap, seed: int) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on replicates, of shape (n_resamples, n_rules, 4)."""
    rules_of_core = [rule.core for rule in rules]
    how = (data.weight_kind == "sampling", rules_of_core, bootstrap.stratified, bootstrap.n_resamples, seed)
    return call(_core.bootstrap_cuts, data, *how, data.threads).reshape(bootstrap.n_resamples, len(rules), 4)


def _own_cuts(data: Sample, rules: Sequence[Rule], bootstrap: Bootstrap, seed: int) -> F64:
    """Return the same for rules that the core does not have."""
    of = data.positive.astype(np.intp)
    draws = masses(of, data.weight, bootstrap.stratified, seed, data.weight_kind)
    return np.stack([_chosen(data, drawn, rules) for drawn in islice(draws, bootstrap.n_resamples)])


def _chosen(data: Sample, weight: F64, rules: Sequence[Rule]) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on a replicate."""
    kept = weight > 0
    part = data._replace(y=data.positive[kept], score=data.score[kept], weight=weight[kept])
    cuts, (tp, fp, fn, tn) = Calls.of_rules(part.curve(), rules)
    return np.stack([cuts, tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fp + fn + tn)], axis=1)


def _cluster_cuts(data: Sample, rules: Sequence[Rule], bootstrap: Bootstrap, seed: int) -> F64:
    """Return the same from resamples of clusters.

    A replicate draws as many clusters as there are, with replacement (Field and Welsh, 2007); draws of one class only
    are skipped. O(n log n) each.
    """
    explain(data)
    if min(data.counted) < 2:
        raise ValueError(f"groups must spread each class over two of them or more, got {min(data.counted)}")
    order = np.argsort(data.score, kind="stable")  # makes the sorts of the replicates fast
    group, n_groups = np.asarray(data.group)[order], int(data.n_groups or 0)
    data = data._replace(y=data.y[order], score=data.score[order])
    positive = data.positive
    rng = np.random.default_rng(seed)
    found: list[F64] = []
    while len(found) < bootstrap.n_resamples:
        weight = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)[group].astype(np.float64)
        kept = weight > 0
        if not (positive[kept].any() and not positive[kept].all()):
            continue
        found.append(_chosen(data, weight, rules))
    return np.stack(found)


def _cluster_sizes(data: Sample, thresholds: F64, drawn: dict[str, F64], level: float) -> Sizes:
    """Return the effective number of samples of each share (Korn and Graubard, 1998).

    A share whose replicates have mean p and variance v has ``p (1 - p) / v`` effective samples, at most those that it
    has at a fixed threshold and the number of samples of its kind; if it is 0 or 1 in all replicates, the number of
    clusters with such samples. The number is multiplied by ``(z / t)^2``, with t the quantile of Student's distribution
    with that number of clusters less one.
    """
    order = np.argsort(-data.score, kind="stable")
    n_called = np.searchsorted(-data.score[order], -thresholds, side="right")
    group, positive = np.asarray(data.group)[order], data.positive[order]
    of_pos, of_neg = (np.bincount(group, part, int(data.n_groups or 0)) for part in (positive, ~positive))
    by = np.argsort(group, kind="stable")
    first = by[np.searchsorted(group[by], group)]

    def counts(tp: int, fp: int, fn: int, tn: int) -> _Counts:
        above, step, before = of_pos * fn + of_neg * tn, np.where(positive, tp - fn, fp - tn), np.empty(len(by))
        before[by] = np.cumsum(step[by]) - step[by]
        return _Counts(above, above[group] + before - before[first], step)

    found = []
    for name, held, kind in _HELD:
        rows, clusters = _most(counts(*held), counts(*kind), n_called)
        found.append(_effective(drawn[name], rows, clusters, level))
    return Sizes(*found)


#: Which of true and false positives, false and true negatives each share counts, and among which.
_HELD = (
    ("tpr", (1, 0, 0, 0), (1, 0, 1, 0)),
    ("specificity", (0, 0, 0, 1), (0, 1, 0, 1)),
    ("ppv", (1, 0, 0, 0), (1, 1, 0, 0)),
    ("npv", (0, 0, 0, 1), (0, 0, 1, 1)),
    ("accuracy", (1, 0, 0, 1), (1, 1, 1, 1)),
    ("predicted_positive", (1, 1, 0, 0), (1, 1, 1, 1)),
)


class _Counts(NamedTuple):
    """Counts in each cluster while samples are called positive one after the other, from the highest score on."""

    above: NDArray[Any]  # in each cluster before the first
    before: F64  # in the cluster of each sample, before it is called
    step: NDArray[Any]  # what its call adds there

    def times(self, other: _Counts, n_called: NDArray[np.intp]) -> F64:
        """Return the sums over clusters of products with other counts, where `n_called` samples are called."""
        added = self.before * other.step + other.before * self.step + self.step * other.step
        return np.asarray(self.above @ other.above + np.concatenate([[0.0], np.cumsum(added)])[n_called])


def _most(held: _Counts, kind: _Counts, n_called: NDArray[np.intp]) -> tuple[F64, F64]:
    """Return the effective number of samples of a share at fixed thresholds, and the number of clusters.

    With k_u of the n_u samples of cluster u held, the share p has the variance ``sum_u (k_u - p n_u)^2 / n^2``.
    """
    one = _Counts(np.ones_like(kind.above), np.ones_like(kind.before), 0 * kind.step)
    any_left = np.sign(kind.before)
    some = _Counts(np.sign(kind.above), any_left, np.sign(kind.before + kind.step) - any_left)
    n = kind.times(one, n_called)
    p = held.times(one, n_called) / np.maximum(n, 1)
    squares = held.times(held, n_called) - 2 * p * held.times(kind, n_called) + p**2 * kind.times(kind, n_called)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(squares > 0, np.minimum(p * (1 - p) * n**2 / squares, n), n)
    return size, some.times(one, n_called)


def _effective(replicates: F64, rows: Any, clusters: Any, level: float) -> F64:
    """Return the effective number of samples for each column of replicates of a share."""
    kept = ~np.isnan(replicates)
    count = kept.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(kept, replicates, 0.0).sum(axis=0) / count
        variance = (np.where(kept, replicates - mean, 0.0) ** 2).sum(axis=0) / (count - 1)
        size = np.minimum(mean * (1 - mean) / variance, rows)
    size = np.where((variance > 0) | ((mean > 0) & (mean < 1)), size, clusters)
    t = special.stdtrit(np.maximum(np.asarray(clusters) - 1, 1), (1 + level) / 2)
    return np.asarray(size * (critical(level) / t) ** 2)
