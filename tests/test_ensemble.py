"""PartialAUCEnsembleClassifier: what it keeps, what it takes, what it promises."""

from typing import Any

import numpy as np
import pytest

from rocmax import PartialAUCEnsembleClassifier
from rocmax.metrics import partial_auc_score

NAMES = ["lightgbm", "logistic_regression", "lightgbm_extra_trees", "lightgbm_pairs", "extra_trees", "landmarks"]


def model(families: Any = ("logistic_regression", "lightgbm"), **options: Any) -> Any:
    options = {"random_state": 0, "n_jobs": 1, "cv": 3} | options
    return PartialAUCEnsembleClassifier((0.0, 0.2), families=families, **options)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=1500) > 1.2).astype(int)


def test_fitted_attributes_are_true(data: Any) -> None:
    X, y = data
    fitted = model(NAMES).fit(X[:1000], y[:1000])
    board = {row["family"]: row for row in fitted.leaderboard_}
    assert set(board) == set(NAMES)
    assert set(fitted.families_) == {name for name, row in board.items() if row["kept"]}
    best = fitted.leaderboard_[0]
    assert best["difference"] == 0.0 and best["kept"]
    for row in board.values():
        assert row["kept"] == (row["difference"] >= -2.0 * row["difference_error"])
        assert row["partial_auc"] == pytest.approx(best["partial_auc"] + row["difference"])
    held = partial_auc_score(y[:1000], fitted.out_of_fold_, (0.0, 0.2))
    assert held == pytest.approx(fitted.inference_.estimate)
    test = partial_auc_score(y[1000:], fitted.decision_function(X[1000:]), (0.0, 0.2))
    assert abs(test - held) < 4 * fitted.inference_.standard_error
    np.testing.assert_array_equal(fitted.predict(X), (fitted.decision_function(X) > 0).astype(int))
    assert fitted.summary().count("kept") == len(fitted.families_)
