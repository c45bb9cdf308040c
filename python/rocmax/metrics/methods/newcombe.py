"""Newcombe's interval for an AUC, which needs only its value and the class sizes."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, last_held, tails_of, within
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Interval, Method, binary
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._effective import sizes_of_models


@dataclass(frozen=True)
class Newcombe(Method):
    """Score interval of the AUC (Newcombe, 2006, method 5), which holds with few positives and for a perfect ranking.

    Notes
    -----
    All A with ``(A - AUC)^2 <= z^2 V(A)``: V(A) is Hanley and McNeil's variance made symmetric in the classes, which
    needs no components. Clusters and sampling weights have their effective class sizes.
    """

    name: ClassVar[str] = "newcombe"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.AUC})
    sampling = groups = counts = True

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        data = binary(sample)
        estimate, sizes = measure.estimates(data), sizes_of_models(data, measure)
        return Interval(estimate, newcombe_variance(estimate, *per_pair(sizes)), newcombe(estimate, sizes), self.name)


def per_pair(sizes: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return 1 / (m n) and ((m+n)/2 - 1) / (m n)."""
    n_pos, n_neg = sizes
    return 1 / (n_pos * n_neg), ((n_pos + n_neg) / 2 - 1) / (n_pos * n_neg)


def newcombe_variance(auc: F64, one: Any, more: Any) -> F64:
    """Return ``A (1-A) (one + more ((1-A)/(2-A) + A/(1+A)))``, Hanley and McNeil's variance made symmetric."""
    return np.asarray(auc * (1 - auc) * (one + more * ((1 - auc) / (2 - auc) + auc / (1 + auc))))


def newcombe(auc: F64, sizes: tuple[Any, Any]) -> Limits:
    """Return Newcombe's limits for class sizes."""
    return newcombe_limits(auc, *per_pair(sizes))


def newcombe_limits(auc: F64, one: Any, more: Any) -> Limits:
    """Return the limits of all A with ``|A - auc| <= z sqrt(V(A))``, V the variance at A: never a point."""

    def ends(z: Any) -> tuple[F64, F64]:
        def gap(a: F64) -> F64:
            return np.asarray(z * np.sqrt(newcombe_variance(a, one, more)) - np.abs(a - auc))

        low, high = (last_held(auc, np.full_like(auc, outer), gap) for outer in (0.0, 1.0))
        return low, high

    def tails(null: float) -> Tails:
        return tails_of(auc - null, np.sqrt(newcombe_variance(np.full_like(auc, null), one, more)), Law())

    return Limits(ends, within(0.0, 1.0, tails))
