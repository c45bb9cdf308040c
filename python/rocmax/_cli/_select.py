"""Choice of C by cross-validation of the measure that counts, the same for every model."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from rocmax._validation import rows_of
from rocmax.metrics import partial_auc_score


@dataclass(frozen=True)
class Choice:
    """The chosen C and the mean partial AUC of its held-out folds."""

    C: float
    score: float


def choose_C(
    model: Any,
    Cs: Sequence[float],
    X: Any,
    positive: NDArray[np.bool_],
    *,
    fpr_range: tuple[float, float],
    folds: int,
    seed: int,
    tick: Callable[[], None],
) -> Choice:
    """Return the C with the best mean held-out partial AUC; of equals, the smallest.

    `model` is a pipeline whose last step has C; `tick` is called after every fit.
    """
    if min(positive.sum(), (~positive).sum()) < folds:
        raise ValueError(
            f"{folds} folds need {folds} rows of each class; there are {positive.sum()} positive "
            f"and {(~positive).sum()} negative: lower --folds, or give one --C"
        )
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(positive, positive))
    step = model.steps[-1][0]
    best = Choice(Cs[0], -np.inf)
    for C in sorted(Cs):
        held_out = []
        for train, test in splits:
            candidate = clone(model).set_params(**{f"{step}__C": C})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the chosen model's own fit will say what counts
                candidate.fit(rows_of(X, train), positive[train])
            scores = candidate.decision_function(rows_of(X, test))
            held_out.append(partial_auc_score(positive[test], scores, fpr_range=fpr_range))
            tick()
        if np.mean(held_out) > best.score:
            best = Choice(C, float(np.mean(held_out)))
    return best
