"""The default methods: those of the best measured coverage (benches/python/coverage_metrics.py)."""

from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.measures.ranked import MeanMeasure
from rocmax.metrics.methods.base import Data, Method
from rocmax.metrics.methods.bootstrap import Bootstrap
from rocmax.metrics.methods.delong import DeLong, LogitDeLong
from rocmax.metrics.methods.score import Score

_PART = frozenset({Trait.AREA, Trait.RATE, Trait.RANKING})
MANY = 10_000  # samples that decide: with more, all intervals are the same to all purposes
_MANY_OF_AUC = 1_000  # the same for the AUC, which is never far from normal


def of_part(measure: Measure) -> bool:
    """Whether it measures a part or a point of the curve."""
    return bool(_PART & measure.traits) and Trait.AUC not in measure.traits


def default_method(measure: Measure, data: Data, sizes: tuple[float, float] | None = None) -> Method:
    """Return the default for one model; `sizes` are those of the classes, if they are known."""
    if Trait.COMPONENTS not in measure.traits:
        return Bootstrap()
    whole = Trait.AUC in measure.traits
    many = False
    if sizes is not None and isinstance(measure, MeanMeasure):
        many = min(measure.near(sizes), min(measure.deciding(sizes))[0]) >= MANY
    elif sizes is not None and whole:
        many = min(sizes) >= _MANY_OF_AUC
    ranked = data.pairs and (whole or Trait.RANKING in measure.traits)
    if measure.traits & _PART and not (many or ranked or data.classes):
        return Score()
    return LogitDeLong() if measure.bounds[0] > -float("inf") else DeLong()
