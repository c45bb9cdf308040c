"""The csv file of models.py, and the tables that it prints from there."""

import csv
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

LABELS = {
    "ensemble": "PartialAUCEnsembleClassifier",
    "stack": "StackingClassifier of the same families",
    "LightGBM": "LightGBM, defaults",
    "logistic": "logistic regression",
}


class Key(NamedTuple):
    """What was fitted; `rows` are those of training."""

    name: str
    rows: int
    seed: int
    fpr_range: str
    model: str


class Result(NamedTuple):
    """What came out."""

    value: float
    processor: float
    wall: float
    chosen: str


class Results:
    """A csv file with a line a result, and what stands in it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.found: dict[Key, Result] = {}
        if file.exists():
            with file.open(newline="") as lines:
                for row in csv.DictReader(lines):
                    key = Key(row["set"], int(row["rows"]), int(row["split"]), row["range"], row["model"])
                    seconds = float(row["processor_seconds"]), float(row["wall_seconds"])
                    self.found[key] = Result(float(row["partial_auc"]), *seconds, row["chosen"])
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            columns = "set", "rows", "split", "range", "model", "partial_auc", "processor_seconds", "wall_seconds"
            self._write([*columns, "chosen"])

    def add(self, key: Key, result: Result) -> None:
        numbers = f"{result.value:.6f}", f"{result.processor:.2f}", f"{result.wall:.2f}"
        self.found[key] = Result(*map(float, numbers), result.chosen)  # as they are read again
        self._write([*key, *numbers, result.chosen])

    def _write(self, cells: list[object]) -> None:
        with self._file.open("a", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerow(cells)


def paired(
    results: Results, name: str, fpr_range: str, model: str, most_rows: int, other: str = "base"
) -> list[tuple[Result, Result]]:
    """Return the results of a model and of another one on the splits that both were fitted on."""
    pairs = []
    for key, found in sorted(results.found.items()):
        if (key.name, key.fpr_range, key.model) == (name, fpr_range, model) and _large(key.rows) == _large(most_rows):
            against = results.found.get(key._replace(model=other))
            if against is not None:
                pairs.append((found, against))
    return pairs


def _large(rows: int) -> bool:
    return rows > 8000


def error_of(values: np.ndarray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def show(
    results: Results,
    names: list[str],
    ranges: list[tuple[float, float]],
    models: list[str],
    rows: int,
    *,
    each: bool = False,
    of: str = "",
) -> None:
    """Print how the models, or one of them, compare with base or with the others.

    Parameters
    ----------
    each : bool
        Show each set.
    of : str
        Print how this model compares with each of the others, instead of how they compare with base.
    """
    for low, high in ranges:
        text = f"{low:g}-{high:g}"
        print(f"\nFPR {text}: difference {f'of {of} to' if of else 'to base'}")
        heads = ("sets", 5), ("mean", 8), ("difference", 12), ("se", 8), ("se sets", 9), ("better", 8), ("worse", 8)
        print(f"{'':<22}{''.join(f'{head:>{width}}' for head, width in heads)}{'time ratio':>13}")
        for model in models:
            if model != (of or "base"):
                _show_one(results, names, text, (of, model) if of else (model, "base"), rows, model)
        if each:
            _show_each(results, names, text, models, rows)


def _show_one(
    results: Results, names: list[str], fpr_range: str, models: tuple[str, str], rows: int, head: str
) -> None:
    """Print a line: one model compared with another, and the mean of the former."""
    means, errors, values, times = [], [], [], []
    for name in names:
        pairs = paired(results, name, fpr_range, models[0], rows, models[1])
        if pairs:
            differences = np.array([one.value - other.value for one, other in pairs])
            means.append(differences.mean()), errors.append(error_of(differences))
            values.append(np.mean([one.value for one, _ in pairs]))
            times.append(sum(one.processor for one, _ in pairs) / sum(other.processor for _, other in pairs))
    if means:
        mean, error = np.array(means), np.array(errors)
        better, worse = (int(np.sum(sign * mean > np.maximum(2 * error, 1e-12))) for sign in (1, -1))
        print(
            f"{head:<22}{len(mean):>5}{np.mean(values):>8.4f}{mean.mean():>+12.4f}"
            f"{math.sqrt(np.sum(error**2)) / len(mean):>8.4f}{error_of(mean):>9.4f}"
            f"{f'{np.sum(mean > 0)} ({better})':>8}{f'{np.sum(mean < 0)} ({worse})':>8}{np.median(times):>13.1f}"
        )


def _show_each(results: Results, names: list[str], fpr_range: str, models: list[str], rows: int) -> None:
    """Print the mean of base and the difference of every other model, with its standard error."""
    print(f"\n{'FPR ' + fpr_range:<20}{'splits':>7}" + "".join(f"{model[:17]:>20}" for model in models))
    for name in names:
        cells, splits = [], len(paired(results, name, fpr_range, "base", rows))
        for model in models:
            pairs = paired(results, name, fpr_range, model, rows)
            differences = np.array([one.value - base.value for one, base in pairs])
            if model == "base" and pairs:
                cells.append(f"{np.mean([base.value for _, base in pairs]):.4f}")
            elif pairs:
                few = "" if len(pairs) == splits else f" /{len(pairs)}"
                cells.append(f"{differences.mean():+.4f} ({error_of(differences):.3f}){few}")
            else:
                cells.append("")
        print(f"{name:<20}{splits:>7}" + "".join(f"{cell:>20}" for cell in cells))


def draw(results: Results, names: list[str], models: list[str], rows: int, file: Path) -> None:
    """Draw the mean differences to base on the first range, with two standard errors over the sets."""
    from matplotlib.figure import Figure

    lines = []
    for model in models:
        pairs = [paired(results, name, "0-0.05", model, rows) for name in names]
        means = np.array([np.mean([one.value - other.value for one, other in each]) for each in pairs if each])
        if model != "base" and len(means) > 1:
            lines.append((means.mean(), 2 * error_of(means), f"{LABELS.get(model, model)} ({len(means)})"))
    means, errors, labels = zip(*sorted(lines), strict=True)
    figure = Figure((7.0, 0.4 + 0.32 * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color="0.6", linewidth=1)
    axes.errorbar(means, labels, xerr=errors, fmt="o", color="#0072B2", capsize=3)
    axes.set_xlabel("difference in partial AUC (mean, two standard errors)")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(file, dpi=160)
