"""The interactive figures of a report, as Bokeh's JSON."""

from collections.abc import Sequence
from typing import Any

from rocmax.display._base import COLORS
from rocmax.display._report._thin import Points

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
