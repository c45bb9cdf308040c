"""PartialAUCEnsembleClassifier: the families that rank a table best, the choice among them, and their mean."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rocmax._checks.samples import rate_range
from rocmax._checks.training import n_rows, rows_of
from rocmax._parameters import check_callback, check_nonnegative, check_positive, check_verbose, shown
from rocmax._runtime.threads import blas_threads, n_threads
from rocmax._runtime.warn import warn
from rocmax._selection import Standing
from rocmax._tables._coder import TableCoder
from rocmax._tables._schema import Schema
from rocmax._tables._suspects import warn_of_leaks
from rocmax._typing import F64, AnyArray, Bool
from rocmax.ensemble._data import LIMITS, EnsembleStep, FamilyResult, Folds, HopelessError, Run, composed, quietly
from rocmax.ensemble._models import Family, families_of, importances, raw_scores, suitable
from rocmax.estimators._base import CalibratedRanker, Threshold, atomic, check_threshold, sigmoid, warn_if_constant
from rocmax.estimators._folds import dealt, equal_rows, folds_of, groups_of
from rocmax.metrics import PartialAUC, infer

Curve = tuple[float, float]
NO_ROOM = "no family fits in memory; pass fewer rows or columns, or other families"
Results = dict[str, tuple[Family, FamilyResult]]  # of the families on the folds
Board = dict[str, dict[str, Any]]  # what the leaderboard says of each family


class Combination(NamedTuple):
    """The families that are kept and the logistic curves of their scores."""

    standings: dict[str, Any]
    kept: list[str]
    curves: list[Curve]

    def of(self, scores: list[F64]) -> F64:
        """Return the mean of the logits of the scores of the families kept."""
        return np.asarray(
            np.mean([slope * of + offset for (slope, offset), of in zip(self.curves, scores, strict=True)], axis=0)
        )


def combination(data: Folds, scores: dict[str, F64], rows: AnyArray, n_threads: int) -> Combination:
    """Choose by some rows, which have scores of all families."""
    held = {name: of[rows] for name, of in scores.items()}
    of_family = dict(zip(held, data.standings(rows, list(held.values()), data.lead, n_threads), strict=True))
    _, positive, weight = data.samples(None, rows)
    kept = [name for name, standing in of_family.items() if standing.kept]
    return Combination(of_family, kept, [sigmoid(held[name], positive, weight) for name in kept])


def refitted(data: Folds, of: Results, board: Board, run: Run, chosen: Combination) -> tuple[Combination, list[Any]]:
    """Fit the families kept to all rows, the best first; return the first and those that finish in time."""
    run.stage, run.share = "refit", 1.0
    fitted: dict[str, Any] = {}
    for k, name in enumerate(sorted(chosen.kept, key=lambda name: -chosen.standings[name].partial_auc)):
        family, one = of[name]
        run.family, run.limited, began = name, bool(fitted), run.seconds
        try:
            run.check()
            fitted[name] = family.refit(data, run, one)
        except LIMITS as error:
            board[name]["note"] = f"not fitted to all rows: {limit_of(error)}"
        board[name]["seconds"] += run.seconds - began
        run.progress(k + 1, len(chosen.kept))
    if not fitted:
        raise MemoryError(NO_ROOM)
    pairs = [(name, curve) for name, curve in zip(chosen.kept, chosen.curves, strict=True) if name in fitted]
    chosen = chosen._replace(kept=[name for name, _ in pairs], curves=[curve for _, curve in pairs])
    return chosen, [fitted[name] for name in chosen.kept]


def limit_of(error: Exception) -> str:
    """Return the limit that a family reached, as the leaderboard notes it."""
    return "memory" if isinstance(error, MemoryError) else "time_limit"


def held_out(data: Folds, scores: dict[str, F64], rows: AnyArray, chosen: Combination, n_threads: int) -> F64:
    """Return combined scores of rows that did not take part in the choice; with very few rows, those of `chosen`."""
    combined = chosen.of([scores[name][rows] for name in chosen.kept])
    groups = None if data.groups is None else data.groups[rows]
    for part in parts_of(data.positive[rows], groups, data.seed):
        rest = np.setdiff1d(np.arange(len(rows)), part, assume_unique=True)
        by_rest = combination(data, scores, rows[rest], n_threads)
        combined[part] = by_rest.of([scores[name][rows[part]] for name in by_rest.kept])
    return combined


def n_folds(n_rows: int) -> int:
    """Return the number of folds by default."""
    return 3 if n_rows >= _FEW_FOLDS else 5


def parts_of(positive: Bool, groups: Any, seed: int) -> list[AnyArray]:
    """Return five stratified parts of the rows; with few rows of a class or few groups, fewer parts or none."""
    y = positive.astype(int)
    fewest = min(int(np.bincount(y, minlength=2).min()), len(y) if groups is None else len(np.unique(groups)))
    n = min(5, fewest // 2)
    if n < 2:
        return []
    fold = dealt(np.arange(len(y)) if groups is None else groups, y, n, seed)
    parts = [np.flatnonzero(fold == k) for k in range(n)]
    rest = [np.delete(y, part) for part in parts]
    return parts if all(0 < of.sum() < len(of) for of in rest) else []


def leaderboard(board: Board, standings: dict[str, Standing]) -> list[dict[str, Any]]:
    """Return a row for each family, best first."""
    rows = []
    for name, row in board.items():
        unknown = Standing(row.get("partial_auc", np.nan), np.nan, np.nan, np.nan, False)
        standing, note = standings.get(name, unknown), row["note"]
        about = {"kept": standing.kept and not note, "seconds": row["seconds"], "chosen": row.get("chosen", {})}
        rows.append({"family": name, **standing._asdict(), **about, "note": note})
    return sorted(rows, key=lambda row: (not row["kept"], -np.nan_to_num(row["partial_auc"], nan=-1.0)))


# From this number of rows on, three folds choose as well as five, in half the time: 0.001 (standard error 0.001) better
# on [0, 0.05] over phoneme, mammography, spambase, a9a and covtype, two or three splits, at most 8,000 training rows.
_FEW_FOLDS = 2000
# The share of the time limit that the folds may take; the rest is for the models of all rows.
_FOLDS = 0.75
# The rows that are enough to see that scores differ.
_SOME = 500


@dataclass(eq=False, repr=False)
class PartialAUCEnsembleClassifier(CalibratedRanker):
    """Ensemble of the model families with the best cross-validated partial AUC on a table.

    Use it for the best ranking of a table; categories and missing values need no preparation.

    All families are scored out of fold on the same folds. The ensemble keeps each family whose partial AUC is at most
    `lead` standard errors of the paired difference (DeLong) below the best, and refits it to all rows. The score is the
    mean of the families' logits; a logistic regression on a family's out-of-fold scores gives its logits.

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCEnsembleClassifier
    >>> X, y = make_classification(300, weights=[0.7], random_state=0)
    >>> families = ["logistic_regression", "extra_trees"]
    >>> model = PartialAUCEnsembleClassifier((0.0, 0.2), families=families, random_state=0).fit(X, y)
    >>> [row["family"] for row in model.leaderboard_ if row["kept"]] == model.families_
    True

    Parameters
    ----------
    families : "auto" or list, default="auto"
        Names of families, and (name, estimator) pairs for your own: any classifier with ``decision_function`` or
        ``predict_proba``. It receives X unchanged; put preprocessing into a pipeline. "auto" tries, in this order, the
        families that suit the table:

        - "lightgbm": boosted trees with log loss and learning rate 0.1, at most 1,000 rounds. The mean partial AUC of
          the folds selects the number of rounds; the refit scales it with the number of rows.
        - "logistic_regression": scikit-learn's. The mean partial AUC of the folds selects C.
        - "lightgbm_extra_trees": the same boosted trees with random splits and 80 % of the features per tree.
        - "lightgbm_pairs": boosted trees with :class:`rocmax.boosting.PartialAUCObjective` (blend 0.95), from 20,000
          rows on.
        - "extra_trees": 200 trees of scikit-learn's ``ExtraTreesClassifier``; the folds select leaves of at least one
          or four rows. Skipped if the trees do not fit in memory.
        - "landmarks": :class:`rocmax.PartialAUCSVC` with 500 landmarks, up to 50,000 rows and 500 features.

        A scipy sparse X can keep other families than the same numbers in an array: linear models scale its columns by
        their largest absolute value instead of the standard deviation, and "extra_trees" is skipped if it has more
        than 500 features. Pass ``X.toarray()`` where few numbers are 0.
    cv : "auto", int, cross-validation generator or iterable, default="auto"
        "auto" is 5, and 3 from 2,000 rows on. A number means random stratified folds; below 1,000 rows they are
        repeated up to four times, and the scores of a row are averaged. With ``fit(..., groups=)``, folds keep groups
        whole. Otherwise a splitter (``TimeSeriesSplit(5)`` for rows ordered in time) or pairs (training rows, test
        rows). Rows without an out-of-fold score do not influence the selection.
    lead : float, default=2.0
        A family is dropped if the best one is better by more than this number of standard errors.
    time_limit : float, default=None
        Time limit of ``fit`` in seconds. Families whose folds are not finished after three quarters of it, or whose
        refit is not finished at its end, are dropped with a warning. The folds of the first family and the refit of
        the best one always finish.
    threshold : str or tuple, default="auto"
        The rule of ``threshold_``, as in :class:`rocmax.PartialAUCSVC`, on the out-of-fold scores.
    random_state : int, RandomState instance or None, default=None
        Random state of the folds and the families.
    verbose : int, default=0
        1 prints one line per family.

    Attributes
    ----------
    leaderboard_ : list of dict
        One per family, best first: "family", the out-of-fold "partial_auc" and its "standard_error", its "difference"
        from the best family with "difference_error", "kept", "seconds", "chosen" (the parameters selected by the folds)
        and "note".
    families_ : list of str
        Names of the families kept.
    estimators_ : list
        Their models, refitted to all rows; each accepts X unchanged.
    curves_ : list of tuple
        (slope, offset) of the logistic regression that gives the logits of each.
    out_of_fold_ : ndarray of shape (n_samples,)
        The combined out-of-fold score of each row, on the scale of ``decision_function``; NaN where there is none.
    inference_ : Inference
        Estimate of the partial AUC on new rows, with its interval, from families selected without the rows they score;
        see Notes.
    intercept_ : ndarray of shape (1,)
        Added to the mean of the logits: the offset that makes those out of fold calibrated log-odds.
    calibration_ : tuple of float
    feature_importances_ : ndarray of shape (n_features,)
        The mean over families of the share of each column of X in the gain of splits, or in absolute weights; NaN if
        no family has one.

    Notes
    -----
    *Folds* are the same for all families. Categories and scales are computed from all rows, without their labels. The
    out-of-fold scores of all folds are pooled; if folds do not score every row equally often (ordered in time), the
    logits of each fold are pooled instead. From 2,000 rows on, a family that is worse than the best by more than
    `lead` + 1 standard errors on the first two folds is stopped; its "difference" is NaN.

    *The estimate* ``inference_`` repeats the selection of families and their logistic regressions without each fifth of
    the rows, and scores that fifth. Two biases remain: the same folds select the rounds and C (optimistic), and the
    models of a fold have fewer training rows (pessimistic). On german, pima and oil_spill, eight splits each, the
    estimate is 0.013 (standard error 0.019) below the partial AUC of the test third on [0, 0.05], and its interval has
    a coverage of 96 %. The partial AUC of ``out_of_fold_`` is 0.008 higher
    (``python benches/python/ensemble_estimate.py DATA_FOLDER --splits 8``).

    *Explanations*: :func:`sklearn.inspection.permutation_importance` of the fitted ensemble uses ``score``, the partial
    AUC. The boosted trees in ``estimators_`` have SHAP values:
    ``model.estimators_[0][-1].booster_.predict(model.features(X), pred_contrib=True)``.

    *Memory* beside X: 8 bytes per value for each of two encodings of the table (one for trees; one for linear models,
    with a column per category); with k folds, k + 1 bytes per value for the bins of boosted trees; 2,000 bytes per row
    for landmarks, twice that while a fold is fitted; and the extra trees, at most 30 % of the available memory: larger
    leaves (up to 32 rows) keep them within it, otherwise they are dropped. Measured peak beside X with 10 columns:
    290 MB for 100,000 rows; 1.3 GB for 1,000,000 rows with a time limit of 240 seconds on one thread
    (``python benches/python/ensemble_memory.py``).

    *Ctrl-C* stops the fit within a second and leaves an estimator that was fitted before unchanged. *Saving*: with
    `pickle`, or with `skops` (the types to trust are those of this package, LightGBM and scikit-learn, ``numpy.dtype``,
    and those of your own families).
    """

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    families: Any = "auto"
    cv: Any = "auto"
    lead: float = 2.0
    time_limit: float | None = None
    threshold: Threshold = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    _schema: ClassVar[Schema | None] = None  # what the columns of X are, if the command line has decided it

    @atomic
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        callback: Callable[[EnsembleStep], None] | None = None,
    ) -> Self:
        """Select the families and refit them to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training samples. In pandas and polars frames, text and categorical columns are categories; NaN, None and
            nulls are missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, divided by their mean: their scale means nothing. Samples of weight 0 are ignored.
        groups : array-like of shape (n_samples,), default=None
            Clusters of dependent rows. Folds keep them whole; the standard errors of the selection account for them,
            and the interval of ``inference_`` too, unless there is a `sample_weight`.
        callback : callable, default=None
            Called after rounds and folds with a named tuple: `family`, `stage` ("folds", or "refit" to all rows),
            `done` of `total` rounds or folds, and `seconds` since the fit began.
        """
        check_callback(callback, "EnsembleStep after some rounds or folds")
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        families = families_of(self.families)
        lead = check_nonnegative("lead", self.lead)
        limit = None if self.time_limit is None else check_positive("time_limit", self.time_limit)
        check_threshold(self.threshold), check_verbose(self.verbose)
        run = Run(n_threads(self.n_jobs), limit, callback or (lambda step: None))
        run.share = _FOLDS
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        data, rows = self._data(X, y, sample_weight, groups, fpr_range, seed, lead)
        if self._schema is None:
            warn_of_leaks(data.X, data.positive, data.groups)
        with blas_threads(1):  # so that nothing depends on their number
            results, board = self._cross_fitted(data, families, run)
            self._keep(data, results, board, run, rows)
        return self

    def _data(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fpr_range: tuple[float, float], seed: int, lead: float
    ) -> tuple[Folds, AnyArray]:
        """Return the rows of positive weight and their indices; set ``classes_``."""
        samples = self._validated(X, y, sample_weight)
        groups = groups_of(groups, len(samples.positive), X)
        self._n_rows = len(samples.positive)
        rows = np.flatnonzero(samples.counted)
        if len(rows) < self._n_rows:
            samples, groups = samples.take(rows), None if groups is None else groups[rows]
        y = samples.positive.astype(int)
        cv = n_folds(len(y)) if isinstance(self.cv, str) and self.cv == "auto" else self.cv
        folds, _ = folds_of(cv, samples.X, y, groups=groups, seed=seed)
        groups = equal_rows(samples.X) if groups is None else groups
        return Folds(*samples, groups, self.classes_[y], folds, fpr_range, seed, lead, self._schema), rows

    def _cross_fitted(self, data: Folds, families: list[Family] | None, run: Run) -> tuple[Results, Board]:
        """Return the out-of-fold results of each family, and the rows of the leaderboard so far."""
        results, board, best = Results(), Board(), -np.inf
        for family in families or suitable(data):
            began, note, run.family = run.seconds, "", family.name
            run.limited = bool(results)
            if run.limited and run.left <= 0:
                board[family.name] = {"seconds": 0.0, "note": "not tried: time_limit"}
                continue
            try:
                one = family.cross_fit(data, run)
                results[family.name] = family, one
            except HopelessError as behind:
                note, one = "stopped after the first folds, far worse than the best", FamilyResult(behind.scores)
            except LIMITS as error:
                board[family.name] = {"seconds": run.seconds - began, "note": f"not finished: {limit_of(error)}"}
                continue
            there = np.flatnonzero(np.isfinite(one.scores))
            value = data.partial_auc(there, one.scores[there])
            board[family.name] = {
                "partial_auc": value, "seconds": run.seconds - began, "chosen": one.chosen, "note": note,
            }  # fmt: skip
            if value > best and not note:
                best, data.best = value, one.scores
            if self.verbose:
                print(f"{type(self).__name__}: {family.name}: partial AUC {value:.4f} in {run.seconds - began:.1f} s")
        if not results:
            raise MemoryError(NO_ROOM)
        return results, board

    def _keep(self, data: Folds, results: Results, board: Board, run: Run, rows: AnyArray) -> None:
        """Select families, refit them to all rows, and set the fitted attributes."""
        scores = {name: one.scores for name, (_, one) in results.items()}
        here = np.flatnonzero(np.isfinite(sum(scores.values())))
        chosen = combination(data, scores, here, run.n_threads)
        chosen, estimators = refitted(data, results, board, run, chosen)
        for limit, text, fix in (
            ("time_limit", f"time_limit={shown(self.time_limit)}", "raise time_limit or pass fewer families"),
            ("memory", "not enough memory", "pass fewer columns or categories"),
        ):
            if late := [name for name, row in board.items() if row["note"].endswith(limit)]:
                warn(f"{text}: {', '.join(late)} did not finish and are dropped; {fix}", UserWarning)
        scores = {name: of for name, of in scores.items() if not board[name]["note"]}
        combined = chosen.of([scores[name][here] for name in chosen.kept])
        samples = data.samples(None, here)
        _, positive, weight = samples
        self.families_, self.estimators_ = chosen.kept, estimators
        names = [*range(self.n_features_in_)] if data.schema is None else [one.name for one in data.schema.columns]
        shares = [share for share in (importances(one, names) for one in estimators) if share is not None]
        self.feature_importances_ = np.mean(shares, axis=0) if shares else np.full(len(names), np.nan)
        self.curves_ = [
            composed(curve, results[name][1].curve) for name, curve in zip(chosen.kept, chosen.curves, strict=True)
        ]
        self._calibrate(combined, samples)
        self.out_of_fold_ = np.full(self._n_rows, np.nan)
        self.out_of_fold_[rows[here]] = combined + self.intercept_[0]
        honest = held_out(data, scores, here, chosen, run.n_threads)
        clusters = None if weight is not None or data.groups is None else data.groups[here]
        measure, kind = PartialAUC(data.fpr_range), "frequency" if weight is None else "sampling"
        given: dict[str, Any] = {"sample_weight": weight, "weight_kind": kind, "groups": clusters, "n_jobs": 1}
        self.inference_ = quietly(lambda: infer(positive, honest, measure, **given))
        self.leaderboard_ = leaderboard(board, chosen.standings)
        self._fpr_range = data.fpr_range
        self._warn_if_constant(data.X)

    def _warn_if_constant(self, X: Any) -> None:
        """Warn if all training rows have the same score; if those of some rows differ, no others are scored."""
        n = n_rows(X)
        for step in (-(-n // _SOME), 1):
            scores = self._scores(rows_of(X, np.arange(0, n, step)))
            if np.ptp(scores) > 0:
                return
        warn_if_constant(scores, "no family ranks rows that it was not trained on better than chance")

    def _scores(self, X: Any) -> F64:
        """Return the mean of the logits; each encoding of the table is computed once."""
        coded: dict[int, Any] = {}
        total: Any = 0.0
        for model, (slope, offset) in zip(self.estimators_, self.curves_, strict=True):
            part, of_part = X, model
            if isinstance(model, Pipeline) and isinstance(model.steps[0][1], TableCoder):
                coder, of_part = model.steps[0][1], model.steps[1][1]
                if id(coder) not in coded:
                    coded[id(coder)] = coder.coded(X, tell=not coded)
                part = coded[id(coder)]
            total = total + (slope * raw_scores(of_part, part) + offset)
        return np.asarray(total / len(self.estimators_))

    def features(self, X: Any) -> Any:
        """Return samples as the trees in ``estimators_`` take them, such as for SHAP values.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array or DataFrame of shape (n_samples, n_columns)
            Numbers, then the codes of categories; a pandas frame with the names of columns if X is one.

        Raises
        ------
        ValueError
            If no family of trees was kept.
        """
        check_is_fitted(self)
        X = self._checked_features(X)
        for model in self.estimators_:
            coder = model[0] if isinstance(model, Pipeline) else None
            if isinstance(coder, TableCoder) and coder.kind == "trees":
                coded, names = coder.coded(X), [one.name for one in coder.features()] or getattr(X, "columns", None)
                return type(X)(coded, columns=names, index=X.index) if hasattr(X, "iloc") else coded
        raise ValueError(f"features are those of trees, and no family of trees was kept: {', '.join(self.families_)}")

    def summary(self) -> str:
        """Return the leaderboard and the estimate as text."""
        check_is_fitted(self)
        low, high = self._fpr_range
        width = max(len(row["family"]) for row in self.leaderboard_)
        lines = [f"partial AUC on FPR [{low:g}, {high:g}] out of fold, difference from the best +- error, time taken"]
        for row in self.leaderboard_:
            value = "" if np.isnan(row["partial_auc"]) else f"{row['partial_auc']:.4f}"
            if not np.isnan(row["difference"]):
                value += f"  {row['difference']:+.4f} +- {row['difference_error']:.4f}"
            mark = "kept" if row["kept"] else (row["note"] or "dropped")
            lines.append(f"{row['family']:<{width}}  {value:<25}  {row['seconds']:6.1f} s  {mark}")
        return "\n".join([*lines, str(self.inference_)])
