"""Tests of two models that count or permute: McNemar's at a threshold, and Venkatraman's of whole curves."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Law, Limits, Tails, last_held, wilson
from rocmax.metrics.measures.at_threshold import AtThreshold
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Known, Method, binary
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample, explain
from rocmax.metrics.variances._components import covariance_of
from rocmax.metrics.variances._resample import check_resamples

_TESTED = ("sensitivity", "specificity", "accuracy")


@dataclass(frozen=True)
class McNemar(Method):
    """McNemar's exact test (1947) of two models of the same samples, for sensitivity, specificity or accuracy.

    Of the d samples that one model alone calls rightly, the first model has b, binomial of d and 1/2 if both are
    equally good. The interval of the difference is ``d (2 t - 1) / n`` for the limits of t of Clopper and Pearson, n
    the number of the samples that are called (positives, negatives or all), so that it excludes 0 where the test does.
    """

    name: ClassVar[str] = "mcnemar"
    needs: ClassVar[frozenset[Trait]] = frozenset({Trait.THRESHOLD})
    share: ClassVar[float] = 1.0  # of the probability of b itself in a tail

    def check(self, measure: Measure, data: Known, takers: dict[str, type[Method]]) -> None:
        if not (isinstance(measure, AtThreshold) and measure.name in _TESTED):
            raise ValueError(f"method={self.name!r} needs AtThreshold(name, threshold) of {_TESTED}, got {measure!r}")
        super().check(measure, data, takers)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        data = binary(sample)
        assert isinstance(measure, AtThreshold)
        if data.weight is not None:
            raise ValueError(f"method={self.name!r} counts samples: it takes no weights")
        of_kind = np.array([measure.called(one) == one.positive for one in data.models()])
        right = of_kind[:, {"sensitivity": data.positive, "specificity": ~data.positive}.get(measure.name, slice(None))]
        both = right.astype(np.float64)
        alone = both @ (1.0 - both).T  # row by row, what the first model has right and the second has not
        size = right.shape[1]

        def pairwise(first: Any, second: Any) -> Limits:
            return self.limits(alone[first, second], alone[second, first], size)

        return Covariance(*covariance_of(data, measure))._replace(pairwise=pairwise)

    def limits(self, b: F64, c: F64, size: float) -> Limits:
        """Return the limits of ``(b - c) / size``, for the numbers of samples that one model alone has right."""
        from scipy import special  # takes a while to import

        d = b + c
        some, whole = d > 0, np.maximum(d, 1.0)

        def tail(k: F64, t: Any) -> F64:
            """Return the probability of k or more in d of probability t, with the share of that of k itself."""
            more = np.where(k < d, special.betainc(k + 1, np.maximum(d - k, 1.0), t), 0.0)
            least = np.where(k > 0, special.betainc(np.maximum(k, 1.0), d - k + 1, t), 1.0)
            return np.where(some, more + self.share * (least - more), 1.0)

        def ends(z: Any) -> tuple[F64, F64]:
            level, none = Law().cdf(-np.asarray(z, dtype=np.float64)), wilson(0.0, size, z)[1]
            middle = np.where(some, b / whole, 0.5)
            low = last_held(middle, np.zeros_like(middle), lambda t: tail(b, t) - level)
            high = last_held(middle, np.ones_like(middle), lambda t: tail(c, 1.0 - t) - level)
            # Models that never differ have the limits of none in as many samples.
            low, high = (np.where(some, d * (2 * t - 1) / size, s * none) for t, s in ((low, -1), (high, 1)))
            return low, high

        def tails(null: float) -> Tails:
            t = np.clip((null * size / whole + 1) / 2, 0.0, 1.0)
            return Tails((b - c - null * size) / np.sqrt(whole), tail(c, 1.0 - t), tail(b, t))

        return Limits(ends, tails)


@dataclass(frozen=True)
class McNemarMidP(McNemar):
    """The same with half of the probability of b in either tail (mid-p; Fagerland et al., 2013)."""

    name: ClassVar[str] = "mcnemar-midp"
    share: ClassVar[float] = 0.5


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
