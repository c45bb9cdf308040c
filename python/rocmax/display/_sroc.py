"""Scored-ROC curves: the share of pairs that are ranked correctly by more than a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax.display._base import CurveDisplay
from rocmax.display._read import Scores
from rocmax.metrics import scored_auc_score, sroc_curve
from rocmax.metrics.results import _words as words


@dataclass(frozen=True, repr=False)
class ScoredCurve:
    """One model's curve: margins, theta(margin), and the area below it, sAUC."""

    name: str
    margins: NDArray[np.float64]
    theta: NDArray[np.float64]
    area: float

    def __repr__(self) -> str:
        return f"ScoredCurve({self.name!r}, {len(self.margins)} margins, area {self.area:.4g})"


class SROCDisplay(CurveDisplay):
    """Scored-ROC curves (Wu, Flach and Ferri 2007): theta(tau), the share of pairs with s - t > tau.

    The curve starts at the strict AUC, at margin 0, and the area below it is sAUC. Both depend on the scale of the
    scores, so compare models on one scale, usually probabilities.
    """

    _prefer = "predict_proba"

    @classmethod
    def from_predictions(cls, y_true: ArrayLike, y_score: Scores, *, n_points: int = 513, **options: Any) -> Self:
        """Draw the scored-ROC curves of scores.

        Parameters
        ----------
        y_true, y_score
            As in :meth:`ROCDisplay.from_predictions`.
        n_points : int, default=513
            Margins at which each curve is computed.
        **options
            `names`, `sample_weight`, `pos_label`, `higher_is_better` and `missing` as there, and arguments of `plot`.

        Returns
        -------
        display : SROCDisplay
        """
        of, shown = cls._read(y_true, y_score, options)
        curves = []
        for name, scores in of.scores:
            margins, theta = sroc_curve(of.positive, scores, n_points=n_points, sample_weight=of.weight)
            area = scored_auc_score(of.positive, scores, sample_weight=of.weight)
            curves.append(ScoredCurve(name, margins, theta, float(area)))
        return cls(curves, pos_label=of.pos_label).plot(**shown)

    def _label(self, curve: ScoredCurve) -> str:
        return f"{curve.name}  sAUC {words.digits(curve.area)}".strip()

    def _draw(self, ax: Any, curve: ScoredCurve, style: dict[str, Any]) -> Any:
        (line,) = ax.plot(curve.margins, curve.theta, **style)
        if len(self.curves) == 1:  # the areas of several would hide one another
            ax.fill_between(curve.margins, curve.theta, color=style["color"], alpha=0.08, linewidth=0)
        return line

    def _surround(self, ax: Any) -> tuple[str, str]:
        ax.set(xlim=(0, None), ylim=(0, 1.01))
        return "Margin τ", "Pairs ranked right\nby more than τ"
