"""The scores of any classifier, on a scale that logistic curves can be fitted to."""

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline

from rocmax._parameters import shown
from rocmax._typing import F64
from rocmax.estimators._base import Ranker

# The resolution of probabilities of classifiers other than forests.
_FINEST = 1e4


def raw_scores(model: Any, X: Any) -> F64:
    """Return one score per row, higher for the positive class.

    It is ``decision_function``, of rankers of this package without the threshold, which differs between folds; else
    the log-odds of ``predict_proba``, where 0 and 1 are replaced by half a tree of a forest.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if isinstance(last, Ranker):
            found = found - float(last.intercept_[0])
        what = "decision_function"
    else:
        n = len(last.estimators_) if isinstance(last, ExtraTreesClassifier | RandomForestClassifier) else _FINEST
        probability = np.asarray(model.predict_proba(X), dtype=np.float64)
        p = probability[:, 1] if probability.ndim == 2 and probability.shape[1] == 2 else probability
        found = log_odds_of_votes(n * p, n)
        what = "predict_proba"
    if found.ndim != 1 or not np.isfinite(found).all():
        held = f"shape {found.shape}" if found.ndim != 1 else shown(found[~np.isfinite(found)][:1])
        raise ValueError(f"families: {what} of {type(last).__name__} must return one finite score a row, got {held}")
    return found


def log_odds_of_votes(votes: F64, n: float) -> F64:
    """Return the log-odds of the shares of n votes, to each of which half a vote is added."""
    return np.asarray(np.log(votes + 0.5) - np.log(n - votes + 0.5))
