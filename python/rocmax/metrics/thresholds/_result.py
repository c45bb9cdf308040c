"""The result of `operating_point`: rates and predictive values at thresholds, in words and tables."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rocmax.metrics import _words as words
from rocmax.metrics.results._inference import ConfidenceInterval
from rocmax.metrics.results._references import REFERENCES
from rocmax.metrics.results._result import Unpacked
from rocmax.metrics.thresholds._rules import Rule, parse_rule

#: What is known of a threshold, in the order of tables.
QUANTITIES = ("tpr", "fpr", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "accuracy", "predicted_positive")
_LISTED = 20  # rows of a printed table
_LARGE = 1e4  # likelihood ratios of four digits


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
        columns: dict[str, Any] = {"threshold": self.threshold}
        for name in ("threshold", *QUANTITIES):
            both = getattr(self, f"{name}_interval")
            columns |= {name: getattr(self, name)}
            columns |= {} if both is None else {f"{name}_low": both.low, f"{name}_high": both.high}
        columns |= {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn")}
        columns |= {} if self.guarantee is None else {"guarantee": self.guarantee}
        held = {name: np.atleast_1d(column)[:most].tolist() for name, column in columns.items()}
        of_all: dict[str, Any] = {"n_pos": self.n_pos, "n_neg": self.n_neg, "prevalence": self.prevalence}
        of_all |= {} if self.weight_kind is None else {"weight_kind": self.weight_kind}
        cells = zip((rule.cell for rule in self._rules[:most]), *held.values(), strict=True)
        return [{"criterion": how, **dict(zip(held, row, strict=True)), **of_all} for how, *row in cells]

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
        if name.startswith("lr_"):
            of = words.Rate("LR+" if name == "lr_positive" else "LR-")
        form = words.Notation(None if of.name[:2] == "LR" and value >= _LARGE else words.UNKNOWN, of)
        text = f"{words.digits(value, form)} ({words.confident(self.confidence_level, both, form)})"
        return f"{of.name} {text}"

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
        ends = ""
        if self.threshold_interval is not None:
            ends = f"; {words.confident(self.confidence_level, self.threshold_interval)}"
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
            n, rows = np.size(self.threshold), self._table(self._rows(_LISTED), ("tpr", "fpr"), ("ppv", "npv"))
            more = [f"and {n - _LISTED:,} more thresholds"] if n > _LISTED else []
            head = f"{n:,} threshold{'s' * (n > 1)}, {self._fixed()}; {words.level(self.confidence_level)} in brackets"
            if self.guarantee is not None:
                least = words.percent(np.min(self.guarantee))
                head += f", each guaranteed on new data with probability {least} or more"
            return [head, *words.text_table(rows), *more, f"PPV and NPV {self._at_prevalence}"]
        return [f"threshold {self._where()}, {self._fixed()}", self._rates(), self._worth()]

    def _table(
        self, rows: list[dict[str, Any]], names: tuple[str, ...], plain: tuple[str, ...] = ()
    ) -> list[dict[str, str]]:
        """Return a printed table: counts and estimates, of `names` with intervals, an empty cell for 0 / 0."""
        columns = {"criterion": [row["criterion"] for row in rows]} if isinstance(self.criterion, list) else {}
        columns["threshold"] = [f"{self._at_most}{row['threshold']:.6g}" for row in rows]
        if self.threshold_interval is not None:
            ends = (f" [{row['threshold_low']:.6g}, {row['threshold_high']:.6g}]" for row in rows)
            columns["threshold"] = list(map("".join, zip(columns["threshold"], ends, strict=True)))
        columns["alerts"] = [words.count(row["tp"] + row["fp"]) for row in rows]
        columns["caught"] = [words.count(row["tp"]) for row in rows]
        for name in (*names, *plain):
            limits = [None if name in plain else (row[f"{name}_low"], row[f"{name}_high"]) for row in rows]
            form = words.Notation(words.UNKNOWN, words.rate(name))
            columns[name] = words.beside([row[name] for row in rows], limits, [form] * len(rows))
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _sentences(self, basis: str) -> list[str]:
        if not np.ndim(self.threshold):
            return [f"At the threshold {self._where()} {self._rates()}; {self._worth()} ({basis})"]
        n, (tpr, fpr) = np.size(self.threshold), (words.rate(name).name for name in ("tpr", "fpr"))
        rows = enumerate(self._table(self._rows(_LISTED), ("tpr", "fpr")))
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
