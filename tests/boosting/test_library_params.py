"""`library_params`: one home for each parameter, no unknown names, and fitted attributes that are true of the model."""

from typing import Any

import numpy as np
import pytest

from rocmax import PartialAUCBoostingClassifier
from rocmax.boosting import PartialAUCObjective
from rocmax.metrics import partial_auc_score

DART = {
    "lightgbm": {"boosting": "dart", "max_depth": 5},
    "xgboost": {"booster": "dart", "rate_drop": 0.3, "max_depth": 5},
}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=600) > 1.0).astype(int)


def model(library: str, params: dict[Any, Any], **options: Any) -> Any:
    options = {"n_estimators": 15, "random_state": 0, "n_jobs": 1, "objective": "log_loss"} | options
    return PartialAUCBoostingClassifier((0.0, 0.2), library=library, library_params=params, **options)


@pytest.mark.parametrize(
    ("library", "name", "own"),
    [
        *(("lightgbm", name, "n_estimators") for name in ("n_estimators", "num_round", "num_boost_round", "nrounds")),
        *(("xgboost", name, "n_estimators") for name in ("n_estimators", "num_round", "num_boost_round")),
        *((library, name, "learning_rate") for library in DART for name in ("eta", "learning_rate")),
        *((library, "early_stopping_rounds", "early_stopping_rounds") for library in DART),
        ("lightgbm", "early_stopping_round", "early_stopping_rounds"),
        ("lightgbm", "n_iter_no_change", "early_stopping_rounds"),
        ("lightgbm", "application", "objective"),
        *((library, "objective", "objective") for library in DART),
        *((library, name, "random_state") for library in DART for name in ("seed", "random_state")),
        *((library, name, "n_jobs") for library in DART for name in ("nthread", "n_jobs")),
        *((library, name, "verbose") for library in DART for name in ("verbosity", "verbose")),
    ],
)
def test_parameters_of_the_class_are_refused_by_their_name_there(library: str, name: str, own: str, data: Any) -> None:
    with pytest.raises(ValueError, match=f"library_params: '{name}' is the parameter {own} of the class"):
        model(library, {name: 3}).fit(*data)


@pytest.mark.parametrize(
    ("library", "params", "message"),
    [
        ("lightgbm", {"num_leave": 3}, "lightgbm has no parameter 'num_leave' here; did you mean 'num_leaves'"),
        ("xgboost", {"max_dept": 3}, "xgboost has no parameter 'max_dept' here; did you mean 'max_depth'"),
        ("xgboost", {"rate_drop": 0.1}, "'rate_drop' has no effect without booster"),  # of dart alone
        ("lightgbm", {1: 2}, "no parameter 1 here"),
        ("lightgbm", {"metrics": "auc"}, "'metrics' has no effect here"),
        ("xgboost", {"eval_metric": "auc"}, "'eval_metric' has no effect here"),
        ("xgboost", {"base_score": 0.5}, "'base_score' has no effect here"),
        ("lightgbm", {"num_classes": 3}, "'num_classes' has no effect here"),
        ("lightgbm", {"test_data": "x"}, "'test_data' has no effect here"),
        ("lightgbm", {"min_data": 3, "min_child_samples": 4}, "'min_data' and 'min_child_samples' are one parameter"),
        ("xgboost", {"alpha": 3, "reg_alpha": 4}, "'alpha' and 'reg_alpha' are one parameter"),
        ("lightgbm", {"boost": "rf"}, "boost='rf' does not boost trees"),
        ("xgboost", {"booster": "gblinear"}, "does not boost trees"),
    ],
)
def test_what_would_be_ignored_is_refused(library: str, params: dict[Any, Any], message: str, data: Any) -> None:
    with pytest.raises(ValueError, match=message):
        model(library, params).fit(*data)


@pytest.mark.parametrize(
    ("library", "params"),
    [
        ("lightgbm", {"max_leaf": 4, "reg_alpha": 0.1, "extra_trees": True, "boosting": "goss", "bagging_seed": 3}),
        ("xgboost", {"reg_alpha": 0.1, "gamma": 0.1, "scale_pos_weight": 2, "grow_policy": "lossguide"}),
        ("xgboost", {"tree_method": "approx", "max_bin": 16, "num_parallel_tree": 2, "subsample": 0.5}),
        ("xgboost", {"updater": "grow_colmaker", "max_leaves": 0, "seed_per_iteration": True}),
    ],
)
def test_parameters_of_the_library_are_taken(library: str, params: dict[str, Any], data: Any) -> None:
    X, y = data
    other = model(library, params).fit(X, y)
    assert not np.array_equal(other.decision_function(X), model(library, {}).fit(X, y).decision_function(X))


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("library", DART)
def test_attributes_are_true_of_a_model_whose_later_rounds_change_earlier_trees(
    library: str, refit: bool, data: Any
) -> None:
    X, y = data
    rows, many = np.arange(len(y)), {"n_estimators": 40, "learning_rate": 0.5}
    fitted = model(library, DART[library], refit=refit, validation=(rows[:400], rows[400:]), **many).fit(X, y)
    trees = fitted.booster_.num_trees() if library == "lightgbm" else fitted.booster_.num_boosted_rounds()
    assert fitted.n_estimators_ == trees
    (found,) = fitted.candidates_
    if not refit:
        assert found.n_estimators == trees < 40  # others are only a prefix of the trees
        assert found.score == pytest.approx(partial_auc_score(y[400:], fitted._scores(X[400:]), (0.0, 0.2)), abs=1e-6)


def test_the_rounds_are_those_of_the_booster_where_no_split_is_left(data: Any) -> None:
    X, y = data
    X = (X[:, :1] > 0).astype(float)  # one split at most
    fitted = model("lightgbm", {"min_gain_to_split": 1.0}, learning_rate=1.0).fit(X, y)
    assert fitted.n_estimators_ == fitted.booster_.num_trees() < fitted.candidates_[0].n_estimators


@pytest.mark.parametrize(
    ("library", "params", "message"),
    [
        ("lightgbm", {"subsample": 0.5}, "'subsample' has no effect without bagging_freq"),
        ("lightgbm", {"bagging_freq": 1}, "'bagging_freq' has no effect without bagging_fraction or"),
        ("lightgbm", {"top_rate": 0.3}, "'top_rate' has no effect without data_sample_strategy or boosting"),
        ("lightgbm", {"max_drop": 3}, "'max_drop' has no effect without boosting"),
        ("xgboost", {"sampling_method": "gradient_based"}, "'sampling_method' has no effect without subsample"),
        ("lightgbm", {"tweedie_variance_power": 1.2}, "'tweedie_variance_power' has no effect here"),
        ("lightgbm", {"cat_feature": [0]}, "'cat_feature' has no effect here"),
        ("lightgbm", {"fs": "nowhere.json"}, "fs='nowhere.json' is not a file"),
    ],
)
def test_what_has_no_effect_is_refused(library: str, params: dict[str, Any], message: str, data: Any) -> None:
    with pytest.raises(ValueError, match=message):
        model(library, params).fit(*data)


@pytest.mark.parametrize("library", DART)
def test_weights_of_classes_are_refused_where_pairs_are_the_loss(library: str, data: Any) -> None:
    options = {"objective": PartialAUCObjective((0.0, 0.2))}
    with pytest.raises(ValueError, match="'scale_pos_weight' has no effect here"):
        model(library, {"scale_pos_weight": 20}, **options).fit(*data)


def test_a_device_that_is_not_there_is_refused(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    with pytest.raises(ValueError, match="device='cuda': xgboost finds none and would use 'cpu'"):
        model("xgboost", {"device": "cuda"}).fit(*data)
