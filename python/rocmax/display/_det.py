"""Detection error trade-off curves: both error rates on axes that show small ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocmax._parameters import check_flag
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
from rocmax.display._curves import Curve, curve_of
from rocmax.metrics import EqualErrorRate
from rocmax.metrics import _words as words
from rocmax.metrics._validation import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALES = ("probit", "log", "linear")
_USUAL = 0.8  # upper limit of "probit"
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)


class DETDisplay:
    """Detection error trade-off (DET) curves of one or several models.

    The false negative rate against the false positive rate, on axes scaled by the normal quantile. Normal scores of
    equal variance give a straight line of slope -1, and small rates get as much room as large ones [1]_. The legend
    gives the equal error rate (EER), where the curve meets the diagonal. Made by `from_predictions` or
    `from_estimator`; `plot` draws again.

    Parameters
    ----------
    curves : sequence of Curve
        The ROC curves to draw, in this order; `area` is the equal error rate.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple of Curve

    References
    ----------
    .. [1] A. Martin et al., "The DET curve in assessment of detection task performance", Eurospeech, 1997.
    """

    ax_: Axes
    figure_: Any

    def __init__(self, curves: Sequence[Curve], *, pos_label: Any = None) -> None:
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
        scale: str = "probit",
        curve_kwargs: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the DET curves of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels 0 and 1, -1 and 1 or False and True. For two other labels, the order of an ordered categorical or
            `pos_label` decides which is positive.
        y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
            Scores, or a mapping from names of models to scores; columns of a data frame have names as well.
        names : sequence of str, optional
            Names of the columns of `y_score`.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights.
        pos_label : label, optional
            The positive class.
        scale, curve_kwargs, ax : optional
            As in `plot`.

        Returns
        -------
        display : DETDisplay
        """
        choice(scale, _SCALES, "scale")
        y_true, y_score, sample_weight = in_memory(y_true, y_score, sample_weight)
        positive, label = is_positive(y_true, pos_label)
        curves = []
        for name, scores in named_scores(y_score, names, len(positive)):
            curve = curve_of(name, positive, scores, None, sample_weight)
            error = EqualErrorRate()(positive, scores, sample_weight)
            curves.append(Curve(name, curve.fpr, curve.tpr, error))
        return cls(curves, pos_label=label).plot(ax, scale=scale, curve_kwargs=curve_kwargs)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the DET curves of fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``decision_function``, else from ``predict_proba``; with `pos_label` they are those for
            that class, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`.

        Returns
        -------
        display : DETDisplay
        """
        return of_estimators(cls.from_predictions, estimator, X, y, options)

    def plot(
        self, ax: Axes | None = None, *, scale: str = "probit", curve_kwargs: Any = None, legend: bool = True
    ) -> Self:
        """Draw the curves.

        Rates of 0 and 1, which the scales "probit" and "log" cannot show, are drawn at the edge of the axes: half the
        smallest rate above 0 of all curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        scale : {"probit", "log", "linear"}, default="probit"
            Scale of both axes.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        legend : bool, default=True
            Name the curves, with their equal error rates.

        Returns
        -------
        display : DETDisplay
            This object, with `ax_` and `figure_` set.
        """
        choice(scale, _SCALES, "scale")
        check_flag("legend", legend)
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        errors = [(curve.fpr, 1.0 - curve.tpr) for curve in self.curves]
        left, bottom = (_edge(rates) for rates in zip(*errors, strict=True))
        for k, (curve, (fpr, fnr)) in enumerate(zip(self.curves, errors, strict=True)):
            x, y = np.clip(fpr, left, 1 - left), np.clip(fnr, bottom, 1 - bottom)
            ax.plot(x, y, **{"label": self._label(curve), **look(k), **given[k]})
        grid = np.linspace(max(left, bottom), 1 - max(left, bottom), 200)
        ax.plot(grid, grid, color=ink(ax), alpha=0.6, linewidth=1, linestyle=(0, (4, 3)))
        dress(ax, xlabel="False positive rate", ylabel="False negative rate")
        worst = max(curve.area for curve in self.curves)
        for name, edge in (("x", left), ("y", bottom)):
            _rescale(ax, name, scale, edge, _USUAL if worst < 0.5 else 1 - edge)
        if legend:
            name_curves(ax, "best")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def __repr__(self) -> str:
        return f"DETDisplay({', '.join(self._label(curve).strip() for curve in self.curves)})"

    def _label(self, curve: Curve) -> str:
        return legend_name(f"{curve.name}  EER {words.digits(curve.area)}".strip())


def _edge(rates: Sequence[NDArray[np.float64]]) -> float:
    """Return half the smallest rate above 0, at most 0.05."""
    return min([0.05, *(float(each[each > 1e-12].min(initial=1.0)) / 2 for each in rates)])


def _rescale(ax: Axes, name: str, scale: str, least: float, most: float) -> None:
    """Set the scale, the limits and, of "probit", the ticks of the axis "x" or "y"."""
    if scale == "probit":
        getattr(ax, f"set_{name}scale")("function", functions=(special.ndtri, special.ndtr))
        ticks = [tick for tick in _TICKS if least <= tick <= most]
        getattr(ax, f"set_{name}ticks")(ticks, labels=[f"{100 * tick:g} %" for tick in ticks])
    else:
        getattr(ax, f"set_{name}scale")(scale)
    limits = {"probit": (least, most), "log": (least, 1.0), "linear": (0.0, 1.0)}[scale]
    getattr(ax, f"set_{name}lim")(limits)
