"""Rates, predictive values and likelihood ratios at thresholds, and intervals for fixed thresholds or by resamples."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax._runtime.memory import require_memory
from rocmax.metrics.intervals._interval import critical, wilson
from rocmax.metrics.measures.at_threshold import FORMULAS, KINDS
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.samples._sample import Sample, call, explain
from rocmax.metrics.thresholds._rules import Rule
from rocmax.metrics.variances._resample import drawable, masses, seed_of

Ends = tuple[F64, F64]

_FEW = 8  # rules that walk the curve one by one; for more rules it is copied

#: What :func:`values` returns, in the order of tables.
QUANTITIES = ("tpr", "fpr", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "accuracy", "predicted_positive")
#: Those that depend on the prevalence.
OF_PREVALENCE = ("ppv", "npv", "accuracy", "predicted_positive")


class Calls(NamedTuple):
    """The weights of true and false positives, false and true negatives, at every threshold."""

    tp: F64
    fp: F64
    fn: F64
    tn: F64

    @classmethod
    def of_rules(cls, curve: _core.Curve, rules: Sequence[Rule]) -> "tuple[F64, Calls]":
        """Return the threshold that each rule chooses on a curve, and the calls there."""
        pos, neg = curve.weights
        if len(rules) <= _FEW:
            thresholds, _, tp, fp = np.array([curve.cut(rule.on(curve).core) for rule in rules]).T
        else:
            thresholds = np.array([rule.number if rule.given else rule.of(curve) for rule in rules])
            score, *weights = curve.steps()
            n_called: NDArray[np.intp] = np.searchsorted(-score, -thresholds, side="right")
            tp, fp = (np.concatenate([[0.0], np.cumsum(weight)])[n_called] for weight in weights)
        return thresholds, cls(tp, fp, pos - tp, neg - fp)

    @classmethod
    def of_rates(cls, tpr: F64, fpr: F64, prevalence: F64 | float) -> "Calls":
        """Return the shares of all samples at rates and a prevalence."""
        return cls(prevalence * tpr, (1 - prevalence) * fpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - fpr))


class Sizes(NamedTuple):
    """The effective number of samples of each kind: the number of samples of equal weight that vary as much."""

    pos: F64
    neg: F64
    called: F64
    not_called: F64
    right: F64  # of the accuracy
    every: F64

    @classmethod
    def of(cls, calls: Calls) -> "Sizes":
        """Return the weights of each kind, of which the first measures are shares."""
        kinds = islice(KINDS.values(), len(cls._fields))
        return cls(
            *(np.asarray(sum(part for part, counts in zip(calls, kind, strict=True) if counts)) for kind in kinds)
        )


def values(calls: Calls, prevalence: float | None = None) -> dict[str, F64]:
    """Return every quantity, at a known prevalence if one is given; NaN for 0 / 0."""
    tp, fp, fn, tn = calls
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, tnr = (FORMULAS[name](*calls) for name in ("sensitivity", "specificity"))
        fpr, fnr = fp / (fp + tn), fn / (tp + fn)
        used = calls if prevalence is None else Calls.of_rates(tpr, fpr, prevalence)
        ppv, npv, *shares = (FORMULAS[name](*used) for name in ("ppv", "npv", "accuracy", "selected"))
        found = tpr, fpr, tnr, ppv, npv, tpr / fpr, fnr / tnr, *shares
    return dict(zip(QUANTITIES, found, strict=True))


def intervals(found: dict[str, F64], sizes: Sizes, prevalence: float | None, z: float) -> dict[str, Ends]:
    """Return the interval of every quantity at given thresholds, as :func:`operating_point` describes them."""

    def share(name: str, size: F64) -> Ends:
        with np.errstate(invalid="ignore"):
            return wilson(found[name] * size, size, z)

    tpr, fpr = share("tpr", sizes.pos), share("fpr", sizes.neg)
    specificity = 1 - fpr[1], 1 - fpr[0]
    ends = {"tpr": tpr, "fpr": fpr, "specificity": specificity}
    ends["lr_positive"] = _ratio(found["tpr"], found["fpr"], sizes, z)
    ends["lr_negative"] = _ratio(1 - found["tpr"], found["specificity"], sizes, z)
    if prevalence is None:
        of_all = dict(zip(OF_PREVALENCE, sizes[2:], strict=True))
        return ends | {name: share(name, size) for name, size in of_all.items()}
    odds = prevalence / (1 - prevalence)
    low, high = (np.stack(part) for part in zip(ends["lr_positive"], ends["lr_negative"], strict=True))
    none = np.isnan(found["ppv"]), np.isnan(found["npv"])
    ends["ppv"] = _known(none[0], _share(odds * low[0]), _share(odds * high[0]))
    ends["npv"] = _known(none[1], 1 - _share(odds * high[1]), 1 - _share(odds * low[1]))
    for name, other in (("accuracy", specificity), ("predicted_positive", fpr)):
        of_neg = found["specificity" if name == "accuracy" else "fpr"]
        parts = (prevalence, found["tpr"], tpr), (1 - prevalence, of_neg, other)
        reach = [np.sqrt(sum((share * (rate - both[k])) ** 2 for share, rate, both in parts)) for k in (0, 1)]
        ends[name] = np.maximum(found[name] - reach[0], 0.0), np.minimum(found[name] + reach[1], 1.0)
    return ends


def _share(odds: F64) -> F64:
    """Return the probability of odds; 1 if they are infinite."""
    with np.errstate(divide="ignore", over="ignore"):  # of a prevalence next to 0
        return np.asarray(1 / (1 + 1 / odds))


def _known(missing: F64, low: F64, high: F64) -> Ends:
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)


def _ratio(of_pos: F64, of_neg: F64, sizes: Sizes, z: float) -> Ends:
    """Return the confidence limits of a likelihood ratio."""
    m, n = sizes.pos, sizes.neg
    few = (np.minimum(of_pos, of_neg) <= 0) | (np.minimum(of_pos, of_neg) >= 1)  # where v is infinite or 0
    a, b = (np.where(few, (rate * size + 0.5) / (size + 1), rate) for rate, size in ((of_pos, m), (of_neg, n)))
    m, n = np.where(few, m + 1, m), np.where(few, n + 1, n)
    reach = np.exp(z * np.sqrt((1 - a) / (a * m) + (1 - b) / (b * n)))
    low, high = a / b / reach, a / b * reach
    return np.where(of_pos <= 0, 0.0, low), np.where(of_neg <= 0, np.inf, high)


def percentiles(replicates: dict[str, F64], level: float) -> dict[str, Ends]:
    """Return percentiles of replicates (by row), without interpolation, since some may be infinite; NaN is left out."""

    def ends(column: F64) -> tuple[float, float]:
        kept = np.sort(column[~np.isnan(column)])
        if not len(kept):
            return np.nan, np.nan
        last, tail = len(kept) - 1, (1 - level) / 2
        return kept[int(np.floor(tail * last))], kept[int(np.ceil((1 - tail) * last))]

    found = {name: np.array([ends(column) for column in rows.T]) for name, rows in replicates.items()}
    return {name: (both[:, 0], both[:, 1]) for name, both in found.items()}


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
        raise ValueError(f"groups: each class must occur in two or more groups, got {min(data.counted)}")
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
    """Return the effective number of samples of each share from its replicates (Korn and Graubard, 1998)."""
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
