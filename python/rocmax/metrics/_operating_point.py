"""Operating points: rates and predictive values at given thresholds, or at thresholds that a rule chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocmax import _core
from rocmax._checks.samples import F64, check_level, in_caller_direction
from rocmax._parameters import shown
from rocmax._runtime.memory import require_memory
from rocmax._runtime.warn import warn
from rocmax._typing import AnyArray, RuleChoice
from rocmax.exceptions import CoverageWarning
from rocmax.metrics import _threshold_rules, _words as words
from rocmax.metrics._references import REFERENCES, cited
from rocmax.metrics._threshold_rules import Rule, guaranteed, parse_rule
from rocmax.metrics.intervals._interval import critical, wilson
from rocmax.metrics.measures.at_threshold import FORMULAS
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.results._inference import ConfidenceInterval, of_models
from rocmax.metrics.results._result import Unpacked, of_samples, table
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._reading import Weighted, read
from rocmax.metrics.samples._sample import Sample, call, explain, one_model, require_clusters
from rocmax.metrics.samples._samples import Samples
from rocmax.metrics.variances._resample import check_seed, drawable, masses, seed_of

#: What is known of a threshold, in the order of tables.
QUANTITIES = ("tpr", "fpr", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "accuracy", "predicted_positive")
_OF_PREVALENCE = ("ppv", "npv", "accuracy", "predicted_positive")
_SHARES = ("tpr", "specificity", *_OF_PREVALENCE)  # of which each of the effective sizes is
_LISTED = 20  # rows of a printed table
_LARGE = 1e4  # likelihood ratios of four digits
_FEW = 8  # rules that walk the curve one by one; for more rules it is copied
_Ends = tuple[F64, F64]


@dataclass(frozen=True, repr=False, eq=False)
class OperatingPoint(Unpacked):
    """One or several thresholds, and the rates and predictive values there.

    The first six attributes can be unpacked as a tuple. For several thresholds, numbers and confidence limits are
    arrays of shape (n_thresholds,).

    Attributes
    ----------
    threshold, tpr, fpr : float or ndarray of shape (n_thresholds,)
        The threshold and both rates.
    tpr_interval, fpr_interval : ConfidenceInterval
        Confidence intervals of the rates.
    criterion : str, tuple or None, or list of these
        The rule that chose the threshold; None for a threshold that was given.
    guarantee : float, ndarray or None
        Probability that the rate of the population keeps the limit of the rule, at least the requested `guarantee`.
    prevalence, confidence_level : float
        As in :func:`operating_point`; the share of positives in the samples if no prevalence was given.
    specificity, ppv, npv, lr_positive, lr_negative, accuracy, predicted_positive : float or ndarray
        1 - FPR, positive and negative predictive value, positive and negative likelihood ratio, share of samples called
        correctly and share called positive; NaN for 0 / 0, such as the PPV where no sample is called positive.
    specificity_interval, ppv_interval, npv_interval, lr_positive_interval : ConfidenceInterval
    lr_negative_interval, accuracy_interval, predicted_positive_interval : ConfidenceInterval
        Their confidence intervals.
    tp, fp, fn, tn : float or ndarray
        Number, or total weight, of true and false positives, false and true negatives.
    threshold_interval : ConfidenceInterval or None
        Confidence interval of the threshold, by the bootstrap.
    prevalence_known : bool
        Whether `prevalence` was given.
    method : {"wilson", "bootstrap"}
        Method of the intervals.
    n_pos, n_neg, pos_label, resampling, weight_kind, n_samples, n_groups, higher_is_better, n_dropped
        As of :class:`Inference`.
    """

    n_unpacked = 6

    threshold: Any
    tpr: Any
    fpr: Any
    tpr_interval: ConfidenceInterval
    fpr_interval: ConfidenceInterval
    pos_label: Any = 1
    criterion: Any = None
    guarantee: Any = None
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
    higher_is_better: bool = True
    n_dropped: int = 0

    @property
    def sensitivity(self) -> Any:
        """The true positive rate."""
        return self.tpr

    def rows(self) -> list[dict[str, Any]]:
        return self._rows()

    def _rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return the rows of the first thresholds."""
        columns: dict[str, Any] = {"criterion": [rule.cell for rule in self._rules[:most]]}
        for name in ("threshold", *QUANTITIES):
            low, high = getattr(self, f"{name}_interval") or (None, None)
            columns |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        others = "tp", "fp", "fn", "tn", "guarantee", "n_pos", "n_neg", "prevalence", "weight_kind"
        columns |= {name: getattr(self, name) for name in others}
        held = {name: column[:most] if np.ndim(column) else column for name, column in columns.items()}
        return table(len(held["criterion"]), held)

    def _journal(self) -> list[dict[str, str]]:
        of_alerts = words.style() == "alerts"
        others = "specificity", "ppv", "npv", "lr_positive", "lr_negative"
        kept = "criterion", "threshold", "tpr", *(("alerts", "caught", "fpr", "ppv") if of_alerts else others)
        rows = [
            {name: row[name] for name in row if name.removesuffix("_low").removesuffix("_high") in kept}
            for row in ({**row, "alerts": row["tp"] + row["fp"], "caught": row["tp"]} for row in self.rows())
        ]
        return words.journal(rows, "", self.confidence_level)

    @property
    def _rules(self) -> list[Rule]:
        one = not isinstance(self.criterion, list)
        rules = [parse_rule(criterion) or Rule("at") for criterion in ([self.criterion] if one else self.criterion)]
        return rules * np.size(self.threshold) if one else rules

    def _rates(self) -> str:
        rates = ", ".join(map(self._found, ("tpr", "fpr")))
        if words.style() != "alerts":
            return rates
        caught, alerts = words.count(self.tp), words.count(self.tp + self.fp)
        return f"{alerts} alerts with {caught} of {words.count(self.n_pos)} positives: {rates}"

    def _found(self, name: str) -> str:
        """Return a rate or a ratio with its interval in words."""
        both, value, of = getattr(self, f"{name}_interval"), getattr(self, name), words.rate(name)
        form = words.Notation(None if of.name[:2] == "LR" and value >= _LARGE else words.UNKNOWN, of)
        return f"{of.name} {words.digits(value, form)} ({words.confident(self.confidence_level, both, form)})"

    def _worth(self) -> str:
        """Return predictive values and likelihood ratios in words."""
        ratios = ", ".join(map(self._found, ("lr_positive", "lr_negative")))
        return f"{self._found('ppv')}, {self._found('npv')} {self._at_prevalence}; {ratios}"

    @property
    def _at_prevalence(self) -> str:
        form = words.Notation(words.UNKNOWN, words.rate("prevalence"))
        return f"at prevalence {words.digits(self.prevalence, form)}{' (known)' if self.prevalence_known else ''}"

    def _chosen(self, index: int = 0) -> str:
        """Return how a threshold was chosen, in words."""
        rule = self._rules[index]
        if rule.name == "fpr" and words.style() == "clinical":
            rule = Rule("specificity", 1.0 - rule.number)
        prevalence = self.prevalence if self.prevalence_known else 0.5
        usual = not rule.kind.weighs_fpr or prevalence == 0.5
        how = words.criterion(str(rule)) + ("" if usual else f", at prevalence {prevalence:g}")
        if self.guarantee is None:
            return how
        reached = words.percent(np.atleast_1d(self.guarantee)[index])
        return f"{how}, guaranteed on new data with probability {reached}, {REFERENCES['wilks'].short}"

    def _where(self) -> str:
        both = self.threshold_interval
        ends = "" if both is None else f"; {words.confident(self.confidence_level, both)}"
        return f"{self._at_most}{self.threshold:.6g} ({self._chosen()}{ends})"

    @property
    def _at_most(self) -> str:
        """What precedes a threshold if scores below it are called positive."""
        return "" if self.higher_is_better else "<= "

    def _fixed(self) -> str:
        """Return in words whether the intervals take the threshold as fixed."""
        anew = self.method == "bootstrap" and not all(rule.given for rule in self._rules)
        return "the rule chooses anew in every resample" if anew else "taken as fixed"

    def _lines(self) -> list[str]:
        if np.ndim(self.threshold):
            n, rows = np.size(self.threshold), self._table("ppv", "npv")
            more = [f"and {n - _LISTED:,} more thresholds"] if n > _LISTED else []
            head = f"{n:,} threshold{'s' * (n > 1)}, {self._fixed()}; {words.level(self.confidence_level)} in brackets"
            if self.guarantee is not None:
                least = words.percent(np.min(self.guarantee))
                head += f", each guaranteed on new data with probability {least} or more"
            return [head, *words.text_table(rows), *more, f"PPV and NPV {self._at_prevalence}"]
        return [f"threshold {self._where()}, {self._fixed()}", self._rates(), self._worth()]

    def _table(self, *others: str) -> list[dict[str, str]]:
        """Return a printed table: counts, rates with intervals and other estimates, an empty cell for 0 / 0."""
        rows = self._rows(_LISTED)
        columns = {"criterion": [row["criterion"] for row in rows]} if isinstance(self.criterion, list) else {}
        columns["threshold"] = [f"{self._at_most}{row['threshold']:.6g}" for row in rows]
        if self.threshold_interval is not None:
            ends = (f" [{row['threshold_low']:.6g}, {row['threshold_high']:.6g}]" for row in rows)
            columns["threshold"] = list(map("".join, zip(columns["threshold"], ends, strict=True)))
        columns["alerts"] = [words.count(row["tp"] + row["fp"]) for row in rows]
        columns["caught"] = [words.count(row["tp"]) for row in rows]
        for name in ("tpr", "fpr", *others):
            limits = [None if name in others else (row[f"{name}_low"], row[f"{name}_high"]) for row in rows]
            form = words.Notation(words.UNKNOWN, words.rate(name))
            columns[name] = words.beside([row[name] for row in rows], limits, [form] * len(rows))
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _sentences(self, basis: str) -> list[str]:
        if not np.ndim(self.threshold):
            return [f"At the threshold {self._where()} {self._rates()}; {self._worth()} ({basis})"]
        n, (tpr, fpr) = np.size(self.threshold), (words.rate(name).name for name in ("tpr", "fpr"))
        rows = enumerate(self._table())
        each = [f"{row['threshold']} ({self._chosen(k)}): {tpr} {row['tpr']}, {fpr} {row['fpr']}" for k, row in rows]
        each += ["..."] if n > _LISTED else []
        head = f"At {n:,} threshold{'s' * (n > 1)} ({words.level(self.confidence_level)} in brackets; {basis})"
        return [f"{head}: {'; '.join(each)}"]

    def _basis(self) -> list[str]:
        if self.method == "bootstrap":
            found = f"{self.resampling}, {REFERENCES['efron'].short}"
        else:
            logs = "predictive values and likelihood ratios" if self.prevalence_known else "likelihood ratios"
            source = REFERENCES["mercaldo" if self.prevalence_known else "simel"].short
            found = f"intervals by {REFERENCES['wilson'].short}"
            found += "" if np.ndim(self.threshold) else f", of {logs} by {source}"
            found += "" if self.criterion is None else ", for a fixed threshold"
        counted = words.weighted(self, words.samples(self.n_pos, self.n_neg, self.pos_label))
        return [found, counted + words.exceptions(self)]

    def _sources(self) -> tuple[str, ...]:
        chosen = [source for rule in self._rules for source in rule.kind.how.sources]
        known = ("mercaldo", "zou") if self.prevalence_known else ()
        drawn = ("efron",) if self.method == "bootstrap" else ()
        formulas = ("wilson", "simel", *known) if not drawn or self.n_groups is not None else ()
        kept = () if self.guarantee is None else ("wilks",)
        return (*chosen, *kept, *drawn, *(("korn",) if drawn and formulas else ()), *formulas)


class _Calls(NamedTuple):
    """The weights of true and false positives, false and true negatives, at every threshold."""

    tp: F64
    fp: F64
    fn: F64
    tn: F64

    @classmethod
    def of_rules(cls, curve: _core.Curve, rules: Sequence[Rule]) -> tuple[F64, _Calls]:
        """Return the threshold that each rule chooses on a curve, and the calls there."""
        pos, neg = curve.weights
        if len(rules) <= _FEW:
            thresholds, _, tp, fp = np.array([curve.cut(rule.on(curve).core) for rule in rules]).T
        else:
            thresholds = np.array([rule.number if rule.given else rule.of(curve) for rule in rules])
            score, *weights = curve.steps()
            n_called: NDArray[np.intp] = np.searchsorted(-score, -thresholds, side="right")
            tp, fp = (np.concatenate([[0.0], np.cumsum(weight)])[n_called] for weight in weights)
        return thresholds, cls(tp, fp, pos - tp, neg - fp)

    @classmethod
    def of_rates(cls, tpr: F64, fpr: F64, prevalence: F64 | float) -> _Calls:
        return cls(prevalence * tpr, (1 - prevalence) * fpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - fpr))


class _Sizes(NamedTuple):
    """The effective number of samples of each kind: the number of samples of equal weight that vary as much."""

    pos: F64
    neg: F64
    called: F64
    not_called: F64
    right: F64  # of the accuracy
    every: F64

    @classmethod
    def of(cls, calls: _Calls) -> _Sizes:
        """Return the weights of each kind."""
        tp, fp, fn, tn = calls
        every = tp + fp + fn + tn
        return cls(tp + fn, fp + tn, tp + fp, fn + tn, every, every)


def _values(calls: _Calls, prevalence: float | None = None) -> dict[str, F64]:
    """Return every quantity, at a known prevalence if one is given; NaN for 0 / 0."""
    tp, fp, fn, tn = calls
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, tnr = (FORMULAS[name](*calls) for name in ("sensitivity", "specificity"))
        fpr, fnr = fp / (fp + tn), fn / (tp + fn)
        used = calls if prevalence is None else _Calls.of_rates(tpr, fpr, prevalence)
        ppv, npv, *shares = (FORMULAS[name](*used) for name in ("ppv", "npv", "accuracy", "selected"))
        found = tpr, fpr, tnr, ppv, npv, tpr / fpr, fnr / tnr, *shares
    return dict(zip(QUANTITIES, found, strict=True))


def _intervals(found: dict[str, F64], sizes: _Sizes, prevalence: float | None, z: float) -> dict[str, _Ends]:
    """Return the interval of every quantity at given thresholds, as :func:`operating_point` describes them."""

    def share(name: str, size: F64) -> _Ends:
        with np.errstate(invalid="ignore"):
            return wilson(found[name] * size, size, z)

    tpr, fpr = share("tpr", sizes.pos), share("fpr", sizes.neg)
    specificity = 1 - fpr[1], 1 - fpr[0]
    ends = {"tpr": tpr, "fpr": fpr, "specificity": specificity}
    ends["lr_positive"] = _ratio(found["tpr"], found["fpr"], sizes, z)
    ends["lr_negative"] = _ratio(1 - found["tpr"], found["specificity"], sizes, z)
    if prevalence is None:
        of_all = dict(zip(_OF_PREVALENCE, sizes[2:], strict=True))
        return ends | {name: share(name, size) for name, size in of_all.items()}
    odds = prevalence / (1 - prevalence)
    low, high = (np.stack(part) for part in zip(ends["lr_positive"], ends["lr_negative"], strict=True))
    ppv = _share(odds * low[0]), _share(odds * high[0])
    npv = 1 - _share(odds * high[1]), 1 - _share(odds * low[1])
    for name, (least, most) in (("ppv", ppv), ("npv", npv)):
        none = np.isnan(found[name])
        ends[name] = np.where(none, np.nan, least), np.where(none, np.nan, most)
    for name, other in (("accuracy", specificity), ("predicted_positive", fpr)):
        of_neg = found["specificity" if name == "accuracy" else "fpr"]
        parts = (prevalence, found["tpr"], tpr), (1 - prevalence, of_neg, other)
        reach = [np.sqrt(sum((share * (rate - both[k])) ** 2 for share, rate, both in parts)) for k in (0, 1)]
        ends[name] = np.maximum(found[name] - reach[0], 0.0), np.minimum(found[name] + reach[1], 1.0)
    return ends


def _share(odds: F64) -> F64:
    """Return the probability of odds; 1 if they are infinite."""
    with np.errstate(divide="ignore", over="ignore"):  # of a prevalence next to 0
        return np.asarray(1 / (1 + 1 / odds))


def _ratio(of_pos: F64, of_neg: F64, sizes: _Sizes, z: float) -> _Ends:
    """Return the confidence limits of a likelihood ratio."""
    m, n = sizes.pos, sizes.neg
    few = (np.minimum(of_pos, of_neg) <= 0) | (np.minimum(of_pos, of_neg) >= 1)  # where v is infinite or 0
    a, b = (np.where(few, (rate * size + 0.5) / (size + 1), rate) for rate, size in ((of_pos, m), (of_neg, n)))
    m, n = np.where(few, m + 1, m), np.where(few, n + 1, n)
    reach = np.exp(z * np.sqrt((1 - a) / (a * m) + (1 - b) / (b * n)))
    low, high = a / b / reach, a / b * reach
    return np.where(of_pos <= 0, 0.0, low), np.where(of_neg <= 0, np.inf, high)


def _percentiles(replicates: dict[str, F64], level: float) -> dict[str, _Ends]:
    """Return percentiles of replicates (by row), without interpolation, since some may be infinite; NaN is left out."""
    tail, found = (1 - level) / 2, {}
    for name, rows in replicates.items():
        ordered, columns = np.sort(rows, axis=0), np.arange(rows.shape[1])  # NaN last
        last = np.maximum(np.count_nonzero(~np.isnan(rows), axis=0) - 1, 0)
        places = np.floor(tail * last), np.ceil((1 - tail) * last)
        low, high = (ordered[place.astype(np.intp), columns] for place in places)
        found[name] = low, high
    return found


def _resampled(
    data: Sample,
    rules: Sequence[Rule],
    thresholds: F64,
    found: dict[str, F64],
    fixed: dict[str, _Ends],
    prevalence: float | None,
    level: float,
    bootstrap: Bootstrap,
    random_state: Any,
) -> dict[str, _Ends]:
    """Return percentiles over resamples on which rules choose anew, with clusters those of thresholds alone."""
    needed = 8 * 16 * bootstrap.n_resamples * len(rules)
    require_memory(needed, f"n_resamples={bootstrap.n_resamples} with {len(rules)} thresholds", "take fewer")
    if data.group is None:
        data = drawable(data, "; method='wilson' has intervals for one sample")
    own = data.group is not None or any(rule.kind.of_calls for rule in rules)
    cuts = (_own_cuts if own else _cuts)(data, rules, bootstrap, seed_of(random_state))
    threshold, tpr, fpr, share = np.moveaxis(cuts, 2, 0)
    ends = _percentiles({"threshold": threshold}, level)
    if data.group is not None:
        of_clusters = _cluster_sizes(data, thresholds, _values(_Calls.of_rates(tpr, fpr, share)), level)
        return _intervals(found, of_clusters, prevalence, critical(level)) | ends
    drawn = _values(_Calls.of_rates(tpr, fpr, share if prevalence is None else prevalence))
    # The rates themselves: their way through the shares rounds.
    drawn |= {"tpr": tpr, "fpr": fpr}
    for name, (low, high) in _percentiles(drawn, level).items():
        ends[name] = np.where(low == high, fixed[name][0], low), np.where(low == high, fixed[name][1], high)
    return ends


def _cuts(data: Sample, rules: Sequence[Rule], bootstrap: Bootstrap, seed: int) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on replicates, of shape (n_resamples, n_rules, 4)."""
    rules_of_core = [rule.core for rule in rules]
    how = (data.weight_kind == "sampling", rules_of_core, bootstrap.stratified, bootstrap.n_resamples, seed)
    return call(_core.bootstrap_cuts, data, *how, data.threads).reshape(bootstrap.n_resamples, len(rules), 4)


def _own_cuts(data: Sample, rules: Sequence[Rule], bootstrap: Bootstrap, seed: int) -> F64:
    """Return the same for rules that the core does not have, and of draws of clusters; O(n log n) each."""
    if data.group is None:
        draws = masses(data.positive.astype(np.intp), data.weight, bootstrap.stratified, seed, data.weight_kind)
    else:
        explain(data)
        if min(data.counted) < 2:
            raise ValueError(f"groups: each class must occur in two or more groups, got {min(data.counted)}")
        order = np.argsort(data.score, kind="stable")  # makes the sorts of the replicates fast
        group, positive = data.group[order], data.positive[order]
        data = data._replace(y=positive, score=data.score[order])
        # As many clusters as there are (Field and Welsh, 2007), which hold both classes.
        clusters = masses(np.zeros(int(data.n_groups or 0), dtype=np.intp), None, False, seed, data.weight_kind)
        each = (drawn[group] for drawn in clusters)
        draws = (weight for weight in each if weight[positive].any() and weight[~positive].any())
    return np.stack([_chosen(data, drawn, rules) for drawn in islice(draws, bootstrap.n_resamples)])


def _chosen(data: Sample, weight: F64, rules: Sequence[Rule]) -> F64:
    """Return threshold, TPR, FPR and prevalence of rules on a replicate."""
    kept = weight > 0
    part = data._replace(y=data.positive[kept], score=data.score[kept], weight=weight[kept])
    cuts, (tp, fp, fn, tn) = _Calls.of_rules(part.curve(), rules)
    return np.stack([cuts, tp / (tp + fn), fp / (fp + tn), (tp + fn) / (tp + fp + fn + tn)], axis=1)


def _cluster_sizes(data: Sample, thresholds: F64, drawn: dict[str, F64], level: float) -> _Sizes:
    """Return the effective number of samples of each share from its replicates (Korn and Graubard, 1998)."""
    group, n_groups, positive = np.asarray(data.group), int(data.n_groups or 0), data.positive
    found = np.empty((len(_SHARES), 2, len(thresholds)))
    for k, threshold in enumerate(thresholds):
        called = data.score >= threshold
        kinds = called & positive, called & ~positive, ~called & positive, ~called & ~positive
        tp, fp, _, tn = calls = _Calls(*(np.bincount(group, rows, n_groups).astype(np.float64) for rows in kinds))
        # With h_u of the n_u samples of cluster u held, the share p has the variance sum_u (h_u - p n_u)^2 / n^2.
        for j, (held, of) in enumerate(zip((tp, tn, tp, tn, tp + tn, tp + fp), _Sizes.of(calls), strict=True)):
            n = float(of.sum())
            p = float(held.sum()) / max(n, 1.0)
            squares = float(held @ held - 2 * p * (held @ of) + p**2 * (of @ of))
            rows = min(p * (1 - p) * n**2 / squares, n) if squares > 0 else n
            found[j, :, k] = rows, np.count_nonzero(of)
    known = zip(_SHARES, found, strict=True)
    return _Sizes(*(_effective(drawn[name], rows, clusters, level) for name, (rows, clusters) in known))


def _effective(replicates: F64, rows: Any, clusters: Any, level: float) -> F64:
    """Return the effective number of samples for each column of replicates of a share."""
    kept = ~np.isnan(replicates)
    count = kept.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(kept, replicates, 0.0).sum(axis=0) / count
        variance = (np.where(kept, replicates - mean, 0.0) ** 2).sum(axis=0) / (count - 1)
        size = np.minimum(mean * (1 - mean) / variance, rows)
    size = np.where((variance > 0) | ((mean > 0) & (mean < 1)), size, clusters)
    t = special.stdtrit(np.maximum(np.asarray(clusters) - 1, 1), (1 + level) / 2)
    return np.asarray(size * (critical(level) / t) ** 2)


@cited("perkins", "simel", "mercaldo", "korn", "wilks")
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
    confidence_level, random_state
        As in :func:`infer`.
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
    """
    level = check_level(confidence_level)
    second = isinstance(y_true, Samples) and isinstance(threshold, str) and threshold == "youden"
    if second and _threshold_rules.names_rules(y_score):
        y_score, threshold = None, cast(Any, y_score)
    rules, several = _threshold_rules.requested(threshold)
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
        _threshold_rules.check_guarantee(threshold, rules, bootstrap, data.weight, data.group)
    if data.group is not None and bootstrap is None:
        raise ValueError("groups need method='bootstrap', which draws whole clusters")
    curve = data.curve()
    if rules is None:
        rules = [Rule("at", score) for score in curve.steps()[0].tolist()]
    elif data.lower:
        rules = [rule._replace(number=-rule.number) if rule.given else rule for rule in rules]
    n_pos, n_neg = data.totals
    for rule in rules:
        _threshold_rules.check_budget(rule, n_pos + n_neg)
    if guarantee is None:
        used, reached = [_threshold_rules.weighed(rule, prevalence) for rule in rules], None
        _threshold_rules.warn_beyond(rules, *data.effective)
    else:
        explain(data)
        used, reached = map(list, zip(*(guaranteed(data, rule, guarantee) for rule in rules), strict=True))
    thresholds, calls = _Calls.of_rules(curve, [rule.among(curve, data.score.dtype) for rule in used])
    shares = _values(calls, prevalence)
    resampling = None if bootstrap is None else f"{bootstrap.resampling}, percentiles"
    if bootstrap is not None and data.group is not None:
        resampling = f"bootstrap of clusters, {bootstrap.n_resamples:,} resamples, effective sample sizes"
    ends = _intervals(shares, _sizes(data, thresholds, calls), prevalence, critical(level))
    if bootstrap is not None:
        ends = _resampled(data, used, thresholds, shares, ends, prevalence, level, bootstrap, random_state)
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
        criterion=(criteria if any(criteria) else None) if several else criteria[0],
        guarantee=None if reached is None else shaped(np.array(reached)),
        prevalence=n_pos / (n_pos + n_neg) if prevalence is None else prevalence,
        prevalence_known=known,
        confidence_level=level,
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
            f"method must be 'wilson', 'bootstrap' or a Bootstrap(...) of percentiles, got {shown(method)}"
        )
    if shares and method.stratified:
        fact = "stratified resamples fix the share of positives, on which alerts, precision and F1 depend"
        warn(CoverageWarning(f"intervals undercover: {fact}; use Bootstrap(stratified=False)", fact))
    return method


def _sizes(data: Sample, thresholds: F64, calls: _Calls) -> _Sizes:
    """Return the number of samples of each kind, for sampling weights the effective number."""
    if data.weight_kind == "frequency" or data.weight is None:
        return _Sizes.of(calls)
    scale = data.weight.max()
    curve = data._replace(weight=(data.weight / scale) ** 2).curve()
    squares = _Calls.of_rules(curve, [Rule("at", threshold) for threshold in thresholds.tolist()])[1]
    sums = _Sizes.of(_Calls(*(part / scale for part in calls)))
    with np.errstate(divide="ignore", invalid="ignore"):  # Kish's numbers
        return _Sizes(*(whole**2 / of for whole, of in zip(sums, _Sizes.of(squares), strict=True)))
