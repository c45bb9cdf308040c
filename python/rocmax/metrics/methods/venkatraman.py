"""Venkatraman's test that two ROC curves are equal everywhere."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rocmax import _core
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.methods.base import Method
from rocmax.metrics.samples._sample import Sample, explain
from rocmax.metrics.variances._resample import check_resamples


@dataclass(frozen=True)
class Venkatraman(Method):
    """Permutation test of equal ROC curves, not only of equal areas (Venkatraman and Begg, 1996; Venkatraman, 2000).

    Parameters
    ----------
    n_resamples : int, default=2000
        Number of permutations.

    Notes
    -----
    The statistic is ``E = 2 k int_0^1 |TPR_a(t) - TPR_b(t)| dt``, t the share of samples called positive and k that of
    positives, times n_samples^2 for models of the same samples, as in Venkatraman and Begg; ties count pro rata. The
    samples' places t are exchanged between the two scores of a sample or, for independent samples, between the samples
    of a class; the p-value is ``(1 + #{E* >= E}) / (1 + n_resamples)``.
    """

    name: ClassVar[str] = "venkatraman"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.AUC})

    n_resamples: int = 2000

    def __post_init__(self) -> None:
        check_resamples(self.n_resamples)

    @property
    def resampling(self) -> str:
        return f"{self.n_resamples:,} permutations"

    def distance(self, first: Sample, second: Sample, *, paired: bool, seed: int) -> tuple[float, float]:
        """Return the distance of two curves and its p-value."""
        for data in (first, second):
            explain(data)
        a, b = ((data.positive, data.score.astype(np.float64)) for data in (first, second))
        apart, permuted = _core.permuted_distances(*a, *b, paired, self.n_resamples, seed, first.threads)
        # Distances that differ by rounding only count as equal.
        as_large = np.count_nonzero(permuted >= apart * (1 - 1e-9))
        return apart * (len(first.y) ** 2 if paired else 1), float((1 + as_large) / (1 + self.n_resamples))
