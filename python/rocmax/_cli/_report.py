"""What every subcommand prints and draws."""

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from rocmax._cli._output import plot_format, written
from rocmax._cli._text import printable, printable_lines
from rocmax.exceptions import BelowChanceWarning, CoverageWarning

_BAND_ROWS = 200_000  # more rows make a band thinner than its curve, and slow
_WIDEST = 160  # columns of a table, in wider ones names are broken
_ANY = 10_000
_NAME = 40  # letters of a name in a plot, at most


class _PlainConsole(Console):
    """Prints texts, those in tables too, as they are: no markup, and nothing that could steer the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **{**options, "markup": False, "emoji": False})


def log(message: str) -> None:
    """Print lines to stderr."""
    _PlainConsole(stderr=True, highlight=False, soft_wrap=True).print(Text(printable_lines(message)))


def say(message: str = "") -> None:
    """Print lines to stdout."""
    _PlainConsole(highlight=False, soft_wrap=True).print(Text(printable_lines(message)))


def show(table: Table, *, error: bool = False) -> None:
    """Print a table to stdout or stderr, as wide as it is: a narrower terminal wraps its lines, but hides no number."""
    console = _PlainConsole(stderr=error, highlight=False)
    wide = console.options.update(width=_ANY)
    width = Measurement.get(console, wide, table).maximum
    if width > _WIDEST:
        table.columns[0].max_width = _NAME
        width = max(_WIDEST, Measurement.get(console, wide, table).maximum)
    if (sys.stderr if error else sys.stdout).isatty():
        width = max(width, console.width)
    _PlainConsole(stderr=error, highlight=False, width=width, soft_wrap=True).print(table, crop=False)


def emit(result: Mapping[str, Any]) -> None:
    """Print the one JSON object."""
    print(json.dumps(result, allow_nan=False))


@contextmanager
def warnings_after() -> Iterator[None]:
    """Print what the block warns of, once it is done: where it fails, only the failure counts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        log(f"warning: {' '.join(str(warning.message).split())}")


@contextmanager
def told_of(what: str, *, how: str | None = None, intervals: bool = True) -> Iterator[None]:
    """Print what the block warns of, with what it was about, in words of the command line.

    `how` is the option that takes the name of another method, where there is one. Where no intervals are printed, it
    leaves out what is wrong with them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        said = warning.message
        if isinstance(said, CoverageWarning) and not intervals:
            if said.estimate is not None:
                log(f"warning: {what}: {said.estimate}")
            continue
        if isinstance(said, BelowChanceWarning):
            if intervals:
                log(f"warning: {what}: {said.fact}; check --lower (low scores are for positives) and --positive")
            continue
        text, instead = getattr(said, "fact", str(said)), getattr(said, "instead", None)
        advice = f"; {how} {instead} does better" if how and instead else ""
        log(f"warning: {what}: {' '.join(text.split())}{advice}")


class Bar:
    """A bar that moves while its length is not known, and then shows how far it is; none where nothing is shown."""

    def __init__(self, shown: Progress | None = None, what: str = "") -> None:
        self._shown = shown
        self._task = TaskID(0) if shown is None else shown.add_task(what, total=None)

    def total(self, number: int) -> None:
        """Say how long it is."""
        if self._shown is not None:
            self._shown.update(self._task, total=number)

    def at(self, what: str, done: int, total: int) -> None:
        """Say what is being done, and how far it is."""
        if self._shown is not None:
            self._shown.update(self._task, description=what, completed=done, total=total)

    def advance(self) -> None:
        """Move it on, from any thread."""
        if self._shown is not None:
            self._shown.advance(self._task)


@contextmanager
def progress(what: str) -> Iterator[Bar]:
    """Show a progress bar on stderr while the block runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_PlainConsole(stderr=True), transient=True) as shown:
        yield Bar(shown, what)


@contextmanager
def waiting(what: str, after: float = 2.0) -> Iterator[None]:
    """Show on stderr, if that is a terminal, what the block does and for how long, once it has taken some seconds."""
    if not sys.stderr.isatty():
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    shown = Progress(*columns, console=_PlainConsole(stderr=True), transient=True)
    shown.add_task(what, total=None)
    timer = Timer(after, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


def new_table(*headers: str) -> Table:
    """Return a table of which the first column is text, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, header in enumerate(headers):
        table.add_column(header, justify="left" if k == 0 else "right", no_wrap=k > 0)
    return table


def leaderboard(rows: list[dict[str, Any]]) -> Table:
    """Return a table of the families of an ensemble; those that were stopped early were not compared."""
    shown = new_table("family", "partial AUC", "std. error", "difference", "std. error", "kept", "time taken")
    for row in rows:
        numbers = {name: row[name] for name in ("partial_auc", "standard_error", "difference", "difference_error")}
        cells = [
            "" if value is None or not np.isfinite(value) else f"{value:{'+' if name == 'difference' else ''}.4f}"
            for name, value in numbers.items()
        ]
        compared = row["kept"] or cells[1]
        kept = "yes" if row["kept"] else "no" if compared else "stopped" if cells[0] else "not tried"
        shown.add_row(row["family"], *cells, kept, f"{row['seconds']:.1f} s")
    return shown


def plain(value: Any) -> Any:
    """Return what JSON can say of a value: None for NaN."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def draw(
    path: str,
    positive: NDArray[np.bool_],
    scores: Mapping[str, NDArray[np.float64]],
    *,
    fpr_range: tuple[float, float] | None,
    confidence_level: float | None = None,
    weight: NDArray[np.float64] | None = None,
    title: str = "",
    xscale: str = "linear",
) -> None:
    """Write a ROC plot; beside it, when a part of the range is asked for, that part enlarged."""
    from matplotlib.figure import Figure

    from rocmax.display import ROCDisplay

    part = fpr_range is not None and fpr_range != (0.0, 1.0)
    figure = Figure(figsize=(10.4 if part else 5.4, 5.2), dpi=150, layout="constrained")
    axes = figure.subplots(1, 2 if part else 1, squeeze=False)[0]
    if confidence_level is not None and len(positive) > _BAND_ROWS:
        log(f"{path}: drawn without confidence bands, for more than {_BAND_ROWS:,} rows")
        confidence_level = None
    if confidence_level is not None and min(positive.sum(), (~positive).sum()) < 2:
        log(f"{path}: drawn without confidence bands, which need two rows of each class")
        confidence_level = None
    display = ROCDisplay.from_predictions(
        positive,
        np.column_stack(list(scores.values())),
        names=[printable(name) for name in scores],
        fpr_range=fpr_range if part else None,
        sample_weight=weight,
        confidence_level=confidence_level,
        ax=axes[0],
        xscale=xscale,
    )
    if part and fpr_range is not None:
        display.plot(axes[1], zoom=True, legend=False, xscale=xscale)
        axes[1].set_title(f"FPR in [{fpr_range[0]:g}, {fpr_range[1]:g}]", fontsize="medium")
        axes[0].set_title("Whole range", fontsize="medium")
    if title:
        figure.suptitle(title)
    write_figure(path, figure)


def draw_bars(path: str, values: Mapping[str, float], what: str) -> None:
    """Write a plot of numbers by name, the first one on top."""
    from matplotlib.figure import Figure

    from rocmax.display import WeightsDisplay

    figure = Figure(figsize=(7.0, 1.0 + 0.28 * len(values)), dpi=150, layout="constrained")
    axes = figure.subplots()
    names = [printable(name if len(name) <= _NAME else name[: _NAME - 3] + "...") for name in values]
    WeightsDisplay(names, np.array(list(values.values()))).plot(axes, most=len(names))
    axes.set_xlabel(printable(what))
    write_figure(path, figure)


def write_figure(path: str, figure: Any) -> None:
    """Write a figure as the ending of its name says."""
    from matplotlib.text import Text as MplText

    for text in figure.findobj(MplText):
        text.set_parse_math(False)  # a name with dollars is a name, not a formula
    drawn = BytesIO()
    figure.savefig(drawn, format=plot_format(path))
    with written(path) as file:
        file.write(drawn.getbuffer())


def where(path: str) -> str:
    """Return the path as the user would look for it."""
    return "stdout" if path == "-" else str(Path(path).resolve())
