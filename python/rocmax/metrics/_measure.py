"""What is measured, of how many samples: shared by all inference."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax import _core
from rocmax._parameters import shown
from rocmax.metrics._partial import both_ranges, curve_area
from rocmax.metrics._two_way import Region, areas
from rocmax.metrics._validation import F64, Sample, call, choice, explain, number, sample

F = TypeVar("F", bound=Callable[..., Any])

RATES = ("tpr_at_fpr", "fpr_at_tpr")
SCREENING = ("enrichment_factor", "rie", "bedroc")
OWN = "a function"
_METRICS = ("auc", "partial_auc", "scored_auc", "margin_auc", *RATES, *SCREENING)
TWO_WAY = "partial_auc of both rates"
# The number that some need to know, and what it is where it need not be given.
_PARAMETERS = {
    "margin_auc": ("margin", None),
    "tpr_at_fpr": ("fpr", None),
    "fpr_at_tpr": ("tpr", None),
    "enrichment_factor": ("fraction", 0.01),
    "rie": ("alpha", 20.0),
    "bedroc": ("alpha", 20.0),
}
_LEAST = float(np.finfo(float).tiny)  # of what is divided by
_LEAST_ALPHA = 1e-3  # below, the differences that BEDROC is made of lose their digits


class MeasureOptions(TypedDict, total=False):
    """The options of measures that are named, which functions of any measure take beside `metric`."""

    fpr_range: tuple[float, float] | None
    tpr_range: tuple[float, float] | None
    normalize: str | None
    margin: float | None
    fpr: float | None
    tpr: float | None
    fraction: float | None
    alpha: float | None


_OPTIONS = frozenset(MeasureOptions.__annotations__)
_USUAL = {"normalize": "width"}  # of the others None


def of_any_measure(function: F) -> F:
    """Name, in the signature of a function of a `metric`, the `options` that it hands to :func:`parse_measure`."""
    own = inspect.signature(function)
    named: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        named += [] if parameter.kind is parameter.VAR_KEYWORD else [parameter]
        if parameter.name == "metric":
            for name, kind in MeasureOptions.__annotations__.items():
                annotation = getattr(kind, "__forward_arg__", kind)
                named.append(parameter.replace(name=name, default=_USUAL.get(name), annotation=annotation))
    function.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True)
class Asked:
    """A measure as it is asked for: its name, or a function, and its options."""

    metric: Any
    options: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.metric, repr(sorted(self.options.items(), key=str))))

    def __repr__(self) -> str:
        metric = getattr(self.metric, "__name__", None) or repr(self.metric)
        return f"Measure({', '.join([metric, *(f'{name}={shown(value)}' for name, value in self.options.items())])})"


class Measure(NamedTuple):
    """A measure as the core knows it, and the least and greatest value it can take."""

    name: str
    low: float
    high: float
    least: float
    most: float
    region: Region | None = None  # of a partial area of both rates at once
    function: Callable[..., Any] | None = None  # of users
    options: tuple[tuple[str, Any], ...] = ()  # as they were given

    @property
    def key(self) -> tuple[str, float, float]:
        """What the core's functions take."""
        return self.name, self.low, self.high

    @property
    def metric(self) -> str:
        """What users call it."""
        if self.name.startswith(("partial", "sensitivity")):
            return "partial_auc"
        return {"scored": "scored_auc", "margin": "margin_auc"}.get(self.name, self.name)

    @property
    def family(self) -> str:
        """What methods tell apart: as `metric`, but functions are one, and so is a partial area of both rates."""
        return OWN if self.function is not None else self.metric if self.region is None else TWO_WAY

    @property
    def parameter(self) -> str | None:
        """The name of its one number, which is `low`."""
        return None if self.function is not None else _PARAMETERS.get(self.metric, (None,))[0]

    @property
    def has_components(self) -> bool:
        """Whether every sample has a part in it that is known."""
        return self.family not in (OWN, *SCREENING)

    @property
    def scale(self) -> float:
        """What the area of a region is multiplied by."""
        return 1.0 if self.region is None else self.most / self.region.size

    @property
    def is_rate(self) -> bool:
        """Whether it is a rate at a threshold that the samples set."""
        return self.name in RATES


def parse_measure(metric: Any, **options: Any) -> Measure:
    """Check what says what is measured: a name and its options, a value that holds both, or a function."""
    if options.keys() - _OPTIONS:
        raise TypeError(f"got an unexpected keyword argument {min(options.keys() - _OPTIONS)!r}")
    if isinstance(metric, Asked) or callable(metric):
        refuse_options(metric, **options)
    if not isinstance(metric, Asked):
        metric = Asked(metric, {} if callable(metric) else options)
    unknown = set(metric.options) - _OPTIONS
    if unknown:
        raise ValueError(f"options of a measure are {', '.join(sorted(_OPTIONS))}, got {shown(min(map(str, unknown)))}")
    if callable(metric.metric):
        if metric.options:
            raise ValueError(f"metric is a function of your own, which takes no options, got {shown(metric.options)}")
        name = getattr(metric.metric, "__name__", type(metric.metric).__name__)
        return Measure(name, 0.0, 1.0, -np.inf, np.inf, function=_of_three(metric.metric))
    found = _parsed(metric.metric, **metric.options)
    return found._replace(options=tuple(metric.options.items()))


def refuse_options(metric: Any, **options: Any) -> None:
    """Check that there are no options beside a value that holds them, or a function, which takes none."""
    given = {name for name, value in options.items() if value is not None and (name, value) != ("normalize", "width")}
    if given:
        raise ValueError(f"{min(given)} goes with a metric that is named, got metric={shown(metric)}")


def _of_three(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as one of labels, scores and weights, called as it can be called.

    Without weights it is called with labels and scores if these are enough, else with None for the weights; they go by
    the name `sample_weight` if it takes that.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # not known of some in C
        return lambda y_true, y_score, weight: function(y_true, y_score, *([] if weight is None else [weight]))
    two, by_name = _takes(signature, None, None), _takes(signature, None, None, sample_weight=None)
    three = _takes(signature, None, None, None)
    if not (two or by_name or three):
        raise ValueError(
            "metric must be a function that can be called as metric(y_true, y_score), metric(y_true, y_score,"
            f" sample_weight) or metric(y_true, y_score, sample_weight=sample_weight), got {shown(function)} of"
            f" {signature}"
        )

    def called(y_true: Any, y_score: Any, weight: Any) -> Any:
        if two and weight is None:
            return function(y_true, y_score)
        if by_name:
            return function(y_true, y_score, sample_weight=weight)
        if three:
            return function(y_true, y_score, weight)
        raise ValueError(
            f"sample_weight needs a metric that takes weights, got {shown(function)} of {signature}: add a third"
            " parameter, sample_weight, to the function, or leave sample_weight out"
        )

    return called


def _takes(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    """Whether a function can be called with these arguments."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _parsed(
    metric: Any,
    *,
    fpr_range: Any = None,
    tpr_range: Any = None,
    normalize: str | None = "width",
    **numbers: Any,
) -> Measure:
    """Check the options of a measure that is named; the AUC over a range is a partial AUC."""
    choice(metric, _METRICS, "metric")
    choice(normalize, ("width", "mcclish", None), "normalize")
    if metric == "auc" and (fpr_range is not None or tpr_range is not None):
        metric = "partial_auc"
    needed, usual = _PARAMETERS.get(metric, (None, None))
    for name in ("margin", "fpr", "tpr", "fraction", "alpha"):
        value = numbers.get(name)
        if (value is not None) if name != needed else (value is None and usual is None):
            takers = " or ".join(repr(taker) for taker, (number, _) in _PARAMETERS.items() if number == name)
            raise ValueError(f"{name} goes with metric={takers}, got {name}={shown(value)} and metric={metric!r}")
    if metric != "partial_auc":
        if fpr_range is not None or tpr_range is not None:
            raise ValueError(f"fpr_range and tpr_range need metric='partial_auc', got {metric!r}")
        return _of_number(metric, usual if needed is None or numbers.get(needed) is None else numbers[needed])
    region = both_ranges(fpr_range, tpr_range, normalize)
    if region is not None:
        return Measure("partial-two-way", *region.fpr, 0.0, region.size if normalize is None else 1.0, region)
    name, low, high = curve_area((0.0, 1.0) if fpr_range is None else fpr_range, tpr_range, normalize)
    if (low, high) == (0.0, 1.0):  # by every definition
        return Measure("auc", 0.0, 1.0, 0.0, 1.0)
    if normalize is None:
        return Measure(name, low, high, 0.0, high - low)
    if normalize == "width":
        return Measure(name, low, high, 0.0, 1.0)
    return Measure(name, low, high, 1.0 - 1.0 / ((1.0 - low) + (1.0 - high)), 1.0)


def _of_number(metric: str, value: Any) -> Measure:
    """Return a measure of the whole curve, or of its one number."""
    if metric in RATES:
        rate = number(value, _PARAMETERS[metric][0], "in (0, 1)", lambda value: 0.0 < value < 1.0)
        return Measure(metric, rate, 1.0, 0.0, 1.0)
    if metric == "margin_auc":
        return Measure("margin", number(value, "margin", "that is finite", np.isfinite), 1.0, 0.0, 1.0)
    if metric == "enrichment_factor":
        fraction = number(value, "fraction", "in (0, 1]", lambda value: _LEAST <= value <= 1.0)
        return Measure(metric, fraction, 1.0, 0.0, 1.0 / fraction)
    if metric in SCREENING:
        alpha = number(value, "alpha", "of at least 0.001", lambda value: _LEAST_ALPHA <= value < np.inf)
        return Measure(metric, alpha, 1.0, 0.0, 1.0 if metric == "bedroc" else np.inf)
    return Measure("scored" if metric == "scored_auc" else "auc", 0.0, 1.0, 0.0, _top(metric))


def _top(metric: str) -> float:
    return np.inf if metric == "scored_auc" else 1.0


def check_level(confidence_level: float) -> float:
    """Check that `confidence_level` lies strictly between 0 and 1."""
    return number(confidence_level, "confidence_level", "in (0, 1)", lambda level: 0.0 < level < 1.0)


def positives(data: Sample) -> NDArray[np.bool_]:
    """Mark the positive samples."""
    if not len(data.y):
        explain(data)
    return np.asarray(data.y == data.y.max())


def totals(data: Sample) -> tuple[float, float]:
    """Count, or total weight, of the positives and of the negatives."""
    positive = positives(data)
    if data.weight is None:
        n_pos = int(np.count_nonzero(positive))
        return n_pos, len(positive) - n_pos
    with np.errstate(over="ignore"):  # the core refuses such weights
        return float(data.weight[positive].sum()), float(data.weight[~positive].sum())


def effective(data: Sample) -> tuple[float, float]:
    """Return how many samples of equal weight would vary as much as those of either class (Kish, 1965)."""
    if data.weight is None:
        return totals(data)
    positive = positives(data)
    shares = [weight / weight.max() for weight in (data.weight[positive], data.weight[~positive])]
    n_pos, n_neg = (float(share.sum()) ** 2 / float((share**2).sum()) for share in shares)
    return n_pos, n_neg


def has_variance(count: float) -> bool:
    """Whether a class of so many samples varies; of weights whose sum is 1 up to rounding nothing is left."""
    return count > 1.0 + 1e-9


def require_two(n_pos: float, n_neg: float) -> None:
    """Check that there are samples enough for a variance."""
    for name, count in (("positive", n_pos), ("negative", n_neg)):
        if not has_variance(count):
            raise ValueError(
                f"y_true has {count:g} {name} sample: a variance needs two (auc_inference has intervals of one, by"
                " method='score' or 'newcombe')" + no_counts(count)
            )


def no_counts(count: float) -> str:
    """Say what weights are that add up to a fraction of a sample."""
    return "" if count == int(count) else "; weights that do not count samples take weight_kind='sampling'"


def check_variance(variance: F64) -> None:
    """Check that scores have not been too large for their squares."""
    if not np.isfinite(variance).all():
        raise ValueError(
            "the scores (y_score, or score_a and score_b) are too large for a variance: their squares overflow; divide"
            " them all by one number"
        )


def rates(weight: F64) -> F64:
    """Return the share of a class at every distinct score or above; of all of it that is 1 to the last bit."""
    sums = np.cumsum(weight)
    return np.asarray(sums / sums[-1])


def value_of(
    measure: Measure,
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    n_jobs: int | None,
) -> Any:
    """Return the value of the measure, of several models an array."""
    data = sample(y_true, y_score, sample_weight, pos_label=pos_label, n_jobs=n_jobs)
    found = point_estimates(data, measure)
    return found if data.many else float(found[0])


def point_estimates(data: Sample, measure: Measure) -> F64:
    """Values of the measure, of shape (n_models,)."""
    if measure.region is not None:
        return measure.scale * areas(data, measure.region)
    if measure.function is not None:
        explain(data)
        positive = positives(data)
        columns = data.score.T if data.many else [data.score]
        weight = data.weight
        # Copies: the function may sort what it is given.
        made = ((positive.copy(), column.copy(), None if weight is None else weight.copy()) for column in columns)
        return np.array([own_value(measure, *each) for each in made])
    return np.atleast_1d(call(_core.measure, data, *measure.key, data.threads))


def own_value(measure: Measure, positive: NDArray[np.bool_], score: NDArray[Any], weight: F64 | None) -> float:
    """Return the value of a function of users, which is a number; it may write into what it is given."""
    assert measure.function is not None
    value = measure.function(positive, score, weight)
    return number(value, "metric", "that is finite, as its function returns", np.isfinite)
