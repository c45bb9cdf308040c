"""One of every estimator, two samples for each to be fitted on, and what a fitted one answers."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from rocmax import (
    AUCRLS,
    AUCRLSCV,
    AUCSVC,
    RLS,
    RLSCV,
    PartialAUCBoostingClassifier as Boosting,
    PartialAUCEnsembleClassifier as Ensemble,
    PartialAUCSVC,
    PartialAUCSVCCV,
    papers,
)
from rocmax.papers import TwoNormSVC

RANGE = (0.0, 0.5)
ESTIMATORS = {
    "AUCSVC": AUCSVC(tol=0.1),
    "AUCSVC, again": AUCSVC(tol=0.1, warm_start=True),
    "AUCSVC, linear": AUCSVC(kernel="linear", structure=1.0, tol=0.1),
    "AUCSVC, precomputed": AUCSVC(kernel="precomputed", tol=0.1),
    "AUCSVC, pairs": AUCSVC(pairs="neighbors", n_neighbors=3, tol=0.1),
    "PartialAUCSVC": PartialAUCSVC(RANGE, C=10.0),
    "PartialAUCSVC, again": PartialAUCSVC(RANGE, surrogate="tight", C=1.0, warm_start=True),
    "PartialAUCSVC, kernel": PartialAUCSVC(RANGE, kernel="rbf", tol=0.1),
    "PartialAUCSVC, landmarks": PartialAUCSVC(RANGE, kernel="rbf", n_landmarks=6, random_state=0, warm_start=True),
    "PartialAUCSVCCV": PartialAUCSVCCV(RANGE, Cs=[1.0], cv=2, surrogate="tight", n_jobs=1),
    "PartialAUCSVCCV, landmarks": PartialAUCSVCCV(
        RANGE,
        Cs=[1.0],
        cv=2,
        surrogate="tight",
        kernel="rbf",
        gamma=[0.1, 1.0],
        n_landmarks=6,
        random_state=0,
        n_jobs=1,
    ),
    "TwoNormSVC": TwoNormSVC(),
    "TwoNormSVC, linear": TwoNormSVC(kernel="linear"),
    "AUCRLS": AUCRLS(),
    "AUCRLS, kernel": AUCRLS(kernel="rbf"),
    "RLS": RLS(kernel="precomputed"),
    "RLS, products": RLS(solver="cg"),
    "AUCRLSCV": AUCRLSCV(3, kernel="rbf"),
    "RLSCV": RLSCV(3, cv=3),
    "LightGBM": Boosting(RANGE, n_estimators=2, random_state=0, n_jobs=1),
    "XGBoost": Boosting(RANGE, library="xgboost", objective="log_loss", n_estimators=2, refit=False, random_state=0),
    "Ensemble": Ensemble(RANGE, families=[("bayes", GaussianNB())], cv=2, random_state=0, n_jobs=1),
    "AUCSplitTree": papers.AUCSplitTree(),
    "GreedyPAUC": papers.GreedyPAUC(RANGE, n_steps=2),
    "PAUCBoost": papers.PAUCBoost(RANGE, 5),
    "RankBoost": papers.RankBoost(5),
    "TauFPL": papers.TauFPL(0.5),
}


def data(name, seed, n=40):
    """Samples, or their kernel with themselves; labels and the number of features differ from seed to seed."""
    X, y = make_classification(n, 4 + seed, n_redundant=0, weights=[0.6], flip_y=0.2, random_state=seed)
    if "precomputed" in str(getattr(ESTIMATORS[name], "kernel", "")):
        X = X @ X.T
    elif "products" in name and seed:
        X = X.astype(np.float32)
    return X, (y if seed else np.where(y == 1, "b", "a"))


def scores(model, X):
    return model.decision_function(X).tobytes() + model.predict(X).tobytes() + repr(model.classes_).encode()
