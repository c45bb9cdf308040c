"""Effective class sizes: how many independent samples of equal weight vary as much as clusters or weighted samples do.

With c_i the centred components of a class, a_i their shares of the weight and A_u the sum of ``a_i c_i`` over cluster u
(over one sample for weights), the variance of the class's part is ``V = U / (U - 1) sum A_u^2`` for U clusters, and n
independent samples have ``sum a_i c_i^2 / (n - 1)``: so ``n = 1 + sum a_i c_i^2 / V`` (Korn and Graubard, 1998). It is
the number of samples where weights are equal and clusters are single, and of clusters where each repeats one sample.

If few clusters vary, or few samples of the greatest weights are among them, V is unreliable, and at a bound of the
measure it is 0. So 1 / n is moved, as if by `PRIOR` more, towards its greatest value: with all samples of a cluster
alike, ``sum_u (sum of the a_i in u)^2``, or with all of the greatest weight that a sample of the class may have. If the
weights of both classes overlap, they do not depend on the class alone, and that is the greatest of either: a positive
among negatives of weight 20 would have had weight 20, too.
"""

from typing import Any

import numpy as np

from rocmax.metrics.intervals._units import PRIOR, Units, greatest
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._sample import Sample, centre
from rocmax.metrics.variances._dyads import pair_sizes

_ROUNDING = 1e-12


def is_design(sample: Sample) -> bool:
    """Whether sizes depend on clusters or on sampling weights."""
    return sample.group is not None or (sample.weight_kind == "sampling" and sample.weight is not None)


def effective_sizes(sample: Sample, measure: Measure) -> tuple[float, float]:
    """Return the effective sizes of both classes for a measure of one model; the totals of independent samples."""
    return sample.once(("sizes", measure), lambda: _sizes(sample, measure)) if is_design(sample) else sample.totals


def _sizes(sample: Sample, measure: Measure) -> tuple[float, float]:
    """Return the effective sizes for clusters or sampling weights; O(n)."""
    if sample.weight is not None and not sample.weight.all():
        sample = sample.take(sample.weight > 0)
    if sample.of_pairs:
        return pair_sizes(sample, measure.of_pairs(sample))
    if sample.n_groups == 1:
        raise ValueError("groups: each class must occur in two or more groups, got 1")
    _, (components,) = measure.influences(sample)
    components = components / (np.abs(components).max() or 1.0)  # fourth powers of scored components leave the floats
    positive, weight = sample.positive, sample.weights
    heaviest = greatest(weight, positive)
    parts = []
    for rows, most in zip((positive, ~positive), heaviest, strict=True):
        share = weight[rows] / weight[rows].sum()
        added = centre(components[rows], share)
        added[np.abs(added) <= _ROUNDING * np.abs(components[rows]).max()] = 0.0
        of_one = float(share @ added**2)
        sums, most = share * added, most / float(weight[rows].sum())
        count = len(share)
        if sample.group is not None:
            group, n_groups = sample.group[rows], int(sample.group.max()) + 1
            held = np.bincount(group, share, n_groups)
            sums, most, count = np.bincount(group, sums, n_groups), float(held @ held), int(np.count_nonzero(held))
        parts.append(Units(sums, of_one, min(most, 1.0), np.inf, count))
    crossed = 1.0 if sample.group is None else _crossed(*parts)
    n_pos, n_neg = (max(part.size / crossed, 1.0) for part in parts)
    return n_pos, n_neg


def sizes_of_models(sample: Sample, measure: Measure) -> tuple[Any, Any]:
    """Return the effective sizes of both classes for every model, of shape (n_models,); totals if they are the same."""
    if not is_design(sample):
        return sample.totals
    n_pos, n_neg = np.array([effective_sizes(one, measure) for one in sample.models()]).T
    return n_pos, n_neg


def _crossed(pos: Units, neg: Units) -> float:
    """Return the variance of the sum of both parts over the sum of their variances, moved towards 1 if few vary."""
    apart = float(pos.sums @ pos.sums + neg.sums @ neg.sums)
    if not apart:
        return 1.0
    known = pos._replace(sums=pos.sums + neg.sums).freedom
    return (PRIOR + known * (1.0 + 2.0 * float(pos.sums @ neg.sums) / apart)) / (PRIOR + known)
