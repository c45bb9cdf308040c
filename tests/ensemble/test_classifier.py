"""PartialAUCEnsembleClassifier: what it keeps, what it takes, what it promises."""

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from profiles import cases
from rocmax import PartialAUCEnsembleClassifier
from rocmax._selection import standings
from rocmax.ensemble._data import EnsembleStep, Run
from rocmax.ensemble._models import raw_scores
from rocmax.metrics import PartialAUC, compare, partial_auc_score

pytestmark = pytest.mark.usefixtures("few_trees")
NAMES = ["lightgbm", "logistic_regression", "lightgbm_extra_trees", "lightgbm_pairs", "extra_trees", "landmarks"]
RANGE = (0.0, 0.2)
DRAWN = "the folds are drawn: a weight of 2 is not two rows there"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    "check_classifiers_train": "predict goes by the threshold rule, not by the greater probability",
}


def model(families: Any = ("logistic_regression", "lightgbm"), **options: Any) -> Any:
    options = {"random_state": 0, "n_jobs": 1, "cv": 3} | options
    return PartialAUCEnsembleClassifier(RANGE, families=families, **options)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=1500) > 1.2).astype(int)


# Two small families: what the larger ones do is tested below, what the estimator promises is the same with any.
@parametrize_with_checks(
    [model([(f"tree of depth {k}", DecisionTreeClassifier(max_depth=k, random_state=0)) for k in (2, 4)], cv=2)],
    expected_failed_checks=lambda _: EXPECTED,
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.LeakageWarning")
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(("n", "folds"), [(1999, 5), (2000, 3)])
def test_folds_by_default(n: int, folds: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + rng.normal(size=n) > 1.0
    found, expected = (model(["logistic_regression"], cv=cv).fit(X, y).out_of_fold_ for cv in ("auto", folds))
    assert np.array_equal(found, expected)


def test_fitted_attributes_are_true(data: Any) -> None:
    X, y = data
    steps: list[EnsembleStep] = []
    fitted = model(NAMES).fit(X[:1000], y[:1000], callback=steps.append)
    board = {row["family"]: row for row in fitted.leaderboard_}
    assert set(board) == set(NAMES) == {step.family for step in steps}
    assert set(fitted.families_) == {name for name, row in board.items() if row["kept"]}
    best = fitted.leaderboard_[0]
    assert best["difference"] == 0.0 and best["kept"]
    for row in board.values():
        assert row["kept"] == (row["difference"] >= -2.0 * row["difference_error"])
        assert row["partial_auc"] == pytest.approx(best["partial_auc"] + row["difference"])
    held = partial_auc_score(y[:1000], fitted.out_of_fold_, RANGE)
    assert held == pytest.approx(fitted.inference_.estimate, abs=fitted.inference_.standard_error)
    test = partial_auc_score(y[1000:], fitted.decision_function(X[1000:]), RANGE)
    assert abs(test - fitted.inference_.estimate) < 4 * fitted.inference_.standard_error
    np.testing.assert_array_equal(fitted.predict(X), (fitted.decision_function(X) >= fitted.threshold_).astype(int))
    probability = fitted.predict_proba(X[1000:])[:, 1]
    assert abs(probability.mean() - y[1000:].mean()) < 0.05
    assert fitted.summary().count("kept") == len(fitted.families_)
    false_positives = np.mean(fitted.out_of_fold_[y[:1000] == 0] >= fitted.threshold_)
    assert 0.18 < false_positives <= 0.2


def test_the_score_is_the_mean_of_the_logits(data: Any) -> None:
    X, y = data
    fitted = model(lead=50.0).fit(X, y)
    assert len(fitted.families_) == 2
    logits = []
    for estimator, (slope, offset) in zip(fitted.estimators_, fitted.curves_, strict=True):
        logits.append(slope * estimator.decision_function(X) + offset)
    np.testing.assert_allclose(fitted.decision_function(X), np.mean(logits, axis=0) + fitted.intercept_[0])


def test_a_forest_keeps_no_weights_of_rows(data: Any) -> None:
    """They would go into model files."""
    X, y = data
    (pipeline,) = model(["extra_trees"], cv=2).fit(X, y, 1.0 + np.arange(len(y)) % 2).estimators_
    assert not [k for k, held in vars(pipeline[-1]).items() if isinstance(held, np.ndarray) and len(held) == len(y)]


@pytest.mark.parametrize("weighted", [False, True])
def test_standings_are_those_of_paired_delong_tests(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.4
    scores = [y + spread * rng.normal(size=400) for spread in (1.0, 1.1, 3.0)]
    weight = rng.random(400) + 0.5 if weighted else None
    found = standings(y, scores, RANGE, weight=weight)
    best = max(found)
    for one, score in zip(found, scores, strict=True):
        pair, kind = {"a": score, "b": scores[found.index(best)]}, "sampling" if weighted else "frequency"
        against = compare(y, pair, PartialAUC(RANGE), method="delong", sample_weight=weight, weight_kind=kind)
        assert one.difference == pytest.approx(against.difference, abs=1e-12)
        assert one.difference_error == pytest.approx(against.standard_error, abs=1e-9)
        assert one.kept == (one.difference >= -2 * one.difference_error)
    assert not found[2].kept


def test_groups_widen_standard_errors() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(rng.random(60) < 0.5, 10)
    common = np.repeat(rng.normal(size=(2, 60)), 10, axis=1)
    scores = [y + one + 0.1 * rng.normal(size=600) for one in common]
    groups = np.repeat(np.arange(60), 10)
    alone, clustered = standings(y, scores, RANGE), standings(y, scores, RANGE, groups=groups)
    worse = min(range(2), key=lambda k: alone[k].partial_auc)
    assert clustered[worse].difference_error > 2 * alone[worse].difference_error
    expected = compare(
        y, {"a": scores[worse], "b": scores[1 - worse]}, PartialAUC(RANGE), groups=groups, method="delong"
    )
    assert clustered[worse].difference_error == pytest.approx(expected.standard_error, rel=0.05)


def test_own_families(data: Any) -> None:
    X, y = data
    forest = RandomForestClassifier(50, random_state=0)
    weighted_not = make_pipeline(StandardScaler(), KNeighborsClassifier(20))
    families = [("forest", forest), ("neighbours", weighted_not), ("bayes", GaussianNB()), "logistic_regression"]
    fitted = model(families).fit(X, y)
    assert {row["family"] for row in fitted.leaderboard_} == {"forest", "neighbours", "bayes", "logistic_regression"}
    assert "forest" in fitted.families_
    assert not hasattr(forest, "estimators_")
    with pytest.warns(UserWarning, match="'neighbours' takes no sample_weight"):
        model(families[:2]).fit(X, y, np.ones(len(y)) + y)


def test_families_that_are_far_worse_are_left_out(data: Any) -> None:
    X, y = data
    noise = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    fitted = model([("noise", noise), "lightgbm"]).fit(X, y)
    assert fitted.families_ == ["lightgbm"]
    assert model([("noise", noise), "lightgbm"], lead=1e3).fit(X, y).families_ == ["noise", "lightgbm"]


def test_copies_are_equal_and_so_is_a_fit_by_more_threads(data: Any) -> None:
    X, y = (part[:400] for part in data)
    fitted = model(NAMES, lead=50.0).fit(X, y)
    assert len(fitted.families_) == len(NAMES)
    expected = fitted.decision_function(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), expected)
    content = skops.io.dumps(fitted)
    trusted = skops.io.get_untrusted_types(data=content)
    assert all(name.startswith(("rocmax.", "lightgbm.", "sklearn.tree.", "numpy.")) for name in trusted)
    np.testing.assert_array_equal(skops.io.loads(content, trusted=trusted).decision_function(X), expected)
    again = clone(fitted).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), expected)
    np.testing.assert_array_equal(again.out_of_fold_, fitted.out_of_fold_)


def test_importance_is_by_the_partial_auc(data: Any) -> None:
    X, y = data
    fitted = model(["lightgbm"]).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=3, random_state=0)
    assert found.importances_mean[:3].min() > found.importances_mean[3:].max() + 0.05


def test_weights(data: Any) -> None:
    X, y = data
    plain, doubled = model(lead=0.0).fit(X, y), model(lead=0.0).fit(X, y, np.full(len(y), 2.0))
    assert plain.families_ == doubled.families_
    scores = [one.decision_function(X) for one in (plain, doubled)]
    assert np.corrcoef(scores)[0, 1] > 0.97
    part = np.arange(len(y)) < 700
    without, zero = model().fit(X[part], y[part]), model().fit(X, y, part.astype(float))
    np.testing.assert_allclose(without.decision_function(X), zero.decision_function(X))
    assert np.isnan(zero.out_of_fold_[~part]).all() and np.isfinite(zero.out_of_fold_[part]).all()


@pytest.mark.parametrize(("of", "cv"), [("weights", 2), ("groups", 3)])
def test_folds_of_unlike_shares_of_positives_are_not_told_apart(of: str, cv: int) -> None:
    """By weights or groups they differ; of a strongly penalised line, and of few trees, little else does."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(240, 3))
        y = (X.sum(axis=1) + rng.normal(size=240) > 1.0).astype(int)
        given: dict[str, Any] = {"sample_weight": rng.random(240)}
        if of == "groups":
            groups = np.empty(240)
            groups[np.argsort(y + 0.6 * rng.normal(size=240))] = np.arange(240) // 20
            given = {"groups": groups}
        line = model(["logistic_regression"], cv=cv).fit(X, y, **given)
        area = partial_auc_score(y, line.decision_function(X), RANGE, sample_weight=given.get("sample_weight"))
        assert area > 0.6 and line.inference_.estimate > area - 0.15


@pytest.mark.parametrize("kind", cases([sparse.csr_matrix], [sparse.csr_array, sparse.csr_matrix]))
def test_sparse_features(kind: Any) -> None:
    X = kind(sparse.random(300, 40, density=0.2, random_state=0))
    y = np.asarray(X[:, :5].sum(axis=1) > 0.6).ravel().astype(int)
    fitted = model("auto").fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), fitted.decision_function(X.toarray()), rtol=1e-5, atol=1e-5)


def drifting(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the order of time: a level that says much within a day and nothing of the next, and a lasting effect."""
    rng = np.random.default_rng(0)
    day = np.arange(n) // 50
    risk = rng.normal(size=n // 50)[day]  # of a day, which its rows share
    lasting = rng.normal(size=n)
    y = (1.5 * risk + 0.8 * lasting + rng.normal(size=n) > 1.0).astype(int)
    return np.column_stack([100.0 * day + rng.normal(size=n), lasting]), y


def test_time_series_need_folds_in_the_order_of_time() -> None:
    X, y = drifting()
    now, later = slice(0, 2400), slice(2400, None)
    lasting = make_pipeline(StandardScaler(), LogisticRegression())
    families = [("neighbours", KNeighborsClassifier(25)), ("line", lasting)]
    drawn = model(families).fit(X[now], y[now])
    ordered = model(families, cv=TimeSeriesSplit(5)).fit(X[now], y[now])
    assert drawn.families_ == ["neighbours"] and ordered.families_ == ["line"]
    assert np.isnan(ordered.out_of_fold_[:400]).all() and np.isfinite(ordered.out_of_fold_[400:]).all()
    drawn_later, ordered_later = (
        partial_auc_score(y[later], m.decision_function(X[later]), RANGE) for m in (drawn, ordered)
    )
    assert ordered_later > drawn_later + 0.1
    assert abs(ordered.inference_.estimate - ordered_later) < abs(drawn.inference_.estimate - drawn_later)


def test_groups_stay_together() -> None:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(120), 10)
    own = np.repeat(rng.normal(size=(120, 3)), 10, axis=0)
    y = np.repeat(rng.random(120) < 0.4, 10).astype(int)
    X = np.column_stack([100.0 * own + rng.normal(size=own.shape), y + rng.normal(size=1200)])
    families = [
        ("neighbours", KNeighborsClassifier(5)),
        ("line", make_pipeline(StandardScaler(), LogisticRegression())),
    ]
    assert model(families).fit(X, y).families_ == ["neighbours"]
    for cv in (3, GroupKFold(3)):
        assert model(families, cv=cv).fit(X, y, groups=groups).families_ == ["line"]


def test_a_validation_set_of_ones_own(data: Any) -> None:
    X, y = data
    fitted = model(cv=[(np.arange(1000), np.arange(1000, 1500))]).fit(X, y)
    assert fitted.families_ == ["lightgbm"]
    assert np.isnan(fitted.out_of_fold_[:1000]).all() and np.isfinite(fitted.out_of_fold_[1000:]).all()


def test_metadata_is_routed(data: Any) -> None:
    X, y = data
    groups, weight = np.arange(len(y)) // 10, np.ones(len(y)) + y
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        line = make_pipeline(scaler, LogisticRegression().set_fit_request(sample_weight=True))
        inner = model([("line", line)], cv=GroupKFold(3)).set_fit_request(groups=True, sample_weight=True)
        routed = make_pipeline(scaler, inner).fit(X, y, groups=groups, sample_weight=weight)
    expected = clone(line).fit(scaler.fit_transform(X), y, logisticregression__sample_weight=weight / weight.mean())
    (found,) = routed[-1].estimators_
    np.testing.assert_allclose(found[-1].coef_, expected[-1].coef_, rtol=1e-5)


def test_what_is_printed(data: Any, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data
    model(["logistic_regression"], verbose=1).fit(X, y)
    told = capsys.readouterr().out
    assert re.fullmatch(r"PartialAUCEnsembleClassifier: logistic_regression: partial AUC 0\.\d{4} in \d+\.\d s\n", told)
    model(["logistic_regression"]).fit(X, y)
    assert not capsys.readouterr().out


def test_time_limit(data: Any) -> None:
    X, y = data
    with pytest.warns(UserWarning, match="time_limit=0.001: .*extra_trees did not finish"):
        fitted = model(["lightgbm", "extra_trees"], time_limit=0.001).fit(X, y)
    assert fitted.families_ == ["lightgbm"]
    (late,) = (row for row in fitted.leaderboard_ if row["family"] == "extra_trees")
    assert not late["kept"] and "time_limit" in late["note"] and np.isnan(late["partial_auc"])


def test_time_limit_of_the_models_of_all_rows(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data
    names = ["lightgbm", "logistic_regression", "extra_trees"]
    whole = model(names, lead=100.0).fit(X, y)
    assert len(whole.families_) == 3
    best = whole.leaderboard_[0]["family"]
    # Once a model of all rows is there, the time is up.
    monkeypatch.setattr(Run, "left", property(lambda run: 0.0 if run.stage == "refit" else 1.0))
    with pytest.warns(UserWarning, match="did not finish and are dropped"):
        fitted = model(names, lead=100.0, time_limit=1e6).fit(X, y)
    assert fitted.families_ == [best] and len(fitted.estimators_) == len(fitted.curves_) == 1
    assert [row["family"] for row in fitted.leaderboard_ if row["kept"]] == [best]
    assert sum("not fitted to all rows" in row["note"] for row in fitted.leaderboard_) == 2
    (alone,) = (k for k, name in enumerate(whole.families_) if name == best)
    ours, theirs = (raw_scores(one, X) for one in (fitted.estimators_[0], whole.estimators_[alone]))
    np.testing.assert_array_equal(ours, theirs)
    assert np.isfinite(fitted.out_of_fold_).all()


def test_importances_and_the_features_of_trees(data: tuple[np.ndarray, np.ndarray]) -> None:
    """The shares of the columns of X, and what the boosted trees and SHAP take."""
    X, y = data
    table = pd.DataFrame({"city": np.array([*"abc"])[(X[:, 3] > 0).astype(int)], "amount": X[:, 0], "hour": X[:, 1]})
    families = [*NAMES[:2], "extra_trees", ("own", DecisionTreeClassifier(max_depth=2)), ("near", GaussianNB())]
    for given, names in ((table, [*table]), (X, [*range(5)])):
        kept = families[: 3 if given is table else 5]
        fitted = model(kept, lead=50.0).fit(given, y)
        shares = fitted.feature_importances_
        assert (
            shares.shape == (len(names),) and shares.sum() == pytest.approx(1.0) and shares.argmax() == (given is table)
        )
        boosted = fitted.estimators_[fitted.families_.index("lightgbm")]
        coded = fitted.features(given)
        np.testing.assert_array_equal(coded, boosted[0].transform(given))
        assert list(getattr(coded, "columns", names)) == (["amount", "hour", "city"] if given is table else names)
        parts = boosted[-1].booster_.predict(coded, pred_contrib=True)
        np.testing.assert_allclose(parts.sum(axis=1), boosted[-1]._scores(np.asarray(coded)), atol=1e-9)
    with pytest.raises(ValueError, match="no family of trees was kept: logistic_regression"):
        model(["logistic_regression"]).fit(X, y).features(X)
