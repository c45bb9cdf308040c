"""Scored-ROC curves: the share of pairs that are ranked correctly by more than a margin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rocmax.display._base import CurveDisplay, models_of
from rocmax.metrics import Samples, ScoredAUC, _words as words, sroc_curve


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

    >>> display = SROCDisplay.from_predictions(y, p)
    """

    _prefer = "predict_proba"

    @classmethod
    def from_samples(
        cls, samples: Samples, *, names: Sequence[str] | None = None, n_points: int = 513, **options: Any
    ) -> Self:
        """Draw the scored-ROC curves of samples.

        Parameters
        ----------
        n_points : int, default=513
            Margins at which each curve is computed.
        """
        cls._check(options)
        curves = []
        for name, one in models_of(samples, names):
            data = one.two
            margins, theta = sroc_curve(data.positive, data.score, n_points=n_points, sample_weight=data.weight)
            curves.append(ScoredCurve(name, margins, theta, float(ScoredAUC()(one))))
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

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
