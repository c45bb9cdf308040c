"""The parts of either class in variances and covariances, by the components of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax.metrics import _rate as rate
from rocmax.metrics import _two_way as two_way
from rocmax.metrics._measure import (
    Measure,
    effective,
    has_variance,
    point_estimates,
    positives,
    require_two,
    totals,
)
from rocmax.metrics._validation import F64, Sample, call, explain, names_of

# Models that are copied out of a matrix of scores at a time.
_MODELS = 64


def _auc_moments(y: Any, score: Any, _: None, threads: int) -> tuple[float, list[float], Any]:
    return _core.auc_moments(y, score, threads)


def variance_parts(
    data: Sample, measure: Measure, weight_kind: str = "frequency", groups: Any = None
) -> tuple[F64, F64, F64, tuple[float, float]]:
    """Estimates, the parts of either class in their variances, and the size of either class.

    With sampling weights that is the effective size, and with groups their number: a group is as one sample.
    """
    if groups is not None:
        estimate, covariance = clustered_covariance(data, measure, groups)
        variance = np.diagonal(covariance)
        n_groups = float(len(np.unique(np.asarray(groups))))
        return estimate, variance, np.zeros_like(variance), (n_groups, n_groups)
    if data.many:
        return _model_by_model(data, measure, weight_kind)
    if weight_kind == "sampling":
        estimate, pos, neg = covariance_parts(data, [data.score], measure, weight_kind)
        return estimate, pos[0], neg[0], effective(data)
    found = one_model(data, measure)
    require_two(*found[3])
    return found


def _model_by_model(data: Sample, measure: Measure, weight_kind: str) -> tuple[F64, F64, F64, tuple[float, float]]:
    """Collect the parts of all models: a matrix of them all would be of no use beside its diagonal."""
    found = []
    for first in range(0, data.score.shape[1], _MODELS):
        columns = np.ascontiguousarray(data.score[:, first : first + _MODELS].T)
        found += [variance_parts(data._replace(score=column), measure, weight_kind) for column in columns]
    estimate, pos, neg = (np.concatenate(parts) for parts in zip(*(parts[:3] for parts in found), strict=True))
    return estimate, pos, neg, found[0][3]


def one_model(data: Sample, measure: Measure) -> tuple[F64, F64, F64, tuple[float, float]]:
    """Estimate, the parts of either class in its variance, 0 for a class of one, and the size of either class."""
    sizes: Any
    squares: Any
    if measure.name == "auc" and data.weight is None:
        value, squares, sizes = call(_auc_moments, data, data.threads)
    else:
        curve = call(_core.Curve, data, data.threads)
        value, squares, _ = moments(curve, measure)
        sizes = list(curve.weights) if data.weight is not None else [int(w) for w in curve.weights]
    pos, neg = parts_of(squares, sizes)
    return np.array([value]), np.array([pos]), np.array([neg]), (sizes[0], sizes[1])


def parts_of(squares: Any, sizes: Any) -> tuple[float, float]:
    """Return the parts of either class in a variance, 0 for a class of one, by the squares of centred components."""
    pos, neg = (s / k / (k - 1) if has_variance(k) else 0.0 for s, k in zip(squares, sizes, strict=True))
    return pos, neg


def moments(curve: _core.Curve, measure: Measure) -> tuple[float, F64, F64]:
    """Value of a measure, and by class the sums of the squares and the cubes of its centred components."""
    if measure.region is not None:
        area, second, third = two_way.moments(curve, measure.region)
        return measure.scale * area, measure.scale**2 * second, measure.scale**3 * third
    value, squares, cubes = curve.moments(*measure.key)
    factors = np.ones(2)
    if measure.is_rate:

        def read(x: float) -> F64:
            return np.array([curve.measure(measure.name, x, 1.0)])

        factors = np.concatenate(rate.slopes(read, measure, curve.weights))
    return value, factors**2 * squares, factors**3 * cubes


def covariance_parts(
    data: Sample, columns: list[NDArray[Any]], measure: Measure, weight_kind: str = "frequency"
) -> tuple[F64, F64, F64]:
    """Estimates of all columns of scores, and the parts of either class in their covariance matrix."""
    if measure.region is not None:
        return _by_influences(data, columns, measure, weight_kind)
    try:
        found = _core.covariance(data.y, columns, data.weight, weight_kind, *measure.key, data.threads)
    except ValueError:
        for column in columns:
            explain(data._replace(score=column))
        if weight_kind == "frequency":
            require_two(*totals(data))
        raise
    estimate = found[0]
    factors = _factors(data, columns, measure, weight_kind)
    pos, neg = (
        part.reshape(len(estimate), -1) * np.multiply.outer(factor, factor)
        for part, factor in zip(found[1:], factors, strict=True)
    )
    return estimate, pos, neg


def _by_influences(
    data: Sample, columns: list[NDArray[Any]], measure: Measure, weight_kind: str
) -> tuple[F64, F64, F64]:
    """Return what :func:`covariance_parts` does, by the components of every sample."""
    if weight_kind == "frequency":
        require_two(*totals(data))
    found = [components_of(data._replace(score=column), measure) for column in columns]
    estimate, values = np.concatenate([one[0] for one in found]), np.vstack([one[1] for one in found])
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    positive, parts = positives(data), []
    for rows in (positive, ~positive):
        w = weight[rows]
        # A sample of weight w stands for w samples, or else for itself.
        size, square = (w.sum(), w) if weight_kind == "frequency" else (np.count_nonzero(w), w**2)
        centred = values[:, rows] - (values[:, rows] @ w / w.sum())[:, None]
        parts.append((centred * square) @ centred.T / w.sum() ** 2 * size / max(size - 1, 1))
    return estimate, parts[0], parts[1]


def components_of(data: Sample, measure: Measure) -> tuple[F64, F64]:
    """Estimates (n_models,) and the components of all samples, of shape (n_models, n_samples)."""
    if measure.region is not None:
        areas, values = two_way.components(data, measure.region)
        return measure.scale * areas, measure.scale * values
    estimate, values = call(_core.components, data, *measure.key, data.threads)
    return estimate, values.reshape(len(estimate), -1)


def _factors(
    data: Sample, columns: list[NDArray[Any]], measure: Measure, weight_kind: str = "frequency"
) -> tuple[F64, F64]:
    """Return what the components of either class are to be multiplied by, model by model."""
    if not measure.is_rate:
        one = np.ones(sum(column.ndim == 1 or column.shape[1] for column in columns))
        return one, one
    sizes = effective(data) if weight_kind == "sampling" else totals(data)

    def read(x: float) -> F64:
        at = measure._replace(low=x)
        return np.concatenate([point_estimates(data._replace(score=column), at) for column in columns])

    return rate.slopes(read, measure, sizes)


def influences(data: Sample, measure: Measure) -> F64:
    """Return what every sample of one model adds to the measure, weights being inverse sampling probabilities."""
    _, (components,) = components_of(data, measure)
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    positive = positives(data)
    added = np.empty(len(data.y))
    for rows, factor in zip((positive, ~positive), _factors(data, [data.score], measure, "sampling"), strict=True):
        share = weight[rows] / weight[rows].sum()
        added[rows] = factor[0] * share * (components[rows] - share @ components[rows])
    return added


def clustered_covariance(data: Sample, measure: Measure, groups: Any) -> tuple[F64, F64]:
    """Estimates and their covariance when samples of one group depend on each other (Obuchowski, 1997).

    With ``A_g`` and ``B_g`` the sums over the positives and the negatives of group g of their
    components, centred at their mean over all groups, the covariance is
    ``I10/((I10-1) m^2) sum A A' + I01/((I01-1) n^2) sum B B' + I/((I-1) m n) sum (A B' + B A')``;
    I10 and I01 count the groups with a positive and with a negative sample, I all of them.
    """
    if data.weight is not None:
        raise ValueError("groups and sample_weight cannot be given together")
    names, group = names_of(groups, len(data.y), "groups")
    estimate, components = components_of(data, measure)
    factors = _factors(data, [data.score], measure)
    positive = positives(data)
    # Each class's factor is at least that of all: as a sum of squares no variance is negative.
    of_all = len(names) / max(len(names) - 1, 1)
    total = np.zeros((len(estimate), len(estimate)))
    sums = []
    for rows, factor in zip((positive, ~positive), factors, strict=True):
        size, held = np.count_nonzero(rows), len(np.unique(group[rows]))
        if held < 2:
            raise ValueError(f"groups must spread each class over two of them or more, got {held}")
        centred = components[:, rows] - components[:, rows].mean(axis=1, keepdims=True)
        of_group = factor[:, None] * np.array([np.bincount(group[rows], row, len(names)) for row in centred]) / size
        total += (held / (held - 1) - of_all) * of_group @ of_group.T
        sums.append(of_group)
    both = sums[0] + sums[1]
    return estimate, total + of_all * both @ both.T


def correction(weight: F64 | None, members: NDArray[np.bool_], weight_kind: str) -> float:
    """Return n / (n - 1) for the size n of a class."""
    if weight is None:
        size = float(np.count_nonzero(members))
    elif weight_kind == "frequency":
        size = float(weight[members].sum())
    else:
        size = float(np.count_nonzero(weight[members]))
    return size / (size - 1)
