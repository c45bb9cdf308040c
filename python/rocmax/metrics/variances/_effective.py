"""Effective class sizes of clusters or weighted samples, and variances of samples that are pairs of subjects.

Of centred components c_i with shares a_i of the weight, a class has ``V = U / (U - 1) sum A_u^2`` over U clusters
(samples for weights), A_u the sum of ``a_i c_i`` in one, and n independent samples have ``sum a_i c_i^2 / (n - 1)``: so
``n = 1 + sum a_i c_i^2 / V`` (Korn and Graubard, 1998). If few clusters or heavy samples vary, V is unreliable, and at
a bound of the measure it is 0. So 1 / n is moved, as if by `PRIOR` more, towards its greatest value: with all samples
of a cluster alike, or all of the greatest weight that a sample of the class may have. If the weights of both classes
overlap, that is the greatest of either: a positive among negatives of weight 20 would have had weight 20, too.

Of pairs, `python/docs/mathematics.md` has the variance V, with the sums S_i over the pairs with subject i. V may be
negative by chance, so it is raised to at least an eighth of the sum of S_i^2, for all models at once by eigenvalues: it
is half of that sum on average for independent pairs, and r / (1 + r) of it if the effects of subjects on both classes
cancel and a share r of the variance is specific to the pair. If the columns name subjects of two kinds, V is the
two-way variance of Cameron, Gelbach and Miller (2011). O(n log n) time, O(n) memory.
"""

from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _words as words
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.intervals._score import PRIOR, Units, greatest
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._sample import Sample, centre

_LEAST = 1 / 8  # of the sum of S_i^2
_MOST = 0.3  # of the pairs of a class with one subject
_FEW = 15  # subjects that decide: below, measured coverage by "delong" is 82 to 94 %
_Z = 1.96
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


class _Sums(NamedTuple):
    """Sums of influences for each model, of shape (n_models, n_subjects) and (n_models, n_pairs)."""

    of_subject: F64
    of_pair: F64  # pairs of two subjects

    def variance(self) -> F64:
        """Return V, raised to its lower bound."""
        of_subject = self.of_subject @ self.of_subject.T
        least = _LEAST * of_subject
        more, vectors = np.linalg.eigh(of_subject - self.of_pair @ self.of_pair.T - least)
        return np.asarray(least + (vectors * np.maximum(more, 0.0)) @ vectors.T)


def dyadic_covariance(sample: Sample, measure: Measure) -> tuple[F64, F64, F64]:
    """Return the estimates, their covariance, corrected for centring, and the effective number of subjects of each."""
    estimate, components = measure.influences(sample)
    factors, sums = _of_classes(sample, components)
    whole = _Sums(*map(np.add, *sums))
    held = measure.limiting_sizes(sample.totals)[1][1]
    setting = sums[0 if held.startswith("positives") else 1].of_subject
    if (count := float(_limiting(setting).min())) < _FEW:
        fact = f"only about {count:.0f} of {setting.shape[1]:,} subjects decide the {held}: the interval undercovers"
        warn(CoverageWarning(f"{fact}; collect pairs of more subjects", fact))
    # Neither factor is less than that of both: a sum of matrices without negative variances has none.
    of_both = min(factors)
    total = of_both * whole.variance()
    for factor, of_class in zip(factors, sums, strict=True):
        total += (factor - of_both) * of_class.variance()
    return estimate, total, _limiting(whole.of_subject)


def pair_sizes(sample: Sample, components: F64) -> tuple[float, float]:
    """Return how many independent pairs of either class have means of these components that vary as much."""
    factors, sums = _of_classes(sample, components[None])
    sizes = []
    for rows, factor, of_class in zip((sample.positive, ~sample.positive), factors, sums, strict=True):
        spread, variance = float(components[rows].var()), factor * float(of_class.variance()[0, 0])
        count = spread / variance if variance > 0 else float(len(of_class.of_subject[0]))
        reach = Law(_limiting(of_class.of_subject)[0] - 1.0).reach(_Z) / _Z
        sizes.append(max(min(count, float(np.count_nonzero(rows))) / float(reach) ** 2, 1.0))
    return sizes[0], sizes[1]


def _of_classes(sample: Sample, components: F64) -> tuple[list[float], list[_Sums]]:
    """Return by class the correction of centring, and the sums of centred components over the size of the class."""
    assert sample.group is not None
    first, second = sample.group.T
    n_subjects = int(sample.n_groups or 0)
    positive, apart = sample.positive, first != second
    pair = np.zeros(len(first), dtype=np.intp)
    low, high = np.minimum(first, second)[apart], np.maximum(first, second)[apart]
    pair[apart] = np.unique(high * (high - 1) // 2 + low, return_inverse=True)[1]  # (i, j) is (j, i)
    n_pairs = int(pair.max()) + 1
    factors, sums = [], []
    for rows, kind in ((positive, "positive"), (~positive, "negative")):
        a, b, two = first[rows], second[rows], apart[rows]
        held = np.bincount(a, minlength=n_subjects) + np.bincount(b[two], minlength=n_subjects)
        count, need = int(np.count_nonzero(held)), 3 if two.any() else 2
        if count < need:
            raise ValueError(f"groups: each class must have {need} subjects or more, got {count}")
        if (share := float(held.max() / len(a))) == 1:
            raise ValueError(
                f"groups has a subject that is in every {kind} pair: how results vary with it cannot be estimated; to"
                " keep it fixed, pass the column of the other subjects alone"
            )
        if share > _MOST:
            fact = f"one subject is in {words.percent(share)} of the {kind} pairs: the interval undercovers"
            warn(CoverageWarning(f"{fact}; collect pairs of more subjects", fact))
        factors.append(count * (count - 1) / (count - 2) ** 2 if two.any() else count / (count - 1))
        centred = centre(components[:, rows]) / len(a)
        of_first = np.array([np.bincount(a, row, n_subjects) for row in centred])
        of_second = np.array([np.bincount(b[two], row[two], n_subjects) for row in centred])
        of_pair = np.array([np.bincount(pair[rows][two], row[two], n_pairs) for row in centred])
        sums.append(_Sums(of_first + of_second, of_pair))
    return factors, sums


def _limiting(of_subject: F64) -> F64:
    """Return the effective number of subjects, by the fourth powers of S_i (Satterthwaite, 1946)."""
    n_subjects = of_subject.shape[1]
    second, fourth = ((of_subject**power).sum(axis=1) for power in (2, 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 + 2 / (fourth / second**2 - 1 / n_subjects)
    return np.where((found > 1) & (found < n_subjects), found, float(n_subjects))
