"""The default methods: those of the best measured coverage (benches/python/coverage_metrics.py)."""

from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import MeanMeasure
from rocmax.metrics.methods.base import Data, Method
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import DeLong, LogitDeLong
from rocmax.metrics.methods.score import Score

_PART = frozenset({Trait.AREA, Trait.RATE, Trait.RANKING})
MANY = 10_000  # samples that decide: with more, all intervals are the same to all purposes
_FEW = 30  # samples of a class: below, "score" covers an AUC better than "logit-delong", and is narrower


def of_part(measure: Measure) -> bool:
    """Whether it measures a part or a point of the curve."""
    return bool(_PART & measure.traits) and Trait.AUC not in measure.traits


def default_method(measure: Measure, data: Data, sizes: tuple[float, float] | None = None) -> Method:
    """Return the default for one model; `sizes` are those of the classes, if they are known."""
    if Trait.COMPONENTS not in measure.traits:
        return Bootstrap()
    few = sizes is not None and min(sizes) < _FEW and Trait.AUC in measure.traits
    few = few and not data.grouped and data.weight_kind == "frequency"
    many = sizes is not None and isinstance(measure, MeanMeasure) and min(measure.deciding(sizes))[0] >= MANY
    measured = not many and not data.classes and not (data.pairs and Trait.RANKING in measure.traits)
    if (of_part(measure) or few) and measured:
        return Score()
    return LogitDeLong() if measure.bounds[0] > -float("inf") else DeLong()
