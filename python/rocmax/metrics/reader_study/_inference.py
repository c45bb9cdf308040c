"""Analysis of variance of a reader study (Obuchowski and Rockette, Hillis): means, differences and their tests."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._hypothesis import Hypothesis
from rocmax.metrics.intervals._interval import Law, Limits, wald, wald_limits
from rocmax.metrics.intervals._joint import f_tail
from rocmax.metrics.reader_study._readings import Readings
from rocmax.metrics.reader_study._result import ModalityDifference, ModalityMean
from rocmax.metrics.reader_study._rows import plain
from rocmax.metrics.results._inference import ConfidenceInterval

# Variances up to this are rounding errors.
NO_VARIANCE = 1e-28


class ErrorTerm(NamedTuple):
    """The mean square in the denominator of a test, and its degrees of freedom."""

    square: float
    df: float


class Anova(NamedTuple):
    """Mean squares and covariances of a study, or of one of its modalities."""

    n_modalities: int
    n_readers: int
    ms_modality: float
    ms_reader: float
    ms_interaction: float
    var: float
    cov1: float
    cov2: float
    cov3: float

    @property
    def between_readers(self) -> float:
        """``max(Cov2 - Cov3, 0)``: the covariance of two readers that is specific to one modality."""
        return max(float(np.nan_to_num(self.cov2) - np.nan_to_num(self.cov3)), 0.0)

    @property
    def components(self) -> dict[str, float]:
        """The covariances and the mean squares by name."""
        return {name: value for name, value in self._asdict().items() if not name.startswith("n_")}

    def error(self, random_readers: bool, random_cases: bool) -> ErrorTerm:
        """Return the expected mean square of the modalities if they have equal means."""
        t, r = self.n_modalities, self.n_readers
        if random_cases and np.isnan(self.var):  # refused
            return ErrorTerm(np.nan, np.nan)
        if not random_readers:
            return ErrorTerm(self.var - np.nan_to_num(self.cov1) + (r - 1) * self.between_readers, np.inf)
        # With one modality there is no interaction; the readers are the only random term.
        own, df = (self.ms_interaction, (t - 1) * (r - 1)) if t > 1 else (self.ms_reader, r - 1)
        if not random_cases:
            return ErrorTerm(own, float(df))
        whole = own + r * self.between_readers
        return ErrorTerm(whole, float(df * (whole / own) ** 2) if own > 0 else np.inf)


def anova(theta: F64, covariance: F64) -> Anova:
    """Return the analysis of variance of estimates of shape (n_modalities, n_readers)."""
    t, r = theta.shape
    of_modality, of_reader, overall = theta.mean(axis=1), theta.mean(axis=0), theta.mean()
    left = theta - of_modality[:, None] - of_reader + overall
    by_test = covariance.reshape(t, r, t, r)
    same_modality = np.eye(t, dtype=bool)[:, None, :, None] & np.ones((t, r, t, r), dtype=bool)
    same_reader = np.eye(r, dtype=bool)[None, :, None, :] & np.ones((t, r, t, r), dtype=bool)

    def mean(of: NDArray[np.bool_]) -> float:
        return float(by_test[of].mean()) if of.any() else np.nan

    def mean_square(squares: F64, times: int, df: int) -> float:
        return float(times * squares.sum() / df) if df else np.nan

    return Anova(
        t,
        r,
        mean_square((of_modality - overall) ** 2, r, t - 1),
        mean_square((of_reader - overall) ** 2, t, r - 1),
        mean_square(left**2, 1, (t - 1) * (r - 1)),
        mean(same_modality & same_reader),
        mean(~same_modality & same_reader),
        mean(same_modality & ~same_reader),
        mean(~same_modality & ~same_reader),
    )


def joint_test(table: Anova, error: ErrorTerm) -> tuple[float, tuple[float, float], float]:
    """Test equal means: F, or chi-square if the error has infinite df. Return the statistic, df and the p-value."""
    between = table.n_modalities - 1
    if error.square < 0:
        return np.nan, (float(between), error.df), np.nan
    with np.errstate(divide="ignore"):
        f = 0.0 if table.ms_modality == 0 else float(np.float64(table.ms_modality) / error.square)
    statistic = between * f if np.isinf(error.df) else f
    return statistic, (float(between), error.df), f_tail(between, error.df, f)


def one_shot_variances(theta: F64, covariance: F64) -> tuple[float, ...]:
    """Return Gallas's variance of each difference, or mean of a modality: squared mean less that of unlike kernels."""
    t, r = theta.shape
    by_test = covariance.reshape(t, r, t, r)
    signs = [np.ones(1)] if t == 1 else [np.eye(t)[a] - np.eye(t)[b] for a, b in combinations(range(t), 2)]
    other = ~np.eye(r, dtype=bool)
    found = []
    for sign in signs:
        of_reader = sign @ theta
        between = np.einsum("a,arbs,b->rs", sign, by_test, sign)[other].mean()
        found.append(float(of_reader.var(ddof=1) / r + between))
    return tuple(found)


class Test(NamedTuple):
    """The name of the statistic, the statistic, its degrees of freedom and the p-value."""

    distribution: str
    statistic: float
    df: tuple[float, float]
    pvalue: float


class Options(NamedTuple):
    """What is random, the hypothesis, the level of the intervals and the bounds of the measure."""

    random: tuple[bool, bool]  # readers, cases
    hypothesis: Hypothesis
    level: float
    bounds: tuple[float, float]

    @property
    def of_difference(self) -> tuple[float, float]:
        """The bounds of a difference of two values of the measure."""
        least, most = self.bounds
        return least - most, most - least

    def described(self) -> dict[str, Any]:
        """Return what a result says of them."""
        return {
            "random_readers": self.random[0],
            "random_cases": self.random[1],
            "confidence_level": self.level,
            "alternative": self.hypothesis.alternative,
            "margin": self.hypothesis.margin,
        }


def _standard_error(square: float, n_readers: int, times: int) -> float:
    return float(np.sqrt(times * square / n_readers)) if square >= 0 else np.nan


def _law(df: float) -> Law:
    return Law(None if np.isinf(df) else df)


def _interval(limits: Limits, level: float) -> ConfidenceInterval:
    return ConfidenceInterval(*map(float, limits.at(level)))


def _mean(name: Any, mean: float, standard_error: float, df: float, options: Options) -> ModalityMean:
    limits = wald_limits(mean, standard_error, _law(df), options.bounds)
    return ModalityMean(plain(name), mean, standard_error, df, _interval(limits, options.level))


def mean_of(name: Any, theta: F64, covariance: F64, i: int, options: Options) -> ModalityMean:
    """Return the mean of a modality, with the mean square and the covariances of that modality only."""
    rows = slice(i * len(theta), (i + 1) * len(theta))
    error = anova(theta[None], covariance[rows, rows]).error(*options.random)
    standard_error = _standard_error(error.square, len(theta), 1)
    return _mean(name, float(theta.mean()), standard_error, error.df, options)


def differences_of(study: Readings, theta: F64, error: ErrorTerm, options: Options) -> list[ModalityDifference]:
    """Return the difference of every pair of modalities, tested with one error term."""
    means, standard_error = theta.mean(axis=1), _standard_error(error.square, study.n_readers, 2)
    return [
        _difference(study.modalities[[a, b]], means[a] - means[b], standard_error, error.df, options)
        for a, b in combinations(range(study.n_modalities), 2)
    ]


def against_algorithm(
    study: Readings, theta: F64, of_algorithm: tuple[float, float], error: ErrorTerm, options: Options
) -> tuple[ModalityMean, ModalityDifference]:
    """Return the value of a stand-alone algorithm, and the mean of the readers minus it."""
    value, standard_error = of_algorithm
    names = (study.modalities[0], study.readers[-1])
    spread = _standard_error(error.square, theta.size, 1)
    pair = _difference(names, theta.mean() - value, spread, error.df, options)
    return _mean(names[1], value, standard_error, np.inf, options), pair


def _difference(names: Any, difference: Any, standard_error: float, df: float, options: Options) -> ModalityDifference:
    difference = float(difference)
    limits = wald_limits(difference, standard_error, _law(df), options.of_difference)
    statistic, pvalue = map(float, options.hypothesis.test(limits.tails))
    interval = _interval(limits, options.level)
    first, second = map(plain, names)
    return ModalityDifference(first, second, difference, standard_error, df, interval, statistic, pvalue)


def deciding_intervals(
    tested: tuple[ModalityDifference, ...] | tuple[ModalityMean, ...], options: Options
) -> tuple[ConfidenceInterval, ...] | None:
    """Return the intervals that lie within the margin if both one-sided tests at ``1 - level`` reject."""
    if options.hypothesis.alternative != "equivalence" or options.level <= 0.5:
        return None
    found = []
    for row in tested:
        value, bounds = (
            (row.mean, options.bounds) if isinstance(row, ModalityMean) else (row.difference, options.of_difference)
        )
        limits = wald_limits(value, row.standard_error, _law(row.df), bounds)
        found.append(_interval(limits, 2 * options.level - 1))
    return tuple(found)


def mean_test(mean: ModalityMean, hypothesis: Hypothesis) -> Test:
    statistic, pvalue = map(float, hypothesis.test(wald(mean.mean, mean.standard_error, _law(mean.df))))
    return _of_one(statistic, mean.df, pvalue, hypothesis)


def _of_one(statistic: float, df: float, pvalue: float, hypothesis: Hypothesis) -> Test:
    """Return the test of one number: the square of the statistic for a two-sided test, else with its sign."""
    normal = bool(np.isinf(df))
    if hypothesis.alternative == "two-sided":
        return Test("chi-square" if normal else "F", statistic**2, (1.0, df), pvalue)
    return Test("normal" if normal else "t", statistic, (1.0, df), pvalue)


def difference_test(
    differences: tuple[ModalityDifference, ...], table: Anova, error: ErrorTerm, hypothesis: Hypothesis
) -> Test:
    """Return the joint test of equal means; with two modalities, the test of their difference."""
    if len(differences) > 1:
        statistic, df, pvalue = joint_test(table, error)
        return Test("chi-square" if np.isinf(df[1]) else "F", statistic, df, pvalue)
    (pair,) = differences
    return _of_one(pair.statistic, pair.df, pair.pvalue, hypothesis)
