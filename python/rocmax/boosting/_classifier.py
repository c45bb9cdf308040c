"""PartialAUCBoostingClassifier: boosted trees whose rounds and objective are chosen by partial AUC on held-out rows."""

from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rocmax import _parameters as parameters
from rocmax._checks.arrays import warn_of_order
from rocmax._checks.samples import rate_range
from rocmax._checks.training import check_labels, check_sample_weight
from rocmax._parameters import shown
from rocmax._runtime.settings import settings
from rocmax._runtime.threads import n_threads
from rocmax._selection import first_best, is_better, paired_difference
from rocmax._tables._forms import is_frame, is_number
from rocmax._tables._frame import columns_of
from rocmax._tables._schema import BOOSTING, Later, Schema, decided, trained_columns
from rocmax._tables._suspects import warn_of_leaks
from rocmax._typing import F64, AnyArray, Bool
from rocmax.boosting._libraries import BY_NAME, MOST_ROUNDS, Library, checked_params, in_one_line, raw_scores, taken
from rocmax.boosting._objective import PartialAUCObjective
from rocmax.estimators._base import CalibratedRanker, Data, Threshold, atomic, check_threshold, warn_if_constant
from rocmax.estimators._folds import check_folds, equal_rows, groups_of, held_whole, warn_of_repeats, warn_of_shared
from rocmax.metrics._scores import partial_auc_score


def given(
    validation: Any, X: Any, positive: Bool, there: Bool, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return a pair of rows, or the last split of a splitter, numbered among the rows that are `there`."""
    pairs = [validation]
    if hasattr(validation, "split") and not isinstance(validation, str | bytes | bytearray):
        own = {} if groups is None else {"groups": groups}
        pairs = list(validation.split(X, positive.astype(int), **own))[-1:]
    ((train, held),) = check_folds(pairs, there, positive, name="validation (a splitter or a pair): pair")
    train, held = train[there[train]], held[there[held]]
    if np.intersect1d(train, held).size:
        raise ValueError("validation must not hold out rows that it trains on")
    if groups is None:
        warn_of_shared(X, [(train, held)])
    place = np.cumsum(there) - 1
    return place[train], place[held]


def drawn(data: Data, share: float, rng: np.random.Generator, groups: AnyArray | None) -> tuple[AnyArray, AnyArray]:
    """Return rows to train on and to hold out, drawn at random from either class; groups and equal rows whole."""
    positive = data.positive
    fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
    if fewest < 2:
        raise ValueError(f"y must hold at least two samples of each class, one to hold out, got {fewest} of one")
    whole = equal_rows(data.X) if groups is None else groups
    if whole is not None:
        held = held_whole(whole, positive, share, rng)
        both = all(0 < held[of].sum() < of.sum() for of in (positive, ~positive))
        if groups is not None and not both:
            raise ValueError("groups leave one class only to train on or to hold out; pass more groups or validation=")
        if both:
            warn_of_repeats(whole) if groups is None else None
            return np.flatnonzero(~held), np.flatnonzero(held)
    held = np.zeros(len(positive), dtype=bool)
    for of_class in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        n_held = int(np.clip(round(len(of_class) * share), 1, len(of_class) - 1))
        held[rng.choice(of_class, n_held, replace=False)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def as_features(X: Any, later: Later, texts: Collection[Any]) -> tuple[Any, Any]:
    """Return X as the libraries take it, and its numbers, those of categories last; None of a sparse matrix.

    A frame becomes one of pandas with the categories of training, which are numbers if they are no `texts`, so that the
    booster also reads the frame that was given; or, without categories, numbers, if it is not one of pandas.
    """
    schema, table = later.schema, later.read(X if is_frame(X) or sparse.issparse(X) else np.asarray(X))
    if not is_frame(X):
        return X, None if sparse.issparse(X) else table
    if not schema or (not hasattr(X, "iloc") and not schema.categories):  # trained on an array, or as good as one
        return table, table
    from pandas import Categorical, DataFrame

    if not schema.categories and all(map(_is_taken, X.dtypes)):
        return X, table
    made = dict(zip(schema.used, table.T, strict=True))
    for column in schema.categories:
        codes = np.nan_to_num(made[column.name], nan=-1.0).astype(np.intp)
        values = column.categories if column.name in texts else list(map(_plain, column.categories))
        made[column.name] = Categorical.from_codes(codes, values)
    return DataFrame({column.name: made[column.name] for column in schema.columns}), table


def _plain(text: str) -> Any:
    """Return the number or flag that a category was before its text, or the text of anything else."""
    if text in ("True", "False"):
        return text == "True"
    return text if not is_number(text) else int(float(text)) if float(text).is_integer() else float(text)


def _is_taken(dtype: Any) -> bool:
    """Whether the libraries take a type of pandas as it is; brackets are in the names of sparse types and pyarrow's."""
    return dtype.kind in "biuf" and getattr(dtype, "itemsize", 8) <= 8 and not str(dtype).endswith("]")


# The measure is averaged over this number of rounds on either side, as neighbouring rounds differ by a tree or two and
# the best of them is best by luck. No fewer rounds are chosen: their mean would include better rounds that follow.
_AROUND = 5
#: Small trees are taken if their held-out partial AUC is better by more standard errors of the difference than this:
#: with 0 they lose .01 to .03 on some tables, with 2 they are rarely taken where they gain.
ERRORS_OF_SIZE = 1.0


@dataclass
class Rounds:
    """The partial AUC of the held-out rows after each round, and the best number of rounds so far."""

    held: Data
    fpr_range: tuple[float, float]
    patience: int
    n_threads: int
    values: list[float] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)  # under the whole curve

    def add(self, scores: F64) -> bool:
        """Add the scores after a round; return whether the best round is long enough ago to stop."""
        how: dict[str, Any] = {"sample_weight": self.held.weight, "n_jobs": self.n_threads}
        for values, fpr_range in ((self.values, self.fpr_range), (self.areas, (0.0, 1.0))):
            values.append(float(partial_auc_score(self.held.positive, scores, fpr_range, **how)))
        return len(self.values) - self.best > self.patience

    @property
    def best(self) -> int:
        """Return the first number of rounds with the greatest smoothed partial AUC, of the AUC where none has any."""
        return best_round(np.array(self.values if any(self.values) else self.areas))


def best_round(values: F64) -> int:
    """Return the first number of rounds with the greatest smoothed value."""
    least = min(_AROUND, len(values) - 1)
    return least + int(first_best(smoothed(values)[least:])) + 1


def smoothed(values: F64) -> F64:
    """Return the mean of each value and its `_AROUND` neighbours on either side, fewer at the ends."""
    padded = np.pad(np.stack([values, np.ones_like(values)]), ((0, 0), (_AROUND, _AROUND)))
    # Each window has a sum of its own: differences of running sums lose accuracy over a long fit.
    sums, counts = np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1, axis=1).sum(axis=2)
    return np.asarray(sums / counts)


@dataclass(frozen=True)
class Candidate:
    """An objective and a size of trees that were tried."""

    objective: Any  # "log_loss" or PartialAUCObjective
    n_estimators: int  # its best number of rounds
    score: float  # the partial AUC of the held-out rows after so many rounds
    difference: float = np.nan  # from the best candidate before it on the same rows; NaN of the first
    standard_error: float = np.nan  # of the difference
    small: bool = False  # whether its trees are small


# The objective that "auto" also tries from 20,000 rows on, and the standard errors by which it must be better.
# With fewer rows or standard errors, the choice gains nothing on data sets that were not used for tuning.
_BLEND, _WIDEN, _ERRORS = 0.95, 4.0, 2.0
# With fewer held-out negatives in the range, no objective is chosen by them.
_FEWEST_NEGATIVES = 10
# With fewer held-out positives small trees are tried too: with more, they did not gain on any tuning set.
_FEW_POSITIVES = 100
_NO_SPLIT = (
    "no tree found a split: no feature separates the classes, or with few rows library_params need a lower "
    "min_child_samples (xgboost: min_child_weight)"
)


class BoostingRound(NamedTuple):
    """A round of ``PartialAUCBoostingClassifier.fit``, passed to its callback."""

    objective: Any  # the one that is being tried
    n_estimators: int  # rounds so far
    score: float  # the partial AUC of the held-out rows


@dataclass(eq=False, repr=False)
class PartialAUCBoostingClassifier(CalibratedRanker):
    """Boosted trees of LightGBM or XGBoost for the partial AUC on a range of false positive rates.

    Use it for a table, if you want one model of trees in little time.

    A random share of the rows of either class is held out. Their partial AUC chooses the number of rounds; with many
    rows and "auto" also the objective: log loss, or the loss of the pairs of the range
    (:class:`rocmax.boosting.PartialAUCObjective`).

    >>> from sklearn.datasets import make_classification
    >>> from rocmax import PartialAUCBoostingClassifier
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> model = PartialAUCBoostingClassifier((0.0, 0.2), n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
    >>> [candidate.score > 0.8 for candidate in model.candidates_]
    [True, True]
    >>> model.feature_importances_.shape, model.predict_proba(X).shape
    ((20,), (600, 2))

    Parameters
    ----------
    objective : {"auto", "log_loss"} or PartialAUCObjective, default="auto"
        "auto" is log loss. From 20,000 rows on, with at least ten held-out negatives in the range, it also tries
        ``PartialAUCObjective(fpr_range, blend=0.95)`` and takes it if its held-out partial AUC is better by more than
        two standard errors of the paired difference (DeLong).
    library : {"lightgbm", "xgboost"}, default="lightgbm"
        The library that grows the trees. The extra `boosting` installs both.
    n_estimators : int, default=1000
        Largest number of rounds per objective.
    learning_rate : float, default=0.05
        Learning rate of each round.
    library_params : dict, default=None
        Further parameters of the library's ``train``, such as ``{"num_leaves": 15}``. Without a size of trees, and with
        fewer than 100 held-out positives, trees of at most eight leaves are tried too, and taken if their held-out
        partial AUC is better by more than a standard error of the difference. Names that the library does not
        know, and its names for parameters of this class (``eta`` for `learning_rate`), are refused. With dart boosting,
        whose later rounds change earlier trees, the chosen number of rounds is trained anew.
    validation_fraction : float, default=0.25
        The share of held-out rows; equal rows are held out together.
    validation : splitter or pair, default=None
        Selects the held-out rows instead: a pair (rows to train on, rows to hold out), or a splitter, of which the last
        split is used, such as ``TimeSeriesSplit()`` for rows ordered in time.
    early_stopping_rounds : int, default=60
        Training stops after this many rounds without a better held-out partial AUC, averaged over up to five
        neighbouring rounds on either side.
    refit : bool, default=True
        Train again on all rows, with the chosen objective and 1 / (1 - validation_fraction) times its rounds; with
        `validation`, in proportion to the number of rows, at most twice as many.
    threshold : str or tuple, default="auto"
        The rule of ``threshold_``, as in :class:`rocmax.PartialAUCSVC`, on the held-out scores.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out rows and seeds the library.
    n_jobs : int, default=None
        Number of threads; None and -1 use all. A forked process uses one.
    verbose : int, default=0
        1 prints a line for each objective tried.

    Attributes
    ----------
    booster_ : lightgbm.Booster or xgboost.Booster
        The fitted trees.
    objective_ : "log_loss" or PartialAUCObjective
        The chosen objective.
    n_estimators_ : int
        The number of rounds of ``booster_``; fewer than chosen where no further split gains anything.
    candidates_ : list
        What was tried, each with ``objective``, ``n_estimators``, the held-out ``score``, its ``difference`` from the
        best before it with the ``standard_error``, and whether its trees are ``small``.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the total gain of all splits.
    intercept_ : ndarray of shape (1,)
        Added to the raw scores of ``booster_``: the offset that makes those of the held-out rows calibrated log-odds.
    calibration_ : tuple of float

    Notes
    -----
    *Features* are passed to the library unchanged, with missing values; texts and categories of frames of pandas,
    polars and pyarrow as categories. Later frames are read by the categories of training: others are treated as
    missing, with a warning; if those of training are numbers, 1, 1.0 and "1" are equal. A warning also names columns
    that changed since training, as of :class:`PartialAUCEnsembleClassifier`. Texts of which most begin with a digit, as
    dates do, raise ValueError; ids are left out. XGBoost treats all zeros of a sparse matrix as missing.
    *Weights* count in the objective, the held-out partial AUC and the threshold, but not their scale: they are
    divided by their mean. *Probabilities* are a logistic curve of the score [1]_, fitted to the held-out rows
    before `refit`; ``predict`` uses `threshold`. *Results* with LightGBM do not depend on `n_jobs`. Ctrl-C stops
    between two rounds.

    References
    ----------
    .. [1] J. Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.
    """

    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    _: KW_ONLY
    objective: Literal["auto", "log_loss"] | PartialAUCObjective = "auto"
    library: Literal["lightgbm", "xgboost"] = "lightgbm"
    n_estimators: int = 1000
    learning_rate: float = 0.05
    library_params: dict[str, Any] | None = None
    validation_fraction: float = 0.25
    validation: Any = None
    early_stopping_rounds: int = 60
    refit: bool = True
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
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        callback: Callable[[BoostingRound], None] | None = None,
    ) -> Self:
        """Choose the objective and the number of rounds, and train.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Training samples; NaN is a missing value.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights, divided by their mean: their scale means nothing. Samples of weight 0 are ignored.
        X_val, y_val, sample_weight_val : default=None
            Samples, labels and weights to hold out instead of rows of X. No model is trained on them: `refit` has no
            effect.
        groups : array-like of shape (n_samples,), default=None
            Clusters of dependent samples, such as those of a patient: the held-out rows are whole clusters. A splitter
            as `validation` receives them.
        callback : callable, default=None
            Called after each round of each objective with a named tuple: `objective`, `n_estimators` (rounds so far)
            and `score` (the partial AUC of the held-out rows).

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        parameters.check_callback(callback, "BoostingRound after each round")
        library, objectives, fpr_range = self._checked()
        data = self._validated(X, y, sample_weight)
        there, groups = data.counted, groups_of(groups, len(data.positive), X)
        split = None if self.validation is None else given(self.validation, data.X, data.positive, there, groups)
        groups = None if groups is None else groups[there]
        data = data if there.all() else data.take(np.flatnonzero(there))
        warn_of_leaks(data.X, data.positive, groups)
        kept, held = data, self._given(X_val, y_val, sample_weight_val)
        if held is None:
            share, rng = float(self.validation_fraction), np.random.default_rng(library.seed)
            kept, held = (data.take(rows) for rows in split or drawn(data, share, rng, groups))
        if len(data.positive) < settings().boosting_pair_rows:
            objectives = objectives[:1]
        with in_one_line(self.library):
            self._keep(self._choose(library, objectives, fpr_range, kept, held, callback), data, kept, held)
        return self

    def _given(self, X: Any, y: Any, sample_weight: Any) -> Data | None:
        """Return the held-out samples of the caller, or None."""
        if X is None and y is None and sample_weight is None:
            return None
        if X is None or y is None or self.validation is not None:
            raise ValueError("X_val and y_val go together, and select held-out rows as validation does: pass one way")
        warn_of_order(X_val=X, y_val=y, sample_weight_val=sample_weight)
        X = self._checked_features(X)
        labels, weight = check_labels(y, X, "y_val"), check_sample_weight(sample_weight, X)
        data = Data(X, labels == self.classes_[1], weight).relative()
        data = data.take(np.flatnonzero(data.counted))
        if not np.isin(labels, self.classes_).all() or len(np.unique(data.positive)) < 2:
            known, found = shown(self.classes_.tolist()), shown(np.unique(labels)[:5].tolist())
            raise ValueError(f"y_val must hold both labels of y, {known}, and no others, with weight, got {found}")
        return data

    def _choose(
        self,
        library: Library,
        objectives: list[Any],
        fpr_range: tuple[float, float],
        kept: Data,
        held: Data,
        callback: Callable[[BoostingRound], None] | None,
    ) -> Any:
        """Train the candidates; return the best: itself, its library, its booster and its held-out scores."""
        base = kept.log_odds
        rows = library.rows(*kept)
        rows_held = library.rows(*held, rows)
        in_range = np.count_nonzero(~held.positive) * (fpr_range[1] - fpr_range[0])
        if in_range < _FEWEST_NEGATIVES:
            objectives = objectives[:1]
        sizes = [library]
        if np.count_nonzero(held.positive) < _FEW_POSITIVES and not library.sets_size:
            sizes.append(library.smaller())
        tries = [*product(objectives[:1], sizes), *((objective, None) for objective in objectives[1:])]
        candidates: list[Candidate] = []
        best: Any = None  # candidate, library, booster, held-out scores
        for objective, sized in tries:
            library = sized or best[1]  # other objectives have trees of the better size
            own = None if isinstance(objective, str) else objective
            rounds = Rounds(held, fpr_range, self.early_stopping_rounds, library.n_threads)

            def watch(raw: F64, rounds: Rounds = rounds, objective: Any = objective) -> bool:
                done = rounds.add(raw)
                if callback is not None:
                    callback(BoostingRound(objective, len(rounds.values), rounds.values[-1]))
                return done

            booster = library.train(rows, own, self.n_estimators, base, rows_held, watch)
            n, anew = rounds.best, library.forgets_rounds
            booster = library.train(rows, own, n, base) if anew else library.first(booster, n)
            raw, small = raw_scores(booster, held.X, library.n_threads), library is not sizes[0]
            difference = np.nan, np.nan
            if best is not None:
                difference = paired_difference(held.positive, raw, best[3], fpr_range, weight=held.weight)
            candidate = Candidate(objective, n, rounds.values[n - 1], *difference, small)
            candidates.append(candidate)
            if best is None or is_better(*difference, ERRORS_OF_SIZE if sized else _ERRORS):
                best = candidate, library, booster, raw
            if self.verbose:
                print(f"{type(self).__name__}: {candidate}")
        self.candidates_ = candidates
        return best

    def _keep(self, best: Any, all_rows: Data, kept: Data, held: Data) -> None:
        """Set the fitted attributes, after `refit`."""
        candidate, library, booster, raw = best
        if self.refit and kept is not all_rows:
            own = None if isinstance(candidate.objective, str) else candidate.objective
            share = 1.0 - float(self.validation_fraction)
            if self.validation is not None:
                share = max(0.5, len(kept.positive) / len(all_rows.positive))
            n_rounds = round(candidate.n_estimators / share)
            booster = library.train(library.rows(*all_rows), own, n_rounds, all_rows.log_odds)
        self._set_trees(library, booster, candidate.objective)
        self._calibrate(raw, held, all_rows)
        if not self.feature_importances_.any():
            warn_if_constant(raw_scores(self.booster_, held.X, library.n_threads), _NO_SPLIT)

    def _set_trees(self, library: Library, booster: Any, objective: Any) -> None:
        """Set the attributes that follow from the trees."""
        self.booster_, self.objective_, self.n_estimators_ = booster, objective, library.n_rounds(booster)
        gains = library.gains(booster, self.n_features_in_)
        self.feature_importances_ = gains / gains.sum() if gains.any() else gains

    def _checked_training(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        given, labels = super()._checked_training(X, y)
        self._schema = decided(given, BOOSTING) if is_frame(given) else Schema(())
        columns = columns_of(given) if self._schema.categories else {}
        values = {one.name: columns[one.name].drop_nulls().unique().to_list() for one in self._schema.categories}
        self._texts = {name for name, held in values.items() if any(isinstance(value, str) for value in held)}
        X, table = as_features(given, Later(self._schema, None), self._texts)
        self._trained = None if table is None else trained_columns(table)
        return X, labels

    def _checked_features(self, X: Any) -> Any:
        # A model that was not fitted to a table knows nothing of one.
        known, trained = getattr(self, "_schema", Schema(())), getattr(self, "_trained", None)
        later = Later(known, trained, getattr(self, "feature_names_in_", None))
        X, _ = as_features(super()._checked_features(X), later, getattr(self, "_texts", ()))
        later.warn()
        return X

    def features(self, X: Any) -> Any:
        """Return samples as ``booster_`` takes them, such as for SHAP values.

        Parameters
        ----------
        X : {array-like, sparse matrix, frame} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array, sparse matrix or DataFrame
            ``booster_.predict(model.features(X), pred_contrib=True)`` for LightGBM; for XGBoost, what
            ``xgboost.DMatrix(..., enable_categorical=True)`` takes.
        """
        check_is_fitted(self)
        return taken(self.booster_, self._checked_features(X))

    def _scores(self, X: Any) -> F64:
        return raw_scores(self.booster_, X, n_threads(self.n_jobs))

    def _checked(self) -> tuple[Library, list[Any], tuple[float, float]]:
        """Check the parameters; return the library, the objectives to try and the range."""
        fpr_range = rate_range(self.fpr_range, "fpr_range")
        parameters.check_count("n_estimators", self.n_estimators, MOST_ROUNDS)
        parameters.check_positive("learning_rate", self.learning_rate)
        parameters.check_count("early_stopping_rounds", self.early_stopping_rounds)
        parameters.check_flag("refit", self.refit), parameters.check_verbose(self.verbose)
        check_threshold(self.threshold)
        share = parameters.as_float(self.validation_fraction)
        if not 0.0 < share < 1.0:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {shown(self.validation_fraction)}")
        objectives: list[Any] = [self.objective]
        if isinstance(self.objective, PartialAUCObjective):
            self.objective._checked()
        elif parameters.check_choice("objective", self.objective, ("auto", "log_loss")) == "auto":
            objectives = ["log_loss", PartialAUCObjective(fpr_range, blend=_BLEND, widen=_WIDEN)]
        kind = BY_NAME[parameters.check_choice("library", self.library, tuple(BY_NAME))]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with in_one_line(self.library):
            params = checked_params(self.library_params, self.library, log_loss=isinstance(objectives[0], str))
        return kind(params, float(self.learning_rate), seed, n_threads(self.n_jobs)), objectives, fpr_range
