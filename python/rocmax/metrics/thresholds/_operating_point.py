"""Operating points: rates and predictive values at given thresholds, or at thresholds that a rule chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.missing import in_caller_direction
from rocmax._checks.samples import F64, check_level
from rocmax._parameters import shown
from rocmax._runtime.warn import warn
from rocmax._typing import AnyArray, RuleChoice
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._interval import critical
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.results._inference import ConfidenceInterval, of_models
from rocmax.metrics.results._result import of_samples
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._reading import Weighted, read, require_none
from rocmax.metrics.samples._sample import Sample, one_model, require_clusters
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.thresholds._quantities import Calls, Sizes, intervals, resampled, values
from rocmax.metrics.thresholds._result import OperatingPoint
from rocmax.metrics.thresholds._rules import (
    Rule,
    check_budget,
    check_guarantee,
    guaranteed,
    names_rules,
    requested,
    warn_beyond,
    weighed,
)
from rocmax.metrics.variances._resample import check_seed


def operating_point(  # with samples first, the threshold is second
    y_true: ArrayLike | Samples,
    y_score: ArrayLike | Mapping[str, ArrayLike] | RuleChoice | None = None,
    threshold: RuleChoice | float | list[Any] | AnyArray | Literal["all"] = "youden",
    *,
    prevalence: float | None = None,
    guarantee: float | None = None,
    method: Bootstrap | Literal["wilson", "bootstrap"] = "wilson",
    confidence_level: float = 0.95,
    random_state: Any = None,
    **reading: Unpack[Weighted],
) -> OperatingPoint:
    """Rates, predictive values and likelihood ratios at one or several thresholds, with confidence intervals.

    Use it to choose a threshold by a rule, or to report a given one; ``score >= threshold`` is called positive.

    >>> from rocmax.metrics import operating_point
    >>> y, s = [0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9]
    >>> operating_point(y, s, threshold=("sensitivity", 1.0))[:3]  # threshold, TPR, FPR
    (0.5, 1.0, 0.3333333333333333)
    >>> found = operating_point(y, s, threshold=[0.5, ("alerts", 1)])
    >>> found.threshold, found.tpr, found.ppv
    (array([0.5, 0.9]), array([1. , 0.5]), array([0.66666667, 1.        ]))
    >>> y, s = [0] * 50 + [1] * 50, range(100)
    >>> found = operating_point(y, s, threshold=("sensitivity", 0.9), guarantee=0.95)
    >>> found.threshold, found.tpr, round(found.guarantee, 3)  # 0.9 on new data too
    (51.0, 0.98, 0.966)

    Parameters
    ----------
    y_true, y_score : array-like
        Labels, and the scores of one model or of several; see :class:`Samples`. Or :class:`Samples` in place of both:
        ``operating_point(samples, ("fpr", 0.1))``.
    threshold : str, tuple or float, or list of these, default="youden"
        The threshold, or the rule that chooses it:

        - "youden" maximises ``TPR - r FPR``, "closest" minimises ``(1 - TPR)^2 + r FPR^2`` [1]_, with
          ``r = (1 - prevalence) / prevalence``, and prevalence 0.5 if none is given;
        - ("fpr", rate): the largest TPR with an FPR of at most `rate`; ("specificity", rate): the largest TPR with a
          specificity of at least `rate`; ("sensitivity", rate): the lowest FPR with a TPR of at least `rate`, and the
          largest TPR there;
        - ("alerts", k): as many samples called positive as possible, but at most k: a number of samples if k is a
          whole number from 1, else a share of the samples in (0, 1). Samples tied at the cut are all left out if they
          do not fit. With weights, k counts weight;
        - ("cost", ratio): the lowest cost if a false positive costs as much as `ratio` false negatives: ("cost", 5)
          where alarms are expensive, ("cost", 1 / 5) where a false negative costs as much as five false positives;
        - ("precision", share): the largest TPR with a precision (PPV) of at least `share`; none is called positive
          if no threshold reaches it. "f1": the largest F1 score, ``2 PPV TPR / (PPV + TPR)``. Both refer to
          `prevalence`, and are uncertain where few samples are called positive;
        - "eer": where FPR and 1 - TPR are closest;
        - "midpoint": half way between the lowest positive and the highest negative score; if no number lies between
          them, the positive score, which is called positive.

        A list or an array gives a table with one row for each; "all" gives every distinct score.
    prevalence : float in (0, 1), default=None
        Share of positives where the threshold will be used; predictive values, accuracy and costs refer to it. None
        uses the share in the samples (0.5 for "youden" and "closest").
    guarantee : float in (0, 1), default=None
        Probability with which the threshold keeps the limit of its rule on new data. Without it, the rules "fpr",
        "specificity", "sensitivity" and "alerts" keep their limit on these samples, and exceed it on about half of all
        new data. With ``threshold=("fpr", 0.01), guarantee=0.95`` the FPR of the population is at most 0.01 with
        probability 0.95 over samples like these. Each of several thresholds keeps its own limit. Excludes
        weights, clusters and the bootstrap.
    method : {"wilson", "bootstrap"} or Bootstrap, default="wilson"
        "wilson": intervals for a fixed threshold; one chosen on the same samples looks better on them than on new data.
        "bootstrap", or :class:`Bootstrap` with options: percentiles over resamples, in each of which the rule chooses
        the threshold anew; the threshold has an interval too. Resamples are stratified by class, but not for "alerts",
        "precision" and "f1", which depend on the share of positives. A rate of 0 or 1 does not vary between resamples:
        it has Wilson's interval.
    confidence_level : float, default=0.95
        Nominal coverage of each interval.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap; replicates do not depend on the number of threads.
    **reading
        With arrays, the options of :class:`Samples` but `by`. Intervals with sampling weights use the effective number
        of samples (Kish, 1965). With `higher_is_better=False`, samples are called positive whose score is at most the
        threshold, and where a rule calls none positive the threshold is minus infinity. `groups` need
        ``method="bootstrap"``, which draws whole clusters, not stratified, and exclude weights.

    Returns
    -------
    OperatingPoint
        Thresholds, rates and intervals; of several models :class:`Results`, one for each. O(n log n), the bootstrap
        also O(n) for each resample and threshold.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or options, more alerts than samples, and a guarantee that so few samples cannot
        give; the message says how many are needed.

    Warns
    -----
    CoverageWarning
        If a limit allows less than one sample, such as an FPR of at most 0.001 with 100 negatives.

    Notes
    -----
    A sample is called positive if its score is at least the threshold c, compared as by ``y_score >= c``: float32
    scores with c rounded to float32, all others, float16 too, in float64. With TPR the share of the m positives that
    are called positive, FPR the share of the n negatives, and p the prevalence,
    ``PPV = p TPR / (p TPR + (1 - p) FPR)``, ``NPV = (1 - p)(1 - FPR) / ((1 - p)(1 - FPR) + p (1 - TPR))``,
    ``LR+ = TPR / FPR`` and ``LR- = (1 - TPR) / (1 - FPR)``. A rule chooses c among the scores and infinity, the highest
    of equally good thresholds. The estimators' `threshold` uses the same rules. By default intervals take the threshold
    as fixed, so that few samples beyond it are no reason to refuse one; those of :func:`infer` with :class:`TPRAtFPR`
    take the FPR as fixed and the threshold as estimated, and are wider.

    A threshold with a `guarantee` is an order statistic: the share of the population beyond the k-th of n scores has a
    beta distribution with parameters k and ``n - k + 1`` for any distribution of continuous scores [5]_; with ties the
    probability is higher. With "wilson", shares have Wilson's interval, likelihood ratios ``exp(log LR -+ z sqrt(v))``
    with ``v = (1 - a) / (a m) + (1 - b) / (b n)`` for the ratio of rates a and b [2]_, where half a sample is added to
    each count if a rate is 0 or both are 1. At a given prevalence predictive values have the standard logit interval
    [3]_, and accuracy and share called positive combine the intervals of both rates (MOVER).

    With `groups`, intervals are those of "wilson" with the effective number of samples, ``p (1 - p) / v`` for a share
    whose replicates have mean p and variance v, and Student's quantile [4]_; the threshold has percentiles. Measured
    coverage of 95 % intervals is 92 to 100 % with 5 to 100 clusters of 1 to 8 samples; with few clusters they are wide.

    References
    ----------
    .. [1] N. J. Perkins and E. F. Schisterman, "The inconsistency of optimal cutpoints obtained using two
       criteria based on the receiver operating characteristic curve", American Journal of
       Epidemiology 163, 2006. :doi:`10.1093/aje/kwj063`
    .. [2] D. L. Simel, G. P. Samsa and D. B. Matchar, "Likelihood ratios with confidence: sample size estimation for
       diagnostic test studies", Journal of Clinical Epidemiology 44, 1991. :doi:`10.1016/0895-4356(91)90128-V`
    .. [3] N. D. Mercaldo, K. F. Lau and X. H. Zhou, "Confidence intervals for predictive values with an emphasis to
       case-control studies", Statistics in Medicine 26, 2007. :doi:`10.1002/sim.2677`
    .. [4] E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
       counts estimated from survey data", Survey Methodology 24, 1998.
    .. [5] S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical Statistics
       12, 1941. :doi:`10.1214/aoms/1177731788`
    """
    level = check_level(confidence_level)
    if isinstance(y_true, Samples) and y_score is not None:
        if names_rules(y_score) and isinstance(threshold, str) and threshold == "youden":
            y_score, threshold = None, cast(Any, y_score)
        else:
            require_none(Samples, operating_point, y_score, {}, "; thresholds are threshold=...")
    rules, several = requested(threshold)
    check_seed(random_state)
    known = prevalence is not None
    if known:
        prevalence = check_level(prevalence, "prevalence")
    samples = read(operating_point, y_true, y_score, reading, Weighted)
    if samples.two.n_models > 1:
        how: dict[str, Any] = {"threshold": threshold, "prevalence": prevalence, "guarantee": guarantee}
        how |= {"method": method, "confidence_level": confidence_level, "random_state": random_state}
        warn_unless_counts(samples.weight_kind, samples.two.weight)
        of_each: OperatingPoint = of_models(samples.two, lambda one: operating_point(samples.holding(one), **how))
        return of_each  # Results
    data = one_model(samples.two)
    require_clusters(data.group, "operating_point")
    bootstrap = _bootstrap(method, rules if data.group is None else None)
    if guarantee is not None:
        guarantee = check_level(guarantee, "guarantee")
        check_guarantee(threshold, rules, bootstrap, data.weight, data.group)
    if data.group is not None and bootstrap is None:
        raise ValueError("groups need method='bootstrap', which draws whole clusters")
    curve = data.curve()
    if rules is None:
        rules = [Rule("at", score) for score in curve.steps()[0].tolist()]
    elif data.lower:
        rules = [rule._replace(number=-rule.number) if rule.given else rule for rule in rules]
    n_pos, n_neg = data.totals
    for rule in rules:
        check_budget(rule, n_pos + n_neg)
    if guarantee is None:
        used, reached = [weighed(rule, prevalence) for rule in rules], None
        warn_beyond(rules, *data.effective)
    else:
        used, reached = guaranteed(data, rules, guarantee)
    thresholds, calls = Calls.of_rules(curve, [rule.among(curve, data.score.dtype) for rule in used])
    shares = values(calls, prevalence)
    sizes = _sizes(data, thresholds, calls)
    resampling = None if bootstrap is None else f"{bootstrap.resampling}, percentiles"
    if bootstrap is not None and data.group is not None:
        resampling = f"bootstrap of clusters, {bootstrap.n_resamples:,} resamples, effective sample sizes"
    if bootstrap is None:
        ends = intervals(shares, sizes, prevalence, critical(level))
    else:
        ends = resampled(data, used, thresholds, shares, prevalence, level, bootstrap, random_state, sizes)
    if data.lower and "threshold" in ends:
        ends["threshold"] = tuple(in_caller_direction(end, True) for end in ends["threshold"][::-1])
    warn_unless_counts(samples.weight_kind, data.weight)

    def shaped(column: F64) -> Any:
        return column if several else float(column[0])

    given = np.array([rule.given for rule in rules])
    thresholds = np.where(given, [rule.number for rule in rules], thresholds)  # as the caller writes them
    columns = {"threshold": in_caller_direction(thresholds, data.lower)} | shares | calls._asdict()
    made: dict[str, Any] = {name: shaped(column) for name, column in columns.items()}
    made |= {f"{name}_interval": ConfidenceInterval(*map(shaped, both)) for name, both in ends.items()}
    criteria = [rule.criterion for rule in rules]
    return OperatingPoint(
        pos_label=data.pos_label,
        criterion=(criteria if any(criteria) else None) if several else criteria[0],
        guarantee=None if reached is None else shaped(reached),
        prevalence=n_pos / (n_pos + n_neg) if prevalence is None else prevalence,
        prevalence_known=known,
        confidence_level=level,
        n_pos=n_pos,
        n_neg=n_neg,
        method="wilson" if bootstrap is None else bootstrap.name,
        resampling=resampling,
        **of_samples(data),
        **made,
    )


def _bootstrap(method: Any, rules: Sequence[Rule] | None) -> Bootstrap | None:
    """Return how the intervals resample, or None for those of fixed thresholds."""
    # Stratified resamples fix the share of positives.
    shares = any(rule.kind.limits == "samples" or rule.kind.of_calls is not None for rule in rules or ())
    if isinstance(method, str) and method in ("wilson", "bootstrap"):
        return None if method == "wilson" else Bootstrap(stratified=not shares)
    if not isinstance(method, Bootstrap) or method.interval != "percentile":
        raise ValueError(
            "method must be 'wilson', 'bootstrap' or a value such as Bootstrap(500, stratified=False), with"
            f" percentiles, got {shown(method)}"
        )
    if shares and method.stratified:
        fact = "stratified resamples fix the share of positives, on which alerts, precision and F1 depend"
        message = f"intervals undercover: {fact}; use Bootstrap(stratified=False)"
        warn(CoverageWarning(message, fact))
    return method


def _sizes(data: Sample, thresholds: F64, calls: Calls) -> Sizes:
    """Return the number of samples of each kind, for sampling weights the effective number."""
    if data.weight_kind == "frequency" or data.weight is None:
        return Sizes.of(calls)
    scale = data.weight.max()
    curve = data._replace(weight=(data.weight / scale) ** 2).curve()
    squares = Calls.of_rules(curve, [Rule("at", threshold) for threshold in thresholds.tolist()])[1]
    sums = Sizes.of(Calls(*(part / scale for part in calls)))
    with np.errstate(divide="ignore", invalid="ignore"):  # Kish's numbers
        return Sizes(*(whole**2 / of for whole, of in zip(sums, Sizes.of(squares), strict=True)))
