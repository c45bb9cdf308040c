"""Bootstrap intervals and covariances."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from rocmax._checks.samples import F64
from rocmax._parameters import check_choice, check_flag
from rocmax._runtime.warn import warn
from rocmax.exceptions import CoverageWarning
from rocmax.metrics.intervals._interval import Law, either, no_width, of_share, percentiles, wald, within
from rocmax.metrics.measures._ranking import influence_of
from rocmax.metrics.measures.base import Measure, Trait
from rocmax.metrics.methods.base import Covariance, Interval, Known, Method, binary, variance_of
from rocmax.metrics.methods.delong import newcombe_limits, per_pair
from rocmax.metrics.samples._classes import Classes, estimates_of
from rocmax.metrics.samples._sample import Sample
from rocmax.metrics.variances._multiclass import replicates
from rocmax.metrics.variances._resample import check_resamples, replicate, seed_of


@dataclass(frozen=True)
class Bootstrap(Method):
    """Bootstrap: the measure of samples that are drawn with replacement.

    Use it for measures without components, or to choose the number of resamples.

    >>> from rocmax.metrics import Bootstrap, infer
    >>> infer([0, 1] * 10, [*range(20)], method=Bootstrap(500), random_state=0).replicates.shape
    (500,)

    Parameters
    ----------
    n_resamples : int, default=2000
        Number of draws.
    stratified : bool, default=True
        Whether every draw keeps the size of either class; with sampling weights none does.
    interval : {"percentile", "bca"}, default="percentile"
        "bca" corrects for bias and acceleration (Efron, 1987).

    Notes
    -----
    With frequency weights, as many samples are drawn as the weights add up to (rounded). With sampling weights, samples
    are drawn with their weights, of both classes together, because these estimate the class sizes, too. Models of the
    same samples share the draws. Samples of two classes are drawn by their rank in the first model, so the order of the
    rows does not matter. Where all resamples have the same value, as with separated classes, a measure with two bounds
    has Newcombe's or Wilson's interval, as for ``method="logit-delong"`` with a variance of 0, up to the greatest value
    that these class sizes allow.
    """

    name: ClassVar[str] = "bootstrap"
    sampling = classes = True

    n_resamples: int = 2000
    stratified: bool = True
    interval: Literal["percentile", "bca"] = "percentile"

    def __post_init__(self) -> None:
        check_flag("stratified", self.stratified)
        check_resamples(self.n_resamples)
        check_choice("interval", self.interval, ("percentile", "bca"))

    @property
    def resampling(self) -> str:
        drawn = "stratified bootstrap" if self.stratified else "bootstrap"
        return f"{drawn} of {self.n_resamples:,} resamples"

    def for_weights(self, kind: str) -> Method:
        return replace(self, stratified=self.stratified and kind != "sampling")

    @classmethod
    def needs_many(cls, measure: Measure) -> bool:
        return True

    def check(self, measure: Measure, data: Known, takers: dict[str, type[Method]]) -> None:
        super().check(measure, data, takers)
        if self.interval == "bca" and (data.classes or Trait.COMPONENTS not in measure.traits):
            raise ValueError(
                f"Bootstrap(interval='bca') needs two classes and a measure with components, got measure={measure!r}"
            )

    def estimate(self, sample: Sample | Classes, measure: Measure, seed: Any = None) -> Interval:
        estimate, values = self._drawn(sample, measure, seed)
        variance = variance_of(values)
        moved = _accelerated(binary(sample), measure, estimate, values) if self.interval == "bca" else ()
        limits = percentiles(values, wald(estimate, np.sqrt(variance), Law()), *moved)
        limits = limits._replace(tails=within(*measure.bounds, limits.tails))
        source: str | None = self.interval
        flat = no_width(values.min(axis=0), values.max(axis=0), measure.bounds)
        certain = without_variance(estimate, sample, measure)
        if flat.any() and certain is not None:
            limits, source = either(flat, certain.limits, limits), certain.source if flat.all() else source
            fact = "all resamples have the same value: the interval is the one for a variance of 0 of 'logit-delong'"
            warn(CoverageWarning(fact))
        return Interval(estimate, variance, limits, self.name, values, source=source)

    def covariance(self, sample: Sample | list[Classes], measure: Measure, seed: Any = None) -> Covariance:
        if isinstance(sample, list):
            seed = seed_of(seed)  # models of one seed share their draws
            each = [self._drawn(data, measure, seed) for data in sample]
            estimate, values = np.concatenate([one[0] for one in each]), np.hstack([one[1] for one in each])
        else:
            estimate, values = self._drawn(sample, measure, seed)
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite variance is refused later
            matrix = np.cov(values.T)
        certain = without_variance(estimate, sample[0] if isinstance(sample, list) else sample, measure)
        return Covariance(estimate, matrix, replicates=values, own=certain)

    def _drawn(self, sample: Sample | Classes, measure: Measure, seed: Any) -> tuple[F64, F64]:
        """Return estimates and replicates, of shape (n_resamples, n_models)."""
        stratified = self.stratified and sample.weight_kind != "sampling" and not measure.of_samples
        if isinstance(sample, Classes):
            values = replicates(sample, measure, stratified, self.n_resamples, seed_of(seed))
            return estimates_of(sample, measure), values
        values = replicate(sample, measure, stratified, self.n_resamples, seed_of(seed))
        return measure.estimates(sample), values


def without_variance(estimate: F64, sample: Sample | Classes, measure: Measure) -> Interval | None:
    """Return the intervals of estimates that do not vary; of several classes, the smallest is against the rest."""
    fewest, *others = np.sort(sample.effective)
    if measure.counts_pairs:
        limits, source = newcombe_limits(estimate, *per_pair((fewest, sum(others)))), "newcombe"
    else:
        least, most = measure.reachable(sample.totals) if isinstance(sample, Sample) else measure.bounds
        if not np.isfinite([least, most]).all():
            return None
        # Those of subgroups are not those of all samples.
        limits, source = of_share(estimate, fewest, (least, max(most, *estimate))), "wilson"
    return Interval(estimate, np.zeros_like(estimate), limits, "logit-delong", source=source)


def _accelerated(
    sample: Sample, measure: Measure, estimate: F64, values: F64
) -> tuple[Callable[[F64], F64], Callable[[F64], F64]]:
    """Return the map from percentiles to those corrected for bias and acceleration, and its inverse."""
    below = (values < estimate).mean(axis=0) + 0.5 * (values == estimate).mean(axis=0)
    edge = 0.5 / len(values)
    bias = Law().quantile(np.clip(below, edge, 1 - edge))
    speeds = []
    for one in sample.models():
        added, count = influence_of(one, measure), np.ones(len(one.y))
        # A frequency weight w stands for w samples, which share the influence; a sampling weight belongs to one.
        if one.weight is None or one.weight_kind != "sampling":
            count = one.weights
            for rows in (one.positive, ~one.positive):  # of classes whose totals are known
                added[rows] -= count[rows] / count[rows].sum() * added[rows].sum()
        each, count = added[count > 0], count[count > 0]
        second, third = (float((each**k / count ** (k - 1)).sum()) for k in (2, 3))
        speeds.append(third / (6 * second**1.5) if second > 0 else 0.0)
    speed, law = np.array(speeds), Law()

    def moved(tails: F64) -> F64:
        at = bias + law.quantile(tails)
        return np.asarray(law.cdf(bias + at / (1 - speed * at)))

    def back(places: F64) -> F64:
        inner = (places > 0) & (places < 1)
        at = law.quantile(np.where(inner, places, 0.5)) - bias
        with np.errstate(divide="ignore"):
            at = np.where(1 + speed * at > 0, at / (1 + speed * at), np.sign(at) * np.inf)
        return np.where(inner, law.cdf(at - bias), places)

    return moved, back
