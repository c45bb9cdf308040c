"""Draw the pictures of "What was measured" from the tables beside the benchmarks.

Run: python benches/python/pictures.py [FOLDER]; without a folder, those of the guide are drawn again.
"""

import argparse
import re
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
GUIDE = HERE.parents[1] / "python" / "docs" / "_static"
COLORS = "#0072B2", "#E69F00"
OUTSIDE = {"frameon": False, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
PAPERS = (
    "Rakotomamonjy (2004)",
    "Wu, Flach and Ferri (2007)",
    "Narasimhan and Agarwal (2016)",
    "Wang, Chen and Xue",
    "Pahikkala and others (2008)",
)


def rows(page: str, head: str) -> list[list[str]]:
    """Return the cells of the table of a page below the line that begins with `head`."""
    lines = iter((HERE / "results" / f"{page}.md").read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith(head))
    next(lines)
    cells = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells.append([cell.strip(" `") for cell in line.strip("|").split("|")])
    return cells


def speed(axes: Axes) -> None:
    """Draw how many times as long scikit-learn takes."""
    table = rows("speed", "| | 10^5 scores | 10^6 | with weights")
    places = np.arange(len(table))[::-1]
    for column, label in enumerate(("100,000 scores", "1,000,000 scores")):
        times = [float(row[1 + column]) for row in table]
        bars = axes.barh(places + 0.2 - 0.4 * column, times, 0.38, color=COLORS[column], label=label)
        axes.bar_label(bars, fmt="%g", padding=3)
    axes.set_yticks(places, [row[0] for row in table])
    axes.set_xlabel("time of scikit-learn / time of rocmax")
    axes.legend(**OUTSIDE)


def training(axes: Axes) -> None:
    """Draw the median (point) and the worst (end of the line) time of the fits of each kind of table."""
    table, kinds = rows("speed", "| tables |"), ("[0, 1]", "[0, 0.05]", "[0, 0.05] ramp", "[0.02, 0.05] ramp")
    for column, (kind, color) in enumerate(zip(kinds, (*COLORS, "#009E73", "#CC79A7"), strict=True)):
        places = np.arange(len(table))[::-1] + 0.3 - 0.2 * column
        median, worst = np.array([row[1 + column].split(" / ") for row in table], dtype=float).T
        axes.hlines(places, median, worst, color=color)
        axes.plot(median, places, "o", markersize=4, color=color, label=kind)
    axes.axvline(1, color="0.4", linewidth=1, linestyle="--")
    axes.set(xscale="log", xlabel="time of the fit / time of LogisticRegression: median and worst")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_yticks(range(len(table))[::-1], [row[0] for row in table])
    axes.legend(**OUTSIDE)


def coverage(axes: Axes) -> None:
    """Draw from where to where the cells of a measure cover."""
    for column, kind in enumerate(("models", "differences")):
        table = rows("coverage", f"| {kind} |")
        places = np.arange(len(table))[::-1] + 0.15 - 0.3 * column
        low, high = np.array([row[3].split("-") for row in table], dtype=float).T
        axes.hlines(places, low, high, color=COLORS[column], linewidth=4, label=kind)
    axes.set_yticks(np.arange(len(table))[::-1], [row[0] for row in table])
    axes.axvline(95, color="0.4", linewidth=1, linestyle="--")
    axes.set_xlabel("coverage of 95 % intervals, lowest to highest cell (%)")
    axes.legend(**OUTSIDE)


def papers(axes: Axes) -> None:
    """Draw how many claims of each paper hold."""
    text = (HERE.parent / "papers" / "README.md").read_text(encoding="utf-8")
    claims = re.findall(r"^\| \d+ \| Paper (\d)[^|]*\| (holds|partly|does not hold)", text, re.M)
    kinds = "holds", "partly", "does not hold"
    names = sorted({paper for paper, _ in claims})
    left = np.zeros(len(names))
    for kind, color in zip(kinds, (*COLORS, "0.6"), strict=True):
        counts = np.array([claims.count((name, kind)) for name in names], dtype=float)
        bars = axes.barh([PAPERS[int(name) - 1] for name in names], counts, left=left, color=color, label=kind)
        axes.bar_label(bars, [f"{count:g}" if count else "" for count in counts], label_type="center")
        left += counts
    axes.invert_yaxis()
    axes.set_xlabel("claims")
    axes.legend(**OUTSIDE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=GUIDE)
    folder = parser.parse_args().folder
    for draw, height in ((speed, 2.6), (training, 4.4), (coverage, 4.2), (papers, 2.4)):
        figure = Figure((7.0, height), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.savefig(folder / f"{draw.__name__}.png", dpi=160)


if __name__ == "__main__":
    main()
