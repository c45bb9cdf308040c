"""Variances of measures of several classes, by the influence of every sample, and their bootstrap replicates."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.samples._classes import Classes, averaged, comparisons, estimates_of, members_of, shares
from rocmax.metrics.samples._sample import n_distinct
from rocmax.metrics.variances._components import Shared, cluster_parts
from rocmax.metrics.variances._resample import drawn_rows, masses

Influence = tuple[F64, F64]  # the values, and the influence of every sample (n_values, n_samples)


def influence(data: Classes, measure: Measure) -> Influence:
    """Return the values and the influence of every sample, scaled so that the sum of squares is a variance.

    In a binary comparison it is ``(V - mean V) / n`` times ``sqrt(k / (k - 1))``, n the size of the sample's class
    there and k that size, or its clusters. With average="weighted" the shares of the classes are estimates as well.
    """

    def factor(rows: Any, members: NDArray[np.bool_], size: float) -> float:
        held = size if data.group is None else _held(data.group[rows][members])
        return float(np.sqrt(held / (held - 1)))

    return _summed(data, measure, factor)


def influence_curve(fold: Classes, measure: Measure, frequency: F64) -> Influence:
    """Return the values in a fold, and the influence curve there by the `frequency` of classes in all folds."""

    def factor(rows: Any, members: NDArray[np.bool_], size: float) -> float:
        return float(np.count_nonzero(members) / frequency[np.unique(fold.of[rows][members])].sum())

    return _summed(fold, measure, factor, len(fold.of))


def _summed(
    data: Classes, measure: Measure, factor: Callable[[Any, NDArray[np.bool_], float], float], of_share: float = 1.0
) -> Influence:
    """Sum the influences of every sample on the comparisons, each times the `factor` of the sample's class there."""
    share = shares(data, measure)
    values = np.empty(len(share))
    total = np.zeros((len(share) if measure.average is None else 1, len(data.of)))
    for k, (rows, positive, part) in enumerate(comparisons(data, measure)):
        values[k] = measure.estimates(part)[0]
        own = influence_of(part, measure)
        for members, size in zip((positive, ~positive), part.counted, strict=True):
            own[members] *= factor(rows, members, size)
        total[k if measure.average is None else 0, rows] += own if measure.average is None else share[k] * own
    if measure.average == "weighted":
        # The average is values' M t / 1' M t for members M and totals t.
        of_classes, totals = members_of(data, measure), data.totals
        slope = (values - share @ values) @ of_classes / (of_classes @ totals).sum()
        weight = np.ones(len(data.of)) if data.weight is None else data.weight
        total[0] += of_share * (weight * slope[data.of])
    return averaged(data, measure, values), total


def variance_of_classes(data: Classes, measure: Measure) -> tuple[F64, list[F64], list[Any]]:
    """Return the values, the part of every class of samples in their variances, and the size of each part."""
    value, of_sample = influence(data, measure)
    parts, sizes = _parts(data, of_sample)
    if measure.average is None:  # a class against the rest, as if these were one class
        own = np.diagonal(parts)
        return value, [own, parts.sum(axis=1) - own], [sizes, sizes.sum() - sizes]
    return value, list(parts.T), list(sizes)


def _parts(data: Classes, of_sample: F64) -> tuple[F64, F64]:
    """Return the sums of squared influences by class, of shape (n_values, n_classes), and the classes' sizes."""
    if (group := data.group) is not None:
        n_groups, sums, counts = int(group.max()) + 1, [], []
        for k in range(len(data.names)):
            rows = data.of == k
            held = _held(group[rows])
            of_group = np.array([np.bincount(group[rows], row[rows], n_groups) for row in of_sample])
            sums.append(of_group * np.sqrt((held - 1) / held))  # the comparisons' factors are those of the clusters
            counts.append(held)
        return cluster_parts(sums, counts, n_groups), np.array(counts, float)
    with np.errstate(over="ignore"):  # what overflows is refused as a variance
        squares = of_sample**2
    if data.weight is not None and data.weight_kind == "frequency":  # w equal samples share the influence
        squares = np.divide(squares, data.weight, out=np.zeros_like(squares), where=data.weight > 0)
    parts = np.array([np.bincount(data.of, row, len(data.names)) for row in squares])
    return parts, data.effective


def replicates(data: Classes, measure: Measure, stratified: bool, n_resamples: int, seed: int) -> F64:
    """Bootstrap replicates of the values, of shape (n_resamples, n_values); models of one seed share their draws."""
    values = []
    for drawn in islice(masses(data.of, data.weight, stratified, seed, data.weight_kind), n_resamples):
        part = data._replace(weight=drawn)
        if not isinstance(measure, CurveMeasure):
            rows, weight = drawn_rows(drawn, data.weight)
            part = data._replace(of=data.of[rows], score=data.score[rows], weight=weight)
        values.append(estimates_of(part, measure))
    return np.array(values)


def covariance_of_classes(models: list[Classes], measure: Measure) -> tuple[F64, F64, list[Shared]]:
    """Return the measure of models of the same samples, and its covariance, of which the smallest class decides."""
    values, influences = zip(*(influence(data, measure) for data in models), strict=True)
    rows = np.vstack(influences)
    first, second = np.triu_indices(len(rows))
    sums, gaps = (_parts(models[0], rows[first] + sign * rows[second])[0].sum(axis=1) for sign in (1, -1))
    covariance = np.empty((len(rows), len(rows)))
    covariance[first, second] = covariance[second, first] = (sums - gaps) / 4
    smallest = _parts(models[0], influences[0])[1].min()
    return np.concatenate(values), covariance, [Shared(covariance, smallest - 1.0)]


def _held(group: NDArray[np.intp]) -> int:
    """Return the number of clusters that samples of a class belong to."""
    held = n_distinct(group)
    if held < 2:
        raise ValueError(f"groups: each class must occur in two or more groups, got {held}")
    return held
