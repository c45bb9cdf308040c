"""The analysis of a reader study: estimates, covariances and tests."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import F64, check_level, choice, number
from rocmax._parameters import shown
from rocmax._runtime.threads import n_threads
from rocmax.metrics.intervals._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.reader_study import _covariances as covariances
from rocmax.metrics.reader_study._anova import NO_VARIANCE, Anova, ErrorTerm, anova, one_shot_variances
from rocmax.metrics.reader_study._inference import (
    Options,
    against_algorithm,
    deciding_intervals,
    difference_test,
    differences_of,
    mean_of,
    mean_test,
)
from rocmax.metrics.reader_study._result import FIGURES, MRMCAnalysis
from rocmax.metrics.reader_study._study import Study, note_of, plain, read_study
from rocmax.metrics.samples._sample import check_variance
from rocmax.metrics.variances._resample import check_resamples

# What each needs of the measure, and whether it supports clusters and weights.
_COVARIANCES = {
    "delong": (Trait.COMPONENTS, True),
    "jackknife": (None, True),
    "unbiased": (Trait.COMPONENTS, False),
    "bootstrap": (None, True),
    "obuchowski": (Trait.AREA, False),
}
_KINDS = ("random", "fixed")
_CHANCE = 0.5


def mrmc_analysis(
    y_true: ArrayLike,
    y_score: Any,
    measure: Measure | str = "auc",
    *,
    reader: ArrayLike | None = None,
    modality: ArrayLike | None = None,
    case: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    covariance: str = "delong",
    readers: str = "random",
    cases: str = "random",
    reference: Any = None,
    algorithm: Any = None,
    null_difference: float = 0.0,
    null_value: float = _CHANCE,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    pos_label: Any = None,
    higher_is_better: bool = True,
    missing: str = "raise",
    figure_of_merit: str | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> MRMCAnalysis:
    """Compare modalities in a study with several readers and many cases (MRMC).

    The model is ``theta_ij = mu + t_i + R_j + (tR)_ij + e_ij`` for modality i of t and reader j of r. The errors e have
    variance Var, and covariances Cov1 (same reader, different modalities), Cov2 (different readers, same modality) and
    Cov3 (different readers and modalities) [1]_. With ``C = max(Cov2 - Cov3, 0)``, mean squares MS and ``D = MS(TR) + r
    C``, the tests are:

    - random readers and random cases: ``F = MS(T) / D`` with t - 1 and ``D^2 / (MS(TR)^2 / ((t-1)(r-1)))`` degrees of
      freedom [2]_; a difference of two means has standard error ``sqrt(2 D / r)``;
    - fixed readers: ``(t-1) MS(T) / (Var - Cov1 + (r-1) C)`` is chi-square with t - 1 degrees of freedom;
    - fixed cases: ``F = MS(T) / MS(TR)`` with t - 1 and (t-1)(r-1) degrees of freedom.

    The interval of one modality, and the test of a study with one modality, use MS(R) of its readers instead of MS(TR),
    and only the covariances of that modality.

    Parameters
    ----------
    y_true : array-like of shape (n_readings,) or (n_cases,)
        True class of the case of each reading; in a wide table, of each row. See :func:`infer` for labels.
    y_score : array-like of shape (n_readings,), mapping or data frame
        Ratings, one row per reading; ties count one half. Readings may be missing: leave out their rows. Or a wide
        table with one row per case: a mapping ``{(modality, reader): ratings}`` or a data frame whose columns are such
        pairs, NaN where a reading is missing.
    measure : Measure or str, default="auc"
        The measure, as in :func:`infer`. Every measure works with covariance "jackknife" or "bootstrap".
    reader, modality, case : array-like of shape (n_readings,), default=None
        Reader, modality and case of each reading. Every reader reads in every modality. Cases with the same name are
        the same case, so if readers or modalities have their own cases (nested, split-plot), give these different
        names. Readers and modalities are sorted by name, or in the order of an ordered categorical. A wide table
        needs no `reader` and no `modality`; `case` may name its rows.
    groups : array-like of shape (n_readings,), default=None
        Clusters of cases that depend on each other, such as the patient of a lesion: variances come from sums over
        clusters. "unbiased" and "obuchowski" do not support clusters and weights. :func:`froc_readings` makes `groups`
        and `sample_weight` from the marks of a free-response study.
    sample_weight : array-like of shape (n_readings,), default=None
        Sampling weights, the same in all readings of a case.
    covariance : {"delong", "jackknife", "unbiased", "bootstrap", "obuchowski"}, default="delong"
        How to estimate the covariances: "delong" from the components of the measure; "jackknife" by leaving out one
        case at a time; "unbiased" from pairs of kernels that share no case (Gallas, 2006) [3]_, only for means over
        pairs; "bootstrap" from `n_resamples` resamples of the cases; "obuchowski" from binormal curves.
    readers, cases : {"random", "fixed"}, default="random"
        "random" generalises the results to similar readers or cases, "fixed" limits them to those in the study. At
        least one must be "random".
    reference : label, default=None
        The modality that is subtracted from the others. Required if the test depends on the order of the modalities
        and their names are text, unless `modality` is an ordered categorical.
    algorithm : label, default=None
        The name in `reader` of a stand-alone algorithm, for a study of one modality: the test compares the mean of the
        readers with the algorithm on the same cases. It is the analysis of one modality above for the differences
        ``theta_j - theta_algorithm`` of the readers and their covariances ([2]_, section 5.3; RJafroc's 1T-RRRC, and
        1T-RRFC with fixed cases).
    null_difference : float, default=0.0
        The difference under the null hypothesis. For non-inferiority to `reference`, give minus the margin and
        alternative "greater".
    null_value : float, default=0.5
        The mean under the null hypothesis, for a study with one modality.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Alternative hypothesis for each difference (for the mean, with one modality). "equivalence" means that the
        difference is within `equivalence_margin` of the null difference, by two one-sided tests: at level 5 % they
        reject if the 90 % interval, which is reported, lies within the margin. The joint test of three or more
        modalities is always two-sided.
    equivalence_margin : float, default=None
        The margin for "equivalence", above 0.
    confidence_level : float, default=0.95
        Nominal coverage of the two-sided intervals. They are cut at the bounds of the measure.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    pos_label, higher_is_better, missing, random_state, n_jobs : optional
        As in :func:`infer`, with one row per reading; the ratings of all readers have one direction. In a wide table
        "raise" and "drop" are for `y_true`, `case`, `groups` and `sample_weight`: an empty rating is a missing reading.
    figure_of_merit : {"wAFROC", "AFROC", "wAFROC1", "AFROC1", "HrAUC"}, default=None
        The figure of merit of the readings of :func:`froc_readings`, which returns it: results name it.

    Returns
    -------
    MRMCAnalysis
        Estimates, tests and variance components. For K pairs of reader and modality and n cases, "delong" takes O(K n
        log n + K^2 n) time and "unbiased" O(K^2 m n) for m positives; memory is O(K (K + n)).

    Raises
    ------
    ValueError
        If a case has two true classes, if a reading occurs twice, if a reader has fewer than two cases of a class in a
        modality, if there is one reader and readers are random, if a one-sided test has no order of the modalities, if
        the columns of a wide table are not pairs (the message has the line that makes them), or if options conflict.
    MemoryError
        If the table of readers, modalities and cases does not fit into memory; raised before it is allocated.

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

    The same study as a wide table, one column per modality and reader:

    >>> table = {
    ...     ("CT", "Ann"): [1, 2, 3, 2, 4, 5],
    ...     ("CT", "Bea"): [1, 1, 2, 3, 4, 4],
    ...     ("MR", "Ann"): [2, 1, 3, 1, 5, 4],
    ...     ("MR", "Bea"): [1, 3, 2, 2, 4, 3],
    ... }
    >>> round(mrmc_analysis([0, 0, 0, 1, 1, 1], table).pvalue, 3)
    0.101
    """
    measure = as_measure(measure)
    _check_covariance(covariance, measure, groups is None and sample_weight is None)
    n_resamples = check_resamples(n_resamples)
    random = random_readers, random_cases = _random(readers, cases)
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    null = number(null_value, "null_value", "that is finite", np.isfinite)
    level = check_level(confidence_level)
    if figure_of_merit is not None:
        choice(figure_of_merit, FIGURES, "figure_of_merit")
    names = reader, modality, case, pos_label, reference, algorithm, groups, sample_weight
    study = read_study(y_true, y_score, *names, higher_is_better, missing)
    if figure_of_merit is not None and study.lower:
        raise ValueError(
            "higher_is_better=False is not for readings of froc_readings, which rate what has no mark below all others;"
            " pass the negated ratings to froc_readings"
        )
    _require_order(study, hypothesis)
    alone = algorithm is not None
    if null != _CHANCE and (alone or len(study.modalities) > 1):
        raise ValueError(
            f"null_value={null:g} is for the mean of one modality; differences are tested against null_difference"
        )
    if random_readers and study.n_readers - alone < 2:
        raise ValueError("readers='random' needs two or more readers, got 1; use readers='fixed' for one reader")
    theta = covariances.estimates(study, measure)
    spread = covariances.estimated(covariance, study, measure, (n_resamples, random_state, n_threads(n_jobs)))
    check_variance(spread)
    tested, spread_of_tested = theta, spread
    if alone:  # of one modality and several readers, the last of which is the algorithm
        tested, spread_of_tested = theta[:, :-1] - theta[:, -1:], _minus_last(spread)
    table = anova(tested, spread_of_tested)
    error, one_shot = table.error(*random), covariance == "unbiased" and all(random)
    unread = study.missing()
    notes = _notes(table, error, random_cases)
    if unread:
        notes = (note_of(unread, study.scores.size), *notes)
    options = Options(random, hypothesis, level, measure.bounds)
    if alone:
        own = float(theta[0, -1]), float(np.sqrt(spread[-1, -1])) if random_cases and spread[-1, -1] >= 0 else np.nan
        theta, spread = theta[:, :-1], spread[:-1, :-1]
    of_means = tuple(mean_of(name, theta[i], spread, i, options) for i, name in enumerate(study.modalities))
    differences = tuple(differences_of(study, theta, error, options))
    if alone:
        of_algorithm, pair = against_algorithm(study, theta, own, error, options)
        of_means, differences = (*of_means, of_algorithm), (pair,)
    of_one = hypothesis._replace(null=null + hypothesis.null)
    distribution, statistic, df, pvalue = (
        difference_test(differences, table, error, hypothesis) if differences else mean_test(of_means[0], of_one)
    )
    return MRMCAnalysis(
        modalities=study.modalities,
        readers=study.readers[:-1] if alone else study.readers,
        estimates=theta,
        means=theta.mean(axis=1),
        statistic=statistic,
        distribution=distribution,
        df=df,
        pvalue=pvalue,
        differences=differences,
        mean_inference=of_means,
        components=table.components,
        covariance_matrix=spread_of_tested,
        one_shot_variances=one_shot_variances(tested, spread_of_tested) if one_shot else None,
        equivalence_intervals=deciding_intervals(differences or of_means, options),
        missing=unread,
        readings=study.readings,
        notes=notes,
        measure=measure,
        n_samples=int(study.readings.sum()),
        n_groups=None if study.group is None else int(study.group.max()) + 1,
        weight_kind=None if study.weight is None else "sampling",
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
        null_value=None if differences else null,
        algorithm=study.readers[-1] if alone else None,
        higher_is_better=not study.lower,
        n_dropped=study.n_dropped,
        figure_of_merit=figure_of_merit,
    )


def _minus_last(spread: F64) -> F64:
    """Return the covariance matrix of the differences from the last estimate."""
    return np.asarray(spread[:-1, :-1] - spread[:-1, -1:] - spread[-1:, :-1] + spread[-1, -1])


def _require_order(study: Study, hypothesis: Hypothesis) -> None:
    """Check that the user gave the order of the modalities if the test depends on it: the alphabet must not decide."""
    sided = hypothesis.alternative in ("less", "greater") or hypothesis.null != 0
    if sided and study.n_modalities > 1 and not study.ordered:
        first, second = (shown(plain(name)) for name in study.modalities[:2])
        what = f"alternative={hypothesis.alternative!r} with null_difference={hypothesis.null:g}"
        raise ValueError(
            f"{what} depends on which modality is subtracted: give reference={first} or reference={second} (the"
            " modality that is subtracted from the others), or make modality an ordered categorical"
        )


def _random(readers: Any, cases: Any) -> tuple[bool, bool]:
    """Return whether readers and whether cases are random."""
    for name, value in (("readers", readers), ("cases", cases)):
        choice(value, _KINDS, name)
    if readers == cases == "fixed":
        raise ValueError("readers='fixed' and cases='fixed' leave no source of variance; make one of them 'random'")
    return readers == "random", cases == "random"


def _check_covariance(covariance: Any, measure: Measure, plain: bool) -> None:
    """Check that the covariance supports the measure and, unless the study is plain, clusters and weights."""
    choice(covariance, tuple(_COVARIANCES), "covariance")
    if measure.multi_class != "raise":
        raise ValueError(f"a reader study needs a measure for two classes, got measure={measure!r}")
    needed, for_clusters = _COVARIANCES[covariance]
    if needed is not None and needed not in measure.traits:
        raise ValueError(
            f"covariance={covariance!r} needs {needed.value}, got measure={measure!r}; use 'jackknife' or 'bootstrap'"
        )
    if not (plain or for_clusters):
        raise ValueError(
            f"covariance={covariance!r} supports neither groups nor sample_weight; use 'delong', 'jackknife' or"
            " 'bootstrap'"
        )


def _notes(table: Anova, error: ErrorTerm, random_cases: bool) -> tuple[str, ...]:
    """Note negative variance estimates; warn if no test is possible."""
    notes = []
    excess = np.nan_to_num(table.cov2) - np.nan_to_num(table.cov3)
    if random_cases and table.n_modalities > 1 and excess < 0:
        notes.append(f"cov2 - cov3 is estimated at {excess:.3g}, below 0; the tests use 0 instead")
    if error.square < 0:
        notes.append(
            f"the variance is estimated at {error.square:.3g}, below 0: no test and no interval can be computed"
        )
        warnings.warn(notes[-1], stacklevel=3)
    elif error.square <= NO_VARIANCE:
        notes.append(
            "the variance is estimated at 0, for example because no reading is wrong: p-values and intervals are too"
            " optimistic"
        )
        warnings.warn(notes[-1], stacklevel=3)
    return tuple(notes)
