"""What all displays share: scores of estimators, and the frame, colours and legend of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.samples import choice
from rocmax._parameters import check_flag
from rocmax.display._common import axes_of, ink, legend_name, look, of_estimators, styles
from rocmax.display._legend import add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHED: dict[str, Any] = {"alpha": 0.6, "linewidth": 1, "linestyle": (0, (4, 3))}  # of lines to compare with


def log_axis(ax: Axes, name: str) -> None:
    """Make the axis "x" or "y" logarithmic, with numbers as 0.001: powers would need a formula."""
    getattr(ax, f"set_{name}scale")("log")
    axis = getattr(ax, f"{name}axis")
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter("")


class Picture:
    """Base of all displays: `plot` draws on axes and ends with `_done`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Axes
    figure_: Any

    def _done(self, ax: Axes, xlabel: str, ylabel: str, legend: Any = "best") -> Self:
        """Give the axes labels, a faint grid, no box and, at the place `legend`, a legend; keep them."""
        ax.set(xlabel=xlabel, ylabel=ylabel)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_parse_math(False)  # a $ in the name of a model begins no formula
        ax.grid(color=ink(ax), alpha=0.12, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        if legend is not None:
            add_legend(ax, legend)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class Display(Picture):
    """Base of the displays of labels and scores, which `from_predictions` takes, or those of estimators."""

    _prefer = "decision_function"  # of estimators that have probabilities too

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, **options: Any) -> Self:
        """Draw the same for fitted estimators.

        Parameters
        ----------
        estimator : estimator, list of estimators, or mapping from names to estimators
            Scores come from ``decision_function``, else from ``predict_proba``; displays of probabilities prefer
            ``predict_proba``. They are those for `pos_label` if given, else for the second of ``classes_``.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **options
            Keyword arguments of `from_predictions`; `multi_class` of `ROCDisplay` draws all classes of one estimator.

        Returns
        -------
        display : Display
            Of this class.
        """
        draw: Any = cls
        return of_estimators(draw.from_predictions, estimator, X, y, options, prefer=cls._prefer)  # type: ignore[no-any-return]


class CurveDisplay(Display):
    """Base of the displays that draw a curve for each model.

    A display defines what the legend says of a curve (`_label`), how one is drawn (`_draw`) and what surrounds them
    (`_surround`, which returns the labels of the axes).

    Parameters
    ----------
    curves : sequence
        What to draw, in this order.
    pos_label : label, optional
        The label of the positive class.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    curves : tuple
    """

    _scales: tuple[str, ...] = ("linear", "log")

    def __init__(self, curves: Sequence[Any], *, pos_label: Any = None) -> None:
        self.curves = tuple(curves)
        self.pos_label = pos_label

    def plot(
        self, ax: Axes | None = None, *, xscale: str = "linear", curve_kwargs: Any = None, legend: bool = True
    ) -> Self:
        """Draw the curves, in the colours of matplotlib's style where it is not the default one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        xscale : {"linear", "log"}, default="linear"
            Scale of the horizontal axis. "log" starts at the smallest value above 0 of all curves.
        curve_kwargs : dict or list of dict, optional
            Options of matplotlib's `plot` for all curves, or for each.
        legend : bool, default=True
            Name the curves, with the measure that belongs to them.

        Returns
        -------
        display : Display
            This object, with `ax_` and `figure_` set.
        """
        self._check({"xscale": xscale, "legend": legend})
        ax, looks = self._begin(ax, curve_kwargs)
        lines = [self._draw(ax, curve, style) for curve, style in zip(self.curves, looks, strict=True)]
        labels = self._surround(ax)
        if xscale == "log":
            at = np.concatenate([line.get_xdata() for line in lines])
            ax.set(xlim=(at[at > 0].min(initial=1.0) / 1.05, ax.get_xlim()[1]), aspect="auto")
            log_axis(ax, "x")
        return self._done(ax, *labels, legend="best" if legend else None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._label(curve) for curve in self.curves)})"

    def _label(self, curve: Any) -> str:
        raise NotImplementedError

    def _draw(self, ax: Axes, curve: Any, style: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _surround(self, ax: Axes) -> tuple[str, str]:
        raise NotImplementedError

    def _look(self, ax: Axes, k: int) -> dict[str, Any]:
        """Return the style of a curve, which `curve_kwargs` may change."""
        return look(k)

    @classmethod
    def _check(cls, options: Mapping[str, Any]) -> None:
        """Check arguments of `plot` before any work."""
        for name in options.keys() - signature(cls.plot).parameters.keys():
            raise TypeError(f"{cls.__name__} has no option {name!r}")
        if options.get("ax") is not None:
            axes_of(options["ax"])
        check_flag("legend", options.get("legend", True))
        for name in ("xscale", "yscale"):
            if name in options:
                choice(options[name], cls._scales, name)

    def _begin(self, ax: Any, curve_kwargs: Any) -> tuple[Axes, list[dict[str, Any]]]:
        """Return the axes to draw on, and label and style of each curve."""
        given = styles(curve_kwargs, len(self.curves))
        ax = axes_of(ax)
        names = [legend_name(self._label(curve)) for curve in self.curves]
        return ax, [{"label": name, **self._look(ax, k), **given[k]} for k, name in enumerate(names)]
