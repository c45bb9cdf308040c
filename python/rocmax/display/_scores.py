"""Scores by class, with what a threshold does, and the share of pairs ranked correctly by more than a margin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocmax._checks.samples import oriented
from rocmax._parameters import check_count, shown
from rocmax._typing import F64, Axes
from rocmax.display._base import (
    DASHED,
    CurveDisplay,
    Display,
    Drawn,
    axes_of,
    ink,
    legend_name,
    looks,
    mark_name,
    marked_point,
    models_of,
)
from rocmax.metrics import OperatingPoint, Samples, ScoredAUC, _words as words, sroc_curve

_ROOM = 1.3  # height of the axes over that of the highest bar: the legend stands above the bars


class ScoreDisplay(Display):
    """Histograms of the scores of either class, each of area 1, with a threshold marked.

    Made by `from_samples`, `from_predictions` or `from_estimator`; `plot` draws again and sets `ax_` and `figure_`.

    >>> display = ScoreDisplay.from_predictions(y, p["new"], threshold=("fpr", 0.1))

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, the same for both classes.
    densities : ndarray of shape (2, n_bins)
        Densities of the negatives and of the positives.
    mark : OperatingPoint, optional
        The threshold and its rates.
    name : str
        Name of the model.
    """

    def __init__(
        self,
        edges: F64,
        densities: F64,
        *,
        mark: OperatingPoint | None = None,
        name: str = "",
        pos_label: Any = None,
    ) -> None:
        self.edges = edges
        self.densities = densities
        self.mark = mark
        self.name = name
        self.pos_label = pos_label

    @classmethod
    def from_samples(
        cls,
        samples: Samples,
        *,
        threshold: Any = None,
        bins: int = 40,
        name: str = "",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the scores of either class.

        Parameters
        ----------
        samples : Samples
            Labels and scores of one model.
        threshold : optional
            A number, or a rule of :func:`rocmax.metrics.operating_point` such as "youden", to mark.
        bins : int, default=40
            Number of bins of equal width.
        name : str, default=""
            Name of the model, for the axis.
        """
        bins = check_count("bins", bins, 100_000)
        if not isinstance(name, str):
            raise ValueError(f"name must be a text, got {shown(name)}")
        cls._check(options)
        models = models_of(samples)
        if len(models) > 1:
            raise ValueError(f"y_score must be of one model, got {len(models)}")
        ((title, one),) = models
        data, weight = one.two, one.two.weight
        mark = None if threshold is None else marked_point(one, threshold, "threshold")
        positive, scores = data.positive, oriented(np.asarray(data.score, np.float64), data.lower)  # as they were given
        if weight is not None:
            weight = weight / weight.max()  # so that their sum does not overflow
        edges = _edges(scores, bins)
        densities = np.empty((2, len(edges) - 1))
        for row, members in zip(densities, (~positive, positive), strict=True):
            counts = np.histogram(scores[members], edges, weights=None if weight is None else weight[members])[0]
            row[:] = counts / counts.sum() / np.diff(edges)
        return cls(edges, densities, mark=mark, name=name or title, pos_label=data.pos_label).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the histograms on axes, by default those of a new figure."""
        ax = axes_of(ax)
        other = bool(ax.patches)  # histograms of another display
        usual = self.pos_label is None or self.pos_label in (1, True)
        positive = "positive" if usual else f"positive ({words.label_text(self.pos_label)})"
        for label, density, style in zip(("negative", positive), self.densities, looks(ax), strict=False):
            ax.stairs(density, self.edges, fill=True, color=style["color"], alpha=0.3)
            named = f"{self.name}, {label}" if other and self.name else label
            ax.stairs(density, self.edges, label=legend_name(named), **style)
        ax.set_ylim(0.0, max(_ROOM * float(self.densities.max()), ax.get_ylim()[1] if other else 0.0))
        if self.mark is not None and np.isfinite(self.mark.threshold):
            style = {**DASHED, "color": ink(ax), "alpha": 1, "linewidth": 1.2}
            ax.axvline(self.mark.threshold, label=mark_name(self.mark), **style)
        of = f" of {self.name}" if self.name and not other else ""
        return self._done(ax, f"Score{of}", "Density in the class")

    def __repr__(self) -> str:
        mark = "" if self.mark is None else f", threshold {self.mark.threshold:.4g}"
        return f"ScoreDisplay({self.name!r}, {len(self.edges) - 1} bins{mark})"


def _edges(scores: F64, bins: int) -> F64:
    """Return the edges of bins that hold all scores."""
    low, high = float(scores.min()), float(scores.max())  # their difference may be infinite
    if high - low > 1e300:
        raise ValueError(f"y_score spans {low:g} to {high:g}, more than a plot can show; divide them by one number")
    try:
        return np.asarray(np.histogram_bin_edges(scores, bins))
    except ValueError as error:  # scores too close together for so many bins
        raise ValueError(f"bins={bins} are too many for scores from {low!r} to {high!r}") from error


@dataclass(frozen=True, repr=False)
class ScoredCurve(Drawn):
    """One model's curve: margins, theta(margin), and the area below it, sAUC."""

    margins: F64
    theta: F64
    area: float


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
