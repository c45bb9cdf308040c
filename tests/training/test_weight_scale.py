"""The scale of weights means nothing, and a model that ranks nothing is news."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from profiles import cases
from rocmax import (
    AUCRLS,
    AUCRLSCV,
    AUCSVC,
    PartialAUCBoostingClassifier,
    PartialAUCEnsembleClassifier,
    PartialAUCSVC,
    PartialAUCSVCCV,
)
from rocmax.boosting import PartialAUCObjective
from rocmax.estimators._base import Data
from rocmax.exceptions import ZeroModelWarning
from rocmax.papers import AUCSplitTree, GreedyPAUC, PAUCBoost, RankBoost, TauFPL, TwoNormSVC


def boosting(**options: Any) -> Any:
    return PartialAUCBoostingClassifier((0.0, 0.2), n_estimators=10, random_state=0, n_jobs=1, **options)


def ensemble(**options: Any) -> Any:
    return PartialAUCEnsembleClassifier((0.0, 0.2), cv=3, random_state=0, n_jobs=1, **options)


TREES = {
    "lightgbm": boosting,
    "xgboost": lambda: boosting(library="xgboost"),
    "pairs": lambda: boosting(objective=PartialAUCObjective((0.0, 0.2))),
    "alerts": lambda: boosting(threshold=("alerts", 30)),
    "ensemble": lambda: ensemble(families=["lightgbm", "logistic_regression"]),
}


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_the_scale_of_weights_means_nothing_to_trees(make: Any, few_trees: None) -> None:
    X, y = make_classification(200, 6, n_informative=4, weights=[0.7], random_state=0)
    weight = np.random.default_rng(0).lognormal(0, 0.5, 200)
    weight[::7] = 0
    model = make().fit(X, y, sample_weight=weight)
    scores, found = model.decision_function(X), getattr(model, "inference_", None)
    assert len(np.unique(scores)) > 9
    for scale in cases((1e12, 1e-300), (4.0, 1e12, 1.0 / weight.sum(), 1e-300)):
        other = make().fit(X, y, sample_weight=scale * weight)
        np.testing.assert_array_equal(other.decision_function(X), scores)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert found is None or other.inference_.estimate == found.estimate
    same = make().fit(X[weight > 0], y[weight > 0]).decision_function(X)
    np.testing.assert_array_equal(make().fit(X, y, sample_weight=7.3 * (weight > 0)).decision_function(X), same)


# A ramp may end at another model within its tolerance, if weights are rounded otherwise.
CONVEX = PartialAUCSVC((0.0, 0.2), surrogate="tight"), PartialAUCSVCCV((0.0, 0.2), surrogate="tight", cv=3)


@pytest.mark.parametrize("model", [*CONVEX, AUCSVC(), TauFPL()])
def test_the_scale_of_weights_means_nothing_to_other_estimators(model: Any) -> None:
    X, y = make_classification(150, 5, n_redundant=0, weights=[0.7], random_state=0)
    weight = np.random.default_rng(0).lognormal(0, 0.5, 150)
    scores = model.fit(X, y, sample_weight=weight).decision_function(X)
    np.testing.assert_array_equal(model.fit(X, y, sample_weight=4 * weight).decision_function(X), scores)
    for scale in (1e-12, 1e12):
        np.testing.assert_allclose(
            model.fit(X, y, sample_weight=scale * weight).decision_function(X), scores, rtol=1e-6
        )


@pytest.mark.parametrize("surrogate", ["tight", "hinge", "ramp"])
@pytest.mark.parametrize(("n_neg", "whole"), [(50, True), (53, False)])
def test_weights_of_two_are_rows_twice(n_neg: int, whole: bool, surrogate: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20 + n_neg) < 20
    X = rng.normal(size=(len(y), 4)) + 0.7 * y[:, None]
    model = PartialAUCSVC((0.0, 0.1), surrogate=surrogate, C=10, tol=1e-9)
    plain, once = model.fit(X, y).decision_function(X), model.objective_
    twice = model.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).objective_
    for weight in (2.0, 4.0) if whole else (2.0,):
        scores = model.fit(X, y, sample_weight=np.full(len(y), weight)).decision_function(X)
        assert model.objective_ == pytest.approx(twice, rel=1e-6)
        assert not whole or scores == pytest.approx(plain, rel=0, abs=1e-7)
    assert (twice == pytest.approx(once, rel=1e-9)) == whole  # [0, 5.3] ends at 6 of 53 negatives, at 11 of 106


def test_relative_weights() -> None:
    def relative(*weight: float) -> Any:
        return Data(None, np.ones(len(weight), dtype=bool), np.array(weight)).relative().weight

    assert relative(0.1, 0.1, 0.1) is None
    np.testing.assert_array_equal(relative(0.0, 3.0, 3.0), [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(relative(1.0, 3.0), [0.5, 1.5])
    np.testing.assert_array_equal(relative(1e308, 1.5e308, 0.5e308), [1.0, 1.5, 0.5])


CONSTANT = [
    boosting(),
    boosting(library="xgboost"),
    ensemble(families=["lightgbm", "logistic_regression"]),
    PartialAUCSVC(),
    PartialAUCSVC((0.0, 0.2), surrogate="tight"),
    PartialAUCSVCCV(cv=3),
    PartialAUCSVCCV((0.0, 0.2), cv=3),
    AUCSVC(kernel="rbf"),
    AUCRLS(),
    AUCRLSCV(cv=3),
    AUCSplitTree(),
    GreedyPAUC(),
    PAUCBoost(),
    RankBoost(),
    TauFPL(),
    TwoNormSVC(),
]


@pytest.mark.parametrize("model", CONSTANT, ids=repr)
def test_a_constant_model_is_news(model: Any) -> None:
    X, y = np.ones((60, 2)), np.arange(60) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(np.unique(model.fit(X, y).decision_function(X))) == 1
    assert [one.category for one in caught].count(ZeroModelWarning) == 1


def test_a_tiny_C_is_news() -> None:
    X, y = make_classification(100, 4, random_state=0)
    for model in (PartialAUCSVC(C=1e-320), PartialAUCSVCCV(Cs=[1e-320], cv=3)):
        with pytest.warns(ZeroModelWarning):
            assert len(np.unique(model.fit(X, y).decision_function(X))) == 1
