"""Variances and covariances by components, in parts for each class or by clusters."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import FEW, satterthwaite
from rocmax.metrics.intervals._score import freedom_of_squares
from rocmax.metrics.measures._ranking import of_totals, parts_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.samples._sample import Sample, centre, require_two
from rocmax.metrics.variances._effective import dyadic_covariance, is_design, sizes_of_models

_LEAST_FREEDOM = 1e-3  # of one sample
_ALIKE = 0.9  # correlation of models that may differ in few samples


def variance_parts(sample: Sample, measure: Measure) -> tuple[F64, list[F64], list[Any]]:
    """Return estimates, the parts of either class in their variances, and the (effective) size of each part."""
    if sample.of_pairs:
        estimate, covariance, limiting = dyadic_covariance(sample, measure)
        return estimate, [np.diagonal(covariance), np.zeros(len(estimate))], [limiting, limiting]
    if sample.group is not None:
        estimate, sums, held = _cluster_sums(sample, measure)
        return estimate, list(cluster_parts(sums, held, sample.n_groups or 0).T), list(map(float, held))
    found = [_one_model(one, measure) for one in sample.models()]
    estimate, pos, neg = (np.array(column) for column in zip(*found, strict=True))
    return estimate, [pos, neg], list(sizes_of_models(sample, measure))


def most_freedom(sample: Sample) -> float:
    """Return the greatest number of degrees of freedom of a variance: the clusters less one."""
    return np.inf if sample.group is None or sample.of_pairs else (sample.n_groups or 0) - 1.0


def _one_model(sample: Sample, measure: Measure) -> tuple[float, float, float]:
    """Return the estimate of one model and the parts of either class in its variance."""
    if measure.of_samples or (sample.weight_kind == "sampling" and sample.weight is not None):
        (value,), pos, neg = measure.covariance(sample)
        return float(value), float(pos[0, 0]), float(neg[0, 0])
    value, squares = measure.squares(sample)
    sizes = sample.totals
    require_two(*sizes, measure.advice_for_one_sample)
    return value, *parts_of(squares, sizes, sizes)


class Shared(NamedTuple):
    """A part of a covariance, None for its estimate from replicates, and its degrees of freedom, or of each pair."""

    matrix: Any
    freedom: Any


def covariance_of(sample: Sample, measure: Measure) -> tuple[F64, F64, list[Shared]]:
    """Return the estimates of all models, their covariance, and the parts of it that are independent.

    With clusters it is Obuchowski's (1997), see `python/docs/mathematics.md`; parts leave out what classes share.
    """
    if sample.of_pairs:
        estimate, total, limiting = dyadic_covariance(sample, measure)
        return estimate, total, [Shared(total, np.minimum.outer(limiting, limiting) - 1.0)]
    if sample.group is not None:
        estimate, sums, held = _cluster_sums(sample, measure)
        parts = [Shared(n / (n - 1) * rows @ rows.T, n - 1.0) for rows, n in zip(sums, held, strict=True)]
        found = of_clusters(sums, held, sample.n_groups or 0)
        total = found @ found.T
        return estimate, total, _of_alike(total, parts, lambda: [(rows, np.ones(rows.shape[1])) for rows in sums])
    estimate, pos, neg = measure.covariance(sample)
    n_pos, n_neg = sample.effective

    def components() -> Iterator[tuple[F64, F64]]:
        values = measure.influences(sample)[1]
        for rows in (sample.positive, ~sample.positive):
            yield values[:, rows], sample.weights[rows]

    return estimate, pos + neg, _of_alike(pos + neg, [Shared(pos, n_pos - 1.0), Shared(neg, n_neg - 1.0)], components)


def decided(parts: list[Shared], sample: Sample, measure: Measure) -> list[Shared]:
    """Return parts with at most as many degrees of freedom as samples decide an area, rate or cut, for joint tests."""
    of_cut = getattr(measure, "pooled", False)  # decided by the samples of both classes above it
    if sample.group is not None or not (of_cut or measure.traits & {Trait.AREA, Trait.RATE}):
        return parts
    place, most = int(not getattr(measure, "mirrored", False)), measure.limiting_sizes(sample.effective)[1][0]
    few = [part._replace(freedom=np.minimum(part.freedom, max(most, 1.0))) for part in parts]
    return [few[k] if of_cut or k == place else part for k, part in enumerate(parts)]


def range_part(sample: Sample, measure: Measure) -> tuple[int, F64] | None:
    """Return the place of the class that sets the range of a partial area, and its covariance, if few of it are there.

    Components see how far the samples in the range are from its end: of a single one, nothing. The jackknife also sees
    the next one; :class:`Profile` has the divisor, for the mean of the first k order statistics on a line.
    """
    whole = Trait.AUC in measure.traits or Trait.AREA not in measure.traits
    if whole or is_design(sample) or measure.limiting_sizes(sample.totals)[1][0] >= FEW:
        return None
    area: Any = measure  # with a range
    rows = np.flatnonzero((sample.positive == area.mirrored) & (sample.weights > 0))
    score, weight = np.atleast_2d(sample.score[rows].T * (-1 if area.mirrored else 1)), sample.weights[rows]
    total, near = weight.sum(), []
    for one in score:
        order = np.argsort(-one)
        start, end = np.searchsorted(np.cumsum(weight[order]), np.array([area.low, area.high]) * total)
        most, least = one[order[[max(start - 1, 0), min(end + 1, len(order) - 1)]]]
        near.append(np.where(one > most, np.inf, np.where(one < least, -np.inf, one)))  # one kind on either side
    each, axis = (near, 1) if len(near) > 1 else (near[0], None)  # of rows in a tenth of the time
    _, first, kind = np.unique(each, axis=axis, return_index=True, return_inverse=True)
    found = []
    for row in rows[first]:
        left = sample.weights.copy()
        left[row] = max(left[row] - 1.0, 0.0)
        found.append(measure.estimates(sample._replace(weight=left, steps=None)))
    mass, k = np.bincount(kind.ravel(), weight).astype(np.float64), max(total * area.high, 1.0)
    values = centre(np.array(found).T, mass)
    return int(not area.mirrored), (values * mass) @ values.T * (total - 1.0) / total / (1.0 + 3.0 / (2.0 * k + 1.0))


def _of_alike(total: F64, parts: list[Shared], rows: Callable[[], Iterable[tuple[F64, F64]]]) -> list[Shared]:
    """Return the parts; of nearly equal models with the degrees of freedom of the few samples in which they differ."""
    error = np.sqrt(np.maximum(np.diagonal(total), 0.0))
    pairs = np.argwhere(np.triu(total > _ALIKE * np.outer(error, error), 1)).tolist()
    found = []
    for (matrix, most), (values, weight) in zip(parts, rows() if pairs else (), strict=bool(pairs)):
        freedom = np.full_like(matrix, most)
        for i, j in pairs:
            square = centre(values[i] - values[j], weight) ** 2
            if (second := float(weight @ square)) > 0:
                known = freedom_of_squares(second, float(weight @ square**2), float(weight.sum()))
                freedom[i, j] = freedom[j, i] = min(most, known)
        found.append(Shared(matrix, freedom))
    return found or parts


def freedom_of(parts: Sequence[Shared]) -> F64:
    """Return the degrees of freedom (Welch and Satterthwaite) of the variances of the differences of models.

    Those of the models' own variances are on the diagonal. A class's part is at least that of independent models over
    its number of samples: where few are ranked alike it is 0, and would be taken as known.
    """
    variances, freedoms = [], [np.maximum(part.freedom, _LEAST_FREEDOM) for part in parts]
    for (matrix, _), freedom in zip(parts, freedoms, strict=True):
        own = np.diagonal(matrix)
        apart = own[:, None] + own
        variances.append(np.maximum(apart - 2 * matrix, apart / (freedom + 1)))
        np.fill_diagonal(variances[-1], own)
    return satterthwaite(variances, freedoms, np.minimum.reduce(freedoms))


def _cluster_sums(sample: Sample, measure: Measure) -> tuple[F64, list[F64], list[int]]:
    """Return estimates, and by class the sums of ``A / m`` over clusters and the number of clusters with samples."""
    group = sample.group
    assert group is not None
    n_groups = int(group.max()) + 1
    estimate, components = measure.influences(sample)
    sums, counts = [], []
    held_by_class, moved_by_class = map(int, sample.counted), of_totals(measure, sample)
    for rows, held, moved in zip((sample.positive, ~sample.positive), held_by_class, moved_by_class, strict=True):
        if held < 2:
            raise ValueError(f"groups: each class must occur in two or more groups, got {held}")
        centred = centre(components[:, rows]) + moved[:, None]
        sums.append(np.array([np.bincount(group[rows], row, n_groups) for row in centred]) / np.count_nonzero(rows))
        counts.append(held)
    return estimate, sums, counts


def of_clusters(sums: Sequence[Any], counts: Sequence[int], n_groups: int) -> F64:
    """Return rows whose products with themselves are Obuchowski's (1997) covariance of models.

    By class, `sums` are those over clusters, which add up to the measure, and `counts` the clusters that have samples.
    The factor I / (I - 1) of a class is at least that of all clusters, so that the roots are real.
    """
    of_all = n_groups / (n_groups - 1)
    own = [np.sqrt(held / (held - 1) - of_all) * of_class for of_class, held in zip(sums, counts, strict=True)]
    return np.concatenate([*own, np.sqrt(of_all) * sum(sums)], axis=-1)


def cluster_parts(sums: Sequence[F64], counts: Sequence[int], n_groups: int) -> F64:
    """Return the parts of the classes in these variances: shared out as if no cluster held two classes."""
    total = (of_clusters(sums, counts, n_groups) ** 2).sum(axis=1)
    own = np.array([held / (held - 1) * (rows**2).sum(axis=1) for rows, held in zip(sums, counts, strict=True)]).T
    whole = own.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(own, whole, out=np.zeros_like(own), where=whole > 0) * total[:, None])
