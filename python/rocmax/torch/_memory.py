"""The scores of past batches, so that a small batch sees a useful quantile of the negatives."""

import numpy as np

from rocmax._typing import F64, Bool


class Ring:
    """The last `size` scores of one class and their weights."""

    def __init__(self, size: int) -> None:
        self._scores, self._weights = np.empty(size), np.empty(size)
        self._next = self._held = 0

    @property
    def held(self) -> tuple[F64, F64]:
        """The scores and the weights, in any order."""
        return self._scores[: self._held], self._weights[: self._held]

    def add(self, scores: F64, weights: F64) -> None:
        """Replace the oldest scores by these."""
        size = len(self._scores)
        first = max(0, len(scores) - size)
        scores, weights = scores[first:], weights[first:]
        if not len(scores):
            return
        places = (self._next + np.arange(len(scores))) % size
        self._scores[places], self._weights[places] = scores, weights
        self._next = (self._next + len(scores)) % size
        self._held = min(size, self._held + len(scores))


class Memory:
    """A ring for each class."""

    def __init__(self, size: int) -> None:
        self._rings = {True: Ring(size), False: Ring(size)}

    def joined(self, scores: F64, positive: Bool, weight: F64) -> tuple[F64, Bool, F64]:
        """Return scores, classes and weights of these samples, followed by the past ones."""
        past = [(*ring.held, label) for label, ring in self._rings.items()]
        return (
            np.concatenate([scores, *(s for s, _, _ in past)]),
            np.concatenate([positive, *(np.full(len(s), label) for s, _, label in past)]),
            np.concatenate([weight, *(w for _, w, _ in past)]),
        )

    def add(self, scores: F64, positive: Bool, weight: F64) -> None:
        """Keep samples of positive weight."""
        for label, ring in self._rings.items():
            rows = (positive == label) & (weight > 0)
            ring.add(scores[rows], weight[rows])
