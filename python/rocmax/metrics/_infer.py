"""Confidence interval and test of one measure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.missing import complete, of_caller
from rocmax._checks.samples import DROP, F64, all_in_memory, named_columns
from rocmax._parameters import shown
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics._multiclass import Classes, classes
from rocmax.metrics.intervals._hypothesis import Question, parse_question
from rocmax.metrics.intervals._interval import widened
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.methods import as_method, checked, default_method, warn_of_few
from rocmax.metrics.methods.base import Data, Interval, Method
from rocmax.metrics.results import _words as words
from rocmax.metrics.results._inference import ConfidenceInterval, Inference
from rocmax.metrics.results._result import of_samples
from rocmax.metrics.samples._sample import Sample, check_variance, sample
from rocmax.metrics.samples._weights import kind_of, warn_unless_counts
from rocmax.metrics.subgroups._split import in_subgroups
from rocmax.metrics.variances._resample import check_seed, seed_of

_ROUNDING = 1e-9


def infer(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    measure: Measure | str = "auc",
    *,
    method: Method | str | None = None,
    null_value: float | None = None,
    alternative: str = "two-sided",
    equivalence_margin: float | None = None,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    pos_label: Any = None,
    higher_is_better: Any = True,
    missing: str = "raise",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Inference:
    """Confidence interval and test for an AUC, a partial AUC, the TPR at a fixed FPR, or any other measure.

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

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
        tells which is positive.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
        Finite scores, one column per model, whose results are then arrays. A mapping from names of models to scores,
        and a data frame, give the result `names`. For dask arrays, 9 bytes per score are held in memory.
    measure : Measure or str, default="auc"
        What is measured: a value such as ``PartialAUC((0, 0.1))`` or ``TPRAtFPR(0.01)``, ``Measure.of(f)`` for a
        function of your own, or the name of a measure that needs no options, such as "auc" or "bedroc". A measure of
        several classes, such as ``AUC(multi_class="ovr")``, takes scores of shape (n_samples, n_classes).
    method : Method or str, default=None
        How the interval is made: "delong", "logit-delong", "score", "newcombe", "obuchowski", "wu" or "bootstrap", or
        a value with options, such as ``Bootstrap(500)``; the classes describe them. None selects the method with the
        best measured coverage (``benches/python/coverage_metrics.py``): "score" for partial areas and rates, the
        bootstrap for measures without components, "logit-delong" for all others and wherever there are groups or
        sampling weights. Methods that undercover with fewer than five samples give a
        :class:`~rocmax.exceptions.CoverageWarning`.
    null_value : float, default=None
        A value to test the measure against, such as 0.5; None for no test. The p-value is the least level at which
        the method's interval leaves the value out.
    alternative : {"two-sided", "less", "greater", "equivalence"}, default="two-sided"
        Whether the measure differs from the null value, is less or is greater, or lies within `equivalence_margin` of
        it, by two one-sided tests (Schuirmann, 1987). To show that a measure is no worse than 0.8 by more than 0.05,
        test "greater" than 0.75.
    equivalence_margin : float, default=None
        The largest difference from the null value that does not matter, above 0, for "equivalence".
    confidence_level : float, default=0.95
        Nominal coverage.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; samples of weight 0 are ignored.
    weight_kind : {"frequency", "sampling"} or None, default=None
        Whether a weight w stands for w equal samples ("frequency"), or for an inverse sampling probability, whose
        scale does not matter ("sampling"). None means "frequency", with a warning where weights are not whole numbers
        or add up to more than ten times the number of rows. The estimate is the same.
    groups : array-like of shape (n_samples,) or (n_samples, 2), default=None
        Clusters of correlated samples, such as the lesions of a patient (Obuchowski, 1997) [3]_. Not subgroups that
        are compared: see `by`. Two columns name both subjects of a pair, as in face verification; pairs that share a
        subject are correlated (Aronow et al., 2015) [4]_, which takes O(n log n) time and O(n) memory. A name in both
        columns is one subject: if the columns name things of two kinds, such as probes and cameras, use different names
        for each, and the variance is the two-way one of Cameron, Gelbach and Miller (2011). Where fewer than 15
        subjects decide the threshold of a rate, as at small false positive rates, or one subject is in 30 % of the
        pairs of a class, intervals undercover and warn; a subject in all pairs of a class is refused.
    by : array-like of shape (n_samples,), default=None
        Subgroups to compare, such as the site or the sex of each patient. The result is a :class:`SubgroupInference`:
        the measure in every subgroup, their mean weighted by pairs (the pairs within subgroups), and Welch's (1951)
        test that all subgroups are equal, on the log-odds scale. For two classes and the scores of one model.
    pos_label : label, default=None
        The positive class; all others are negative.
    higher_is_better : bool, or list or mapping of bool, default=True
        Whether high scores are for positives. False for docking scores, distances and p-values: scores are negated,
        which is exact, and thresholds are reported on the scale of the scores ("score <= t"). Of several models a list
        has one for each; a mapping from names need only hold those that are False.
    missing : {"raise", "drop"}, default="raise"
        What is done about samples without a label, a score of any model, a weight, a cluster or a subgroup (NaN, NaT,
        None, pandas' NA, masked): "raise" refuses them, "drop" leaves them out, and the result counts them as
        `n_dropped`. All models are measured on the same, complete samples. Infinite scores are no missing ones.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap; the replicates do not depend on the number of threads.
    n_jobs : int, default=None
        Threads; None uses all cores.

    Returns
    -------
    Inference
        Estimate, variance, standard error, confidence interval and test; with `by` a :class:`SubgroupInference`.
        O(n log n), for the bootstrap also O(n) per replicate.

    Raises
    ------
    ValueError
        For bad labels, scores or weights, fewer than two samples in a class (one is enough for "score" and "newcombe",
        and for an AUC by "logit-delong"), or options that cannot be combined.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves", Biometrics 44, 1988. :doi:`10.2307/2531595`
    .. [2] K. Linnet, "Comparison of quantitative diagnostic tests: type I error, power, and sample size", Statistics in
       Medicine 6, 1987. :doi:`10.1002/sim.4780060207`
    .. [3] N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53, 1997.
       :doi:`10.2307/2533958`
    .. [4] P. M. Aronow, C. Samii and V. A. Assenova, "Cluster-robust variance estimation for dyadic data", Political
       Analysis 23, 2015. :doi:`10.1093/pan/mpv018`

    Examples
    --------
    >>> from rocmax.metrics import PartialAUC, infer
    >>> found = infer([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.6])
    >>> found.estimate, round(found.standard_error, 6)
    (0.8888888888888888, 0.157135)
    >>> found.summary()
    'AUC 0.889 (95 % CI 0.401-0.988; Newcombe 2006; 3 positive, 3 negative samples).'
    """
    measure, chosen = as_measure(measure), as_method(method)
    kind = kind_of(weight_kind)
    check_seed(random_state)
    data = Data(kind, grouped=groups is not None, classes=measure.multi_class != "raise")
    if by is not None and data.classes:
        raise ValueError(f"by takes a measure of two classes, got measure={measure!r}")
    using = checked(default_method(measure, data) if chosen is None else chosen, measure, data)
    question = parse_question(measure.bounds, confidence_level, null_value, alternative, equivalence_margin)
    given = all_in_memory(y_true, y_score, sample_weight, groups)
    held = dict(zip(("y_true", "y_score", "sample_weight", "groups"), given, strict=True))
    (y, s, w, g, by), n_dropped = complete(missing, **held, by=by)
    found: Sample | Classes
    names = None
    reading: dict[str, Any] = {"pos_label": pos_label, "n_jobs": n_jobs, "weight_kind": kind}
    reading |= {"higher_is_better": higher_is_better, "missing": missing, "n_dropped": n_dropped}
    if data.classes:
        found = read_classes(measure, y, s, w, g, **reading)
    else:
        s, names = named_columns(s, DROP)
        found = sample(y, s, w, groups=g, models=names, **reading)
    if by is None or not isinstance(found, Sample):
        answer = inferred(found, measure, using, question, data, random_state, names)
    else:
        one = partial(inferred, measure=measure, method=using, question=question, known=data)
        answer = in_subgroups(found, by, measure, question, seed_of(random_state), one, result)
    if isinstance(found, Sample):
        warn_below_chance(measure, found, answer.confidence_interval, names)
    warn_unless_counts(weight_kind, found.weight)
    return answer


def read_classes(
    measure: Any,
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    pos_label: Any = None,
    n_jobs: int | None = None,
    weight_kind: str = "frequency",
    name: str = "y_score",
    higher_is_better: Any = True,
    **missing: Any,
) -> Classes:
    """Check samples of several classes."""
    if pos_label is not None:
        raise ValueError(f"multi_class measures all classes: it takes no pos_label, got {shown(pos_label)}")
    if not isinstance(higher_is_better, (bool, np.bool_)):
        raise ValueError(f"higher_is_better must be True or False for several classes, got {shown(higher_is_better)}")
    lower = not higher_is_better
    options = {"weight_kind": weight_kind, "groups": groups, "name": name, "lower": lower, **missing}
    return classes(y_true, y_score, sample_weight, measure.labels, n_jobs, **options)


def inferred(
    data: Sample | Classes,
    measure: Measure,
    method: Method,
    question: Question,
    known: Data,
    seed: Any = None,
    names: tuple[str, ...] | None = None,
    bounds: tuple[float, float] | None = None,
) -> Inference:
    """Measure samples, or counts, with a method that has been checked; `bounds` are those of the estimate, if any."""
    found = method.estimate(data, measure, seed)
    if bounds is not None:
        estimate = float(found.estimate[0])
        low, high = min(bounds[0], estimate), max(bounds[1], estimate)  # but for rounding
        limits = widened(found.limits, estimate - low, high - estimate, measure.bounds)
        found, bounds = found._replace(limits=limits), (low, high)
    drawn = {"resampling": method.resampling} if found.replicates is not None else {}
    if isinstance(data, Classes):
        each = measure.average is None
        names = tuple(map(words.label_text, data.names)) if each else None
        return result(
            found, measure, question, each, data.sizes, pos_label=None, names=names, **of_samples(data), **drawn
        )
    warn_of_few(found.method, measure, data.effective, known)
    made = of_samples(data) | drawn | {"pos_label": data.pos_label, "names": names, "estimate_bounds": bounds}
    return result(found, measure, question, data.many, data.totals, threshold=_threshold(data, measure), **made)


def _threshold(data: Sample, measure: Measure) -> Any:
    """Return where a rate was read, one a model."""
    if not isinstance(measure, Rate):
        return None
    found = [of_caller(measure.threshold_of(one.curve()), one.lower) for one in data.models()]
    return np.array(found) if data.many else found[0]


def warn_below_chance(
    measure: Measure, data: Sample, interval: tuple[Any, Any], names: Sequence[str] | None = None, stacklevel: int = 3
) -> None:
    """Warn where a whole interval lies on the worse side of what a constant score has."""
    chance = measure.chance(data.totals)
    if chance is None:
        return
    low, high = (np.atleast_1d(end) for end in interval)
    side = "above" if measure.lower_is_better else "below"
    worse = low > chance + _ROUNDING if measure.lower_is_better else high < chance - _ROUNDING
    if not worse.any():
        return
    k = int(np.argmax(worse))
    named = f"model {words.label_text(names[k]) if names else k + 1}: " if len(low) > 1 else ""
    ends = words.ends((float(low[k]), float(high[k])))
    fact = f"the whole interval {ends} lies {side} {words.digits(chance)}, the value of a constant score"
    turned = np.broadcast_to(data.lower, len(low))[k]
    fix = f"pass higher_is_better={bool(turned)} if {'high' if turned else 'low'} scores are for positives"
    message = f"{named}{measure}: {fact}; {fix}, or check pos_label, which is {shown(data.pos_label)}"
    warnings.warn(BelowChanceWarning(message, named + fact), stacklevel=stacklevel)


def result(
    found: Interval, measure: Measure, question: Question, many: bool, sizes: tuple[float, float], **made: Any
) -> Inference:
    """Put together what is known; single models get plain numbers."""
    check_variance(found.variance)
    low, high = found.limits.ends(question.level)
    if (low >= high).any():
        fact = "the interval has zero width: nothing varies in these samples, as when the classes are separated"
        warnings.warn(CoverageWarning(f"{fact}; method='newcombe' gives an AUC an interval", fact), stacklevel=4)

    def shaped(values: F64) -> Any:
        return values if many else float(values[0])

    tested: dict[str, Any] = {}
    hypothesis = question.hypothesis
    if hypothesis is not None:
        statistic, pvalue = (
            np.broadcast_to(x, found.estimate.shape).copy() for x in hypothesis.test(found.limits.tails)
        )
        tested = {"statistic": shaped(statistic), "pvalue": shaped(pvalue), "null_value": hypothesis.null}
        tested |= {"alternative": hypothesis.alternative, "equivalence_margin": hypothesis.margin}
    replicates = found.replicates
    return Inference(
        estimate=shaped(found.estimate),
        variance=shaped(found.variance),
        standard_error=shaped(np.sqrt(found.variance)),
        confidence_interval=ConfidenceInterval(shaped(low), shaped(high)),
        n_pos=sizes[0],
        n_neg=sizes[1],
        method=found.method,
        confidence_level=question.level,
        replicates=None if replicates is None else replicates if many else replicates[:, 0],
        measure=measure,
        **tested,
        **made,
    )
