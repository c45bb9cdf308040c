"""Measures of several classes: means over binary comparisons, and their variances by the influence of every sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.arrays import unmasked
from rocmax._checks.missing import oriented
from rocmax._checks.samples import DROP, F64, names_of, require_finite, require_weights, scores, weights
from rocmax._parameters import shown
from rocmax._runtime.threads import n_threads
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.curve import CoreMeasure
from rocmax.metrics.samples._groups import numbered, require_clusters
from rocmax.metrics.samples._sample import Given, Sample, no_counts
from rocmax.metrics.variances._components import correction, influence_of
from rocmax.metrics.variances._resample import drawn_rows, masses


class Classes(NamedTuple):
    """Samples of several classes, with a column of scores for each class in sorted order."""

    names: NDArray[Any]
    of: NDArray[np.intp]
    score: NDArray[Any]
    weight: F64 | None
    threads: int
    weight_kind: str = "frequency"
    group: NDArray[np.intp] | None = None  # number of the cluster of each sample
    lower: bool = False  # whether low scores are for a class: `score` holds them negated
    n_dropped: int = 0
    model_names: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[float, float]:
        """Weight of the smallest class, and of all others."""
        return float(self.totals.min()), float(self.totals.sum() - self.totals.min())

    @property
    def n_groups(self) -> int | None:
        """Number of clusters."""
        return None if self.group is None else int(self.group.max()) + 1

    @property
    def n_counted(self) -> int:
        """Number of samples with weight."""
        return len(self.of) if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def totals(self) -> F64:
        """Weight of every class; without weights its number of samples."""
        return np.bincount(self.of, self.weight, len(self.names)).astype(float)


class Influence(NamedTuple):
    """Values of the measure, and the influence of every sample, scaled so that the sum of squares is a variance."""

    value: F64
    of_sample: F64  # (n_values, n_samples)


def classes(given: Given, measure: Any, model: str | None = None) -> Classes:
    """Check labels and scores of several classes, those of one model of a mapping if it is named."""
    if given.pos_label is not None:
        raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(given.pos_label)}")
    if not isinstance(given.higher_is_better, (bool, np.bool_)):
        higher = shown(given.higher_is_better)
        raise ValueError(f"higher_is_better must be True or False for several classes, got {higher}")
    lower = not given.higher_is_better
    name = "y_score" if model is None else f"y_score[{model!r}]"
    y_score = given.y_score if model is None else given.y_score[model]
    advice = "" if given.missing is None else DROP
    y = unmasked(given.y_true, "y_true", advice or "leave those samples out")
    s = scores(y_score, name, advice)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if s.ndim != 2 or y.ndim != 1 or len(y) != len(s):
        raise ValueError(
            f"multi_class needs y_true of shape (n_samples,) and {name} of shape (n_samples, n_classes), got {y.shape}"
            f" and {s.shape}"
        )
    found, of = names_of(y, len(y), "y_true", advice)
    if measure.labels is not None:
        found, place = _among(measure.labels, found)
        of = place[of]
    if len(found) != s.shape[1]:
        raise ValueError(
            f"{name} has {s.shape[1]} columns, one per class, and y_true {len(found)} classes; give labels= if some"
            " classes do not occur"
        )
    require_finite(s, name, advice, getattr(y_score, "columns", None))
    weight = None if given.sample_weight is None else weights(given.sample_weight, len(y), remedy=advice)
    require_weights(weight, remedy=advice)
    # Inverse sampling probabilities do not count samples, whatever they add up to.
    counted = weight > 0 if weight is not None and given.weight_kind == "sampling" else weight
    counts = np.bincount(of, counted, len(found))
    if len(found) < 2 or (counts <= 1).any():
        k = int(np.argmax(counts <= 1))
        raise ValueError(
            f"y_true has {counts[k]:g} samples of class {found[k]}: there must be at least two classes, of at least two"
            " samples each" + no_counts(float(counts[k]))
        )
    if given.groups is not None and weight is not None:
        raise ValueError("groups and sample_weight cannot be given together")
    group = None if given.groups is None else numbered(given.groups, len(y), advice)
    require_clusters(group, "multi_class")
    held = found, of, oriented(s, lower), weight, n_threads(given.n_jobs), given.weight_kind, group, lower
    return Classes(*held, n_dropped=given.n_dropped or 0, model_names=(str(model),))


def _among(labels: Any, found: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Check the labels that were given, and return them with the places of the labels that occur."""
    given = unmasked(labels, "labels")
    try:
        ordered = given.ndim == 1 and len(np.unique(given)) == len(given) and np.array_equal(given, np.sort(given))
        unknown = np.setdiff1d(found, given) if ordered else found
        place = np.searchsorted(given, found) if ordered else found
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"labels must be of the types in y_true, such as {found[0]!r}, got {shown(labels)}") from None
    if not ordered:
        raise ValueError(f"labels must be distinct and sorted, got {shown(labels)}")
    if len(unknown):
        raise ValueError(f"y_true holds {unknown[0]!r}, which is not among labels={shown(labels)}")
    return given, place


def class_estimates(data: Classes, measure: Measure) -> F64:
    """Return the values of the measure: one, or one per class without an average."""
    return _averaged(data, measure, np.array([measure.estimates(part)[0] for _, _, part in comparisons(data, measure)]))


def _averaged(data: Classes, measure: Measure, values: F64) -> F64:
    """Average the values of the comparisons as `roc_auc_score` does, in the order of scikit-learn's sums."""
    if measure.average is None:
        return values
    masses = comparison_masses(data, measure)
    if measure.multi_class == "ovo":  # the two of a pair first
        values, masses = (values[::2] + values[1::2]) / 2, masses[::2] / data.totals.sum()
    return np.atleast_1d(np.average(values, weights=masses if measure.average == "weighted" else None))


def influence(data: Classes, measure: Measure) -> Influence:
    """Return the values of the measure and the influence of every sample on them.

    In a binary comparison it is that of DeLong's variance, ``(V - mean V) / n_c`` times ``sqrt(n_c / (n_c - 1))`` with
    n_c the size of the sample's class there. With average="weighted" the shares of the classes are estimates as well.
    """

    def factor(rows: Any, members: NDArray[np.bool_], part: Sample) -> float:
        return float(np.sqrt(correction(part.weight, members, data.weight_kind)))

    return _summed(data, measure, factor)


def influence_curve(fold: Classes, measure: Measure, frequency: F64) -> Influence:
    """Return the values of the measure in a fold, and the influence curve there: its mean square over n is a variance.

    A component counts as one over the `frequency` of its classes in all folds (LeDell et al., 2015); the share of a
    class in the average is that in the fold.
    """

    def factor(rows: Any, members: NDArray[np.bool_], part: Sample) -> float:
        return float(np.count_nonzero(members) / frequency[np.unique(fold.of[rows][members])].sum())

    return _summed(fold, measure, factor, len(fold.of))


def _summed(
    data: Classes,
    measure: Measure,
    factor: Callable[[Any, NDArray[np.bool_], Sample], float],
    of_share: float = 1.0,
) -> Influence:
    """Sum the influences of every sample on the comparisons, each times the `factor` of the sample's class there."""
    share = shares(data, measure)
    values = np.empty(len(share))
    total = np.zeros((len(share) if measure.average is None else 1, len(data.of)))
    for k, (rows, positive, part) in enumerate(comparisons(data, measure)):
        values[k] = measure.estimates(part)[0]
        own = influence_of(part, measure)
        for members in (positive, ~positive):
            own[members] *= factor(rows, members, part)
        total[k if measure.average is None else 0, rows] += own if measure.average is None else share[k] * own
    if measure.average == "weighted":
        total[0] += of_share * _of_shares(data, measure, values)
    return Influence(_averaged(data, measure, values), total)


def variance_of_classes(data: Classes, measure: Measure) -> tuple[F64, list[F64], list[Any]]:
    """Return the values, the part of every class of samples in their variances, and the size of each part."""
    found = influence(data, measure)
    if data.group is not None:
        return found.value, [_clustered(data, found.of_sample)], [float(data.group.max() + 1)]
    parts, sizes = _parts(data, found.of_sample)
    if measure.average is None:  # a class against the rest, as if these were one class
        own = np.diagonal(parts)
        return found.value, [own, parts.sum(axis=1) - own], [sizes, sizes.sum() - sizes]
    return found.value, list(parts.T), list(sizes)


def _parts(data: Classes, of_sample: F64) -> tuple[F64, F64]:
    """Return the sums of squared influences by class, of shape (n_values, n_classes), and the classes' sizes."""
    with np.errstate(over="ignore"):  # what overflows is refused as a variance
        squares = of_sample**2
    if data.weight is not None and data.weight_kind == "frequency":  # w equal samples share the influence
        squares = np.divide(squares, data.weight, out=np.zeros_like(squares), where=data.weight > 0)
    parts = np.array([np.bincount(data.of, row, len(data.names)) for row in squares])
    sizes = data.totals
    if data.weight is not None and data.weight_kind == "sampling":
        sizes = sizes**2 / np.bincount(data.of, data.weight**2, len(sizes))
    return parts, sizes


def replicates(data: Classes, measure: Measure, stratified: bool, n_resamples: int, seed: int) -> F64:
    """Bootstrap replicates of the values, of shape (n_resamples, n_values); models of one seed share their draws."""
    found = []
    for drawn in islice(masses(data.of, data.weight, stratified, seed, data.weight_kind), n_resamples):
        part = data._replace(weight=drawn)
        if not isinstance(measure, CoreMeasure):
            rows, weight = drawn_rows(drawn, data.weight)
            part = data._replace(of=data.of[rows], score=data.score[rows], weight=weight)
        found.append(class_estimates(part, measure))
    return np.array(found)


def covariance_of_classes(models: list[Classes], measure: Measure) -> tuple[F64, F64]:
    """Return the measure of models of the same samples and its covariance."""
    found = [influence(data, measure) for data in models]
    rows = np.vstack([each.of_sample for each in found])
    first, second = np.triu_indices(len(rows))

    def variance(of_sample: F64) -> F64:
        if models[0].group is not None:
            return _clustered(models[0], of_sample)
        return np.asarray(_parts(models[0], of_sample)[0].sum(axis=1))

    sums, gaps = (variance(rows[first] + sign * rows[second]) for sign in (1, -1))
    covariance = np.empty((len(rows), len(rows)))
    covariance[first, second] = covariance[second, first] = (sums - gaps) / 4
    return np.concatenate([each.value for each in found]), covariance


def comparisons(data: Classes, measure: Measure) -> Iterator[tuple[Any, NDArray[np.bool_], Sample]]:
    """Yield the rows of every binary comparison, which of these are positive, and its samples.

    "ovr" has one comparison per class, "ovo" two per pair of classes, one by the column of each.
    """

    def part(rows: Any, k: int) -> tuple[Any, NDArray[np.bool_], Sample]:
        positive = data.of[rows] == k
        column = np.ascontiguousarray(data.score[rows, k])
        weight = None if data.weight is None else data.weight[rows]
        return rows, positive, Sample(positive, column, weight, data.threads, weight_kind="sampling")

    every = range(len(data.names))
    if measure.multi_class == "ovr":
        for k in every:
            yield part(slice(None), k)
        return
    for a, b in combinations(every, 2):
        rows = np.flatnonzero((data.of == a) | (data.of == b))
        yield part(rows, a)
        yield part(rows, b)


def _members(data: Classes, measure: Measure) -> F64:
    """Mark the classes (columns) that set the share of each comparison (row)."""
    n = len(data.names)
    if measure.multi_class == "ovr":
        return np.eye(n)
    pairs = np.array([np.eye(n)[a] + np.eye(n)[b] for a, b in combinations(range(n), 2)])
    return np.repeat(pairs, 2, axis=0)


def shares(data: Classes, measure: Measure) -> F64:
    """Return the share of every comparison in the average: equal, or by the weights of their classes."""
    masses = comparison_masses(data, measure)
    weights = masses if measure.average == "weighted" else np.ones(len(masses))
    return np.asarray(weights / weights.sum())


def comparison_masses(data: Classes, measure: Measure) -> F64:
    """Return the weight of the classes that set the share of each comparison."""
    return np.asarray(_members(data, measure) @ data.totals)


def _of_shares(data: Classes, measure: Measure, values: F64) -> F64:
    """Return the influence of every sample on a weighted average through the share of its class."""
    members, totals = _members(data, measure), data.totals
    # The average is values' M t / 1' M t for members M and totals t.
    slope = (values - shares(data, measure) @ values) @ members / (members @ totals).sum()
    weight = np.ones(len(data.of)) if data.weight is None else data.weight
    return np.asarray(weight * slope[data.of])


def _clustered(data: Classes, of_sample: F64) -> F64:
    """Return the variance of sums over groups, as Obuchowski's for two classes."""
    group = data.group
    assert group is not None
    n_groups = int(group.max()) + 1
    sums = []
    for k in range(len(data.names)):
        rows = data.of == k
        held, size = len(np.unique(group[rows])), np.count_nonzero(rows)
        if held < 2:
            raise ValueError(f"groups must spread each class over two of them or more, got {held}")
        # The correction of groups replaces that of samples.
        of_group = np.array([np.bincount(group[rows], row[rows], n_groups) for row in of_sample])
        sums.append((held, of_group * np.sqrt((size - 1) / size)))
    total = sum(held / (held - 1) * (of_group**2).sum(axis=1) for held, of_group in sums)
    cross = sum((a * b).sum(axis=1) for (_, a), (_, b) in combinations(sums, 2))
    return np.asarray(total + 2 * n_groups / (n_groups - 1) * cross)
