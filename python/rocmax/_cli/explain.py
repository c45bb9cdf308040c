"""``rocmax explain``: what a trained model goes by."""

from argparse import Namespace
from typing import Any

import numpy as np

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli._failure import Failure
from rocmax._cli._output import check_plot
from rocmax._cli._permuted import Importance, importance
from rocmax._cli._text import say
from rocmax.metrics.results._result import plain

_BARS = 30  # in a plot, at most
_KINDS = {"linear": "linear model", "boosting": "boosted trees", "ensemble": "ensemble"}


def run(arguments: Namespace) -> None:
    """Print the weights of a line, how much trees gained by each column, or what the members of an ensemble go by.

    With data, also how much the partial AUC falls when a column is shuffled.
    """
    check_plot(arguments.plot, arguments.model, arguments.data)
    with report.warned():
        model = _model.load(arguments.model)
    try:
        rows = {"linear": _weights, "boosting": _gains, "ensemble": _members}[model.kind](model)
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged model makes of its parts
        raise Failure(f"{arguments.model}: the model is damaged: {error}") from error
    what = "weight" if model.kind == "linear" else "share"
    rows.sort(key=lambda row: -abs(row[what]))
    permuted = importance(arguments, model) if arguments.data else None
    if arguments.plot:
        shown = rows[: min(arguments.top or _BARS, _BARS)]
        axis = {
            "linear": f"weight for {model.positive}",
            "boosting": "share of the total gain of all splits",
            "ensemble": "mean importance share of the members",
        }
        bars, text = {row["feature"]: row[what] for row in shown}, axis[model.kind]
        if permuted is not None:
            falls = list(permuted.falls.items())[: min(arguments.top or _BARS, _BARS)]
            bars, text = {name: fall for name, (fall, _) in falls}, "decrease of the partial AUC when shuffled"
        report.draw_bars(arguments.plot, bars, text)
    if arguments.json:
        about = {"model": arguments.model, "kind": model.kind, "label": model.label, "positive": model.positive}
        if model.kind == "ensemble":
            about |= {
                "families": model.classifier.families_,
                "leaderboard": plain(model.classifier.leaderboard_),
            }
        if permuted is not None:
            about["permutation"] = {
                "n_samples": permuted.n_rows,
                "partial_auc": permuted.partial_auc,
                "columns": [
                    {"column": name, "fall": fall, "std_dev": error} for name, (fall, error) in permuted.falls.items()
                ],
            }
        report.emit({**about, "fpr_range": list(model.fpr_range), "features": rows, "plot": arguments.plot})
        return
    _show(arguments, model, rows, permuted)


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
    """Return the share of each column in the gain of all splits; that of a category is added to its column's."""
    shares = dict.fromkeys([*model.numeric, *model.categorical], 0.0)
    for feature, gain in zip(model.features(), model.classifier.feature_importances_, strict=True):
        shares[feature.column] += float(gain)
    return [{"feature": name, "column": name, "share": share} for name, share in shares.items()]


def _members(model: _model.Model) -> list[dict[str, Any]]:
    """Return the importance share of each column in the members that have one, and their mean."""
    shares_of = _shares(model)
    names = [*model.numeric, *model.categorical]
    if any(shares.shape != (len(names),) for shares in shares_of.values()):
        raise ValueError(f"{len(names)} columns and other shares")
    return [
        {
            "feature": name,
            "column": name,
            "share": float(np.mean([shares[k] for shares in shares_of.values()])) if shares_of else 0.0,
            "shares": {family: float(shares[k]) for family, shares in shares_of.items()},
        }
        for k, name in enumerate(names)
    ]


def _shares(model: _model.Model) -> dict[str, Any]:
    """Return the importance shares of the columns, for each member that has them."""
    return {family: shares for family, shares in model.classifier.shares_.items() if shares is not None}


def _show(arguments: Namespace, model: _model.Model, rows: list[dict[str, Any]], permuted: Importance | None) -> None:
    low, high = model.fpr_range
    say(f"{arguments.model}: {_KINDS[model.kind]}, {model.label} = {model.positive}, FPR [{low:g}, {high:g}]")
    if model.kind == "linear":
        per_unit = ("" if row["per_unit"] is None else f"{row['per_unit']:+.4g}" for row in rows)
        lines = [[row["feature"], f"{row['weight']:+.4g}", unit] for row, unit in zip(rows, per_unit, strict=True)]
        _show_top(arguments, ["feature", "weight", "per unit"], lines)
        say(
            "weight: added to the score per standard deviation of a number, or if the flag or category applies;\n"
            f"per unit: added per unit of the column. Scores above 0 are predicted {model.positive}."
        )
    elif model.kind == "boosting":
        lines = [[row["feature"], f"{row['share']:.3f}"] for row in rows]
        _show_top(arguments, ["column", "share of the gain"], lines)
    else:
        _show_members(arguments, model, rows)
    if permuted is not None:
        say(
            f"partial AUC of {permuted.n_rows:,} rows of {arguments.data}: {permuted.partial_auc:.4f}; "
            "importance: its decrease when a column is shuffled"
        )
        lines = [[name, f"{fall:+.4f}", f"{deviation:.4f}"] for name, (fall, deviation) in permuted.falls.items()]
        _show_top(arguments, ["column", "importance", "std. dev."], lines)
    if arguments.plot:
        say(f"plot: {report.where(arguments.plot)}")


def _show_members(arguments: Namespace, model: _model.Model, rows: list[dict[str, Any]]) -> None:
    """Print the families of an ensemble, and the shares of the columns in its members."""
    report.leaderboard(model.classifier.leaderboard_)
    families = list(_shares(model))
    if families:
        several = ["mean share"] if len(families) > 1 else []
        shares = [[row["share"]] * len(several) + [row["shares"][one] for one in families] for row in rows]
        lines = [[row["feature"], *(f"{x:.3f}" for x in own)] for row, own in zip(rows, shares, strict=True)]
        _show_top(arguments, ["column", *several, *families], lines)
    silent = [name for name in model.classifier.families_ if name not in families]
    say(
        "share: of the gain of all splits for trees, of the sum of absolute weights for logistic_regression."
        + (f" {', '.join(silent)}: not available." if silent else "")
    )


def _show_top(arguments: Namespace, headers: list[str], lines: list[list[str]]) -> None:
    """Print the first lines of a table."""
    top = lines[: arguments.top or None]
    report.table(headers, top)
    if len(top) < len(lines):
        say(f"{len(lines) - len(top):,} smaller ones not shown (--top 0 for all).")
