"""Scored-ROC curves: how much of the AUC survives when a margin is asked of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax.display._common import (
    Scores,
    axes_of,
    dress,
    in_memory,
    is_positive,
    legend_name,
    look,
    name_curves,
    named_scores,
    of_estimators,
)
from rocmax.metrics import _words as words
from rocmax.metrics import scored_auc_score, sroc_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class ScoredCurve:
    """One model's curve: margins, theta(margin), and the area below it, sAUC."""

    name: str
    margins: NDArray[np.float64]
    theta: NDArray[np.float64]
    area: float

    def __repr__(self) -> str:
        return f"ScoredCurve({self.name!r}, {len(self.margins)} margins, area {self.area:.4g})"


class SROCDisplay:
    """Scored-ROC curves (Wu, Flach and Ferri 2007): theta(tau), the share of pairs with s - t > tau.

    At margin 0 stands the strict AUC; the area below the curve is sAUC. Both depend on the scale of
    the scores, so models are compared on one scale, usually probabilities.

    Parameters
    ----------
    curves : sequence of ScoredCurve
        What to draw, in this order.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple of ScoredCurve
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curves: Sequence[ScoredCurve], *, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.pos_label = pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Scores,
        *,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        n_points: int = 513,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scored-ROC curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
            tells which is positive.
        y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Scores, or a mapping from the models' names to their scores; columns of a data frame have names as well.
        names : sequence of str, optional
            Names of the columns of `y_score`.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class.
        n_points : int, default=513
            Margins at which each curve is computed.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        display : SROCDisplay
        """
        y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
        positive, label = is_positive(y_true, pos_label)
        curves = []
        for name, scores in named_scores(y_score, names, len(positive)):
            margins, theta = sroc_curve(positive, scores, n_points=n_points, sample_weight=sample_weight)
            area = scored_auc_score(positive, scores, sample_weight=sample_weight)
            curves.append(ScoredCurve(name, margins, theta, float(area)))
        return cls(curves, pos_label=label).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the scored-ROC curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``predict_proba`` where all have it, else from ``decision_function``; with `pos_label` they
            are those for that class, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : SROCDisplay
        """
        return of_estimators(cls.from_predictions, estimator, X, y, options, prefer="predict_proba")

    def __repr__(self) -> str:
        return f"SROCDisplay({', '.join(self._label(curve).strip() for curve in self.curves)})"

    def _label(self, curve: ScoredCurve) -> str:
        return legend_name(f"{curve.name}  sAUC {words.digits(curve.area)}".strip())

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        display : SROCDisplay
            This object, with `ax_` and `figure_` set.
        """
        ax = axes_of(ax)
        for k, curve in enumerate(self.curves):
            ax.plot(curve.margins, curve.theta, label=self._label(curve), **look(k))
            if len(self.curves) == 1:  # the areas of several would hide one another
                ax.fill_between(curve.margins, curve.theta, color=look(k)["color"], alpha=0.08, linewidth=0)
        dress(ax, xlabel="Margin τ", ylabel="Pairs ranked right by more than τ")
        ax.set(xlim=(0, None), ylim=(0, 1.01))
        name_curves(ax, "best")
        self.ax_, self.figure_ = ax, ax.figure
        return self
