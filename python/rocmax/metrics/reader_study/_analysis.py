"""The analysis of a reader study: estimates, covariances and tests."""

from __future__ import annotations

from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import check_level, number
from rocmax._parameters import check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._typing import Alternative
from rocmax.metrics.intervals._hypothesis import Hypothesis, Question, parse_hypothesis
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.methods import refusal
from rocmax.metrics.methods.base import Query
from rocmax.metrics.reader_study import _inference as inference
from rocmax.metrics.reader_study._inference import Anova, ErrorTerm, Options
from rocmax.metrics.reader_study._readings import Readings, StudyReading, readings_of
from rocmax.metrics.reader_study._result import MRMCAnalysis
from rocmax.metrics.reader_study._rows import note_of, plain
from rocmax.metrics.samples._reading import in_order
from rocmax.metrics.samples._sample import check_variance
from rocmax.metrics.variances._resample import check_resamples

_KINDS = ("random", "fixed")
_CHANCE = 0.5


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

    References
    ----------
    .. [1] N. A. Obuchowski and H. E. Rockette, "Hypothesis testing of diagnostic accuracy for multiple readers and
       multiple tests: an ANOVA approach with dependent observations", Communications in Statistics 24, 1995.
       :doi:`10.1080/03610919508813243`
    .. [2] S. L. Hillis, "A comparison of denominator degrees of freedom methods for multiple observer ROC analysis",
       Statistics in Medicine 26, 2007. :doi:`10.1002/sim.2532`
    .. [3] B. D. Gallas, "One-shot estimate of MRMC variance: AUC", Academic Radiology 13, 2006.
       :doi:`10.1016/j.acra.2005.11.030`
    """
    if isinstance(y_true, Readings):
        y_score, measure = in_order(y_score, measure)
    study, measure = readings_of(mrmc_analysis, y_true, y_score, reading), as_measure(measure)
    _check_covariance(covariance, measure, study.independent)
    n_resamples = check_resamples(n_resamples)
    for name, kind in (("readers", readers), ("cases", cases)):
        check_choice(name, kind, _KINDS)
    if readers == cases == "fixed":
        raise ValueError("readers='fixed' and cases='fixed' leave no source of variance; make one of them 'random'")
    random = random_readers, random_cases = readers == "random", cases == "random"
    hypothesis = parse_hypothesis(alternative, margin, measure)
    null = number(null_value, "null_value", "that is finite", np.isfinite)
    options = Options(random, hypothesis, check_level(confidence_level), measure.bounds)
    if reference is not None:
        study = study.compared_with(reference)
    _require_order(study, hypothesis)
    alone = study.algorithm is not None
    if null != _CHANCE and (alone or study.n_modalities > 1):
        raise ValueError(f"null_value={null:g} is for the mean of one modality; pass margin for differences")
    if random_readers and study.n_readers - alone < 2:
        raise ValueError("readers='random' needs two or more readers, got 1; use readers='fixed' for one reader")
    theta = inference.estimates(study, measure)
    refused = None
    if covariance == "delong" and random_cases:
        query, tests = Query(measure, None, Question(0.95)), [data for _, data in study.tests()]
        refused = refusal(query, tests, instead="covariance='jackknife' gives one")
    if refused is None:
        drawn = (n_resamples, random_state) if covariance == "bootstrap" else ()
        spread = inference.COVARIANCES[covariance][0](study, measure, *drawn)
        check_variance(spread)
    else:
        spread = np.full((theta.size,) * 2, np.nan)
    tested, spread_of_tested = theta, spread
    if alone:  # of one modality and several readers, the last of which is the algorithm
        tested = theta[:, :-1] - theta[:, -1:]
        spread_of_tested = spread[:-1, :-1] - spread[:-1, -1:] - spread[-1:, :-1] + spread[-1, -1]
    table = inference.anova(tested, spread_of_tested)
    error, one_shot = table.error(*random), covariance == "unbiased" and all(random)
    notes = _notes(study, table, error, random_cases)
    if alone:
        own = float(theta[0, -1]), float(np.sqrt(spread[-1, -1])) if random_cases and spread[-1, -1] >= 0 else np.nan
        theta, spread = theta[:, :-1], spread[:-1, :-1]
    of_means = tuple(inference.mean_of(name, theta[i], spread, i, options) for i, name in enumerate(study.modalities))
    differences = tuple(inference.differences_of(study, theta, error, options))
    if alone:
        of_algorithm, pair = inference.against_algorithm(study, theta, own, error, options)
        of_means, differences = (*of_means, of_algorithm), (pair,)
    test = inference.decisive_test(
        of_means, differences, table, error, hypothesis._replace(null=0.0 if differences else null)
    )
    return MRMCAnalysis(
        estimates=theta,
        means=theta.mean(axis=1),
        differences=differences,
        mean_inference=of_means,
        components=table.components,
        covariance_matrix=spread_of_tested,
        one_shot_variances=inference.one_shot_variances(tested, spread_of_tested) if one_shot else None,
        equivalence_intervals=inference.deciding_intervals(differences or of_means, options),
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
    sided = bool(hypothesis.side)
    if sided and study.n_modalities > 1 and not study.ordered:
        first, second = (shown(plain(name)) for name in study.modalities[:2])
        what = f"alternative={hypothesis.alternative!r}"
        raise ValueError(
            f"{what} depends on which modality is subtracted: give reference={first} or reference={second} (the"
            " modality that is subtracted from the others), or make modality an ordered categorical"
        )


def _check_covariance(covariance: Any, measure: Measure, plain: bool) -> None:
    """Check that the covariance supports the measure and, unless the study is plain, clusters and weights."""
    check_choice("covariance", covariance, tuple(inference.COVARIANCES))
    if measure.multi_class != "raise":
        raise ValueError(f"a reader study needs a measure for two classes, got measure={measure!r}")
    _, needed, for_clusters = inference.COVARIANCES[covariance]
    if needed is not None and needed not in measure.traits:
        raise ValueError(
            f"covariance={covariance!r} needs {needed.value}, got measure={measure!r}; use 'jackknife' or 'bootstrap'"
        )
    if not (plain or for_clusters):
        raise ValueError(
            f"covariance={covariance!r} supports neither groups nor sample_weight; use 'delong', 'jackknife' or"
            " 'bootstrap'"
        )


def _notes(study: Readings, table: Anova, error: ErrorTerm, random_cases: bool) -> tuple[str, ...]:
    """Note missing readings and negative variance estimates; warn if no test is possible."""
    missing = study.missing_readings
    notes = [note_of(missing, study.scores.size)] if missing else []
    excess = np.nan_to_num(table.cov2) - np.nan_to_num(table.cov3)
    if random_cases and table.n_modalities > 1 and excess < 0:
        notes.append(f"cov2 - cov3 is estimated at {excess:.3g}, below 0; the tests use 0 instead")
    if error.square < 0:
        notes.append(
            f"the variance is estimated at {error.square:.3g}, below 0: no test and no interval can be computed"
        )
        warn(notes[-1])
    elif error.square <= inference.NO_VARIANCE:
        notes.append(
            "the variance is estimated at 0, for example because no reading is wrong: p-values and intervals are too"
            " optimistic"
        )
        warn(notes[-1])
    return tuple(notes)
