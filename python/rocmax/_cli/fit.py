"""``rocmax fit``: train a model for the partial AUC on a table: an ensemble, a linear model or boosted trees."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import TimeSeriesSplit

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._cli import _labels as classes, _model, _report as report, _table as table
from rocmax._cli._output import Failure, Misuse, about, check_output, is_stdout, log, say
from rocmax._cli._parser import Fit
from rocmax._cli._table import Notes
from rocmax._tables._coder import TableCoder
from rocmax._tables._digests import TrainedRows, digests
from rocmax._tables._forms import short
from rocmax._tables._schema import Schema, trained_columns
from rocmax._tables._suspects import suspect_notes
from rocmax.boosting._libraries import imported
from rocmax.ensemble._classifier import n_folds as folds_by_default
from rocmax.estimators._folds import folds_of
from rocmax.exceptions import LeakageWarning

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
Weight = NDArray[np.float64] | None

# From this number of rows on, three folds select a linear model as well as five.
_LARGE = 10_000
# Tables with fewer numbers are fitted by one thread: on 2,500 x 31 and two busy cores, two threads, which wait for each
# other after every split, took 20 times as long.
_SMALL = 1_000_000
# With fewer rows in a class families cannot be compared.
_FEWEST = 20


class Choice(NamedTuple):
    """A fitted model, the coding of its columns, why it was chosen, and its results for JSON and in words."""

    coder: TableCoder | None
    classifier: Any
    reason: str
    results: dict[str, Any]
    text: str
    partial_auc: float | None = None  # out of fold


@dataclass(frozen=True)
class FitTable:
    """Rows to learn from: features (numbers, then categories) and what they are, labels, weights and groups."""

    X: pl.DataFrame
    schema: Schema
    positive: NDArray[np.bool_]
    fpr_range: tuple[float, float]
    weight: Weight = None
    groups: NDArray[Any] | None = None
    in_time: bool = False  # whether rows are in order of time
    notes: Notes = field(default_factory=Notes)


def run(arguments: Fit) -> None:
    """Train the model that cross-validation selects, and write it."""
    if is_stdout(arguments.out) and arguments.json:
        raise Misuse(f"--out {arguments.out}: --json uses stdout; name a file")
    check_output(arguments.out, arguments.data)
    label, weight, groups = arguments.label, arguments.weight, arguments.groups
    roles = [name for name in (label, weight, groups, arguments.time) if name is not None]
    named = [name for name in (groups, arguments.time) if name is not None]
    numeric = [] if weight is None else [weight]
    wanted = table.columns_to_read(arguments, also=roles, dropped=arguments.drop, numbers=numeric, names=named)
    form = wanted.form
    with about(arguments.data):
        frame, is_text = table.read(arguments.data, wanted)
        frame, n_dropped = classes.clean(frame, roles, arguments, form)
        if arguments.time is not None:
            frame = frame[_time_order(frame, arguments.time)]
        weights = None if weight is None else table.weights(frame, weight)
        if weights is not None:  # rows of weight 0 are ignored
            frame, weights = frame.filter(weights > 0), weights[weights > 0]
        labels, positive = classes.read(frame, label, arguments, form)
        for name in {*arguments.categorical} - {*arguments.drop}:
            table.column(frame, name)
        rows = table.Table(frame, is_text)
        schema, rows = _model.decided(rows, form, exclude={*roles, *arguments.drop}, categorical=arguments.categorical)
        data = FitTable(
            X=_model.features(rows, schema, form),
            schema=schema,
            positive=positive,
            fpr_range=arguments.fpr,
            weight=weights,
            groups=None if groups is None else table.cluster_numbers(frame, [groups]),
            in_time=arguments.time is not None,
            notes=form.notes,
        )
        form.notes.add(*suspect_notes(data.X, positive, data.groups, in_time=data.in_time))
    form.tell()
    if not arguments.json:
        report.columns(schema)
    choice, read = _choose(data, arguments), schema.table(data.X)
    model = _model.Model(
        schema=schema,
        coder=choice.coder,
        classifier=choice.classifier,
        label=label,
        positive=str(labels.value),
        negative=labels.other,
        fpr_range=arguments.fpr,
        columns=trained_columns(read),
        rows=TrainedRows.of(digests(read)),
    )
    _model.save(model, arguments.out)
    result = {
        "data": arguments.data,
        "n_samples": len(positive),
        "n_positive": positive.sum(),
        "n_dropped": n_dropped,
        "positive": str(labels.value),
        "negatives": labels.negatives,
        "fpr_range": arguments.fpr,
        "numeric": schema.numeric,
        "categorical": schema.categorical,
        "left_out": schema.left_out,
        "columns": {column.name: column.words for column in schema.columns},
        **form.notes.plain(),
        "kind": model.kind,
        "reason": choice.reason,
        "cross_validated_partial_auc": choice.partial_auc,
        **choice.results,
        "model": arguments.out,
    }
    if arguments.json:
        report.emit(result)
        return
    tell = log if is_stdout(arguments.out) else say
    tell(f"{arguments.data}: {labels.summary(len(positive), int(positive.sum()))}")
    if n_dropped:
        tell(f"dropped because of missing values: {n_dropped:,} rows")
    tell(f"columns: {len(schema.numeric)} numeric, {len(schema.categorical)} categorical")
    tell(f"model: {choice.reason}\n{choice.text}")
    tell(f"model file: {report.where(arguments.out)}")


def _time_order(frame: pl.DataFrame, name: str) -> NDArray[np.intp]:
    """Return the rows in the order of a column of numbers, dates or times; equal ones keep their order."""
    series = table.column(frame, name)
    if series.dtype == pl.String:
        texts, series = series, series.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)
        if series.null_count() > texts.null_count():  # in 1/12/2024 the day may be first, or the month
            dates = texts.set(~texts.str.contains(r"^\s*\d{4}\D"), None)
            with suppress(pl.exceptions.PolarsError):  # of no form that polars knows
                series = dates.str.to_datetime(strict=False)
            if series.null_count() > texts.null_count():
                text = texts.filter(series.is_null() & texts.is_not_null())[0]
                how = "--time takes numbers, or dates such as 2024-12-31, the year first"
                raise Failure(f"column {name!r} holds {short(text)!r}: {how}")
    if not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        raise Failure(f"column {name!r} is {series.dtype}: --time takes numbers, dates or times")
    return np.argsort(series.rank("dense").to_numpy(), kind="stable")


def _choose(data: FitTable, arguments: Fit) -> Choice:
    """Return the best model of the kind that is asked for, fitted."""
    kind, Cs, n_folds = arguments.model, arguments.C, arguments.folds
    if kind == "boosting":
        return _trees(data, n_folds)
    if Cs is not None and len(Cs) == 1:
        return _line(data, Cs, [], "a linear model, by --C")
    reason = "a linear model (--model linear)"
    if kind != "linear" and Cs is None:
        if kind == "ensemble" or min(data.positive.sum(), (~data.positive).sum()) >= _FEWEST:
            return _ensemble(data, _split(data, n_folds or folds_by_default(len(data.positive))))
        reason = f"a linear model: with fewer than {_FEWEST} rows of a class families cannot be compared"
    return _line(data, Cs, _split(data, n_folds), reason)


def _split(data: FitTable, n_folds: int | None) -> list[Fold]:
    """Return the folds of the cross-validation; in time they are trained on earlier rows, without held-out clusters."""
    y, groups = data.positive.astype(int), data.groups
    folds: Any = n_folds or (3 if len(y) >= _LARGE else 5)
    try:
        if data.in_time:
            folds = list(TimeSeriesSplit(folds).split(y))
            if groups is not None:
                folds = [(train[~np.isin(groups[train], groups[test])], test) for train, test in folds]
        with report.warned("", data.notes):
            return folds_of(folds, data.X, y, groups=None if data.in_time else groups, seed=0)[0]
    except ValueError as error:
        what = "folds ordered in time (--time): " if data.in_time else ""
        raise Failure(f"{what}{str(error).removeprefix('cv').lstrip('=: ')} (--folds)") from error


def _ensemble(data: FitTable, folds: list[Fold]) -> Choice:
    """Return the ensemble of the families that rank best."""
    if find_spec("lightgbm") is None:  # of one that is damaged there is a warning
        log("boosted trees are not among the families; they need lightgbm: pip install lightgbm")
    model: Any = PartialAUCEnsembleClassifier(data.fpr_range, cv=folds, random_state=0)
    model._schema = data.schema
    with report.warned("", data.notes):
        model.fit(data.X, data.positive, data.weight, groups=data.groups)
    model.set_params(cv=len(folds)).out_of_fold_ = None  # the model file needs no rows
    n, kept = len(model.leaderboard_), model.families_
    reason = f"the mean of {len(kept)} of {n} families" if len(kept) > 1 else f"{kept[0]}, one of {n} families"
    area, reason = model.inference_, f"{reason}, by their partial AUC out of fold"
    results = {"confidence_interval": area.confidence_interval, "no_interval": area.no_interval}
    results |= {"families": kept, "leaderboard": model.leaderboard_}
    return Choice(None, model, reason, results, model.summary(), area.estimate)


def _line(data: FitTable, Cs: Sequence[float] | None, folds: list[Fold], reason: str) -> Choice:
    """Return the linear model with the best surrogate and C in cross-validation, or with the only C."""
    coder = TableCoder("sparse linear", data.schema)
    X = coder.fit_transform(data.X)
    if Cs is not None and len(Cs) == 1:
        line: Any = PartialAUCSVC(data.fpr_range, C=Cs[0])
    else:
        line = PartialAUCSVCCV(data.fpr_range, Cs="auto" if Cs is None else Cs, cv=folds)
    with report.warned("", data.notes):
        line.fit(X, data.positive, data.weight)
    C = line.C_ if folds else line.C
    results = {"surrogate": line.surrogate_, "C": C, "dual_gap": line.dual_gap_, "n_iter": line.n_iter_}
    text = f"surrogate {line.surrogate_}, C = {C:g}; certified optimality gap {line.dual_gap_:.1e}"
    if not folds:
        return Choice(coder, line, reason, results, text)
    line.set_params(cv=len(folds))  # the model file needs no rows
    held_out = line.scores_[line.surrogate_][:, np.flatnonzero(line.Cs_ == C)[0]].mean()
    measured = "cross-validated partial AUC {:.4f} on FPR [{:g}, {:g}]".format(held_out, *data.fpr_range)
    return Choice(coder, line, reason, results, f"{measured}\n{text}", held_out)


def _trees(data: FitTable, n_folds: int | None) -> Choice:
    """Return boosted trees, with early stopping on a quarter of the rows, or on the last fold by groups or time."""
    imported("lightgbm")
    coder = TableCoder("one-hot trees", data.schema)
    X = coder.fit_transform(data.X)
    n_jobs = 1 if np.prod(X.shape) < _SMALL else None
    validation = _split(data, n_folds)[-1] if data.in_time or data.groups is not None else None
    model = PartialAUCBoostingClassifier(data.fpr_range, validation=validation, random_state=0, n_jobs=n_jobs)
    if (fewest := min(data.positive.sum(), (~data.positive).sum())) < _FEWEST:
        log(f"boosted trees: few held-out rows of {fewest} of a class choose the number of rounds; see --model linear")
    with report.warned("", data.notes):
        warnings.simplefilter("ignore", LeakageWarning)  # it is reported by the names of columns
        model.fit(X, data.positive, data.weight)
    model.set_params(validation=None)  # the model file needs no rows
    results = {"objective": str(model.objective_), "n_estimators": model.n_estimators_}
    objective = "log loss" if model.objective_ == "log_loss" else "log loss and the pairs of the range"
    return Choice(coder, model, "boosted trees (--model boosting)", results, f"objective: {objective}")
