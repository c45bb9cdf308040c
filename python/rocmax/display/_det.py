"""Detection error trade-off curves: both error rates on axes that show small ones."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocmax._typing import Axes
from rocmax.display._base import CurveDisplay, View, log_axis, models_of, reference, show_too
from rocmax.display._roc import Curve, curve_of
from rocmax.metrics import EqualErrorRate, Samples, _words as words

_USUAL = 0.8  # upper limit of "probit"
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)
_APART, _LETTER = 1.3, 0.65  # room for the text of a tick, and width of a letter, in heights of letters


class DETDisplay(CurveDisplay):
    """Detection error trade-off (DET) curves of one or several models.

    The false negative rate against the false positive rate, on axes scaled by the normal quantile. Normal scores of
    equal variance give a straight line of slope -1, and small rates get as much room as large ones [1]_. The legend
    gives the equal error rate (EER), where the curve meets the diagonal.

    >>> display = DETDisplay.from_predictions(y, p)

    References
    ----------
    .. [1] A. Martin et al., "The DET curve in assessment of detection task performance", Eurospeech, 1997.
    """

    _scales = ("probit", "log", "linear")

    @classmethod
    def from_samples(cls, samples: Samples, *, names: Sequence[str] | None = None, **options: Any) -> Self:
        """Draw the DET curves of samples."""
        cls._check(options)
        models, measure = models_of(samples, names), EqualErrorRate()
        curves = [replace(curve_of(name, one.two, None), area=measure(one)) for name, one in models]
        return cls(curves, pos_label=samples.two.pos_label).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        xscale: str = "probit",
        yscale: str = "probit",
        curve_kwargs: Any = None,
        legend: bool = True,
    ) -> Self:
        """Draw the curves.

        Rates of 0 and 1, which the scales "probit" and "log" cannot show, are drawn at the edge of the axes: half the
        smallest rate above 0 of all curves.

        Parameters
        ----------
        xscale, yscale : {"probit", "log", "linear"}, default="probit"
            Scales of the axes.
        """
        self._check({"xscale": xscale, "yscale": yscale, "legend": legend})
        ax, styles, before = self._begin(ax, curve_kwargs)
        errors = [(curve.fpr, 1.0 - curve.tpr) for curve in self.curves]
        left, bottom = (_edge(rates) for rates in zip(*errors, strict=True))
        for (fpr, fnr), style in zip(errors, styles, strict=True):
            ax.plot(np.clip(fpr, left, 1 - left), np.clip(fnr, bottom, 1 - bottom), **style)
        grid = np.linspace(max(left, bottom), 1 - max(left, bottom), 200)
        reference(ax, grid, grid, "_diagonal", f"_diagonal from {grid[0]:g}")
        worst = max(curve.area for curve in self.curves)
        for name, scale, edge in (("x", xscale, left), ("y", yscale, bottom)):
            _rescale(ax, name, scale, edge, _USUAL if worst < 0.5 else 1 - edge, before)
        return self._done(ax, "False positive rate", "False negative rate", "best" if legend else None)

    def _label(self, curve: Curve) -> str:
        return f"{curve.name}  EER {words.digits(curve.area)}".strip()


def _edge(rates: Sequence[NDArray[np.float64]]) -> float:
    """Return half the smallest rate above 0, at most 0.05."""
    return min([0.05, *(float(each[each > 1e-12].min(initial=1.0)) / 2 for each in rates)])


def _rescale(ax: Axes, name: str, scale: str, least: float, most: float, before: View) -> None:
    """Set the scale, the limits and, of "probit", the ticks of the axis "x" or "y"."""
    if scale == "probit":
        getattr(ax, f"set_{name}scale")("function", functions=(special.ndtri, special.ndtr))
    elif scale == "log":
        log_axis(ax, name)
    limits = {"probit": (least, most), "log": (least, 1.0), "linear": (0.0, 1.0)}[scale]
    getattr(ax, f"set_{name}lim")(limits)
    show_too(ax, {each: shown for each, shown in before.items() if each == name})
    if scale == "probit":
        least, most = getattr(ax, f"get_{name}lim")()
        room = ax.get_window_extent()
        height = float(ax.xaxis.get_ticklabels()[0].get_fontsize()) * ax.figure.dpi / 72
        letter = height / (room.width if name == "x" else room.height) * np.ptp(special.ndtri([least, most]))
        ticks = _apart([tick for tick in _TICKS if least <= tick <= most], letter, name == "x")
        getattr(ax, f"set_{name}ticks")(ticks, labels=[_text(tick) for tick in ticks])


def _apart(ticks: Sequence[float], letter: float, along: bool) -> list[float]:
    """Leave out ticks whose text would run into that of the one before, in letters of this height along the axis."""
    kept: list[float] = []
    for tick in ticks:
        room = _LETTER * (len(_text(tick) + _text(kept[-1])) / 2 + 1) if along and kept else _APART
        if not kept or special.ndtri(tick) - special.ndtri(kept[-1]) >= room * letter:
            kept.append(tick)
    return kept


def _text(tick: float) -> str:
    return f"{100 * tick:g} %"
