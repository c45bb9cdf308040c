"""Early recognition: the positives that a screen of the highest scores finds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import Gain
from rocmax.metrics.measures._ranking import Ranking, by_prevalence, from_here, quotient
from rocmax.metrics.measures.cuts import CutMeasure
from rocmax.metrics.measures.ranked import Counts, MeanMeasure, RankedMeasure
from rocmax.metrics.samples._sample import Sample

_LEAST = float(np.finfo(float).tiny)  # divisor
_SATURATED = 5.0  # alpha times the share of positives: from here on most good rankings have nearly the same value
_LEAST_ALPHA = 1e-3  # below it the differences in BEDROC cancel


@dataclass(frozen=True, repr=False)
class EnrichmentFactor(CutMeasure):
    """Enrichment factor: the number of positives among the first samples, over that in a random draw of as many.

    Use it in virtual screening, if a share of the library can be tested.

    >>> from rocmax.metrics import EnrichmentFactor
    >>> round(EnrichmentFactor(0.2)([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 6)
    3.333333

    Parameters
    ----------
    fraction : float in (0, 1], default=0.01
        The share of the samples that is screened.

    Notes
    -----
    ``EF = sum_i share_i / (n fraction)`` over the n positives, share_i being that of positive i among the first
    `fraction` of all samples by descending score. It lies between 0 and the lesser of ``1 / fraction`` and
    ``1 / prevalence``; 1 is chance. It, its components and its interval are those of :class:`RecallAt` divided by the
    fraction; ties count as there. O(n log n).
    """

    name: ClassVar[str] = "enrichment_factor"
    is_share = False  # whatever the fraction
    fraction: float = 0.01

    def __post_init__(self) -> None:
        self._read_number("fraction", "in (0, 1]", lambda value: _LEAST <= value <= 1.0)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.fraction

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.enrichment_factor(self.fraction)

    def __str__(self) -> str:
        return f"enrichment factor at {100 * self.fraction:g} %"

    def alerts(self, sizes: Counts) -> float:
        return self.fraction * sum(sizes)

    def line(self, ranking: Ranking) -> tuple[float, float]:
        return 0.0, 1.0 / self.fraction

    read = RankedMeasure.read


@dataclass(frozen=True, repr=False)
class RIE(MeanMeasure, RankedMeasure):
    """Robust initial enhancement: how much earlier positives come than samples drawn at random.

    Use it in virtual screening; :class:`BEDROC` scales it to [0, 1].

    >>> from rocmax.metrics import RIE
    >>> round(RIE()([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    3.2723

    Parameters
    ----------
    alpha : float of at least 0.001, default=20.0
        The first ``1.6 / alpha`` of the samples, 8 % by default, have four fifths of the weight.

    Notes
    -----
    ``RIE = (1/n sum_i exp(-alpha r_i / N)) / (1/N sum_k exp(-alpha k / N))``, over the ranks r_i of the n positives by
    descending score among all N samples (Sheridan et al., 2001) [1]_; 1 is chance. All orders of tied scores are
    equally likely: with ranks a + 1 to a + t, each positive adds the mean of ``exp(-alpha k / N)`` over these ranks.
    O(n log n).

    Its components: with a_k the share of the positives at the k-th distinct score and C_k that of all samples there or
    above, ``RIE = sum_k a_k phi_k / (1 - exp(-alpha))``, phi_k the mean of ``alpha exp(-alpha x)`` over
    ``[C_{k-1}, C_k]``. A positive at the j-th adds phi_j and, as every sample does, moves all C_k of k >= j.

    References
    ----------
    .. [1] R. P. Sheridan, S. B. Singh, E. M. Fluder and S. K. Kearsley, "Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches", Journal of Chemical Information and Computer Sciences 41,
       2001. :doi:`10.1021/ci0100144`
    """

    name: ClassVar[str] = "rie"
    remedy: ClassVar[str] = "choose a smaller alpha"
    bounds = 0.0, np.inf
    alpha: float = 20.0

    def __post_init__(self) -> None:
        self._read_number("alpha", "of at least 0.001", lambda value: _LEAST_ALPHA <= value < np.inf)

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.rie(self.alpha)

    def __str__(self) -> str:
        return f"{self.name.upper()} (alpha {self.alpha:g})"

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        rate = self.alpha * sizes[0] / sum(sizes)
        if rate < _SATURATED:
            return None
        return f"alpha times the share of positives is {rate:.3g}, where {self.name.upper()} saturates"

    def _ends(self, prevalence: float) -> tuple[float, float]:
        """Return the RIE of all positives last and first."""
        p, alpha = prevalence, self.alpha
        most = float(np.expm1(-alpha * p) / (p * np.expm1(-alpha)))
        return float(np.exp(-alpha * (1.0 - p))) * most, most

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        pi, alpha = ranking.prevalence, self.alpha
        a, b = ranking.shares()
        width = pi * a + (1.0 - pi) * b
        end = np.cumsum(width)
        first, last = np.exp(-alpha * (end - width)), np.exp(-alpha * end)
        mean = quotient(first * -np.expm1(-alpha * width), width)
        # Derivatives of the mean by the two ends of the block; in narrow blocks the differences cancel.
        half = -(alpha**2) / 2 * first
        narrow = alpha * width < 1e-5
        by_start, by_end = (
            np.where(narrow, half, quotient(change, width)) for change in (mean - alpha * first, alpha * last - mean)
        )
        moved = from_here(a * (by_start + by_end)) - a * by_start
        scale = -np.expm1(-alpha)
        return (mean + pi * moved) / scale, (1.0 - pi) * moved / scale

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        return by_prevalence(self, sample)

    def near(self, sizes: Counts) -> float:
        # Positives that rank among negatives flatten the whole curve, not its top.
        return min(*sizes, sum(sizes) / self.alpha)

    def line(self, prevalence: float) -> tuple[float, float]:
        least, most = self._ends(prevalence)
        return least, most - least

    def gain(self, prevalence: float, width: float) -> Gain:
        alpha, (least, most) = self.alpha, self._ends(prevalence)
        density = alpha if width == 0 else np.expm1(alpha * width) / width
        top, base = density / (-np.expm1(-alpha) * (most - least)), least / (most - least)
        return _core.Gain.early(alpha, prevalence, top, base)


@dataclass(frozen=True, repr=False)
class BEDROC(RIE):
    """Boltzmann-enhanced discrimination of ROC (Truchon and Bayly, 2007).

    Use it in virtual screening, where the first compounds count most.

    >>> from rocmax.metrics import BEDROC
    >>> round(BEDROC()([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    0.9841

    Parameters
    ----------
    alpha : float of at least 0.001, default=20.0
        As in :class:`RIE`.

    Notes
    -----
    ``(RIE - RIE_min) / (RIE_max - RIE_min)``, with the :class:`RIE` and its values with all positives last and first:
    for the share p of positives ``RIE_max = (1 - exp(-alpha p)) / (p (1 - exp(-alpha)))`` and
    ``RIE_min = (1 - exp(alpha p)) / (p (1 - exp(alpha)))``. It lies between 0 and 1; chance is about ``1 / alpha``
    if ``alpha p`` is small and alpha large, so data sets with different shares cannot be compared [1]_. O(n log n).

    References
    ----------
    .. [1] J.-F. Truchon and C. I. Bayly, "Evaluating virtual screening methods: good and bad metrics for the "early
       recognition" problem", Journal of Chemical Information and Modeling 47, 2007. :doi:`10.1021/ci600426e`
    """

    name: ClassVar[str] = "bedroc"
    bounds = 0.0, 1.0

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.bedroc(self.alpha)

    def parts(self, ranking: Ranking, counts: Counts) -> tuple[F64, F64]:
        least, most = self._ends(ranking.prevalence)
        of_pos, of_neg = super().parts(ranking, counts)
        return of_pos / (most - least), of_neg / (most - least)

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        pi, alpha = self.weights(sample).prevalence, self.alpha
        least, most = self._ends(pi)
        by_most = most * (float(alpha * np.exp(-alpha * pi) / -np.expm1(-alpha * pi)) - 1.0 / pi)
        by_least = least * (alpha + by_most / most)
        ends = by_least + self._checked(sample) * (by_most - by_least)
        change = (RIE(alpha).by_totals(sample)[0] - pi * (1.0 - pi) * ends) / (most - least)
        return change, -change

    def line(self, prevalence: float) -> tuple[float, float]:
        return 0.0, 1.0
