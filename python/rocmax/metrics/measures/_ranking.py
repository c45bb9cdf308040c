"""The weight of either class at every distinct score, highest first, and components: derivatives by its shares."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._typing import F64
from rocmax.metrics.samples._sample import Sample, centre, has_variance


class Ranking(NamedTuple):
    """The weights of the positives and of the negatives of one model at every distinct score, the highest first."""

    pos: F64
    neg: F64
    score: NDArray[Any]

    @classmethod
    def of(cls, sample: Sample) -> "Ranking":
        """Take them from the core's sort."""
        score, pos, neg = sample.curve().steps()
        return cls(pos, neg, score.astype(sample.score.dtype, copy=False))  # thresholds compare in the scores' dtype

    @property
    def sizes(self) -> tuple[float, float]:
        """Total weights of the positives and of the negatives."""
        return float(self.pos.sum()), float(self.neg.sum())

    @property
    def prevalence(self) -> float:
        """The share of the positives in the total weight."""
        m, n = self.sizes
        return m / (m + n)

    def shares(self) -> tuple[F64, F64]:
        """Shares (a, b) of the positives and of the negatives at every distinct score."""
        m, n = self.sizes
        return self.pos / m, self.neg / n

    def place(self, sample: Sample, of_pos: F64, of_neg: F64) -> F64:
        """Return for every sample the component of its class at its score."""
        block = np.minimum(np.searchsorted(-self.score, -sample.score), len(self.score) - 1)  # of weight 0: any
        return np.where(sample.positive, of_pos[block], of_neg[block])


def from_here(x: F64) -> F64:
    """Return the sums of x_k over k >= j, for every j."""
    return np.asarray(np.cumsum(x[::-1])[::-1])


def along(step: F64, of_start: F64, of_end: F64) -> F64:
    """Return what moving all points from each on by `step` changes, by the coefficients of both ends of the lines."""
    return from_here(step * of_end + np.append((step * of_start)[1:], 0.0))


def quotient(x: F64, y: F64) -> F64:
    """Return x / y, and 0 where y is 0, which is at scores of weight 0."""
    return np.divide(x, y, out=np.zeros_like(x), where=y > 0)


def centred_squares(parts: Iterable[F64], weights: Iterable[F64]) -> F64:
    """Return by class the sum of the squares of components, less the mean of their class."""
    each = zip(parts, weights, strict=True)
    return np.array([(weight * centre(values.copy(), weight) ** 2).sum() for values, weight in each])


def parts_of(squares: Any, totals: Any, sizes: Any) -> tuple[float, float]:
    """Return both classes' parts in a variance from sums of squares, which are of `totals`; 0 for a class of one."""
    each = zip(squares, totals, sizes, strict=True)
    pos, neg = (square * (k / total) / k / (k - 1) if has_variance(k) else 0.0 for square, total, k in each)
    return pos, neg


def of_totals(measure: Any, sample: Sample) -> F64:
    """Return what estimated totals of classes add to each centred component, of shape (2, n_models)."""
    if not measure.of_samples and (sample.weight is None or sample.weight_kind != "sampling"):
        return np.zeros((2, sample.n_models))
    return np.array([measure.by_totals(one) for one in sample.models()]).T


def influence_of(sample: Sample, measure: Any) -> F64:
    """Return the influence of every sample on the measure of one model; weights are sampling weights."""
    _, (components,) = measure.influences(sample)
    weight = sample.weights
    added = np.empty(len(sample.y))
    for rows, moved in zip((sample.positive, ~sample.positive), of_totals(measure, sample)[:, 0], strict=True):
        share = weight[rows] / weight[rows].sum()
        added[rows] = share * (centre(components[rows], share) + moved)
    return added


def by_prevalence(measure: Any, sample: Sample) -> tuple[float, float]:
    """Return the derivatives by the logarithms of the totals of a mean over the positives of what ranks among all.

    Every component moves the ranks of all, by its class's share of the samples; a positive's adds its own value, too.
    """
    (value,), (values,) = measure.influences(sample)
    classes = sample.positive, ~sample.positive
    of_pos, of_neg = (float(np.average(values[rows], weights=sample.weights[rows])) for rows in classes)
    pi = sample.totals[0] / sum(sample.totals)
    change = (1.0 - pi) * (of_pos - float(value)) - pi * of_neg
    return change, -change
