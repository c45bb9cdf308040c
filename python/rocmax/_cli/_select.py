"""Choice of a model: an ensemble of families, a linear model by PartialAUCSVCCV, or boosted trees."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import TimeSeriesSplit

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._cli import _report as report
from rocmax._cli import _trees as trees
from rocmax._cli._columns import make_columns
from rocmax._cli._failure import Failure
from rocmax.ensemble._run import EnsembleStep
from rocmax.estimators._folds import folds_of

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
Weight = NDArray[np.float64] | None

# From so many rows on three folds say as much as five.
_LARGE = 10_000
# Of fewer numbers than this trees are grown by one thread. Of 2,500 x 31 on two cores that others use as well, two
# threads, which wait for each other after every split, took 20 times as long.
_SMALL = 1_000_000
# With fewer rows of a class families cannot be compared.
_FEWEST = 20


@dataclass(frozen=True)
class Choice:
    """A fitted model, why it was chosen, and its partial AUC out of fold."""

    columns: ColumnTransformer | None
    classifier: Any
    reason: str
    partial_auc: float | None = None


@dataclass(frozen=True)
class Data:
    """Rows to learn from: features, of which so many are numbers and flags, labels, weights and groups."""

    X: pl.DataFrame
    n_numeric: int
    n_flags: int
    positive: NDArray[np.bool_]
    weight: Weight = None
    groups: NDArray[Any] | None = None
    in_time: bool = False  # whether rows are in the order of time

    def coded(self, *, trees: bool) -> tuple[ColumnTransformer, Any]:
        """Return the coding of the columns and what it makes of them."""
        columns = make_columns(self.n_numeric, self.n_flags, self.X.width - self.n_numeric, trees=trees)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return columns, columns.fit_transform(self.X)


def choose(
    data: Data, kind: str, fpr_range: tuple[float, float], *, Cs: Sequence[float] | None, n_folds: int | None
) -> Choice:
    """Return the model of the kind asked for ("auto", "ensemble", "linear", "boosting"), chosen and fitted."""
    if kind == "boosting":
        return _trees(data, fpr_range, n_folds)
    if Cs is not None and len(Cs) == 1:
        return _one_line(data, fpr_range, Cs[0])
    folds = split(data, n_folds)
    if kind == "linear" or Cs is not None:
        return _line(data, fpr_range, Cs, folds, "a linear model, by --model")
    if kind == "auto" and min(data.positive.sum(), (~data.positive).sum()) < _FEWEST:
        reason = f"a linear model: with fewer than {_FEWEST} rows of a class families cannot be compared"
        return _line(data, fpr_range, Cs, folds, reason)
    return _ensemble(data, fpr_range, folds)


def split(data: Data, n_folds: int | None) -> list[Fold]:
    """Return the folds to choose by."""
    n, n_pos = len(data.positive), int(data.positive.sum())
    k = n_folds or (3 if n >= _LARGE else 5)
    if min(n_pos, n - n_pos) < k:
        raise Failure(
            f"{k} folds need {k} rows of each class; there are {n_pos} positive and {n - n_pos} negative: "
            "lower --folds, or give one --C"
        )
    if data.groups is not None and (n_groups := len(np.unique(data.groups))) < k:
        raise Failure(f"{k} folds need {k} groups (--groups); there are {n_groups}: lower --folds")
    cv = TimeSeriesSplit(k) if data.in_time else k
    try:
        return folds_of(cv, data.X, data.positive.astype(int), groups=data.groups, seed=0)[0]
    except ValueError as error:
        how = "ordered in time (--time)" if data.in_time else "of whole groups (--groups)"
        raise Failure(f"{k} folds {how} leave a fold without one class: lower --folds") from error


def _ensemble(data: Data, fpr_range: tuple[float, float], folds: list[Fold]) -> Choice:
    """Return the families that rank best."""
    if not trees.available():
        report.log("boosted trees are not among the families; they need lightgbm: pip install 'rocmax[boosting]'")
    # What texts are names has been settled; those of nearly every row are not left out without a word.
    X = data.X.with_columns(pl.col(pl.String).cast(pl.Categorical))
    model = PartialAUCEnsembleClassifier(fpr_range, cv=folds, random_state=0)
    with report.warnings_after(), report.progress("families") as bar:

        def tell(step: EnsembleStep) -> None:
            bar.at(f"{step.family}, {'folds' if step.stage == 'folds' else 'all rows'}", step.done, step.total)

        model.fit(X, data.positive, data.weight, groups=data.groups, callback=tell)
    n, kept = len(model.leaderboard_), model.families_
    reason = f"the mean of {len(kept)} of {n} families" if len(kept) > 1 else f"{kept[0]}, one of {n} families"
    return Choice(None, model, f"{reason}, by their partial AUC out of fold", float(model.inference_.estimate))


def _one_line(data: Data, fpr_range: tuple[float, float], C: float) -> Choice:
    """Return the line of one C, which needs no folds."""
    columns, X = data.coded(trees=False)
    line = PartialAUCSVC(fpr_range, C=C)
    with report.warnings_after():
        line.fit(X, data.positive, data.weight)
    return Choice(columns, line, "a linear model, by --C")


def _line(
    data: Data, fpr_range: tuple[float, float], Cs: Sequence[float] | None, folds: list[Fold], reason: str
) -> Choice:
    """Return the line whose surrogate and C validate best."""
    columns, X = data.coded(trees=False)
    line = PartialAUCSVCCV(fpr_range, Cs="auto" if Cs is None else Cs, cv=folds)
    with report.warnings_after(), report.progress("lines by cross-validation") as bar:
        if hasattr(line, "set_callbacks"):  # scikit-learn 1.9 and later
            line.set_callbacks(_Fits(bar, len(folds)))
        line.fit(X, data.positive, data.weight)
        if hasattr(line, "_skl_callbacks"):
            del line._skl_callbacks
    line.set_params(cv=len(folds))  # which rows they were is no part of the model
    held_out = line.scores_[line.surrogate_][:, np.flatnonzero(line.Cs_ == line.C_)[0]]
    return Choice(columns, line, reason, float(held_out.mean()))


class _Fits:
    """A callback of scikit-learn that counts the fits of a cross-validation."""

    def __init__(self, bar: report.Bar, n_folds: int) -> None:
        self._bar, self._n_folds = bar, n_folds

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing yet."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Learn from the first fold how many fits each has."""
        if context.task_name == "fold" and context.max_subtasks:
            self._bar.total(self._n_folds * context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Count a fit."""
        if context.task_name == "fit":
            self._bar.advance()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing more."""


def _trees(data: Data, fpr_range: tuple[float, float], n_folds: int | None) -> Choice:
    """Return boosted trees, whose rounds are chosen on a quarter of the rows; by groups or time, on the last fold."""
    if not trees.available():
        raise Failure("--model boosting needs lightgbm: pip install 'rocmax[boosting]'")
    columns, X = data.coded(trees=True)
    n_jobs = 1 if np.prod(X.shape) < _SMALL else None
    validation = split(data, n_folds)[-1] if data.in_time or data.groups is not None else None
    model = PartialAUCBoostingClassifier(fpr_range, validation=validation, random_state=0, n_jobs=n_jobs)
    with report.warnings_after(), report.progress("boosted trees") as bar:
        model.fit(X, data.positive, data.weight, callback=lambda _: bar.advance())
    return Choice(columns, model, "boosted trees, by --model")
