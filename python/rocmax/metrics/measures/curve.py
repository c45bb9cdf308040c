"""The base class of areas and rates of the curve."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np

from rocmax import _core
from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64
from rocmax._parameters import check_choice, shown
from rocmax._typing import Average, MultiClass
from rocmax.metrics.intervals._interval import Limits
from rocmax.metrics.measures._ranking import parts_of
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait
from rocmax.metrics.samples._sample import Sample, call, explain, require_two

MULTI_CLASS = get_args(MultiClass)
_AVERAGES = (*get_args(Average), None)
_LEAST = 0.3  # samples in the range, or beyond the threshold: with fewer, intervals cover all that is possible


@dataclass(frozen=True, repr=False)
class CurveMeasure(Measure):
    """A measure of which the core computes all, of two classes or, as a mean over binary problems, of several."""

    monotone: ClassVar[bool] = True
    multi_class: MultiClass = field(default="raise", kw_only=True)  # type: ignore[misc]
    average: Average | None = field(default="macro", kw_only=True)  # type: ignore[misc]
    labels: Any = field(default=None, kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_choice("average", self.average, _AVERAGES)
        if self.multi_class == "ovo" and self.average is None:
            raise ValueError("average=None goes with multi_class='ovr': a pair of classes has no class of its own")
        if self.labels is not None:
            if self.multi_class == "raise":
                raise ValueError(f"labels go with multi_class='ovr' or 'ovo', got labels={shown(self.labels)}")
            object.__setattr__(self, "labels", tuple(unmasked(self.labels, "labels").tolist()))

    @property
    def low(self) -> float:
        """The lower end of the range, or the single rate."""
        return 0.0

    @property
    def high(self) -> float:
        """The upper end of the range."""
        return 1.0

    @property
    def mirrored(self) -> bool:
        """Whether it belongs to the curve with the classes exchanged, where the range is one of 1 - TPR."""
        return False

    @property
    def parameters(self) -> dict[str, Any]:
        found = super().parameters
        return found if self.multi_class != "raise" else {k: v for k, v in found.items() if k not in _OF_CLASSES}

    def chance(self, sizes: tuple[float, float]) -> float | None:
        return self.of_two(0.0, sizes)

    def components(self, sample: Sample) -> Any:
        return self.influences(sample)[1][0]

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        estimate, values = call(_core.components, sample, self.in_core, sample.threads)
        values = values.reshape(len(estimate), -1)
        factors = self.slopes(sample)
        if factors is None:
            return estimate, values
        return estimate, values * np.where(sample.positive, factors[0][:, None], factors[1][:, None])

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        positives, negatives = super().limiting_sizes(sizes)
        return (negatives, positives) if self.mirrored else (positives, negatives)

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        return too_few(*self.limiting_sizes(sizes)[1], _LEAST)

    def score_interval(self, sample: Sample, sizes: tuple[float, float]) -> tuple[F64, F64, Limits]:
        from rocmax.metrics.intervals._score import Area, score, slope_of

        rows = []
        for one in sample.models():
            curve = one.curve()
            plain = Trait.AUC in self.traits and one.weight is None
            value, squares = curve.auc_moments() if plain else curve.moments(self.in_core)[:2]
            parts = parts_of(squares, curve.weights, sizes)
            rows.append((value, *parts, slope_of(one, min(sizes), self.mirrored)))
        estimate, pos, neg, slopes = np.array(rows).T.copy()
        area = Area(self.low, self.high, self.mirrored, self.bounds)
        variance, limits = score(estimate, (pos, neg), slopes, sizes, area, sample.threads)
        return estimate, pos + neg if Trait.AUC in self.traits else variance, limits

    def slopes(self, sample: Sample) -> tuple[F64, F64] | None:
        """Return the factors of the core's components of positives and of negatives, one for each model."""
        return None

    def covariance(self, sample: Sample) -> tuple[F64, F64, F64]:
        arguments = ([sample.score], sample.weight, sample.weight_kind == "sampling", self.in_core, sample.threads)
        try:
            estimate, *parts = _core.covariance(sample.y, *arguments)
        except ValueError:
            explain(sample)
            require_two(*sample.counted, self.of_one)
            raise
        factors: Any = self.slopes(sample) or (1.0, 1.0)
        pos, neg = (
            part.reshape(len(estimate), -1) * np.multiply.outer(by, by) for part, by in zip(parts, factors, strict=True)
        )
        return estimate, pos, neg

    def moments(self, sample: Sample) -> tuple[float, F64, F64]:
        value, squares, cubes = sample.once(("moments", self), lambda: sample.curve().moments(self.in_core))
        factors = self.slopes(sample)
        by = np.ones(2) if factors is None else np.concatenate(factors)
        return value, by**2 * squares, by**3 * cubes


_OF_CLASSES = ("multi_class", "average", "labels")


def too_few(count: float, held: str, least: float) -> str | None:
    """Return a refusal if fewer samples than `least` are expected, for example, beyond a threshold."""
    return None if count >= least * (1 - 1e-9) else f"only {count:.2g} {held}, an interval needs {least:g}"
