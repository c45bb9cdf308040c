"""Calibration: how often samples are positive among those of about the same score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._parameters import check_count
from rocmax.display._common import (
    Scores,
    axes_of,
    dress,
    in_memory,
    ink,
    is_positive,
    legend_name,
    look,
    name_curves,
    named_scores,
    of_estimators,
    styles,
)
from rocmax.metrics import _words as words
from rocmax.metrics._interval import critical, wilson
from rocmax.metrics._sample import Sample, explain
from rocmax.metrics._validation import check_level, choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Reliability:
    """One model's bins: mean score, share of positives, the ends of its interval, and the Brier score of all."""

    name: str
    score: NDArray[np.float64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    brier: float

    def __repr__(self) -> str:
        return f"Reliability({self.name!r}, {len(self.score)} bins, Brier score {self.brier:.4f})"


class ReliabilityDisplay:
    """Share of positives against the predicted probability, bin by bin, with Wilson's intervals.

    Made by `from_predictions` or `from_estimator`; `plot` draws again.

    Parameters
    ----------
    curves : sequence of Reliability
        What to draw, in this order.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curves: Sequence[Reliability], *, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.pos_label = pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: Scores,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        confidence_level: float = 0.95,
        names: Sequence[str] | None = None,
        pos_label: Any = None,
        curve_kwargs: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the reliability diagram of probabilities, by :func:`sklearn.calibration.calibration_curve`.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
            tells which is positive.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Probabilities of the positive class, or a mapping from the models' names to them; columns of a data frame
            have names as well.
        n_bins : int, default=10
            How many bins; empty ones are left out.
        strategy : {"quantile", "uniform"}, default="quantile"
            Bins of as many samples each, or of one width.
        confidence_level : float, default=0.95
            Of the intervals.
        names : sequence of str, optional
            Names of the columns of `y_prob`.
        pos_label : label, optional
            The positive class.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        display : ReliabilityDisplay
        """
        y_true, y_prob, _ = in_memory(y_true, y_prob, None)
        n_bins = check_count("n_bins", n_bins, 1000)
        choice(strategy, ("quantile", "uniform"), "strategy")
        level = check_level(confidence_level)
        positive, label = is_positive(y_true, pos_label)
        curves = []
        for name, scores in named_scores(y_prob, names, len(positive), "y_prob"):
            explain(Sample(positive, scores, None, 1, ("y_true", "y_prob")))
            if scores.min() < 0 or scores.max() > 1:
                raise ValueError(f"y_prob must lie in [0, 1], got {scores.min():g} to {scores.max():g}")
            curves.append(_reliability(name, positive, scores, n_bins, strategy, critical(level)))
        return cls(curves, pos_label=label).plot(ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the reliability diagram of fitted estimators that have ``predict_proba``.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            With `pos_label` their probabilities are those of that class, else of the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : ReliabilityDisplay
        """
        return of_estimators(cls.from_predictions, estimator, X, y, options, prefer="predict_proba")

    def plot(self, ax: Axes | None = None, *, curve_kwargs: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.

        Returns
        -------
        display : ReliabilityDisplay
            This object, with `ax_` and `figure_` set.
        """
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        for k, curve in enumerate(self.curves):
            label = legend_name(f"{curve.name}  Brier score {words.digits(curve.brier)}".strip())
            style = {**look(k), "marker": "o", "markersize": 5, **given[k]}
            ax.plot(curve.score, curve.share, **{"label": label, **style})
            ax.vlines(curve.score, curve.low, curve.high, color=style["color"], linewidth=1, alpha=0.7)
        ax.plot([0, 1], [0, 1], color=ink(ax), alpha=0.6, linewidth=1, linestyle=(0, (4, 3)))
        dress(ax, xlabel="Mean predicted probability", ylabel="Share of positives")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        name_curves(ax, "best")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        return f"ReliabilityDisplay({', '.join(map(repr, self.curves))})"


def _reliability(
    name: str, positive: NDArray[np.bool_], scores: NDArray[np.float64], n_bins: int, strategy: str, z: float
) -> Reliability:
    """Return the bins of one model: those of :func:`sklearn.calibration.calibration_curve`, which keeps no sizes."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.percentile(scores, edges * 100)  # `np.quantile` rounds otherwise, and ties lie on the edges
    bins = np.searchsorted(edges[1:-1], scores)
    sizes, hits, sums = (np.bincount(bins, weight, n_bins) for weight in (None, positive, scores))
    held = sizes > 0
    sizes, hits, sums = sizes[held], hits[held], sums[held]
    low, high = wilson(hits, sizes, z)
    return Reliability(name, sums / sizes, hits / sizes, low, high, float(np.mean((scores - positive) ** 2)))
