"""What thresholds do: rates, predictive values and likelihood ratios at those that are given or that rules choose."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._memory import require_memory
from rocmax._parameters import check_flag
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import critical
from rocmax.metrics._measure import check_level, totals
from rocmax.metrics._resample import check_resamples, check_resampling, drawable, seed_of
from rocmax.metrics._result import of_bootstrap, of_samples
from rocmax.metrics._validation import F64, Sample, call, choice, number, one_model, sample
from rocmax.metrics._weights import kind_of, warn_unless_counts
from rocmax.metrics.thresholds._clusters import cluster_intervals
from rocmax.metrics.thresholds._result import OperatingPoint
from rocmax.metrics.thresholds._rules import Rule, asked, weighed
from rocmax.metrics.thresholds._worth import (
    OF_PREVALENCE,
    Calls,
    Ends,
    Sizes,
    intervals,
    percentiles,
    values,
)

_METHODS = ("wilson", "bootstrap")


def operating_point(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: Any = "youden",
    cost: float = 1.0,
    prevalence: float | None = None,
    method: str = "wilson",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    stratified: bool = True,
    sample_weight: ArrayLike | None = None,
    weight_kind: str | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> OperatingPoint:
    """Return rates, predictive values and likelihood ratios at a threshold or several, with intervals.

    "Positive" means a score of at least the threshold c. With m positives, of which a share TPR is called positive, n
    negatives, of which FPR is, and p the prevalence, ``PPV = p TPR / (p TPR + (1 - p) FPR)``,
    ``NPV = (1 - p)(1 - FPR) / ((1 - p)(1 - FPR) + p (1 - TPR))``, ``LR+ = TPR / FPR`` and
    ``LR- = (1 - TPR) / (1 - FPR)``. By default intervals take the threshold as fixed; those of :func:`auc_inference`
    with ``metric="tpr_at_fpr"`` take the FPR as fixed and the threshold as estimated, and are wider. The rules of the
    estimators' `threshold` choose c among the scores and infinity, by the same code; of equals the highest.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical
        or `pos_label` tells which is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores. Tied scores are called alike.
    threshold : str, tuple or float, or list of these, default="youden"
        The threshold, or how it is chosen:

        - "youden" maximises ``TPR - r FPR``, "closest" minimises ``(1 - TPR)^2 + r FPR^2`` [1]_, with
          ``r = (1 - prevalence) / (cost prevalence)``, for the prevalence 0.5 where none is given;
        - ("fpr", rate): the largest TPR with an FPR of at most `rate`; ("specificity", rate): the same with a
          specificity of at least `rate`; ("sensitivity", rate): the lowest FPR with a TPR of at least `rate`;
        - ("cost", ratio): the lowest cost where a false positive costs `ratio` false negatives;
        - "eer": where FPR and 1 - TPR are closest;
        - "midpoint": half way from the lowest positive to the highest negative score.

        A list or an array gives a table, a row each; "all" stands for every distinct score.
    cost : float, default=1.0
        Of missing a positive, in units of the cost of a false alarm, for "youden" and "closest".
    prevalence : float in (0, 1), default=None
        Share of positives where the threshold is to be used: of the predictive values, the accuracy and the costs. None
        stands for that of the samples (of "youden" and "closest", for 0.5).
    method : {"wilson", "bootstrap"}, default="wilson"
        "wilson": intervals for thresholds as given; one that was chosen on these very samples looks better here than
        elsewhere. Shares have Wilson's intervals, likelihood ratios ``exp(log LR -+ z sqrt(v))`` with
        ``v = (1 - a) / (a m) + (1 - b) / (b n)`` for a ratio of a to b [2]_, with half a sample added to each count
        where a rate is 0 or both are 1. At a given prevalence those of the predictive values are theirs by Bayes'
        theorem, the standard logit intervals [3]_, and accuracy and positive calls have sums of Wilson's (MOVER).
        "bootstrap": percentiles over samples drawn again, on each of which the rule chooses anew, of the threshold too.
        A rate of 0 or 1 at a given threshold never varies there: Wilson's interval has a width.
    confidence_level : float, default=0.95
        Nominal coverage of each interval.
    n_resamples : int, default=2000
        Number of bootstrap replicates.
    stratified : bool, default=True
        Whether the bootstrap keeps the size of either class.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    weight_kind : {"frequency", "sampling"} or None, default=None
        Whether a weight w stands for w equal samples, or for an inverse sampling probability; see
        :func:`auc_inference`. Of the latter the intervals are those of the effective number of samples (Kish, 1965).
    groups : array-like of shape (n_samples,), default=None
        Clusters of correlated samples, such as the lesions of a patient. The bootstrap draws whole clusters, as many as
        there are, whatever `stratified`; needs ``method="bootstrap"`` and takes no weights. Intervals are those of
        "wilson" for the effective number of samples, ``p (1 - p) / v`` for a share whose replicates have mean p and
        variance v, with Student's quantile [4]_; that of the threshold has percentiles. Measured coverage of 95 %
        intervals is 92 to 100 % with 5 to 100 clusters of 1 to 8 samples; with few clusters they are wide.
    pos_label : label, default=None
        The positive class; all others are negative.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the bootstrap; the replicates do not depend on the number of threads.
    n_jobs : int, default=None
        Threads; None stands for all cores.

    Returns
    -------
    OperatingPoint
        Threshold, rates, intervals and the rest. O(n log n), for the bootstrap also O(n) a replicate and threshold.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or options.

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

    Examples
    --------
    >>> from rocmax.metrics import operating_point
    >>> operating_point([0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9])[:3]
    (0.5, 1.0, 0.3333333333333333)
    >>> found = operating_point([0, 0, 0, 1, 1], [0.1, 0.3, 0.6, 0.5, 0.9], threshold=[0.5, ("fpr", 0.1)])
    >>> found.threshold, found.tpr, found.ppv
    (array([0.5, 0.9]), array([1. , 0.5]), array([0.66666667, 1.        ]))
    """
    level = check_level(confidence_level)
    choice(method, _METHODS, "method")
    check_resampling(stratified, n_resamples, random_state)
    asked_kind, weight_kind = weight_kind, kind_of(weight_kind)
    cost = number(cost, "cost", "above 0", lambda value: 0.0 < value < np.inf)
    known = prevalence is not None
    if known:
        prevalence = number(prevalence, "prevalence", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    if groups is not None and (method != "bootstrap" or sample_weight is not None):
        raise ValueError("groups need method='bootstrap', which draws whole clusters, and no sample_weight")
    rules, several = asked(threshold)
    data = one_model(sample(y_true, y_score, sample_weight, pos_label=pos_label, n_jobs=n_jobs))
    curve = call(_core.Curve, data, data.threads)
    if rules is None:
        rules = [Rule("at", score) for score in curve.steps()[0].tolist()]
    used = [weighed(rule, cost, prevalence) for rule in rules]
    found = np.array([rule.number if rule.name == "at" else rule.of(curve) for rule in used])
    calls = Calls.at(curve, found)
    shares = values(calls)
    if prevalence is not None:
        there = values(Calls.of_rates(shares["tpr"], shares["fpr"], prevalence))
        shares |= {name: there[name] for name in OF_PREVALENCE}
    made: dict[str, Any] = {name: _shaped(column, several) for name, column in (shares | calls._asdict()).items()}
    if method == "wilson":
        ends = intervals(shares, _sizes(data, curve, found, weight_kind), prevalence, critical(level))
    else:
        needed = 8 * 16 * check_resamples(n_resamples) * len(used)
        require_memory(needed, f"n_resamples={n_resamples} with {len(used)} thresholds", "take fewer")
        drawing = (n_resamples, seed_of(random_state))
        if groups is None:
            ends = _bootstrapped(
                data, used, prevalence, level, (weight_kind, check_flag("stratified", stratified), *drawing)
            )
            made |= of_bootstrap(method, n_resamples, stratified)
            _warn_of_no_width(ends, found)
        else:
            ends = cluster_intervals(data, groups, used, found, shares, prevalence, level, *drawing)
            made["resampling"] = f"bootstrap of clusters, {n_resamples:,} resamples, effective sample sizes"
    for name, both in ends.items():
        made[f"{name}_interval"] = ConfidenceInterval(*(_shaped(end, several) for end in both))
    n_pos, n_neg = totals(data)
    criteria = [None if rule.name == "at" else rule.criterion for rule in rules]
    warn_unless_counts(asked_kind, data.weight)
    counted = of_samples(sample_weight, weight_kind, groups, data.y)
    return OperatingPoint(
        threshold=_shaped(found, several),
        pos_label=data.pos_label,
        criterion=criteria if several and any(criteria) else None if several else criteria[0],
        cost=cost,
        prevalence=n_pos / (n_pos + n_neg) if prevalence is None else prevalence,
        prevalence_known=known,
        confidence_level=level,
        n_pos=n_pos,
        n_neg=n_neg,
        method=method,
        weight_kind=counted["weight_kind"],
        n_samples=counted["n_samples"],
        n_groups=counted["n_groups"],
        **made,
    )


def _warn_of_no_width(ends: dict[str, Ends], thresholds: F64) -> None:
    """Say where replicates promise too much: all of them separate the classes."""
    (tpr, _), (_, fpr) = ends["tpr"], ends["fpr"]
    apart = (tpr >= 1) & (fpr <= 0)
    if apart.any():
        first = thresholds[apart][0]
        fact = f"the classes are apart at the threshold {first:g} in all replicates, whose rates do not vary"
        message = f"{fact}; method='wilson' gives intervals with a width"
        warnings.warn(CoverageWarning(message, fact, "wilson"), stacklevel=3)


def _shaped(column: F64, several: bool) -> Any:
    return column if several else float(column[0])


def _sizes(data: Sample, curve: _core.Curve, thresholds: F64, weight_kind: str) -> Sizes:
    """Return how many samples there are of each kind, of sampling weights the effective number."""

    def called(curve: _core.Curve) -> Sizes:
        tp, fp, fn, tn = Calls.at(curve, thresholds)
        every = tp + fp + fn + tn
        return Sizes(tp + fn, fp + tn, tp + fp, fn + tn, every, every)

    sums = called(curve)
    if weight_kind == "frequency" or data.weight is None:
        return sums
    scale = data.weight.max()
    squares = called(call(_core.Curve, data._replace(weight=(data.weight / scale) ** 2), data.threads))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Sizes(*((total / scale) ** 2 / square for total, square in zip(sums, squares, strict=True)))


def _bootstrapped(
    data: Sample, rules: list[Rule], prevalence: float | None, level: float, drawing: tuple[str, bool, int, int]
) -> dict[str, Ends]:
    """Return percentiles over samples drawn again, with rules that choose anew."""
    weight_kind, stratified, n_resamples, seed = drawing
    data = drawable(data, weight_kind, "method='wilson' has intervals of one")
    how = (weight_kind, list(map(tuple, rules)), stratified, n_resamples, seed)
    flat = call(_core.bootstrap_cuts, data, *how, data.threads)
    threshold, tpr, fpr, share = np.moveaxis(flat.reshape(n_resamples, len(rules), 4), 2, 0)
    drawn = values(Calls.of_rates(tpr, fpr, share if prevalence is None else prevalence))
    return percentiles({"threshold": threshold, **drawn}, level)
