"""Power and sample size of studies of one model or two, from a binormal model or a pilot."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

from rocmax._checks.samples import check_level, number
from rocmax._parameters import as_float, check_choice
from rocmax.metrics.intervals._interval import Law
from rocmax.metrics.measures.auc import AUC
from rocmax.metrics.measures.base import Measure
from rocmax.metrics.power._plans import study_plan, warn_of_few
from rocmax.metrics.results._references import REFERENCES
from rocmax.metrics.results._result import Planning, Unpacked
from rocmax.metrics.samples._reading import Plain

_AUC = AUC()
_MOST = 1e15  # positives, of any study
_CLOSE = 1e-9  # to an AUC


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

    References
    ----------
    .. [1] N. A. Obuchowski, M. L. Lieber and F. H. Wians, "ROC curves in clinical chemistry: uses,
       misuses, and possible solutions", Clinical Chemistry 50, 2004.
       :doi:`10.1373/clinchem.2004.031823`
    """
    n_pos, n_neg = (
        number(count, name, "from 1 to 1e15", lambda value: 1 <= value <= _MOST)
        for name, count in (("n_pos", n_pos), ("n_neg", n_neg))
    )
    test = null_value, margin, significance_level, alternative
    study = study_plan(auc_power, measure, pilot, reading, auc, auc_b, correlation, *test)
    power = study.plan(n_neg / n_pos).power(n_pos)
    warn_of_few(study.measure, (n_pos, n_neg))
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

    def _whole(self) -> tuple[int, int]:
        """Return the numbers of samples, rounded up."""
        return max(1, int(np.ceil(self.n_pos))), max(1, int(np.ceil(self.n_neg)))

    def _lines(self) -> list[str]:
        n_pos, n_neg = self._whole()
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
        if self.measure == AUC() and not self.from_pilot:
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
    ratio = number(ratio, "ratio", "above 0", lambda value: 0.0 < value < np.inf)
    if not 1 / _MOST <= ratio <= _MOST:
        raise ValueError(f"ratio must be a number above 0 that a study can have, 1e-15 to 1e15, got {ratio!r}")
    test = null_value, margin, significance_level, alternative
    study = study_plan(auc_sample_size, measure, pilot, reading, auc, auc_b, correlation, *test)
    plan = study.plan(ratio)
    hypothesis = plan.hypothesis
    limit, of_one = hypothesis.limit, hypothesis.margin is None or hypothesis.side
    apart = plan.side * (plan.truth - limit)
    reach = apart if of_one else (hypothesis.margin or 0.0) - abs(apart)
    if reach <= 0:
        found, null = f"{study.measure} of {plan.truth:.4g}", f" to {hypothesis.null:g}"
        if study.auc_b is not None:
            found, null = f"the difference {plan.truth:.4g} of auc={auc!r} and auc_b={auc_b!r}", ""
        within = "" if margin is None else f" with margin={margin:g}"
        raise ValueError(f"{found} is not in alternative={alternative!r}{null}{within}: no number of samples shows it")
    if of_one:
        at_null, at_truth = (np.sqrt(plan.spread(value)) for value in (limit, plan.truth))
        needed = plan.z * at_null + float(Law().quantile(power)) * at_truth
        n_pos = float(max(needed, 0.0) ** 2 / (plan.truth - limit) ** 2)
        if not n_pos <= _MOST:
            raise ValueError(
                f"no study of 1e15 positives has that power: {plan.truth:.4g} is {apart:.2g} from {limit:g}, "
                f"at significance_level={significance_level:g}"
            )
    else:
        n_pos = _least(lambda count: plan.power(count) >= power)
    warn_of_few(study.measure, (n_pos, ratio * n_pos))
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
        measure=study.measure,
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
    test = {"n_pos": n_pos, "n_neg": n_neg, "auc_b": auc_b, "correlation": correlation, "null_value": null_value}

    def reached(auc: float) -> bool:
        how = {"margin": margin, "significance_level": significance_level, "alternative": alternative}
        return auc_power(auc, **test, **how) >= power  # type: ignore[arg-type]

    high = 1.0 - _CLOSE
    detected = reached(high)  # checks the arguments
    null = (0.5 if null_value is None else null_value) if auc_b is None else auc_b
    low = max(as_float(null) - as_float(margin or 0.0), _CLOSE)
    if not detected or not low < high:
        raise ValueError(f"no AUC below 1 is detected with power={power:g}: take more samples than n_pos={n_pos!r}")
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _least(holds: Callable[[float], bool]) -> float:
    """Return the least number for which a condition holds that holds for all greater ones."""
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError("no study of 1e15 positives has that power; take a wider margin")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
