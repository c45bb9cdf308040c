"""Precision-recall curves of one or several models, with bands and the line of the prevalence."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.display._base import CurveDisplay, fill, models_of, reference
from rocmax.display._roc import Band
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AveragePrecision, FPRAtTPR, Samples, _words as words, infer
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._sample import has_variance

_GRID_SIZE = 100


@dataclass(frozen=True, repr=False)
class PrecisionRecallCurve:
    """One model's curve.

    Points are in ascending order of recall; between two of them the precision is that of the second. `band` holds
    recalls and the lower and upper edge there, `interval` is that of the average precision.
    """

    name: str
    recall: F64
    precision: F64
    average_precision: float
    prevalence: float  # the precision of a random ranking
    band: Band | None = None
    interval: tuple[float, float] | None = None
    band_name: str = ""  # in the legend

    def __repr__(self) -> str:
        points = f"{len(self.recall)} points"
        return f"PrecisionRecallCurve({self.name!r}, {points}, average precision {self.average_precision:.4f})"


class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves of one or several models, with bands if wanted.

    A ranking at random has the precision of the dashed line, the prevalence, at every recall. Between two scores the
    curve is a step: no threshold has the precisions of a straight line there.

    >>> display = PrecisionRecallDisplay.from_predictions(y, p, confidence_level=0.95)
    """

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        names: Sequence[str] | None = None,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the precision-recall curves of samples.

        Parameters
        ----------
        confidence_level : float, optional
            Shade a pointwise band of this level around every curve, and give intervals of the average precision in the
            legend. At a recall r the precision is ``pi r / (pi r + (1 - pi) FPR)``, with pi the share of positives and
            FPR the false positive rate at r; its limits follow from those of the FPR (:class:`rocmax.metrics.FPRAtTPR`,
            method "score"). At most 100 recalls, O(n log n) for each.
        """
        cls._check(options)
        curves = []
        for name, one in models_of(samples, names):
            data, estimate = one.two, AveragePrecision()
            precision, recall, _ = data.curve().points(True, False)
            points, prevalence = (recall[::-1], precision[::-1]), float(precision[0])
            few = not has_variance(min(data.counted))
            if few and confidence_level is not None:
                fact = f"a class has {min(data.counted):g} sample: the curve is drawn without intervals, which need two"
                warn(CoverageWarning(fact))
            if few or confidence_level is None:
                average = float(estimate.estimates(data)[0])
                curves.append(PrecisionRecallCurve(name, *points, average, prevalence))
                continue
            warn_unless_counts(samples.weight_kind, data.weight)
            found = infer(one, estimate, confidence_level=confidence_level)
            band = _band(one, confidence_level, recall, prevalence), found.confidence_interval
            band_name = f"pointwise {100 * confidence_level:g} % band"
            curves.append(PrecisionRecallCurve(name, *points, found.estimate, prevalence, *band, band_name))
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

    def _label(self, curve: PrecisionRecallCurve) -> str:
        return f"{curve.name}  AP {words.bracketed(curve.average_precision, curve.interval)}".strip()

    def _look(self, ax: Any, curve: PrecisionRecallCurve) -> dict[str, Any]:
        return {"drawstyle": "steps-pre"}

    def _draw(self, ax: Any, curve: PrecisionRecallCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.recall, curve.precision, **style)
        if curve.band is not None:
            fill(ax, curve.band, style["color"])
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        for prevalence in dict.fromkeys(curve.prevalence for curve in self.curves):
            reference(ax, [0.0, 1.0], [prevalence] * 2, f"prevalence {words.digits(prevalence)}")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        return "Recall", "Precision"


def _band(samples: Samples, level: float, recall: F64, prevalence: float) -> Band | None:
    """Return recalls below 1 that the curve reaches, and the limits of the precision there."""
    reached = np.unique(recall[(recall > 0) & (recall < 1)])
    if not len(reached):
        return None
    grid = reached[np.unique(np.linspace(0, len(reached) - 1, _GRID_SIZE).astype(int))]
    with warnings.catch_warnings():
        # At the ends of the curve: measured, and shown as wide limits.
        warnings.simplefilter("ignore", CoverageWarning)
        warnings.simplefilter("ignore", BelowChanceWarning)  # the average precision warns, once
        found = [infer(samples, FPRAtTPR(at), method="score", confidence_level=level) for at in grid.tolist()]
    positive, limits = prevalence * grid, np.array([one.confidence_interval for one in found])
    above, below = positive / (positive + (1.0 - prevalence) * limits.T)
    return grid, below, above
