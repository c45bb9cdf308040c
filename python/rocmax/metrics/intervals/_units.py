"""How many independent samples of equal weight vary as much as clusters or weighted samples: see `_effective`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import counted
from rocmax.metrics.samples._sample import Sample

PRIOR = 3.0  # clusters, or weighted samples


class Units(NamedTuple):
    """The clusters of a class, or its weighted samples: sums of components, and the greatest 1 / n."""

    sums: F64
    of_one: float  # the variance of the components
    most: float
    known: float  # at most so many decide V
    n_units: int

    @property
    def freedom(self) -> float:
        """How many of them decide V: its degrees of freedom."""
        return freedom_of_squares(float(self.sums @ self.sums), float(self.sums**2 @ self.sums**2), self.n_units)

    @property
    def size(self) -> float:
        """The effective size of the class."""
        found = self.most
        variance = float(self.sums @ self.sums) * self.n_units / max(self.n_units - 1, 1)
        if variance > 0:
            known = min(self.freedom, 1.0 / self.most, self.known)
            found = (PRIOR * self.most + known / (1.0 + self.of_one / variance)) / (PRIOR + known)
        return counted(1.0 / found)


def freedom_of_squares(second: float, fourth: float, count: float) -> float:
    """Return the degrees of freedom of a sum of `count` squares (Satterthwaite, 1946) from those of powers 2 and 4."""
    spare = fourth / second**2 - 1.0 / count if second**2 > 0 else np.inf
    return min(2.0 / spare, count) if spare > 0 else float(count)


def greatest(weight: F64, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the greatest weight that a positive and a negative may have."""
    classes = weight[positive], weight[~positive]
    pos, neg = (float(of_class.max()) for of_class in classes)
    apart = min(pos, neg) < max(float(of_class.min()) for of_class in classes)
    return (pos, neg) if apart else (max(pos, neg), max(pos, neg))


def prevalence_size(sample: Sample) -> float:
    """Return the effective number of samples for the prevalence, a ratio of sums of sampling weights."""
    share, pi = sample.weights / sum(sample.totals), sample.totals[0] / sum(sample.totals)
    most = float(share.max())
    known = min(pi, 1.0 - pi) / most  # heavy samples of one class alone show no variance
    return Units(share * (sample.positive - pi), pi * (1.0 - pi), most, known, sample.n_counted).size
