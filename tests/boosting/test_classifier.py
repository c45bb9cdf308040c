"""PartialAUCBoostingClassifier: what it chooses, what it takes, what it promises."""

import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from rocmax import PartialAUCBoostingClassifier
from rocmax._runtime.settings import using
from rocmax._selection import paired_difference
from rocmax.boosting import PartialAUCObjective
from rocmax.boosting._classifier import BoostingRound, Rounds, best_round, smoothed
from rocmax.boosting._libraries import BY_NAME, raw_scores
from rocmax.estimators._base import Data, sigmoid
from rocmax.metrics import PartialAUC, compare, partial_auc_score

LIBRARIES = {"lightgbm": {"num_leaves": 7}, "xgboost": {"max_depth": 3}}
DRAWN = "the rows held out are drawn: a weight of 2 is not two rows there"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    "check_classifiers_train": "predict goes by the threshold rule, not by the greater probability",
}


def model(library: str = "lightgbm", fpr_range: tuple[float, float] = (0.0, 0.2), **options: Any) -> Any:
    options = {"n_estimators": 25, "random_state": 0, "n_jobs": 1, "library_params": LIBRARIES.get(library)} | options
    return PartialAUCBoostingClassifier(fpr_range, library=library, **options)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=800) > 1.2).astype(int)


@parametrize_with_checks([model(n_estimators=10, library_params=None)], expected_failed_checks=lambda _: EXPECTED)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.LeakageWarning")
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fitted_attributes_are_true(library: str, data: Any) -> None:
    X, y = data
    rounds: list[BoostingRound] = []
    fitted = model(library, refit=False).fit(X[:600], y[:600], callback=rounds.append)
    names = [candidate.objective for candidate in fitted.candidates_]
    assert names[0] == "log_loss" and all(isinstance(name, PartialAUCObjective) for name in names[1:])
    assert fitted.objective_ in names
    best = fitted.candidates_[names.index(fitted.objective_)]
    assert fitted.n_estimators_ == best.n_estimators <= 25
    scores = [step.score for step in rounds if step.objective == best.objective]
    assert best.score == scores[best.n_estimators - 1]
    raw = fitted._scores(X[600:])
    np.testing.assert_allclose(fitted.decision_function(X[600:]), raw + fitted.intercept_[0])
    np.testing.assert_array_equal(
        fitted.predict(X[600:]), (fitted.decision_function(X[600:]) >= fitted.threshold_).astype(int)
    )
    assert fitted.score(X[600:], y[600:]) == partial_auc_score(y[600:], raw, (0.0, 0.2)) > 0.5
    assert fitted.feature_importances_.shape == (5,) and fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(fitted.feature_importances_)[2:]) == {0, 1, 2}
    if library == "lightgbm":
        np.testing.assert_array_equal(fitted.booster_.predict(fitted.features(X[600:]), raw_score=True), raw)
    used = []
    kind = BY_NAME[library]
    plain = kind.block_scores
    with pytest.MonkeyPatch.context() as patched:
        counted = lambda booster, rows, threads: used.append(threads) or plain(booster, rows, threads)  # noqa: E731
        patched.setattr(kind, "block_scores", staticmethod(counted))
        for k in (1, 200):
            raw_scores(fitted.booster_, X[:k].repeat(k, axis=0), 7)
    assert used[0] == 1 and set(used[1:]) == {7}  # threads of busy cores wait for each other
    order = np.argsort(raw, kind="stable")
    assert np.all(np.diff(fitted.predict_proba(X[600:])[order, 1]) >= 0)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.decision_function(X), fitted.decision_function(X))
    again = clone(fitted).fit(X[:600], y[:600])
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_refit_has_more_rounds_of_all_rows(library: str, data: Any) -> None:
    X, y = data
    kept = model(library, refit=False, objective="log_loss").fit(X, y)
    fitted = model(library, objective="log_loss").fit(X, y)
    assert fitted.n_estimators_ == round(kept.n_estimators_ / 0.75)
    assert fitted.candidates_ == kept.candidates_ and fitted.intercept_ == kept.intercept_
    assert fitted.score(X, y) > kept.score(X, y)


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_missing_values_weights_and_names(library: str, data: Any) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(np.arange(len(y)) % 7 == 0, "x", np.where(y, "p", "n")))
    frame.iloc[::5, 1] = np.nan
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    fitted = model(library, objective=PartialAUCObjective((0.0, 0.2))).fit(
        frame, pd.Series(np.where(y, 1, -1)), sample_weight=weight
    )
    assert list(fitted.feature_names_in_) == [*"abcde", "kind"] and fitted.n_features_in_ == 6
    assert np.argmax(fitted.feature_importances_) == 5
    # Rows of a frame are scored alike, whichever categories there are among them.
    np.testing.assert_allclose(fitted.decision_function(frame)[3:9], fitted.decision_function(frame[3:9]))
    assert set(fitted.predict(frame)) == {-1, 1}
    heavy = weight > 0
    other = model(library, objective=PartialAUCObjective((0.0, 0.2))).fit(
        frame[heavy], np.where(y, 1, -1)[heavy], sample_weight=weight[heavy]
    )
    np.testing.assert_array_equal(other.decision_function(frame), fitted.decision_function(frame))
    with pytest.raises(ValueError, match="feature names"):
        fitted.decision_function(frame.rename(columns={"a": "z"}))
    few = sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    assert model(library, n_estimators=5).fit(few, y).decision_function(few).shape == (len(y),)


def test_the_number_of_threads_changes_nothing(data: Any) -> None:
    X, y = data
    one, two = (model(n_jobs=n, n_estimators=5).fit(X, y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_the_choice_is_beyond_noise() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    a, b = rng.normal(size=400) + y, rng.normal(size=400) + 0.8 * y
    for fpr_range in ((0.0, 0.3), (0.1, 0.5)):
        theirs = compare(y, {"a": a, "b": b}, PartialAUC(fpr_range), method="delong")
        assert paired_difference(y, a, b, fpr_range) == pytest.approx((theirs.difference, theirs.standard_error))
    values = rng.normal(size=40)
    assert np.allclose(smoothed(values), [values[max(0, k - 5) : k + 6].mean() for k in range(40)])


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_trees_are_tried_where_positives_are_few(library: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = (X[:, 0] + X[:, 1] + 1.5 * rng.logistic(size=2000) > 6.0).astype(int)
    assert 40 < y.sum() < 100
    chosen = set()
    for seed in (1, 5):
        fitted = model(library, random_state=seed, refit=False, library_params=None).fit(X, y)
        large, small = fitted.candidates_
        assert (large.small, small.small) == (False, True) and np.isnan(large.difference)
        assert small.score - large.score == pytest.approx(small.difference)
        best = small if small.difference > small.standard_error else large
        assert fitted.n_estimators_ == best.n_estimators
        chosen.add(best.small)
        params = {"num_leaves": 7} if library == "lightgbm" else {"max_depth": 3}
        alone = model(library, random_state=seed, refit=False, library_params=params).fit(X, y)
        assert [one.score for one in alone.candidates_] == [small.score]
        if best.small:
            np.testing.assert_array_equal(alone.decision_function(X), fitted.decision_function(X))
    assert chosen == {False, True}
    many = model(library, library_params=None).fit(
        np.tile(X, (7, 1)) + 0.01 * rng.normal(size=(14_000, 6)), np.tile(y, 7)
    )
    assert len(many.candidates_) == 1


def test_pairs_are_tried_where_rows_and_negatives_are_many(data: Any) -> None:
    X, y = data

    def tried(high: float) -> list[Any]:
        return [one.objective for one in model(fpr_range=(0.0, high), n_estimators=3).fit(X, y).candidates_]

    assert tried(0.2) == ["log_loss"]
    with using(boosting_pair_rows=len(y)):
        assert tried(0.05) == ["log_loss"]
        assert tried(0.2) == ["log_loss", PartialAUCObjective((0.0, 0.2), blend=0.95, widen=4.0)]
        fitted = model(n_estimators=25).fit(X, y)
    one = fitted.candidates_[1]
    assert (fitted.objective_ == one.objective) == (one.difference > 2.0 * one.standard_error)


def test_validation_of_ones_own(data: Any) -> None:
    X, y = data
    n = len(y)
    pair = (np.arange(n // 2), np.arange(n // 2, n))
    weight = np.where(np.arange(n) % 7, 1.0, 0.0)
    fitted = model(validation=pair, n_estimators=8).fit(X, y, weight)
    late = pair[1][weight[pair[1]] > 0]
    alone = model(validation=pair, refit=False, n_estimators=8).fit(X, y, weight)
    held = partial_auc_score(y[late], alone.decision_function(X[late]), (0.0, 0.2))
    assert alone.candidates_[0].score == pytest.approx(held, abs=1e-12)
    assert fitted.n_estimators_ == 2 * alone.n_estimators_
    kept = weight > 0
    by_mask = model(
        validation=(np.arange(kept.sum()) < kept[pair[0]].sum(), np.arange(kept.sum()) >= kept[pair[0]].sum())
    )
    again = by_mask.set_params(n_estimators=8).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    last = list(TimeSeriesSplit(3).split(X))[-1]
    by_time, by_pair = (model(validation=v, n_estimators=8).fit(X, y) for v in (TimeSeriesSplit(3), last))
    np.testing.assert_array_equal(by_time.decision_function(X), by_pair.decision_function(X))


def test_samples_to_validate_on_never_train(data: Any) -> None:
    X, y = data
    half = len(y) // 2
    weight = 1.0 + np.arange(len(y)) % half % 3  # of the same mean in both halves
    kept, held = (X[:half], y[:half], weight[:half]), {"X_val": X[half:], "y_val": y[half:]}
    fitted = model(n_estimators=8).fit(*kept, **held, sample_weight_val=weight[half:])
    rows = (np.arange(half), np.arange(half, len(y)))
    of_rows = model(validation=rows, refit=False, n_estimators=8).fit(X, y, weight)
    assert fitted.candidates_[0].n_estimators == of_rows.candidates_[0].n_estimators
    assert fitted.candidates_[0].score == pytest.approx(of_rows.candidates_[0].score, rel=1e-12)
    np.testing.assert_allclose(fitted.decision_function(X), of_rows.decision_function(X), rtol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(X), of_rows.predict_proba(X), rtol=1e-4)
    for options, wrong, message in (
        ({}, {"X_val": X[half:]}, "X_val and y_val go together"),
        ({}, {"sample_weight_val": weight[half:]}, "X_val and y_val go together"),
        ({"validation": TimeSeriesSplit(3)}, held, "pass one way"),
        ({}, held | {"y_val": y[half:] + 1}, r"y_val must hold both labels of y, \[0, 1\], .* got \[1, 2\]"),
        ({}, held | {"y_val": 0 * y[half:]}, r"y_val must hold both labels of y, .* got \[0\]"),
        ({}, held | {"X_val": X[half:, 1:]}, "features"),
        ({}, held | {"y_val": y[half + 1 :]}, "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            model(**options).fit(*kept, **wrong)


def test_rounds_end_when_patience_does() -> None:
    y = np.arange(60) % 3 == 0
    rounds = Rounds(Data(None, y, None), (0.0, 1.0), 12, 1)
    good, bad = y.astype(float), 1.0 - y
    stopped = [rounds.add(s) for s in [bad] * 3 + [good] * 8 + [bad] * 30]
    assert 3 < rounds.best <= 11
    assert stopped.index(True) + 1 == rounds.best + 13


def test_one_lucky_tree_is_not_taken_and_ties_at_zero_are_settled_by_the_area() -> None:
    lucky = [0.9, *[0.5] * 3, *np.linspace(0.5, 0.6, 60), *[0.55] * 30]
    assert best_round(np.array(lucky)) > 50
    assert best_round(np.array([0.9, 0.8, 0.7])) == 3  # there are too few to leave any out
    # No positive is above any negative of the range; the last rounds are better elsewhere.
    y, none = np.arange(100) < 5, np.r_[np.full(5, -1.0), np.arange(95.0)]
    better = np.where(y, 90.5, none)
    rounds = Rounds(Data(None, y, None), (0.0, 0.01), 1000, 1)
    for scores in [none] * 30 + [better] * 10:
        rounds.add(scores)
    assert not any(rounds.values) and rounds.best > 30


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_names_that_the_libraries_refuse(library: str, data: Any) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=["freq [", 'a "b"', "c: d", "e, f", "<g>"])
    fitted = model(library=library, n_estimators=8).fit(frame, y)
    plain = model(library=library, n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(frame), plain.decision_function(X))
    np.testing.assert_array_equal(fitted.feature_importances_, plain.feature_importances_)
    assert list(fitted.feature_names_in_) == list(frame.columns)


def test_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    s = rng.normal(size=20_000)
    y = rng.random(20_000) < 1 / (1 + np.exp(-(1.5 * s - 2.0)))
    assert sigmoid(s, y) == pytest.approx((1.5, -2.0), abs=0.1)
    assert sigmoid(10.0 * s + 1e3, y)[0] == pytest.approx(sigmoid(s, y)[0] / 10, rel=1e-3)
    assert sigmoid(-s, y)[0] == 0.0
    weight = rng.integers(0, 3, 20_000).astype(float)
    rows = np.repeat(np.arange(20_000), weight.astype(int))
    assert sigmoid(s, y, weight) == pytest.approx(sigmoid(s[rows], y[rows]), abs=0.02)
    for constant in (0.0, 0.1, -0.6857305829063773, 1e5 + 0.1):  # whose mean has other last bits than they have
        assert sigmoid(np.full(12, constant), np.arange(12) % 3 == 0)[0] == pytest.approx(1.0)
    apart = sigmoid(np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, False, True, True]))
    assert np.isfinite(apart).all() and 0 < apart[0] < 10


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_is_missing_is_named(library: str, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}: pip install {library}"):
        model(library).fit(*data)


def test_no_booster_is_loaded_over_one_that_is_freed(monkeypatch):
    """LightGBM frees it again if Ctrl-C comes between the two, and the process crashes."""
    lightgbm = pytest.importorskip("lightgbm")
    load, over = lightgbm.Booster.model_from_string, []
    monkeypatch.setattr(
        lightgbm.Booster, "model_from_string", lambda self, text: (over.append(bool(self._handle)), load(self, text))[1]
    )
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    PartialAUCBoostingClassifier(n_estimators=3, random_state=0, n_jobs=1).fit(X, y)
    assert over and not any(over)
