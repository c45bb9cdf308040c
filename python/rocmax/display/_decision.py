"""Decision curves: the net benefit of acting on a model, over the threshold probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocmax._parameters import check_flag, shown
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
from rocmax.metrics import NetBenefit
from rocmax.metrics._sample import sample
from rocmax.metrics._validation import check_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

F64 = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class DecisionCurve:
    """One model's net benefit at every threshold, and the lower and the upper edge of its band, if any."""

    name: str
    thresholds: F64
    net_benefit: F64
    band: tuple[F64, F64] | None = None

    def __repr__(self) -> str:
        return f"DecisionCurve({self.name!r}, {len(self.thresholds)} thresholds)"


class DecisionCurveDisplay:
    """Decision curves (Vickers and Elkin, 2006): net benefit against the threshold probability.

    At a threshold t a person acts (treats, calls, blocks) on samples whose probability is at least t, and a false
    positive costs ``t / (1 - t)`` times what a true positive gains; see :class:`rocmax.metrics.NetBenefit`. A model is
    useful where its curve lies above those of acting on everybody and of acting on nobody.

    Parameters
    ----------
    curves : sequence of DecisionCurve
        What to draw, in this order.
    prevalence : float
        The share of positives, from which the curve of acting on everybody comes.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple of DecisionCurve
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curves: Sequence[DecisionCurve], *, prevalence: float, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.prevalence = prevalence
        self.pos_label = pos_label

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: Scores,
        *,
        thresholds: ArrayLike | None = None,
        prevalence: float | None = None,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        confidence_level: float | None = None,
        curve_kwargs: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the decision curves of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True; of two others the order of an ordered categorical or `pos_label`
            tells which is positive.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Probabilities, or a mapping from the models' names to theirs; columns of a data frame have names as well.
        thresholds : array-like of shape (n_thresholds,), optional
            Threshold probabilities in (0, 1), ascending; by default 0.01, 0.02, ..., 0.99. Choose those at which people
            would act.
        prevalence : float in (0, 1), optional
            The share of positives where the model will be used; by default that of the samples.
        names : sequence of str, optional
            Names of the columns of `y_prob`.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class.
        confidence_level : float, optional
            Shade around every curve, at each threshold, the score interval of the net benefit at this level.
        curve_kwargs, ax : optional
            As in `plot`.

        Returns
        -------
        display : DecisionCurveDisplay
        """
        y_true, y_prob, sample_weight = in_memory(y_true, y_prob, sample_weight)
        positive, label = is_positive(y_true, pos_label)
        grid = _thresholds(thresholds)
        measures = [NetBenefit(float(t), prevalence) for t in grid]
        level = None if confidence_level is None else check_level(confidence_level)
        curves, share = [], prevalence
        for name, scores in named_scores(y_prob, names, len(positive), "y_prob"):
            data = sample(positive, scores, sample_weight, names=("y_true", "y_prob"))
            data = data._replace(steps=data.curve())
            found = [measure.score_interval(data) for measure in measures]
            band = None if level is None else tuple(np.hstack([one[2].ends(level) for one in found]))
            curves.append(DecisionCurve(name, grid, np.hstack([one[0] for one in found]), band))
            share = data.totals[0] / sum(data.totals) if share is None else share
        assert share is not None
        return cls(curves, prevalence=float(share), pos_label=label).plot(ax, curve_kwargs=curve_kwargs)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the decision curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Probabilities come from ``predict_proba``; with `pos_label` they are those for that class, else for the
            second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : DecisionCurveDisplay
        """
        return of_estimators(cls.from_predictions, estimator, X, y, options, prefer="predict_proba")

    def __repr__(self) -> str:
        return f"DecisionCurveDisplay({', '.join(repr(curve) for curve in self.curves)})"

    def plot(self, ax: Axes | None = None, *, curve_kwargs: Any = None, legend: bool = True) -> Self:
        """Draw the curves, in the colours of matplotlib's style where it is not the default one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        legend : bool, default=True
            Name the curves.

        Returns
        -------
        display : DecisionCurveDisplay
            This object, with `ax_` and `figure_` set.
        """
        check_flag("legend", legend)
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        for k, curve in enumerate(self.curves):
            style = {**look(k), **given[k]}
            label = legend_name(curve.name) or "model"
            ax.plot(curve.thresholds, curve.net_benefit, **{"label": label, **style})
            if curve.band is not None:
                ax.fill_between(curve.thresholds, *curve.band, color=style["color"], alpha=0.15, linewidth=0)
        at = self.curves[0].thresholds
        everybody = self.prevalence - (1.0 - self.prevalence) * at / (1.0 - at)
        line: dict[str, Any] = {"color": ink(ax), "alpha": 0.6, "linewidth": 1}
        ax.plot(at, everybody, label="act on everybody", linestyle=(0, (4, 3)), **line)
        ax.plot(at, np.zeros_like(at), label="act on nobody", linestyle="solid", **line)
        dress(ax, xlabel="Threshold probability", ylabel="Net benefit")
        most = max([self.prevalence, *(float(curve.net_benefit.max()) for curve in self.curves)])
        ax.set(xlim=(min(0.0, at[0]), at[-1]), ylim=(-0.25 * most, 1.1 * most))
        if legend:
            name_curves(ax, "best")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _thresholds(given: ArrayLike | None) -> F64:
    """Return the thresholds, checked."""
    if given is None:
        return np.arange(1, 100) / 100
    try:
        found = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or not ((found > 0) & (found < 1)).all() or (np.diff(found) <= 0).any():
        raise ValueError(f"thresholds must be ascending probabilities in (0, 1), got {shown(given)}")
    return found
