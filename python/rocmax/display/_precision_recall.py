"""Precision-recall curves of one or several models, with bands and the line of the prevalence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import F64
from rocmax._runtime.warn import warn
from rocmax.display._base import CurveDisplay, fill, reference
from rocmax.display._curves import Band
from rocmax.display._read import Scores
from rocmax.exceptions import BelowChanceWarning, CoverageWarning
from rocmax.metrics import AveragePrecision, FPRAtTPR, Inference, infer, precision_recall_curve
from rocmax.metrics.results import _words as words
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

    def __repr__(self) -> str:
        points = f"{len(self.recall)} points"
        return f"PrecisionRecallCurve({self.name!r}, {points}, average precision {self.average_precision:.4f})"


class PrecisionRecallDisplay(CurveDisplay):
    """Precision-recall curves of one or several models, with bands if wanted.

    A ranking at random has the precision of the dashed line, the prevalence, at every recall. Between two scores the
    curve is a step: no threshold has the precisions of a straight line there.
    """

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Scores,
        *,
        confidence_level: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw the precision-recall curves of scores.

        Parameters
        ----------
        y_true, y_score
            As in :meth:`ROCDisplay.from_predictions`.
        confidence_level : float, optional
            Shade a pointwise band of this level around every curve, and give intervals of the average precision in the
            legend. At a recall r the precision is ``pi r / (pi r + (1 - pi) FPR)``, with pi the share of positives and
            FPR the false positive rate at r; its limits follow from those of the FPR (:class:`rocmax.metrics.FPRAtTPR`,
            method "score"). At most 100 recalls, O(n log n) for each.
        **options
            `names`, `sample_weight`, `pos_label`, `higher_is_better` and `missing` as there, and arguments of `plot`.

        Returns
        -------
        display : PrecisionRecallDisplay
        """
        of, shown = cls._read(y_true, y_score, options)
        curves = []
        for name, scores in of.scores:
            precision, recall, _ = precision_recall_curve(of.positive, scores, sample_weight=of.weight)
            points, prevalence = (recall[::-1], precision[::-1]), float(precision[0])
            weights = np.ones(len(scores)) if of.weight is None else of.weight
            sizes = [float(weights[rows].sum()) for rows in (of.positive, ~of.positive)]
            few = not has_variance(min(sizes))
            if few and confidence_level is not None:
                fact = f"a class has {min(sizes):g} sample: the curve is drawn without intervals, which need two"
                warn(CoverageWarning(fact))
            if few or confidence_level is None:
                average = AveragePrecision()(of.positive, scores, of.weight)
                curves.append(PrecisionRecallCurve(name, *points, float(average), prevalence))
                continue
            read = partial(infer, of.positive, scores, sample_weight=of.weight, confidence_level=confidence_level)
            found = read(AveragePrecision())
            band = _band(read, recall, prevalence)
            curves.append(
                PrecisionRecallCurve(name, *points, found.estimate, prevalence, band, found.confidence_interval)
            )
        return cls(curves, pos_label=of.pos_label).plot(**shown)

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


def _band(read: Callable[..., Inference], recall: F64, prevalence: float) -> Band | None:
    """Return recalls below 1 that the curve reaches, and the limits of the precision there."""
    reached = np.unique(recall[(recall > 0) & (recall < 1)])
    if not len(reached):
        return None
    grid = reached[np.unique(np.linspace(0, len(reached) - 1, _GRID_SIZE).astype(int))]
    with warnings.catch_warnings():
        # At the ends of the curve: measured, and shown as wide limits.
        warnings.simplefilter("ignore", CoverageWarning)
        warnings.simplefilter("ignore", BelowChanceWarning)  # the average precision warns, once
        found = np.array([read(FPRAtTPR(float(at)), method="score").confidence_interval for at in grid])
    positive = prevalence * grid
    above, below = positive / (positive + (1.0 - prevalence) * found.T)
    return grid, below, above
