"""The numbers of a report, and its figures as data."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rocmax._checks.samples import in_caller_direction
from rocmax._runtime.warn import warn
from rocmax._typing import F64, Adjust
from rocmax.display._base import COLORS
from rocmax.metrics import AUC, Inference, PartialAUC, Samples, TPRAtFPR, compare, infer
from rocmax.metrics.samples._arguments import warn_unless_counts
from rocmax.metrics.samples._sample import Sample

_CELLS = 1000  # along a curve: about a pixel each
_POINTS = 8000  # all curves together, but each has at least a fifth of the cells above
_FINEST = 1e-5  # rate on the slider
_QUOTED = (0.01, 0.05, 0.1)  # rates at which sensitivities are usually quoted, when no range is given
_LISTED = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


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


def _two_digits(least: float, most: float, *others: float) -> F64:
    """Return the numbers of two digits between two numbers, both ends, and others above 0."""
    decades = range(int(np.floor(np.log10(least))), int(np.ceil(np.log10(most))) + 1)
    numbers = np.array([float(f"{digits}e{decade - 1}") for decade in decades for digits in range(10, 100)])
    kept = numbers[(numbers >= least) & (numbers < most)]
    return np.unique([*kept, most, *(other for other in others if other > 0.0)])


def best_at(curve: Points, reached: F64, most: F64) -> Points:
    """Return the vertex of the highest TPR, then threshold, with at most this FPR or number of alerts `reached`."""
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
    """Return a figure of curves with these ranges of both axes; the page's script finds its parts by name."""
    from bokeh.embed import json_item
    from bokeh.models import BoxAnnotation, ColumnDataSource, InlineStyleSheet, Span
    from bokeh.plotting import figure

    plot = figure(
        x_range=limits[0],
        y_range=limits[1],
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


class Measured:
    """What a report shows of some models, by name; `options` are level and seed."""

    def __init__(
        self,
        samples: Samples,
        models: dict[str, Sample],
        fpr_range: tuple[float, float] | None,
        adjust: Adjust | None,
        source: str | None,
        options: dict[str, Any],
    ) -> None:
        two = self.samples = samples.two
        self.names, self.source, self.confidence_level = tuple(models), source, options["confidence_level"]
        self.lower = [bool(model.lower) for model in models.values()]
        columns = np.array([model.score for model in models.values()]).T
        named = samples.holding(two.scored(columns)._replace(model_names=self.names, n_dropped=0))
        area = AUC() if fpr_range is None else PartialAUC(fpr_range)
        part = self.fpr_range = None if fpr_range == (0.0, 1.0) else fpr_range

        def sliced(by: Any, name: str | None, model: Sample) -> Any:
            one: Any = infer(samples.holding(model._replace(model_names=None, n_dropped=0), by), area, **options)
            return replace(one, by=one.by if name is None else name)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warn_unless_counts(samples.weight_kind, two.weight)
            whole: Any = infer(named, AUC(), **options)
            self.areas: list[Inference] = [whole] if part is None else [whole, infer(named, area, **options)]
            n_pos, n_neg = whole.n_pos, whole.n_neg
            requested = () if part is None else part[1:]
            quoted = requested or _QUOTED
            listed = {*_LISTED, *quoted, *((fpr_range or ())[:1])}
            # A rate below that of one negative gets a row if it was requested; 0.5 is for fewer than five negatives.
            seen = [fpr for fpr in sorted(listed) if 0 < fpr < 1 and (fpr in requested or fpr * n_neg >= 1)] or [0.5]
            self.rates: dict[float, Any] = {fpr: infer(named, TPRAtFPR(fpr), **options) for fpr in seen}
            self.quoted = [fpr for fpr in quoted if fpr in self.rates]  # whose TPR is shown beside the areas
            self.comparison: Any = None
            if len(models) > 1 and 1 < np.count_nonzero(two.positive) < len(two.y) - 1:
                self.comparison = compare(named, area, adjust=adjust, **options)
            by = samples.by if isinstance(samples.by, Mapping) else {} if samples.by is None else {None: samples.by}
            # Of each column of subgroups, by each model.
            self.subgroups = [[sliced(of, name, model) for model in models.values()] for name, of in by.items()]
        # Ties are noted once, not at every rate.
        distinct = {re.sub(r"TPR at FPR \S+: ", "", str(warning.message)): warning.message for warning in caught}
        for warning in distinct.values():
            warn(warning)
        self.notes = dict.fromkeys(getattr(warning, "fact", str(warning)) for warning in distinct.values())
        self.prevalence = n_pos / (n_pos + n_neg)
        low, high = fpr_range or (0.0, 1.0)
        alerts = _two_digits(1.0, n_pos + n_neg)  # whole ones, if the number of all samples is one
        alerts = alerts[alerts == np.rint(alerts)] if n_pos + n_neg == round(n_pos + n_neg) else alerts
        self.stops = {"rate": stops(n_neg, (low, high)), "alerts": alerts}  # of the slider
        # The curves, those on the range, and their points at the stops and at the listed rates, a model after another.
        self.curves, self.details, self.at_rates = list[Points](), list[Points](), list[Points]()
        self.at_stops: list[dict[str, Points]] = []
        for model in models.values():
            fpr, tpr, cut = model.curve().points(False, False)
            curve = Points(fpr, tpr, in_caller_direction(cut, model.lower))
            self.curves.append(thinned(curve, 0.0, 1.0, len(models)))
            self.details.append(thinned(curve, low, high, len(models)))
            reached = {"rate": fpr, "alerts": (tpr * n_pos + fpr * n_neg) * (1 - 1e-12)}  # the sum may be rounded up
            self.at_stops.append({unit: best_at(curve, reached[unit], of) for unit, of in self.stops.items()})
            self.at_rates.append(best_at(curve, fpr, np.array([*self.rates])))
