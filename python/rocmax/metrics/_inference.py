"""Variances and confidence intervals of one measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._parameters import shown
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _interval as interval
from rocmax.metrics import _rate as rate
from rocmax.metrics import _words as words
from rocmax.metrics._arrays import plain
from rocmax.metrics._binormal import fitted_variance
from rocmax.metrics._components import influences, moments, parts_of, variance_parts
from rocmax.metrics._dask import in_memory
from rocmax.metrics._hypothesis import Question, parse_question
from rocmax.metrics._measure import (
    Measure,
    MeasureOptions,
    check_variance,
    effective,
    of_any_measure,
    parse_measure,
    point_estimates,
    totals,
)
from rocmax.metrics._methods import check_method, default_method, warn_of_few
from rocmax.metrics._multiclass import (
    Average,
    Classes,
    check_average,
    class_estimates,
    classes,
    replicates,
    variance_of_classes,
)
from rocmax.metrics._references import METHODS, Method
from rocmax.metrics._resample import check_resampling, replicate, seed_of
from rocmax.metrics._result import Measured, of_bootstrap, of_classes, of_measure, of_samples
from rocmax.metrics._score import score, slope
from rocmax.metrics._validation import F64, Sample, call, choice, is_one_of, named_columns, sample
from rocmax.metrics._weights import kind_of, warn_unless_counts
from rocmax.metrics.thresholds._rules import Rule


class ConfidenceInterval(NamedTuple):
    """The ends of a confidence interval."""

    low: Any
    high: Any


@dataclass(frozen=True, repr=False, eq=False)
class AUCInference(Measured):
    """A measure with its uncertainty.

    Attributes
    ----------
    estimate : float or ndarray of shape (n_models,)
        The value of the measure.
    variance, standard_error : float or ndarray of shape (n_models,)
        Of the estimate.
    confidence_interval : ConfidenceInterval
        Its `low` and `high` end.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    method : str
        How the variance and the interval were found.
    confidence_level : float
        The nominal coverage of the interval.
    statistic, pvalue : float or ndarray of shape (n_models,), or None
        Of the test against `null_value`, if one was asked for.
    null_value, alternative, equivalence_margin : float, str and float, or None
        What the estimate was tested against.
    replicates : ndarray of shape (n_resamples,) or (n_resamples, n_models), or None
        Bootstrap replicates of the estimate.
    pos_label : label
        The label of the positive class.
    names : tuple of str or None
        The models', or the classes' where there is a result a class; None for those of an array.
    threshold : float or ndarray of shape (n_models,), or None
        Of a rate: that of :func:`operating_point`, scores of at least which are called positive.
    metric, fpr_range, tpr_range, normalize, margin, fpr, tpr, fraction, alpha, multi_class, average
        What was measured, in the words of the arguments.
    class_sizes, weight_kind, n_samples, n_groups, n_folds, resampling
        From what: samples of each of several classes, kind of weights (None without), rows, clusters, folds, and how a
        bootstrap drew; None where there was no such thing.
    """

    estimate: Any
    variance: Any
    standard_error: Any
    confidence_interval: ConfidenceInterval
    n_pos: float
    n_neg: float
    method: str
    confidence_level: float
    replicates: F64 | None = None
    pos_label: Any = 1
    names: tuple[str, ...] | None = None
    statistic: Any = None
    pvalue: Any = None
    null_value: float | None = None
    alternative: str | None = None
    equivalence_margin: float | None = None
    threshold: Any = None

    @property
    def _each(self) -> list[tuple[str, float, float, ConfidenceInterval]]:
        """Name, estimate, standard error and interval of each model."""
        columns = (self.estimate, self.standard_error, *self.confidence_interval)
        rows = np.column_stack([np.atleast_1d(column) for column in columns]).tolist()
        names = self.names or [f"model {k + 1}" if np.ndim(self.estimate) else "" for k in range(len(rows))]
        return [(name, row[0], row[1], ConfidenceInterval(*row[2:])) for name, row in zip(names, rows, strict=True)]

    def rows(self) -> list[dict[str, Any]]:
        kind = "model" if self.class_sizes is None or self.average is not None else "class"
        return [
            {
                **({kind: name} if name else {}),
                "measure": words.measure_name(self),
                "estimate": estimate,
                "standard_error": error,
                "ci_low": both.low,
                "ci_high": both.high,
                "method": self.method,
                **({} if self.weight_kind is None else {"weight_kind": self.weight_kind}),
                **({} if self.threshold is None else {"threshold": float(np.atleast_1d(self.threshold)[k])}),
                **self._tested(k),
                **self._counted(k),
            }
            for k, (name, estimate, error, both) in enumerate(self._each)
        ]

    def _tested(self, k: int) -> dict[str, Any]:
        """Return the test of the k-th row, if there was one."""
        if self.pvalue is None:
            return {}
        return {name: float(np.atleast_1d(getattr(self, name))[k]) for name in ("statistic", "pvalue")}

    @property
    def _against(self) -> str:
        """What was tested in words, if anything was."""
        if self.null_value is None or self.alternative is None:
            return ""
        return words.against(self.alternative, self.null_value, self.equivalence_margin)

    def _pvalue(self, k: int) -> str:
        """Return the p-value of the k-th row in words, if there was a test."""
        return f", {words.p_value(self._tested(k)['pvalue'])}" if self._against else ""

    @property
    def _only_test(self) -> str:
        """The test of one model in words, if there was one."""
        return f"{self._pvalue(0)} ({self._against})" if self._against else ""

    @property
    def _at(self) -> str:
        """The threshold of one model in words, if there is one, which the interval takes to vary."""
        return "" if self.threshold is None else f" at threshold {self.threshold:.6g}, which varies with the samples"

    @property
    def _fixed(self) -> str:
        """What the interval of a rate takes as fixed, and which interval takes the threshold so."""
        if self.threshold is None:
            return ""
        return f"; the {'FPR' if self.fpr is not None else 'TPR'} is fixed; operating_point fixes the threshold"

    def _counted(self, k: int) -> dict[str, Any]:
        """Return the numbers of samples of the k-th row."""
        if self.class_sizes is None:
            return {"n_pos": self.n_pos, "n_neg": self.n_neg}
        total = sum(self.class_sizes)
        if self.average is not None:
            return {"n_classes": len(self.class_sizes), "n_samples": total}
        return {"n_pos": self.class_sizes[k], "n_neg": total - self.class_sizes[k]}

    def _lines(self) -> list[str]:
        if np.ndim(self.estimate):
            kept = ("model", "class", "estimate", "standard_error", "ci_low", "ci_high", "pvalue")
            rows = [{name: row[name] for name in kept if name in row} for row in self.rows()]
            test = f", p of a {self._against}" if self._against else ""
            level = f"{words.level(self.confidence_level)}{test}{self._fixed}"
            return [f"{self.measure} ({level})", *words.text_table(rows)]
        ((_, estimate, error, both),) = self._each
        text = words.bracketed(estimate, both, self._places(error, both))
        level = f"{words.level(self.confidence_level)}{self._fixed}"
        return [f"{words.named(self.measure, text)} ({level}){self._at}{self._only_test}"]

    def _sentences(self, basis: str) -> list[str]:
        found = []
        for name, estimate, error, both in self._each:
            places = self._places(error, both)
            found.append((words.label_text(name), words.digits(estimate, places), words.ends(both, places)))
        level = words.level(self.confidence_level)
        if np.ndim(self.estimate):
            test = f"; p of a {self._against}" if self._against else ""
            each = [f"{name} = {value} ({between}){self._pvalue(k)}" for k, (name, value, between) in enumerate(found)]
            return [f"{self.measure} ({level}{test}; {basis}): {'; '.join(each)}"]
        ((_, value, between),) = found
        return [f"{words.named(self.measure, value)} ({level} {between}; {basis}){self._at}{self._only_test}"]

    def _basis(self) -> list[str]:
        return [self.method_in_words, self._samples(self.n_pos, self.n_neg, self.pos_label)]

    def _source(self, method: str) -> Method:
        if method != "logit-delong" or self.metric not in ("auc", "margin_auc"):
            return super()._source(method)
        counted = self.n_groups is None and self.weight_kind != "sampling"
        few = counted and min(self.class_sizes or (self.n_pos, self.n_neg)) < interval.FEW
        certain = np.isin(self.estimate, (0.0, 1.0)) | (np.asarray(self.variance) == 0.0)
        return METHODS["newcombe"] if few or certain.all() else super()._source(method)

    def _sources(self) -> tuple[str, ...]:
        equivalence = ("schuirmann",) if self.alternative == "equivalence" else ()
        return (*self._source(self.method).sources, *equivalence)


@of_any_measure
def auc_inference(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    *,
    metric: Any = "auc",
    method: str | None = None,
    null_value: float | None = None,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    stratified: bool = True,
    bootstrap_interval: str = "percentile",
    sample_weight: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    multi_class: str = "raise",
    average: str | None = "macro",
    labels: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Unpack[MeasureOptions],
) -> AUCInference:
    """Variance and confidence interval of an AUC of any kind, or of the rate at a threshold that the other rate sets.

    DeLong: ``S10 / m + S01 / n`` with S10 and S01 the variances (divisors m - 1 and n - 1) of the
    components V10_i of the m positives and V01_j of the n negatives. For a mean over pairs of a
    kernel k these are its row and column means; ``k = 1[s > t] + 1/2 1[s = t]`` for the AUC,
    ``max(0, s - t)`` for the scored AUC and ``1[s - t > margin]`` for the margin AUC. For a partial
    area over [a, b], with G the false positive rate and R the ROC curve, ``V10_i = min(b - a, max(0, b - G(s_i)))`` and
    ``V01_j = R(min(b, max(a, G(t_j))))``, averaged over a block of ties: the influence functions of
    the two empirical distributions, which at [0, 1] are DeLong's. For the true positive rate R at a false
    positive rate, with c the threshold of :func:`tpr_at_fpr_score`, they are ``V10_i = 1[s_i >= c]``
    and ``V01_j = R' 1[t_j < c]`` (Linnet, 1987) [6]_, R' the slope of the curve there; for the false
    positive rate at a true positive rate likewise, with the slope on V10. Intervals of such rates take the other rate
    as fixed and the threshold as estimated; those of :func:`operating_point` take the threshold as fixed.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
        Finite scores; one column a model, whose results are then arrays. A mapping from the models' names to their
        scores, and a data frame, give the result `names`. For dask arrays, 9 bytes per score are held in memory.
    metric : str, Measure or callable, default="auc"
        What is measured: "auc", "partial_auc" (see :func:`partial_auc_score` for `fpr_range`, `tpr_range`,
        `normalize`), "scored_auc", "margin_auc", "tpr_at_fpr", "fpr_at_tpr"; of screens "enrichment_factor", "rie" and
        "bedroc", by the bootstrap; a :class:`Measure`, which holds options too; or a function
        ``(y_true, y_score) -> float`` of boolean labels and the scores of a model, by the bootstrap, with a third
        argument where `sample_weight` is given.
    fpr_range, tpr_range : (float, float), default=None
        The range of a partial AUC, which ``metric="auc"`` means where one is given; neither stands for all of the
        curve. Both are the two-way partial AUC, by "delong" and "logit-delong", whose components are the derivatives of
        the area by the samples' weights.
    normalize : {"width", "mcclish"} or None, default="width"
        What the partial area is divided by.
    margin : float, default=None
        The lead that the margin AUC asks for; see :func:`margin_auc_score`.
    fpr, tpr : float in (0, 1), default=None
        The rate at which "tpr_at_fpr" or "fpr_at_tpr" reads the curve; see :func:`tpr_at_fpr_score`
        and :func:`fpr_at_tpr_score`.
    fraction, alpha : float, default=None
        How much of a screen "enrichment_factor" looks at, None for 0.01, and how early "rie" and "bedroc" look, None
        for 20; see :func:`enrichment_factor_score` and :func:`bedroc_score`.
    method : {"delong", "logit-delong", "score", "newcombe", "obuchowski", "wu", "bootstrap"} or None, default=None
        None stands for the method whose intervals hold the truth most nearly as often as they say, as measured by
        ``benches/python/coverage_metrics.py``: "score" for partial areas and rates, "logit-delong" for all else and
        wherever there are groups or sampling weights. `method` of the result says which it was. Of AUCs its variance
        is DeLong's. Methods that do not cover with few samples warn below five of them.
        "delong": normal interval, clipped to the values the measure can take. "logit-delong": on the
        log-odds scale (of the scored AUC, which has no upper bound, that of logs), with Student's t and
        the degrees of freedom of Welch and Satterthwaite (sampling weights: of the effective number of
        samples, Kish, 1965; groups: of their number less 1); for an AUC, with a margin or without, with
        fewer than five samples in a class, or of 0 or 1, the interval of "newcombe".
        "score": all values theta of an AUC or a partial AUC up to the outermost with
        ``(E(theta) - estimate)^2 <= z^2 (r V10(theta) / m + q V01(theta) / n)``; E is the mean of the
        estimate and V10 and V01 are the variances of components on the binormal curve of the samples'
        slope that has this theta, and r and q draw them towards DeLong's at the estimate as samples
        grow more; z is larger where the positives' part is skewed. It keeps its coverage with two
        to five positives, where those above cover as seldom as one time in five, and also for a class of one. For the
        true positive rate at a false positive rate f: all values at f of lines of slope b between normal quantiles of
        the rates that at ``q = (floor(n f) + 1) / (n + 1)`` have an r with
        ``(estimate - r)^2 <= z^2 (r (1 - r) / m + R'^2 q (1 - q) / (n + 2))``, b the slope of the curve
        about there and R' that of the line; scores are taken to be continuous. It covers better than
        the bootstrap and the methods above wherever a class is small, and as well elsewhere.
        Where fewer than five negatives are in the range (or beyond the threshold of a rate), the limits are those of
        the estimate's own distribution, which is that of order statistics: all theta of binormal curves on which an
        estimate so low, and one so high, has a probability (mid-p) of at least ``(1 - confidence_level) / 2``, for
        slopes within a factor of ``exp(2 / sqrt(2 h + 10))`` of the fitted one, ``h = min(10, m n / (m + n))``.
        Below one negative the estimate lies beyond the data, and a warning says so. Coverage in percent, chance scores
        and normal scores with shift 1 (``benches/python/coverage_metrics.py 2000 few``):

        ==========================================  ======  =======
        positives, negatives, range                 chance  shift 1
        ==========================================  ======  =======
        50, 8, (0, 0.05)                            99.5    98.4
        5, 3, (0, 0.1)                              100.0   100.0
        5, 5, (0, 0.1)                              98.4    100.0
        10, 5, (0, 0.1)                             98.8    100.0
        2 to 50 each, 0.1 to 3 negatives: at least  95.8    97.4
        ==========================================  ======  =======

        "newcombe": the AUC's score interval, all A with ``(A - AUC)^2 <= z^2 V(A)``,
        ``V(A) = A(1-A)/(mn) (1 + ((m+n)/2 - 1) ((1-A)/(2-A) + A/(1+A)))`` [4]_: it needs no
        components, so that few positives or a perfect ranking do not mislead it; real coverage of
        each is printed by ``benches/python/coverage_metrics.py``.
        "obuchowski": the variance of the area under a binormal curve [5]_, a least-squares line
        through the probits of the rates inside the unit square; for the AUC it is pROC's, which
        depends on the class that is called positive, so prefer the others.
        "wu": ``(n-1)/n S10/m + (m-1)/m S01/n`` [2]_, for the scored AUC.
    null_value : float, default=None
        A value to test the measure against, such as 0.5; None for no test. The p-value is the least level at which
        the method's interval leaves it out: of "delong" that of the estimate's distance over its standard error, of
        "logit-delong" of the same on the log-odds scale, of "score" and "newcombe" with the variance at the null
        value, of the bootstrap twice the share of replicates beyond it (at least 1 / (n_resamples + 1) on one side).
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Whether the measure differs from the null value, is less or is greater, or lies within `equivalence_margin` of
        it, by two one-sided tests. To be no worse than 0.8 by more than 0.05 is "greater" than 0.75.
    equivalence_margin : float, default=None
        The largest difference from the null value that does not matter, above 0, for "equivalence".
    confidence_level : float, default=0.95
        Nominal coverage.
    n_resamples : int, default=2000
        Number of bootstrap replicates.
    stratified : bool, default=True
        Whether the bootstrap keeps the size of either class.
    bootstrap_interval : {"percentile", "bca"}, default="percentile"
        "bca" corrects for bias and acceleration (Efron, 1987).
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    weight_kind : {"frequency", "sampling"} or None, default=None
        Whether a weight w stands for w equal samples ("frequency"), or for an inverse sampling probability, whose
        scale does not matter ("sampling"). None means "frequency", with a warning where weights are no whole numbers
        or add up to more than ten times the number of rows. The estimate is the same. The bootstrap draws the equal
        samples one by one, as many as the weights add up to (rounded), or else samples with their weights.
    groups : array-like of shape (n_samples,), default=None
        Clusters of dependent samples, such as the lesions of a patient (Obuchowski, 1997) [3]_.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How several classes are measured, with scores of shape (n_samples, n_classes), a column for each class in
        sorted order: each against the rest, or each pair, ranked by the column of either, as
        :func:`sklearn.metrics.roc_auc_score` does. The variance is that of the sum of what every sample adds
        to the binary measures (Hajek, 1968); of two classes it is DeLong's. `n_pos` then is the smallest class.
    average : {"macro", "weighted"} or None, default="macro"
        The mean over classes or pairs, plain or by how often they occur; None ("ovr" only) for one result a class.
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns, sorted, where not all occur.
    pos_label : label, default=None
        The positive class; all others are negative.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap; the replicates do not depend on the number of threads.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    AUCInference
        Estimate, variance, standard error, confidence interval and test. O(n log n), for the
        bootstrap also O(n) a replicate.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, fewer than two samples in a class (but for "score" and
        "newcombe", and an AUC's "logit-delong"), or options that do not go together.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44, 1988.
       :doi:`10.2307/2531595`
    .. [2] S. Wu, P. Flach and C. Ferri, "An improved model selection heuristic for AUC", ECML 2007,
       Theorem 6. :doi:`10.1007/978-3-540-74958-5_44`
    .. [3] N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53,
       1997. :doi:`10.2307/2533958`
    .. [4] R. G. Newcombe, "Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic. Part 2: asymptotic methods and evaluation", Statistics in Medicine
       25, 2006, method 5. :doi:`10.1002/sim.2324`
    .. [5] N. A. Obuchowski and D. K. McClish, "Sample size determination for diagnostic accuracy
       studies involving binormal ROC curve indices", Statistics in Medicine 16, 1997.
    .. [6] K. Linnet, "Comparison of quantitative diagnostic tests: type I error, power, and sample
       size", Statistics in Medicine 6, 1987. :doi:`10.1002/sim.4780060207`

    Examples
    --------
    >>> from rocmax.metrics import auc_inference
    >>> found = auc_inference([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.6])
    >>> found.estimate, round(found.standard_error, 6)
    (0.8888888888888888, 0.157135)
    >>> found.summary()
    'AUC 0.889 (95 % CI 0.401-0.988; Newcombe 2006; 3 positive, 3 negative samples).'
    """
    measure = parse_measure(metric, **options)
    asked_kind, weight_kind = weight_kind, kind_of(weight_kind)
    choice(bootstrap_interval, ("percentile", "bca"), "bootstrap_interval")
    check_resampling(stratified, n_resamples, random_state)
    if bootstrap_interval == "bca" and not (measure.has_components and is_one_of(multi_class, ("raise",))):
        raise ValueError(
            "bootstrap_interval='bca' needs to know what every sample adds: it takes two classes and no screening"
            f" measure or function, got multi_class={shown(multi_class)} and metric={shown(metric)}"
        )
    if method is None:
        by_components = groups is not None or not is_one_of(multi_class, ("raise",))
        method = default_method(measure, weight_kind=weight_kind, grouped=by_components)
    check_method(method, measure.family, weight_kind=weight_kind, grouped=groups is not None)
    question = parse_question(measure, confidence_level, null_value, alternative, equivalence_margin)
    how = check_average(multi_class, average, labels)
    columns, names = named_columns(y_score) if how.multi_class == "raise" else (y_score, None)
    arrays = in_memory(y_true=y_true, y_score=columns, sample_weight=sample_weight, groups=groups)
    y_true, columns, sample_weight, groups = arrays
    made = of_measure(measure)
    if how.multi_class != "raise":
        if pos_label is not None:
            raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(pos_label)}")
        many = classes(y_true, columns, sample_weight, labels, n_jobs, weight_kind)
        resampling = (stratified, n_resamples, seed_of(random_state))
        found = _of_classes(many, measure, how, method, question, weight_kind, groups, resampling)
        warn_unless_counts(asked_kind, many.weight)
        return replace(
            found, **made, **of_classes(many, how), **of_samples(sample_weight, weight_kind, groups, many.of)
        )
    data = sample(y_true, columns, sample_weight, pos_label=pos_label, n_jobs=n_jobs)
    if method == "bootstrap":
        values = replicate(data, measure, stratified, n_resamples, random_state, weight_kind)
        found = _bootstrapped(data, measure, values, bootstrap_interval, question, weight_kind)
    else:
        found = _computed(data, measure, method, question, weight_kind, groups)
    sizes = effective(data) if weight_kind == "sampling" else (found.n_pos, found.n_neg)
    warn_of_few(method, measure, sizes, weight_kind=weight_kind, grouped=groups is not None)
    warn_unless_counts(asked_kind, data.weight)
    made |= of_samples(sample_weight, weight_kind, groups, data.y)
    made |= of_bootstrap(method, n_resamples, stratified, bootstrap_interval)
    return replace(found, pos_label=data.pos_label, names=names, threshold=_threshold(data, measure), **made)


def _threshold(data: Sample, measure: Measure) -> Any:
    """Return where a rate was read, one a model."""
    if not measure.is_rate:
        return None
    rule = Rule("fpr" if measure.name == "tpr_at_fpr" else "sensitivity", measure.low)
    columns = data.score.T if data.many else [data.score]
    curves = (call(_core.Curve, data._replace(score=plain(column)), data.threads) for column in columns)
    found = [rule.of(curve) for curve in curves]
    return np.array(found) if data.many else found[0]


def _of_classes(
    data: Classes,
    measure: Measure,
    how: Average,
    method: str,
    question: Question,
    weight_kind: str,
    groups: Any,
    resampling: tuple[bool, Any, int],
) -> AUCInference:
    """Variance and interval of a measure of many classes, one number or one a class."""
    totals = data.totals
    sizes = (float(totals.min()), float(totals.sum() - totals.min()))
    each = how.average is None
    if method == "bootstrap":
        estimate, values = class_estimates(data, measure, how), replicates(data, measure, how, *resampling, weight_kind)
        variance = values.var(axis=0, ddof=1)
        limits = _percentiles(estimate, variance, values, measure)
        found = result(each, estimate, variance, limits, sizes, method, question)
        return replace(found, replicates=values if each else values[:, 0], pos_label=None)
    # Score intervals and those of "newcombe" are of two classes.
    if method not in ("delong", "logit-delong"):
        raise ValueError(f"multi_class needs method='delong', 'logit-delong' or 'bootstrap', got {method!r}")
    estimate, parts, of_parts = variance_of_classes(data, measure, how, weight_kind, groups)
    variance = np.sum(parts, axis=0)
    if method == "logit-delong":
        limits = interval.logit(estimate, parts, of_parts, measure)
    else:
        limits = interval.normal(estimate, variance, measure)
    return replace(result(each, estimate, variance, limits, sizes, method, question), pos_label=None)


def _computed(
    data: Sample, measure: Measure, method: str, question: Question, weight_kind: str, groups: Any
) -> AUCInference:
    """Variance and interval without the bootstrap."""
    if method == "newcombe":
        return newcombe(data.many, point_estimates(data, measure), totals(data), question)
    if method == "obuchowski":
        estimate, variance = point_estimates(data, measure), fitted_variance(data, measure)
        limits = interval.normal(estimate, variance, measure)
        return result(data.many, estimate, variance, limits, totals(data), method, question)
    if method == "score":
        columns = (data._replace(score=plain(column)) for column in (data.score.T if data.many else [data.score]))
        curves = (call(_core.Curve, column, data.threads) for column in columns)
        if measure.is_rate:

            def read(x: float) -> F64:
                return point_estimates(data, measure._replace(low=x))

            estimate, variance, limits = rate.score(read, curves, measure, totals(data))
            return result(data.many, estimate, variance, limits, totals(data), method, question)
        return by_score(data.many, curves, totals(data), measure, question)
    if method == "logit-delong" and measure.name in ("auc", "margin") and data.weight is None and 1 in totals(data):
        return newcombe(data.many, point_estimates(data, measure), totals(data), question)
    estimate, pos, neg, sizes = variance_parts(data, measure, weight_kind, groups)
    found = analytic(data.many, estimate, (pos, neg), sizes, measure, method, question)
    n_pos, n_neg = totals(data)
    return replace(found, n_pos=n_pos, n_neg=n_neg)


def analytic(
    many: bool,
    estimate: F64,
    parts: tuple[F64, F64],
    sizes: tuple[float, float],
    measure: Measure,
    method: str,
    question: Question,
) -> AUCInference:
    """Variance and interval from the parts of either class in the variance."""
    pos, neg = parts
    n_pos, n_neg = sizes
    if method == "wu":
        pos, neg = (n_neg - 1) / n_neg * pos, (n_pos - 1) / n_pos * neg
    variance = np.maximum(pos + neg, 0.0)
    if method == "logit-delong":
        limits = interval.logit(estimate, (pos, neg), sizes, measure)
    else:
        limits = interval.normal(estimate, variance, measure)
    return result(many, estimate, variance, limits, sizes, method, question)


def by_score(
    many: bool, curves: Iterable[_core.Curve], sizes: tuple[float, float], measure: Measure, question: Question
) -> AUCInference:
    """Variance and score interval of an area under each curve."""
    rows = []
    for curve in curves:
        value, squares, _ = moments(curve, measure)
        rows.append((value, *parts_of(squares, curve.weights), slope(curve, measure)))
    estimate, pos, neg, slopes = np.array(rows).T
    variance, limits = score(estimate, (pos, neg), slopes, sizes, measure)
    return result(many, estimate, variance, limits, sizes, "score", question)


def newcombe(many: bool, estimate: F64, sizes: tuple[float, float], question: Question) -> AUCInference:
    """Variance and interval of an AUC that its size and those of the classes give."""
    variance, limits = interval.newcombe_variance(estimate, sizes), interval.newcombe(estimate, sizes)
    return result(many, estimate, variance, limits, sizes, "newcombe", question)


def _percentiles(estimate: F64, variance: F64, values: F64, measure: Measure, *moved: Any) -> interval.Limits:
    """Return the limits by percentiles, of values that the measure can take."""
    distance = interval.wald(estimate, np.sqrt(variance), interval.Law())
    limits = interval.percentiles(values, distance, *moved)
    return limits._replace(tails=interval.within(measure.least, measure.most, limits.tails))


def _bootstrapped(
    data: Sample, measure: Measure, values: F64, kind: str, question: Question, weight_kind: str
) -> AUCInference:
    estimate = point_estimates(data, measure)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused as a variance
        variance = (values - values[0]).var(axis=0, ddof=1)  # exactly 0 where all are equal
    moved = _accelerated(data, measure, estimate, values, weight_kind) if kind == "bca" else ()
    limits = _percentiles(estimate, variance, values, measure, *moved)
    found = result(data.many, estimate, variance, limits, totals(data), "bootstrap", question)
    return replace(found, replicates=values if data.many else values[:, 0])


def _accelerated(
    data: Sample, measure: Measure, estimate: F64, values: F64, weight_kind: str
) -> tuple[Callable[[F64], F64], Callable[[F64], F64]]:
    """Return which percentiles stand for percentiles, corrected for bias and acceleration, and the inverse."""
    below = (values < estimate).mean(axis=0) + 0.5 * (values == estimate).mean(axis=0)
    edge = 0.5 / len(values)
    bias = interval.Law().quantile(np.clip(below, edge, 1 - edge))
    found = []
    for column in range(values.shape[1]):
        one = data._replace(score=np.ascontiguousarray(data.score[:, column])) if data.many else data
        if weight_kind == "sampling" and data.weight is not None:
            second, third = (float((influences(one, measure) ** power).sum()) for power in (2, 3))
        else:
            _, squares, cubes = moments(call(_core.Curve, one, one.threads), measure)
            sizes = totals(one)
            # Influence of a sample of a class of size k is its centred component over k.
            second = sum(s / k**2 for s, k in zip(squares, sizes, strict=True))
            third = sum(c / k**3 for c, k in zip(cubes, sizes, strict=True))
        found.append(third / (6 * second**1.5) if second > 0 else 0.0)
    speed, law = np.array(found), interval.Law()

    def moved(tails: F64) -> F64:
        at = bias + law.quantile(tails)
        return np.asarray(law.cdf(bias + at / (1 - speed * at)))

    def back(places: F64) -> F64:
        inner = (places > 0) & (places < 1)
        at = law.quantile(np.where(inner, places, 0.5)) - bias
        with np.errstate(divide="ignore"):
            at = np.where(1 + speed * at > 0, at / (1 + speed * at), np.sign(at) * np.inf)
        return np.where(inner, law.cdf(at - bias), places)

    return moved, back


def result(
    many: bool,
    estimate: F64,
    variance: F64,
    limits: interval.Limits,
    sizes: tuple[float, float],
    method: str,
    question: Question,
) -> AUCInference:
    """Put together what is known; single models get plain numbers."""
    check_variance(variance)
    low, high = limits.ends(question.level)
    if (low >= high).any():
        fact = "an interval has no width: nothing varies in these samples, as after a ranking without an error"
        warnings.warn(CoverageWarning(f"{fact}; method='newcombe' gives an AUC an interval", fact), stacklevel=3)

    def shaped(values: F64) -> Any:
        return values if many else float(values[0])

    tested: dict[str, Any] = {}
    hypothesis = question.hypothesis
    if hypothesis is not None:
        statistic, pvalue = (np.broadcast_to(x, estimate.shape).copy() for x in hypothesis.test(limits.tails))
        tested = {"statistic": shaped(statistic), "pvalue": shaped(pvalue), "null_value": hypothesis.null}
        tested |= {"alternative": hypothesis.alternative, "equivalence_margin": hypothesis.margin}
    return AUCInference(
        estimate=shaped(estimate),
        variance=shaped(variance),
        standard_error=shaped(np.sqrt(variance)),
        confidence_interval=ConfidenceInterval(shaped(low), shaped(high)),
        n_pos=sizes[0],
        n_neg=sizes[1],
        method=method,
        confidence_level=question.level,
        **tested,
    )
