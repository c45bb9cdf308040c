"""The rows to train on and the rows to hold out, drawn at random or given by the user."""

from typing import Any

import numpy as np

from rocmax._parameters import shown
from rocmax._typing import AnyArray, Bool
from rocmax.estimators._folds import check_folds
from rocmax.estimators._repeats import equal_rows, held_whole, warn_of_kept, warn_of_shared


def check_validation(validation: Any) -> None:
    """Raise unless `validation` is None, a pair of rows or a splitter."""
    pair = isinstance(validation, tuple | list) and len(validation) == 2
    splitter = hasattr(validation, "split") and not isinstance(validation, str | bytes | bytearray)
    if not (validation is None or pair or splitter):
        raise ValueError(
            "validation must be None, a pair (rows to train on, rows to hold out) or a splitter, got "
            f"{shown(validation)}"
        )


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
            warn_of_kept(whole) if groups is None else None
            return np.flatnonzero(~held), np.flatnonzero(held)
    index = []
    for of_class in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        n_held = int(np.clip(round(len(of_class) * share), 1, len(of_class) - 1))
        index.append(rng.choice(of_class, n_held, replace=False))
    held = np.zeros(len(positive), dtype=bool)
    held[np.concatenate(index)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
