"""PartialAUCEnsembleClassifier: the families of models that rank a table best, and their mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from rocmax._parameters import check_callback, check_nonnegative, check_positive, check_verbose, shown
from rocmax._threads import n_threads
from rocmax._typing import F64, AnyArray
from rocmax._validation import rows_of
from rocmax._warn import warn
from rocmax.ensemble._combination import combination, composed, held_out, refitted
from rocmax.ensemble._data import Data, Found, HopelessError
from rocmax.ensemble._families import Family, families_of, suitable
from rocmax.ensemble._folds import folds_of
from rocmax.ensemble._report import board_text, estimate, leaderboard
from rocmax.ensemble._run import EnsembleStep, OutOfTimeError, Run, quietly
from rocmax.ensemble._scores import raw_scores
from rocmax.ensemble._table import TableCoder
from rocmax.estimators._atomic import atomic
from rocmax.estimators._base import Data as Samples
from rocmax.estimators._calibrated import CalibratedRanker
from rocmax.estimators._thresholds import Threshold, check_threshold
from rocmax.metrics._validation import names_of, rate_range

# The share of the time limit that the folds may take; the rest is for the models of all rows.
_FOLDS = 0.75


@dataclass(eq=False, repr=False)
class PartialAUCEnsembleClassifier(CalibratedRanker):
    """The families of models that rank a table best on a range of false positive rates, and the mean of their logits.

    Each family is scored out of fold, on one set of folds. Every family is kept whose partial AUC is not worse than the
    best one's by more than `lead` standard errors of the paired difference (DeLong). These are fitted again to all
    rows, and the score is the mean of their logits, each by a logistic curve of its out-of-fold scores.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 1.0)
    families : "auto" or list, default="auto"
        Names of families, and (name, estimator) pairs of your own: any classifier with ``decision_function`` or
        ``predict_proba``, which is given X as it is (put a pipeline around one that needs more). "auto" takes, in this
        order, those that suit the table:

        - "lightgbm": boosted trees with log loss, at most 1,000 rounds of rate 0.1, their number by the mean over the
          folds of the partial AUC; with all rows, as many more rounds as there are more rows.
        - "logistic_regression": scikit-learn's, C by the mean over the folds of the partial AUC.
        - "lightgbm_extra_trees": the same boosted trees with random cuts and 0.8 of the features for each tree.
        - "lightgbm_pairs": boosted trees with :class:`rocmax.boosting.PartialAUCObjective` (blend 0.95), from 20,000
          rows on.
        - "extra_trees": 200 trees of scikit-learn's ``ExtraTreesClassifier``, leaves of one row or four by the folds,
          unless they would not fit in memory.
        - "landmarks": :class:`rocmax.PartialAUCSVC` with 500 landmarks, up to 50,000 rows and 500 features.
    cv : int, cross-validation generator or iterable, default=5
        A number means stratified folds, drawn at random; with fewer than 1,000 rows again and again, up to four times,
        and the scores of a row are averaged. With ``fit(..., groups=)``, folds of whole groups. Else a splitter
        (``TimeSeriesSplit(5)`` for rows in the order of time) or pairs (rows to train on, rows to score). Rows that no
        fold scores are left out of the choice.
    lead : float, default=2.0
        Standard errors by which the best family has to be better for another to be left out.
    time_limit : float, default=None
        Seconds. Families that are not done with their folds after three quarters of it are left out, and of those kept
        the ones that are not fitted to all rows after all of it, with a warning; the first of the former and the best
        of the latter are finished in any case.
    threshold : str or tuple, default="auto"
        Where ``predict`` cuts, by the out-of-fold scores; the rules of :class:`rocmax.PartialAUCSVC`.
    random_state : int, RandomState instance or None, default=None
        Draws the folds and seeds the families.
    n_jobs : int, default=None
        Threads; None and -1 mean all.
    verbose : int, default=0
        1 prints a line for each family.

    Attributes
    ----------
    leaderboard_ : list of dict
        One a family, best first: "family", "partial_auc" and its "standard_error" out of fold, "difference" from the
        best and its "difference_error", "kept", "seconds", "chosen" (what its folds chose) and "note".
    families_ : list of str
        The names of the families kept.
    estimators_ : list
        Their models, fitted to all rows, which take X as it is.
    curves_ : list of tuple
        (slope, offset) of the logits of each.
    out_of_fold_ : ndarray of shape (n_samples,)
        The combined out-of-fold score of each row, on the scale of ``decision_function``; NaN where there is none.
    inference_ : Inference
        The partial AUC on new rows, by out-of-fold scores of families that were chosen without the rows they score,
        with its interval; see Notes.
    intercept_ : ndarray of shape (1,)
    calibration_ : tuple of float
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    *Folds*: all families have the same. Categories and scales are those of all rows, labels those of the training rows
    alone. What is compared are pooled scores; where folds do not score every row equally often, as in the order of
    time, the logits of each fold, by its own logistic curve. A family that is worse than the best by `lead` + 1
    standard errors on the first two folds is not fitted further (with 2,000 rows and more): its "difference" is NaN.

    *The estimate*: ``inference_`` is of scores that the choice of families and the curves have not seen: they are made
    anew without each fifth of the rows. What remains is the choice of rounds and C by the same folds, and that a
    fold's models have fewer rows. On german, pima and oil_spill, eight splits each, it is 0.013 (standard
    error 0.019) below the partial AUC of the test thirds on [0, 0.05] and its interval has a coverage of 96 %; of
    ``out_of_fold_``, whose families were chosen by the same rows, it is 0.008 more
    (``python benches/python/ensemble_estimate.py DATA_FOLDER --splits 8``).

    *Explaining*: :func:`sklearn.inspection.permutation_importance` of the fitted ensemble is by the partial AUC, its
    ``score``. Trees of an entry of ``estimators_`` have SHAP values:
    ``model[-1].booster_.predict(model[0].transform(X), pred_contrib=True)``.

    *Memory* beside X: 8 bytes a number for each of two codings of the table (one for trees, one for linear models, with
    a column for each category); with k folds, k + 1 times one byte a number for bins; 2,000 bytes a row for landmarks,
    twice while a fold is fitted; and the forest, at most 0.3 of the memory at hand: its leaves hold up to 32 rows where
    that is not enough, and it is left out where these do not help. Measured at the peak, beside X of 10 columns: 290
    MB of 100,000 rows; of 1,000,000, with the families that 240 seconds of one thread allow, 1.3 GB
    (``python benches/python/ensemble_memory.py``).

    *Results* do not depend on `n_jobs`. Ctrl-C stops within a second, and an estimator that was fitted before stays as
    it was. *Saving*: by `pickle`, or by `skops`, whose list of types to trust is of this package, LightGBM and
    scikit-learn unless there are families of your own.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCEnsembleClassifier
    >>> X, y = make_classification(300, weights=[0.7], random_state=0)
    >>> families = ["logistic_regression", "extra_trees"]
    >>> model = PartialAUCEnsembleClassifier((0.0, 0.2), families=families, random_state=0).fit(X, y)
    >>> [row["family"] for row in model.leaderboard_ if row["kept"]] == model.families_
    True
    """

    fpr_range: tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    families: Any = "auto"
    cv: Any = 5
    lead: float = 2.0
    time_limit: float | None = None
    threshold: Threshold = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

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
        """Choose the families and fit them.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training samples. Of pandas and polars frames, columns of text or of a categorical type are categories;
            NaN, None and nulls are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        groups : array-like of shape (n_samples,), default=None
            Clusters of dependent rows, for the folds and for the standard errors of the choice; for the interval of
            ``inference_`` where there is no `sample_weight`.
        callback : callable, default=None
            Called with an ``EnsembleStep`` after some rounds or folds.

        Returns
        -------
        self : object
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
        found, board = self._cross_fitted(data, families, run)
        self._keep(data, found, board, run, rows, lead)
        return self

    def _data(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fpr_range: tuple[float, float], seed: int, lead: float
    ) -> tuple[Data, AnyArray]:
        """Return the rows that weigh something, and which they are; sets ``classes_``."""
        X, positive, weight = self._validated(X, y, sample_weight)
        if groups is not None:
            groups = np.asarray(groups)
            check_consistent_length(X, groups)
            names_of(groups, len(positive), "groups")  # none is missing
        rows = np.arange(len(positive))
        self._n_rows = len(rows)
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            X, positive, weight = rows_of(X, rows), positive[rows], weight[rows]
            groups = None if groups is None else groups[rows]
        folds = folds_of(self.cv, X, positive, groups, seed, {})
        named = self.classes_[positive.astype(int)]
        return Data(X, positive, weight, groups, named, folds, fpr_range, seed, lead), rows

    def _cross_fitted(
        self, data: Data, families: list[Family] | None, run: Run
    ) -> tuple[dict[str, tuple[Family, Found]], dict[str, dict[str, Any]]]:
        """Return what the folds say of each family, and the rows of the leaderboard so far."""
        found: dict[str, tuple[Family, Found]] = {}
        board: dict[str, dict[str, Any]] = {}
        best = -np.inf
        for family in families or suitable(data):
            began, note, run.family = run.seconds, "", family.name
            run.limited = bool(found)
            if run.limited and run.left <= 0:
                board[family.name] = {"seconds": 0.0, "note": "not tried: time_limit"}
                continue
            try:
                one = family.cross_fit(data, run)
                found[family.name] = family, one
            except HopelessError as behind:
                note, one = "stopped after the first folds, far worse than the best", Found(behind.scores)
            except OutOfTimeError:
                board[family.name] = {"seconds": run.seconds - began, "note": "not finished: time_limit"}
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
        return found, board

    def _keep(
        self,
        data: Data,
        found: dict[str, tuple[Family, Found]],
        board: dict[str, dict[str, Any]],
        run: Run,
        rows: AnyArray,
        lead: float,
    ) -> None:
        """Choose, fit to all rows, and set the fitted attributes."""
        scores = {name: one.scores for name, (_, one) in found.items()}
        here = np.flatnonzero(np.isfinite(sum(scores.values())))
        chosen = combination(data, scores, here, lead, run.n_threads)
        chosen, estimators = refitted(data, found, board, run, chosen)
        late = [name for name, row in board.items() if "time_limit" in row["note"]]
        if late:
            warn(
                f"time_limit={shown(self.time_limit)}: {', '.join(late)} not finished and left out; give more seconds "
                "or name fewer families",
                UserWarning,
            )
        scores = {name: of for name, of in scores.items() if not board[name]["note"]}
        combined = chosen.of([scores[name][here] for name in chosen.kept])
        positive, weight = data.positive[here], None if data.weight is None else data.weight[here]
        self.families_, self.estimators_ = chosen.kept, estimators
        self.curves_ = [
            composed(curve, found[name][1].curve) for name, curve in zip(chosen.kept, chosen.curves, strict=True)
        ]
        self._calibrate(combined, Samples(None, positive, weight))
        self.out_of_fold_ = np.full(self._n_rows, np.nan)
        self.out_of_fold_[rows[here]] = combined + self.intercept_[0]
        honest = held_out(data, scores, here, chosen, lead, run.n_threads)
        clusters = None if weight is not None or data.groups is None else data.groups[here]
        self.inference_ = quietly(lambda: estimate(positive, honest, weight, clusters, data.fpr_range))
        self.leaderboard_ = leaderboard(board, chosen.standings)
        self._fpr_range = data.fpr_range

    def _scores(self, X: Any) -> F64:
        """Return the mean of the logits; each coding of the table is made once."""
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

    def summary(self) -> str:
        """Return the leaderboard and the estimate as a text."""
        check_is_fitted(self)
        return board_text(self.leaderboard_, self._fpr_range) + f"\n{self.inference_}"
