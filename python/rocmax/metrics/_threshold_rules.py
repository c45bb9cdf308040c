"""Rules that choose a threshold from scores, for estimators and operating points alike."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax import _core
from rocmax._checks.arrays import plain, unmasked
from rocmax._checks.samples import F64, number
from rocmax._parameters import as_float, meant, shown
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._references import Source
from rocmax.metrics.samples._sample import Sample

_MOST = 1e300  # weight of a false positive
_ROUNDING = 1e-12


class _Kind(NamedTuple):
    """What a rule does, in words with {n} for its number, and which numbers it takes: None for a rule without one."""

    how: Source
    takes: Callable[[float], bool] | None = None
    weighs_fpr: bool = False  # by the prevalence, in units of TPR
    limits: str = ""  # the samples of which it limits a share: "positives", "negatives" or "samples"
    at_least: bool = False  # of the share called correctly; else at most, of the share called positive
    # What is maximised, where it is not the core's rule.
    of_calls: Callable[[float, F64, F64, float], F64] | None = None


def _limit(how: str, limits: str, at_least: bool = False) -> _Kind:
    return _Kind(Source(how), lambda rate: 0.0 <= rate <= 1.0, limits=limits, at_least=at_least)


RULES = {
    "youden": _Kind(Source("largest TPR - FPR, {}", ("youden",)), weighs_fpr=True),
    "closest": _Kind(Source("closest to the corner, {}", ("perkins",)), weighs_fpr=True),
    "eer": _Kind(Source("equal error rates")),
    "midpoint": _Kind(Source("midpoint between lowest positive and highest negative")),
    "fpr": _limit("highest TPR with FPR of at most {n}", "negatives"),
    "sensitivity": _limit("lowest FPR with sensitivity of at least {n}", "positives", at_least=True),
    "specificity": _limit("highest TPR with specificity of at least {n}", "negatives", at_least=True),
    "cost": _Kind(Source("lowest cost, a false positive costing {n} false negatives"), lambda n: 0.0 < n < np.inf),
    "alerts": _Kind(
        Source("at most {n} called positive"),
        lambda n: 0.0 < n < 1.0 or (n >= 1.0 and n.is_integer()),
        limits="samples",
    ),
    "precision": _Kind(
        Source("highest TPR with precision of at least {n}"),
        lambda least: 0.0 < least <= 1.0,
        of_calls=lambda least, tp, fp, _: np.where(tp * (1 + _ROUNDING) >= least * (tp + fp), tp, 0.0),
    ),
    "f1": _Kind(Source("largest F1 score"), of_calls=lambda _, tp, fp, pos: 2 * tp / (tp + fp + pos)),
}
_GIVEN = _Kind(Source("given"))  # "at": a threshold that is given
_CHOICES = (
    "'midpoint', 'eer', 'youden', 'closest', 'f1', ('fpr', rate), ('sensitivity', rate) or ('specificity', rate) with"
    " 0 <= rate <= 1, ('precision', share) with 0 < share <= 1, ('cost', ratio) with ratio > 0 or ('alerts', k) with a"
    " whole number k >= 1 or a share 0 < k < 1"
)


class Rule(NamedTuple):
    """A rule and its number: 0 for a rule without one, the weight of the FPR for rules that weigh it."""

    name: str
    number: float = 0.0
    prevalence: float | None = None  # of precision and F1; None: that of the samples

    def __str__(self) -> str:
        count = f"{self.number:g}"
        if self.name == "alerts":
            one = "sample" if self.number == 1 else "samples"
            count = f"{100 * self.number:g} % of samples" if self.number < 1 else f"{self.number:,.0f} {one}"
        return str(self.kind.how).replace("{n}", count)

    @property
    def kind(self) -> _Kind:
        """What the rule does."""
        return RULES.get(self.name, _GIVEN)

    @property
    def counts(self) -> bool:
        """Whether the number counts samples, not a share of them."""
        return self.kind.limits == "samples" and self.number >= 1

    def allowed(self, n_samples: float) -> float:
        """Return the share of these samples that may be on the wrong side: missed, or called positive in excess."""
        share = self.number / n_samples if self.counts else self.number
        return 1.0 - share if self.kind.at_least else share

    @property
    def given(self) -> bool:
        """Whether it is a threshold, not a rule."""
        return self.name not in RULES

    @property
    def criterion(self) -> Any:
        """The rule as users write it; None for a threshold that is given."""
        if self.kind.takes is None:
            return None if self.given else self.name
        return self.name, int(self.number) if self.counts else self.number

    @property
    def cell(self) -> str:
        """The rule in tables and messages, such as "fpr 0.01"."""
        if self.kind.takes is None:
            return "given" if self.given else self.name
        return f"{self.name} {self.number:.12g}"

    def among(self, curve: _core.Curve, kind: np.dtype[Any]) -> "Rule":
        """Return this rule, or the threshold that it sets, as scores of a dtype compare with it: above negatives."""
        if self.given:
            return self if kind == np.float64 else self._replace(number=_as(kind, self.number))
        if self.name != "midpoint":
            return self
        score, pos, neg = curve.steps()
        low, high, middle = score[pos > 0][-1], score[neg > 0][0], _as(kind, self.of(curve))
        return Rule("at", float(low) if middle <= high < low else middle)

    def on(self, curve: _core.Curve) -> "Rule":
        """Return a rule that the core has: this one, or the threshold that this one chooses on a curve."""
        if self.kind.of_calls is None:
            return self
        score, *weights = curve.steps()
        (n_pos, n_neg), (tp, fp) = curve.weights, (np.cumsum(weight) for weight in weights)
        if self.prevalence is not None:
            fp = fp * ((1 - self.prevalence) / self.prevalence * (n_pos / n_neg))
        found = self.kind.of_calls(self.number, tp, fp, n_pos)
        best = int(np.argmax(found >= found.max() * (1 - _ROUNDING)))
        return Rule("at", float(score[best]) if found[best] > 0 else np.inf)

    @property
    def core(self) -> _core.Rule:
        """The rule as the core takes it."""
        make: Callable[..., _core.Rule] = getattr(_core.Rule, self.name)
        return make() if self.name in ("eer", "midpoint") else make(self.number)

    def of(self, curve: _core.Curve) -> float:
        """Return the lowest score that is called positive on a curve."""
        return curve.cut(self.on(curve).core)[0]


def _as(kind: np.dtype[Any], threshold: float) -> float:
    """Return a threshold as numpy compares scores of a dtype with it."""
    with np.errstate(over="ignore"):
        return float(kind.type(threshold))


def parse_rule(threshold: Any) -> Rule | None:
    """Return the rule that `threshold` names, or None."""
    name, *numbers = threshold if isinstance(threshold, tuple) and len(threshold) == 2 else (threshold,)
    kind = RULES.get(name) if isinstance(name, str) else None
    if kind is None or (kind.takes is None) == bool(numbers):
        return None
    if kind.takes is None:
        return Rule(name, float(kind.weighs_fpr))
    value = as_float(numbers[0])
    return Rule(name, value) if kind.takes(value) else None


def names_rules(threshold: Any) -> bool:
    """Whether it is a number, or named as a rule is, or a list that begins so: arrays may be scores."""
    first = threshold[0] if isinstance(threshold, (list, tuple)) and threshold else threshold
    return isinstance(first, (str, tuple)) or math.isfinite(as_float(threshold))


def requested(threshold: Any) -> tuple[list[Rule] | None, bool]:
    """Return the rules ("at" for a given threshold; None for all scores), and whether the result is a table."""
    if isinstance(threshold, str) and threshold == "all":
        return None, True
    named = isinstance(threshold, tuple) and len(threshold) > 0 and isinstance(threshold[0], str)
    one = isinstance(threshold, str) or (named and parse_rule(threshold[0]) is None)  # ("fpr", 0.1), also a bad one
    listed = isinstance(threshold, (list, tuple, range))
    if hasattr(threshold, "__array__"):  # of any library
        threshold = unmasked(threshold, "threshold")
        threshold, listed = threshold.tolist() if threshold.ndim == 1 else threshold, threshold.ndim == 1
    if one or not listed:
        return [_rule(threshold)], False
    if len(threshold) == 0:
        raise ValueError(f"threshold is empty: give at least one, got {shown(threshold)}")
    return [_rule(value) for value in threshold], True


def _rule(threshold: Any) -> Rule:
    try:
        return parse_rule(threshold) or Rule("at", number(threshold, "threshold", "", lambda value: True))
    except ValueError:
        raise no_rule(threshold, "a number or one of") from None


def no_rule(threshold: Any, also: str) -> ValueError:
    """Return the error for what is neither a rule nor what a caller `also` takes."""
    name = threshold[0] if isinstance(threshold, tuple) and threshold else threshold
    return ValueError(f"threshold must be {also} {_CHOICES}, got {shown(threshold)}{meant(name, RULES)}")


def weighed(rule: Rule, prevalence: float | None) -> Rule:
    """Return the rule with the weight of the FPR that the prevalence gives."""
    odds = 1.0 if prevalence is None else (1 - prevalence) / prevalence
    # Above _MOST only false positives matter, and an infinite weight times a rate of 0 would be NaN.
    if rule.kind.weighs_fpr:
        return rule._replace(number=min(odds, _MOST))
    if rule.name == "cost" and prevalence is not None:
        return Rule("youden", min(rule.number * odds, _MOST))
    if rule.kind.of_calls is not None:
        return rule._replace(prevalence=prevalence)
    return rule


def check_budget(rule: Rule, total: float) -> None:
    """Refuse a number of alerts above the number of samples."""
    if rule.counts and rule.number > total * (1 + 1e-9):
        raise ValueError(f"threshold: {rule.cell} is above the number of samples, {total:,.6g}")


def warn_beyond(rules: Sequence[Rule], n_pos: float, n_neg: float) -> None:
    """Warn of limits that allow less than one of these samples."""
    sizes = {"positives": n_pos, "negatives": n_neg, "samples": n_pos + n_neg}
    for rule in rules:
        limits = rule.kind.limits
        size = sizes.get(limits, 0.0)
        if limits and 0.0 < rule.allowed(size) * size < 1.0 - 1e-9:
            fact = f"{rule.cell} lies beyond the data: it allows less than one of {size:.6g} {limits}"
            message = f"{fact}; collect more samples or choose a less extreme rate"
            warn(CoverageWarning(message, fact, estimate=fact))


def chosen(rule: Rule, scores: F64, positive: NDArray[np.bool_], weight: F64 | None) -> float:
    """Return the threshold of a rule for finite scores of both classes; O(n log n)."""
    positive, scores = plain(positive), plain(scores)
    few = weight is None and 4 * np.count_nonzero(positive) < len(positive)
    if few and rule.kind.limits in ("negatives", "positives"):  # a positive's score, in a third of the memory
        return rule.of(_core.Curve.merged(positive, scores, 1))
    curve = _core.Curve(positive, scores, weight, 1)
    check_budget(rule, sum(curve.weights))
    return rule.of(curve)


def check_guarantee(threshold: Any, rules: Sequence[Rule] | None, *others: Any) -> None:
    """Refuse a guarantee for a rule without a limit, or with options that it excludes."""
    if any(other is not None for other in others):
        raise ValueError(
            "guarantee assumes independent samples of equal weight: omit sample_weight and groups, and use"
            " method='wilson'"
        )
    if rules is None or not all(rule.kind.limits for rule in rules):
        raise ValueError(
            "guarantee needs a threshold with a limit, such as ('fpr', 0.01), ('specificity', 0.95),"
            f" ('sensitivity', 0.9) or ('alerts', 0.05), got {shown(threshold)}"
        )


def guaranteed(data: Sample, rule: Rule, probability: float) -> tuple[Rule, float]:
    """Return the threshold at which a rule keeps its limit in the population, and with what probability; O(n)."""
    limits = rule.kind.limits
    floor = limits == "positives"  # a lower limit of the share at or above the threshold, else an upper one
    scores = data.score if limits == "samples" else data.score[data.positive == floor]
    size = len(scores)
    allowed = rule.allowed(size)
    if not 0.0 < allowed < 1.0:
        raise ValueError(f"guarantee needs a limit that allows more than none and less than all, got {rule.cell}")

    def reached(k: int) -> float:
        return float(special.betainc(k, size - k + 1, allowed))

    k = bisect_right(range(1, size + 1), -probability, key=lambda k: -reached(k))
    if k == 0:
        needed = int(np.ceil(np.log1p(-probability) / np.log1p(-allowed)))
        raise ValueError(
            f"{rule.cell} cannot be guaranteed with probability {probability:g} from {size} "
            f"{limits[:-1] if size == 1 else limits}: at least {needed} are needed"
        )
    if floor:
        return Rule("at", float(np.partition(scores, k - 1)[k - 1])), reached(k)
    highest = float(np.partition(scores, size - k)[size - k])
    return Rule("at", float(np.nextafter(highest, np.inf))), reached(k)  # the lowest threshold above it
