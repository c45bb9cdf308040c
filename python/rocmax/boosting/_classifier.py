"""PartialAUCBoostingClassifier: boosted trees whose rounds and objective are chosen by partial AUC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from rocmax._parameters import (
    as_float,
    check_callback,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    check_verbose,
    shown,
)
from rocmax._selection import lead_over, takes_lead
from rocmax._threads import n_threads
from rocmax._typing import F64, AnyArray
from rocmax._validation import (
    check_features_for_trees,
    check_labels,
    check_sample_weight,
    check_two_classes,
    warn_of_positive_class,
)
from rocmax.boosting._calibration import sigmoid
from rocmax.boosting._choice import Candidate, Rounds
from rocmax.boosting._held_out import Part, check_validation, drawn, given
from rocmax.boosting._libraries import BY_NAME, MOST_ROUNDS, Library, in_one_line, raw_scores
from rocmax.boosting._objective import PartialAUCObjective
from rocmax.estimators._atomic import atomic
from rocmax.estimators._base import Ranker
from rocmax.estimators._thresholds import Threshold, check_threshold, choose_threshold
from rocmax.metrics._validation import rate_range

# From so many rows on "auto" tries the pairs of the range too, by this blend, and takes them if they lead log loss by
# so many standard errors of the difference on the rows held out. On fewer rows, or by smaller leads, the choice gains
# nothing on sets that nothing was tuned on.
_MANY, _BLEND, _WIDEN, _LEAD = 20_000, 0.95, 4.0, 2.0
# With fewer negatives in the range than this among the rows held out there is nothing to choose by.
_FEWEST_NEGATIVES = 10


class BoostingRound(NamedTuple):
    """What a callback of ``PartialAUCBoostingClassifier.fit`` is told after each round.

    Attributes
    ----------
    objective : "log_loss" or PartialAUCObjective
        What is being tried.
    n_estimators : int
        Rounds so far.
    score : float
        The partial AUC of the rows held out.
    """

    objective: Any
    n_estimators: int
    score: float


class PartialAUCBoostingClassifier(Ranker):
    """Boosted trees of LightGBM or XGBoost for the partial AUC on a range of false positive rates.

    A share of the rows, drawn at random from either class, is held out: the number of rounds is the one with the best
    partial AUC there. Of tables with many rows "auto" chooses the objective there too, log loss or the loss of the
    pairs of the range (:class:`rocmax.boosting.PartialAUCObjective`).

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 1.0)
        The false positive rates (low, high) that matter.
    objective : {"auto", "log_loss"} or PartialAUCObjective, default="auto"
        "auto" is log loss. From 20,000 rows on it tries ``PartialAUCObjective(fpr_range, blend=0.95)`` too, unless
        fewer than ten negatives in the range are held out, and takes it if it leads log loss there by more than two
        standard errors of the paired difference (DeLong).
    library : {"lightgbm", "xgboost"}, default="lightgbm"
        What grows the trees; both are in the extra `boosting`.
    n_estimators : int, default=1000
        Rounds, at most, of each objective tried.
    learning_rate : float, default=0.05
        Of each round.
    library_params : dict, default=None
        Further parameters of the library's ``train``, such as ``{"num_leaves": 15}``.
    validation_fraction : float, default=0.25
        The share of the rows held out.
    validation : splitter or pair, default=None
        The rows held out instead: a pair (rows to train on, rows to hold out), or a splitter, whose last split is
        taken: ``TimeSeriesSplit()`` for rows in the order of time.
    early_stopping_rounds : int, default=60
        Rounds without a better partial AUC on the rows held out after which no more are made. Measures of neighbouring
        rounds are averaged, up to five on either side, and the first five rounds are not taken. If no positive sample
        held out reaches the range, the whole AUC chooses.
    refit : bool, default=True
        Train again on all rows, with the objective chosen and 1 / (1 - validation_fraction) times its rounds; with
        `validation`, as many more as there are more rows, at most twice.
    threshold : str or tuple, default="auto"
        Where ``predict`` cuts the scores of the rows held out, as in :class:`rocmax.PartialAUCSVC`; those of
        training rows would promise too much.
    random_state : int, RandomState instance or None, default=None
        Draws the rows held out, and is the seed of the library.
    n_jobs : int, default=None
        Threads; None and -1 mean all. A forked process uses one.
    verbose : int, default=0
        1 prints a line for each objective tried.

    Attributes
    ----------
    booster_ : lightgbm.Booster or xgboost.Booster
        The fitted trees.
    objective_ : "log_loss" or PartialAUCObjective
        The objective chosen.
    n_estimators_ : int
        The number of rounds of ``booster_``.
    candidates_ : list of Candidate
        The objectives tried: ``objective``, ``n_estimators``, ``score`` on the rows held out, and ``lead`` over log
        loss there with its ``standard_error``.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in what all splits gained.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    calibration_ : tuple of float
        (slope, offset): the probability of a raw score s is 1 / (1 + exp(-(slope s + offset))).
    classes_ : ndarray of shape (2,)
        The labels, sorted; ``classes_[1]`` is the positive class.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Notes
    -----
    *Features* go to the library as they are: missing values, and categories of pandas frames. XGBoost takes the zeros
    of a sparse matrix, stored or not, as missing. *Weights*: rows of weight 0 are left out; the others weigh in the
    objective, in the partial AUC of the rows held out and in the threshold. *Probabilities* are calibrated: a logistic
    curve of the score [1]_, fitted to the rows held out before `refit`. They have the order of the scores; ``predict``
    goes by `threshold`. *Results* do not depend on `n_jobs` with LightGBM. Ctrl-C stops between two rounds.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCBoostingClassifier
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> model = PartialAUCBoostingClassifier((0.0, 0.2), n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
    >>> [candidate.score > 0.8 for candidate in model.candidates_]
    [True]
    """

    booster_: Any
    objective_: Any
    n_estimators_: int
    candidates_: list[Candidate]
    feature_importances_: F64
    calibration_: tuple[float, float]

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 1.0),
        *,
        objective: str | PartialAUCObjective = "auto",
        library: str = "lightgbm",
        n_estimators: int = 1000,
        learning_rate: float = 0.05,
        library_params: dict[str, Any] | None = None,
        validation_fraction: float = 0.25,
        validation: Any = None,
        early_stopping_rounds: int = 60,
        refit: bool = True,
        threshold: Threshold = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.objective = objective
        self.library = library
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.library_params = library_params
        self.validation_fraction = validation_fraction
        self.validation = validation
        self.early_stopping_rounds = early_stopping_rounds
        self.refit = refit
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @atomic
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, callback: Callable[[BoostingRound], None] | None = None
    ) -> Self:
        """Choose the objective and the rounds, and train.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Labels of two classes; the second in sorted order is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        callback : callable, default=None
            Called with a :class:`rocmax.boosting.BoostingRound` after each round of each objective tried.

        Returns
        -------
        self : PartialAUCBoostingClassifier
            The fitted model.

        Raises
        ------
        ImportError
            If the library is not installed.
        ValueError
            For parameters out of their ranges, labels that are not of two classes, and fewer than two rows of a class.
        """
        check_callback(callback, "BoostingRound after each round")
        library, objectives, fpr_range = self._checked()
        all_rows, split = self._validated(X, y, sample_weight)
        train, held = split or drawn(
            all_rows.positive, float(self.validation_fraction), np.random.default_rng(library.seed)
        )
        if len(all_rows.positive) < _MANY:
            objectives = objectives[:1]
        with in_one_line(self.library):
            return self._fitted(
                library, objectives, fpr_range, all_rows, all_rows.take(train), all_rows.take(held), callback
            )

    def _fitted(
        self,
        library: Library,
        objectives: list[Any],
        fpr_range: tuple[float, float],
        all_rows: Part,
        kept: Part,
        held: Part,
        callback: Callable[[BoostingRound], None] | None,
    ) -> Self:
        """Choose rounds and the objective, and train."""
        base = kept.log_odds
        rows, rows_held = _made(library, kept), None
        rows_held = _made(library, held, rows)
        in_range = np.count_nonzero(~held.positive) * (fpr_range[1] - fpr_range[0])
        if in_range < _FEWEST_NEGATIVES:
            objectives = objectives[:1]
        boosters, candidates, scores = [], [], []
        for objective in objectives:
            own = None if isinstance(objective, str) else objective
            rounds = Rounds(held.positive, held.weight, fpr_range, self.early_stopping_rounds, library.n_threads)

            def watch(raw: F64, rounds: Rounds = rounds, objective: Any = objective) -> bool:
                done = rounds.add(raw)
                if callback is not None:
                    callback(BoostingRound(objective, len(rounds.values), rounds.values[-1]))
                return done

            booster = library.train(rows, own, self.n_estimators, base, rows_held, watch)
            best = rounds.best
            boosters.append(library.first(booster, best))
            scores.append(raw_scores(boosters[-1], held.X, library.n_threads))
            found = Candidate(objective, best, rounds.values[best - 1])
            if len(scores) > 1:
                lead = lead_over(held.positive, scores[-1], scores[0], fpr_range, weight=held.weight)
                found = Candidate(objective, best, found.score, *lead)
            candidates.append(found)
            if self.verbose:
                print(f"{type(self).__name__}: {found}")
        k = takes_lead([one.score for one in candidates], [(one.lead, one.standard_error) for one in candidates], _LEAD)
        self.candidates_, self.objective_ = candidates, candidates[k].objective
        self.n_estimators_, self.booster_ = candidates[k].n_estimators, boosters[k]
        raw = scores[k]
        if self.refit:
            own = None if isinstance(self.objective_, str) else self.objective_
            share = 1.0 - float(self.validation_fraction)
            if self.validation is not None:
                share = max(0.5, len(kept.positive) / len(all_rows.positive))
            self.n_estimators_ = round(self.n_estimators_ / share)
            self.booster_ = library.train(_made(library, all_rows), own, self.n_estimators_, all_rows.log_odds)
        self.intercept_ = np.array([-choose_threshold(raw, held.positive, self.threshold, held.weight, fpr_range)])
        self.calibration_ = sigmoid(raw, held.positive, held.weight)
        gains = library.gains(self.booster_, self.n_features_in_)
        self.feature_importances_ = gains / gains.sum() if gains.any() else gains
        return self

    def decision_function(self, X: Any) -> F64:
        """Return the score of each sample, shifted by ``intercept_``; positive where ``predict`` says so.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            The raw scores of the trees, shifted.
        """
        return np.asarray(self._raw(X) + self.intercept_[0])

    def predict_proba(self, X: Any) -> F64:
        """Return calibrated probabilities of the two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            A logistic curve of the score, fitted to the rows held out; see ``calibration_``.
        """
        raw = self._raw(X)
        slope, offset = self.calibration_
        positive = expit(slope * raw + offset)
        return np.column_stack([1.0 - positive, positive])

    def _raw(self, X: Any) -> F64:
        check_is_fitted(self)
        X = check_features_for_trees(self, X, reset=False)
        return raw_scores(self.booster_, X, n_threads(self.n_jobs))

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Part, tuple[AnyArray, AnyArray] | None]:
        """Return the rows that weigh something, and which of them `validation` names; sets ``classes_``."""
        X = check_features_for_trees(self, X, reset=True)
        labels = check_labels(y, X)
        weight = check_sample_weight(sample_weight, X)
        self.classes_, positive = check_two_classes(labels, weight)
        warn_of_positive_class(self.classes_, y)
        there = np.ones(len(positive), dtype=bool) if weight is None else weight > 0
        split = None if self.validation is None else given(self.validation, X, positive, there)
        part = Part(X, positive, weight)
        return part if there.all() else part.take(np.flatnonzero(there)), split

    def _checked(self) -> tuple[Library, list[Any], tuple[float, float]]:
        """Return the library, the objectives to try and the range; checks the parameters."""
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        check_count("n_estimators", self.n_estimators, MOST_ROUNDS), check_positive("learning_rate", self.learning_rate)
        check_count("early_stopping_rounds", self.early_stopping_rounds), check_flag("refit", self.refit)
        check_threshold(self.threshold), check_verbose(self.verbose)
        check_validation(self.validation)
        share = as_float(self.validation_fraction)
        if not 0.0 < share < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {shown(self.validation_fraction)}")
        if self.library_params is not None and not isinstance(self.library_params, Mapping):
            raise ValueError(f"library_params must be a dict or None, got {shown(self.library_params)}")
        objectives: list[Any] = [self.objective]
        if isinstance(self.objective, PartialAUCObjective):
            self.objective._checked()
        elif check_choice("objective", self.objective, ("auto", "log_loss")) == "auto":
            objectives = ["log_loss", PartialAUCObjective(fpr_range, blend=_BLEND, widen=_WIDEN)]
        kind = BY_NAME[check_choice("library", self.library, tuple(BY_NAME))]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        params = dict(self.library_params or {})
        return kind(params, float(self.learning_rate), seed, n_threads(self.n_jobs)), objectives, fpr_range

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _made(library: Library, part: Part, like: Any = None) -> Any:
    return library.rows(part.X, part.positive.astype(np.float64), part.weight, like)
