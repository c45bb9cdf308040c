"""Method, the base class of the methods, and what they return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rocmax._checks.samples import F64
from rocmax.metrics.intervals._hypothesis import Question
from rocmax.metrics.intervals._interval import Limits, Tails, stacked
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.samples._classes import Classes
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._components import Shared


class Interval(NamedTuple):
    """Estimates of all models, their variances and confidence limits, NaN where `refused` says why, and the method."""

    estimate: F64
    variance: F64
    limits: Limits
    method: str
    replicates: F64 | None = None
    refused: str | None = None  # why there are no limits
    source: str | None = None  # what all limits are those of, in `metrics/_references.py`, where not of the method
    sizes: Sequence[tuple[float, float]] = ()  # the effective sizes of the classes of each model, if they were needed


def joined(intervals: Sequence[Interval], method: str | None = None) -> Interval:
    """Return the intervals of several models from those of each, by the method of the first or a given one."""
    estimate, variance = (np.concatenate([one[k] for one in intervals]) for k in (0, 1))
    return Interval(estimate, variance, stacked([one.limits for one in intervals]), method or intervals[0].method)


def without_limits(estimate: F64, method: str, refused: str) -> Interval:
    """Return estimates that have no interval, for a reason."""
    none = np.full_like(estimate, np.nan)
    limits = Limits(lambda z: (none, none), lambda null: Tails(none, none, none))
    return Interval(estimate, none, limits, method, refused=refused)


class Covariance(NamedTuple):
    """Estimates of all models and their covariance."""

    estimate: F64
    matrix: F64
    parts: Sequence[Shared] = ()  # which are independent
    replicates: F64 | None = None
    own: Interval | None = None  # the intervals of the models
    freedom: F64 | None = None  # (n_models, n_models), of variances of differences; of the models' on the diagonal
    pairwise: Callable[[Any, Any], Limits] | None = None  # the limits of differences, by the numbers of both models
    refused: str | None = None  # why there is no covariance

    def of_parts(self, parts: Sequence[Shared]) -> "Covariance":
        """Return the covariance with these parts, and with the number of replicates that it comes from."""
        drawn = [] if self.replicates is None else [Shared(None, len(self.replicates) - 1.0)]
        return self._replace(parts=[*parts, *drawn])


class Known(NamedTuple):
    """What methods need to know about samples."""

    weight_kind: str = "frequency"
    grouped: bool = False
    pairs: bool = False  # groups of two columns
    classes: bool = False  # more than two
    counts: bool = False  # the weight of either class at every score, instead of samples

    @classmethod
    def of(cls, *samples: Sample | Classes) -> "Known":
        """Return what is known of samples of one model or of several."""
        kind = next((data.weight_kind for data in samples if data.weight_kind != "frequency"), "frequency")
        pairs = any(isinstance(data, Sample) and data.of_pairs for data in samples)
        grouped = any(data.group is not None for data in samples)
        counts = any(isinstance(data, Sample) and data.steps is not None for data in samples)
        return cls(kind, grouped, pairs, isinstance(samples[0], Classes), counts)


@dataclass(frozen=True)
class Method:
    """Base of the methods. A method declares what it needs, which is checked before any work.

    Methods for intervals define `estimate`, methods for comparisons `covariance`. A test is dual to its interval
    because both come from the same limits.
    """

    #: The name in `method=`.
    name: ClassVar[str]
    #: The measure must have one of these; any measure will do if there are none.
    needs: ClassVar[frozenset[Trait]] = frozenset()
    #: Whether it supports sampling weights, clusters, pairs of subjects, more than two classes, and counts instead of
    #: samples.
    sampling: ClassVar[bool] = False
    groups: ClassVar[bool] = False
    pairs: ClassVar[bool] = False
    classes: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    #: Whether its intervals extrapolate if the measure lies beyond the samples.
    extrapolates: ClassVar[bool] = False

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        """Return estimates, variances and limits."""
        raise ValueError(f"method={self.name!r} compares models; it gives no interval of one")

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        """Return estimates and covariance of models of the same samples."""
        raise ValueError(f"method={self.name!r} gives intervals; it compares no models: leave it out, or take 'delong'")

    @property
    def resampling(self) -> str | None:
        """How samples are drawn, in words; None if they are not."""
        return None

    def for_weights(self, kind: str) -> "Method":
        """Return the method as it works with this kind of weights."""
        return self

    def check(self, measure: Measure, data: Known, takers: "dict[str, type[Method]]") -> None:
        """Check that the method supports the measure and the kind of data; `takers` are all methods."""
        if data.weight_kind == "planned" and self.name != "planned":
            raise ValueError(f"labels of a plan have a method of their own: leave out method={self.name!r}")
        if not self.fits(measure):
            words = " or ".join(need.value for need in Trait if need in self.needs)
            raise ValueError(f"method={self.name!r} needs {words}, got measure={measure!r}")
        for needed, flag, what in (
            (data.weight_kind == "sampling", "sampling", "weight_kind='sampling' takes"),
            (data.grouped, "groups", "groups take"),
            (data.pairs, "pairs", "groups of two columns take"),
            (data.classes, "classes", "multi_class takes"),
            (data.counts, "counts", "data in parts (ROCAccumulator) take"),
        ):
            if needed and not getattr(self, flag):
                alike = [
                    other
                    for other in takers.values()
                    if (other.estimate is Method.estimate) == (type(self).estimate is Method.estimate)
                ]
                fit = [other.name for other in alike if getattr(other, flag) and other.fits(measure)]
                if not fit:
                    raise ValueError(f"{what} no method for {measure}" + "; pass all samples to infer" * data.counts)
                raise ValueError(f"{what} method={', '.join(map(repr, fit))}, got method={self.name!r}")

    @classmethod
    def needs_many(cls, measure: Measure) -> bool:
        """Whether its intervals undercover if few samples decide the measure."""
        return False

    @classmethod
    def fits(cls, measure: Measure) -> bool:
        """Whether the measure has what the method needs."""
        return not cls.needs or bool(cls.needs & measure.traits)


def binary(sample: Any) -> Sample:
    """Return the samples, of two classes as :meth:`Method.check` has ensured."""
    assert isinstance(sample, Sample)
    return sample


def variance_of(replicates: F64) -> F64:
    """Return the variance of replicates, exactly 0 where all are equal."""
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite variance is refused later
        return np.asarray((replicates - replicates[0]).var(axis=0, ddof=1))


class Query(NamedTuple):
    """The arguments of :func:`infer` and :func:`compare` that do not describe samples, checked."""

    measure: Measure
    method: Method | None  # None: the default, which depends on the samples
    question: Question
    known: Known = Known()
    seed: Any = None
    adjust: str | None = None  # of the p-values of pairs
