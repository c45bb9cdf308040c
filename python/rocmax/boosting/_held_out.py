"""The rows that are held out, the number of rounds that they choose, and features as the libraries take them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rocmax._selection import first_best
from rocmax._tables._forms import is_frame, is_number
from rocmax._tables._schema import Later
from rocmax._typing import F64, AnyArray, Bool
from rocmax.estimators._folds import check_folds, equal_rows, held_whole, warn_of_repeats, warn_of_shared
from rocmax.metrics.scores._scores import partial_auc_score


def given(
    validation: Any, X: Any, positive: Bool, there: Bool, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return a pair of rows, or the last split of a splitter, numbered among the rows that are `there`."""
    pairs = [validation]
    if hasattr(validation, "split"):
        own = {} if groups is None else {"groups": groups}
        pairs = list(validation.split(X, positive.astype(int), **own))
    train, held = (rows[there[rows]] for rows in check_folds(pairs, np.ones_like(there), name="validation: pair")[-1])
    for rows, use in ((train, "train on"), (held, "hold out")):
        if len(np.unique(positive[rows])) < 2:
            raise ValueError(f"validation needs both classes among the rows to {use}")
    if np.intersect1d(train, held).size:
        raise ValueError("validation must not hold out rows that it trains on")
    if groups is None:
        warn_of_shared(X, [(train, held)])
    place = np.cumsum(there) - 1
    return place[train], place[held]


def drawn(
    positive: Bool, share: float, rng: np.random.Generator, X: Any = None, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Return rows to train on and to hold out, drawn at random from either class; groups and equal rows of X whole."""
    fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
    if fewest < 2:
        raise ValueError(f"y must hold at least two samples of each class, one to hold out, got {fewest} of one")
    equal = equal_rows(X) if groups is None and X is not None else None
    whole = groups if equal is None else equal
    if whole is not None:
        held = held_whole(whole, positive, share, rng)
        both = all(0 < held[of].sum() < of.sum() for of in (positive, ~positive))
        if groups is not None and not both:
            raise ValueError("groups leave one class only to train on or to hold out; pass more groups or validation=")
        if both:
            warn_of_repeats(whole) if groups is None else None
            return np.flatnonzero(~held), np.flatnonzero(held)
    index = []
    for of_class in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        n_held = int(np.clip(round(len(of_class) * share), 1, len(of_class) - 1))
        index.append(rng.choice(of_class, n_held, replace=False))
    held = np.zeros(len(positive), dtype=bool)
    held[np.concatenate(index)] = True
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


class Rounds:
    """The partial AUC of the held-out rows after each round, and the best number of rounds so far."""

    def __init__(
        self, positive: Bool, weight: F64 | None, fpr_range: tuple[float, float], patience: int, n_threads: int
    ) -> None:
        self._positive, self._weight, self._fpr_range = positive, weight, fpr_range
        self._patience, self._n_threads = patience, n_threads
        self.values: list[float] = []
        self._areas: list[float] = []  # under the whole curve

    def add(self, scores: F64) -> bool:
        """Add the scores after a round; return whether the best round is long enough ago to stop."""
        for values, fpr_range in ((self.values, self._fpr_range), (self._areas, (0.0, 1.0))):
            value = partial_auc_score(
                self._positive, scores, fpr_range, sample_weight=self._weight, n_jobs=self._n_threads
            )
            values.append(float(value))
        return len(self.values) - self.best > self._patience

    @property
    def best(self) -> int:
        """Return the first number of rounds with the greatest smoothed partial AUC, of the AUC where none has any."""
        return best_round(np.array(self.values if any(self.values) else self._areas))


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
    """An objective and a size of trees that were tried.

    Attributes
    ----------
    objective : "log_loss" or PartialAUCObjective
        The objective.
    n_estimators : int
        Its best number of rounds.
    score : float
        The partial AUC of the held-out rows after this number of rounds.
    difference, standard_error : float
        The difference from the best candidate before it on the same rows, and its standard error; NaN of the first.
    small : bool
        Whether the trees are small.
    """

    objective: Any
    n_estimators: int
    score: float
    difference: float = np.nan
    standard_error: float = np.nan
    small: bool = False
