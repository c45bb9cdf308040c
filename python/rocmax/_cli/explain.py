"""``rocmax explain``: what a trained model goes by."""

from argparse import Namespace
from typing import Any

import numpy as np

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli._failure import Failure
from rocmax._cli._output import check_plot
from rocmax.metrics import _words as words

_BARS = 30  # of a plot, at most


def run(arguments: Namespace) -> None:
    """Print the weights of a line, or how much the trees gained by each column."""
    check_plot(arguments.plot, arguments.model)
    with report.warnings_after():
        model = _model.load(arguments.model)
    try:
        rows = _weights(model) if model.is_line else _gains(model)
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged model makes of its parts
        raise Failure(f"{arguments.model}: the model is damaged: {error}") from error
    what = "weight" if model.is_line else "share"
    rows.sort(key=lambda row: -abs(row[what]))
    if arguments.plot:
        shown = rows[: min(arguments.top or _BARS, _BARS)]
        names = {"weight": f"weight in the score of {model.positive}", "share": "share of what all splits gained"}
        report.draw_bars(arguments.plot, {row["feature"]: row[what] for row in shown}, names[what])
    if arguments.json:
        kind = "linear" if model.is_line else "boosting"
        about = {"model": arguments.model, "kind": kind, "label": model.label, "positive": model.positive}
        report.emit({**about, "fpr_range": list(model.fpr_range), "features": rows, "plot": arguments.plot})
        return
    _show(arguments, model, rows)


def _weights(model: _model.Model) -> list[dict[str, Any]]:
    """Return name, weight as trained, and weight per unit of the column, of each feature of a line."""
    weights = np.asarray(model.classifier.coef_[0], dtype=np.float64)
    named = model.features()
    if weights.shape != (len(named),) or not np.isfinite(weights).all():
        raise ValueError(f"{len(named)} features and weights of shape {weights.shape}")
    return [
        {
            "feature": feature.name,
            "column": feature.column,
            "weight": float(weight),
            "per_unit": None if feature.unit is None else float(weight / feature.unit),
        }
        for feature, weight in zip(named, weights, strict=True)
    ]


def _gains(model: _model.Model) -> list[dict[str, Any]]:
    """Return how much the splits on each column have gained, of all; names are summed."""
    gains = model.classifier.feature_importances_
    named = model.features()
    shares = dict.fromkeys([*model.numeric, *model.categorical], 0.0)
    for feature, gain in zip(named, gains, strict=True):
        shares[feature.column] += float(gain)
    return [{"feature": name, "column": name, "share": share} for name, share in shares.items()]


def _show(arguments: Namespace, model: _model.Model, rows: list[dict[str, Any]]) -> None:
    low, high = model.fpr_range
    kind = "line" if model.is_line else "boosted trees"
    report.say(f"{arguments.model}: {kind}, {model.label} = {model.positive}, FPR [{low:g}, {high:g}]")
    top = rows[: arguments.top or None]
    if model.is_line:
        shown = report.new_table("feature", "weight", "per unit")
        for row in top:
            per_unit = "" if row["per_unit"] is None else f"{row['per_unit']:+.4g}"
            shown.add_row(row["feature"], f"{row['weight']:+.4g}", per_unit)
    else:
        shown = report.new_table("column", "share of the gain")
        for row in top:
            shown.add_row(row["feature"], words.digits(row["share"]))
    report.show(shown)
    if len(top) < len(rows):
        report.say(f"{len(rows) - len(top):,} smaller ones not shown (--top 0 for all).")
    if model.is_line:
        report.say(
            "weight: what one standard deviation of a column of numbers adds to the score, or a flag or name that "
            f"holds;\nper unit: what one unit of the column adds. Scores above 0 are called {model.positive}."
        )
    if arguments.plot:
        report.say(f"plot: {report.where(arguments.plot)}")
