"""``rocmax explain``: what a trained model goes by."""

from argparse import Namespace
from typing import Any

import numpy as np

from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli._failure import Failure
from rocmax._cli._output import check_plot
from rocmax._cli._permuted import Importance, importance

_BARS = 30  # of a plot, at most


def run(arguments: Namespace) -> None:
    """Print the weights of a line, how much trees gained by each column, or what the members of an ensemble go by.

    With data, also how much the partial AUC falls when a column is shuffled.
    """
    check_plot(arguments.plot, arguments.model, arguments.data)
    with report.warnings_after():
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
                "leaderboard": report.plain(model.classifier.leaderboard_),
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
    """Return how much the splits on each column have gained, of all; names are summed."""
    gains = model.classifier.feature_importances_
    named = model.features()
    shares = dict.fromkeys([*model.numeric, *model.categorical], 0.0)
    for feature, gain in zip(named, gains, strict=True):
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


_KINDS = {"linear": "linear model", "boosting": "boosted trees", "ensemble": "ensemble"}


def _show_permuted(arguments: Namespace, found: Importance) -> None:
    report.say(
        f"partial AUC of {found.n_rows:,} rows of {arguments.data}: {found.partial_auc:.4f}; "
        "importance: its decrease when a column is shuffled"
    )
    shown = report.new_table("column", "importance", "std. dev.")
    falls = list(found.falls.items())
    for name, (fall, deviation) in falls[: arguments.top or None]:
        shown.add_row(name, f"{fall:+.4f}", f"{deviation:.4f}")
    report.show(shown)
    if shown.row_count < len(falls):
        report.say(f"{len(falls) - shown.row_count:,} smaller ones not shown (--top 0 for all).")


def _show(arguments: Namespace, model: _model.Model, rows: list[dict[str, Any]], permuted: Importance | None) -> None:
    low, high = model.fpr_range
    report.say(f"{arguments.model}: {_KINDS[model.kind]}, {model.label} = {model.positive}, FPR [{low:g}, {high:g}]")
    top = rows[: arguments.top or None]
    if model.kind == "linear":
        shown = report.new_table("feature", "weight", "per unit")
        for row in top:
            per_unit = "" if row["per_unit"] is None else f"{row['per_unit']:+.4g}"
            shown.add_row(row["feature"], f"{row['weight']:+.4g}", per_unit)
    elif model.kind == "boosting":
        shown = report.new_table("column", "share of the gain")
        for row in top:
            shown.add_row(row["feature"], f"{row['share']:.3f}")
    else:
        report.show(report.leaderboard(model.classifier.leaderboard_))
        families = list(_shares(model))
        shown = report.new_table("column", *(["mean share"] if len(families) > 1 else []), *families)
        for row in top if families else []:
            shares = [row["share"]] * (len(families) > 1) + [row["shares"][one] for one in families]
            shown.add_row(row["feature"], *(f"{share:.3f}" for share in shares))
    if shown.row_count:
        report.show(shown)
    if len(top) < len(rows) and shown.row_count:
        report.say(f"{len(rows) - len(top):,} smaller ones not shown (--top 0 for all).")
    if model.kind == "linear":
        report.say(
            "weight: added to the score per standard deviation of a number, or if the flag or category applies;\n"
            f"per unit: added per unit of the column. Scores above 0 are predicted {model.positive}."
        )
    if model.kind == "ensemble":
        silent = [name for name in model.classifier.families_ if name not in families]
        report.say(
            "share: of the gain of all splits for trees, of the sum of absolute weights for logistic_regression."
            + (f" {', '.join(silent)}: not available." if silent else "")
        )
    if permuted is not None:
        _show_permuted(arguments, permuted)
    if arguments.plot:
        report.say(f"plot: {report.where(arguments.plot)}")
