"""What ends a family: memory, a library that cannot be imported, an estimator of the user that fails."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from rocmax import PartialAUCBoostingClassifier, PartialAUCEnsembleClassifier
from rocmax._tables._coder import TableCoder
from rocmax.ensemble import _models
from rocmax.ensemble._models import FAMILIES, Logistic

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] + rng.normal(size=200) > 0.5).astype(int)


def model(*families: Any) -> Any:
    return PartialAUCEnsembleClassifier((0.0, 0.2), families=list(families), random_state=0, n_jobs=1, cv=3)


@pytest.fixture(params=["RuntimeError", "AttributeError", "ImportError"])
def damaged(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put libraries in the path whose import raises."""
    for name in ("lightgbm", "xgboost"):
        (tmp_path / f"{name}.py").write_text(f"raise {request.param}('libomp was not found')\n")
        for module in [module for module in sys.modules if module.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.syspath_prepend(tmp_path)
    return str(request.param)


def test_a_damaged_library_is_left_out_with_its_name(damaged: str, data: Any) -> None:
    said = rf"lightgbm is installed and cannot be imported \({damaged}: libomp was not found\)"
    with pytest.warns(UserWarning, match=said):
        assert "lightgbm" not in {row["family"] for row in model_of_auto().fit(*data).leaderboard_}
    with pytest.raises(ImportError, match=said):
        model("lightgbm").fit(*data)
    with pytest.raises(ImportError, match=said.replace("lightgbm", "xgboost")):
        PartialAUCBoostingClassifier(library="xgboost").fit(*data)


def model_of_auto() -> Any:
    return PartialAUCEnsembleClassifier((0.0, 0.2), random_state=0, n_jobs=1, cv=3)


def test_a_family_of_the_user_that_fails_is_named(data: Any) -> None:
    X, y = data
    with pytest.raises(ValueError, match="families: 'mine' cannot be fitted: Input X contains NaN"):
        model("logistic_regression", ("mine", KNeighborsClassifier())).fit(np.where(X > 2, np.nan, X), y)


@pytest.mark.parametrize("stage", ["cross_fit", "refit"])
def test_a_family_that_does_not_fit_in_memory_is_left_out(
    stage: str, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(type(FAMILIES["extra_trees"]), stage, fails)
    with pytest.warns(UserWarning, match="not enough memory: extra_trees did not finish and are dropped"):
        fitted = model("extra_trees", "logistic_regression").set_params(lead=50.0).fit(*data)
    assert fitted.families_ == ["logistic_regression"]
    np.testing.assert_array_equal(fitted.predict(data[0][:5]), fitted.predict(data[0])[:5])
    monkeypatch.setattr(Logistic, stage, fails)
    with pytest.raises(MemoryError, match="no family fits in memory"):
        model("extra_trees", "logistic_regression").fit(*data)


def test_many_categories_are_sparse_for_linear_models() -> None:
    k = np.repeat(np.arange(600), 12)
    coder = TableCoder("linear")
    X = coder.fit_transform(pd.DataFrame({"k": [f"shop {v:x}" for v in k], "x": np.arange(len(k)) % 7}))
    assert sparse.issparse(X) and X.shape == (len(k), 601) and X.nnz == 2 * len(k)
    place = X[:, 1:].toarray().argmax(axis=1).reshape(600, 12)
    assert (place == place[:, :1]).all() and len(np.unique(place)) == 600
    assert not sparse.issparse(TableCoder("linear").fit_transform(pd.DataFrame({"k": [f"s{v % 400}" for v in k]})))


def test_small_trees_are_a_candidate_where_positives_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + X[:, 1] + rng.logistic(size=600) > 2.5
    for errors, leaves in ((-np.inf, 7), (np.inf, 31)):
        monkeypatch.setattr(_models, "ERRORS_OF_SIZE", errors)
        fitted = model("lightgbm").fit(X, y)
        (row,) = fitted.leaderboard_
        assert row["chosen"].get("num_leaves", 31) == leaves
        trees = fitted.estimators_[0][-1]
        assert trees.booster_.params["num_leaves"] == leaves and trees.n_estimators_ == row["chosen"]["n_estimators"]
