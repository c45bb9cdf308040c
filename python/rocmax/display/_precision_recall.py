"""Precision-recall curves of one or several models, with bands and the line of the prevalence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import F64
from rocmax.display._base import DASHED, CurveDisplay, fill, ink, look
from rocmax.display._curves import GRID_SIZE, Band, need_two, percentile_band, resamples_of
from rocmax.display._read import Scores
from rocmax.metrics import AveragePrecision, infer, precision_recall_curve
from rocmax.metrics.results import _words as words


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
    """Precision-recall curves of one or several models, with bootstrap bands if wanted.

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
        n_resamples: int = 500,
        random_state: int | None = 0,
        **options: Any,
    ) -> Self:
        """Draw the precision-recall curves of scores.

        Parameters
        ----------
        y_true, y_score, n_resamples, random_state
            As in :meth:`ROCDisplay.from_predictions`.
        confidence_level : float, optional
            Shade a pointwise band of this level around every curve, by stratified bootstrap resamples; the legend then
            gives intervals of the average precision, by :func:`rocmax.metrics.infer`. O(n_resamples * n_samples).
        **options
            `names`, `sample_weight`, `pos_label`, `higher_is_better` and `missing` as there, and arguments of `plot`.

        Returns
        -------
        display : PrecisionRecallDisplay
        """
        how = resamples_of(confidence_level, n_resamples, random_state, options.get("sample_weight"))
        of, shown = cls._read(y_true, y_score, options)
        need_two(of.positive, how)
        curves = []
        for name, scores in of.scores:
            precision, recall, _ = precision_recall_curve(of.positive, scores, sample_weight=of.weight)
            band = interval = None
            if how is not None:
                grid = np.linspace(0.0, 1.0, GRID_SIZE)
                grid[0] = 0.5 / of.positive.sum()  # at a recall of 0 nothing is called positive
                band = percentile_band(of.positive, scores, grid, how, _precision_at)
                found = infer(of.positive, scores, AveragePrecision(), confidence_level=how.level)
                average, interval = found.estimate, found.confidence_interval
            else:
                average = AveragePrecision()(of.positive, scores, of.weight)
            points = recall[::-1], precision[::-1]
            curves.append(PrecisionRecallCurve(name, *points, float(average), float(precision[0]), band, interval))
        return cls(curves, pos_label=of.pos_label).plot(**shown)

    def _label(self, curve: PrecisionRecallCurve) -> str:
        return f"{curve.name}  AP {words.bracketed(curve.average_precision, curve.interval)}".strip()

    def _look(self, ax: Any, k: int) -> dict[str, Any]:
        return {**look(k), "drawstyle": "steps-pre"}

    def _draw(self, ax: Any, curve: PrecisionRecallCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.recall, curve.precision, **style)
        if curve.band is not None:
            fill(ax, curve.band, style["color"])
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        for prevalence in dict.fromkeys(curve.prevalence for curve in self.curves):
            label = f"prevalence {words.digits(prevalence)}"
            ax.plot([0.0, 1.0], [prevalence] * 2, label=label, color=ink(ax), **DASHED)
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        return "Recall", "Precision"


def _precision_at(tps: Any, fps: Any, grid: F64) -> F64:
    """Return the precision at the recalls of a grid."""
    at = np.searchsorted(tps, grid * tps[-1] - 1e-9)
    return np.asarray(tps[at] / (tps[at] + fps[at]))
