"""Measures, one file each or one for a family with a common formula, and their names in `measure=`."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rocmax._parameters import meant, shown
from rocmax.metrics.measures.at_threshold import FORMULAS, AtThreshold, NetBenefit
from rocmax.metrics.measures.auc import AUC, Gini, MarginAUC, ScoredAUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.cuts import EnrichmentFactor, EqualErrorRate, PrecisionAt, RecallAt
from rocmax.metrics.measures.partial_auc import PartialAUC, SmoothedAUC
from rocmax.metrics.measures.ranked import BEDROC, RIE, AveragePrecision, LogAUC
from rocmax.metrics.measures.rates import FPRAtTPR, KolmogorovSmirnov, TPRAtFPR, YoudenIndex

#: Every measure: a new one is a file and a name here.
MEASURES: tuple[type[Measure], ...] = (
    AUC,
    PartialAUC,
    ScoredAUC,
    MarginAUC,
    TPRAtFPR,
    FPRAtTPR,
    EnrichmentFactor,
    RIE,
    BEDROC,
    LogAUC,
    AveragePrecision,
    PrecisionAt,
    RecallAt,
    EqualErrorRate,
    NetBenefit,
    SmoothedAUC,
    Gini,
    YoudenIndex,
    KolmogorovSmirnov,
)
#: With the names that scikit-learn and papers have for them.
NAMED: dict[str, Callable[..., Measure]] = {measure.name: measure for measure in MEASURES}
NAMED |= {"roc_auc": AUC, "ap": AveragePrecision} | {name: partial(AtThreshold, name) for name in FORMULAS}


def as_measure(measure: Any) -> Measure:
    """Return the measure that a value or a name stands for."""
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str) and measure in NAMED:
        if (written := _written(measure)) != repr(measure):
            raise ValueError(f"measure={measure!r} needs an option: pass {written} from rocmax.metrics")
        return NAMED[measure]()
    scores = hasattr(measure, "__array__")
    near = "; pass the scores of all models as y_score" if scores else meant(measure, NAMED, _written)
    names = ", ".join(repr(name) for name in NAMED if name not in FORMULAS)
    values = "a Measure such as PartialAUC((0, 0.1)) or Measure.of(function), or one of"
    raise ValueError(f"measure must be {values} {names}, got {shown(measure)}{near}")


def _written(name: str) -> str:
    """Return how a measure is passed: by its name, or with the options that it needs."""
    if name in FORMULAS:
        return f"AtThreshold({name!r}, threshold)"
    try:
        NAMED[name]()
    except TypeError:
        return f"{NAMED[name].__name__}(...)"
    return repr(name)
