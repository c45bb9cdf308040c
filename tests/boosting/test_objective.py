"""The objective and the metric for boosted trees: derivatives by finite differences, weights, both libraries."""

import pickle
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

from rocmax.boosting import PartialAUCObjective, partial_auc_metric
from rocmax.metrics import partial_auc_score

RANGES: list[dict[str, Any]] = [
    {"fpr_range": (0.0, 1.0)},
    {"fpr_range": (0.0, 0.3)},
    {"fpr_range": (0.2, 0.35), "widen": None},
    {"fpr_range": (0.05, 0.1), "widen": 2.5},
    {"tpr_range": (0.5, 1.0), "widen": None},
    {"tpr_range": (0.6, 0.8), "widen": 1.5},
]
WEIGHTS = {
    "none": None,
    "whole": np.random.default_rng(2).integers(0, 4, 60).astype(float),
    "real": np.random.default_rng(3).exponential(size=60),
}


def scored(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return y, rng.normal(size=n) * 1.5 + y


def tabular(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 1.2).astype(int)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
@pytest.mark.parametrize("options", RANGES)
def test_the_gradient_is_that_of_the_value(options: dict[str, Any], loss: str, weights: str) -> None:
    y, s = scored()
    w, step = WEIGHTS[weights], 1e-6
    for blend in (0.0, 0.4, 1.0):
        objective = PartialAUCObjective(**options, blend=blend, loss=loss)
        gradient, hessian = objective(y, s, w)
        numeric = [
            (objective.value(y, s + step * e, w) - objective.value(y, s - step * e, w)) / (2 * step)
            for e in np.eye(len(s))
        ]
        assert np.abs(gradient - numeric).max() < 1e-6
        assert hessian.min() > 0
        if blend == 1.0:
            assert abs(gradient.sum()) < 1e-12
            assert np.all((hessian > 1e-9) | (gradient == 0))


@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
def test_the_diagonal_is_that_of_the_hessian(loss: str) -> None:
    y, s = scored()
    # Close together, no pair is on the line of the smoothed hinge, whose curvature is taken for 1.
    s = s if loss == "squared_hinge" else np.sort(s * 0.1)[np.argsort(np.argsort(y + np.linspace(0, 0.9, len(y))))]
    objective, step = PartialAUCObjective((0.0, 0.2), blend=0.7, loss=loss, widen=2.0), 1e-5
    hessian = objective(y, s)[1]
    for k, e in enumerate(np.eye(len(s))):
        change = objective(y, s + step * e)[0][k] - objective(y, s - step * e)[0][k]
        assert change / (2 * step) == pytest.approx(hessian[k], abs=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "smoothed_hinge"])
@pytest.mark.parametrize("options", RANGES)
def test_whole_weights_are_repetitions_with_ties(options: dict[str, Any], loss: str) -> None:
    y, s = scored()
    s, w = np.round(s), WEIGHTS["whole"]
    assert w is not None
    rows = np.repeat(np.arange(len(y)), w.astype(int))
    objective = PartialAUCObjective(**options, loss=loss)
    assert objective.value(y, s, w) == pytest.approx(objective.value(y[rows], s[rows]), rel=1e-12)
    for ours, theirs in zip(objective(y, s, w), objective(y[rows], s[rows]), strict=True):
        summed = np.bincount(rows, theirs, len(y))
        assert np.allclose(ours[w > 0], summed[w > 0], rtol=1e-10, atol=1e-12)
    order = np.random.default_rng(1).permutation(len(y))
    for ours, theirs in zip(objective(y[order], s[order], w[order]), objective(y, s, w), strict=True):
        assert np.allclose(ours, theirs[order], rtol=1e-12, atol=1e-14)


def test_the_range_is_the_one_it_names() -> None:
    y, s = np.array([1, 1, 0, 0, 0, 0]), np.array([3.0, 1.0, 2.5, 2.0, 1.5, 0.0])
    squares = np.maximum(0.0, 1.0 - (s[:2, None] - s[None, 2:])) ** 2
    scale = 2 * 4 / 6

    def value(**options: Any) -> float:
        return PartialAUCObjective(**options, blend=1.0, loss="squared_hinge").value(y, s) / scale

    assert value(fpr_range=(0.25, 0.5), widen=None) == pytest.approx(squares[:, 1].mean())
    assert value(fpr_range=(0.25, 0.5), widen=1.0) == pytest.approx(squares[:, :2].mean())
    assert value(fpr_range=(0.0, 0.25), widen=3.0) == pytest.approx(squares[:, :3].mean())
    assert value(tpr_range=(0.5, 1.0), widen=None) == pytest.approx(squares[1].mean())
    assert value(tpr_range=(0.5, 1.0), widen=2.0) == pytest.approx(squares.mean())


def test_extreme_scores_have_derivatives_or_an_error() -> None:
    y = np.array([0, 1, 0, 1])
    for loss in ("squared_hinge", "smoothed_hinge"):
        objective = PartialAUCObjective((0.0, 0.5), loss=loss)
        far = objective(y, np.array([0.0, 1.0, 2.0, 3.0]) + 2.0**40)
        near = PartialAUCObjective((0.0, 0.5), loss=loss, blend=1.0)(y, np.array([0.0, 1.0, 2.0, 3.0]))
        assert np.allclose(far[0] - PartialAUCObjective(blend=0.0)(y, np.full(4, 2.0**40))[0] * 0.2, near[0] * 0.8)
        with pytest.raises(ValueError, match="small enough"):
            objective(y, [1e300, -1e300, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"finite, got NaN at index 1|finite, got nan at index 1"):
        PartialAUCObjective()(y, [0.0, np.nan, 0.0, 1.0])
    with pytest.raises(ValueError, match="finite"):
        PartialAUCObjective(blend=0.0)(y, [0.0, np.inf, 0.0, 1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blend": 1.5}, r"blend must be a number in \[0, 1\]"),
        ({"blend": True}, "blend must be a number"),
        ({"widen": 0.5}, "widen must be at least 1"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"fpr_range": (0.5, 0.2)}, "fpr_range must satisfy"),
        ({"fpr_range": (0.0, 0.2), "tpr_range": (0.5, 1.0)}, "give fpr_range or tpr_range"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PartialAUCObjective(**options)([0, 1], [0.0, 1.0])


def test_bad_data_is_named() -> None:
    objective = PartialAUCObjective()
    with pytest.raises(ValueError, match=r"two classes, got \[0, 1, 2\]"):
        objective([0, 1, 2], [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="one column"):
        objective([0, 1, 1], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="has one class only"):
        objective([1, 1], [0.0, 1.0])
    with pytest.raises(ValueError, match="takes no group"):
        objective([0, 1], [0.0, 1.0], None, [2])
    X, y = tabular(100)
    with pytest.raises(ValueError, match="takes no group"):
        lightgbm.LGBMRanker(objective=objective, verbose=-1).fit(X, y, group=[50, 50])


def test_it_is_cloned_and_pickled() -> None:
    objective = PartialAUCObjective((0.0, 0.1), blend=0.3)
    y, s = scored()
    model = clone(lightgbm.LGBMClassifier(objective=objective))
    for same in (clone(model).get_params()["objective"], pickle.loads(pickle.dumps(objective))):
        assert same == objective and np.array_equal(same(y, s)[0], objective(y, s)[0])
    metric = pickle.loads(pickle.dumps(partial_auc_metric((0.0, 0.5), library="xgboost")))
    assert metric(y, s) == partial_auc_score(y, s, fpr_range=(0.0, 0.5)) and metric.__name__ == "auc_fpr_0_0.5"


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_takes_it_in_both_ways(weighted: bool) -> None:
    X, y = tabular()
    weight = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    objective = PartialAUCObjective((0.0, 0.1))
    model = lightgbm.LGBMClassifier(objective=objective, n_estimators=20, num_leaves=7, verbose=-1, n_jobs=1)
    model.fit(X, y, sample_weight=weight)
    native = lightgbm.train(
        {"objective": objective.lightgbm, "num_leaves": 7, "verbose": -1, "num_threads": 1},
        lightgbm.Dataset(X, y, weight=weight),
        num_boost_round=20,
    )
    scores = model.predict(X, raw_score=True)
    assert np.array_equal(scores, native.predict(X, raw_score=True))
    assert objective.value(y, scores, weight) < objective.value(y, np.zeros(len(y)), weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_takes_it_in_both_ways(weighted: bool) -> None:
    X, y = tabular()
    weight = np.random.default_rng(0).exponential(size=len(y)) if weighted else None
    objective = PartialAUCObjective((0.0, 0.1))
    model = xgboost.XGBClassifier(objective=objective, n_estimators=20, max_depth=3, n_jobs=1, base_score=0.5)
    model.fit(X, y, sample_weight=weight)
    rows = xgboost.DMatrix(X, y, weight=weight)
    native = xgboost.train(
        {"max_depth": 3, "nthread": 1, "base_score": 0.0}, rows, num_boost_round=20, obj=objective.xgboost
    )
    scores = model.predict(X, output_margin=True)
    assert np.allclose(scores, native.predict(rows, output_margin=True))
    assert objective.value(y, scores, weight) < objective.value(y, np.zeros(len(y)), weight)


def test_log_loss_alone_is_the_library_s_own() -> None:
    X, y = tabular()
    options: dict[str, Any] = {"n_estimators": 10, "num_leaves": 7, "verbose": -1, "n_jobs": 1}
    own = lightgbm.LGBMClassifier(boost_from_average=False, **options).fit(X, y)
    ours = lightgbm.LGBMClassifier(objective=PartialAUCObjective(blend=0.0), **options).fit(X, y)
    assert np.allclose(own.predict(X, raw_score=True), ours.predict(X, raw_score=True))


def test_early_stopping_goes_by_the_metric() -> None:
    X, y = tabular()
    held, kept = slice(600, None), slice(0, 600)
    value = {}
    model = lightgbm.LGBMClassifier(n_estimators=200, num_leaves=7, metric="None", verbose=-1, n_jobs=1)
    model.fit(
        X[kept],
        y[kept],
        eval_X=(X[held],),
        eval_y=(y[held],),
        eval_metric=partial_auc_metric((0.0, 0.2)),
        callbacks=[lightgbm.early_stopping(10, verbose=False)],
    )
    (history,) = model.evals_result_["valid_0"].values()
    value["lightgbm"] = partial_auc_score(y[held], model.predict_proba(X[held])[:, 1], fpr_range=(0.0, 0.2))
    assert model.best_iteration_ == np.argmax(history) + 1 < 200
    assert value["lightgbm"] == pytest.approx(max(history))
    metric = partial_auc_metric((0.0, 0.2), library="xgboost")
    other = xgboost.XGBClassifier(
        n_estimators=200, max_depth=3, n_jobs=1, eval_metric=metric, early_stopping_rounds=10
    ).fit(X[kept], y[kept], eval_set=[(X[held], y[held])], verbose=False)
    history = other.evals_result()["validation_0"]["auc_fpr_0_0.2"]
    assert other.best_iteration == np.argmax(history) < 190
    with pytest.raises(ValueError, match="library must be one of"):
        partial_auc_metric(library="catboost")
    with pytest.raises(ValueError, match="fpr_range must satisfy"):
        partial_auc_metric((0.3, 0.1))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_metric_is_taken_by_train(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 2
    X[:, 0] += y
    weight = rng.integers(1, 4, 300).astype(float) if weighted else None
    found: dict[str, Any] = {}
    rows = lightgbm.Dataset(X, y, weight=weight)
    params = {"verbosity": -1, "objective": "binary", "metric": "None", "num_threads": 1}
    watch = lightgbm.record_evaluation(found)
    metric = partial_auc_metric((0.0, 0.2))
    booster = lightgbm.train(params, rows, 3, valid_sets=[rows], feval=metric, callbacks=[watch])
    expected = partial_auc_score(y, booster.predict(X), (0.0, 0.2), sample_weight=weight)
    assert found["training"]["auc_fpr_0_0.2"][-1] == pytest.approx(expected)
    rows = xgboost.DMatrix(X, y, weight=weight, nthread=1)
    metric = partial_auc_metric((0.0, 0.2), library="xgboost")
    params = {"objective": "binary:logistic", "nthread": 1, "disable_default_eval_metric": True}
    options = {"evals": [(rows, "rows")], "evals_result": found, "verbose_eval": False}
    booster = xgboost.train(params, rows, 3, custom_metric=metric, **options)
    expected = partial_auc_score(y, booster.predict(rows), (0.0, 0.2), sample_weight=weight)
    assert found["rows"]["auc_fpr_0_0.2"][-1] == pytest.approx(expected)
