"""Tests of the differences between measures of models, of samples in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from rocmax._checks.samples import F64, check_level, require_weights
from rocmax._parameters import check_choice
from rocmax._runtime.warn import warn
from rocmax._typing import Adjust, Alternative, MethodName
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import methods
from rocmax.metrics._infer import warn_below_chance, worse_than_chance
from rocmax.metrics._references import cited
from rocmax.metrics.intervals import _interval as intervals
from rocmax.metrics.intervals._hypothesis import ADJUSTED, Hypothesis, Question, adjusted, parse_hypothesis
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, Query, joined, variance_of
from rocmax.metrics.methods.bootstrap import Bootstrap, without_variance
from rocmax.metrics.methods.defaults import Profile, default_method
from rocmax.metrics.methods.delong import Obuchowski
from rocmax.metrics.methods.planned import Planned
from rocmax.metrics.methods.score import McNemar, Venkatraman
from rocmax.metrics.results._comparison import Comparison, PairComparison
from rocmax.metrics.results._inference import ConfidenceInterval, Results, SeveralMeasures, measures_of, put_together
from rocmax.metrics.results._result import higher_of, of_samples
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._classes import Classes, estimates_of
from rocmax.metrics.samples._reading import Reading, in_order, independent, read
from rocmax.metrics.samples._sample import Sample, check_variance, explain, one_model
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.subgroups._compare import compare_subgroups
from rocmax.metrics.variances._components import Shared, covariance_of, decided, variance_parts
from rocmax.metrics.variances._resample import check_seed, seed_of

_OF_EACH = ("n_pos", "n_neg", "n_samples", "n_dropped", "weight_kind")
# Pairs that are tested at a time: the replicates of all might not fit in memory.
_PAIRS = 256
_NONE = 1e-24  # variance, over the square of the measure's span: that of rounding
_WHOLE_CURVES = (
    "method='venkatraman' compares whole curves: it needs the AUC of two classes, alternative='two-sided',"
    " and takes no weights and no groups"
)


class _Options(Reading, total=False):
    method: Method | MethodName | None
    alternative: Alternative
    margin: float | None
    confidence_level: float
    adjust: Adjust | None
    random_state: Any


@overload
def compare(y_true: Samples, y_score: SeveralMeasures, **options: Unpack[_Options]) -> Results: ...
@overload
def compare(
    y_true: Any, y_score: Any = None, measure: Measure | str = "auc", **options: Unpack[_Options]
) -> Comparison: ...
@overload
def compare(
    y_true: Any, y_score: Any = None, measure: SeveralMeasures = ..., **options: Unpack[_Options]
) -> Results: ...
@cited("delong", "mcnemar", "mcnemar-midp")
def compare(  # with samples first, the measure is second
    y_true: Any,
    y_score: Any = None,
    measure: Measure | str | SeveralMeasures = "auc",
    *,
    method: Method | MethodName | None = None,
    alternative: Alternative = "two-sided",
    margin: float | None = None,
    confidence_level: float = 0.95,
    adjust: Adjust | None = "holm",
    random_state: Any = None,
    **reading: Unpack[Reading],
) -> Comparison | Results:
    """Test whether models have the same AUC, partial AUC, TPR at a fixed FPR, or any other measure.

    Use it for models that scored the same samples, for models of independent samples, and for non-inferiority.

    >>> from rocmax.metrics import PartialAUC, compare
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> scores = {"new": [1, 2, 3, 4, 7, 5, 6, 8, 9, 10], "old": [1, 6, 3, 4, 9, 5, 2, 8, 7, 10]}
    >>> print(compare(y, scores))
    AUC: new = 0.920, old = 0.680
    difference +0.240 [+0.017, +0.488] (95 % CI), p = 0.038 (paired two-sided test)
    profile of both intervals, correlation by DeLong et al. 1988; 5 positive, 5 negative samples
    >>> round(compare(y, scores, PartialAUC((0, 0.4))).difference, 3)
    0.4
    >>> compare(y, scores, alternative="non-inferiority", margin=0.05).pvalue < 0.025
    True

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or mapping
        Labels. A mapping from names of models to labels compares models of independent samples; `y_score`, and
        `sample_weight` if given, are then mappings with the same names.
    y_score : mapping, or array-like of shape (n_samples, n_models)
        Scores of two models or more; see :class:`Samples`. With several classes, a mapping from names of models to
        scores of shape (n_samples, n_classes). In place of labels and scores, :class:`Samples`, or a mapping from names
        of models to :class:`Samples` or :class:`ROCAccumulator`, which are independent: ``compare(samples, measure)``.
    measure : Measure or str, or list of these, default="auc"
        What is measured, as in :func:`infer`; a list of measures gives :class:`Results`.
    method : Method or str, default=None
        "profile", "delong", "bootstrap", "obuchowski" (paired models) or "venkatraman" (a permutation test that two ROC
        curves are equal everywhere, not only their areas), for :class:`AtThreshold` also "mcnemar" (exact) and
        "mcnemar-midp" [2]_ [3]_, or a value with options, such as ``Bootstrap(500)``. None selects "profile", or
        "bootstrap" for measures without components. See Notes.
    alternative : {"two-sided", "less", "greater", "non-inferiority", "equivalence"}, default="two-sided"
        Whether the difference of a pair, the first minus the second, differs from 0, is less or greater; whether the
        first is worse by less than `margin` (one-sided); or whether they differ by less than `margin`, by two one-sided
        tests (Schuirmann, 1987).
    margin : float, default=None
        For "non-inferiority" and "equivalence": the largest difference that does not matter, above 0. Both tests at
        level p reject if the interval of confidence 1 - 2p lies on the right side of the margin, or inside it.
    confidence_level : float, default=0.95
        Nominal coverage of each interval of a difference.
    adjust : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Adjustment of the p-values for the number of pairs.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap and of the permutations.
    **reading
        With arrays, the options of :class:`Samples`: `sample_weight`, `weight_kind`, `groups` (of paired models), `by`,
        `pos_label`, `higher_is_better`, `missing` and `n_jobs`. With `by`, for two classes and paired models, the
        result is a :class:`SubgroupComparison`: the comparison in every subgroup, that of the means weighted by pairs,
        and the test that differences of models are the same in all subgroups.

    Returns
    -------
    Comparison
        Estimates, covariance, every pair and the joint test; with `by` a :class:`SubgroupComparison`; for a list of
        measures :class:`Results`. O(n (K log n + K^2)) for K models.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, fewer than two models, or options that cannot be combined.

    Notes
    -----
    The interval and the p-value of a pair come from the intervals that :func:`infer` gives for both models and from the
    correlation of their components: see :class:`Profile`. All models together are tested by Hotelling's
    ``T = (L A)' (L S L')^+ (L A)``: A the estimates, S their covariance by :func:`infer`'s components and L the
    differences of neighbours. ``T (v - q + 1) / (v q)`` is F with q and v - q + 1 degrees of freedom, q the rank of L S
    L' and v, by Satterthwaite's rule, the degrees of freedom of S, which each class has less one (or the clusters or
    resamples). Paired models scored the same samples; models of independent samples have no covariance.

    "delong" tests ``(A - B) / sqrt(var A + var B - 2 cov(A, B))``, which is normal, or for models of independent
    samples follows Student's t with ``(var A + var B)^2 / (var A^2/(N_A - 1) + var B^2/(N_B - 1))`` degrees of freedom,
    N the number of samples of a model; with few samples, and where a model is nearly perfect, its intervals are too
    short. None tests nothing where :func:`infer` gives no interval. The interval of a bootstrap consists of
    percentiles; its p-value is the share of replicates beyond 0. Pooled subgroups are compared as models are.
    """
    y_score, measure = in_order(y_score, measure)
    measures, chosen = measures_of(measure), methods.as_method(method)
    level = check_level(confidence_level)
    questions = [Question(level, parse_hypothesis(alternative, margin, one)) for one in measures]
    check_choice("adjust", adjust, ADJUSTED)
    check_seed(random_state)
    apart = isinstance(y_true, Mapping)
    given = compare, y_true, y_score, reading
    every = independent(*given) if apart else [read(*given, Reading)]
    asked = zip(measures, questions, strict=True)
    queries = [Query(one, chosen, question, seed=random_state, adjust=adjust) for one, question in asked]
    found = [_of_measure(every, query, [*y_true] if apart else None) for query in queries]
    results: Comparison | Results = put_together(found, measure)
    return results


def _of_measure(every: Sequence[Samples], query: Query, names: list[Any] | None) -> Comparison:
    """Compare by one measure; models of independent samples have names."""
    measure, chosen, apart = query.measure, query.method, names is not None
    several = measure.multi_class != "raise"
    by = next((one.by for one in every if one.by is not None), None)
    if by is not None and (several or apart or isinstance(chosen, Venkatraman | McNemar)):
        raise ValueError("by takes paired models, measures of two classes and methods but 'venkatraman' and McNemar's")
    count = len(every) if apart else len(every[0].models_of_classes) if several else every[0].two.n_models
    if count < 2:
        raise ValueError(f"y_score must hold two models or more, got {count}: a column or an entry for each")
    models: list[Any]
    if apart:
        named = zip(names or (), every, strict=True)
        models = [one_model(one.two)._replace(model_names=(str(name),)) for name, one in named]
    elif several:
        models = [every[0].classes(measure.labels, name) for name in every[0].models_of_classes]
    else:
        data = every[0].two
        models = [data._replace(model_names=data.model_names or tuple(f"model {j + 1}" for j in range(count)))]
    query = query._replace(known=Known.of(*models))
    _check(query)
    of_unknown_kind = [one.weight for one, of in zip(models, every, strict=False) if of.weight_kind is None]
    if by is not None:
        warn_unless_counts(None, *of_unknown_kind)
        methods.warn_of_scores(measure, every, models)
        return _in_subgroups(query, models[0], by)
    compared = _of_independent(query, models) if apart else _of_paired(query, models)
    _warn_of_worse(query, compared, models)
    methods.warn_of_scores(measure, every, models)
    warn_unless_counts(None, *of_unknown_kind)
    return _result_of(query, compared, models)


def _check(query: Query) -> None:
    measure, method, known = query.measure, query.method, query.known
    if isinstance(method, Venkatraman):
        plain = not (known.grouped or known.classes) and known.weight_kind == "frequency"
        if Trait.AUC not in measure.traits or query.question.hypothesis != Hypothesis() or not plain:
            raise ValueError(_WHOLE_CURVES)
        return
    if method is not None and type(method).covariance is Method.covariance:
        method.covariance([], measure)
    _method(query).check(measure, known, methods.METHODS)
    if known.classes and measure.average is None:
        raise ValueError(f"compare takes one average of all classes, got measure={measure!r}")


class _Compared(NamedTuple):
    """Estimates and covariance, or the test of equal curves."""

    method: Method
    covariance: Covariance
    freedom: F64 | None = None  # var^2 / (N - 1) of each model of independent samples, for Student's t
    curves: tuple[float, float] | None = None


def _method(query: Query) -> Method:
    if query.method is None and query.known.weight_kind != "planned":
        return Profile() if Profile.fits(query.measure) else Bootstrap()
    return query.method or default_method(query.measure, query.known)


def _least_sizes(samples: list[Any]) -> tuple[float, float]:
    """Return the least effective sizes of two classes, or of the smallest class and of all others."""
    if isinstance(samples[0], Classes):
        fewest, *others = np.sort(samples[0].effective).tolist()
        return fewest, sum(others)
    for one in samples:
        require_weights(one.weight, one.weight_name, one.remedy)
    n_pos, n_neg = (min(sizes) for sizes in zip(*(one.effective for one in samples), strict=True))
    return n_pos, n_neg


def _of_paired(query: Query, models: list[Any]) -> _Compared:
    """Compare models of the same samples: one sample with a column for each, or one for each of several classes."""
    method, sizes = _method(query), _least_sizes(models)
    binary = isinstance(models[0], Sample)
    none = _refused_of(query, models) if method.resampling else None
    if none is not None:
        return _Compared(method, none)
    if isinstance(method, Venkatraman):
        explain(models[0])
        return _of_curves(query, method, list(models[0].models()), paired=True)
    covariance = method.covariance(models[0] if binary else models, query.measure, query.seed)
    if covariance.refused is not None:
        return _Compared(method, covariance)
    if not covariance.parts:  # a bootstrap's, or of a fitted curve
        parts = [Shared(covariance.matrix, min(sizes) - 1.0)]
        if binary and Trait.COMPONENTS in query.measure.traits:
            parts = decided(covariance_of(models[0], query.measure)[2], models[0], query.measure)
        covariance = covariance.of_parts(parts)
    check_variance(covariance.matrix)
    if (none := _refused_of(query, models, covariance.own)) is None and binary:
        _warn(query, method, covariance, models, sizes)
    return _Compared(method, none or covariance)


def _refused_of(query: Query, samples: Sequence[Any], own: Interval | None = None) -> Covariance | None:
    """Return the estimates alone, with the reason, where differences have no interval by default."""
    reason = methods.refusal(query, samples, own)
    if reason is None:
        return None
    estimate = np.concatenate([estimates_of(one, query.measure) for one in samples])
    return Covariance(estimate, np.full((len(estimate),) * 2, np.nan), refused=reason)


def _warn(query: Query, method: Method, joint: Covariance, samples: list[Sample], sizes: tuple[float, float]) -> None:
    """Warn of estimates, and of tests that few samples decide."""
    methods.warn_of_estimates(query.measure, samples, sizes)
    if isinstance(method, Profile) and joint.own is not None:
        for one in samples:
            methods.warn_of_few(joint.own.method, query.measure, one, query.known)
    elif not isinstance(method, McNemar | Planned):
        methods.warn_of_few_compared(method.name, query.measure, sizes)


def _in_subgroups(query: Query, data: Sample, by: Any) -> Comparison:
    """Compare models in every subgroup, and their means over subgroups."""
    seed = seed_of(query.seed)

    def estimate(data: Sample, k: int) -> tuple[Comparison, Covariance]:
        compared = _of_paired(query._replace(seed=(seed + k) % 2**64), [data])
        return _result_of(query, compared, [data]), compared.covariance

    def pooled(joint: Covariance, data: Sample) -> Comparison:
        if joint.own is None and joint.replicates is not None:
            joint = joint._replace(own=without_variance(joint.estimate, data, query.measure))
        return _result_of(query, _Compared(_method(query), joint), [data])

    return compare_subgroups(data, by, query, estimate, pooled)


def _of_independent(query: Query, samples: list[Sample]) -> _Compared:
    method, sizes = _method(query), _least_sizes(samples)
    if isinstance(method, Venkatraman):
        return _of_curves(query, method, samples, paired=False)
    if isinstance(method, Obuchowski | McNemar):
        raise ValueError(f"method={method.name!r} needs paired models: one y_true for all of them")
    measure, freedom = query.measure, None
    if isinstance(method, Profile):
        covariance = method.independent(samples, measure)
    elif isinstance(method, Bootstrap):
        seed = seed_of(query.seed)
        each = [method.estimate(data, measure, (seed + k) % 2**64) for k, data in enumerate(samples)]
        replicates = np.column_stack([one.replicates for one in each if one.replicates is not None])
        variance = variance_of(replicates)
        certain = [without_variance(one.estimate, data, measure) for one, data in zip(each, samples, strict=True)]
        own = joined([one for one in certain if one is not None]) if all(certain) else None
        estimate = np.concatenate([one.estimate for one in each])
        covariance = Covariance(estimate, np.diag(variance), replicates=replicates, own=own)
    else:
        parts = [variance_parts(data, measure) for data in samples]
        variance = np.array([np.sum(part[1], axis=0)[0] for part in parts])
        covariance = Covariance(np.array([part[0][0] for part in parts]), np.diag(variance))
        freedom = variance**2 / (np.array([float(np.ravel(sum(part[2]))[0]) for part in parts]) - 1)
    check_variance(covariance.matrix)
    variances = np.diagonal(covariance.matrix) * np.eye(len(samples))
    of_models = [Shared(np.diag(row), min(one.effective) - 1.0) for row, one in zip(variances, samples, strict=True)]
    covariance = covariance.of_parts(of_models)
    if (none := _refused_of(query, samples)) is None:
        _warn(query, method, covariance, samples, sizes)
    return _Compared(method, none or covariance, freedom)


def _of_curves(query: Query, method: Venkatraman, models: list[Sample], *, paired: bool) -> _Compared:
    """Test by permutations whether two ROC curves are the same."""
    if any(one.weight is not None for one in models):
        raise ValueError(_WHOLE_CURVES)
    if len(models) != 2:
        raise ValueError(f"method='venkatraman' compares two models, got {len(models)}")
    curves = method.distance(*models, paired=paired, seed=seed_of(query.seed))
    estimate = np.concatenate([query.measure.estimates(one) for one in models])
    return _Compared(method, Covariance(estimate, np.full((2, 2), np.nan)), curves=curves)


def _warn_of_worse(query: Query, compared: _Compared, samples: list[Any]) -> None:
    """Warn of a model whose interval lies on the worse side of the value of a constant score."""
    if np.isnan(compared.covariance.matrix).any() or isinstance(samples[0], Classes):
        return
    estimate, matrix = compared.covariance[:2]
    if not any(worse_than_chance(query.measure, samples, estimate)):  # which all intervals hold
        return
    if isinstance(compared.method, Profile) and compared.covariance.own is not None:
        low, high = compared.covariance.own.limits.at(query.question.level)
    else:
        reach = intervals.critical(query.question.level) * np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
        low, high = (np.clip(estimate + sign * reach, *query.measure.bounds) for sign in (-1, 1))
    warn_below_chance(query.measure, samples, (low, high))


def _result_of(query: Query, compared: _Compared, samples: list[Any]) -> Comparison:
    """Test all pairs, and all models jointly; more than one sample of two classes are those of unpaired models."""
    (level, hypothesis), (estimate, matrix) = query.question, compared.covariance[:2]
    assert hypothesis is not None
    names, made = tuple(name for one in samples for name in one.model_names), of_samples(samples[0])
    known = compared.curves is None
    refused = compared.covariance.refused or _unknown_width(query, compared.covariance, names)
    pairs: tuple[PairComparison, ...]
    if compared.curves is not None:  # which have no standard error and no interval
        (statistic, pvalue), change = compared.curves, float(estimate[0] - estimate[1])
        pairs = (PairComparison(names[0], names[1], change, np.nan, None, statistic, np.inf, pvalue, pvalue),)
    elif refused is not None:
        known, unknown = False, ConfidenceInterval(np.nan, np.nan)
        pairs = tuple(
            PairComparison(one, other, float(estimate[j] - estimate[k]), np.nan, unknown, *[np.nan] * 4)
            for (j, one), (k, other) in combinations(enumerate(names), 2)
        )
    else:
        pairs = _pair_tests(query, compared, names)
    paired = isinstance(samples[0], Classes) or len(samples) == 1
    if not paired:
        every = zip(*(map(of_samples(one).get, _OF_EACH) for one in samples), strict=True)
        made["n_pos"], made["n_neg"], counted, dropped, kinds = every
        made |= {"n_samples": None if None in counted else sum(counted), "n_dropped": sum(dropped)}
        made["weight_kind"] = next(filter(None, kinds), None)
        made["higher_is_better"] = higher_of(np.array([one.lower for one in samples]))
    found = Comparison(
        estimates=dict(zip(names, estimate.tolist(), strict=True)),
        covariance=matrix if known else None,
        parts=tuple(compared.covariance.parts) if known else (),
        pairs=pairs,
        method=compared.method.name,
        paired=paired,
        alternative=hypothesis.alternative,
        margin=hypothesis.margin,
        adjust=query.adjust,
        confidence_level=level,
        measure=query.measure,
        resampling=compared.method.for_weights(query.known.weight_kind).resampling,
        no_interval=refused,
        **made,
    )
    separated = any(pair.difference and not pair.standard_error for pair in pairs)
    possible = np.isfinite(query.measure.bounds).all() if separated else len(names) > 2
    if possible and found.joint is not None and np.isinf(found.joint.statistic):
        warn(
            "a contrast of the estimates is not 0 but has a variance of 0 because the classes are separated: the joint"
            " test's statistic is infinite, and its p-value of 0 is too optimistic"
        )
    return found


def _pair_tests(query: Query, compared: _Compared, names: tuple[str, ...]) -> tuple[PairComparison, ...]:
    (level, hypothesis), bounds, found = query.question, query.measure.bounds, compared.covariance
    assert hypothesis is not None
    first, second = np.triu_indices(len(names), 1)
    span, of_profile = bounds[1] - bounds[0], None
    if found.own is not None:
        r = np.eye(len(names)) if found.freedom is None else intervals.shrunk(found.matrix, found.freedom)
        of_profile = intervals.profile(found.estimate, found.own.limits, r, span)

    def differences(first: NDArray[np.intp], second: NDArray[np.intp]) -> list[F64]:
        """Return the columns of some pairs; limits and p-values come from profiles or replicates if there are any."""
        estimate, variance, df = found.estimate, np.diagonal(found.matrix), None
        difference, both = estimate[first] - estimate[second], variance[first] + variance[second]
        apart = both - 2 * found.matrix[first, second]
        error = np.sqrt(np.where(apart > 1e-14 * both, apart, 0.0))  # above the rounding of equal variances that cancel
        if (freedom := compared.freedom) is not None:
            spread, total = freedom[first] + freedom[second], both**2
            df = np.divide(total, spread, out=np.full_like(total, np.inf), where=spread > 0)
        limits = intervals.wald_limits(difference, error, Law(df), (-span, span))
        if found.pairwise is not None:
            limits = found.pairwise(first, second)
        elif found.replicates is not None:
            limits = intervals.percentiles(found.replicates[:, first] - found.replicates[:, second], limits.tails)
        if of_profile is not None:
            certain = np.maximum(variance[first], variance[second]) <= _NONE * span**2
            drawn = found.replicates is not None
            limits = intervals.either(certain | (not drawn), of_profile((first, second)), limits)
        statistic, pvalue = hypothesis.test(limits.tails)
        columns = (difference, error, *limits.at(level), statistic, np.inf if df is None else df, pvalue)
        return [np.broadcast_to(column, difference.shape) for column in columns]

    blocks = (slice(start, start + _PAIRS) for start in range(0, len(first), _PAIRS))
    parts = [differences(first[block], second[block]) for block in blocks]
    difference, error, low, high, statistic, df, pvalue = np.concatenate(parts, axis=1)
    size = float(np.abs(found.estimate).max())  # of numbers that cancel
    flat = intervals.no_width(low, high, bounds if np.isfinite(bounds).all() else (0.0, size))
    certain = np.diagonal(found.matrix) <= _NONE * size**2
    flat &= (difference != 0) | (certain[first] & certain[second])  # models that rank all samples alike do not differ
    if flat.any():
        k = int(np.argmax(flat))
        message = (
            f"the difference of {difference[k]:.3g} between {names[first[k]]!r} and {names[second[k]]!r} has a variance"
            " of 0, as when both separate the classes: its interval and its p-value are too optimistic"
        )
        warn(CoverageWarning(message))
    columns = (difference, error, low, high, statistic, df, pvalue, adjusted(pvalue, query.adjust))
    rows = zip(first.tolist(), second.tolist(), *(column.tolist() for column in columns), strict=True)
    return tuple(
        PairComparison(names[a], names[b], change, spread, ConfidenceInterval(least, most), *tested)
        for a, b, change, spread, least, most, *tested in rows
    )


def _unknown_width(query: Query, found: Covariance, names: tuple[str, ...]) -> str | None:
    """Return why differences have no interval, and warn, if two models of an unbounded measure have no width."""
    measure = query.measure
    if found.own is None or np.isfinite(measure.bounds).all():
        return None
    at = np.flatnonzero(intervals.no_width(*found.own.limits.at(query.question.level), measure.bounds))
    if len(at) < 2:
        return None
    one, other = (names[k] for k in at[:2])
    fact = f"models {one!r} and {other!r} have no variance and the {measure} no upper bound"
    warn(CoverageWarning(f"differences have no interval: {fact}; use a measure between bounds, such as AUC()", fact))
    return fact
