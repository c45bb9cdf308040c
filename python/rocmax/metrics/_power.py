"""Power and sample size of studies of one model or two, from a binormal model or a pilot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from scipy import special

from rocmax._checks.samples import check_level, number
from rocmax._parameters import as_float, check_choice, shown
from rocmax._runtime.warn import warn
from rocmax._typing import F64
from rocmax.exceptions import CoverageWarning
from rocmax.metrics._references import REFERENCES, cited
from rocmax.metrics.intervals._hypothesis import ALTERNATIVES, Hypothesis, parse_hypothesis
from rocmax.metrics.intervals._interval import FEW, Law
from rocmax.metrics.measures import as_measure
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.measures.rates import Rate
from rocmax.metrics.results._result import Planning, Unpacked
from rocmax.metrics.samples._arguments import Arguments
from rocmax.metrics.samples._reading import Plain, read, require_known
from rocmax.metrics.samples._sample import explain, require_two
from rocmax.metrics.samples._samples import Samples

_gauss = lru_cache(maxsize=16)(np.polynomial.legendre.leggauss)
_ANGLES = 40  # nodes over the correlations
_NODES = 100, 400  # over the thresholds: the least and the most
_REACH = 9.0  # standard deviations, beyond which the normal density counts as 0
_AUC = AUC()
_MOST = 1e15  # positives, of any study
_CLOSE = 1e-9  # to an AUC, or to a size in proportion
_USUAL = {"pos_label": None, "higher_is_better": True, "missing": "raise"}


class _Spread(NamedTuple):
    """Values of one model or two, and the variances of the components of either class, for two of their difference."""

    values: tuple[float, ...]
    of_positives: float
    of_negatives: float

    def at(self, ratio: float) -> float:
        """Return the variance times the number of positives, with `ratio` negatives per positive."""
        return self.of_positives + self.of_negatives / ratio


def _warn_of_few(measure: Measure, sizes: tuple[float, float]) -> None:
    """Warn if few of these positives and negatives are expected where the measure looks."""
    count, held = min(measure.limiting_sizes(sizes))
    if count < FEW and measure != _AUC:
        fact = f"the study has less power than planned: only {count:.2g} {held} are expected"
        warn(CoverageWarning(f"{fact}; plan for {FEW} or more, or simulate the study", fact))


def _shared(h: Any, k: Any, correlation: float) -> Any:
    """Return ``P(X < h, Y < k) - Phi(h) Phi(k)`` of correlated normal X and Y by Plackett's integral (1954)."""
    top, found = np.arcsin(correlation), 0.0
    nodes, weights = _gauss(_ANGLES)
    for t, weight in zip(top * (nodes + 1) / 2, weights, strict=True):
        found = found + weight * np.exp(-(h * h - 2 * np.sin(t) * h * k + k * k) / (2 * np.cos(t) ** 2))
    return top / (4 * np.pi) * found


class _Steps(NamedTuple):
    """A measure of a binormal curve; ``sum mass 1[z >= at]`` is the component of a sample with the normal score z.

    Positives come first. Where the curve lies in the ranges, the components of a class rise with the threshold by the
    density of the other class; at the threshold of a rate, by 1 for the class whose rate it is. `half` is the sum of
    the masses below, and half of the mass itself.
    """

    value: float
    at: tuple[F64, F64]
    mass: tuple[F64, F64]
    half: tuple[F64, F64]

    def variance(self, of: int) -> float:
        above = special.ndtr(-self.at[of])
        return float(2 * (self.mass[of] * self.half[of]) @ above - (self.mass[of] @ above) ** 2)

    def covariance(self, other: "_Steps", correlation: float, of: int) -> float:
        return float(self.mass[of] @ _shared(self.at[of][:, None], other.at[of], correlation) @ other.mass[of])


@lru_cache(maxsize=256)
def of_binormal(areas: tuple[float, ...], correlation: float, measure: Measure) -> _Spread:
    """Return the spread of normal scores of equal variances: integrals over thresholds, by Gauss and Legendre."""
    # The covariance has a ridge of this width; a range of thresholds is at most some 20 standard deviations wide.
    count = int(np.clip(28 / np.sqrt(1 - correlation**2), *_NODES))
    models = [_steps(float(np.sqrt(2.0) * special.ndtri(area)), measure, count) for area in areas]
    parts = [sum(one.variance(of) for one in models) for of in (0, 1)]
    if len(models) > 1:
        parts = [part - 2 * models[0].covariance(models[1], correlation, of) for of, part in enumerate(parts)]
    return _Spread(tuple(one.value for one in models), *parts)


def _steps(shift: float, measure: Measure, count: int) -> _Steps:
    """Return a measure of the curve of negatives of mean 0 and positives of mean `shift`, both of variance 1."""
    if isinstance(measure, Rate):
        cut = (shift if measure.mirrored else 0.0) - special.ndtri(measure.low)
        at, one = (np.array([cut - shift]), np.array([cut])), np.ones(1)
        slope = np.exp(at[1] * shift - shift**2 / 2)
        mass = (one / slope, one) if measure.mirrored else (one, slope)
        value = float(special.ndtr(-at[measure.mirrored][0]))
        return _Steps(value, at, mass, (mass[0] / 2, mass[1] / 2))
    (low, high), (least, most) = (getattr(measure, name, None) or (0.0, 1.0) for name in ("fpr_range", "tpr_range"))
    ends = -special.ndtri([high, low]), shift - special.ndtri([most, least])
    bottom = max(ends[0][0], ends[1][0], min(0.0, shift) - _REACH)
    top = max(min(ends[0][1], ends[1][1], max(0.0, shift) + _REACH), bottom)
    nodes, weights = _gauss(count)
    cut = bottom + (top - bottom) * (nodes + 1) / 2
    at = cut - shift, cut
    mass = tuple((top - bottom) / 2 * weights * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) for z in at[::-1])
    half = tuple(special.ndtr(z) - special.ndtr(z[0] - (cut[0] - bottom)) for z in at[::-1])
    # The area in both ranges, with the rectangle to the right of where the curve leaves the range of TPR.
    beyond = high - max(low, float(special.ndtr(-ends[1][0])))
    area = mass[0] @ (special.ndtr(-at[0]) - least) + (most - least) * max(beyond, 0.0)
    worst, best = measure.bounds
    scale = (best - worst) / ((high - low) * (most - least))
    return _Steps(worst + scale * float(area), at, *((scale * x[0], scale * x[1]) for x in (mass, half)))


def _of_pilot(function: Callable[..., Any], pilot: Any, measure: Measure, reading: Mapping[str, Any]) -> _Spread:
    """Return the spread in the samples of a pilot, with the scores of one model or two."""
    if isinstance(pilot, Samples):
        data = read(function, pilot, None, reading, Plain).two
        if data.weight is not None or data.group is not None:
            raise ValueError("pilot must be samples without sample_weight and groups")
    elif not isinstance(pilot, (tuple, list)) or len(pilot) != 2:
        wanted = "(y_true, y_score), the samples of a pilot study, or Samples"
        raise ValueError(f"pilot must be {wanted}, got {shown(pilot)}")
    else:
        given = Arguments.complete(*pilot, **reading)
        data = given._replace(names=("pilot", "pilot"), n_jobs=1).of_two_classes()
    if data.n_models > 2:
        raise ValueError(f"pilot must have the scores of one model or two, got {data.n_models}")
    explain(data)
    require_two(*data.totals, " of each class in the pilot")
    estimate, of_pos, of_neg = measure.covariance(data)
    apart: F64 = np.array([1.0, -1.0])[: data.n_models]
    n_pos, n_neg = data.totals
    parts = (float(n * apart @ part @ apart) for n, part in ((n_pos, of_pos), (n_neg, of_neg)))
    return _Spread(tuple(estimate.tolist()), *parts)


@lru_cache(maxsize=256)
def _area_of(value: float, measure: Measure) -> float:
    """Return the AUC of the binormal curve on which the measure has a value, by bisection."""
    low, high = 1e-6, 1.0 - 1e-6
    rising = not measure.lower_is_better
    for _ in range(40):
        middle = (low + high) / 2
        below = of_binormal((middle,), 0.0, measure).values[0] < value
        low, high = (middle, high) if below == rising else (low, middle)
    return (low + high) / 2


def _variance(auc: float, ratio: float) -> float:
    """Return the variance of an AUC times the number of positives, with `ratio` negatives a positive."""
    a = float(special.ndtri(auc)) * 1.414  # the paper's constants, and pROC's
    return float(0.0099 * np.exp(-(a**2) / 2) * ((5 * a**2 + 8) + (a**2 + 8) / ratio))


class _Plan(NamedTuple):
    """A test, what is true, and how its estimate varies."""

    measure: Measure
    values: tuple[float, ...]  # the true ones of one model or two
    hypothesis: Hypothesis
    z: float  # critical value of each one-sided test
    spread: Callable[[float], float]  # variance at a value, times the number of positives
    bounds: tuple[float, float]  # of the estimate

    @property
    def truth(self) -> float:
        """The value of one model, or the difference of two."""
        return self.values[0] - sum(self.values[1:])

    @property
    def side(self) -> int:
        """Direction of the test of one null value: of the truth, unless the alternative has one."""
        return self.hypothesis.side or (1 if self.truth >= self.hypothesis.null else -1)

    def rejects(self, n_pos: float, side: int, limit: float) -> float:
        """Return the probability that the estimate lies significantly above (side 1) or below (-1) a limit."""
        if not self.bounds[0] < limit < self.bounds[1]:
            return 1.0  # no estimate reaches it
        distance = np.sqrt(n_pos) * side * (self.truth - limit) - self.z * np.sqrt(self.spread(limit))
        return float(Law().cdf(distance / np.sqrt(self.spread(self.truth))))

    def power(self, n_pos: float) -> float:
        null, margin = self.hypothesis.limit, self.hypothesis.margin
        if margin is None or self.hypothesis.side:
            return self.rejects(n_pos, self.side, null)
        return max(self.rejects(n_pos, 1, null - margin) + self.rejects(n_pos, -1, null + margin) - 1, 0.0)


def _closed(
    auc: Any, auc_b: Any, correlation: Any, hypothesis: Hypothesis, ratio: float
) -> tuple[tuple[float, ...], Callable[[float], float]]:
    """Return the true values, and the variance as a function of the value, for AUCs of a binormal model."""
    if auc_b is None:
        null, margin = hypothesis.limit, hypothesis.margin or 0
        ends = {"less": (0.0, null), "equivalence": (max(null - margin, 0.0), min(null + margin, 1.0))}
        low, high = ends.get(hypothesis.alternative, (null, 1.0))
        auc = number(auc, "auc", f"in ({low:g}, {high:g})", lambda value: low < value < high)
        return (auc,), lambda value: _variance(value, ratio)
    areas, r = _models(auc, auc_b, correlation)
    a, b = special.ndtri(sorted(areas))
    both = float(_shared(a, a, 0.5) + _shared(b, b, 0.5) - 2 * _shared(a, b, r / 2))
    return areas, lambda _: both * (1 + 1 / ratio)


def _by_parts(
    auc: Any, auc_b: Any, correlation: Any, measure: Measure, pilot: _Spread | None, ratio: float
) -> tuple[tuple[float, ...], Callable[[float], float]]:
    """Return the same by the components of the measure."""
    if pilot is not None:
        found = pilot
    else:
        areas, r = _models(auc, auc_b, correlation)
        found = of_binormal(tuple(sorted(areas)), r, measure)
        if areas != tuple(sorted(areas)):
            found = found._replace(values=found.values[::-1])
    if found.at(ratio) <= 0:
        if pilot is None:
            raise ValueError(f"the binormal curve of auc={auc!r} lies outside of {measure}: no variance")
        raise ValueError("the samples of pilot have no variance: take a pilot whose classes overlap")

    def spread(value: float) -> float:
        if auc_b is not None or pilot is not None or (value,) == found.values:
            return found.at(ratio)
        return of_binormal((_area_of(value, measure),), 0.0, measure).at(ratio)

    return found.values, spread


def _models(auc: Any, auc_b: Any, correlation: Any) -> tuple[tuple[float, ...], float]:
    areas = [check_level(area, name) for name, area in (("auc", auc), ("auc_b", auc_b)) if area is not None]
    r = 0.0 if correlation is None else number(correlation, "correlation", "in (-1, 1)", lambda r: -1.0 < r < 1.0)
    return tuple(areas), r


def _planned(
    function: Callable[..., Any],
    measure: Any,
    pilot: Any,
    reading: Mapping[str, Any],
    truth: tuple[Any, Any, Any],
    test: tuple[Any, Any, Any, Any],
    ratio: float,
) -> _Plan:
    """Check the true values, given in one way, and the options of the test; plan for `ratio` negatives per positive."""
    require_known(function, reading, Plain.__annotations__)
    measure = as_measure(measure)
    # Their components have the same variances at any prevalence.
    if not (isinstance(measure, (AUC, PartialAUC, Rate)) and measure.multi_class == "raise"):
        raise ValueError(
            "measure must be AUC(), PartialAUC(...), TPRAtFPR(...) or FPRAtTPR(...) of two classes, got"
            f" measure={measure!r}"
        )
    if isinstance(measure, Rate) and measure.at_edge:
        reason = measure.refusal((1.0, 1.0))
        raise ValueError(f"measure={measure!r} has no test to plan: {reason}; plan for a less extreme rate")
    auc, auc_b, correlation = truth
    of_pilot, several = None, auc_b is not None
    if pilot is not None:
        if any(given is not None for given in truth):
            raise ValueError("pass pilot or auc, not both: the samples of pilot have their own values and correlation")
        of_pilot = _of_pilot(function, pilot, measure, reading)
        several = len(of_pilot.values) > 1
    elif auc is None:
        raise ValueError("pass auc, the true AUC, or pilot=(y_true, y_score)")
    elif any(value is not _USUAL[name] for name, value in reading.items()):
        raise ValueError("pos_label, higher_is_better and missing apply to the samples of pilot: pass pilot")
    null_value, margin, significance_level, alternative = test
    level = check_level(significance_level, "significance_level")
    check_choice("alternative", alternative, (*ALTERNATIVES, "one-sided"))
    hypothesis = parse_hypothesis("two-sided" if alternative == "one-sided" else alternative, margin, measure)
    z = float(Law().quantile(1 - (level / 2 if alternative == "two-sided" else level)))
    low, high = measure.bounds
    if several:
        if null_value is not None:
            raise ValueError("null_value applies to one model, not to the difference of two")
        low, high = low - high, high - low
    else:
        if correlation is not None:
            raise ValueError("correlation applies to two models: pass auc_b")
        null = measure.chance((1.0, ratio)) if null_value is None else null_value
        null = number(null, "null_value", f"in ({low:g}, {high:g})", lambda value: low < value < high)
        hypothesis = hypothesis._replace(null=null)
    if of_pilot is None and measure == _AUC:
        values, spread = _closed(*truth, hypothesis, ratio)
    else:
        values, spread = _by_parts(*truth, measure, of_pilot, ratio)
    return _Plan(measure, values, hypothesis, z, spread, (low, high))


@cited("obuchowski-size")
def auc_power(
    auc: float | None = None,
    *,
    n_pos: float,
    n_neg: float,
    auc_b: float | None = None,
    correlation: float | None = None,
    measure: Measure | str = "auc",
    pilot: Any = None,
    null_value: float | None = None,
    margin: float | None = None,
    significance_level: float = 0.05,
    alternative: Literal["two-sided", "greater", "non-inferiority"] = "two-sided",
    **reading: Unpack[Plain],
) -> float:
    """Return the power of a test of an AUC, a partial AUC or a rate against a value, or of a difference of two.

    Use it before a study; :func:`auc_sample_size` returns the number of samples for a power.

    >>> from rocmax.metrics import auc_power
    >>> round(auc_power(0.65, n_pos=30, n_neg=30), 6)
    0.542449
    >>> no_worse = {"margin": 0.05, "alternative": "non-inferiority"}
    >>> round(auc_power(0.8, auc_b=0.8, correlation=0.6, n_pos=150, n_neg=150, **no_worse), 3)
    0.68

    The difference of partial areas:

    >>> from rocmax.metrics import PartialAUC
    >>> two = {"auc_b": 0.8, "correlation": 0.5, "measure": PartialAUC((0, 0.2))}
    >>> round(auc_power(0.9, n_pos=100, n_neg=100, **two), 2)
    0.84

    Parameters
    ----------
    auc : float, default=None
        The true AUC of the (first) model, also where another measure is tested; required without `pilot`. An AUC that
        is tested against a value must lie in the alternative.
    n_pos, n_neg : float
        Number of positives and of negatives.
    auc_b : float in (0, 1), default=None
        The true AUC of a second model; None for a test of one model against `null_value`.
    correlation : float in (-1, 1), default=None
        Correlation of the scores of two models on the same samples, within either class. None if each model has
        `n_pos` and `n_neg` samples of its own.
    measure : Measure or str, default="auc"
        What is tested: :class:`AUC`, :class:`PartialAUC`, :class:`TPRAtFPR` or :class:`FPRAtTPR`, of two classes.
    pilot : Samples or (y_true, y_score), default=None
        A pilot study, in place of a binormal model, without weights and groups: the scores of one model, or of two as
        columns, a mapping or a frame. The values in the pilot are taken as the true ones.
    null_value : float, default=None
        The value that one model is tested against. None is the value of a constant score: 0.5 for the AUC.
    margin : float, default=None
        For "non-inferiority" and "equivalence": the largest difference from `auc_b` or the null value that does not
        matter, above 0.
    significance_level : float, default=0.05
        Probability of rejecting a true null, for equivalence of each of the two one-sided tests. For non-inferiority
        regulators ask for 0.025.
    alternative : {"two-sided", "one-sided", "less", "greater", "non-inferiority", "equivalence"}, default="two-sided"
        Two-sided tests have half the level on either side, and only rejections in the direction of `auc` count;
        "one-sided" tests have the whole level on that side.
    **reading
        `pos_label`, `higher_is_better` and `missing`, as of :class:`Samples`, for a pilot of arrays.

    Returns
    -------
    float
        The power, in [0, 1].

    Warns
    -----
    CoverageWarning
        If fewer than five samples of a class are expected in the range, or beyond the threshold of a rate: where a
        power of 0.8 is planned with two, about 0.55 is simulated.

    Notes
    -----
    One model: ``Phi((sqrt(m) (A - A0) - z sqrt(V(A0))) / sqrt(V(A)))`` with m positives, n negatives, A0 the null
    value, z the normal quantile of the level, and V m times the variance under a binormal model with equal variances,
    ``0.0099 exp(-a^2/2) (5a^2 + 8 + (a^2 + 8) m/n)``, ``a = 1.414 Phi^-1(A)`` [1]_.

    Two models: ``Phi((A - B + d) / s - z)``, d the margin of non-inferiority or 0, under the same model:
    ``s^2 = (c(A, A, 1/2) + c(B, B, 1/2) - 2 c(A, B, r/2)) (1/m + 1/n)``, r the correlation of the models' scores within
    the classes and ``c(A, B, r) = P(X < Phi^-1(A), Y < Phi^-1(B)) - A B`` for normal X and Y of correlation r: the
    variances and the covariance that DeLong's method estimates.

    Other measures and pilots: the same with ``V = S10 + S01 m/n``, the variances of the components of either class as
    in :func:`infer`, in the samples of the pilot, or under the binormal model: integrals over thresholds, by
    Gauss-Legendre quadrature. Exchanging A and B changes nothing. Simulated power differs from it by a few percent
    (``benches/python/power.py``).
    """
    n_pos = number(n_pos, "n_pos", "from 1 to 1e15", lambda value: 1 <= value <= _MOST)
    n_neg = number(n_neg, "n_neg", "from 1 to 1e15", lambda value: 1 <= value <= _MOST)
    test = null_value, margin, significance_level, alternative
    plan = _planned(auc_power, measure, pilot, reading, (auc, auc_b, correlation), test, n_neg / n_pos)
    power = plan.power(n_pos)
    _warn_of_few(plan.measure, (n_pos, n_neg))
    return power


@dataclass(frozen=True, repr=False, eq=False)
class SampleSize(Planning, Unpacked):
    """Numbers of samples that a power needs; these two can be unpacked as a tuple.

    Attributes
    ----------
    n_pos, n_neg : float
        The numbers, to be rounded up.
    auc, power, significance_level, alternative, auc_b, correlation, null, margin, measure
        As in :func:`auc_sample_size`. `null` is the null value, for two models a difference of 0; `auc` and `auc_b`
        are the true values of the measure.
    is_paired, from_pilot : bool
        Whether two models score the same samples, and whether the variances are those of a pilot.
    """

    n_unpacked = 2

    n_pos: float
    n_neg: float
    auc: float = np.nan
    power: float = np.nan
    significance_level: float = 0.05
    alternative: str = "two-sided"
    auc_b: float | None = None
    correlation: float | None = None
    null: float = 0.5
    margin: float | None = None
    measure: Measure = _AUC
    is_paired: bool = False
    from_pilot: bool = False

    def _lines(self) -> list[str]:
        n_pos, n_neg = (max(1, int(np.ceil(count))) for count in (self.n_pos, self.n_neg))
        article = "an" if str(self.measure).startswith(("AUC", "FPR")) else "a"
        null = "1/2" if self.null == 0.5 else f"{self.null:g}"
        claim = self._claim(null if self.auc_b is None else f"one of {self.auc_b:.3g}")
        own = " of each model" if self.auc_b is not None and not self.is_paired else ""
        enough = f"{n_pos:,} positive and {n_neg:,} negative samples{own} are enough to show that"
        return [f"{enough} {article} {self.measure} of {self.auc:.3g} {claim}"]

    def _basis(self) -> list[str]:
        model = ["variances of the pilot"] if self.from_pilot else []
        return [self._power(f"{self.power:g}"), *model, *(REFERENCES[source].short for source in self._sources())]

    def _sources(self) -> tuple[str, ...]:
        if self.measure == _AUC and not self.from_pilot:
            return ("obuchowski-size",) if self.auc_b is None else ("delong",)
        return (self.measure.reference,)


def auc_sample_size(
    auc: float | None = None,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    auc_b: float | None = None,
    correlation: float | None = None,
    measure: Measure | str = "auc",
    pilot: Any = None,
    null_value: float | None = None,
    margin: float | None = None,
    significance_level: float = 0.05,
    alternative: Literal["two-sided", "greater", "non-inferiority"] = "two-sided",
    **reading: Unpack[Plain],
) -> SampleSize:
    """Return the numbers of samples with which the test of :func:`auc_power` has a given power.

    Use it before a study; the result prints as a sentence for the protocol.

    >>> from rocmax.metrics import auc_sample_size
    >>> round(auc_sample_size(0.75, power=0.9).n_pos, 2)
    25.02
    >>> from rocmax.metrics import TPRAtFPR
    >>> tuple(map(round, auc_sample_size(0.9, auc_b=0.8, correlation=0.5, measure=TPRAtFPR(0.1), power=0.8)))
    (128, 128)
    >>> print(auc_sample_size(0.8, power=0.9))
    17 positive and 17 negative samples are enough to show that an AUC of 0.8 differs from 1/2
    power 0.9 at the two-sided level 0.05; Obuchowski et al. 2004

    Parameters
    ----------
    auc, auc_b, correlation, measure, pilot, null_value, margin : optional
        As in :func:`auc_power`.
    significance_level, alternative, **reading : optional
        As in :func:`auc_power`.
    power : float in (0, 1), default=0.8
        Probability that the test rejects the null.
    ratio : float, default=1.0
        Number of negatives per positive.

    Returns
    -------
    SampleSize
        `n_pos` and `n_neg`, to be rounded up; for each model if two have samples of their own.

    Warns
    -----
    CoverageWarning
        As :func:`auc_power`, for these numbers of samples.

    Notes
    -----
    ``m = (z sqrt(V(A0)) + Phi^-1(power) sqrt(V(A)))^2 / (A - A0)^2`` positives and ``ratio * m`` negatives, with the
    symbols of :func:`auc_power`; for equivalence by bisection.
    """
    power = check_level(power, "power")
    # Beyond these no study can have it.
    ratio = number(ratio, "ratio", "from 1e-15 to 1e15", lambda value: 1 / _MOST <= value <= _MOST)
    test = null_value, margin, significance_level, alternative
    plan = _planned(auc_sample_size, measure, pilot, reading, (auc, auc_b, correlation), test, ratio)
    hypothesis = plan.hypothesis
    limit, of_one = hypothesis.limit, hypothesis.margin is None or hypothesis.side
    apart = plan.side * (plan.truth - limit)
    reach = apart if of_one else (hypothesis.margin or 0.0) - abs(apart)
    if reach <= 0:
        of = f"alternative={alternative!r} with null_value={hypothesis.null:g} and margin={shown(margin)}"
        raise ValueError(f"the true value {plan.truth:.4g} is not in {of}: no number of samples shows it")
    if of_one:
        at_null, at_truth = (np.sqrt(plan.spread(value)) for value in (limit, plan.truth))
        needed = plan.z * at_null + float(Law().quantile(power)) * at_truth
        n_pos = float(max(needed, 0.0) ** 2 / (plan.truth - limit) ** 2)
    else:
        high = next((2.0**k for k in range(50) if plan.power(2.0**k) >= power), np.inf)  # up to _MOST
        n_pos = _least(lambda count: plan.power(count) >= power, high // 2, high)
    if not n_pos <= _MOST:
        near = f"the true value {plan.truth:.4g} is only {reach:.2g} inside {alternative=}"
        raise ValueError(f"no study of 1e15 positives has {power=:g} at {significance_level=:g}: {near}")
    _warn_of_few(plan.measure, (n_pos, ratio * n_pos))
    first, *second = plan.values
    return SampleSize(
        n_pos,
        ratio * n_pos,
        auc=first,
        power=power,
        significance_level=significance_level,
        alternative=alternative,
        auc_b=second[0] if second else None,
        correlation=correlation,
        null=hypothesis.null,
        margin=hypothesis.margin,
        measure=plan.measure,
        is_paired=pilot is not None or correlation is not None,
        from_pilot=pilot is not None,
    )


def detectable_auc(
    *,
    n_pos: float,
    n_neg: float,
    power: float = 0.8,
    auc_b: float | None = None,
    correlation: float | None = None,
    null_value: float | None = None,
    margin: float | None = None,
    significance_level: float = 0.05,
    alternative: Literal["two-sided", "greater", "non-inferiority"] = "two-sided",
) -> float:
    """Return the least AUC that the test of :func:`auc_power` detects with a given power.

    Use it when the number of samples is given. By bisection.

    >>> from rocmax.metrics import detectable_auc
    >>> round(detectable_auc(n_pos=30, n_neg=30, power=0.8), 3)
    0.701
    >>> round(detectable_auc(n_pos=150, n_neg=150, auc_b=0.8, correlation=0.6), 3)
    0.862

    Parameters
    ----------
    n_pos, n_neg, auc_b, correlation, null_value, margin, significance_level
        As in :func:`auc_power`; `auc_b` is the model to compare with.
    power : float in (0, 1), default=0.8
        Probability that the test rejects the null.
    alternative : {"two-sided", "greater", "non-inferiority"}, default="two-sided"
        As in :func:`auc_power`.

    Returns
    -------
    float
        The AUC, within 1e-9.
    """
    power = check_level(power, "power")
    check_choice("alternative", alternative, ("two-sided", "greater", "non-inferiority"))
    test: dict[str, Any] = {"n_pos": n_pos, "n_neg": n_neg, "auc_b": auc_b, "correlation": correlation}
    test |= {"null_value": null_value, "margin": margin, "significance_level": significance_level}

    def reached(auc: float) -> bool:
        return auc_power(auc, **test, alternative=alternative) >= power

    high = 1.0 - _CLOSE
    detected = reached(high)  # checks the arguments
    null = (0.5 if null_value is None else null_value) if auc_b is None else auc_b
    low = max(as_float(null) - as_float(margin or 0.0), _CLOSE)
    if not detected or not low < high:
        raise ValueError(f"no AUC below 1 is detected with power={power:g}: take more samples than n_pos={n_pos!r}")
    return _least(reached, low, high)


def _least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least number between two for which a condition holds that holds for all greater ones, by bisection."""
    while high - low > _CLOSE * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
