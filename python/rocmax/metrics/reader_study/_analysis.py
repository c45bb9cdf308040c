"""The analysis of a reader study: what is compared, by which covariances, against what."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._parameters import shown
from rocmax._threads import n_threads
from rocmax.metrics._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics._resample import check_resamples
from rocmax.metrics._sample import check_variance
from rocmax.metrics._validation import F64, check_level, choice, number
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.curve import CurveMeasure
from rocmax.metrics.reader_study import _covariances as covariances
from rocmax.metrics.reader_study._anova import NO_VARIANCE, Anova, ErrorTerm, anova, one_shot_variances
from rocmax.metrics.reader_study._inference import (
    deciding_intervals,
    difference_test,
    differences_of,
    mean_of,
    mean_test,
)
from rocmax.metrics.reader_study._result import MRMCAnalysis
from rocmax.metrics.reader_study._study import Study, note_of, plain, read_study

_COVARIANCES = ("delong", "jackknife", "unbiased", "bootstrap", "obuchowski")
_KINDS = ("random", "fixed")


def mrmc_analysis(
    y_true: ArrayLike,
    y_score: ArrayLike,
    measure: Measure | str = "auc",
    *,
    reader: ArrayLike,
    modality: ArrayLike,
    case: ArrayLike,
    covariance: str = "delong",
    readers: str = "random",
    cases: str = "random",
    reference: Any = None,
    null_difference: float = 0.0,
    null_value: float = 0.5,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
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
        The truth of each reading's case; see :func:`infer` for labels.
    y_score : array-like of shape (n_readings,)
        Finite ratings, higher ones for the positive class; ties count one half. Leave out the rows of missing readings:
        the result counts and names them.
    measure : Measure or str, default="auc"
        What is measured, as in :func:`infer`; "jackknife" and "bootstrap" take any measure.
    reader, modality, case : array-like of shape (n_readings,)
        Who read, with what, which case. Cases with one name are the same case: where readers or modalities have
        cases of their own (nested, split-plot) these need names of their own. Readers read in every modality.
        Readers and modalities are sorted by name, or in the order of an ordered categorical.
    covariance : {"delong", "jackknife", "unbiased", "bootstrap", "obuchowski"}, default="delong"
        Where the covariances come from: DeLong's components; leaving out case after case; products of kernels that
        share no case (Gallas, 2006) [3]_, for means over pairs only; `n_resamples` draws of the cases; binormal curves.
    readers, cases : {"random", "fixed"}, default="random"
        Whether the results are to hold for readers and for cases like these, or for these only. Not both are fixed.
    reference : label, default=None
        The modality that the others are compared with: it becomes the last, so that differences are the others minus
        it. Needed, or an ordered categorical, where modalities are texts and the test depends on which one is first.
    null_difference : float, default=0.0
        What differences are tested against: minus the margin, with alternative "greater", for non-inferiority of the
        others to `reference`.
    null_value : float, default=0.5
        What the mean is tested against where there is one modality.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Of each difference (of the mean, for one modality); "equivalence" is that it lies within `equivalence_margin`
        of the null difference, by two one-sided tests: those at the level 5 % reject where the 90 % interval, which is
        reported, lies within the margin. The joint test of three modalities and more has no side.
    equivalence_margin : float, default=None
        The largest difference from the null difference that does not matter, above 0, for "equivalence".
    confidence_level : float, default=0.95
        Nominal coverage of the two-sided intervals, which are cut at the bounds of the measure.
    n_resamples : int, default=2000
        Number of bootstrap replicates.
    pos_label, random_state, n_jobs : optional
        As in :func:`infer`.

    Returns
    -------
    MRMCAnalysis
        Estimates, tests and components of variance. O(K n log n + K^2 n) for K tests of n cases by "delong", for
        "unbiased" O(K^2 m n); memory O(K (K + n)).

    Raises
    ------
    ValueError
        For a case of two truths, a reading given twice, a reader with fewer than two cases of a class in a modality,
        one reader that is to be random, a one-sided test of modalities without an order, and options that do not go
        together.
    MemoryError
        If the table of readers, modalities and cases does not fit, before it is made.

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
    measure = as_measure(measure)
    _check_covariance(covariance, measure)
    n_resamples = check_resamples(n_resamples)
    random = random_readers, random_cases = _random(readers, cases)
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    null = number(null_value, "null_value", "that is finite", np.isfinite)
    level = check_level(confidence_level)
    study = read_study(y_true, y_score, reader, modality, case, pos_label, reference)
    _require_order(study, hypothesis)
    if random_readers and study.n_readers < 2:
        raise ValueError("readers='random' needs two readers or more, got 1; readers='fixed' takes one")
    theta = covariances.estimates(study, measure)
    spread = _covariance(study, covariance, measure, (n_resamples, random_state, n_threads(n_jobs)))
    check_variance(spread)
    table = anova(theta, spread)
    error, one_shot = table.error(*random), covariance == "unbiased" and all(random)
    missing = study.missing()
    notes = _notes(table, error, random_cases)
    if missing:
        notes = (note_of(missing, study.scores.size), *notes)
    least, most = measure.bounds
    of_means = tuple(
        mean_of(name, theta[i], spread, i, random, level, (least, most)) for i, name in enumerate(study.modalities)
    )
    differences = tuple(differences_of(study, theta, error, hypothesis, level, most - least))
    of_one = hypothesis._replace(null=null + hypothesis.null)
    distribution, statistic, df, pvalue = (
        difference_test(differences, table, error, hypothesis) if differences else mean_test(of_means[0], of_one)
    )
    return MRMCAnalysis(
        modalities=study.modalities,
        readers=study.readers,
        estimates=theta,
        means=theta.mean(axis=1),
        statistic=statistic,
        distribution=distribution,
        df=df,
        pvalue=pvalue,
        differences=differences,
        mean_inference=of_means,
        components=table.components,
        covariance_matrix=spread,
        one_shot_variances=one_shot_variances(theta, spread) if one_shot else None,
        equivalence_intervals=deciding_intervals(differences or of_means, hypothesis, level, (least, most)),
        missing=missing,
        readings=study.readings,
        notes=notes,
        measure=measure,
        n_samples=int(study.readings.sum()),
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


def _require_order(study: Study, hypothesis: Hypothesis) -> None:
    """Check that it is not the alphabet which says what modality comes first in a test that depends on it."""
    sided = hypothesis.alternative in ("less", "greater") or hypothesis.null != 0
    if sided and study.n_modalities > 1 and not study.ordered:
        first, second = (shown(plain(name)) for name in study.modalities[:2])
        what = f"alternative={hypothesis.alternative!r} with null_difference={hypothesis.null:g}"
        raise ValueError(
            f"{what} depends on which modality is subtracted: give reference={first} or reference={second} (differences"
            " are the others minus it), or modality as an ordered categorical"
        )


def _random(readers: Any, cases: Any) -> tuple[bool, bool]:
    """Return which of them are random."""
    for name, value in (("readers", readers), ("cases", cases)):
        choice(value, _KINDS, name)
    if readers == cases == "fixed":
        raise ValueError("readers='fixed' and cases='fixed' leave nothing to vary; one of them must be 'random'")
    return readers == "random", cases == "random"


def _check_covariance(covariance: Any, measure: Measure) -> None:
    """Check that the measure has what the covariance is made of."""
    choice(covariance, _COVARIANCES, "covariance")
    if covariance in ("delong", "unbiased") and Trait.COMPONENTS not in measure.traits:
        raise ValueError(
            f"covariance={covariance!r} needs a measure with components, got measure={measure!r}; 'jackknife' and"
            " 'bootstrap' take any"
        )
    if covariance == "obuchowski" and Trait.AREA not in measure.traits:
        raise ValueError(
            f"covariance='obuchowski' needs the AUC or a partial AUC of one range, got measure={measure!r}"
        )
    if measure.multi_class != "raise":
        raise ValueError(f"a reader study has two classes, got measure={measure!r}")


def _covariance(study: Study, how: str, measure: Measure, resampling: tuple[int, Any, int]) -> F64:
    if how == "bootstrap":
        return covariances.bootstrap(study, measure, *resampling)
    if how == "obuchowski":
        assert isinstance(measure, CurveMeasure)
        return covariances.fitted(study, measure, resampling[-1])
    made = {"jackknife": covariances.jackknife, "unbiased": covariances.unbiased, "delong": covariances.delong}
    return made[how](study, measure)


def _notes(table: Anova, error: ErrorTerm, random_cases: bool) -> tuple[str, ...]:
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
