"""Tables, JSON, warnings and plots of every subcommand."""

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rocmax._cli._output import log, plot_format, printable, say, written
from rocmax._cli._table import Notes
from rocmax._tables._forms import short
from rocmax._tables._schema import Schema
from rocmax._typing import Style
from rocmax.exceptions import BelowChanceWarning
from rocmax.metrics import Samples, _words as words
from rocmax.metrics.results._result import Result, plain

_FEW, _MOST = 8, 40  # names, and lines, in the list of columns
_NAME = 40  # letters of a name in a plot


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of names, to the left, and numbers, to the right: as wide as it needs to be."""
    cells = [[printable(cell) for cell in row] for row in (headers, *rows)]
    (first, *others) = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *numbers in cells:
        line = [f"{name:<{first}}", *(f"{text:>{width}}" for text, width in zip(numbers, others, strict=True))]
        say("  ".join(line).rstrip())


def columns(schema: Schema) -> None:
    """Print, on stderr, what every column of a training table is."""
    listed: dict[str, list[str]] = {}
    for column in schema.columns:
        listed.setdefault(column.words, []).append(str(column.name))
    for what, names in islice(listed.items(), _MOST):
        more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
        log(f"{', '.join(short(name) or '(no name)' for name in names[:_FEW])}{more}: {what}")
    if len(listed) > _MOST:
        log(f"and {len(listed) - _MOST:,} more lines: --json has all")


def show(result: Result, style: Style) -> None:
    """Print a result as Python prints it, or its table and its sentences in the words of a style."""
    text = str(result)
    if style != "rates":
        with result._spoken(style):
            text = "\n".join([*words.text_table(result._journal()), result.summary(style)])
    say(text.replace("to_frame() has all", "--json has all"))


def emit(result: Mapping[str, Any]) -> None:
    """Print the one JSON object."""
    print(json.dumps(plain(result), allow_nan=False))


@contextmanager
def warned(about: str, notes: Notes) -> Iterator[None]:
    """Print the warnings of the block once it is done, also as `notes`; if it fails, only that is reported."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        one = warning.message
        is_below = isinstance(one, BelowChanceWarning)
        advice = "; check --lower (low scores are for positives) and --positive" if is_below else ""
        measure = about.rpartition(", ")[2]  # which need not be named twice
        text = getattr(one, "fact", str(one)).removeprefix(f"{measure}: ")
        line = f"{about}{': ' if about else ''}{' '.join(text.split())}{advice}"
        log(f"warning: {line}")
        notes.warnings.append(line)


def draw(
    path: str,
    samples: Samples,
    *,
    fpr_range: tuple[float, float] | None,
    confidence_level: float | None = None,
    title: str = "",
    xscale: str = "linear",
) -> None:
    """Write a ROC plot; beside it, for a partial range, that part enlarged."""
    from matplotlib.figure import Figure

    from rocmax.display import ROCDisplay

    part = None if fpr_range == (0.0, 1.0) else fpr_range
    figure = Figure(figsize=(10.4 if part else 5.4, 5.2), dpi=150, layout="constrained")
    axes = figure.subplots(1, 2 if part else 1, squeeze=False)[0]
    display = ROCDisplay.from_samples(
        samples,
        names=[printable(name) for name in samples.names or ()],
        fpr_range=part,
        confidence_level=confidence_level,
        ax=axes[0],
        xscale=xscale,
    )
    if part:
        display.plot(axes[1], zoom=True, legend=False, xscale=xscale)
        axes[1].set_title(f"FPR in [{part[0]:g}, {part[1]:g}]", fontsize="medium")
        axes[0].set_title("Whole range", fontsize="medium")
    if title:
        figure.suptitle(title)
    write_figure(path, figure)


def draw_forest(path: str, found: Mapping[str, Any]) -> None:
    """Write a forest plot of results by their headings."""
    from matplotlib.figure import Figure

    from rocmax.display import ForestDisplay

    n_rows = sum(len(one.subgroups) + len(one.not_estimable) + 2 for one in found.values())
    figure = Figure(figsize=(8.0, 1.2 + 0.27 * n_rows), dpi=150, layout="constrained")
    ForestDisplay.from_result({printable(name): one for name, one in found.items()}, ax=figure.subplots())
    write_figure(path, figure)


def draw_bars(path: str, values: Mapping[str, float], what: str) -> None:
    """Write a bar chart of numbers by name, the first one on top."""
    from matplotlib.figure import Figure

    from rocmax.display import WeightsDisplay

    figure = Figure(figsize=(7.0, 1.0 + 0.28 * len(values)), dpi=150, layout="constrained")
    axes = figure.subplots()
    names = [printable(name if len(name) <= _NAME else name[: _NAME - 3] + "...") for name in values]
    WeightsDisplay(names, np.array(list(values.values()))).plot(axes, most=len(names))
    axes.set_xlabel(printable(what))
    write_figure(path, figure)


def write_figure(path: str, figure: Any) -> None:
    """Write a figure in the format of the file name's ending."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a dollar in a name does not start a formula
    drawn = BytesIO()
    figure.savefig(drawn, format=plot_format(path))
    with written(path) as file:
        file.write(drawn.getbuffer())


def where(path: str) -> str:
    """Return where a file was written, as a full path."""
    return "stdout" if path == "-" else str(Path(path).resolve())
