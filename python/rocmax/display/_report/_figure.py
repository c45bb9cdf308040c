"""The interactive figures of a report as Bokeh's JSON, and the points that a page needs to show."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rocmax._typing import F64
from rocmax.display._base import COLORS

_CELLS = 1000  # along a curve: about a pixel each
_POINTS = 8000  # all curves together, but each has at least a fifth of the cells above
_FINEST = 1e-5  # rate on the slider


class Points(NamedTuple):
    """Vertices of a curve: both rates at each threshold."""

    fpr: F64
    tpr: F64
    threshold: F64


def thinned(curve: Points, low: float, high: float, n_curves: int) -> Points:
    """Return the vertices between two FPRs that a screen can show; they stay exact.

    A curve only rises, so its length in the city-block metric is rise plus run. Marks at equal distances divide it, and
    the vertices on either side of a mark are kept: all others lie within one such distance of a kept one.
    """
    first = max(int(np.searchsorted(curve.fpr, low)) - 1, 0)
    last = min(int(np.searchsorted(curve.fpr, high, side="right")) + 1, len(curve.fpr))
    part = Points(*(values[first:last] for values in curve))
    cells = min(_CELLS, max(_CELLS // 5, _POINTS // n_curves))
    if len(part.fpr) <= 2 * cells:
        return part
    rise = part.tpr[-1] - part.tpr[0]
    length = (part.fpr - part.fpr[0]) / (part.fpr[-1] - part.fpr[0])
    length += (part.tpr - part.tpr[0]) / (rise if rise > 0 else 1.0)
    after = np.searchsorted(length, np.linspace(0.0, length[-1], cells + 1))
    kept = np.union1d(after, np.maximum(after - 1, 0))
    return Points(*(values[kept] for values in part))


def stops(n_neg: float, fpr_range: tuple[float, float]) -> F64:
    """Return the rates of the slider: 0, two-digit rates from about one negative up, and the ends of the range."""
    return np.array([0.0, *_two_digits(max(_FINEST, min(0.1, 1.0 / n_neg)), 1.0, *fpr_range)])


def alert_stops(n_samples: float) -> F64:
    """Return the numbers of alerts of the slider: whole ones of two digits, and that of all samples."""
    found = _two_digits(1.0, n_samples)
    return found[found == np.rint(found)] if n_samples == round(n_samples) else found


def _two_digits(least: float, most: float, *others: float) -> F64:
    """Return the numbers of two digits between two numbers, both ends, and others above 0."""
    decades = range(int(np.floor(np.log10(least))), int(np.ceil(np.log10(most))) + 1)
    numbers = np.array([float(f"{digits}e{decade - 1}") for decade in decades for digits in range(10, 100)])
    kept = numbers[(numbers >= least) & (numbers < most)]
    return np.unique([*kept, most, *(other for other in others if other > 0.0)])


def best_at(curve: Points, reached: F64, most: F64) -> Points:
    """Return the vertex with the highest TPR that reaches at most so much; among equal ones, the highest threshold.

    `reached` rises along the curve: its FPR, or the number of alerts.
    """
    highest = curve.tpr[np.searchsorted(reached, most, side="right") - 1]
    place = np.searchsorted(curve.tpr, highest)
    return Points(*(values[place] for values in curve))


_HEIGHT = 430
_DASHES = ("solid", "dashed", "dotted")  # colours repeat after six models
_GRAY = "#666666"
_SHADE = "#b08000"


def color(k: int) -> str:
    """Return the colour of the k-th model."""
    return COLORS[k % len(COLORS)]


def dash(k: int) -> str:
    """Return the line style of the k-th model, a word that Bokeh and CSS share."""
    return _DASHES[k // len(COLORS) % len(_DASHES)]


def figure_json(
    target: str, curves: Sequence[Points], shade: tuple[float, float] | None, limits: Any
) -> dict[str, Any]:
    """Return a figure of curves; the page's script finds its parts by name.

    `limits` are the ranges of both axes.
    """
    from bokeh.embed import json_item
    from bokeh.models import BoxAnnotation, ColumnDataSource, Range1d, Span

    (left, right), (bottom, top) = limits
    plot = _empty_figure()
    plot.x_range, plot.y_range = Range1d(left, right), Range1d(bottom, top)
    if shade is not None:
        band = {"fill_color": _SHADE, "fill_alpha": 0.18, "line_width": 0}
        plot.add_layout(BoxAnnotation(left=shade[0], right=shade[1], level="underlay", **band))
    plot.line([0, 1], [0, 1], color=_GRAY, line_dash=(4, 3))
    for k, curve in enumerate(curves):
        source = ColumnDataSource(curve._asdict(), name=f"curve {k}")
        plot.line("fpr", "tpr", source=source, color=color(k), line_width=2, line_dash=dash(k))
    for name, size in (("marks", 9), ("pointed", 11)):
        marks = ColumnDataSource({"fpr": [], "tpr": [], "color": []}, name=name)
        plot.scatter("fpr", "tpr", color="color", source=marks, size=size, line_color="white", line_width=1.5)
    plot.add_layout(Span(location=0.0, dimension="height", line_color=_GRAY, line_dash="dotted", name="rate"))
    return dict(json_item(plot, target))


def _empty_figure() -> Any:
    """Return axes with the look of the page and a transparent background."""
    from bokeh.models import InlineStyleSheet
    from bokeh.plotting import figure

    plot = figure(
        output_backend="svg",  # sharp on paper
        sizing_mode="stretch_width",
        height=_HEIGHT,
        tools="box_zoom,pan,wheel_zoom,reset,save",
        active_drag="box_zoom",
        toolbar_location="above",
        x_axis_label="False positive rate",
        y_axis_label="True positive rate",
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        outline_line_alpha=0.0,
        min_border_right=16,
    )
    plot.toolbar.logo = None
    plot.toolbar.stylesheets = [InlineStyleSheet(css="@media print { :host { visibility: hidden; } }")]
    plot.grid.grid_line_color, plot.grid.grid_line_alpha = _GRAY, 0.18
    for axis in plot.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "13px"
        axis.axis_label_text_color = axis.major_label_text_color = "#333333"
        axis.axis_line_color = axis.major_tick_line_color = "#999999"
        axis.minor_tick_line_alpha = 0.0
    return plot
