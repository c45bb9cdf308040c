"""Confidence interval and test of one measure, of samples or of the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._checks.samples import DROP, F64, check_level, in_caller_direction, names_of, require_weights
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._typing import Alternative, MethodName
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import _words as words, methods
from rocmax.metrics._references import cited
from rocmax.metrics.intervals._hypothesis import Question, parse_question
from rocmax.metrics.intervals._interval import Law, Limits, either, no_width, satterthwaite, wald_limits, widened
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.methods.base import Interval, Known, Method, Query, without_limits
from rocmax.metrics.methods.bootstrap import without_variance
from rocmax.metrics.methods.defaults import default_method, estimated
from rocmax.metrics.methods.delong import log_odds
from rocmax.metrics.results import _inference
from rocmax.metrics.results._inference import ConfidenceInterval, Inference, Results, SeveralMeasures
from rocmax.metrics.results._result import of_samples
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._classes import Classes, estimates_of
from rocmax.metrics.samples._reading import Clustered, Reading, in_order, read
from rocmax.metrics.samples._sample import Sample, check_variance, explain, one_model, require_clusters
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.subgroups._inference import in_subgroups
from rocmax.metrics.variances._multiclass import influence_curve
from rocmax.metrics.variances._resample import check_seed

_ROUNDING = 1e-9
# Standard errors from chance at which a half of the greatest excess of the variance is taken for real.
_SIGNAL = 8.0
_TINY = 1e-300  # a variance
_MANY = 20  # folds: more of one size are repeats of fewer, as a rule
_LEAST_TILE = 10  # samples: shorter sequences of labels repeat by chance


class _Options(Reading, total=False):
    method: Method | MethodName | None
    null_value: float | None
    alternative: Alternative
    margin: float | None
    confidence_level: float
    random_state: Any


@overload
def infer(y_true: Samples, y_score: SeveralMeasures, **options: Unpack[_Options]) -> Results: ...
@overload
def infer(
    y_true: ArrayLike | Samples, y_score: Any = None, measure: Measure | str = "auc", **options: Unpack[_Options]
) -> Inference: ...
@overload
def infer(
    y_true: ArrayLike | Samples, y_score: Any = None, measure: SeveralMeasures = ..., **options: Unpack[_Options]
) -> Results: ...
@cited("delong", "linnet")
def infer(  # with samples first, the measure is second
    y_true: ArrayLike | Samples,
    y_score: Any = None,
    measure: Measure | str | SeveralMeasures = "auc",
    *,
    method: Method | MethodName | None = None,
    null_value: float | None = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    confidence_level: float = 0.95,
    random_state: Any = None,
    **reading: Unpack[Reading],
) -> Inference | Results:
    """Confidence interval and test for an AUC, a partial AUC, the TPR at a fixed FPR, or any other measure.

    Use it to report how well one model, or each of several, ranks. :func:`compare` tests their differences.

    >>> from rocmax.metrics import PartialAUC, infer
    >>> y, s = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.6]
    >>> infer(y, s).summary()
    'AUC 0.889 (95 % CI 0.394-0.987; score interval; 3 positive, 3 negative samples).'
    >>> both = infer(y, s, ["auc", PartialAUC(specificity=(0.5, 1))])
    >>> [round(one.estimate, 3) for one in both]
    [0.889, 0.778]
    >>> round(infer(y, s, null_value=0.5, alternative="greater").pvalue, 2)
    0.06

    Parameters
    ----------
    y_true, y_score : array-like, or mapping
        Labels and scores, of one model or of several; see :class:`Samples`. Or :class:`Samples` in place of both:
        ``infer(samples, measure)``.
    measure : Measure or str, or list of these, default="auc"
        A value such as ``PartialAUC((0, 0.1))`` or ``TPRAtFPR(0.01)``, ``Measure.of(f)`` for a function of your own,
        or the name of a measure that needs no options, such as "auc" or "bedroc". A measure of several classes, such as
        ``AUC(multi_class="ovr")``, takes scores of shape (n_samples, n_classes). A list of measures gives
        :class:`Results`, one for each: the samples are read, and the scores sorted, once.
    method : Method or str, default=None
        "delong", "logit-delong", "score", "newcombe", "obuchowski", "wu" or "bootstrap", or a value with options, such
        as ``Bootstrap(500)``; the classes describe them. None selects by measured coverage: see Notes.
    null_value : float, default=None
        A value to test the measure against, such as 0.5; None for no test. The p-value is the least level at which
        the method's interval excludes the value.
    alternative : {"two-sided", "less", "greater", "non-inferiority", "equivalence"}, default="two-sided"
        Whether the measure differs from the null value, is less or greater, is worse by less than `margin`
        (one-sided), or lies within `margin` of it, by two one-sided tests (Schuirmann, 1987). The confidence interval
        is two-sided for every alternative; a one-sided 95 % bound is an end of the interval at
        ``confidence_level=0.9``.
    margin : float, default=None
        For "non-inferiority" and "equivalence": the largest difference from the null value that does not matter,
        above 0.
    confidence_level : float, default=0.95
        Nominal coverage.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap; replicates do not depend on the number of threads.
    **reading
        With arrays, the options of :class:`Samples`: `sample_weight`, `weight_kind`, `groups`, `by`, `pos_label`,
        `higher_is_better`, `missing` and `n_jobs`. With `by`, for two classes, the result is a
        :class:`SubgroupInference`, for several models :class:`Results` with one for each: the measure in every
        subgroup, their mean weighted by the pairs within subgroups, and Welch's (1951) test that all subgroups are
        equal, on the log-odds scale. With `groups`, variances are those of clusters (Obuchowski, 1997), or of pairs
        that share a subject (Aronow et al., 2015).

    Returns
    -------
    Inference
        Estimate, variance, standard error, confidence interval and test; with `by` a :class:`SubgroupInference`; for a
        list of measures :class:`Results`. O(n log n), for the bootstrap also O(n) per replicate.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, fewer than two samples in a class (one is enough for "score" and "newcombe",
        and for an AUC by "logit-delong"), or options that cannot be combined.

    Notes
    -----
    ``method=None`` selects by measured coverage (``benches/python/coverage_metrics.py``): "score" for areas, rates and
    measures judged by a budget, the bootstrap for measures without components, and "logit-delong" for all others.
    "logit-delong" is also the default for several classes, for an AUC pooled over subgroups, for pairs of subjects (not
    for partial areas and rates), and with many samples: for :class:`AUC` and :class:`AveragePrecision` (without a given
    prevalence) from 1,000 (effective) samples of each class on, for :class:`LogAUC`, :class:`RIE` and :class:`BEDROC`
    from 10,000 on. Of :class:`LogAUC` only the negatives below FPR ``sqrt(low * high)`` count; for the last two, the
    first ``1 / alpha`` of all samples must be as many. If the classes are nearly separated, the default remains
    "score": if the log-odds of the estimate (its logarithm, if the measure has no upper bound) have a standard error
    above 0.15.

    Methods that undercover with fewer than five samples, or with fewer than 30 effective ones of sampling weights, give
    a :class:`~rocmax.exceptions.CoverageWarning`. With ``method=None``, the result has no interval, and `no_interval`
    says why, for: a range or a rate with fewer than 0.3 (effective) samples in it or beyond its threshold; a
    :class:`LogAUC` with ``low * n_neg < 0.05``; areas smoothed by "density" or "hull"; a rate pooled over subgroups,
    one of which has fewer than two samples beyond the threshold. A method given by name returns an interval there too.

    The variance is ``S10 / m + S01 / n`` (DeLong et al., 1988) [1]_ unless `method` says otherwise: S10 and S01 are the
    variances (divisors m - 1 and n - 1) of the components V10_i of the m positives and V01_j of the n negatives. For a
    mean over pairs of a kernel k these are its row and column means; ``k = 1[s > t] + 1/2 1[s = t]`` for the AUC,
    ``max(0, s - t)`` for the scored AUC and ``1[s - t > margin]`` for the margin AUC. For a partial area over [a, b],
    with G the false positive rate and R the ROC curve, ``V10_i = min(b - a, max(0, b - G(s_i)))`` and
    ``V01_j = R(min(b, max(a, G(t_j))))``, averaged over a block of ties: the influence functions of the two empirical
    distributions, which at [0, 1] are DeLong's. For the true positive rate R at a false positive rate, with c the
    threshold of :func:`tpr_at_fpr_score`, they are ``V10_i = 1[s_i >= c]`` and ``V01_j = R' 1[t_j < c]`` (Linnet, 1987)
    [2]_, R' the slope of the curve there; for the false positive rate at a true positive rate likewise, with the slope
    on V10. Intervals of such rates take the other rate as fixed and the threshold as estimated; those of
    :func:`operating_point` take the threshold as fixed.
    """
    if isinstance(y_true, Samples):
        y_score, measure = in_order(y_score, measure)
    measures, chosen = _inference.measures_of(measure), methods.as_method(method)
    check_seed(random_state)
    asked = confidence_level, null_value, alternative, margin
    queries = [Query(one, chosen, parse_question(one, *asked), seed=random_state) for one in measures]
    samples = read(infer, y_true, y_score, reading, Reading)
    results: Inference | Results = _inference.put_together([_of_measure(samples, query) for query in queries], measure)
    return results


def _of_measure(samples: Samples, query: Query) -> Any:
    measure, by = query.measure, samples.by
    if by is not None and measure.multi_class != "raise":
        raise ValueError(f"by takes a measure of two classes, got measure={measure!r}")
    data = samples.of(measure)
    known = Known.of(data)
    (query.method or default_method(measure, known)).check(measure, known, methods.METHODS)
    query = query._replace(known=known)

    def of(one: Sample | Classes) -> Inference:
        if isinstance(one, Classes):
            return inferred(one, query)
        inference = inferred(one, query) if by is None else in_subgroups(one, by, query, inferred, _result)
        warn_below_chance(measure, [one], inference.confidence_interval)
        return inference

    inference = _inference.of_models(data, of) if isinstance(data, Sample) and by is not None else of(data)
    if isinstance(data, Sample):
        methods.warn_of_scores(measure, [samples], [data])
    warn_unless_counts(samples.weight_kind, data.weight)
    return inference


def inferred(data: Sample | Classes, query: Query, bounds: tuple[float, float] | None = None) -> Inference:
    """Measure samples, or counts, with a method that has been checked; `bounds` are those of the estimate, if any."""
    measure = query.measure
    method = query.method or default_method(measure, query.known, _sizes(data))
    refused = methods.refusal(query, [data]) if method.resampling else None
    if refused is None:
        interval = estimated(query.method, data, measure, query.seed)
        refused = methods.refusal(query, [data], interval)
    if refused is not None:
        interval = without_limits(estimates_of(data, measure), method.name, refused)
    if isinstance(data, Classes):
        return _result(interval, query, data)
    if refused is None:
        if bounds is not None:
            estimate = float(interval.estimate[0])
            low, high = min(bounds[0], estimate), max(bounds[1], estimate)  # but for rounding
            limits = widened(interval.limits, estimate - low, high - estimate, measure.bounds)
            interval, bounds = interval._replace(limits=limits), (low, high)
        methods.warn_of_estimates(measure, [data], data.nominal)
        methods.warn_of_few(interval.method, measure, data, query.known)
    return _result(interval, query, data, threshold=_threshold(data, measure), estimate_bounds=bounds)


def _sizes(data: Sample | Classes) -> tuple[float, float] | None:
    if isinstance(data, Classes):
        return None
    require_weights(data.weight, data.weight_name, data.remedy)
    return data.effective


def _threshold(data: Sample, measure: Measure) -> Any:
    """Return where a rate was read, one a model."""
    if not isinstance(measure, Rate):
        return None
    found = data.once(("thresholds", measure), lambda: [measure.threshold_of(one.curve()) for one in data.models()])
    thresholds = in_caller_direction(np.array(found), data.lower)
    return thresholds if data.many else float(thresholds[0])


def worse_than_chance(measure: Measure, samples: Sequence[Sample], values: Any) -> list[bool]:
    """Whether each value is worse than that of a constant score; `samples` hold all models, or one each."""
    chances = [chance for data in samples for chance in [measure.chance(data.totals)] * data.n_models]
    pairs = zip(chances, np.ravel(values).tolist(), strict=True)
    sign = -1.0 if measure.lower_is_better else 1.0
    return [chance is not None and sign * (chance - value) > _ROUNDING for chance, value in pairs]


def warn_below_chance(measure: Measure, samples: Sequence[Sample], interval: tuple[Any, Any]) -> None:
    """Warn of an interval on the worse side of a constant score's value; `samples` hold all models, or one each."""
    sign = -1.0 if measure.lower_is_better else 1.0
    best = np.atleast_1d(interval[0] if measure.lower_is_better else interval[1])
    worse = worse_than_chance(measure, samples, best)
    for k, model in enumerate(methods.each_model(samples) if any(worse) else ()):
        chance = measure.chance_of(model[1]) if worse[k] else None
        if chance is not None and sign * (chance - best[k]) > _ROUNDING:
            break
    else:
        return
    named, one = model
    side = "above" if measure.lower_is_better else "below"
    ends = words.ends([float(np.atleast_1d(end)[k]) for end in interval])
    guess = "random guesses at this threshold" if isinstance(measure, Rate) else "a constant score"
    fact = f"the whole interval {ends} lies {side} {words.digits(chance)}, the value of {guess}"
    fix = f"pass higher_is_better={bool(one.lower)} if {'high' if one.lower else 'low'} scores are for positives"
    message = f"{named}{measure}: {fact}; {fix}, or check pos_label, which is {shown(one.pos_label)}"
    warn(BelowChanceWarning(message, named + fact))


def _result(interval: Interval, query: Query, data: Sample | Classes, **made: Any) -> Inference:
    """Build the result: numbers of one model, arrays of several."""
    if interval.refused is None:
        check_variance(interval.variance)
    measure, question, resampling = query.measure, query.question, None
    least, most = measure.bounds  # but for rounding
    low, high = (np.minimum(np.maximum(ends, least), most) for ends in interval.limits.at(question.level))
    if no_width(low, high, measure.bounds).any():
        fact = "the interval has zero width: nothing varies in these samples, as when the classes are separated"
        better = default_method(measure, query.known, _sizes(data)).name
        wider = better != interval.method and (better == "score" or np.isfinite(measure.bounds).all())
        advice = f"method={better!r} gives it a width" if wider else "it is no evidence of certainty"
        warn(CoverageWarning(f"{fact}; {advice}", fact, better if wider else None))
    names: tuple[str, ...] | None
    if isinstance(data, Classes):
        many, names = measure.average is None, tuple(map(words.label_text, data.names))
    else:
        many, names = data.many, data.model_names

    def shaped(values: F64) -> Any:
        return values if many else float(values[0])

    hypothesis = question.hypothesis
    if hypothesis is not None:
        tested = (np.broadcast_to(x, interval.estimate.shape).copy() for x in hypothesis.test(interval.limits.tails))
        made |= dict(zip(("statistic", "pvalue"), map(shaped, tested), strict=True))
        made |= {"null_value": hypothesis.null, "alternative": hypothesis.alternative, "margin": hypothesis.margin}
    if interval.replicates is not None:
        made["replicates"] = interval.replicates if many else interval.replicates[:, 0]
        method = query.method or default_method(measure, query.known)
        resampling = method.for_weights(query.known.weight_kind).resampling
    return Inference(
        estimate=shaped(interval.estimate),
        variance=shaped(interval.variance),
        standard_error=shaped(np.sqrt(interval.variance)),
        confidence_interval=ConfidenceInterval(shaped(low), shaped(high)),
        method=interval.method,
        confidence_level=question.level,
        names=names if many else None,
        measure=measure,
        resampling=resampling,
        no_interval=interval.refused,
        source=interval.source,
        **of_samples(data),
        **made,
    )


@cited("ledell")
def cross_validated_auc(  # with samples first, the measure is second
    y_true: ArrayLike | Samples,
    y_score: Any = None,
    measure: Measure | str = "auc",
    *,
    fold: ArrayLike,
    confidence_level: float = 0.95,
    **reading: Unpack[Clustered],
) -> Inference:
    """Mean of a measure over the folds of a cross-validation, with its influence-curve interval.

    Use it to report a cross-validation: it compares scores of one model only with each other.

    >>> from rocmax.metrics import cross_validated_auc
    >>> scores = [0.1, 0.6, 0.2, 0.5, 0.7, 0.4, 0.3, 0.8]
    >>> found = cross_validated_auc([0, 1] * 4, scores, fold=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> found.estimate, found.standard_error
    (0.875, 0.125)

    Parameters
    ----------
    y_true, y_score : array-like
        Labels and scores, each score from a model that did not see the sample; see :class:`Samples`. Or
        :class:`Samples` in place of both, without weights: ``cross_validated_auc(samples, measure, fold=...)``.
    measure : Measure or str, default="auc"
        As in :func:`infer`. For several classes, the influence of a sample is the sum of those on the binary measures,
        with the share of each class in all folds; for two classes it is the formula above.
    fold : array-like of shape (n_samples,)
        The fold of each sample, as ``for k, (_, test) in enumerate(cv.split(X, y)): fold[test] = k`` gives it; every
        fold must hold all classes. Folds of different repeats need different names.
    confidence_level : float, default=0.95
        Nominal coverage.
    **reading
        With arrays, options of :class:`Samples`: `groups`, `pos_label`, `higher_is_better`, `missing` and `n_jobs`; a
        sample without a fold counts as missing. For a repeated cross-validation, `groups` are the index of the sample
        that a row scores: the interval is then about as wide as that of one repeat, and would be too narrow without. A
        :class:`~rocmax.exceptions.CoverageWarning` says so if the rows look like repeats.

    Returns
    -------
    Inference
        With method "influence-curve"; without an interval (`no_interval`) if a fold has one sample of a class, or too
        few for an interval by :func:`infer`. O(n log n).

    Notes
    -----
    ``mean_v AUC_v`` over folds v, or the mean of another measure with components; the variance is
    ``1/N mean_v mean_(i in v) IC_i^2`` with ``IC_i = (V_i - E) / p`` for a positive and ``(V_i - E) / (1 - p)`` for a
    negative sample, p the share of positives, V_i the sample's component within its fold as in :func:`infer` and E the
    mean component of its class there: LeDell, Petersen and van der Laan (2015) for the AUC. With `groups`, IC_i is
    replaced by the sum over a cluster, so that the repeats of a cross-validation add no samples.

    The interval covers the mean true value of the models of the folds. It is on the log-odds scale, with Student's t
    (degrees of freedom of Welch and Satterthwaite over the classes of all folds). Its variance has divisors m - 1 in
    place of m, for m samples of a class in a fold, and is multiplied by ``1 + 1 / (1 + (z / 8)^2)`` at z standard
    errors from chance: every fold also trains the models of the others, so that where models fit noise two samples of
    different folds count twice. Coverage of 95 % intervals: ``benches/python/coverage_folds.py``.
    """
    splits = fold[:1] if isinstance(fold, list | tuple) else [fold]
    if any(isinstance(one, tuple | Iterator) or hasattr(one, "get_n_splits") for one in splits):
        how = "for k, (_, test) in enumerate(cv.split(X, y)): fold[test] = k"
        raise ValueError(f"fold must be the fold of each sample, got {shown(fold)}; {how}")
    of_fold: dict[str, Any] = {} if isinstance(y_true, Samples) else {"by": fold, "by_name": "fold"}
    if not of_fold:
        y_score, measure = in_order(y_score, measure)
    measure = as_measure(measure)
    query = Query(measure, None, Question(check_level(confidence_level)))
    if Trait.COMPONENTS not in measure.traits:
        raise ValueError(f"cross_validated_auc needs a measure with components, got measure={measure!r}")
    samples = read(cross_validated_auc, y_true, y_score, reading, Clustered, **of_fold)
    data = samples.of(measure)
    if data.weight is not None:
        raise ValueError("cross_validated_auc takes samples without sample_weight")
    one: Any = data
    if isinstance(data, Sample):
        explain(data)
        require_clusters(data.group, "cross_validated_auc")
        one = one_model(data)
    label: NDArray[Any] = data.of if isinstance(data, Classes) else data.positive
    folds, place = names_of(samples.by if of_fold else fold, len(label), "fold", DROP)
    parts = list(_parts(one, label, folds.tolist(), place))
    values, influences = zip(*(_of_fold(part, measure, one) for part in parts), strict=True)
    # A sample or a cluster has the sum of its influences on the folds, each divided by the size of the fold.
    of_row = np.hstack([np.atleast_2d(own) / np.sqrt(own.shape[-1]) for own in influences])
    if data.group is not None:
        group = data.group[np.argsort(place, kind="stable")]
        of_row = np.array([np.bincount(group, row) for row in of_row])
    count = len(folds) * len(label)
    estimate, variance = np.atleast_1d(np.mean(values, axis=0)), np.sum(of_row**2, axis=1) / count
    squares, sizes = _by_class(influences, parts)
    lacking = "one sample of a class, an interval needs two" if min(sizes) < 2 else None
    lacking = methods.refusal(query, parts, instead="use fewer folds, or pass all scores to infer") or lacking
    if lacking is not None:
        interval = without_limits(estimate, "influence-curve", f"a fold has {lacking}")
    else:
        spread = squares.sum(axis=0)
        unbiased = (sizes / (sizes - 1.0)) @ squares / np.where(spread > 0, spread, 1.0) * variance
        freedom = satterthwaite(list(squares), [size - 1.0 for size in sizes])
        freedom = np.minimum(freedom, np.inf if data.n_groups is None else data.n_groups - 1.0)
        interval = Interval(estimate, variance, _limits(estimate, unbiased, freedom, measure, data), "influence-curve")
    if data.group is None:
        _warn_of_repeats(label, place)
    inference = _result(interval, query, data, n_folds=len(folds))
    if isinstance(data, Sample):
        warn_below_chance(measure, [data], inference.confidence_interval)
    return inference


def _by_class(influences: Sequence[F64], parts: Sequence[Any]) -> tuple[F64, F64]:
    """Return what every class of every fold adds to the variance, up to a factor, and the numbers of its samples."""
    squares, sizes = [], []
    for own, part in zip(influences, parts, strict=True):
        label = part.of if isinstance(part, Classes) else part.y
        for members in (label == k for k in np.unique(label)):
            squares.append((np.atleast_2d(own)[:, members] ** 2).sum(axis=1) / len(label))
            sizes.append(np.count_nonzero(members))
    return np.array(squares), np.array(sizes)


def _limits(estimate: F64, variance: F64, freedom: F64, measure: Measure, data: Any) -> Limits:
    """Return limits on the log-odds scale with Student's t; those of infer for a variance of 0 where nothing varies."""
    chance = measure.chance(data.totals if isinstance(data, Sample) else (1.0, 1.0))
    if chance is not None:
        signal = (estimate - chance) ** 2 / np.maximum(variance, _TINY)
        variance = variance * (1.0 + 1.0 / (1.0 + signal / _SIGNAL**2))
    if not np.isfinite(measure.bounds[0]):
        return wald_limits(estimate, np.sqrt(variance), Law(freedom), measure.bounds)
    limits, inside = log_odds(estimate, variance, freedom, measure.bounds)
    certain = without_variance(estimate, data, measure)
    return limits if certain is None else either(~inside, certain.limits, limits)


def _parts(data: Any, label: NDArray[Any], folds: list[Any], place: NDArray[np.intp]) -> Iterator[Any]:
    """Yield the samples of every fold, which must hold all classes."""
    name = "of" if isinstance(data, Classes) else "y"
    for k, fold in enumerate(folds):
        rows = place == k
        part = data._replace(**{name: label[rows]}, score=data.score[rows], group=None)
        if min(part.totals) == 0:
            raise ValueError(f"fold {shown(fold)} lacks a class; use fewer folds, or stratify them")
        yield part


def _of_fold(part: Any, measure: Measure, whole: Any) -> tuple[Any, F64]:
    """Return the values of the measure in a fold, and its influence curve for each sample of the fold."""
    if isinstance(part, Classes):
        return influence_curve(part, measure, whole.totals / len(whole.of))
    share, n_pos = whole.positive.mean(), np.count_nonzero(part.y)
    scale = np.where(part.y, n_pos / share, (len(part.y) - n_pos) / (1 - share))
    return measure.estimates(part)[0], influence_of(part, measure) * scale


def _warn_of_repeats(label: NDArray[Any], place: NDArray[np.intp]) -> None:
    """Warn of rows that repeat those of one cross-validation, by their labels or the class sizes of its folds."""
    tile, n_folds = _period(label), int(place.max()) + 1
    repeated = _LEAST_TILE <= tile < len(label) and len(np.unique(place[:tile])) > 1
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    if len(starts) == n_folds > 1 and not repeated:
        sizes = np.array([np.add.reduceat(label == k, starts, dtype=np.intp) for k in np.unique(label)]).T
        periods = _period(sizes), _period(sizes.sum(axis=1))
        repeated = any(1 < period < n_folds or (period == 1 and n_folds > _MANY) for period in periods)
    if repeated:
        warn(
            f"the {len(label):,} rows in {n_folds} folds look like a repeated cross-validation; repeats add no samples,"
            " and the interval is too narrow: pass groups=, the index of the sample of each row (or, if all rows are"
            " different samples, that of the row)",
            CoverageWarning,
        )


def _period(values: NDArray[Any]) -> int:
    """Return the length of the shortest sequence that, repeated, gives the values."""
    n = len(values)
    small = [k for k in range(1, isqrt(n) + 1) if n % k == 0]
    for length in [*small, *(n // k for k in reversed(small))]:
        head = values[length : length + 64]  # most lengths are ruled out here
        if np.array_equal(head, values[: len(head)]) and np.array_equal(values[length:], values[:-length]):
            return length
    return n
