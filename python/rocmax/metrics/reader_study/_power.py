"""Power and sample size of a reader study, from the variance components of a pilot study."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64, check_level, number
from rocmax._parameters import shown
from rocmax.metrics import _words as words
from rocmax.metrics._references import REFERENCES, cited
from rocmax.metrics.intervals._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.reader_study._analysis import NO_VARIANCE, mrmc_analysis
from rocmax.metrics.reader_study._readings import Readings
from rocmax.metrics.reader_study._result import MRMCAnalysis
from rocmax.metrics.results._result import Planning

_MOST_CASES = 1 << 40
_FAR = 1e3  # a difference so many times the critical one is always found


@cited("hillis-power")
def mrmc_power(
    pilot: MRMCAnalysis | Readings,
    *,
    difference: float,
    n_readers: ArrayLike | None = None,
    n_cases: ArrayLike | None = None,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
    margin: float | None = None,
) -> Any:
    """Return the power of a study that compares two modalities, for given numbers of readers and cases.

    Use it with a pilot study to plan the next one; :func:`mrmc_sample_size` returns the number of cases.

    >>> from rocmax.metrics import mrmc_analysis, mrmc_power
    >>> truth = [0, 0, 0, 1, 1, 1] * 4
    >>> rating = [1, 2, 3, 2, 4, 5] + [1, 1, 2, 3, 4, 4] + [2, 1, 3, 1, 5, 4] + [1, 3, 2, 2, 4, 3]
    >>> names = {"reader": ["Ann"] * 6 + ["Bea"] * 6 + ["Ann"] * 6 + ["Bea"] * 6, "case": [1, 2, 3, 4, 5, 6] * 4}
    >>> pilot = mrmc_analysis(truth, rating, modality=["CT"] * 12 + ["MR"] * 12, **names)
    >>> mrmc_power(pilot, difference=0.05, n_readers=[2, 4], n_cases=50).round(2)
    array([0.09, 0.22])

    Parameters
    ----------
    pilot : MRMCAnalysis or Readings
        The result of :func:`mrmc_analysis` for two or more modalities. The planned study has the same share of positive
        cases, and random or fixed readers and cases as in the pilot. Readings stand for ``mrmc_analysis(pilot)``.
    difference : float
        The true difference between the modalities.
    n_readers, n_cases : int or array-like of int, default=None
        Numbers of readers and cases in the planned study, by default as in the pilot. Arrays are broadcast. If
        the pilot has clusters, `n_cases` counts clusters.
    significance_level : float, default=0.05
        Level of the test; for equivalence, of each of the two one-sided tests.
    alternative, margin : optional
        As in :func:`mrmc_analysis`.

    Returns
    -------
    float or ndarray
        Probability that the test rejects; for equivalence, a lower bound.

    Notes
    -----
    The pilot with N cases gives ``C = max(Cov2 - Cov3, 0)`` and ``s = max(MS(TR) - Var + Cov1 + C, 0)``. With r
    readers and n cases, ``c = N / n``, the error term has expectation ``D = s + c (Var - Cov1 + (r - 1) C)`` and ``(r
    - 1) D^2 / (s + c (Var - Cov1 - C))^2`` degrees of freedom. The statistic has a noncentral t distribution with
    noncentrality ``difference / sqrt(2 D / r)`` [1]_, for non-inferiority of the difference plus the margin. For fixed
    readers s is 0 and the degrees of freedom are infinite; for fixed cases ``D = s + c (Var - Cov1 - C)`` with r - 1
    degrees of freedom.
    """
    study, level = _checked(pilot, difference, significance_level)
    hypothesis = parse_hypothesis(alternative, margin, study.measure)
    least = 2 if study.random_readers else 1
    readers = _counts(n_readers, len(study.readers), "n_readers", least)
    cases = _counts(n_cases, study.n_units, "n_cases", 4)
    try:
        np.broadcast_shapes(readers.shape, cases.shape)
    except ValueError:
        raise ValueError(
            f"n_readers and n_cases must have shapes that broadcast, got {readers.shape} and {cases.shape}: for every"
            " pair, make one of them a column, such as np.array(n_readers)[:, None]"
        ) from None
    found = _power(study, float(difference), readers, cases, level, hypothesis)
    return float(found) if found.ndim == 0 else found


@dataclass(frozen=True, repr=False, eq=False)
class StudySize(Planning):
    """Number of cases that a study of two modalities needs.

    Attributes
    ----------
    n_cases, n_readers : int
        The numbers.
    n_pos, n_neg : int
        Positive and negative cases, in the proportion of the pilot.
    difference, power, significance_level, alternative, margin
        The requested test and power.
    """

    n_cases: int
    n_readers: int
    n_pos: int
    n_neg: int
    difference: float
    power: float
    significance_level: float = 0.05
    alternative: str = "two-sided"
    margin: float | None = None

    def _lines(self) -> list[str]:
        readers = f"{self.n_readers} reader{'s' * (self.n_readers > 1)}"
        cases = f"{self.n_cases:,} cases ({self.n_pos:,} positive, {self.n_neg:,} negative)"
        claim = self._claim("0", "is not")
        return [f"{readers} and {cases} are enough to show that a difference of {self.difference:g} {claim}"]

    def _basis(self) -> list[str]:
        return [self._power(words.digits(self.power, 2)), REFERENCES["hillis-power"].short]

    def _sources(self) -> tuple[str, ...]:
        return ("hillis-power",)


def mrmc_sample_size(
    pilot: MRMCAnalysis | Readings,
    *,
    difference: float,
    power: float = 0.8,
    n_readers: int | None = None,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
    margin: float | None = None,
) -> StudySize:
    """Return how many cases a study that compares two modalities needs for a given power.

    It is the inverse of :func:`mrmc_power`.

    >>> import numpy as np
    >>> from rocmax.metrics import mrmc_analysis, mrmc_sample_size
    >>> reader, modality, case = (axis.ravel() for axis in np.indices((4, 2, 60)))
    >>> truth, draw = case % 2, np.random.default_rng(0).normal(size=(60, 9))
    >>> rating = (1 + modality) * truth + draw[case, 0] + draw[case, 1 + 2 * reader + modality]
    >>> pilot = mrmc_analysis(truth, rating, reader=reader, modality=modality, case=case)
    >>> print(mrmc_sample_size(pilot, difference=0.05, n_readers=8))
    8 readers and 469 cases (234 positive, 235 negative) are enough to show that a difference of 0.05 is not 0
    power 0.80 at the two-sided level 0.05; Hillis et al. 2011

    Parameters
    ----------
    pilot, difference, significance_level, alternative, margin : optional
        As in :func:`mrmc_power`.
    power : float in (0, 1), default=0.8
        The required probability that the test rejects.
    n_readers : int, default=None
        Number of readers, by default as in the pilot.

    Returns
    -------
    StudySize
        The smallest number of cases, `n_cases`, with the same share of positive cases as in the pilot, and two or more
        of either class.
    """
    study, level = _checked(pilot, difference, significance_level)
    hypothesis = parse_hypothesis(alternative, margin, study.measure)
    check_level(power, "power")
    readers = _counts(n_readers, len(study.readers), "n_readers", 2 if study.random_readers else 1)
    if readers.ndim:
        raise ValueError(f"n_readers must be one number, got {shown(n_readers)}")

    def enough(n: int) -> bool:
        return bool(_power(study, float(difference), readers, np.array(float(n)), level, hypothesis) >= power)

    share = study.n_pos / (study.n_pos + study.n_neg)
    least = max(4, int(1.5 / min(share, 1 - share)))
    while min(round(least * share), least - round(least * share)) < 2:  # which every reader needs
        least += 1
    least += bisect_left(range(least, _MOST_CASES), True, key=enough)
    if least == _MOST_CASES:
        raise ValueError(
            f"power={power:g} cannot be reached with n_readers={int(readers)}, with any number of cases; use more"
            " readers"
        )
    n_pos = round(least * share)
    options = float(difference), float(power), significance_level, alternative, hypothesis.margin
    return StudySize(least, int(readers), n_pos, least - n_pos, *options)


def _checked(pilot: Any, difference: Any, significance_level: Any) -> tuple[MRMCAnalysis, float]:
    if isinstance(pilot, Readings):
        pilot = mrmc_analysis(pilot)
    if not isinstance(pilot, MRMCAnalysis) or len(pilot.modalities) < 2:
        raise ValueError("pilot must be a result of mrmc_analysis, or Readings, for two or more modalities")
    if pilot.no_interval:
        raise ValueError(
            f"pilot has no covariances ({pilot.no_interval}): give mrmc_analysis covariance='jackknife', or use a pilot"
            " with more cases"
        )
    span = min(np.subtract(*pilot.measure.bounds[::-1]), 1e100)  # above, its square overflows
    number(difference, "difference", f"of at most {span:g} for {pilot.measure}", lambda value: abs(value) <= span)
    level = number(significance_level, "significance_level", "in (0, 0.5]", lambda value: 0.0 < value <= 0.5)
    return pilot, level


def _counts(values: Any, usual: int, name: str, least: int) -> F64:
    counts = unmasked(usual if values is None else values, name)
    if counts.dtype.kind not in "iu" or not counts.size or (counts < least).any():
        raise ValueError(f"{name} must be whole numbers of at least {least}, got {shown(values)}")
    return counts.astype(float)


def _power(
    pilot: MRMCAnalysis, difference: float, readers: F64, cases: F64, level: float, hypothesis: Hypothesis
) -> F64:
    error, df = _expected(pilot, readers, cases)
    law = Law(None if np.isinf(df).all() else df)

    def below(critical: F64, shift: float) -> F64:
        """Return the probability that the statistic is below `critical`, for a difference `shift` from the null."""
        centre = shift / error
        if law.df is None:
            return np.asarray(law.cdf(critical - centre))
        far = _FAR * (1 + np.abs(critical))
        near = special.nctdtr(df, np.clip(centre, -far, far), critical)
        # SciPy has NaN for some probabilities within 1e-14 of 0 and 1.
        return np.where((np.abs(centre) < far) & ~np.isnan(near), near, centre < 0)

    distance = difference - hypothesis.limit
    if hypothesis.alternative == "equivalence" and hypothesis.margin is not None:
        critical = law.quantile(1 - level)
        rejected = below(-critical, distance - hypothesis.margin) - below(critical, distance + hypothesis.margin)
        return np.maximum(rejected, 0.0)
    if hypothesis.alternative == "two-sided":
        critical = law.quantile(1 - level / 2)
        return 1 - below(critical, distance) + below(-critical, distance)
    critical = law.quantile(1 - level)
    return below(-critical, distance) if hypothesis.side < 0 else 1 - below(critical, distance)


def _expected(pilot: MRMCAnalysis, readers: F64, cases: F64) -> tuple[F64, F64]:
    """Return the expected standard error of a difference and its degrees of freedom."""
    part = {name: float(np.nan_to_num(value)) for name, value in pilot.components.items()}
    common = max(part["cov2"] - part["cov3"], 0.0)
    own = part["var"] - part["cov1"]
    varied = max(part["ms_interaction"] - own + common, 0.0) if pilot.random_readers else 0.0
    scale = pilot.n_units / cases
    within = np.maximum(varied + scale * (own - common), 0.0) + 0 * readers
    whole = varied + scale * (own + (readers - 1) * common)
    square = within if pilot.random_readers and not pilot.random_cases else whole
    if not (square > NO_VARIANCE).all():
        raise ValueError(
            f"the variance from pilot is {square.min():.2g}, for example because no reading is wrong; use a pilot with"
            " more readers or cases"
        )
    if not pilot.random_readers:
        df = np.full(whole.shape, np.inf)
    elif not pilot.random_cases:
        df = readers - 1 + 0 * within
    else:
        with np.errstate(divide="ignore"):
            df = (readers - 1) * (whole / within) ** 2
    return np.sqrt(2 * square / readers), df
