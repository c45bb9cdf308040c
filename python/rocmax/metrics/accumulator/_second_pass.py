"""Compare models whose samples come in parts, in two passes: count them, then sum products of their components."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics._compare import Compared, refused_of, result_of, warn_of, warn_of_worse
from rocmax.metrics.accumulator._accumulator import ROCAccumulator
from rocmax.metrics.intervals._hypothesis import Hypothesis, Question
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods import checked
from rocmax.metrics.methods.base import Covariance, Known, Query
from rocmax.metrics.methods.defaults import Profile, jointly, own_intervals
from rocmax.metrics.results._comparison import Comparison
from rocmax.metrics.samples._arguments import warn_of_parts
from rocmax.metrics.samples._sample import check_variance, require_two
from rocmax.metrics.variances._components import Shared


class _Class(NamedTuple):
    """The scores of one class of a model, ascending, and for each measure their components less the mean."""

    score: F64
    values: F64

    @classmethod
    def of(cls, score: F64, values: F64, weight: F64) -> "_Class":
        held = weight > 0
        score, values, weight = score[held], values[:, held], weight[held]
        order = np.argsort(score)
        return cls(score[order], (values - (values @ weight / weight.sum())[:, None])[:, order])

    def at(self, score: NDArray[Any]) -> F64:
        """Return the components by each measure; between two counted scores the mean of theirs."""
        above = np.minimum(np.searchsorted(self.score, score), len(self.score) - 1)
        below = above - ((self.score[above] > score) & (above > 0))
        return np.asarray((self.values[:, below] + self.values[:, above]) / 2.0)


class SecondPass:
    """Covariances of measures with components, from samples in parts: components are those of the counted curves."""

    def __init__(self, counted: Mapping[str, ROCAccumulator], measures: Sequence[Measure]) -> None:
        self.counted, self.measures = counted, measures
        estimates, self._classes = [], list[tuple[_Class, _Class]]()
        self.samples = [each.middle()._replace(model_names=(name,)) for name, each in counted.items()]
        for sample in self.samples:
            found = [measure.influences(sample) for measure in measures]
            estimates.append([float(value[0]) for value, _ in found])
            components = np.concatenate([values for _, values in found])
            assert sample.weight is not None
            sides = ((sample.score[rows], components[:, rows], sample.weight[rows]) for rows in (sample.y, ~sample.y))
            pos, neg = (_Class.of(*side) for side in sides)
            self._classes.append((pos, neg))
        self.estimates = np.array(estimates).T
        self.weighted = False
        shape = 2, *self.estimates.shape
        self._sums, self._products = np.zeros(shape), np.zeros((*shape, len(counted)))

    def add(self, positive: NDArray[np.bool_], columns: Mapping[str, NDArray[Any]], weight: F64 | None = None) -> None:
        """Add samples, with frequency weights."""
        self.weighted |= weight is not None
        for k, rows in enumerate((np.flatnonzero(positive), np.flatnonzero(~positive))):
            pairs = zip(self._classes, self.counted, strict=True)
            values = np.stack([classes[k].at(columns[name][rows]) for classes, name in pairs], axis=1)
            weighted = values if weight is None else values * weight[rows]
            self._sums[k] += weighted.sum(axis=2)
            self._products[k] += weighted @ values.transpose(0, 2, 1)

    def covariance(self, number: int) -> Covariance:
        """Return the estimates and the covariance by one of the measures."""
        classes = zip(self.samples[0].totals, self._sums[:, number], self._products[:, number], strict=True)
        parts = [
            Shared((products - np.multiply.outer(sums, sums) / total) / total / (total - 1.0), total - 1.0)
            for total, sums, products in classes
        ]
        sample, measure = self.samples[0], self.measures[number]
        own, matrix = own_intervals(self.samples, measure), parts[0].matrix + parts[1].matrix
        return jointly(self.estimates[number], parts, own, sample, measure, matrix)


def compare_counted(
    passed: SecondPass, number: int, *, confidence_level: float, adjust: str | None, lower: Any
) -> Comparison:
    """Compare models whose samples came in parts by one of the measures."""
    measure = passed.measures[number]
    known = Known(counts=True)
    query = Query(measure, None, Question(confidence_level, Hypothesis()), known, adjust=adjust)
    checked(Profile(), measure, known)
    turned = np.broadcast_to(lower, len(passed.samples)).tolist()
    each = [one._replace(lower=low) for one, low in zip(passed.samples, turned, strict=True)]
    none = refused_of(query, each)
    found = Compared(Profile(), none or passed.covariance(number))
    data = each[0]._replace(lower=lower, model_names=tuple(passed.counted))
    require_two(*data.totals, measure.advice_for_one_sample)
    if none is None:
        check_variance(found.covariance.matrix)
        warn_of(query, found.method, found.covariance, each, data.totals)
    warn_of_worse(query, found, each)
    made = result_of(query, found, [data])
    if passed.weighted:
        warn_of_parts(None, np.concatenate([counted.masses.ravel() for counted in passed.counted.values()]))
    return replace(made, n_samples=None, weight_kind="frequency" if passed.weighted else None)
