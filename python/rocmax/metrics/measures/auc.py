"""Areas under the whole ROC curve, which are means over pairs, and the base class of areas and rates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.arrays import unmasked
from rocmax._checks.samples import F64
from rocmax._parameters import check_choice, shown
from rocmax._typing import Average, MultiClass
from rocmax.metrics.intervals._interval import Limits
from rocmax.metrics.intervals._score import Area, score, slope_of
from rocmax.metrics.measures._ranking import parts_of
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import Sample, call, explain, one_model, require_two
from rocmax.metrics.samples._samples import Samples

MULTI_CLASS = get_args(MultiClass)
_AVERAGES = (*get_args(Average), None)
_LEAST = 0.3  # samples in the range, or beyond the threshold: with fewer, intervals cover all that is possible


@dataclass(frozen=True, repr=False)
class CurveMeasure(Measure):
    """A measure of which the core computes all, of two classes or, as a mean over binary problems, of several."""

    monotone: ClassVar[bool] = True
    has_chance: ClassVar[bool] = True
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
        every = super().parameters
        for name in ("multi_class", "average", "labels") if self.multi_class == "raise" else ():
            del every[name]
        return every

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
            require_two(*sample.counted, self.advice_for_one_sample)
            raise
        factors: Any = self.slopes(sample) or (1.0, 1.0)
        pos, neg = (
            part.reshape(len(estimate), -1) * np.multiply.outer(by, by) for part, by in zip(parts, factors, strict=True)
        )
        return estimate, pos, neg

    def squares(self, sample: Sample) -> tuple[float, F64]:
        value, squares, _ = sample.once(("moments", self), lambda: sample.curve().moments(self.in_core))
        factors = self.slopes(sample)
        return value, np.asarray(squares) if factors is None else np.concatenate(factors) ** 2 * squares


def too_few(count: float, held: str, least: float) -> str | None:
    """Return a refusal if fewer samples than `least` are expected, for example, beyond a threshold."""
    return None if count >= least * (1 - 1e-9) else f"only {count:.2g} {held}, an interval needs {least:g}"


@dataclass(frozen=True, repr=False)
class AUC(CurveMeasure):
    """Area under the ROC curve: the share of pairs of a positive and a negative that are ranked right.

    Pass it where a measure goes; "auc" is its name.

    >>> from rocmax.metrics import AUC, infer
    >>> AUC()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), infer([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], "auc").estimate
    (0.75, 0.75)
    >>> AUC(multi_class="ovr")([0, 1, 2], [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5]])
    1.0

    Parameters
    ----------
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        How several classes are measured, with scores of shape (n_samples, n_classes), a column for each class: each
        class against the rest, or each pair of classes, as in :func:`sklearn.metrics.roc_auc_score`. Columns of a frame
        or a mapping belong to the classes that they are named after, in any order (other names are refused, except 0,
        1, ...); columns without names have the order of `labels`. The variance is that of the sum of the samples'
        contributions to the binary measures (Hajek, 1968); for two classes it is DeLong's.
    average : {"macro", "weighted"} or None, default="macro"
        The mean over classes or pairs, plain or weighted by how often they occur; None ("ovr" only) gives one result
        per class.
    labels : array-like of shape (n_classes,), default=None
        The classes in the order of the columns, and of the results with ``average=None``; None means sorted. Every
        class must occur.

    Notes
    -----
    ``mean_ij (1[s_i > t_j] + 1/2 1[s_i = t_j])`` over positives i and negatives j. A pair has the product of its two
    weights; a constant score has 0.5. O(n log n). The components are the means over the pairs of a sample (DeLong et
    al., 1988).
    """

    name: ClassVar[str] = "auc"
    traits = frozenset({Trait.COMPONENTS, Trait.AUC, Trait.AREA})
    bounds = 0.0, 1.0
    counts_pairs: ClassVar[bool] = True
    refusal = Measure.refusal  # all samples decide

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.auc()

    def __str__(self) -> str:
        return "AUC"

    def kernel(self, kind: Any) -> Callable[[Any, Any], Any]:
        half = kind(0.5)
        return lambda s, t: (s > t) + half * (s == t)

    def estimates(self, sample: Sample) -> F64:
        curves = sample.known_curves() if sample.weight is None and sample.steps is None else []
        return np.array([curve.auc_moments()[0] for curve in curves]) if curves else super().estimates(sample)

    def squares(self, sample: Sample) -> tuple[float, F64]:
        if sample.weight is not None or sample.steps is not None:
            return super().squares(sample)

        def work() -> tuple[float, Any]:
            if curves := sample.known_curves():
                return curves[0].auc_moments()
            return call(lambda y, score, _: _core.auc_moments(y, score, sample.threads), sample)

        value, squares = sample.once("squares of the AUC", work)
        return value, np.asarray(squares)


@dataclass(frozen=True, repr=False)
class Gini(AUC):
    """Gini coefficient, ``2 AUC - 1``, with the intervals of the AUC on this scale."""

    name: ClassVar[str] = "gini"
    traits = frozenset({Trait.COMPONENTS, Trait.RANKING})
    bounds = -1.0, 1.0
    counts_pairs: ClassVar[bool] = False
    draws = False

    def __repr__(self) -> str:
        return repr(self.name)

    def __str__(self) -> str:
        return "Gini"

    def estimates(self, sample: Sample) -> F64:
        return 2.0 * super().estimates(sample) - 1.0

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        estimate, values = super().influences(sample)
        return 2.0 * estimate - 1.0, 2.0 * values

    def covariance(self, sample: Sample) -> tuple[F64, F64, F64]:
        estimate, pos, neg = super().covariance(sample)
        return 2.0 * estimate - 1.0, 4.0 * pos, 4.0 * neg

    def squares(self, sample: Sample) -> tuple[float, F64]:
        value, squares = CurveMeasure.squares(self, sample)
        return 2.0 * value - 1.0, 4.0 * squares

    def score_interval(self, sample: Sample, sizes: tuple[float, float]) -> tuple[F64, F64, Limits]:
        estimate, variance, limits = AUC().score_interval(sample, sizes)
        gini = 2.0 * estimate - 1.0
        return gini, 4.0 * variance, limits.moved(-1.0, 2.0, self.bounds, gini)


@dataclass(frozen=True, repr=False)
class MarginAUC(CurveMeasure):
    """Share of pairs of a positive and a negative that are ranked right by more than a margin.

    >>> from rocmax.metrics import MarginAUC
    >>> MarginAUC(0.3)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5

    Parameters
    ----------
    margin : float
        The margin; 0 gives the AUC without ties.
    multi_class, average, labels : optional
        As in :class:`AUC`.

    Notes
    -----
    ``mean_ij 1[s_i - t_j > margin]``; a pair has the product of its two weights. O(n log n).
    """

    name: ClassVar[str] = "margin_auc"
    bounds = 0.0, 1.0
    has_chance: ClassVar[bool] = False  # a constant score has no distances
    monotone: ClassVar[bool] = False  # it needs distances, which pooled scores do not have
    counts_pairs: ClassVar[bool] = True
    margin: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read_number("margin", "that is finite", np.isfinite)

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.margin(self.margin)

    def kernel(self, kind: Any) -> Callable[[Any, Any], Any]:
        return lambda s, t: (s - t > self.margin).astype(kind)

    def __str__(self) -> str:
        return f"margin AUC at {self.margin:g}"


@dataclass(frozen=True, repr=False)
class ScoredAUC(CurveMeasure):
    """Scored AUC: by how much a positive scores higher than a negative, on average (Wu et al., 2007).

    Use predicted probabilities: on their common scale models can be compared.

    >>> from rocmax.metrics import ScoredAUC
    >>> ScoredAUC()([0, 0, 1, 1], [0.0, 0.5, 0.25, 1.0])
    0.4375

    Parameters
    ----------
    multi_class, average, labels : optional
        As in :class:`AUC`.

    Notes
    -----
    ``mean_ij max(0, s_i - t_j)``, the area under the sROC curve; ties add nothing. O(n log n).
    """

    name: ClassVar[str] = "scored_auc"
    traits = frozenset({Trait.COMPONENTS, Trait.SCORED})
    bounds = 0.0, np.inf
    has_chance: ClassVar[bool] = False  # a constant score has no distances
    monotone: ClassVar[bool] = False

    @property
    def in_core(self) -> _core.Measure:
        return _core.Measure.scored()

    def kernel(self, kind: Any) -> Callable[[Any, Any], Any]:
        return lambda s, t: np.fmax(s - t, 0.0)

    def parts(
        self,
        y_true: ArrayLike | Samples,
        y_score: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **reading: Unpack[Labelled],
    ) -> tuple[float, float]:
        """Return R+ and R-, the mean scores of the positives and of the negatives over the pairs that are won.

        ``R+ = mean_ij s_i 1[s_i > t_j]`` and ``R- = mean_ij t_j 1[s_i > t_j]``; the scored AUC is R+ - R- (Theorem 2).
        Takes what a measure takes, with the scores of one model.
        """
        data = one_model(read(type(self).parts, y_true, y_score, reading, Labelled, sample_weight=sample_weight).two)
        share = call(_core.components, data, _core.Measure.margin(0.0), data.threads)[1]
        won = data.score * share
        pos, neg = (float(np.average(won[of], weights=data.weights[of])) for of in (data.positive, ~data.positive))
        return pos, neg

    def __str__(self) -> str:
        return "scored AUC"

    def scorer(self, *, pos_label: Any = None, response_method: Any = "predict_proba") -> Any:
        return super().scorer(pos_label=pos_label, response_method=response_method)
