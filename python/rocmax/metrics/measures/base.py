"""Measure, the base class of all measures, and what methods call of one; the defaults suit a measure of one's own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rocmax import _core
from rocmax._checks.samples import F64, number
from rocmax._parameters import shown
from rocmax.metrics.measures._ranking import centred_squares, of_totals
from rocmax.metrics.samples._classes import estimates_of
from rocmax.metrics.samples._reading import Labelled, read
from rocmax.metrics.samples._sample import Sample, call, centre, explain, require_two
from rocmax.metrics.samples._samples import Samples

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
    #: Whether a constant score has the value of chance.
    has_chance: ClassVar[bool] = False
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

    def value_of_two_scores(self, score: float, sizes: tuple[float, float]) -> float:
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
        if values.shape != (shape := sample.score.shape):
            raise ValueError(f"components of {self!r} must have shape {shape}, one per sample, got {values.shape}")
        return self._checked(sample), values

    def covariance(self, sample: Sample) -> tuple[F64, F64, F64]:
        """Return the estimates of all models, and the parts of either class in their covariance matrix."""
        require_two(*sample.counted, self.advice_for_one_sample)
        (estimate, values), positive, weight = self.influences(sample), sample.positive, sample.weights
        parts = []
        for members, moved in zip((positive, ~positive), of_totals(self, sample), strict=True):
            rows = np.flatnonzero(members)
            w = weight[rows]
            of_class = centre(values.take(rows, axis=1), w) + moved[:, None]
            # A frequency weight w stands for w samples; a sampling weight belongs to one.
            size, square = (w.sum(), w) if sample.weight_kind != "sampling" else (np.count_nonzero(w), w**2)
            scaled = of_class if sample.weight is None else of_class * square
            parts.append(scaled @ of_class.T / w.sum() ** 2 * size / (size - 1))
        return estimate, parts[0], parts[1]

    def by_totals(self, sample: Sample) -> tuple[float, float]:
        """Return the derivatives of one model's value by the logarithms of both classes' total weights."""
        return 0.0, 0.0

    def squares(self, sample: Sample) -> tuple[float, F64]:
        """Return the value of one model, and by class the sums of the squares of centred components."""
        (value,), (values,) = self.influences(sample)
        weight, classes = sample.weights, (sample.positive, ~sample.positive)
        return float(value), centred_squares([values[rows] for rows in classes], [weight[rows] for rows in classes])

    @property
    def advice_for_one_sample(self) -> str:
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
        return self.value_of_two_scores(0.0, sizes) if self.has_chance else None

    def chance_of(self, sample: Sample) -> float | None:
        """Return the value of a random score that has as many ties as one model's; it is not worse than `chance`."""
        return self.chance(sample.totals)


def values_of(sample: Sample, key: _core.Measure) -> F64:
    """Return the core's values of a measure, one for each model."""
    curves = sample.known_curves()
    if curves:
        return np.array([curve.measure(key) for curve in curves])
    return np.atleast_1d(call(_core.measure, sample, key, sample.threads))


@dataclass(frozen=True, repr=False)
class Measure(Hooks):
    """Base of all measures: a frozen, hashable value that can be called.

    To define your own, write a subclass with :meth:`value` and, if the contribution of every sample is known,
    :meth:`components`. With components, DeLong's intervals, paired tests, clusters, cross-validation and reader studies
    work; without them, the bootstrap does. :func:`check_measure` checks a subclass; :meth:`of` wraps any function of
    labels and scores.

    The difference of the mean scores of the two classes:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from rocmax.metrics import Measure, infer
    >>> @dataclass(frozen=True)
    ... class MeanDifference(Measure):
    ...     def value(self, sample):
    ...         w, pos = sample.weights, sample.positive
    ...         return np.average(sample.score[pos], weights=w[pos]) - np.average(sample.score[~pos], weights=w[~pos])
    ...
    ...     def components(self, sample):
    ...         return np.where(sample.positive, sample.score, -sample.score)
    >>> y, s = np.arange(40) % 2, np.random.default_rng(0).normal(size=40)
    >>> print(infer(y, s, MeanDifference()))
    MeanDifference 0.42 [-0.06, 0.90] (95 % CI)
    DeLong et al. 1988; 20 positive, 20 negative samples

    Attributes
    ----------
    bounds : (float, float)
        The least and the greatest value; infinite by default.
    """

    __name__ = property(str)  # what scorers of scikit-learn's make_scorer print

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return -np.inf, np.inf

    def value(self, sample: Sample) -> Any:
        """Return the value of one model.

        Parameters
        ----------
        sample : Sample
            `positive` (which samples are positive), `score` (finite) and `weight` (non-negative, or None), all of
            shape (n_samples,).

        Returns
        -------
        float
            The value, finite.
        """
        if self.in_core is None and type(self).estimates is Hooks.estimates:
            raise NotImplementedError(f"{type(self).__name__} must define value(self, sample)")
        return float(self.estimates(sample)[0])

    def components(self, sample: Sample) -> Any:
        """Return the contribution of every sample of one model, or None if it is not known.

        With F and G the distributions of the scores of the positives and the negatives, the component of positive i is
        the derivative of ``T((1 - e) F + e delta_i, G)`` by e at 0, up to a constant for each class; likewise for
        negatives. If the measure is a mean of a kernel over pairs, it is the mean over the sample's own pairs. DeLong's
        variance is the variance of the positives' components divided by their number, plus the same for the negatives.

        Parameters
        ----------
        sample : Sample
            As for :meth:`value`.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            The components.
        """
        return None

    def __call__(
        self,
        y_true: ArrayLike | Samples,
        y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        **reading: Unpack[Labelled],
    ) -> Any:
        """Return the value of the measure.

        Parameters
        ----------
        y_true, y_score, sample_weight : array-like, or mapping
            Labels, scores and weights; see :class:`Samples`. Or :class:`Samples` in place of all.
        **reading
            With arrays, options of :class:`Samples`: `pos_label`, `higher_is_better`, `missing` and `n_jobs`.

        Returns
        -------
        float or ndarray of shape (n_models,)
            The value; with ``average=None``, that of every class.
        """
        samples = read(type(self).__call__, y_true, y_score, reading, Labelled, sample_weight=sample_weight)
        if self.multi_class != "raise":
            of_classes = estimates_of(samples.classes(self.labels, least=1), self)
            return of_classes if self.average is None else float(of_classes[0])
        data = samples.two
        found = self.estimates(data)
        return found if data.many else float(found[0])

    def scorer(self, *, pos_label: Any = None, response_method: Any = None) -> Any:
        """Return a scorer for the `scoring=` of `cross_val_score` and `GridSearchCV`.

        The score is the measure, negated if lower is better, as in scikit-learn.

        Parameters
        ----------
        pos_label : label, default=None
            The positive class; by default the second of the estimator's classes.
        response_method : str or tuple of str, default=None
            Which method gives the scores; None tries `decision_function`, then `predict_proba`, for several classes in
            the other order.

        Returns
        -------
        callable
            ``scorer(estimator, X, y)``.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_val_score
        >>> from rocmax.metrics import PartialAUC
        >>> X, y = make_classification(200, random_state=0)
        >>> cross_val_score(LogisticRegression(), X, y, scoring=PartialAUC((0.0, 0.2)).scorer(), cv=3).round(2)
        array([0.94, 0.78, 0.8 ])
        """
        from rocmax.metrics.measures._scorers import scorer_of  # scikit-learn's metrics take a second to import

        return scorer_of(self, pos_label, response_method)

    @staticmethod
    def of(function: Callable[..., float]) -> Measure:
        """Return the measure that a function computes.

        Parameters
        ----------
        function : callable
            ``f(y_true, y_score) -> float`` or ``f(y_true, y_score, sample_weight) -> float``. It receives boolean
            labels, the scores of one model and, in the second form, weights or None: a third parameter with a default
            gets them only if its name has "weight" in it. Intervals and tests use the bootstrap.

        Returns
        -------
        Measure
            Equal to every measure of the same function.

        Examples
        --------
        >>> import numpy as np
        >>> from rocmax.metrics import Measure, infer
        >>> def median_gap(y_true, y_score):
        ...     return np.median(y_score[y_true]) - np.median(y_score[~y_true])
        >>> y, s = np.arange(40) % 2, np.random.default_rng(0).normal(size=40)
        >>> print(str(infer(y, s, Measure.of(median_gap), random_state=0)).splitlines()[0])
        median_gap 0.60 [-0.09, 0.95] (95 % CI)
        """
        return OwnMeasure(function)

    def _read_number(self, name: str, domain: str, holds: Callable[[float], bool]) -> None:
        """Check an option that is a number, and keep it as a float."""
        object.__setattr__(self, name, number(getattr(self, name), name, domain, holds) + 0.0)  # -0.0 prints as 0

    def __repr__(self) -> str:
        given = []
        first = next((field for field in fields(self) if not field.kw_only), None)
        for field in fields(self):
            usual = field.default_factory() if field.default_factory is not MISSING else field.default
            value = getattr(self, field.name)
            if usual is MISSING or value != usual:
                text = getattr(value, "__name__", None) or shown(value)
                # Optional fields other than the first are shown with their names.
                named = field is not first and usual is not MISSING
                given.append(f"{field.name}={text}" if named else text)
        return f"{type(self).__name__}({', '.join(given)})"

    def __str__(self) -> str:
        return repr(self).removesuffix("()")

    @property
    def short(self) -> str:
        """The measure in words for column headings."""
        return str(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The name of the measure and its options, as plain values."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"measure": self.name or type(self).__name__} | options

    @property
    def traits(self) -> frozenset[Trait]:
        """What the measure offers to methods."""
        return frozenset() if type(self).components is Measure.components else frozenset({Trait.COMPONENTS})


@dataclass(frozen=True, repr=False)
class OwnMeasure(Measure):
    """What :meth:`Measure.of` returns. The function is called with copies, which it may change."""

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, Measure):
            raise ValueError(f"Measure.of takes a function of labels and scores, got {shown(self.function)}")
        call_convention(self.function)

    def value(self, sample: Sample) -> Any:
        weight = None if sample.weight is None else sample.weight.copy()
        return call_convention(self.function)(sample.positive.copy(), sample.score.copy(), weight)

    def __repr__(self) -> str:
        return f"Measure.of({self!s})"

    def __str__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"measure": str(self)}


def call_convention(function: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """Return how a function is called: `sample_weight` by its name, else as the third argument, if it takes it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # unknown for some functions in C
        return lambda y_true, y_score, weight: function(y_true, y_score, *([] if weight is None else [weight]))
    two, by_name = _takes(signature, None, None), _takes(signature, None, None, sample_weight=None)
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    option = any(p.default is not p.empty and "weight" not in p.name and p.name != "w" for p in places[2:3])
    three = not option and _takes(signature, None, None, None)
    if not (two or by_name or three):
        raise ValueError(
            "Measure.of takes a function that can be called as f(y_true, y_score), f(y_true, y_score, sample_weight) or"
            f" f(y_true, y_score, sample_weight=sample_weight), got {shown(function)} of {signature}"
        )

    def called(y_true: Any, y_score: Any, weight: Any) -> Any:
        if two and weight is None:
            return function(y_true, y_score)
        if by_name:
            return function(y_true, y_score, sample_weight=weight)
        if three:
            return function(y_true, y_score, weight)
        raise ValueError(
            f"sample_weight needs a measure that takes weights, got {shown(function)} of {signature}: add a third"
            " parameter, sample_weight, to the function"
        )

    return called


def _takes(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    """Whether a function can be called with these arguments."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
