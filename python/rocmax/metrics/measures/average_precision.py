"""Average precision: the mean, over the positives, of the precision at their scores."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Gain
from rocmax.metrics.measures._ranking import by_prevalence
from rocmax.metrics.measures.base import Trait
from rocmax.metrics.measures.ranked import MeanMeasure
from rocmax.metrics.samples._sample import Sample, call

# Positives: with fewer, at a prevalence of 1 to 10 %, the measured bias is a quarter to a whole standard error.
_FEW = 20


@dataclass(frozen=True, repr=False)
class AveragePrecision(MeanMeasure):
    """Average precision, the mean of the precision at the scores of the positives; scikit-learn's value.

    Use it if positives are rare, the top of the ranking counts, and the share of positives is that in use.

    Variances and intervals treat the prevalence as fixed, unless sampling weights estimate it. With few positives AP is
    biased upwards, because a positive counts in its own precision; below 20 there is a warning.

    >>> from rocmax.metrics import AveragePrecision
    >>> round(AveragePrecision()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333

    Parameters
    ----------
    prevalence : float in (0, 1), default=None
        The share of positives where the model will be used; None means that of the samples.

    Notes
    -----
    With A_k and B_k the true and the false positive rate at the k-th distinct score, a_k the share of the positives
    that have it and pi the prevalence, ``AP = sum_k a_k g_k`` with the precision
    ``g_k = pi A_k / (pi A_k + (1 - pi) B_k)``. A random ranking has the prevalence as its value. O(n log n) at most.

    The components of a positive and of a negative at the j-th distinct score, the derivatives of AP by a_j and b_j, are

    - ``g_j + sum_{k >= j} a_k pi (1 - pi) B_k / (pi A_k + (1 - pi) B_k)^2`` and
    - ``-sum_{k >= j} a_k pi (1 - pi) A_k / (pi A_k + (1 - pi) B_k)^2``.
    """

    name: ClassVar[str] = "average_precision"
    traits = frozenset({Trait.COMPONENTS, Trait.RANKING})
    bounds = 0.0, 1.0
    least_variance: ClassVar[float] = 1e-3  # with all positives last its components vary, but not with the scores
    # Not monotone: a positive that joins lower ones of its score raises their precision
    prevalence: float | None = None

    def __post_init__(self) -> None:
        if self.prevalence is not None:
            self._read_number("prevalence", "in (0, 1)", lambda value: 0.0 < value < 1.0)

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.average_precision(self.prevalence)

    def __str__(self) -> str:
        return "average precision" + ("" if self.prevalence is None else f" at prevalence {self.prevalence:g}")

    @property
    def short(self) -> str:
        return "AP" + ("" if self.prevalence is None else f" at {self.prevalence:g}")

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return self.of_two(0.0, sizes)

    def components(self, sample: Sample) -> Any:
        return self.influences(sample)[1][0]

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        estimate, values = call(_core.components, sample, self.in_core, sample.threads)
        return estimate, values.reshape(len(estimate), -1)

    def moments(self, sample: Sample) -> tuple[float, F64, F64]:
        value, squares, cubes = sample.once(("moments", self), lambda: sample.ranking().moments(self.in_core))
        return value, np.asarray(squares), np.asarray(cubes)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        return by_prevalence(self, sample) if self.prevalence is None else (0.0, 0.0)

    def gain(self, prevalence: float, width: float) -> Gain:
        pi = prevalence if self.prevalence is None else self.prevalence
        return _core.Gain.precision(pi)

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        if sizes[0] >= _FEW:
            return None
        return f"average precision is biased upwards with few positives, of which there are {sizes[0]:.3g}"
