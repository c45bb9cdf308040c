"""Rates, predictive values and likelihood ratios at thresholds, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocmax import _core
from rocmax._checks.samples import F64
from rocmax.metrics.intervals._interval import wilson
from rocmax.metrics.measures.at_threshold import FORMULAS, KINDS
from rocmax.metrics.thresholds._rules import Rule

Ends = tuple[F64, F64]

_FEW = 8  # rules that walk the curve one by one; for more rules it is copied

#: What :func:`values` returns, in the order of tables.
QUANTITIES = ("tpr", "fpr", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "accuracy", "predicted_positive")
#: Those that depend on the prevalence.
OF_PREVALENCE = ("ppv", "npv", "accuracy", "predicted_positive")


class Calls(NamedTuple):
    """The weights of true and false positives, false and true negatives, at every threshold."""

    tp: F64
    fp: F64
    fn: F64
    tn: F64

    @classmethod
    def of_rules(cls, curve: _core.Curve, rules: Sequence[Rule]) -> tuple[F64, Calls]:
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
    def of_rates(cls, tpr: F64, fpr: F64, prevalence: F64 | float) -> Calls:
        """Return the shares of all samples at rates and a prevalence."""
        return cls(prevalence * tpr, (1 - prevalence) * fpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - fpr))


class Sizes(NamedTuple):
    """The effective number of samples of each kind: the number of samples of equal weight that vary as much."""

    pos: F64
    neg: F64
    called: F64
    not_called: F64
    right: F64  # of the accuracy
    every: F64

    @classmethod
    def of(cls, calls: Calls) -> Sizes:
        """Return the weights of each kind, of which the first measures are shares."""
        kinds = islice(KINDS.values(), len(cls._fields))
        return cls(
            *(np.asarray(sum(part for part, counts in zip(calls, kind, strict=True) if counts)) for kind in kinds)
        )

    @classmethod
    def kish(cls, calls: Calls, squares: Calls) -> Sizes:
        """Return the effective numbers for sampling weights, from their sums and the sums of their squares."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(*(sums**2 / of for sums, of in zip(cls.of(calls), cls.of(squares), strict=True)))


def values(calls: Calls, prevalence: float | None = None) -> dict[str, F64]:
    """Return every quantity, at a known prevalence if one is given; NaN for 0 / 0."""
    tp, fp, fn, tn = calls
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, tnr = (FORMULAS[name](*calls) for name in ("sensitivity", "specificity"))
        fpr, fnr = fp / (fp + tn), fn / (tp + fn)
        used = calls if prevalence is None else Calls.of_rates(tpr, fpr, prevalence)
        ppv, npv, *shares = (FORMULAS[name](*used) for name in ("ppv", "npv", "accuracy", "selected"))
        found = tpr, fpr, tnr, ppv, npv, tpr / fpr, fnr / tnr, *shares
    return dict(zip(QUANTITIES, found, strict=True))


def intervals(found: dict[str, F64], sizes: Sizes, prevalence: float | None, z: float) -> dict[str, Ends]:
    """Return the interval of every quantity at given thresholds.

    Rates have Wilson's interval, likelihood ratios ``exp(log LR -+ z sqrt(v))`` (Simel et al., 1991) with
    ``v = (1 - a) / (a m) + (1 - b) / (b n)`` for the ratio of the rates a of m and b of n samples; if a rate is 0 or
    both are 1, half a sample is added to each count. At a known prevalence, predictive values have the intervals of the
    likelihood ratios by Bayes' theorem (the standard logit intervals of Mercaldo et al., 2007), and accuracy and share
    called positive those of the sum of two rates (MOVER: Zou and Donner, 2008). Otherwise all of them are shares of
    samples, with Wilson's interval.
    """

    def share(name: str, size: F64) -> Ends:
        with np.errstate(invalid="ignore"):
            return wilson(found[name] * size, size, z)

    tpr, fpr = share("tpr", sizes.pos), share("fpr", sizes.neg)
    specificity = 1 - fpr[1], 1 - fpr[0]
    ends = {"tpr": tpr, "fpr": fpr, "specificity": specificity}
    ends["lr_positive"] = _ratio(found["tpr"], found["fpr"], sizes, z)
    ends["lr_negative"] = _ratio(1 - found["tpr"], found["specificity"], sizes, z)
    if prevalence is None:
        of_all = dict(zip(OF_PREVALENCE, sizes[2:], strict=True))
        return ends | {name: share(name, size) for name, size in of_all.items()}
    odds = prevalence / (1 - prevalence)
    low, high = (np.stack(part) for part in zip(ends["lr_positive"], ends["lr_negative"], strict=True))
    none = np.isnan(found["ppv"]), np.isnan(found["npv"])
    ends["ppv"] = _known(none[0], _share(odds * low[0]), _share(odds * high[0]))
    ends["npv"] = _known(none[1], 1 - _share(odds * high[1]), 1 - _share(odds * low[1]))
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


def _known(missing: F64, low: F64, high: F64) -> Ends:
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)


def _ratio(of_pos: F64, of_neg: F64, sizes: Sizes, z: float) -> Ends:
    """Return the confidence limits of a likelihood ratio."""
    m, n = sizes.pos, sizes.neg
    few = (np.minimum(of_pos, of_neg) <= 0) | (np.minimum(of_pos, of_neg) >= 1)  # where v is infinite or 0
    a, b = (np.where(few, (rate * size + 0.5) / (size + 1), rate) for rate, size in ((of_pos, m), (of_neg, n)))
    m, n = np.where(few, m + 1, m), np.where(few, n + 1, n)
    reach = np.exp(z * np.sqrt((1 - a) / (a * m) + (1 - b) / (b * n)))
    low, high = a / b / reach, a / b * reach
    return np.where(of_pos <= 0, 0.0, low), np.where(of_neg <= 0, np.inf, high)


def percentiles(replicates: dict[str, F64], level: float) -> dict[str, Ends]:
    """Return percentiles of replicates (by row), without interpolation, since some may be infinite; NaN is left out."""

    def ends(column: F64) -> tuple[float, float]:
        kept = np.sort(column[~np.isnan(column)])
        if not len(kept):
            return np.nan, np.nan
        last, tail = len(kept) - 1, (1 - level) / 2
        return kept[int(np.floor(tail * last))], kept[int(np.ceil((1 - tail) * last))]

    found = {name: np.array([ends(column) for column in rows.T]) for name, rows in replicates.items()}
    return {name: (both[:, 0], both[:, 1]) for name, both in found.items()}
