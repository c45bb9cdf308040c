"""Analysis of variance of a reader study (Obuchowski and Rockette, Hillis): covariances, means, differences, tests."""

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._hypothesis import Hypothesis
from rocmax.metrics.intervals._interval import Law, Limits, wald, wald_limits
from rocmax.metrics.intervals._joint import f_tail
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.reader_study._readings import Readings
from rocmax.metrics.reader_study._result import ModalityDifference, ModalityMean
from rocmax.metrics.reader_study._rows import plain
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._sample import Sample, n_distinct
from rocmax.metrics.variances._binormal import fitted_covariance
from rocmax.metrics.variances._components import of_clusters
from rocmax.metrics.variances._resample import replicate, seed_of

# Number of kernel values of all tests that are in memory at a time.
_HELD = 1 << 22
# Variances up to this are rounding errors.
NO_VARIANCE = 1e-28


def estimates(study: Readings, measure: Measure) -> F64:
    """Return the estimate of every test, of shape (n_modalities, n_readers)."""
    values = [measure.estimates(data)[0] for _, data in study.tests()]
    return np.array(values).reshape(study.n_modalities, study.n_readers)


def delong(study: Readings, measure: Measure) -> F64:
    """Return ``sum_k u_ak u_bk`` over cases, u the centred component over ``sqrt(m (m - 1))``, m its class's size."""
    if study.group is not None:
        return _clustered(study, measure)
    found = np.zeros((study.n_tests, len(study.cases)))
    for row, (read, data) in zip(found, study.tests(), strict=True):
        row[read] = influence_of(data, measure) * np.sqrt(_corrections(data))
    return found @ found.T


def _clustered(study: Readings, measure: Measure) -> F64:
    """Return the covariance by sums of centred components over clusters of each test's cases (Obuchowski, 1997)."""
    n_groups, added_by_test = int(study.units.max()) + 1, []
    for read, data in study.tests():
        group, added = study.units[read], influence_of(data, measure)
        classes = [group[rows] for rows in (data.y, ~data.y)]
        sums = [np.bincount(of, added[rows], n_groups) for of, rows in zip(classes, (data.y, ~data.y), strict=True)]
        added_by_test.append(of_clusters(sums, [*map(n_distinct, classes)], n_distinct(group)))
    rows = np.array(added_by_test)
    return np.asarray(rows @ rows.T)


def jackknife(study: Readings, measure: Measure) -> F64:
    """Return ``(N - 1)/N sum_k (theta_a(k) - mean) (theta_b(k) - mean)``, theta(k) without case or cluster k."""
    units = study.units
    n_units = int(units.max()) + 1
    left = np.zeros((study.n_tests, n_units))
    for row, (read, data) in zip(left, study.tests(), strict=True):
        # For a mean over pairs theta(k) - theta = (theta - component) / (m - 1); influence = (component - theta) / m.
        if study.independent and measure.kernel(np.float64) is not None:
            row[read] = -influence_of(data, measure) * _corrections(data)
        else:
            whole, own = measure.estimates(data)[0], units[read]
            for unit in np.unique(own):
                row[unit] = measure.estimates(data.take(own != unit))[0] - whole
    left -= left.mean(axis=1, keepdims=True)
    return (n_units - 1) / n_units * left @ left.T


def _corrections(data: Sample) -> F64:
    """Return m / (m - 1) for every sample, m the size of its class."""
    return np.where(data.y, *(m / (m - 1) for m in map(np.count_nonzero, (data.y, ~data.y))))


def unbiased(study: Readings, measure: Measure) -> F64:
    """Return ``theta_a theta_b - M``, M the mean product of kernels that share no case (Gallas); O(K^2 m n)."""
    tests = study.scores.reshape(study.n_tests, -1)
    read = ~np.isnan(tests)
    pos, neg = tests[:, study.truth], tests[:, ~study.truth]
    of_pos, of_neg = (read[:, rows].astype(float) for rows in (study.truth, ~study.truth))
    n_pos, n_neg = of_pos.sum(axis=1), of_neg.sum(axis=1)
    # Sums of up to 2**22 products of halves are exact in single precision, which takes half the time.
    kernel = measure.kernel(np.float32 if neg.shape[1] <= _HELD else np.float64)
    if kernel is None:
        raise ValueError(
            "covariance='unbiased' needs a mean over pairs: the AUC, the scored AUC or the margin AUC, got"
            f" measure={measure!r}; use 'jackknife' or 'bootstrap'"
        )
    rows, columns = np.zeros(pos.shape), np.zeros(neg.shape)
    crossed = np.zeros((len(tests), len(tests)))
    step = max(1, _HELD // max(1, neg.size))
    for first in range(0, pos.shape[1], step):
        part = slice(first, first + step)
        values = kernel(pos[:, part, None], neg[:, None, :])
        rows[:, part] = values.sum(axis=2)
        columns += values.sum(axis=1)
        flat = values.reshape(len(tests), -1)
        crossed += flat @ flat.T
    sums = rows.sum(axis=1)
    products = np.multiply.outer(sums, sums) - rows @ rows.T - columns @ columns.T + crossed
    counted = (np.multiply.outer(n_pos, n_pos) - of_pos @ of_pos.T) * (
        np.multiply.outer(n_neg, n_neg) - of_neg @ of_neg.T
    )
    theta = sums / (n_pos * n_neg)
    return np.asarray(np.multiply.outer(theta, theta) - products / counted)


def bootstrap(study: Readings, measure: Measure, n_resamples: int, random_state: Any) -> F64:
    """Return the covariance over resamples of the cases, stratified and the same for all tests; clusters are whole."""
    seed = seed_of(random_state)
    if study.independent and study.complete and measure.draws:
        return np.atleast_2d(np.cov(replicate(study.all_tests(), measure, True, n_resamples, seed).T))
    rng = np.random.default_rng(seed)
    units = study.units
    with_positives = np.bincount(units, study.truth) > 0
    strata = [np.flatnonzero(with_positives), np.flatnonzero(~with_positives)]
    members = np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])
    theta = np.empty((n_resamples, study.n_tests))
    for row in theta:
        drawn = np.concatenate([members[k] for one in strata if len(one) for k in rng.choice(one, len(one))])
        row[:] = [measure.estimates(_drawn(data, read, drawn))[0] for read, data in study.tests()]
    return np.atleast_2d(np.cov(theta.T))


def _drawn(data: Sample, read: Any, drawn: Any) -> Sample:
    """Return the readings of the cases of a resample."""
    place = np.cumsum(read) - 1
    rows = place[drawn[read[drawn]]]
    if not 0 < np.count_nonzero(data.y[rows]) < len(rows):
        raise ValueError(
            "covariance='bootstrap' drew no case of one class for a reader, because too few cases are read by all"
            " readers; use 'delong' or 'jackknife'"
        )
    return data.take(rows)


def fitted(study: Readings, measure: Measure) -> F64:
    """Return the covariance under binormal curves fitted to the tests.

    The AUC uses the formula of the partial area over all rates. pROC's formula for the AUC exchanges the classes, which
    is wrong if these differ in number and standard deviation.
    """
    if not study.complete:
        raise ValueError("covariance='obuchowski' needs a complete study; some readings are missing")
    assert isinstance(measure, CurveMeasure)
    return fitted_covariance(study.all_tests(), measure, as_proc=False)


#: Each with what it needs of the measure, and whether it supports clusters and weights.
COVARIANCES: dict[str, tuple[Callable[..., F64], Trait | None, bool]] = {
    "delong": (delong, Trait.COMPONENTS, True),
    "jackknife": (jackknife, None, True),
    "unbiased": (unbiased, Trait.COMPONENTS, False),
    "bootstrap": (bootstrap, None, True),
    "obuchowski": (fitted, Trait.AREA, False),
}


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


def one_shot_variances(theta: F64, covariance: F64) -> tuple[float, ...]:
    """Return Gallas's variance of each difference, or mean of a modality: squared mean less that of unlike kernels."""
    t, r = theta.shape
    by_test = covariance.reshape(t, r, t, r)
    signs = [np.ones(1)] if t == 1 else [np.eye(t)[a] - np.eye(t)[b] for a, b in combinations(range(t), 2)]
    other = ~np.eye(r, dtype=bool)
    variances = []
    for sign in signs:
        of_reader = sign @ theta
        between = np.einsum("a,arbs,b->rs", sign, by_test, sign)[other].mean()
        variances.append(float(of_reader.var(ddof=1) / r + between))
    return tuple(variances)


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
    intervals = []
    for row in tested:
        value, bounds = (
            (row.mean, options.bounds) if isinstance(row, ModalityMean) else (row.difference, options.of_difference)
        )
        limits = wald_limits(value, row.standard_error, _law(row.df), bounds)
        intervals.append(_interval(limits, 2 * options.level - 1))
    return tuple(intervals)


def joint_test(table: Anova, error: ErrorTerm) -> Test:
    """Test equal means: F, or chi-square if the error has infinite df."""
    between, normal = table.n_modalities - 1, bool(np.isinf(error.df))
    name, df = "chi-square" if normal else "F", (float(between), error.df)
    if error.square < 0:
        return Test(name, np.nan, df, np.nan)
    with np.errstate(divide="ignore"):
        f = 0.0 if table.ms_modality == 0 else float(np.float64(table.ms_modality) / error.square)
    return Test(name, between * f if normal else f, df, f_tail(between, error.df, f))


def decisive_test(
    means: tuple[ModalityMean, ...],
    differences: tuple[ModalityDifference, ...],
    table: Anova,
    error: ErrorTerm,
    hypothesis: Hypothesis,
) -> Test:
    """Return the joint test of equal means; with two modalities, that of their difference, with one, of its mean."""
    if len(differences) > 1:
        return joint_test(table, error)
    if differences:
        df, statistic, pvalue = differences[0].df, differences[0].statistic, differences[0].pvalue
    else:
        mean, df = means[0], means[0].df
        statistic, pvalue = map(float, hypothesis.test(wald(mean.mean, mean.standard_error, _law(df))))
    normal = bool(np.isinf(df))
    if hypothesis.alternative == "two-sided":
        return Test("chi-square" if normal else "F", statistic**2, (1.0, df), pvalue)
    return Test("normal" if normal else "t", statistic, (1.0, df), pvalue)
