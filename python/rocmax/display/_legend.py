"""The legend: on the axes if there is room, else under them, where it covers no curve."""

from typing import Any

from rocmax._typing import Axes

_WIDEST, _TALLEST = 0.85, 0.5  # shares of the axes that a legend may take
_LEAST = 5.0  # points: smaller letters are not readable in print
_ROUNDED = 0.9  # small letters are up to a tenth wider than in proportion
_UNDER = 0.85  # size of letters under the axes, relative to those on them
_PAD = 4.0  # points between the label of the axis and the legend
_LOOK: dict[str, Any] = {"framealpha": 0.85, "edgecolor": "none"}  # readable where it lies on a curve


def add_legend(ax: Axes, loc: Any) -> None:
    """Add a legend at `loc`, or under the axes, with smaller letters or names cut, if it would cover too much."""
    legend = _legend(ax, loc=loc)
    if not legend.get_texts():
        return
    size, room = legend.get_window_extent(), ax.get_window_extent()
    if size.width <= _WIDEST * room.width and size.height <= _TALLEST * room.height:
        return
    letters = float(legend.get_texts()[0].get_fontsize())
    (left, width), place, slot = _slot(ax), {"loc": loc}, _WIDEST * room.width
    if ax.figure.get_layout_engine() is not None:  # which makes room under the axes
        place = {"loc": "upper center", "bbox_to_anchor": (left + width / 2, 0.0), "bbox_transform": _under(ax)}
        slot = 0.97 * width * ax.figure.bbox.width
    handles, labels = ax.get_legend_handles_labels()
    small = False
    if letters * slot < _LEAST * size.width:
        labels = [text.replace("  ", "\n", 1) for text in labels]
        labels = _shortened(_legend(ax, handles, labels), letters / _LEAST * slot)
        size, small = _legend(ax, handles, labels).get_window_extent(), True
    most = max(1, int(letters * slot / (_LEAST * size.width)))  # columns
    row = size.height / len(labels)
    for n_columns in range(1, most + 1):
        wide = slot / (n_columns * size.width) * (_ROUNDED if n_columns > 1 or small else 1.0)
        share = max(min(wide, _UNDER), _LEAST / letters)
        n_rows = max(1, int(_TALLEST * room.height / (row * share)))
        if n_columns * n_rows >= len(labels):
            break
    listed = n_columns * n_rows
    if listed < len(labels):
        handles, more = handles[:listed], len(labels) - listed + 1
        labels = [*labels[: listed - 1], f"and {more:,} more"]
    _legend(
        ax,
        handles,
        labels,
        fontsize=letters * share,
        ncols=n_columns,
        columnspacing=0.8,  # the border of a legend of one column
        borderaxespad=0.0 if "bbox_transform" in place else None,
        **place,
    )


def _shortened(legend: Any, widest: float) -> list[str]:
    """Return the labels, with an ellipsis in the middle of lines for which the legend is wider than this."""
    texts = legend.get_texts()
    widths = [text.get_window_extent().width for text in texts]
    room, found = widest - (legend.get_window_extent().width - max(widths)), []  # beside the handles
    for text, width in zip(texts, widths, strict=True):
        lines = text.get_text().split("\n")
        most = max(int(_ROUNDED * room / width * max(map(len, lines))), 3) if width > room else len(text.get_text())
        found.append("\n".join(x if len(x) <= most else f"{x[: (most - 1) // 2]}…{x[-(most // 2) :]}" for x in lines))
    return found


def _legend(ax: Axes, *what: Any, **options: Any) -> Any:
    """Make a legend that prints names as they are: a $ begins no formula."""
    legend = ax.legend(*what, **options, **_LOOK)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def _slot(ax: Axes) -> tuple[float, float]:
    """Return the left edge and the width of the axes' column, as shares of the figure."""
    place = ax.get_subplotspec()
    if place is None:
        return 0.0, 1.0
    n_columns, columns = place.get_gridspec().ncols, place.colspan
    return columns.start / n_columns, (columns.stop - columns.start) / n_columns


def _under(ax: Axes) -> Any:
    """Return a transform: x in shares of the figure, y in shares of the axes' height from below their labels."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    ticks = max((text.get_fontsize() for text in ax.get_xticklabels()), default=10.0)
    letters = float(ticks) + float(ax.xaxis.label.get_fontsize())
    points = 1.3 * letters + ax.xaxis.labelpad + 7.0 + _PAD
    below = ScaledTranslation(0.0, -points / 72.0, ax.figure.dpi_scale_trans)
    return blended_transform_factory(ax.figure.transSubfigure, ax.transAxes + below)
