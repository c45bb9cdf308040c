"""The sampling design of a plan: strata of all rows, of which some are labelled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.samples._sample import Kept, Sample

_LIGHT = 1e-13  # the weight of a labelled negative among the positives, so that its gain is known too
_STEPS, _LARGEST = 30, 30.0  # of Newton's method for a logistic curve, and its greatest log-odds


class Design(NamedTuple):
    """Strata of all rows, and the rows that are labelled, or will be.

    Attributes
    ----------
    rank : ndarray of shape (n_rows,)
        The rank of every row, by the model that ranks it highest.
    stratum : ndarray of int of shape (n_rows,)
        The stratum of every row.
    size, whole : ndarray of shape (n_strata,)
        How many rows of each stratum are labelled, and how many there are.
    rows : ndarray of int of shape (n_labels,)
        The rows that are labelled.
    labels : ndarray of shape (n_labels,)
        1 for positives and 0 for negatives; of a plan without labels the probability of a positive in every row.
    """

    rank: F64
    stratum: NDArray[np.intp]
    size: F64
    whole: F64
    rows: NDArray[np.intp]
    labels: F64

    @property
    def places(self) -> NDArray[np.intp]:
        """The strata of the labelled rows."""
        return self.stratum[self.rows]

    @property
    def known(self) -> bool:
        """Whether there are labels, not probabilities of them."""
        return bool(len(self.rows) == self.size.sum())

    @property
    def weight(self) -> F64:
        """How many rows a labelled one stands for."""
        return (self.whole / self.size)[self.places]

    def sample(self, score: NDArray[Any], like: Sample) -> Sample:
        """Return positives by their weights, and all rows by what these leave of negatives; each model has its own."""
        y = np.repeat([True, False], [len(self.rows), len(score)])
        score = np.asfortranarray(np.concatenate([score[self.rows], score]))
        weight = self.weights_of(score if score.ndim == 1 else score[:, 0])
        return like._replace(y=y, score=score, weight=weight, plan=self, kept=Kept(y, score, weight))

    def weights_of(self, score: NDArray[Any]) -> F64:
        """Return the weights of the positives and of all rows of one model.

        The ranks of all rows are known: what the positives leave of each row is negative, in the order of this model
        smoothed so that the share of negatives does not fall with the rank.
        """
        n, pos = len(self.rows), self.labels * self.weight if self.known else self.labels
        if not self.known:
            return np.concatenate([np.maximum(pos, _LIGHT), 1.0 - self.labels])
        from scipy.optimize import isotonic_regression

        left, order = np.ones(len(score) - n), np.argsort(-score[n:], kind="stable")
        left[self.rows] -= pos
        if len(order := order[(self.size < self.whole)[self.stratum[order]]]):  # of the others each is known
            smooth = np.maximum(isotonic_regression(left[order]).x, 0.0)
            left[order] = smooth * (max(left[order].sum(), 0.0) / max(smooth.sum(), np.finfo(float).tiny))
        return np.concatenate([np.maximum(pos, _LIGHT), left])

    def gains(self, sample: Sample, measure: Any) -> F64:
        """Return by model what a positive in each labelled row adds to the measure, in place of negatives around it."""
        found, n = [], len(self.rows)
        for one in sample.models():
            (row,), each = measure.influences(one)[1], []
            classes = (row[:n], row[n:]), (one.weights[:n], one.weights[n:])
            for values, weight, moved in zip(*classes, measure.by_totals(one), strict=True):
                each.append((values - np.average(values, weights=weight) + moved) / weight.sum())
            found.append(each[0] - each[1][self.rows])
        return np.array(found)

    def covariance(self, gains: F64) -> F64:
        """Return the covariance of the estimates of models over the draws of the labelled rows.

        One pseudo positive is added where a logistic curve of the logarithm of the rank expects it, so that strata in
        which none was found have a variance.
        """
        share = self.size / self.whole
        moved = gains * self.labels
        if not self.known:  # expected: the labels of a stratum vary, and with them what they add
            mean = np.array([np.bincount(self.places, row, len(share)) for row in moved]) / self.whole
            scale = np.sqrt((self.whole * (1.0 - share) / share)[self.places] / self.whole[self.places])
            square = scale * gains * np.sqrt(self.labels)
            centre = mean * np.sqrt(self.whole * (1.0 - share) / share)
            return np.asarray(square @ square.T - centre @ centre.T)
        mean = np.array([np.bincount(self.places, row, len(share)) for row in moved]) / self.size
        spread = self.whole**2 * (1.0 - share) / self.size / np.maximum(self.size - 1.0, 1.0)
        apart = (moved - mean[:, self.places]) * np.sqrt(spread)[self.places]
        left = (1.0 - share[self.places]) * self.expected()
        pseudo = (
            gains * self.weight * np.sqrt(left / max(left.sum(), np.finfo(float).tiny) * (1.0 - share[self.places]))
        )
        return np.asarray(apart @ apart.T + pseudo @ pseudo.T)

    def expected(self) -> F64:
        """Return the probability of a positive in each labelled row, logistic in the logarithm of its rank."""
        x, weight = np.log(self.rank[self.rows]), self.weight
        x -= np.average(x, weights=weight)
        design, found = np.stack([np.ones_like(x), x]), np.zeros(2)
        for _ in range(_STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(found @ design, -_LARGEST, _LARGEST)))
            matrix = (design * (weight * p * (1.0 - p))) @ design.T + 1e-9 * np.eye(2)
            step = np.linalg.solve(matrix, design @ (weight * (self.labels - p)))
            found = found + np.clip(step, -2.0, 2.0)
        return np.asarray(p)

    def effective(self, gains: F64) -> F64:
        """Return the effective numbers of found positives: of models on the diagonal, of differences beside it."""
        weight = self.weight * (self.labels if self.known else 1.0)
        chance = np.ones_like(weight) if self.known else self.labels * (self.size / self.whole)[self.places]
        each = gains[:, None] - gains[None] if len(gains) > 1 else np.zeros((1, 1, len(weight)))
        np.einsum("iik->ik", each)[:] = gains
        c = np.abs(each) * weight
        total, square = c @ chance, c**2 @ chance
        return np.asarray(np.divide(total**2, square, out=np.zeros_like(total), where=square > 0))
