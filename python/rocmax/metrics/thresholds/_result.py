"""Thresholds, what calling scores at or above them positive is worth, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax.metrics import _words as words
from rocmax.metrics._inference import ConfidenceInterval
from rocmax.metrics._references import REFERENCES
from rocmax.metrics._result import Unpacked
from rocmax.metrics.thresholds._rules import RULES, WEIGHED, parse_rule
from rocmax.metrics.thresholds._worth import QUANTITIES

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


def _name(criterion: Any) -> str:
    """Return how a threshold was chosen, for a table."""
    if criterion is None:
        return "given"
    return criterion if isinstance(criterion, str) else f"{criterion[0]} {criterion[1]:g}"
