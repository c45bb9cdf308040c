"""What thresholds do: rates, predictive values and likelihood ratios at those that are given or that rules choose."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._memory import require_memory
from rocmax._parameters import check_flag
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _words as words
from rocmax.metrics._clusters import cluster_intervals
from rocmax.metrics._cutoff import RULES, WEIGHED, Rule, asked, parse_rule, weighed
from rocmax.metrics._diagnostic import OF_PREVALENCE, QUANTITIES, Calls, Ends, Sizes, intervals, percentiles, values
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._interval import critical
from rocmax.metrics._measure import check_level, totals
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._resample import check_resamples, check_resampling, drawable, seed_of
from rocmax.metrics._result import Unpacked, of_bootstrap, of_samples
from rocmax.metrics._validation import F64, Sample, call, choice, number, one_model, sample
from rocmax.metrics._weights import kind_of, warn_unless_counts

_METHODS = ("wilson", "bootstrap")
_LISTED = 20  # rows of a printed table
_LARGE = 1e4  # likelihood ratios of four digits
_OTHERS = {"fpr": "tpr_at_fpr", "specificity": "tpr_at_fpr", "sensitivity": "fpr_at_tpr"}


@dataclass(frozen=True, repr=False, eq=False)
class OperatingPoint(Unpacked):
    """Thresholds, and what calling scores at or above them positive is worth, with intervals.

    The first six can be unpacked as a tuple. Of several thresholds all but the last are arrays of shape
    (n_thresholds,), and so are the ends of the intervals.

    Attributes
    ----------
    threshold, tpr, fpr : float or ndarray of shape (n_thresholds,)
        The threshold and both rates.
    tpr_interval, fpr_interval : ConfidenceInterval
        Of the rates.
    pos_label : label
        The label of the positive class.
    criterion : str, tuple or None, or list of these
        How the threshold was chosen; None for one that was given.
    cost, prevalence : float
        What a miss costs in false alarms, and the share of positives that predictive values and accuracy are for.
    confidence_level : float
        The nominal coverage of each interval.
    n_pos, n_neg : float
        Number of positive and negative samples, or their total weights.
    specificity, ppv, npv, lr_positive, lr_negative, accuracy, predicted_positive : float or ndarray
        1 - FPR, positive and negative predictive value, likelihood ratios of a positive and of a negative call, share
        of right calls and of positive calls; NaN for what is 0 / 0, such as the PPV where nothing is called positive.
    specificity_interval, ppv_interval, npv_interval, lr_positive_interval : ConfidenceInterval
    lr_negative_interval, accuracy_interval, predicted_positive_interval : ConfidenceInterval
        Of these.
    tp, fp, fn, tn : float or ndarray
        Number, or weight, of true and false positives and negatives.
    threshold_interval : ConfidenceInterval or None
        Of the threshold, by the bootstrap.
    prevalence_known : bool
        Whether `prevalence` was given; else it is that of the samples.
    method : {"wilson", "bootstrap"}
        Where the intervals are from.
    resampling, weight_kind, n_samples, n_groups : str, str, int and int, or None
        How a bootstrap drew; what weights stood for, and rows of weights other than 0; number of clusters.
    """

    n_unpacked = 6

    threshold: Any
    tpr: Any
    fpr: Any
    tpr_interval: ConfidenceInterval
    fpr_interval: ConfidenceInterval
    pos_label: Any = 1
    criterion: Any = None
    cost: float = 1.0
    prevalence: float = 0.5
    confidence_level: float = 0.95
    n_pos: float = 0
    n_neg: float = 0
    specificity: Any = None
    ppv: Any = None
    npv: Any = None
    lr_positive: Any = None
    lr_negative: Any = None
    accuracy: Any = None
    predicted_positive: Any = None
    specificity_interval: ConfidenceInterval | None = None
    ppv_interval: ConfidenceInterval | None = None
    npv_interval: ConfidenceInterval | None = None
    lr_positive_interval: ConfidenceInterval | None = None
    lr_negative_interval: ConfidenceInterval | None = None
    accuracy_interval: ConfidenceInterval | None = None
    predicted_positive_interval: ConfidenceInterval | None = None
    tp: Any = None
    fp: Any = None
    fn: Any = None
    tn: Any = None
    threshold_interval: ConfidenceInterval | None = None
    prevalence_known: bool = False
    method: str = "wilson"
    resampling: str | None = None
    weight_kind: str | None = None
    n_samples: int | None = None
    n_groups: int | None = None

    @property
    def sensitivity(self) -> Any:
        """The true positive rate."""
        return self.tpr

    @property
    def sensitivity_interval(self) -> ConfidenceInterval:
        """That of the true positive rate."""
        return self.tpr_interval

    def rows(self) -> list[dict[str, Any]]:
        columns: dict[str, Any] = {"threshold": self.threshold}
        for name in ("threshold", *QUANTITIES):
            both = getattr(self, f"{name}_interval")
            columns |= {name: getattr(self, name)}
            columns |= {} if both is None else {f"{name}_low": both.low, f"{name}_high": both.high}
        columns |= {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn")}
        held = {name: np.atleast_1d(column).tolist() for name, column in columns.items()}
        of_all: dict[str, Any] = {"n_pos": self.n_pos, "n_neg": self.n_neg, "prevalence": self.prevalence}
        of_all |= {} if self.weight_kind is None else {"weight_kind": self.weight_kind}
        chosen = [_name(criterion) for criterion in self._criteria]
        cells = zip(chosen, *held.values(), strict=True)
        return [{"criterion": how, **dict(zip(held, row, strict=True)), **of_all} for how, *row in cells]

    @property
    def _criteria(self) -> list[Any]:
        """How each threshold was chosen."""
        n = np.size(self.threshold)
        return list(self.criterion) if isinstance(self.criterion, list) else [self.criterion] * n

    def said(self) -> str:
        """Return both rates in words, of one threshold."""
        return ", ".join(f"{name.upper()} {self._found(name)}" for name in ("tpr", "fpr"))

    def _found(self, name: str) -> str:
        both = getattr(self, f"{name}_interval")
        level = words.level(self.confidence_level)
        places = None if name.startswith("lr_") and getattr(self, name) >= _LARGE else words.UNKNOWN
        return f"{words.digits(getattr(self, name), places)} ({level} {words.ends(both, places)})"

    def _worth(self) -> str:
        """Return predictive values and likelihood ratios in words."""
        where = f"at prevalence {words.digits(self.prevalence)}{' (known)' if self.prevalence_known else ''}"
        ratios = f"LR+ {self._found('lr_positive')}, LR- {self._found('lr_negative')}"
        return f"PPV {self._found('ppv')}, NPV {self._found('npv')} {where}; {ratios}"

    def _chosen(self, criterion: Any) -> str:
        """Return how a threshold was chosen, in words."""
        rule = parse_rule(criterion)
        if rule is None:
            return "given"
        prevalence = self.prevalence if self.prevalence_known else 0.5
        usual = rule.name not in WEIGHED or (self.cost, prevalence) == (1.0, 0.5)
        return str(rule) if usual else f"{rule}, with cost {self.cost:g} and prevalence {prevalence:g}"

    def _where(self) -> str:
        """Return the threshold in words, of one."""
        of = "" if self.threshold_interval is None else f"; {words.level(self.confidence_level)} "
        ends = "" if self.threshold_interval is None else words.ends(self.threshold_interval)
        return f"{self.threshold:.6g} ({self._chosen(self.criterion)}{of}{ends})"

    def _fixed(self) -> str:
        """Return what the intervals take as fixed, and which intervals do not."""
        if self.method == "bootstrap" and any(self._criteria):
            other = "" if self.n_groups is not None else " (method='wilson': the threshold is fixed)"
            return "the rule chooses anew in every resample" + other
        rules = {rule[0] if isinstance(rule, tuple) else rule for rule in self._criteria if rule is not None}
        others = " or ".join(sorted({repr(_OTHERS[rule]) for rule in rules if rule in _OTHERS}))
        if others:
            return f"taken as fixed (auc_inference(metric={others}) fixes the rate)"
        return "taken as fixed" + (" (method='bootstrap': chosen anew in every resample)" if rules else "")

    def _lines(self) -> list[str]:
        if np.ndim(self.threshold):
            n, names = np.size(self.threshold), ("tpr", "fpr", "ppv", "npv", "lr_positive", "lr_negative")
            rows = [self._row(row, names) for row in self.rows()[:_LISTED]]
            more = [f"and {n - _LISTED:,} thresholds more"] if n > _LISTED else []
            head = f"{n:,} thresholds, {words.level(self.confidence_level)} in brackets, {self._fixed()}"
            return [head, *words.text_table(rows), *more]
        return [f"threshold {self._where()}, {self._fixed()}", self.said(), self._worth()]

    def _row(self, row: dict[str, Any], names: tuple[str, ...]) -> dict[str, str]:
        """Return a row of a printed table: every estimate with its interval, nothing for what is 0 / 0."""
        ends = {name: (row[f"{name}_low"], row[f"{name}_high"]) for name in names}
        cells = {name: "" if np.isnan(row[name]) else words.bracketed(row[name], ends[name]) for name in names}
        threshold = f"{row['threshold']:.6g}"
        if self.threshold_interval is not None:
            threshold += f" [{row['threshold_low']:.6g}, {row['threshold_high']:.6g}]"
        return {"threshold": threshold} | cells

    def _sentences(self, basis: str) -> list[str]:
        if not np.ndim(self.threshold):
            return [f"At the threshold {self._where()} {self.said()}; {self._worth()} ({basis})"]
        rows, n = [self._row(row, ("tpr", "fpr")) for row in self.rows()[:_LISTED]], np.size(self.threshold)
        each = [
            f"{row['threshold']} ({self._chosen(how)}): TPR {row['tpr']}, FPR {row['fpr']}"
            for row, how in zip(rows, self._criteria, strict=False)
        ]
        level = words.level(self.confidence_level)
        return [
            f"At {n:,} thresholds ({level} in brackets; {basis}): {'; '.join(each)}{'; ...' if n > _LISTED else ''}"
        ]

    def _basis(self) -> list[str]:
        if self.method == "bootstrap":
            found = f"{self.resampling}, {REFERENCES['efron'].short}"
        else:
            logs = "predictive values and likelihood ratios {}" if self.prevalence_known else "likelihood ratios {}"
            source = REFERENCES["mercaldo" if self.prevalence_known else "simel"].short
            found = f"intervals of {REFERENCES['wilson'].short}, of {logs.format(source)}"
            found += "" if self.criterion is None else ", for a fixed threshold"
        return [found, words.weighted(self, words.samples(self.n_pos, self.n_neg, self.pos_label))]

    def _sources(self) -> tuple[str, ...]:
        rules = [parse_rule(criterion) for criterion in self._criteria if criterion is not None]
        chosen = [source for rule in rules if rule is not None for source in RULES[rule.name].sources]
        known = ("mercaldo", "zou") if self.prevalence_known else ()
        drawn = ("efron",) if self.method == "bootstrap" else ()
        formulas = ("wilson", "simel", *known) if not drawn or self.n_groups is not None else ()
        return (*chosen, *drawn, *(("korn",) if drawn and formulas else ()), *formulas)


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


def _name(criterion: Any) -> str:
    """Return how a threshold was chosen, for a table."""
    if criterion is None:
        return "given"
    return criterion if isinstance(criterion, str) else f"{criterion[0]} {criterion[1]:g}"


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
