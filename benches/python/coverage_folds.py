"""Intervals of cross-validation, a section of coverage_all.py: python benches/python/coverage_all.py 200 folds.

`cross_validated_auc` of logistic regressions on normal features, of which positives shift one: by 3 of 3 ("strong"), by
1.5 of 5 ("middle"), by 1 of 30 ("weak") and by 0 of 10 ("noise"); three negatives to a positive. The truth is the mean
of the true AUCs of the models of the folds.
"""

import numpy as np
from coverage_all import Cell
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from rocmax.metrics import cross_validated_auc

MODELS = {"strong": (3, 3.0), "middle": (5, 1.5), "weak": (30, 1.0), "noise": (10, 0.0)}


def one(rng, per_fold, n_folds, n_features, shift):
    """Return the ends of an interval and the truth."""
    y = np.arange(4 * per_fold * n_folds) < per_fold * n_folds
    X = rng.normal(size=(len(y), n_features))
    X[:, 0] += shift * y
    fold, s, true = np.empty(len(y)), np.empty(len(y)), []
    for k, (train, test) in enumerate(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)):
        coef = LogisticRegression(tol=1e-3).fit(X[train], y[train]).coef_[0]
        fold[test], s[test] = k, X[test] @ coef
        true.append(stats.norm.cdf(shift * coef[0] / np.sqrt(2) / np.linalg.norm(coef)))
    return (*cross_validated_auc(y, s, fold=fold, n_jobs=1).confidence_interval, np.mean(true))


def rows(count):
    """Yield the cells of each kind of model, by the positives of a fold and the number of folds."""
    for name, (n_features, shift) in MODELS.items():
        for per_fold in (2, 3, 5, 10):
            for n_folds in (5, 10):
                rng = np.random.default_rng(per_fold * n_folds)
                ends = np.transpose([one(rng, per_fold, n_folds, n_features, shift) for _ in range(count)])
                yield name, f"{n_folds} folds of {per_fold} positives", [Cell.of(*ends)]
