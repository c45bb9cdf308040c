"""``rocmax explain``: the weights or feature importances of a trained model."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocmax._cli import _labels as classes, _model, _report as report, _table as table
from rocmax._cli._output import Failure, about, check_plot, say
from rocmax._cli._parser import Explain, Labelled
from rocmax._selection import paired_difference
from rocmax._tables._forms import Note
from rocmax._tables._schema import Column
from rocmax.metrics import partial_auc_score

_BARS, _LINES = 30, 20  # in a plot, and in a table, at most
_SHUFFLES = 5  # of a column
_ROWS = 2**16  # scored at once
_KINDS = {  # in words, and what is plotted
    "linear": ("linear model", "weight for {}"),
    "boosting": ("boosted trees", "part of the total gain of all splits"),
    "ensemble": ("ensemble", "mean share of the members in the gain of splits or in absolute weights"),
}


def run(arguments: Explain) -> None:
    """Print the weights of a linear model or the shares of columns in others; with data, the permutation importance."""
    check_plot(arguments.plot, arguments.model, arguments.data)
    model = _model.load(arguments.model)
    try:
        rows = _weights(model) if model.kind == "linear" else _shares(model)
    except MemoryError:
        raise
    except Exception as error:  # whatever the parts of a damaged model cause
        raise Failure(f"{arguments.model}: the model is damaged: {error}") from error
    what = "weight" if model.kind == "linear" else "share"
    rows.sort(key=lambda row: -abs(row[what]))
    permuted = _importance(arguments, model, arguments.data) if arguments.data else None
    if arguments.plot:
        axis = _KINDS[model.kind][1].format(model.positive)
        bars = {row["feature"]: row[what] for row in rows}
        if permuted is not None:
            axis = "decrease of the partial AUC when shuffled"
            bars = {row["column"]: row["fall"] for row in permuted["columns"]}
        report.draw_bars(arguments.plot, dict(islice(bars.items(), _BARS)), axis)
    if not arguments.json:
        _show(arguments, model, rows, permuted)
        return
    about: dict[str, Any] = {"kind": model.kind, "label": model.label, "positive": model.positive}
    if model.kind == "ensemble":
        about |= {"families": model.classifier.families_, "leaderboard": model.classifier.leaderboard_}
    if permuted is not None:
        about["permutation"] = permuted
    about |= {"fpr_range": model.fpr_range, "features": rows, "plot": arguments.plot}
    report.emit({"model": arguments.model, **about})


def _weights(model: _model.Model) -> list[dict[str, Any]]:
    """Return name, weight, and weight per unit of the column, of each feature of a linear model."""
    weights = np.asarray(model.classifier.coef_[0], dtype=np.float64)
    named = [] if model.coder is None else model.coder.features()
    if weights.shape != (len(named),) or not np.isfinite(weights).all():
        raise ValueError(f"{len(named)} features and weights of shape {weights.shape}")
    found = []
    for (name, column, unit), weight in zip(named, weights.tolist(), strict=True):
        per_unit = None if unit is None else weight / unit
        found.append({"feature": name, "column": column, "weight": weight, "per_unit": per_unit})
    return found


def _shares(model: _model.Model) -> list[dict[str, Any]]:
    """Return the share of each column in the importances of features; that of a category is added to its column's."""
    shares = dict.fromkeys(model.schema.used, 0.0)
    every = model.schema.columns if model.coder is None else model.coder.features()
    names = [one.name if isinstance(one, Column) else one.column for one in every]
    for name, share in zip(names, model.classifier.feature_importances_, strict=True):
        if name in shares:
            shares[name] += float(share)
    return [{"feature": name, "column": name, "share": share} for name, share in shares.items()]


def _importance(arguments: Explain, model: _model.Model, path: str) -> dict[str, Any]:
    """Return columns by how much the partial AUC falls if they are shuffled: mean and error of their falls."""
    used = model.schema.used
    wanted = table.columns_to_read(arguments, [model.label, *used], model.schema)
    form, given = wanted.form, {"label": model.label, "positive": model.positive, "negative": arguments.negative}
    labelled = Labelled(data=path, missing="drop", **given)  # type: ignore[arg-type]
    with about(path):
        frame, is_text = table.read(path, wanted)
        frame, _ = classes.clean(frame, [model.label], labelled, form)
        _, positive = classes.read(frame, model.label, labelled, form)
        X = _model.features(table.Table(frame, is_text), model.schema, form)

    scores, columns, later = model.scores(X), list[dict[str, Any]](), _model.LaterRows(model)
    later.add(X, scores)
    form.notes.add(*later.told())

    def shuffles(name: str, seeds: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Yield the scores after each of several shuffles. Rows whose value stays keep their score."""
        shuffled = [X[name].shuffle(seed=seed) for seed in seeds]
        moved = [one.ne_missing(X[name]).arg_true() for one in shuffled]
        changed = pl.concat([X[rows].with_columns(one[rows]) for one, rows in zip(shuffled, moved, strict=True)])
        again = model.scores(changed) if len(changed) else np.empty(0)
        for rows, part in zip(moved, np.split(again, np.cumsum([len(rows) for rows in moved])[:-1]), strict=True):
            of = scores.copy()
            of[rows] = part
            yield of

    whole, seeds = float(partial_auc_score(positive, scores, model.fpr_range)), range(_SHUFFLES)
    if whole < sum(model.fpr_range) / 2:
        question = f"is {model.label} = {model.positive} the positive class?"
        form.notes.add(Note("below chance", f"warning: partial AUC {whole:.4f}, worse than random: {question}"))
    at_once = max(1, _ROWS // len(X))
    for name in used:
        others = [of for start in seeds[::at_once] for of in shuffles(name, seeds[start : start + at_once])]
        fall, error = paired_difference(positive, scores, np.array(others), model.fpr_range)
        columns.append({"column": name, "fall": fall, "std_dev": error})
    columns.sort(key=lambda column: -column["fall"])
    form.tell()
    return {"n_samples": len(X), "partial_auc": whole, "columns": columns, **form.notes.plain()}


def _show(arguments: Explain, model: _model.Model, rows: list[dict[str, Any]], permuted: Any) -> None:
    low, high = model.fpr_range
    say(f"{arguments.model}: {_KINDS[model.kind][0]}, {model.label} = {model.positive}, FPR [{low:g}, {high:g}]")
    if model.kind == "linear":
        heads = ["feature", "weight", "per unit"]
        per_unit = ("" if row["per_unit"] is None else f"{row['per_unit']:+.4g}" for row in rows)
        lines = [[row["feature"], f"{row['weight']:+.4g}", unit] for row, unit in zip(rows, per_unit, strict=True)]
        said = (
            "weight: added to the score per standard deviation of a number, or if the flag or category applies;\n"
            f"per unit: added per unit of the column. Scores from {model.classifier.threshold_:.4g} on are predicted "
            f"{model.positive}."
        )
    else:
        heads, lines = ["column", "share"], [[row["feature"], f"{row['share']:.3f}"] for row in rows]
        said = f"share: {_KINDS[model.kind][1]}"
    if model.kind == "ensemble":
        say(model.classifier.summary())
    if model.kind != "linear" and np.isnan([row["share"] for row in rows]).all():
        say(f"share: not available of {', '.join(model.classifier.families_)}; give data, whose columns are shuffled")
    else:
        _show_first(heads, lines)
        say(said)
    if permuted is not None:
        say(
            f"partial AUC of {permuted['n_samples']:,} rows of {arguments.data}: {permuted['partial_auc']:.4f}; "
            "importance: its decrease when a column is shuffled\n(std. dev.: over samples of such rows)"
        )
        lines = [[row["column"], f"{row['fall']:+.4f}", f"{row['std_dev']:.4f}"] for row in permuted["columns"]]
        _show_first(["column", "importance", "std. dev."], lines)
    if arguments.plot:
        say(f"plot: {report.where(arguments.plot)}")


def _show_first(headers: list[str], lines: list[list[str]]) -> None:
    """Print the first lines of a table."""
    report.table(headers, lines[:_LINES])
    if len(lines) > _LINES:
        say(f"{len(lines) - _LINES:,} smaller ones not shown: --json has all")
