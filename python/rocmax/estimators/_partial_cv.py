"""PartialAUCSVCCV: C and the surrogate chosen by cross-validation along paths."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from threadpoolctl import threadpool_limits

from rocmax._threads import n_threads
from rocmax._typing import F64, AnyArray, Bool
from rocmax._validation import check_choice, check_count, check_fpr_range, check_positive
from rocmax.designs import as_design
from rocmax.estimators._partial_base import PartialAUCModel
from rocmax.estimators._path import DEFAULT_CS, check_Cs
from rocmax.estimators._thresholds import Threshold, check_threshold, choose_threshold
from rocmax.estimators._training import FULL, Training, check_surrogate
from rocmax.metrics import partial_auc_score, partial_auc_scorer
from rocmax.solvers import Progress, SolverResult

# What "auto" lets the validation choose among on a partial range.
_CANDIDATES = ("tight", "ramp", "auc")


class PartialAUCSVCCV(PartialAUCModel):
    """:class:`PartialAUCSVC` with C, and the surrogate, chosen by cross-validation.

    Each fold fits one path over C per surrogate, on which all values of C share their cuts; folds run in parallel. The
    best mean validation score wins and is refitted on all samples.

    Parameters
    ----------
    fpr_range : tuple of float, default=(0.0, 1.0)
        The false positive rates (low, high) that matter.
    Cs : sequence of float, default=10 values from 1e-2 to 1e4
        Weights of the mean pair loss to choose from.
    surrogate : {"auto", "tight", "naive", "hinge", "ramp"}, default="auto"
        "auto" lets the validation choose among "tight", "ramp" and "auc", the last being training on the full range,
        which often serves a partial range well; on the full range it is "tight".
    cv : int, cross-validation generator or iterable, default=5
        Folds as in scikit-learn; a number means stratified ones, in the order of the samples.
    scoring : str or callable, default=None
        A scikit-learn scorer; by default the partial AUC on `fpr_range` (area under the curve over its width).
    selection : {"best", "one-standard-error"}, default="best"
        The second takes the smallest C whose mean score is within one standard error of the best.
    tol, max_iter, threshold, n_jobs, verbose
        As in :class:`PartialAUCSVC`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    surrogate_ : str
        The chosen surrogate.
    scores_ : dict of ndarray of shape (n_folds, n_Cs)
        Validation scores by surrogate.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, ascending, in the order of the columns of `scores_`.
    coef_, intercept_, classes_, objective_, dual_gap_, n_iter_, history_, n_features_in_, feature_names_in_
        Of the refitted model, as in :class:`PartialAUCSVC`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCSVCCV
    >>> X, y = make_classification(500, weights=[0.8], class_sep=1.5, random_state=0)
    >>> model = PartialAUCSVCCV((0.0, 0.2), Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> model.scores_[model.surrogate_].shape
    (3, 3)
    """

    C_: float
    Cs_: F64
    scores_: dict[str, F64]

    def __init__(
        self,
        fpr_range: tuple[float, float] = FULL,
        *,
        Cs: Any = DEFAULT_CS,
        surrogate: str = "auto",
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "best",
        tol: float = 1e-3,
        max_iter: int = 2000,
        threshold: Threshold = "eer",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.Cs = Cs
        self.surrogate = surrogate
        self.cv = cv
        self.scoring = scoring
        self.selection = selection
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap} of shape (n_samples, n_features)
            Training samples; the rows of each fold are copied.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights as in ``PartialAUCSVC.fit``. They go to `scoring` too; with metadata routing, to a scorer of your
            own only if it requests them.
        **params : dict
            With scikit-learn's metadata routing enabled: what the splitter and the scorer request, such as `groups`.

        Returns
        -------
        self : PartialAUCSVCCV
            The fitted model.
        """
        fpr_range = check_fpr_range(self.fpr_range)
        surrogate = check_surrogate(self.surrogate, fpr_range)
        surrogates = _CANDIDATES if self.surrogate == "auto" and fpr_range != FULL else (surrogate,)
        Cs = check_Cs(self.Cs)
        selection = check_choice("selection", self.selection, ("best", "one-standard-error"))
        check_positive("tol", self.tol), check_count("max_iter", self.max_iter), check_threshold(self.threshold)
        threads = n_threads(self.n_jobs)
        X, positive, weight = self._validate_weighted(X, y, sample_weight)
        labels = self.classes_[positive.astype(int)]
        split_params, score_params = self._routed(sample_weight, params)
        folds = list(check_cv(self.cv, labels, classifier=True).split(X, labels, **split_params))
        for k, (train, test) in enumerate(folds):
            for part in (train, test):
                counted = part if weight is None else part[weight[part] > 0]
                if len(np.unique(positive[counted])) < 2:
                    raise ValueError(f"cv: fold {k} leaves one class only; use fewer folds or stratified ones")

        scores = self._validation_scores(X, positive, weight, folds, surrogates, Cs, threads, score_params)
        self.Cs_, self.scores_ = np.array(Cs), {name: scores[:, k] for k, name in enumerate(surrogates)}
        chosen, column = _choose(scores, selection)
        self.C_ = Cs[column]
        training = Training(X, positive, fpr_range, threads, weight=weight)
        path = training.path(surrogates[chosen], Cs[: column + 1], tol=self.tol, max_iter=self.max_iter)
        result = list(path)[-1]
        self._store(result, surrogates[chosen], positive, weight)
        self._warn(result, self.C_)
        if self.verbose:
            print(
                f"{type(self).__name__}: C = {self.C_:g}, {self.surrogate_}, mean validation score "
                f"{scores[:, chosen, column].mean():.4f}, gap {self.dual_gap_:.2g}"
            )
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what `fit` takes for itself and what it passes on, as scikit-learn's routing asks.

        Returns
        -------
        MetadataRouter
            Requests of this estimator, of the splitter and of the scorer.
        """
        scorer = partial_auc_scorer(self.fpr_range).set_score_request(sample_weight=True)
        if self.scoring is not None:
            scorer = check_scoring(self, self.scoring)
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
            .add(scorer=scorer, method_mapping=MethodMapping().add(caller="fit", callee="score"))
        )

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arguments for the splitter and for the scorer."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return routed.splitter.split, routed.scorer.score
        if params:
            raise TypeError(
                f"fit got {', '.join(map(repr, params))}, which only scikit-learn's metadata routing can pass on: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        return {}, {} if sample_weight is None else {"sample_weight": sample_weight}

    def _validation_scores(
        self,
        X: Any,
        positive: Bool,
        weight: F64 | None,
        folds: list[Any],
        surrogates: tuple[str, ...],
        Cs: list[float],
        threads: int,
        score_params: dict[str, Any],
    ) -> F64:
        """Return the scores, of shape (n_folds, n_surrogates, n_Cs)."""
        workers = min(threads, len(folds))
        stop = threading.Event()

        def check(_: Progress) -> None:
            if stop.is_set():
                raise InterruptedError

        def fold(rows: tuple[AnyArray, AnyArray]) -> list[list[float]]:
            train, test = rows
            of_train, of_test = (None if weight is None else weight[part] for part in rows)
            inner = max(1, threads // workers)
            training = Training(X[train], positive[train], self.fpr_range, inner, weight=of_train)
            X_test = X[test]
            own = {name: _rows(value, test, len(positive)) for name, value in score_params.items()}
            options = {"tol": self.tol, "max_iter": self.max_iter, "callback": check}

            def score(result: SolverResult) -> float:
                if self.scoring is None:
                    scores = as_design(X_test).scores(result.model.vector)
                    return float(
                        partial_auc_score(
                            positive[test], scores, fpr_range=self.fpr_range, sample_weight=of_test, n_jobs=1
                        )
                    )
                model = self._model(result, positive[train], of_train)
                labels = self.classes_[positive[test].astype(int)]
                return float(check_scoring(model, self.scoring)(model, X_test, labels, **own))

            return [
                [score(result) for result in training.path(name, Cs, **options)]  # type: ignore[arg-type]
                for name in surrogates
            ]

        # Ctrl-C reaches the main thread only: the flag takes it to the folds.
        with threadpool_limits(max(1, threads // workers), user_api="blas"), ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(fold, rows) for rows in folds]
            try:
                return np.array([future.result() for future in futures])
            except BaseException:
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _model(self, result: SolverResult, positive: Bool, weight: F64 | None) -> Self:
        """Return a fitted model of a fold, for a scorer."""
        model: Self = clone(self)
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        model.coef_ = result.model.vector[None]
        model.intercept_ = np.array([-choose_threshold(result.model.scores, positive, self.threshold, weight)])
        return model


def _rows(value: Any, rows: AnyArray, n_samples: int) -> Any:
    """Return the given rows of a value that has one for each sample, others as they are."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_samples:
        return np.asarray(value)[rows]
    return value


def _choose(scores: F64, selection: str) -> tuple[int, int]:
    """Return the index of the surrogate and of C."""
    means = scores.mean(axis=0)
    surrogate, column = np.unravel_index(int(np.argmax(means)), means.shape)
    if selection == "one-standard-error" and len(scores) > 1:
        error = scores[:, surrogate, column].std(ddof=1) / np.sqrt(len(scores))
        column = np.flatnonzero(means[surrogate] >= means[surrogate, column] - error)[0]
    return int(surrogate), int(column)
