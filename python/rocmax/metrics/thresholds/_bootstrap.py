"""Bootstrap intervals of thresholds and of the rates there, from resamples of samples or of clusters."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
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
    """Return percentiles over resamples on which rules choose anew, with clusters those of thresholds alone."""
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
    """Return the same from draws of as many clusters (Field and Welsh, 2007) that hold both classes; O(n log n)."""
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
    group, n_groups, positive = np.asarray(data.group), int(data.n_groups or 0), data.positive
    found = np.empty((len(_SHARES), 2, len(thresholds)))
    for k, threshold in enumerate(thresholds):
        called = data.score >= threshold
        kinds = called & positive, called & ~positive, ~called & positive, ~called & ~positive
        tp, fp, _, tn = calls = Calls(*(np.bincount(group, rows, n_groups).astype(np.float64) for rows in kinds))
        # With h_u of the n_u samples of cluster u held, the share p has the variance sum_u (h_u - p n_u)^2 / n^2.
        for j, (held, of) in enumerate(zip((tp, tn, tp, tn, tp + tn, tp + fp), Sizes.of(calls), strict=True)):
            n = float(of.sum())
            p = float(held.sum()) / max(n, 1.0)
            squares = float(held @ held - 2 * p * (held @ of) + p**2 * (of @ of))
            rows = min(p * (1 - p) * n**2 / squares, n) if squares > 0 else n
            found[j, :, k] = rows, np.count_nonzero(of)
    known = zip(_SHARES, found, strict=True)
    return Sizes(*(_effective(drawn[name], rows, clusters, level) for name, (rows, clusters) in known))


#: The share that each of the effective :class:`Sizes` is of.
_SHARES = ("tpr", "specificity", "ppv", "npv", "accuracy", "predicted_positive")


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
