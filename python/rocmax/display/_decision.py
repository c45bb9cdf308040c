"""Decision curves: the net benefit of acting on a model, over the threshold probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.arrays import require_unmasked
from rocmax._checks.samples import F64, check_level
from rocmax._parameters import shown
from rocmax.display._base import ProbabilityDisplay, fill, reference
from rocmax.display._read import models_of
from rocmax.metrics import NetBenefit, Samples, _words as words
from rocmax.metrics.variances._effective import effective_sizes

_GAIN = 0.05  # of the net benefit of a perfect model, which is the prevalence: where the axis may end


@dataclass(frozen=True, repr=False)
class DecisionCurve:
    """Net benefit of one model at every threshold, and the lower and upper edge of its band."""

    name: str
    thresholds: F64
    net_benefit: F64
    band: tuple[F64, F64] | None = None
    band_name: str = ""  # in the legend

    def up_to(self, n: int) -> DecisionCurve:
        """Return the curve at the first n thresholds."""
        band = None if self.band is None else (self.band[0][:n], self.band[1][:n])
        return replace(self, thresholds=self.thresholds[:n], net_benefit=self.net_benefit[:n], band=band)

    def __repr__(self) -> str:
        return f"DecisionCurve({self.name!r}, {len(self.thresholds)} thresholds)"


class DecisionCurveDisplay(ProbabilityDisplay):
    """Decision curves (Vickers and Elkin, 2006): net benefit against the threshold probability.

    At a threshold t a person acts (treats, calls, blocks) on samples whose probability is at least t, and a false
    positive costs ``t / (1 - t)`` times what a true positive gains; see :class:`rocmax.metrics.NetBenefit`. A model is
    useful where its curve lies above those of acting on everybody and of acting on nobody.

    >>> display = DecisionCurveDisplay.from_predictions(y, p, prevalence=0.1)

    Parameters
    ----------
    prevalence : float
        The share of positives, which sets the curve of acting on everybody.
    """

    def __init__(self, curves: Sequence[DecisionCurve], *, prevalence: float, pos_label: Any = None) -> None:
        super().__init__(curves, pos_label=pos_label)
        self.prevalence = prevalence

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        thresholds: ArrayLike | None = None,
        prevalence: float | None = None,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the decision curves of samples.

        Parameters
        ----------
        samples : Samples
            Labels, and probabilities of the positive class of one model or of several.
        thresholds : array-like of shape (n_thresholds,), optional
            Threshold probabilities in (0, 1), ascending; by default 0.01, 0.02, ... up to a little above the last one
            at which a model gains more than 5 % of what a perfect one does. Choose those at which people would act.
            Scores are compared with them as by :func:`rocmax.metrics.operating_point`; ``np.arange(0.01, 1, 0.01)``
            misses scores that equal its thresholds but for rounding, ``np.arange(1, 100) / 100`` does not.
        prevalence : float in (0, 1), optional
            The share of positives where the model will be used; by default that of the samples.
        confidence_level : float, optional
            Shade around every curve, at each threshold, the score interval of the net benefit at this level.
        """
        cls._check(options)
        grid = _thresholds(thresholds)
        measures = [NetBenefit(float(t), prevalence) for t in grid]
        level = None if confidence_level is None else check_level(confidence_level)
        two = cls._checked(samples)
        share = two.totals[0] / sum(two.totals) if prevalence is None else prevalence
        curves = []
        for name, one in models_of(samples, names):
            data = one.two
            sizes = [data.totals if level is None else effective_sizes(data, measure) for measure in measures]
            found = [measure.score_interval(data, size) for measure, size in zip(measures, sizes, strict=True)]
            band = None if level is None else tuple(np.hstack([each[2].at(level) for each in found]))
            band_name = "" if level is None else f"pointwise {100 * level:g} % band"
            curves.append(DecisionCurve(name, grid, np.hstack([each[0] for each in found]), band, band_name))
        if thresholds is None:
            # Beyond, the gain is that of a few samples.
            gains = np.flatnonzero(np.max([curve.net_benefit for curve in curves], axis=0) > _GAIN * share)
            n = int(1.2 * (gains[-1] if len(gains) else 0)) + 5
            curves = [curve.up_to(n) for curve in curves]
        return cls(curves, prevalence=float(share), pos_label=two.pos_label).plot(**options)

    def _label(self, curve: DecisionCurve) -> str:
        return curve.name or "model"

    def _draw(self, ax: Any, curve: DecisionCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.thresholds, curve.net_benefit, **style)
        if curve.band is not None:
            fill(ax, (curve.thresholds, *curve.band), style["color"])
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        at = self.curves[0].thresholds
        everybody = self.prevalence - (1.0 - self.prevalence) * at / (1.0 - at)
        other = f"act on everybody, prevalence {words.digits(self.prevalence)}"
        reference(ax, at, everybody, "act on everybody", other)
        reference(ax, at, np.zeros_like(at), "act on nobody", linestyle="solid")
        most = max([self.prevalence, *(float(curve.net_benefit.max()) for curve in self.curves)])
        ax.set(xlim=(min(0.0, at[0]), at[-1]), ylim=(-0.25 * most, 1.1 * most))
        return "Threshold probability", "Net benefit"


def _thresholds(given: ArrayLike | None) -> F64:
    """Return the thresholds, checked."""
    if given is None:
        return np.arange(1, 100) / 100
    require_unmasked(given, "thresholds", "leave them out")
    try:
        found = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or not ((found > 0) & (found < 1)).all() or (np.diff(found) <= 0).any():
        raise ValueError(f"thresholds must be ascending probabilities in (0, 1), got {shown(given)}")
    return found
