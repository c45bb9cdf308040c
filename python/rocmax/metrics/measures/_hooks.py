"""What methods call of a measure, beside its value and components; the defaults suit a measure of one's own."""

import math
from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64, number
from rocmax.metrics.measures._ranking import centred_sums, of_totals
from rocmax.metrics.samples._sample import Sample, call, centre, explain, require_two

#: How many samples are counted, and how many set the range or the threshold, each number with its name.
LimitingSizes = tuple[tuple[float, str], tuple[float, str]]


class Trait(Enum):
    """What a method can require of a measure, in words."""

    COMPONENTS = "a measure with components"
    AUC = "the AUC"
    AREA = "the AUC or a partial AUC of one range"
    RATE = "TPRAtFPR or FPRAtTPR"
    SCORED = "the scored AUC"
    THRESHOLD = "a measure at a fixed threshold (AtThreshold)"
    RANKING = "a measure judged by a budget, such as PrecisionAt"


class Hooks:
    """The members of a measure that are not written for one of one's own, each with a default."""

    value: Any
    components: Any
    traits: Any
    bounds: Any

    #: The name in `measure=`, such as "average_precision"; empty if it has none.
    name: ClassVar[str] = ""
    #: The key of the reference for the variance by components.
    reference: ClassVar[str] = "delong"
    #: Those of what its score interval is made of: the interval itself, and the binormal model.
    score_references: ClassVar[tuple[str, ...]] = "wilson", "dorfman"
    #: Whether it is the share of the pairs in the right order: the value and the class sizes then bound its variance.
    counts_pairs: ClassVar[bool] = False
    #: Whether it only improves as positives score higher and negatives lower: pooled scores then bound it.
    monotone: ClassVar[bool] = False
    #: The least variance that is believed, as a share of a proportion's; with a smaller one the classes are separated.
    least_variance: ClassVar[float] = 0.0
    #: The rate that it is, such as "tpr", "ppv" or "accuracy", in the words of a style; empty if it is none.
    as_rate: ClassVar[str] = ""
    #: Whether class sizes vary with the samples, as those of sampling weights always do.
    of_samples: ClassVar[bool] = False
    #: Whether a good model has a low value.
    lower_is_better: ClassVar[bool] = False
    #: What helps against a :meth:`bias_warning`.
    remedy: ClassVar[str] = "collect more samples"
    #: How several classes are averaged; "raise" for measures of two classes.
    multi_class: ClassVar[Any] = "raise"
    average: ClassVar[Any] = "macro"
    labels: ClassVar[Any] = None

    @property
    def is_share(self) -> bool:
        """Whether it lies between 0 and 1."""
        least, most = self.bounds
        return bool(least >= 0.0 and most <= 1.0)

    @property
    def in_core(self) -> Any:
        """The measure as the core takes it, which then computes its values; None if it knows it not."""
        return None

    @property
    def draws(self) -> bool:
        """Whether the core computes its bootstrap replicates."""
        return self.in_core is not None

    def estimates(self, sample: Sample) -> F64:
        """Return the values of all models, of shape (n_models,)."""
        if (key := self.in_core) is not None:
            return values_of(sample, key)
        if sample.many:
            explain(sample)
        return np.array([self._checked(one) for one in sample.models()])

    def _checked(self, sample: Sample) -> float:
        if not sample.many and sample.steps is None:
            explain(sample)
        value = self.value(sample)
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        return number(value, f"the value of {self!r}", "that is finite", np.isfinite)

    def of_two(self, score: float, sizes: tuple[float, float]) -> float:
        """Return the value where all positives have this score and all negatives 0, for their numbers."""
        two = Sample(np.array([True, False]), np.array([score, 0.0]), np.array(sizes, dtype=np.float64), 1)
        return float(self.estimates(two)[0])

    def reachable(self, sizes: tuple[float, float]) -> tuple[float, float]:
        """Return bounds of the value for these numbers of positives and negatives."""
        least, most = self.bounds
        return least, most

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        """Return the values of all models (n_models,) and the components of their samples (n_models, n_samples)."""
        estimate, values = zip(*(self.influence(one) for one in sample.models()), strict=True)
        return np.array(estimate), np.array(values) if sample.many else values[0][None]

    def of_pairs(self, sample: Sample) -> F64:
        """Return values of one model's samples that vary with subjects as the measure does, where samples are pairs."""
        return np.asarray(self.influences(sample)[1][0])

    def influence(self, sample: Sample) -> tuple[float, F64]:
        """Return the value of one model, and the components of its samples."""
        explain(sample)
        values = np.asarray(self.components(sample), dtype=np.float64)
        if values.shape != sample.score.shape:
            raise ValueError(
                f"components of {self!r} must have shape {sample.score.shape}, one per sample, got {values.shape}"
            )
        return self._checked(sample), values

    def covariance(self, sample: Sample) -> tuple[F64, F64, F64]:
        """Return the estimates of all models, and the parts of either class in their covariance matrix."""
        require_two(*sample.counted, self.of_one)
        (estimate, values), positive, weight = self.influences(sample), sample.positive, sample.weights
        parts = []
        for members, moved in zip((positive, ~positive), of_totals(self, sample), strict=True):
            rows = np.flatnonzero(members)
            w = weight[rows]
            of_class = centre(values.take(rows, axis=1), w) + moved[:, None]
            # A frequency weight w stands for w samples; a sampling weight belongs to one.
            size, square = (w.sum(), w) if sample.weight_kind == "frequency" else (np.count_nonzero(w), w**2)
            scaled = of_class if sample.weight is None else of_class * square
            parts.append(scaled @ of_class.T / w.sum() ** 2 * size / (size - 1))
        return estimate, parts[0], parts[1]

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        """Return the derivatives of one model's value by the logarithms of both classes' total weights."""
        return 0.0, 0.0

    def moments(self, sample: Sample) -> tuple[float, F64, F64]:
        """Return the value of one model, and by class the sums of the squares and the cubes of centred components."""
        (value,), (values,) = self.influences(sample)
        weight, classes = sample.weights, (sample.positive, ~sample.positive)
        return float(value), *centred_sums([values[rows] for rows in classes], [weight[rows] for rows in classes])

    def squares(self, sample: Sample) -> tuple[float, F64]:
        """Return the value of one model, and by class the sums of the squares of centred components."""
        return self.moments(sample)[:2]

    @property
    def of_one(self) -> str:
        """Where intervals for a class of one sample are, for messages."""
        if self.traits & {Trait.AREA, Trait.RATE, Trait.RANKING, Trait.THRESHOLD}:
            return "; infer(..., method='score') works with one"
        return f"; {self!r}(y_true, y_score) has the value alone"

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        """Return how many samples are counted and how many set the range or threshold, each number with its name."""
        return (sizes[0], "positives"), (sizes[1], "negatives")

    def kernel(self, kind: Any) -> Callable[[Any, Any], Any] | None:
        """Return the kernel, with values of dtype `kind`, if the measure is a mean over pairs; it is 0 at NaN."""
        return None

    def extrapolates(self, sizes: tuple[float, float]) -> str | None:
        """Return a warning if the estimate extrapolates beyond the samples."""
        return None

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        """Return why these numbers of positives and negatives, or effective numbers, have no interval by default."""
        return None

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        """Return a warning if estimates from these numbers of positives and negatives are biased or undercover."""
        return None

    def tally(self, value: Any, sizes: tuple[float, float]) -> tuple[Any, float] | None:
        """Return the number of positives found and that of alerts, where the measure is one of so many alerts."""
        return None

    def caution_of(self, sample: Sample) -> str | None:
        """Return a warning if the scores of one model make its estimate mean little."""
        return None

    def chance(self, sizes: tuple[float, float]) -> float | None:
        """Return the value of a constant score, beyond which intervals give a warning; None if it is not chance."""
        return None

    def chance_of(self, sample: Sample) -> float | None:
        """Return the value of a random score that has as many ties as one model's; it is not worse than `chance`."""
        return self.chance(sample.totals)


def values_of(sample: Sample, key: _core.Measure) -> F64:
    """Return the core's values of a measure, one for each model."""
    curves = sample.known_curves()
    if curves:
        return np.array([curve.measure(key) for curve in curves])
    return np.atleast_1d(call(_core.measure, sample, key, sample.threads))
