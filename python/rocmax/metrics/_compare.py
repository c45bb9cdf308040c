"""Tests of the difference between measures of two models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _words as words
from rocmax.metrics._arrays import is_dask
from rocmax.metrics._binormal import fitted_covariance
from rocmax.metrics._components import clustered_covariance, covariance_parts, variance_parts
from rocmax.metrics._dask import in_memory
from rocmax.metrics._hypothesis import Hypothesis, parse_hypothesis
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import Law, of_difference, percentiles
from rocmax.metrics._measure import (
    Measure,
    MeasureOptions,
    check_level,
    check_variance,
    effective,
    of_any_measure,
    parse_measure,
    point_estimates,
    positives,
    totals,
)
from rocmax.metrics._methods import check_method, default_comparison, warn_of_few_compared
from rocmax.metrics._multiclass import Average, check_average, classes, compared
from rocmax.metrics._references import METHODS, Method
from rocmax.metrics._resample import check_resamples, check_resampling, replicate, seed_of
from rocmax.metrics._result import Measured, of_bootstrap, of_classes, of_measure, of_samples
from rocmax.metrics._validation import F64, Sample, choice, explain, require_finite, require_weights, sample, scores
from rocmax.metrics._weights import kind_of, warn_unless_counts

_GROUPS = "groups need a paired comparison with method='delong'"


@dataclass(frozen=True, repr=False, eq=False)
class AUCComparison(Measured):
    """A test of whether two models have the same measure.

    Attributes
    ----------
    estimate_a, estimate_b, difference : float
        The measure of either model, and a minus b.
    statistic : float
        The difference over its standard error; with "venkatraman" the distance of the curves.
    pvalue : float
        Of the alternative that was asked for: the least level at which the interval leaves the null difference out.
    confidence_interval : ConfidenceInterval or None
        Two-sided, of the difference; None with "venkatraman", whose test is not of a number.
    covariance : ndarray of shape (2, 2) or None
        Of the two estimates; None with "venkatraman".
    df : float or None
        Degrees of freedom of Student's t; None for the normal distribution.
    method, alternative : str
        As asked for.
    null_difference, equivalence_margin : float and float or None
        What the difference was tested against.
    pos_label : label
        The label of the positive class.
    confidence_level : float
        The nominal coverage of the interval.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    n_pos_b, n_neg_b : float or None
        Those of b, where the samples are not the same.
    names : (str, str) or None
        The models', where the scores had such.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr, multi_class, average
        What was measured, in the words of the arguments.
    class_sizes, weight_kind, n_samples, n_groups, n_folds, resampling
        From what, as in :class:`AUCInference`.
    """

    estimate_a: float
    estimate_b: float
    difference: float
    statistic: float
    pvalue: float
    confidence_interval: ConfidenceInterval | Any
    covariance: F64 | Any
    df: float | None
    method: str
    alternative: str
    pos_label: Any = 1
    null_difference: float = 0.0
    equivalence_margin: float | None = None
    confidence_level: float = 0.95
    n_pos: float = 0.0
    n_neg: float = 0.0
    n_pos_b: float | None = None
    n_neg_b: float | None = None
    names: tuple[str, str] | None = None

    @property
    def standard_error(self) -> float:
        """Of the difference; NaN with "venkatraman"."""
        return np.nan if self.covariance is None else error_of(self.covariance)

    def _titles(self) -> tuple[str, str]:
        first, second = self.names or ("a", "b")
        return words.label_text(first), words.label_text(second)

    def rows(self) -> list[dict[str, Any]]:
        names = self.names or ("a", "b")
        low, high = self.confidence_interval or (np.nan, np.nan)
        return [
            {
                "model_a": names[0],
                "model_b": names[1],
                "measure": words.measure_name(self),
                "estimate_a": self.estimate_a,
                "estimate_b": self.estimate_b,
                "difference": self.difference,
                "standard_error": self.standard_error,
                "ci_low": low,
                "ci_high": high,
                "statistic": self.statistic,
                "df": np.inf if self.df is None else self.df,
                "pvalue": self.pvalue,
                "method": self.method,
                **({} if self.weight_kind is None else {"weight_kind": self.weight_kind}),
            }
        ]

    def _lines(self) -> list[str]:
        places = self._places(self.standard_error)
        a, b = (words.digits(estimate, places) for estimate in (self.estimate_a, self.estimate_b))
        first, second = self._titles()
        interval = self.confidence_interval
        level = "" if interval is None else f" ({words.level(self.confidence_level)})"
        return [
            f"{self.measure}: {first} = {a}, {second} = {b}",
            f"difference {words.bracketed(self.difference, interval, places, '+')}{level}, "
            f"{words.p_value(self.pvalue)} ({self._test()})",
        ]

    def _sentences(self, basis: str) -> list[str]:
        places = self._places(self.standard_error)
        a, b, difference = (words.digits(x, places) for x in (self.estimate_a, self.estimate_b, self.difference))
        first, second = self._titles()
        interval = ""
        if self.confidence_interval is not None:
            interval = f" ({words.level(self.confidence_level)} {words.ends(self.confidence_interval, places)})"
        return [
            f"{self.measure}: {first} = {a}, {second} = {b}, difference {difference}{interval},"
            f" {words.p_value(self.pvalue)} ({self._test()}; {basis})"
        ]

    def _test(self) -> str:
        """Return what was tested, in words."""
        kind = "paired" if self.n_pos_b is None else "unpaired"
        if self.method == "venkatraman":
            return f"{kind} test of equal curves"
        return f"{kind} {words.against(self.alternative, self.null_difference, self.equivalence_margin)}"

    def _basis(self) -> list[str]:
        counted = self._samples(self.n_pos, self.n_neg, self.pos_label)
        if self.n_pos_b is not None and self.n_neg_b is not None:
            counted += f" against {words.samples(self.n_pos_b, self.n_neg_b)}"
        return [self.method_in_words, counted]

    def _sources(self) -> tuple[str, ...]:
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*self._source(self.method).sources, *equivalence)

    def _source(self, method: str) -> Method:
        if method == "venkatraman" and self.n_pos_b is not None:
            return METHODS["venkatraman-unpaired"]
        return super()._source(method)


def error_of(covariance: F64) -> float:
    """Return the standard error of the difference of two estimates."""
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    # Rounding leaves about this much of two equal variances.
    return float(np.sqrt(variance)) if variance > 1e-14 * (covariance[0, 0] + covariance[1, 1]) else 0.0


@of_any_measure
def compare_auc(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    y_true_b: ArrayLike | None = None,
    metric: Any = "auc",
    method: str | None = None,
    alternative: str = "two-sided",
    null_difference: float = 0.0,
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    stratified: bool = True,
    sample_weight: ArrayLike | None = None,
    sample_weight_b: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    multi_class: str = "raise",
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Unpack[MeasureOptions],
) -> AUCComparison:
    """Test whether two models have the same AUC of any kind, or the same rate at a threshold that the other rate sets.

    ``(A - B) / sqrt(var A + var B - 2 cov(A, B))`` with the variances and the covariance of
    :func:`auc_inference`. Paired models scored the same samples and the statistic is normal;
    unpaired samples have no covariance and the statistic follows Student's t with
    ``(var A + var B)^2 / (var A^2/(N_A - 1) + var B^2/(N_B - 1))`` degrees of freedom, N counting
    all samples of either, with sampling weights the effective number of them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    score_a, score_b : array-like of shape (n_samples,)
        Finite scores of the two models; those of b go with `y_true_b` if that is given. Of dask arrays
        17 bytes a sample are held in this process; see :mod:`rocmax.metrics`.
    y_true_b : array-like of shape (n_samples_b,), default=None
        Labels of a second, independent sample. None for a paired comparison.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr, fraction, alpha : optional
        What is measured, as in :func:`auc_inference`.
    method : {"delong", "bootstrap", "obuchowski", "venkatraman"} or None, default=None
        Where the covariance comes from. None stands for "delong", and for "bootstrap" where fewer than five samples
        are in the range of a partial AUC or beyond the threshold of a rate (and there are no groups): there it covers
        better, elsewhere DeLong as well or better, as ``benches/python/coverage_metrics.py`` measures. `method` of the
        result says which it was. With the bootstrap the interval is that of percentiles and the p-value the share of
        replicates beyond the null difference, at least 1 / (n_resamples + 1), twice that for both sides.
        "obuchowski": that of areas under fitted binormal curves [2]_, by the correlations of the scores among the
        positives and among the negatives; paired models only; for the AUC they are pROC's, which are too small or too
        large where the classes differ in number and in spread: prefer "delong".
        "venkatraman": whether the two ROC curves are equal everywhere, not only their areas: a permutation test of
        ``E = 2 k int_0^1 |TPR_a(t) - TPR_b(t)| dt``, t the share of samples called positive and k that of positives,
        times n_samples^2 if paired, where it counts as in [3]_, ties pro rata. The samples' places t are exchanged,
        `n_resamples` times, between the scores of a sample [3]_ or, unpaired, between the samples of a class [4]_; the
        p-value is ``(1 + #{E* >= E}) / (1 + n_resamples)``. For the AUC, two-sided, without weights or groups.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Whether a minus b differs from the null difference, is less or is greater; "equivalence" is that it lies
        within `equivalence_margin` of it, by two one-sided tests (Schuirmann, 1987). Non-inferiority of a is
        "greater" than minus the margin.
    null_difference : float, default=0.0
        What a minus b is tested against.
    equivalence_margin : float, default=None
        The largest difference that does not matter, above 0, for "equivalence". The test at level p is the interval
        of confidence 1 - 2p that ends inside the margin.
    confidence_level : float, default=0.95
        Nominal coverage of the interval of the difference.
    n_resamples, stratified : int, default=2000, and bool, default=True
        The bootstrap, as in :func:`auc_inference`; paired models share their draws. Samples are drawn
        by their rank in `score_a`: the order of the rows changes nothing, that of the models the draws.
    sample_weight, sample_weight_b : array-like, default=None
        Non-negative weights; those of b only for a second sample.
    weight_kind : {"frequency", "sampling"} or None, default=None
        As in :func:`auc_inference`.
    groups : array-like of shape (n_samples,), default=None
        Clusters of dependent samples; paired DeLong comparisons only.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How several classes are measured, of paired models with scores of shape (n_samples, n_classes); see
        :func:`auc_inference`, also for `average` and `labels`.
    average : {"macro", "weighted"}, default="macro"
        The mean over classes or pairs of classes.
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns, sorted, where not all occur.
    pos_label : label, default=None
        The positive class; all others are negative.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap and of permutations.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    AUCComparison
        Estimates, statistic, p-value, interval and covariance. O(n log n). If the variance of the
        difference is 0, the statistic is 0 for no difference (p = 1), infinite otherwise.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, or options that do not go together.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44, 1988.
       :doi:`10.2307/2531595`
    .. [2] N. A. Obuchowski and D. K. McClish, "Sample size determination for diagnostic accuracy
       studies involving binormal ROC curve indices", Statistics in Medicine 16, 1997.
    .. [3] E. S. Venkatraman and C. B. Begg, "A distribution-free procedure for comparing receiver
       operating characteristic curves from a paired experiment", Biometrika 83, 1996.
       :doi:`10.1093/biomet/83.4.835`
    .. [4] E. S. Venkatraman, "A permutation test to compare receiver operating characteristic
       curves", Biometrics 56, 2000. :doi:`10.1111/j.0006-341X.2000.01134.x`

    Examples
    --------
    >>> from rocmax.metrics import compare_auc
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> found = compare_auc(y, [1, 2, 3, 4, 7, 5, 6, 8, 9, 10], [1, 6, 3, 4, 9, 5, 2, 8, 7, 10])
    >>> round(found.difference, 6), round(found.pvalue, 6)
    (0.24, 0.051576)
    >>> print(found)
    AUC: a = 0.920, b = 0.680
    difference +0.240 [-0.002, +0.482] (95 % CI), p = 0.052 (paired two-sided test)
    DeLong et al. 1988; 5 positive, 5 negative samples
    """
    measure = parse_measure(metric, **options)
    choice(method, ("delong", "bootstrap", "obuchowski", "venkatraman", None), "method")
    hypothesis = parse_hypothesis(alternative, null_difference, equivalence_margin)
    level, resampling = check_level(confidence_level), (stratified, n_resamples, random_state)
    test = _Test(measure, method, hypothesis, level, kind_of(weight_kind), groups, resampling, weight_kind)
    check_resampling(*resampling)
    how = check_average(multi_class, average, labels)
    reading: dict[str, Any] = {"pos_label": pos_label, "n_jobs": n_jobs}
    names = _names(score_a, score_b)
    if how.multi_class != "raise":
        if y_true_b is not None or pos_label is not None:
            raise ValueError("multi_class compares paired models of all classes: it takes no y_true_b and no pos_label")
        found = _of_classes(test, how, y_true, score_a, score_b, sample_weight, (labels, n_jobs))
    elif method == "venkatraman":
        plain = sample_weight is None and sample_weight_b is None and groups is None
        if measure.metric != "auc" or hypothesis != Hypothesis() or not plain:
            raise ValueError(
                "method='venkatraman' compares whole curves: it needs metric='auc', alternative='two-sided' and"
                " null_difference=0, and takes no weights and no groups"
            )
        found = curves_equal(y_true, score_a, score_b, y_true_b, (n_resamples, random_state), reading)
    else:
        check_method(test.usual, measure.family, weight_kind=test.weight_kind)
        if y_true_b is None:
            if sample_weight_b is not None:
                raise ValueError("sample_weight_b needs y_true_b: paired models share sample_weight")
            found, sizes = _of_one_sample(test, y_true, score_a, score_b, sample_weight, reading)
        else:
            first, second = (y_true, score_a, sample_weight), (y_true_b, score_b, sample_weight_b)
            found, sizes = _of_two_samples(test, first, second, reading)
        warn_of_few_compared(found.method, measure, sizes, grouped=groups is not None)
    return replace(found, names=names, **of_measure(measure))


class _Test(NamedTuple):
    """What is tested, and how, whatever the samples are."""

    measure: Measure
    method: str | None
    hypothesis: Hypothesis
    level: float
    weight_kind: str
    groups: Any
    resampling: tuple[bool, int, Any]
    asked_kind: str | None

    @property
    def usual(self) -> str:
        """The method, or the usual one of the measure."""
        return self.method or ("delong" if self.measure.has_components else "bootstrap")

    @property
    def asked(self) -> tuple[Measure, Hypothesis, float]:
        """What is measured, what its difference is tested against, and the level of the interval."""
        return self.measure, self.hypothesis, self.level

    def made(self, method: str) -> dict[str, Any]:
        """Return what the result says of a bootstrap."""
        return of_bootstrap(method, self.resampling[1], self.resampling[0])


def _names(score_a: Any, score_b: Any) -> tuple[str, str] | None:
    """Return the names of two columns of data frames, if they have two."""
    first, second = (None if is_dask(score) else getattr(score, "name", None) for score in (score_a, score_b))
    named = isinstance(first, str) and isinstance(second, str) and first and second and first != second
    return (str(first), str(second)) if named else None


def _counts(a: Sample, b: Sample | None = None) -> dict[str, Any]:
    """Return the numbers of samples, of two models that share them or of each."""
    (n_pos, n_neg), (n_pos_b, n_neg_b) = totals(a), (None, None) if b is None else totals(b)
    return {"pos_label": a.pos_label, "n_pos": n_pos, "n_neg": n_neg, "n_pos_b": n_pos_b, "n_neg_b": n_neg_b}


def _rows_of(both: list[Sample], weight_kind: str) -> dict[str, Any]:
    """Return how the samples of both were counted."""
    each = [of_samples(data.weight, weight_kind, None, data.y) for data in both]
    kinds = {found["weight_kind"] for found in each} - {None}
    return {"weight_kind": kinds.pop() if kinds else None, "n_samples": sum(found["n_samples"] for found in each)}


def method_for(
    method: str | None, measure: Measure, samples: list[Sample], weight_kind: str, groups: Any
) -> tuple[str, tuple[float, float]]:
    """Return the method that was asked for or the default, and the least sizes of the classes."""
    for data in samples:
        require_weights(data.weight, data.weight_name)
    held = [effective(data) if weight_kind == "sampling" else totals(data) for data in samples]
    sizes = min(n_pos for n_pos, _ in held), min(n_neg for _, n_neg in held)
    return default_comparison(measure, sizes, grouped=groups is not None) if method is None else method, sizes


def _of_classes(
    test: _Test, how: Average, y_true: Any, score_a: Any, score_b: Any, sample_weight: Any, options: tuple[Any, Any]
) -> AUCComparison:
    """Compare paired models of many classes; `options` are the labels and the number of threads."""
    method = test.usual
    check_method(method, test.measure.family, weight_kind=test.weight_kind, grouped=test.groups is not None)
    y_true, score_a, score_b, sample_weight, groups = in_memory(
        y_true=y_true, score_a=score_a, score_b=score_b, sample_weight=sample_weight, groups=test.groups
    )
    models = [
        classes(y_true, score, sample_weight, *options, test.weight_kind, name)
        for name, score in (("score_a", score_a), ("score_b", score_b))
    ]
    if method not in ("delong", "bootstrap") or how.average is None:
        raise ValueError(
            "multi_class compares models by method='delong' or 'bootstrap' and one average, got"
            f" method={method!r} and average={how.average!r}"
        )
    drawn = test.resampling if method == "bootstrap" else None
    estimate, covariance, values = compared(models, test.measure, how, test.weight_kind, groups, drawn)
    differences = None if values is None else values[:, 0] - values[:, 1]
    found = difference_test(estimate, covariance, differences, None, method, *test.asked)
    warn_unless_counts(test.asked_kind, models[0].weight, stacklevel=4)
    made = of_samples(sample_weight, test.weight_kind, groups, models[0].of) | test.made(method)
    return replace(found, **{**of_classes(models[0], how), **made, "pos_label": None})


def curves_equal(
    y_true: Any, score_a: Any, score_b: Any, y_true_b: Any, resampling: tuple[int, Any], options: dict[str, Any]
) -> AUCComparison:
    """Test by permutations whether two ROC curves are the same."""
    is_paired = y_true_b is None
    if is_paired:
        y_true, score_a, score_b = in_memory(y_true=y_true, score_a=score_a, score_b=score_b)
        score_a, score_b = _columns(score_a, score_b)
    a = sample(y_true, score_a, names=("y_true", "score_a"), **options)
    b = sample(y_true if is_paired else y_true_b, score_b, names=("y_true_b", "score_b"), **options)
    for data in (a, b):
        explain(data)
        if data.many:
            raise ValueError(f"{data.names[1]} must be one-dimensional, got shape {data.score.shape}")
    first, second = ((positives(data), data.score.astype(np.float64)) for data in (a, b))
    n_resamples, seed = check_resamples(resampling[0]), seed_of(resampling[1])
    distance, permuted = _core.permuted_distances(*first, *second, is_paired, n_resamples, seed, a.threads)
    # Distances that differ by rounding only are the same.
    as_large = np.count_nonzero(permuted >= distance * (1 - 1e-9))
    estimates = [float(point_estimates(data, Measure("auc", 0.0, 1.0, 0.0, 1.0))[0]) for data in (a, b)]
    return AUCComparison(
        estimate_a=estimates[0],
        estimate_b=estimates[1],
        difference=estimates[0] - estimates[1],
        statistic=distance * (len(a.y) ** 2 if is_paired else 1),
        pvalue=(1 + as_large) / (1 + n_resamples),
        confidence_interval=None,
        covariance=None,
        df=None,
        method="venkatraman",
        alternative="two-sided",
        n_samples=len(a.y) if is_paired else len(a.y) + len(b.y),
        resampling=f"{n_resamples:,} permutations",
        **_counts(a, None if is_paired else b),
    )


def _columns(score_a: Any, score_b: Any) -> list[NDArray[Any]]:
    columns = [scores(score_a, "score_a"), scores(score_b, "score_b")]
    for column, name in zip(columns, ("score_a", "score_b"), strict=True):
        if column.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got an array of shape {column.shape}")
    if len(columns[0]) != len(columns[1]):
        raise ValueError(
            f"score_a has {len(columns[0])} samples, score_b has {len(columns[1])}; give y_true_b if"
            " they are of different samples"
        )
    return columns


def _of_one_sample(
    test: _Test, y_true: Any, score_a: Any, score_b: Any, sample_weight: Any, options: dict[str, Any]
) -> tuple[AUCComparison, tuple[float, float]]:
    """Compare paired models; return the least sizes of the classes too."""
    measure, weight_kind = test.measure, test.weight_kind
    if test.groups is not None and test.method not in ("delong", None):
        raise ValueError(_GROUPS)
    y_true, score_a, score_b, sample_weight, groups = in_memory(
        y_true=y_true, score_a=score_a, score_b=score_b, sample_weight=sample_weight, groups=test.groups
    )
    columns = _columns(score_a, score_b)
    data = sample(y_true, columns[0], sample_weight, names=("y_true", "score_a"), **options)
    method, sizes = method_for(test.method, measure, [data], weight_kind, groups)
    try:
        estimate, covariance, values = paired(data, columns, measure, method, weight_kind, groups, test.resampling)
    except ValueError:
        for column, name in zip(columns, ("score_a", "score_b"), strict=True):
            require_finite(column, name)
        raise
    differences = None if values is None else values[:, 0] - values[:, 1]
    found = difference_test(estimate, covariance, differences, None, method, *test.asked)
    warn_unless_counts(test.asked_kind, data.weight, stacklevel=4)
    made = of_samples(sample_weight, weight_kind, groups, data.y) | test.made(method)
    return replace(found, **_counts(data), **made), sizes


def paired(
    data: Sample,
    columns: list[NDArray[Any]],
    measure: Measure,
    method: str,
    weight_kind: str,
    groups: Any,
    resampling: Any,
) -> tuple[F64, F64, F64 | None]:
    """Estimates, their covariance, and bootstrap replicates if there are any."""
    if groups is None and method == "delong":
        estimate, pos, neg = covariance_parts(data, columns, measure, weight_kind)
        return estimate, pos + neg, None
    data = data._replace(score=np.column_stack(columns))
    if groups is not None:
        return *clustered_covariance(data, measure, groups), None
    if method == "obuchowski":
        return point_estimates(data, measure), fitted_covariance(data, columns, measure), None
    stratified, n_resamples, random_state = resampling
    values = replicate(data, measure, stratified, n_resamples, random_state, weight_kind)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused as a variance
        return point_estimates(data, measure), np.cov(values.T), values


def _of_two_samples(
    test: _Test, first: tuple[Any, Any, Any], second: tuple[Any, Any, Any], options: dict[str, Any]
) -> tuple[AUCComparison, tuple[float, float]]:
    """Compare models of independent samples, each (labels, scores, weights); return the least sizes of the classes."""
    measure, weight_kind = test.measure, test.weight_kind
    if test.method == "obuchowski":
        raise ValueError("method='obuchowski' needs paired models: it takes no y_true_b")
    if test.groups is not None:
        raise ValueError(_GROUPS)
    both = [
        sample(*given, names=names, **options)
        for given, names in ((first, ("y_true", "score_a")), (second, ("y_true_b", "score_b")))
    ]
    for data in both:
        if data.many:
            raise ValueError(f"{data.names[1]} must be one-dimensional, got shape {data.score.shape}")
    method, sizes = method_for(test.method, measure, both, weight_kind, None)
    differences, df = None, None
    if method == "bootstrap":
        stratified, n_resamples, random_state = test.resampling
        seed = seed_of(random_state)
        values = [
            replicate(data, measure, stratified, n_resamples, (seed + k) % 2**64, weight_kind)[:, 0]
            for k, data in enumerate(both)
        ]
        estimate = np.concatenate([point_estimates(data, measure) for data in both])
        variances, differences = np.array([value.var(ddof=1) for value in values]), values[0] - values[1]
    else:
        parts = [variance_parts(data, measure, weight_kind) for data in both]
        estimate = np.array([part[0][0] for part in parts])
        variances = np.array([(part[1] + part[2])[0] for part in parts])
        spread = (variances**2 / (np.array([sum(part[3]) for part in parts]) - 1)).sum()
        df = float(variances.sum() ** 2 / spread) if spread > 0 else np.inf
    found = difference_test(estimate, np.diag(variances), differences, df, method, *test.asked)
    warn_unless_counts(test.asked_kind, *(data.weight for data in both), name="sample_weight and _b", stacklevel=4)
    return replace(found, **_counts(*both), **_rows_of(both, weight_kind), **test.made(method)), sizes


def difference_test(
    estimate: F64,
    covariance: F64,
    differences: F64 | None,
    df: float | None,
    method: str,
    measure: Measure,
    hypothesis: Hypothesis,
    level: float,
) -> AUCComparison:
    """Test the difference of two estimates; its interval is that of `differences` if there are any."""
    check_variance(covariance)
    difference = float(estimate[0] - estimate[1])
    error = error_of(covariance)
    if difference != 0 and error == 0:
        message = (
            f"the difference of {difference:.3g} has a variance of 0, as after rankings without an error: its p-value"
            " of 0 and its interval promise too much"
        )
        warnings.warn(CoverageWarning(message), stacklevel=4)
    limits = of_difference(difference, error, Law(df), measure)
    if differences is not None:
        limits = percentiles(differences[:, None], limits.tails)
    (low,), (high,) = limits.ends(level)
    statistic, pvalue = (float(np.ravel(found)[0]) for found in hypothesis.test(limits.tails))
    return AUCComparison(
        estimate_a=float(estimate[0]),
        estimate_b=float(estimate[1]),
        difference=difference,
        statistic=statistic,
        pvalue=pvalue,
        confidence_interval=ConfidenceInterval(float(low), float(high)),
        covariance=covariance,
        df=df,
        method=method,
        alternative=hypothesis.alternative,
        null_difference=hypothesis.null,
        equivalence_margin=hypothesis.margin,
        confidence_level=level,
    )
