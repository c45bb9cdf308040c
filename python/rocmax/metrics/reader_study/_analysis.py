"""Analysis of variance of a reader study by Obuchowski and Rockette, with Hillis's degrees of freedom."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocmax._threads import n_threads
from rocmax.metrics import _words as words
from rocmax.metrics._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import Law, wald
from rocmax.metrics._measure import (
    Asked,
    Measure,
    MeasureOptions,
    check_level,
    check_variance,
    of_any_measure,
    parse_measure,
    refuse_options,
)
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._result import Measured, of_measure
from rocmax.metrics._validation import F64, Sample, choice, number
from rocmax.metrics.reader_study import _covariances as covariances
from rocmax.metrics.reader_study._study import Study, read_study

_COVARIANCES = ("delong", "jackknife", "unbiased", "bootstrap", "obuchowski")
_KINDS = ("random", "fixed")
# A variance of areas up to this is the rounding of none.
NO_VARIANCE = 1e-28


class ModalityMean(NamedTuple):
    """The mean of one modality over its readers; of a chi-square analysis `df` is infinite."""

    modality: Any
    mean: float
    standard_error: float
    df: float
    confidence_interval: ConfidenceInterval


class ModalityDifference(NamedTuple):
    """The mean of `modality_a` minus that of `modality_b`, and its test."""

    modality_a: Any
    modality_b: Any
    difference: float
    standard_error: float
    df: float
    confidence_interval: ConfidenceInterval
    statistic: float
    pvalue: float


@dataclass(frozen=True, repr=False, eq=False)
class MRMCAnalysis(Measured):
    """The means of modalities over readers, their differences and tests.

    Attributes
    ----------
    modalities, readers : ndarray
        Their names in sorted order.
    estimates : ndarray of shape (n_modalities, n_readers)
        The measure of every reader in every modality.
    means : ndarray of shape (n_modalities,)
        Their means over the readers.
    statistic : float
        F, or chi-square of fixed readers, of equal means; of one modality that of `null_value`, and of two with an
        alternative, a null difference or a margin the squared statistic of that test.
    df : (float, float)
        Its degrees of freedom; the second is infinite for chi-square.
    pvalue : float
        Of two modalities that of their difference.
    differences : tuple of ModalityDifference
        Each pair of modalities in sorted order, the first minus the second.
    mean_inference : tuple of ModalityMean
        Each modality by itself, from its own readings.
    components : dict
        `var`, `cov1` (same reader, other modality), `cov2` (other reader, same modality), `cov3` (both other), as
        estimated, and the mean squares `ms_modality`, `ms_reader`, `ms_interaction`; NaN where the design has none.
    covariance_matrix : ndarray of shape (n_modalities * n_readers, n_modalities * n_readers)
        Of the estimates given the readers, in the order of ``estimates.ravel()``.
    one_shot_variances : tuple of float or None
        Gallas's variance of each difference (of the mean, for one modality), which has no assumptions about the
        covariances; with ``covariance="unbiased"`` and random readers and cases only.
    notes : tuple of str
        What a reader of the results has to know, such as negative estimates of variances.
    covariance, random_readers, random_cases, confidence_level, n_pos, n_neg, pos_label
        How the analysis was made, the numbers of cases, and the positive label.
    alternative, null_difference, equivalence_margin, null_value
        What differences were tested against; the mean of one modality against `null_value` plus `null_difference`.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr, n_samples
        What was measured, in the words of the arguments, and the number of readings.
    """

    modalities: NDArray[Any]
    readers: NDArray[Any]
    estimates: F64
    means: F64
    statistic: float
    df: tuple[float, float]
    pvalue: float
    differences: tuple[ModalityDifference, ...]
    mean_inference: tuple[ModalityMean, ...]
    components: dict[str, float]
    covariance_matrix: F64
    one_shot_variances: tuple[float, ...] | None
    notes: tuple[str, ...]
    covariance: str
    random_readers: bool
    random_cases: bool
    confidence_level: float
    alternative: str
    null_difference: float
    equivalence_margin: float | None
    n_pos: int
    n_neg: int
    pos_label: Any
    null_value: float | None = None

    def rows(self) -> list[dict[str, Any]]:
        means = [
            {"term": str(m.modality), "estimate": m.mean, **_spread(m), "statistic": np.nan, "pvalue": np.nan}
            for m in self.mean_inference
        ]
        return means + [
            {
                "term": f"{d.modality_a} - {d.modality_b}",
                "estimate": d.difference,
                **_spread(d),
                "statistic": d.statistic,
                "pvalue": d.pvalue,
            }
            for d in self.differences
        ]

    def _said(self, row: ModalityMean | ModalityDifference, estimate: float) -> str:
        places = self._places(row.standard_error)
        return f"{words.digits(estimate, places)} ({words.ends(row.confidence_interval, places)})"

    def _study(self) -> str:
        modalities = "one modality" if len(self.modalities) == 1 else f"{len(self.modalities)} modalities"
        return f"{self.measure}, {len(self.readers)} reader{'s' * (len(self.readers) > 1)}, {modalities}"

    def _test(self) -> str:
        """Return the test of the study in words."""
        first, second = (words.digits(df, None) for df in self.df)
        of = f"chi-square({first})" if np.isinf(self.df[1]) else f"F({first}, {second})"
        if len(self.modalities) > 2:
            what = "all modalities alike"
        else:
            null = self.null_difference + (self.null_value or 0.0)
            what = words.against(self.alternative, null, self.equivalence_margin)
        return f"{of} = {words.digits(self.statistic, 2)}, {words.p_value(self.pvalue)} ({what})"

    def _lines(self) -> list[str]:
        rows = [{name: value for name, value in row.items() if name != "statistic"} for row in self.rows()]
        return [f"{self._study()} ({words.level(self.confidence_level)})", *words.text_table(rows), self._test()]

    def _sentences(self, basis: str) -> list[str]:
        means = ", ".join(f"{words.label_text(m.modality)} = {self._said(m, m.mean)}" for m in self.mean_inference)
        found = [f"{self._study()} ({words.level(self.confidence_level)}; {basis}): {means}"]
        for d in self.differences:
            first, second = words.label_text(d.modality_a), words.label_text(d.modality_b)
            pvalue = words.p_value(d.pvalue)
            found.append(f"{first} minus {second} {self._said(d, d.difference)}, {pvalue}")
        return [*found, f"Test: {self._test()}", *(f"Note: {note}" for note in self.notes)]

    def _basis(self) -> list[str]:
        kinds = {(True, True): "random readers and cases", (False, True): "fixed readers", (True, False): "fixed cases"}
        names = " and ".join(REFERENCES[source].short for source in _SOURCES)
        return [
            kinds[self.random_readers, self.random_cases],
            names,
            f"covariances by {self._by(self.covariance)}",
            words.samples(self.n_pos, self.n_neg, self.pos_label).replace("samples", "cases"),
        ]

    def _sources(self) -> tuple[str, ...]:
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*_SOURCES, *self._source(self.covariance).sources, *equivalence)


_SOURCES = ("obuchowski-rockette", "hillis")


def _spread(row: ModalityMean | ModalityDifference) -> dict[str, float]:
    low, high = row.confidence_interval
    return {"standard_error": row.standard_error, "df": row.df, "ci_low": low, "ci_high": high}


class _Error(NamedTuple):
    """The mean square that a hypothesis is held against, and its degrees of freedom."""

    square: float
    df: float


class _Anova(NamedTuple):
    """Mean squares and covariances of the tests of a study, or of one of its modalities."""

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
        """How much more the readings of one modality covary than those of two; at least 0."""
        return max(float(np.nan_to_num(self.cov2) - np.nan_to_num(self.cov3)), 0.0)

    def error(self, random_readers: bool, random_cases: bool) -> _Error:
        """Return what the mean square of the modalities is expected to be where these are alike."""
        t, r = self.n_modalities, self.n_readers
        if not random_readers:
            return _Error(self.var - np.nan_to_num(self.cov1) + (r - 1) * self.between_readers, np.inf)
        # Of one modality the readers themselves are what varies.
        own, df = (self.ms_interaction, (t - 1) * (r - 1)) if t > 1 else (self.ms_reader, r - 1)
        if not random_cases:
            return _Error(own, float(df))
        whole = own + r * self.between_readers
        return _Error(whole, float(df * (whole / own) ** 2) if own > 0 else np.inf)


def anova(theta: F64, covariance: F64) -> _Anova:
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

    return _Anova(
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


@of_any_measure
def mrmc_analysis(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    reader: ArrayLike,
    modality: ArrayLike,
    case: ArrayLike,
    metric: str | Callable[[NDArray[np.bool_], F64], float] = "auc",
    covariance: str = "delong",
    readers: str = "random",
    cases: str = "random",
    null_difference: float = 0.0,
    null_value: float = 0.5,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Unpack[MeasureOptions],
) -> MRMCAnalysis:
    """Compare modalities in a study of several readers and many cases (MRMC).

    ``theta_ij = mu + t_i + R_j + (tR)_ij + e_ij`` for modality i of t and reader j of r, the errors e with variance
    Var and covariances Cov1 (same reader, other modality), Cov2 (other reader, same modality) and Cov3 (both other)
    [1]_. With ``C = max(Cov2 - Cov3, 0)``, mean squares MS and ``D = MS(TR) + r C``:

    - random readers and cases: ``F = MS(T) / D`` with t - 1 and ``D^2 / (MS(TR)^2 / ((t-1)(r-1)))`` degrees of freedom
      [2]_; a difference of means has the standard error ``sqrt(2 D / r)``;
    - fixed readers: ``(t-1) MS(T) / (Var - Cov1 + (r-1) C)`` is chi-square with t - 1 degrees;
    - fixed cases: ``F = MS(T) / MS(TR)`` with t - 1 and (t-1)(r-1) degrees.

    Each modality by itself, and a study of one, has MS(R) of its readers in place of MS(TR), and its own covariances.

    Parameters
    ----------
    y_true : array-like of shape (n_readings,)
        The truth of each reading's case; see :func:`auc_inference` for labels.
    y_score : array-like of shape (n_readings,)
        Finite ratings, higher ones for the positive class; ties count one half. Leave missing readings out.
    reader, modality, case : array-like of shape (n_readings,)
        Who read, with what, which case. Cases with one name are the same case: where readers or modalities have
        cases of their own (nested, split-plot) these need names of their own. Readers read in every modality.
    metric : str or callable, default="auc"
        What is measured, as in :func:`auc_inference` with `fpr_range`, `tpr_range`, `normalize`, `margin`, `fpr` and
        `tpr`; or a function of labels and scores that returns a number, with "jackknife" or "bootstrap".
    fpr_range, tpr_range, normalize, margin, fpr, tpr, fraction, alpha : optional
        Options of the measure.
    covariance : {"delong", "jackknife", "unbiased", "bootstrap", "obuchowski"}, default="delong"
        Where the covariances come from: DeLong's components; leaving out case after case; products of kernels that
        share no case (Gallas, 2006) [3]_, for means over pairs only; `n_resamples` draws of the cases; binormal curves.
    readers, cases : {"random", "fixed"}, default="random"
        Whether the results are to hold for readers and for cases like these, or for these only. Not both are fixed.
    null_difference : float, default=0.0
        What differences are tested against: minus the margin, with alternative "greater", for non-inferiority of the
        first modality.
    null_value : float, default=0.5
        What the mean is tested against where there is one modality.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Of each difference (of the mean, for one modality); "equivalence" is that it lies within `equivalence_margin`
        of the null difference, by two one-sided tests. The joint test of three modalities and more has no side.
    equivalence_margin : float, default=None
        See there.
    confidence_level : float, default=0.95
        Nominal coverage of the two-sided intervals.
    n_resamples : int, default=2000
        Number of bootstrap replicates.
    pos_label, random_state, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    MRMCAnalysis
        Estimates, tests and components of variance. O(K n log n + K^2 n) for K tests of n cases by "delong", for
        "unbiased" O(K^2 m n); memory O(K (K + n)).

    Raises
    ------
    ValueError
        For a case of two truths, a reading given twice, a reader with fewer than two cases of a class in a modality,
        one reader that is to be random, and options that do not go together.

    References
    ----------
    .. [1] N. A. Obuchowski and H. E. Rockette, "Hypothesis testing of diagnostic accuracy for multiple readers and
       multiple tests: an ANOVA approach with dependent observations", Communications in Statistics 24, 1995.
       :doi:`10.1080/03610919508813243`
    .. [2] S. L. Hillis, "A comparison of denominator degrees of freedom methods for multiple observer ROC analysis",
       Statistics in Medicine 26, 2007. :doi:`10.1002/sim.2532`
    .. [3] B. D. Gallas, "One-shot estimate of MRMC variance: AUC", Academic Radiology 13, 2006.
       :doi:`10.1016/j.acra.2005.11.030`

    Examples
    --------
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
    """
    measure, measured = _measured(metric, covariance, options)
    random = random_readers, random_cases = _random(readers, cases)
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    null = number(null_value, "null_value", "that is finite", np.isfinite)
    level = check_level(confidence_level)
    study = read_study(y_true, y_score, reader, modality, case, pos_label)
    if random_readers and study.n_readers < 2:
        raise ValueError("readers='random' needs two readers or more, got 1; readers='fixed' takes one")
    theta = covariances.estimates(study, measured)
    spread = _covariance(study, covariance, measure, measured, (n_resamples, random_state, n_threads(n_jobs)))
    check_variance(spread)
    table = anova(theta, spread)
    error, one_shot = table.error(*random), covariance == "unbiased" and all(random)
    notes = _notes(table, error, random_cases)
    of_means = tuple(_mean(name, theta[i], spread, i, random, level) for i, name in enumerate(study.modalities))
    differences = tuple(_differences(study, theta, error, hypothesis, level))
    if differences:
        statistic, df, pvalue = _equal(differences, table, error)
    else:
        statistic, df, pvalue = _against(of_means[0], hypothesis._replace(null=null + hypothesis.null))
    return MRMCAnalysis(
        modalities=study.modalities,
        readers=study.readers,
        estimates=theta,
        means=theta.mean(axis=1),
        statistic=statistic,
        df=df,
        pvalue=pvalue,
        differences=differences,
        mean_inference=of_means,
        components=_components(table),
        covariance_matrix=spread,
        one_shot_variances=_one_shot(theta, spread) if one_shot else None,
        notes=notes,
        **({"metric": getattr(metric, "__name__", repr(metric))} if measure is None else of_measure(measure)),
        n_samples=int(np.count_nonzero(~np.isnan(study.scores))),
        resampling=f"bootstrap of {n_resamples:,} resamples" if covariance == "bootstrap" else None,
        covariance=covariance,
        random_readers=random_readers,
        random_cases=random_cases,
        confidence_level=level,
        alternative=hypothesis.alternative,
        null_difference=hypothesis.null,
        equivalence_margin=hypothesis.margin,
        n_pos=int(np.count_nonzero(study.truth)),
        n_neg=int(np.count_nonzero(~study.truth)),
        pos_label=study.pos_label,
        null_value=null if study.n_modalities == 1 else None,
    )


def _random(readers: Any, cases: Any) -> tuple[bool, bool]:
    """Return which of them are random."""
    for name, value in (("readers", readers), ("cases", cases)):
        choice(value, _KINDS, name)
    if readers == cases == "fixed":
        raise ValueError("readers='fixed' and cases='fixed' leave nothing to vary; one of them must be 'random'")
    return readers == "random", cases == "random"


def _measured(metric: Any, covariance: Any, options: MeasureOptions) -> tuple[Measure | None, covariances.Measured]:
    """Return the measure, if the core knows it, and the function that measures one test."""
    choice(covariance, _COVARIANCES, "covariance")
    if isinstance(metric, Asked) and callable(metric.metric):
        metric = metric.metric
    if isinstance(metric, Asked) or not callable(metric):
        measure = parse_measure(metric, **options)
        if covariance in ("obuchowski", "bootstrap") and measure.region is not None:
            raise ValueError(f"covariance={covariance!r} takes one range, got both: 'delong' and 'jackknife' take both")
        if covariance == "obuchowski" and measure.metric not in ("auc", "partial_auc"):
            raise ValueError(f"covariance='obuchowski' needs metric='auc' or 'partial_auc', got {metric!r}")
        return measure, partial(covariances.point, measure=measure)
    if covariance not in ("jackknife", "bootstrap"):
        raise ValueError(f"a metric of your own needs covariance='jackknife' or 'bootstrap', got {covariance!r}")
    refuse_options(metric, **options)

    def measured(data: Sample) -> float:
        value = metric(data.y, data.score)
        return number(value, "metric", "that is finite, from every reader's cases", np.isfinite)

    return None, measured


def _covariance(
    study: Study, how: str, measure: Measure | None, measured: covariances.Measured, resampling: tuple[Any, Any, int]
) -> F64:
    if how == "jackknife":
        return covariances.jackknife(study, measure, measured)
    if how == "bootstrap":
        return covariances.bootstrap(study, measure, measured, *resampling)
    assert measure is not None
    if how == "obuchowski":
        return covariances.fitted(study, measure, resampling[-1])
    return (covariances.unbiased if how == "unbiased" else covariances.delong)(study, measure)


def _notes(table: _Anova, error: _Error, random_cases: bool) -> tuple[str, ...]:
    """Say which estimates of variances are below 0; warn where they leave nothing to test with."""
    notes = []
    excess = np.nan_to_num(table.cov2) - np.nan_to_num(table.cov3)
    if random_cases and table.n_modalities > 1 and excess < 0:
        notes.append(f"cov2 - cov3 is estimated at {excess:.3g}, below 0, and taken as 0")
    if error.square < 0:
        notes.append(f"the variance is estimated at {error.square:.3g}, below 0: there is no test and no interval")
        warnings.warn(notes[-1], stacklevel=3)
    elif error.square <= NO_VARIANCE:
        notes.append("the variance is estimated at 0, as after readings without an error: tests promise too much")
        warnings.warn(notes[-1], stacklevel=3)
    return tuple(notes)


def _standard_error(square: float, n_readers: int, times: int) -> float:
    return float(np.sqrt(times * square / n_readers)) if square >= 0 else np.nan


def _interval(middle: float, standard_error: float, df: float, level: float) -> ConfidenceInterval:
    reach = _law(df).quantile(0.5 + level / 2) * standard_error
    return ConfidenceInterval(float(middle - reach), float(middle + reach))


def _law(df: float) -> Law:
    return Law(None if np.isinf(df) else df)


def _mean(name: Any, theta: F64, covariance: F64, i: int, random: tuple[bool, bool], level: float) -> ModalityMean:
    """Return a modality's mean with its own mean square and covariances."""
    rows = slice(i * len(theta), (i + 1) * len(theta))
    error = anova(theta[None], covariance[rows, rows]).error(*random)
    standard_error, mean = _standard_error(error.square, len(theta), 1), float(theta.mean())
    return ModalityMean(_plain(name), mean, standard_error, error.df, _interval(mean, standard_error, error.df, level))


def _differences(
    study: Study, theta: F64, error: _Error, hypothesis: Hypothesis, level: float
) -> list[ModalityDifference]:
    """Return every pair of modalities, all held against one error."""
    means, standard_error = theta.mean(axis=1), _standard_error(error.square, study.n_readers, 2)
    found = []
    for a, b in combinations(range(study.n_modalities), 2):
        difference = float(means[a] - means[b])
        statistic, pvalue = map(float, hypothesis.test(wald(difference, standard_error, _law(error.df))))
        found.append(
            ModalityDifference(
                _plain(study.modalities[a]),
                _plain(study.modalities[b]),
                difference,
                standard_error,
                error.df,
                _interval(difference, standard_error, error.df, level),
                statistic,
                pvalue,
            )
        )
    return found


def _against(mean: ModalityMean, hypothesis: Hypothesis) -> tuple[float, tuple[float, float], float]:
    statistic, pvalue = map(float, hypothesis.test(wald(mean.mean, mean.standard_error, _law(mean.df))))
    return statistic**2, (1.0, mean.df), pvalue


def _equal(
    differences: tuple[ModalityDifference, ...], table: _Anova, error: _Error
) -> tuple[float, tuple[float, float], float]:
    """Return the test of equal means: of two, the square of their difference's."""
    if len(differences) > 1:
        return _joint(table, error)
    (pair,) = differences
    return pair.statistic**2, (1.0, pair.df), pair.pvalue


def _joint(table: _Anova, error: _Error) -> tuple[float, tuple[float, float], float]:
    """Return F, or chi-square, of equal means."""
    between = table.n_modalities - 1
    if error.square < 0:
        return np.nan, (float(between), error.df), np.nan
    with np.errstate(divide="ignore"):
        f = 0.0 if table.ms_modality == 0 else float(np.float64(table.ms_modality) / error.square)
    if np.isinf(error.df):
        return between * f, (float(between), np.inf), float(special.chdtrc(between, between * f))
    return f, (float(between), error.df), float(special.fdtrc(between, error.df, f))


def _components(table: _Anova) -> dict[str, float]:
    names = ("var", "cov1", "cov2", "cov3", "ms_modality", "ms_reader", "ms_interaction")
    return {name: getattr(table, name) for name in names}


def _one_shot(theta: F64, covariance: F64) -> tuple[float, ...]:
    """Return Gallas's variance of each difference of means, or of the mean of one modality.

    The square of a mean over readers less the mean of the products of different readers' expectations, which share
    no case.
    """
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


def _plain(name: Any) -> Any:
    return name.item() if hasattr(name, "item") else name
