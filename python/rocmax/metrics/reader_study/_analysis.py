"""The analysis of a reader study (Obuchowski and Rockette, Hillis): covariances, means, differences and tests."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.arrays import listed
from rocmax._checks.samples import F64, check_level, number
from rocmax._parameters import check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._typing import Alternative
from rocmax.metrics._references import cited
from rocmax.metrics.intervals._hypothesis import Hypothesis, Question, f_tail, parse_hypothesis
from rocmax.metrics.intervals._interval import Law, Limits, wald, wald_limits
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures._smooth import fitted_covariance
from rocmax.metrics.measures.auc import CurveMeasure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods import refusal
from rocmax.metrics.methods.base import Query
from rocmax.metrics.reader_study._readings import Readings, StudyReading, plain, readings_of
from rocmax.metrics.reader_study._result import ModalityDifference, ModalityMean, MRMCAnalysis
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.samples._reading import in_order
from rocmax.metrics.samples._sample import Sample, check_variance, n_distinct
from rocmax.metrics.variances._components import of_clusters
from rocmax.metrics.variances._resample import check_resamples, replicate, seed_of

_CHANCE = 0.5
_LISTED = 4  # readers with missing readings that a note names
_HELD = 1 << 22  # kernel values of all tests that are in memory at a time
NO_VARIANCE = 1e-28  # variances up to this are rounding errors


def _delong(study: Readings, measure: Measure) -> F64:
    """Return ``sum_k u_ak u_bk`` over cases, u the centred component over ``sqrt(m (m - 1))``, m its class's size."""
    if study.group is not None:
        return _clustered(study, measure)
    found = np.zeros((study.readings.size, len(study.cases)))
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


def _jackknife(study: Readings, measure: Measure) -> F64:
    """Return ``(N - 1)/N sum_k (theta_a(k) - mean) (theta_b(k) - mean)``, theta(k) without case or cluster k."""
    units = study.units
    n_units = int(units.max()) + 1
    left = np.zeros((study.readings.size, n_units))
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
    return np.where(data.y, *(m / (m - 1) for m in map(np.count_nonzero, (data.y, ~data.y))))


def _unbiased(study: Readings, measure: Measure) -> F64:
    """Return ``theta_a theta_b - M``, M the mean product of kernels that share no case (Gallas); O(K^2 m n)."""
    tests = study.scores.reshape(-1, len(study.cases))
    read = ~np.isnan(tests)
    pos, neg = tests[:, study.truth], tests[:, ~study.truth]
    of_pos, of_neg = (read[:, rows].astype(float) for rows in (study.truth, ~study.truth))
    n_pos, n_neg = of_pos.sum(axis=1), of_neg.sum(axis=1)
    # Sums of up to 2**22 products of halves are exact in single precision, which takes half the time.
    kernel = measure.kernel(np.float32 if neg.shape[1] <= _HELD else np.float64)
    assert kernel is not None
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
    counts = [np.multiply.outer(n, n) - of @ of.T for n, of in ((n_pos, of_pos), (n_neg, of_neg))]
    theta = sums / (n_pos * n_neg)
    return np.asarray(np.multiply.outer(theta, theta) - products / (counts[0] * counts[1]))


def _bootstrap(study: Readings, measure: Measure, n_resamples: int, random_state: Any) -> F64:
    """Return the covariance over resamples of the cases, stratified and the same for all tests; clusters are whole."""
    seed = seed_of(random_state)
    if study.independent and study.complete and measure.draws:
        return np.atleast_2d(np.cov(replicate(study.all_tests(), measure, True, n_resamples, seed).T))
    rng = np.random.default_rng(seed)
    units = study.units
    with_positives = np.bincount(units, study.truth) > 0
    strata = [np.flatnonzero(with_positives), np.flatnonzero(~with_positives)]
    members = np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])
    theta = np.empty((n_resamples, study.readings.size))
    for row in theta:
        drawn = np.concatenate([members[k] for one in strata if len(one) for k in rng.choice(one, len(one))])
        row[:] = [measure.estimates(_drawn(data, read, drawn))[0] for read, data in study.tests()]
    return np.atleast_2d(np.cov(theta.T))


def _drawn(data: Sample, read: Any, drawn: Any) -> Sample:
    place = np.cumsum(read) - 1
    rows = place[drawn[read[drawn]]]
    if not 0 < np.count_nonzero(data.y[rows]) < len(rows):
        raise ValueError(
            "covariance='bootstrap' drew no case of one class for a reader, because too few cases are read by all"
            " readers; use 'delong' or 'jackknife'"
        )
    return data.take(rows)


def _fitted(study: Readings, measure: Measure) -> F64:
    """Return the covariance under binormal curves fitted to the tests; pROC's line of the AUC exchanges the classes."""
    assert isinstance(measure, CurveMeasure)
    return fitted_covariance(study.all_tests(), measure, as_proc=False)


#: Each with what it needs.
_COVARIANCES: dict[str, tuple[Callable[..., F64], str]] = {
    "delong": (_delong, "a measure with components"),
    "jackknife": (_jackknife, ""),
    "unbiased": (_unbiased, "a mean over pairs (AUC, ScoredAUC or MarginAUC) without groups and sample_weight"),
    "bootstrap": (_bootstrap, ""),
    "obuchowski": (_fitted, "an area over one range, of a complete study without groups and sample_weight"),
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
    def excess(self) -> float:
        """``Cov2 - Cov3``: the covariance of two readers that is specific to one modality."""
        return float(np.nan_to_num(self.cov2) - np.nan_to_num(self.cov3))

    @property
    def components(self) -> dict[str, float]:
        """The covariances and the mean squares by name."""
        return {name: value for name, value in self._asdict().items() if not name.startswith("n_")}

    def error(self, random_readers: bool, random_cases: bool) -> ErrorTerm:
        """Return the expected mean square of the modalities if they have equal means."""
        t, r, between_readers = self.n_modalities, self.n_readers, max(self.excess, 0.0)
        if random_cases and np.isnan(self.var):  # refused
            return ErrorTerm(np.nan, np.nan)
        if not random_readers:
            return ErrorTerm(self.var - np.nan_to_num(self.cov1) + (r - 1) * between_readers, np.inf)
        # With one modality there is no interaction; the readers are the only random term.
        own, df = (self.ms_interaction, (t - 1) * (r - 1)) if t > 1 else (self.ms_reader, r - 1)
        if not random_cases:
            return ErrorTerm(own, float(df))
        whole = own + r * between_readers
        return ErrorTerm(whole, float(df * (whole / own) ** 2) if own > 0 else np.inf)


def anova(theta: F64, covariance: F64) -> Anova:
    """Return the analysis of variance of estimates of shape (n_modalities, n_readers)."""
    t, r = theta.shape
    of_modality, of_reader, overall = theta.mean(axis=1), theta.mean(axis=0), theta.mean()
    left = theta - of_modality[:, None] - of_reader + overall
    same_modality, same_reader = (np.equal.outer(of, of) for of in np.indices((t, r)).reshape(2, -1))

    def mean(of: NDArray[np.bool_]) -> float:
        return float(covariance[of].mean()) if of.any() else np.nan

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


_Numbers = tuple[float, float, float]  # a value, its standard error and its degrees of freedom


class _Options(NamedTuple):
    """The hypothesis, the level of the intervals and the bounds of the measure."""

    hypothesis: Hypothesis
    level: float
    bounds: tuple[float, float]

    def limits(self, numbers: _Numbers, change: bool) -> Limits:
        """Return the limits of a mean, or of a change: a difference of two."""
        (value, standard_error, df), (least, most) = numbers, self.bounds
        return wald_limits(value, standard_error, _law(df), (least - most, most - least) if change else self.bounds)

    def mean(self, name: Any, numbers: _Numbers) -> ModalityMean:
        return ModalityMean(plain(name), *numbers, _interval(self.limits(numbers, change=False), self.level))

    def difference(self, names: Any, numbers: _Numbers) -> ModalityDifference:
        limits = self.limits(numbers, change=True)
        statistic, pvalue = map(float, self.hypothesis.test(limits.tails))
        first, second = map(plain, names)
        return ModalityDifference(first, second, *numbers, _interval(limits, self.level), statistic, pvalue)


def _root(square: float) -> float:
    return float(np.sqrt(square)) if square >= 0 else np.nan


def _law(df: float) -> Law:
    return Law(None if np.isinf(df) else df)


def _interval(limits: Limits, level: float) -> ConfidenceInterval:
    return ConfidenceInterval(*map(float, limits.at(level)))


def joint_test(table: Anova, error: ErrorTerm) -> Test:
    """Test equal means: F, or chi-square if the error has infinite df."""
    between, normal = table.n_modalities - 1, bool(np.isinf(error.df))
    name, df = "chi-square" if normal else "F", (float(between), error.df)
    if error.square < 0:
        return Test(name, np.nan, df, np.nan)
    with np.errstate(divide="ignore"):
        f = 0.0 if table.ms_modality == 0 else float(np.float64(table.ms_modality) / error.square)
    return Test(name, between * f if normal else f, df, f_tail(between, error.df, f))


def _own_test(of: ModalityMean | ModalityDifference, hypothesis: Hypothesis) -> Test:
    """Return the test of the difference of two modalities, or of the mean of one."""
    if isinstance(of, ModalityDifference):
        statistic, pvalue = of.statistic, of.pvalue
    else:
        statistic, pvalue = map(float, hypothesis.test(wald(of.mean, of.standard_error, _law(of.df))))
    normal = bool(np.isinf(of.df))
    if hypothesis.alternative == "two-sided":
        return Test("chi-square" if normal else "F", statistic**2, (1.0, of.df), pvalue)
    return Test("normal" if normal else "t", statistic, (1.0, of.df), pvalue)


@cited("obuchowski-rockette", "hillis", "gallas")
def mrmc_analysis(
    y_true: ArrayLike | Readings,
    y_score: Any = None,
    measure: Measure | str = "auc",
    *,
    covariance: Literal["delong", "jackknife", "unbiased", "bootstrap", "obuchowski"] = "delong",
    readers: Literal["random", "fixed"] = "random",
    cases: Literal["random", "fixed"] = "random",
    reference: Any = None,
    null_value: float = _CHANCE,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = None,
    **reading: Unpack[StudyReading],
) -> MRMCAnalysis:
    """Compare modalities in a study with several readers and many cases (MRMC).

    Use it to ask whether one modality is better, also for other readers and other cases.

    >>> from rocmax.metrics import mrmc_analysis
    >>> truth = [0, 0, 0, 1, 1, 1] * 4
    >>> rating = [1, 2, 3, 2, 4, 5] + [1, 1, 2, 3, 4, 4] + [2, 1, 3, 1, 5, 4] + [1, 3, 2, 2, 4, 3]
    >>> found = mrmc_analysis(
    ...     truth,
    ...     rating,
    ...     reader=["Ann"] * 6 + ["Bea"] * 6 + ["Ann"] * 6 + ["Bea"] * 6,
    ...     modality=["CT"] * 12 + ["MR"] * 12,
    ...     case=[1, 2, 3, 4, 5, 6] * 4,
    ... )
    >>> found.means.round(3), round(found.pvalue, 3)
    (array([0.917, 0.75 ]), 0.101)

    Parameters
    ----------
    y_true, y_score
        The readings: a :class:`Readings` in the place of both, ``mrmc_analysis(readings, measure)``, or what
        :class:`Readings` takes. Read once what you ask more than one question of.
    measure : Measure or str, default="auc"
        The measure, as in :func:`infer`. Every measure works with covariance "jackknife" or "bootstrap".
    covariance : {"delong", "jackknife", "unbiased", "bootstrap", "obuchowski"}, default="delong"
        How to estimate the covariances: "delong" from the components of the measure; "jackknife" by leaving out one
        case at a time; "unbiased" from pairs of kernels that share no case (Gallas, 2006) [3]_, only for means over
        pairs; "bootstrap" from `n_resamples` resamples of the cases; "obuchowski" from binormal curves. "unbiased" and
        "obuchowski" do not support clusters and weights. With "delong" and random cases there is no interval and no
        test (`no_interval`) if a reader has too few cases for an interval by :func:`infer`.
    readers, cases : {"random", "fixed"}, default="random"
        "random" generalises the results to similar readers or cases, "fixed" limits them to those in the study. At
        least one must be "random".
    reference : label, default=None
        The modality that is subtracted from the others. Required if the test depends on the order of the modalities
        and their names are text, unless `modality` is an ordered categorical.
    null_value : float, default=0.5
        The mean under the null hypothesis, for a study with one modality.
    alternative : {"two-sided", "less", "greater", "non-inferiority", "equivalence"}, default="two-sided"
        Alternative hypothesis for each difference (for the mean, with one modality). "non-inferiority" to `reference`
        means that the modality is worse by less than `margin`; "equivalence" that the difference is less than `margin`,
        by two one-sided tests: at level 5 % they reject if the 90 % interval, which is reported, lies within the
        margin. The joint test of three or more modalities is always two-sided.
    margin : float, default=None
        The margin for "non-inferiority" and "equivalence", above 0.
    confidence_level : float, default=0.95
        Nominal coverage of the two-sided intervals. They are cut at the bounds of the measure.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    random_state : optional
        As in :func:`infer`.
    **reading
        With arrays: `reader`, `modality`, `case` and the other options of :class:`Readings`.

    Returns
    -------
    MRMCAnalysis
        Estimates, tests and variance components. For K pairs of reader and modality and n cases, "delong" takes O(K n
        log n + K^2 n) time and "unbiased" O(K^2 m n) for m positives; memory is O(K (K + n)).

    Raises
    ------
    ValueError
        If there is one reader and readers are random, if a one-sided test has no order of the modalities, if options
        conflict; and as :class:`Readings`.
    TypeError
        For options that do not exist, and for those of :class:`Readings` beside one.

    Notes
    -----
    The model is ``theta_ij = mu + t_i + R_j + (tR)_ij + e_ij`` for modality i of t and reader j of r. The errors e have
    variance Var, and covariances Cov1 (same reader, different modalities), Cov2 (different readers, same modality) and
    Cov3 (different readers and modalities) [1]_. With ``C = max(Cov2 - Cov3, 0)``, mean squares MS and ``D = MS(TR) + r
    C``, the tests are:

    - random readers and random cases: ``F = MS(T) / D`` with t - 1 and ``D^2 / (MS(TR)^2 / ((t-1)(r-1)))`` degrees of
      freedom [2]_; a difference of two means has standard error ``sqrt(2 D / r)``;
    - fixed readers: ``(t-1) MS(T) / (Var - Cov1 + (r-1) C)`` is chi-square with t - 1 degrees of freedom;
    - fixed cases: ``F = MS(T) / MS(TR)`` with t - 1 and (t-1)(r-1) degrees of freedom.

    The interval of one modality, and the test of a study with one modality, use MS(R) of its readers instead of MS(TR),
    and only the covariances of that modality. With a stand-alone algorithm (`algorithm` of :class:`Readings`), the
    study is one modality of differences ``theta_j - theta_algorithm`` ([2]_, section 5.3; RJafroc's 1T-RRRC, and
    1T-RRFC with fixed cases).
    """
    if isinstance(y_true, Readings):
        y_score, measure = in_order(y_score, measure)
    study, measure = readings_of(mrmc_analysis, y_true, y_score, reading), as_measure(measure)
    _check_covariance(covariance, measure, study)
    n_resamples = check_resamples(n_resamples)
    for name, kind in (("readers", readers), ("cases", cases)):
        check_choice(name, kind, ("random", "fixed"))
    if readers == cases == "fixed":
        raise ValueError("readers='fixed' and cases='fixed' leave no source of variance; make one of them 'random'")
    random = random_readers, random_cases = readers == "random", cases == "random"
    hypothesis = parse_hypothesis(alternative, margin, measure)
    null = number(null_value, "null_value", "that is finite", np.isfinite)
    options = _Options(hypothesis, check_level(confidence_level), measure.bounds)
    if reference is not None:
        study = study.compared_with(reference)
    _require_order(study, hypothesis)
    alone = study.algorithm is not None
    if null != _CHANCE and (alone or len(study.modalities) > 1):
        raise ValueError(f"null_value={null:g} is for the mean of one modality; pass margin for differences")
    if random_readers and len(study.readers) - alone < 2:
        raise ValueError("readers='random' needs two or more readers, got 1; use readers='fixed' for one reader")
    values = [measure.estimates(data)[0] for _, data in study.tests()]
    theta = np.array(values).reshape(len(study.modalities), len(study.readers))
    refused = None
    if covariance == "delong" and random_cases:
        query, tests = Query(measure, None, Question(0.95)), [data for _, data in study.tests()]
        refused = refusal(query, tests, instead="covariance='jackknife' gives one")
    spread = np.full((theta.size,) * 2, np.nan)
    if refused is None:
        drawn = (n_resamples, random_state) if covariance == "bootstrap" else ()
        spread = _COVARIANCES[covariance][0](study, measure, *drawn)
        check_variance(spread)
    tested, spread_of_tested = theta, spread
    if alone:  # of one modality and several readers, the last of which is the algorithm
        tested = theta[:, :-1] - theta[:, -1:]
        spread_of_tested = spread[:-1, :-1] - spread[:-1, -1:] - spread[-1:, :-1] + spread[-1, -1]
    table = anova(tested, spread_of_tested)
    error, one_shot = table.error(*random), covariance == "unbiased" and all(random)
    notes = _notes(study, table, error, random_cases)
    value, spread_of_value = float(theta[0, -1]), spread[-1, -1]  # of the algorithm, if there is one
    if alone:
        theta, spread = theta[:, :-1], spread[:-1, :-1]
    means, average, r = [], theta.mean(axis=1), theta.shape[1]
    changes: list[tuple[Any, float, float]]
    for i, name in enumerate(study.modalities):
        rows = slice(i * r, (i + 1) * r)
        own = anova(theta[i : i + 1], spread[rows, rows]).error(*random)
        means.append(options.mean(name, (float(average[i]), _root(own.square / r), own.df)))
    if alone:
        names = study.modalities[0], study.readers[-1]
        means.append(options.mean(names[1], (value, _root(spread_of_value) if random_cases else np.nan, np.inf)))
        changes = [(names, theta.mean() - value, error.square / r)]
    else:
        pairs = combinations(range(len(study.modalities)), 2)
        changes = [(study.modalities[[a, b]], average[a] - average[b], 2 * error.square / r) for a, b in pairs]
    differences = [options.difference(names, (float(by), _root(square), error.df)) for names, by, square in changes]
    deciding = None
    if hypothesis.alternative == "equivalence" and options.level > 0.5:  # which two tests at 1 - level decide by
        decided = [each[2:5] for each in differences] or [means[0][1:4]]
        limits = [options.limits(numbers, change=bool(differences)) for numbers in decided]
        deciding = tuple(_interval(one, 2 * options.level - 1) for one in limits)
    several, one = len(differences) > 1, differences[0] if differences else means[0]
    test = joint_test(table, error) if several else _own_test(one, hypothesis._replace(null=null))
    return MRMCAnalysis(
        estimates=theta,
        means=average,
        differences=tuple(differences),
        mean_inference=tuple(means),
        components=table.components,
        covariance_matrix=spread_of_tested,
        one_shot_variances=one_shot_variances(tested, spread_of_tested) if one_shot else None,
        equivalence_intervals=deciding,
        notes=notes,
        measure=measure,
        resampling=f"bootstrap of {n_resamples:,} resamples" if covariance == "bootstrap" else None,
        covariance=covariance,
        null_value=None if differences else null,
        no_interval=refused,
        **test._asdict(),
        random_readers=random_readers,
        random_cases=random_cases,
        confidence_level=options.level,
        alternative=hypothesis.alternative,
        margin=hypothesis.margin,
        **study.described(),
    )


def _require_order(study: Readings, hypothesis: Hypothesis) -> None:
    """Check that the user gave the order of the modalities if the test depends on it: the alphabet must not decide."""
    if hypothesis.side and len(study.modalities) > 1 and not study.ordered:
        first, second = (shown(plain(name)) for name in study.modalities[:2])
        raise ValueError(
            f"alternative={hypothesis.alternative!r} depends on which modality is subtracted: give reference={first} or"
            f" reference={second} (the modality that is subtracted from the others), or make modality an ordered"
            " categorical"
        )


def _check_covariance(covariance: Any, measure: Measure, study: Readings) -> None:
    """Check that the covariance supports the measure and the study."""
    check_choice("covariance", covariance, tuple(_COVARIANCES))
    if measure.multi_class != "raise":
        raise ValueError(f"a reader study needs a measure for two classes, got measure={measure!r}")
    fits = {
        "delong": Trait.COMPONENTS in measure.traits,
        "unbiased": study.independent and measure.kernel(np.float64) is not None,
        "obuchowski": study.independent and study.complete and Trait.AREA in measure.traits,
    }
    if not fits.get(covariance, True):
        needs = f"covariance={covariance!r} needs {_COVARIANCES[covariance][1]}"
        of = {"groups or sample_weight": not study.independent, "missing readings": not study.complete}
        given = " and ".join([f"measure={measure!r}", *(name for name, has in of.items() if has)])
        raise ValueError(f"{needs}, got {given}; use 'jackknife' or 'bootstrap'")


def _notes(study: Readings, table: Anova, error: ErrorTerm, random_cases: bool) -> tuple[str, ...]:
    """Note missing readings and negative variance estimates; warn if no test is possible."""
    notes, missing = [], study.missing_readings
    if missing:
        each = [f"reader {one.reader} with {one.modality} has none of case {listed([*one.cases])}" for one in missing]
        named = "; ".join(each[:_LISTED]) + "; ..." * (len(each) > _LISTED)
        count = sum(len(one.cases) for one in missing)
        notes.append(f"{count:,} of {study.scores.size:,} readings are missing: {named}")
    if random_cases and table.n_modalities > 1 and table.excess < 0:
        notes.append(f"cov2 - cov3 is estimated at {table.excess:.3g}, below 0; the tests use 0 instead")
    if error.square <= NO_VARIANCE:
        what = "0, for example because no reading is wrong: p-values and intervals are too optimistic"
        if error.square < 0:
            what = f"{error.square:.3g}, below 0: no test and no interval can be computed"
        notes.append(f"the variance is estimated at {what}")
        warn(notes[-1])
    return tuple(notes)
