"""Choice of a model by cross-validation: a line by PartialAUCSVCCV, or boosted trees where these lead it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from rocmax import PartialAUCBoostingClassifier, PartialAUCSVC, PartialAUCSVCCV
from rocmax._cli import _report as report
from rocmax._cli import _trees as trees
from rocmax._cli._columns import make_columns
from rocmax._cli._failure import Failure
from rocmax.metrics import _words as words
from rocmax.metrics import partial_auc_score

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
Weight = NDArray[np.float64] | None

# Folds of fewer rows are drawn again, up to four times, for the choice of the line.
_MANY, _MOST = 1000, 4
# From so many rows on three folds say as much as five.
_LARGE = 10_000
# Of fewer numbers than this trees are grown by one thread. Of 2,500 x 31 on two cores that others use as well, two
# threads, which wait for each other after every split, took 20 times as long.
_SMALL = 1_000_000
# Trees lead the line, whose weights can be read, if by so many standard errors of the difference over the folds. With
# fewer negatives of the range in a fold, or rows of a class, there is nothing to tell that by.
_LEAD, _FEWEST_NEGATIVES, _FEWEST = 1.0, 10, 20


@dataclass(frozen=True)
class Choice:
    """A fitted model, why it was chosen, and the cross-validated partial AUC of each kind that was tried."""

    columns: ColumnTransformer
    classifier: Any
    reason: str
    scores: dict[str, float]


@dataclass(frozen=True)
class Data:
    """Rows to learn from: features, of which so many are numbers and flags, labels, weights and groups."""

    X: pl.DataFrame
    n_numeric: int
    n_flags: int
    positive: NDArray[np.bool_]
    weight: Weight = None
    groups: NDArray[Any] | None = None

    def coded(self, *, trees: bool) -> tuple[ColumnTransformer, Any]:
        """Return the coding of the columns and what it makes of them."""
        columns = make_columns(self.n_numeric, self.n_flags, self.X.width - self.n_numeric, trees=trees)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return columns, columns.fit_transform(self.X)

    def weight_of(self, rows: NDArray[np.intp]) -> Weight:
        return None if self.weight is None else self.weight[rows]


def choose(
    data: Data, kind: str, fpr_range: tuple[float, float], *, Cs: Sequence[float] | None, n_folds: int | None
) -> Choice:
    """Return the model of the kind asked for ("auto", "linear", "boosting"), chosen and fitted."""
    if kind == "boosting":
        if not trees.available():
            raise Failure("--model boosting needs lightgbm: pip install 'rocmax[boosting]'")
        return _trees(data, fpr_range, "boosted trees, as asked for", {})
    if Cs is not None and len(Cs) == 1:
        return _one_line(data, fpr_range, Cs[0])
    folds, first = split(data, n_folds)
    line = _line(data, fpr_range, Cs, folds)
    held_out = _held_out(line.classifier)[:first]
    scores = {"linear": float(_held_out(line.classifier).mean())}
    if kind == "linear" or Cs is not None:
        return Choice(line.columns, line.classifier, "a line, as asked for", scores)
    against = _why_not(data, fpr_range, first)
    if against:
        return Choice(line.columns, line.classifier, f"a line: boosted trees were not tried, {against}", scores)
    others = _trees_held_out(data, fpr_range, folds[:first])
    scores |= {"linear": float(held_out.mean()), "boosting": float(others.mean())}
    lead, error = float((others - held_out).mean()), _error(others - held_out, folds[:first])
    means = f"{words.digits(others.mean())} to its {words.digits(held_out.mean())}"
    there = f"in {first} folds ({means}, standard error {words.digits(error)})"
    if lead > _LEAD * error:
        return _trees(data, fpr_range, f"boosted trees: they lead the line beyond noise {there}", scores)
    return Choice(line.columns, line.classifier, f"a line: boosted trees do not lead it beyond noise {there}", scores)


def split(data: Data, n_folds: int | None) -> tuple[list[Fold], int]:
    """Return the folds to choose by, and how many of them are a first turn through all rows."""
    n, n_pos = len(data.positive), int(data.positive.sum())
    k = n_folds or (3 if n >= _LARGE else 5)
    if min(n_pos, n - n_pos) < k:
        raise Failure(
            f"{k} folds need {k} rows of each class; there are {n_pos} positive and {n - n_pos} negative: "
            "lower --folds, or give one --C"
        )
    if data.groups is None:
        repeats = min(_MOST, -(-_MANY // n))
        splitter = RepeatedStratifiedKFold(n_splits=k, n_repeats=repeats, random_state=0)
        return list(splitter.split(data.positive, data.positive)), k
    n_groups = len(np.unique(data.groups))
    if n_groups < k:
        raise Failure(f"{k} folds need {k} groups (--groups); there are {n_groups}: lower --folds")
    by_group = StratifiedGroupKFold(k, shuffle=True, random_state=0)
    folds = list(by_group.split(data.positive, data.positive, data.groups))
    if any(len(np.unique(data.positive[rows])) < 2 for fold in folds for rows in fold):
        raise Failure(f"{k} folds of whole groups (--groups) leave a fold without one class: lower --folds")
    return folds, k


def _one_line(data: Data, fpr_range: tuple[float, float], C: float) -> Choice:
    """Return the line of one C, which needs no folds."""
    columns, X = data.coded(trees=False)
    line = PartialAUCSVC(fpr_range, C=C)
    with report.warnings_after():
        line.fit(X, data.positive, data.weight)
    return Choice(columns, line, "a line, by --C", {})


def _line(data: Data, fpr_range: tuple[float, float], Cs: Sequence[float] | None, folds: list[Fold]) -> Choice:
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
    return Choice(columns, line, "", {})


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


def _held_out(line: PartialAUCSVCCV) -> NDArray[np.float64]:
    """Return the partial AUC of each fold, of the surrogate and C that were chosen."""
    return np.asarray(line.scores_[line.surrogate_][:, np.flatnonzero(line.Cs_ == line.C_)[0]])


def _why_not(data: Data, fpr_range: tuple[float, float], n_folds: int) -> str:
    """Return why trees are not tried, if they are not."""
    n_pos = int(data.positive.sum())
    n_neg = len(data.positive) - n_pos
    if min(n_pos, n_neg) < _FEWEST:
        return f"fewer than {_FEWEST} rows of a class"
    if n_neg * (fpr_range[1] - fpr_range[0]) / n_folds < _FEWEST_NEGATIVES:
        return f"fewer than {_FEWEST_NEGATIVES} negatives of the range in a fold"
    return "" if trees.available() else "they need lightgbm: pip install 'rocmax[boosting]'"


def _trees_held_out(data: Data, fpr_range: tuple[float, float], folds: list[Fold]) -> NDArray[np.float64]:
    """Return the partial AUC of each fold, of trees with log loss."""
    _, X = data.coded(trees=True)
    found = []
    with report.progress("boosted trees by cross-validation") as bar:
        bar.total(len(folds))
        for train, test in folds:
            model = _boosting(X, fpr_range, objective="log_loss", refit=False)
            model.fit(X[train], data.positive[train], data.weight_of(train))
            scores = model.decision_function(X[test])
            found.append(partial_auc_score(data.positive[test], scores, fpr_range, sample_weight=data.weight_of(test)))
            bar.advance()
    return np.array(found)


def _trees(data: Data, fpr_range: tuple[float, float], reason: str, scores: dict[str, float]) -> Choice:
    """Return boosted trees, whose objective and rounds are chosen on a quarter of the rows."""
    columns, X = data.coded(trees=True)
    model = _boosting(X, fpr_range)
    with report.warnings_after(), report.progress("boosted trees") as bar:
        model.fit(X, data.positive, data.weight, callback=lambda _: bar.advance())
    return Choice(columns, model, reason, scores)


def _boosting(X: Any, fpr_range: tuple[float, float], **how: Any) -> PartialAUCBoostingClassifier:
    """Return trees to be fitted to X, by one thread where several would wait for each other more than they work."""
    n_jobs = 1 if np.prod(X.shape) < _SMALL else None
    return PartialAUCBoostingClassifier(fpr_range, random_state=0, n_jobs=n_jobs, **how)


def _error(differences: NDArray[np.float64], folds: list[Fold]) -> float:
    """Return the standard error of a mean over folds, whose models share rows (Nadeau and Bengio, 2003)."""
    ratio = np.mean([len(test) / len(train) for train, test in folds])
    return float(np.sqrt(1.0 / len(folds) + ratio) * np.std(differences, ddof=1))
