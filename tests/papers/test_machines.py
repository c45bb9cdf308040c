"""The baselines against their definitions, and as estimators; their kernels have naive twins in the core."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimator_checks import AT_ZERO
from profiles import cases
from rocmax.exceptions import PositiveClassWarning
from rocmax.metrics import partial_auc_score, roc_auc_score
from rocmax.papers import AUCSplitTree, GreedyPAUC, PAUCBoost, RankBoost, TauFPL
from rocmax.papers._machines import TopMean

RANGE = (0.1, 0.4)
MODELS = [
    RankBoost(15),
    AUCSplitTree(),
    PAUCBoost(RANGE, 10, threshold="eer"),
    GreedyPAUC(RANGE, n_steps=10, threshold="eer"),
    TauFPL(0.2),
]
SPARSE = (RankBoost, GreedyPAUC, TauFPL)


def sample(n=120, d=4, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    y[:4] = [False, True, False, True]
    return np.round(rng.normal(size=(n, d)) + 0.8 * y[:, None] * rng.random(d), decimals), y.astype(int)


@parametrize_with_checks(MODELS, expected_failed_checks=lambda model: AT_ZERO if isinstance(model, GreedyPAUC) else {})
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_weights_are_repetitions_and_threads_change_nothing(model):
    X, y = sample()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weight[:4] = 1
    scores = model.fit(X, y, weight).decision_function(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_allclose(scores, repeated, atol=1e-2 if isinstance(model, TauFPL) else 1e-9)
    if hasattr(model, "n_jobs"):
        one, two = (type(model)(n_jobs=k).fit(X, y).decision_function(X) for k in (1, 2))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_any_storage_gives_one_model(model, tmp_path):
    X, y = sample()
    X[np.random.default_rng(2).random(X.shape) < 0.5] = 0.0
    expected = model.fit(X, y).decision_function(X)
    file = np.memmap(tmp_path / "X", dtype=float, shape=X.shape, mode="w+")
    file[:] = X
    np.testing.assert_allclose(model.fit(file, y).decision_function(file), expected, atol=1e-6)
    np.testing.assert_allclose(model.fit(np.asfortranarray(X), y).decision_function(X), expected, atol=1e-6)
    listed = sp.csr_array(X)
    if isinstance(model, SPARSE):
        np.testing.assert_allclose(model.fit(listed, y).decision_function(listed), expected, atol=1e-6)
    else:
        with pytest.raises(TypeError, match="X, but dense data is required"):
            model.fit(listed, y)
        with pytest.raises(TypeError, match="dense data is required"):
            model.decision_function(listed)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_positive_class_is_asked_about(model):
    X, y = sample()
    with pytest.warns(PositiveClassWarning, match="is used as the positive class, 'b'") as caught:
        model.fit(X, np.array(["a", "b"])[y])
    assert caught[0].filename == __file__
    assert model.predict(X)[0] in ("a", "b") and model.score(X, np.array(["a", "b"])[y]) > 0.5


def test_boosting_keeps_its_bound():
    """The share of pairs that are tied or misordered, pairs weighted, is at most the product of sqrt(1 - r^2)."""
    for seed in range(cases(30, 500)):
        rng = np.random.default_rng(seed)
        X, y = sample(int(rng.integers(8, 90)), int(rng.integers(1, 5)), seed, int(rng.integers(0, 3)))
        weight = rng.random(len(y)) + 0.1 if seed % 2 else np.ones(len(y))
        model = RankBoost(int(rng.integers(1, 30))).fit(X, y, weight)
        # Sums in other orders than at the fit: what is tied may differ by rounding, to either side.
        scores = np.round(model.decision_function(X), 9)
        pairs = np.outer(weight[y == 1], weight[y == 0])
        wrong = pairs[scores[y == 1][:, None] <= scores[y == 0]].sum() / pairs.sum()
        assert wrong <= model.bound_ + 1e-9
        assert model.bound_ == pytest.approx(np.prod(np.sqrt(1 - model.edge_**2)), abs=1e-12)
        h = (X[:, model.feature_] > model.cut_) @ model.coef_
        np.testing.assert_allclose(h + model.intercept_, model.decision_function(X), atol=1e-9)


def test_boosting_lets_missing_values_abstain():
    X, y = sample(200)
    X[np.random.default_rng(3).random(X.shape) < 0.3] = np.nan
    model = RankBoost(40).fit(X, y)
    above = np.where(np.isnan(X[:, model.feature_]), model.missing_above_, X[:, model.feature_] > model.cut_)
    np.testing.assert_allclose(above @ model.coef_ + model.intercept_, model.decision_function(X), atol=1e-9)
    assert model.score(X, y) > 0.75
    with pytest.raises(ValueError, match=r"infinity"):
        model.fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match=r"NaN"):
        PAUCBoost().fit(X, y)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_a_stump_that_ranks_all_pairs_ends_it():
    X, y = np.arange(10.0)[:, None], (np.arange(10) > 3).astype(int)
    for model in (RankBoost(50).fit(X, y), AUCSplitTree().fit(X, y), PAUCBoost().fit(X, y)):
        assert roc_auc_score(y, model.decision_function(X)) == 1.0
        np.testing.assert_array_equal(model.predict(X), y)
    assert len(RankBoost(50).fit(X, y).coef_) == 1
    constant = RankBoost().fit(np.zeros((6, 2)), [0, 1, 0, 1, 0, 1])
    assert len(constant.coef_) == 0 and constant.bound_ == 1.0


def test_leaves_score_by_laplace_and_the_tree_ranks_training_samples():
    X, y = sample(150, decimals=0)
    model = AUCSplitTree().fit(X, y)
    leaves = np.round(model.decision_function(X) - model.intercept_, 12)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        assert any(
            leaf == pytest.approx((p + 1) / (p + n + 2))
            for p, n, f in zip(model.pos_, model.neg_, model.feature_, strict=True)
            if f < 0 and p + n <= here.sum()
        )
    fine = AUCSplitTree().fit(*sample(decimals=9))
    assert fine.score(*sample(decimals=9)) > 0.99
    coarse = AUCSplitTree(min_samples_leaf=20, max_depth=3).fit(X, y)
    ends = coarse.feature_ < 0
    assert (coarse.pos_ + coarse.neg_)[ends].min() >= 20 and ends.sum() <= 8


def test_partial_boosting_never_falls_within_a_round():
    for seed in range(cases(8, 100)):
        X, y = sample(200, 3, seed, 2)
        model = PAUCBoost(RANGE, 15, n_thresholds=20).fit(X, y)
        assert (model.history_["after"] > model.history_["before"]).all()
        assert (np.abs(model.coef_) <= 1).all() and (model.coef_ * 16 == np.round(model.coef_ * 16)).all()
        h = (X[:, model.feature_] > model.cut_) @ model.coef_
        np.testing.assert_array_equal(h + model.intercept_, model.decision_function(X))
    assert partial_auc_score(y, h, fpr_range=RANGE) > partial_auc_score(y, X[:, 0], fpr_range=RANGE)


def test_a_stump_that_goes_in_and_out_ends_boosting():
    i = np.arange(30)
    X, y = np.column_stack([i * 7 % 13 % 4, i * 9 % 11 % 4]), i * i % 7 < 3
    rounds = [len(PAUCBoost((0, 0.3), n_estimators).fit(X, y).coef_) for n_estimators in (20, 40, 10**9)]
    assert rounds == [20, 29, 29]


def test_thresholds_are_all_or_as_even_as_can_be():
    X, y = sample(400, 1, decimals=9)
    model = PAUCBoost(n_thresholds=4, n_estimators=60).fit(X, y)
    shares = [(X[:, 0] > cut).mean() for cut in np.unique(model.cut_)]
    assert len(shares) <= 4 and np.abs(np.subtract.outer(shares, [0.2, 0.4, 0.6, 0.8])).min(axis=1).max() < 0.01


def test_greedy_is_the_search_of_its_definition():
    for seed in range(cases(4, 40)):
        # Of whole numbers and shares by quarters no score is rounded, so ties are ties; of others there are none.
        decimals, n_steps = [(0, 8), (6, 20)][seed % 2]
        X, y = sample(60, 4, seed, decimals)
        weight = np.random.default_rng(seed).integers(1, 4, 60) if seed % 4 > 1 else None

        def area(scores, y=y, weight=weight):
            return partial_auc_score(y, scores, fpr_range=RANGE, sample_weight=weight)

        model = GreedyPAUC(RANGE, n_steps=n_steps).fit(X, y, weight)
        own = np.array([area(column) for column in X.T])
        order = np.argsort(-np.round(own, 11), kind="stable")
        np.testing.assert_array_equal(model.order_, order)
        f, expected = X[:, order[0]], [own[order[0]]]
        grid = [2 * k / n_steps - 1 for k in range(n_steps + 1)]
        for k in order[1:]:
            tried = [f + share * X[:, k] for share in grid] + [share * f + X[:, k] for share in grid]
            areas = np.array([area(scores) for scores in tried])
            f = tried[int(np.argmax(areas >= areas.max() - 1e-12))]
            expected.append(areas.max())
        np.testing.assert_allclose(model.partial_auc_, expected, atol=1e-9)
        assert area(model.decision_function(X)) == pytest.approx(expected[-1], abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_risk_of_the_highest_negatives(weighted):
    rng = np.random.default_rng(0)
    for _ in range(cases(30, 500)):
        y = np.append([True, False], rng.random(20) < 0.4)
        s, other = np.round(rng.normal(size=(2, len(y))), 1)
        weight = rng.integers(0, 3, len(y)) + np.append([1, 1], np.zeros(20)) if weighted else np.ones(len(y))
        negatives = np.sort(np.repeat(s[~y], weight[~y].astype(int)))[::-1]
        top = int(rng.integers(1, len(negatives) + 1))
        risk = TopMean(y, weight, float(top))
        found, there = risk(s), risk(other)
        slack = np.maximum(1 - np.repeat(s[y], weight[y].astype(int)) + negatives[:top].mean(), 0)
        assert found.value == pytest.approx(np.mean(slack**2))
        assert found.coef.sum() == pytest.approx(0.0, abs=1e-12)
        assert found.offset == pytest.approx(found.value - found.coef @ s)
        assert there.value >= found.value + found.coef @ (other - s) - 1e-12
        pairs = np.repeat(s[y], weight[y].astype(int))[:, None] > negatives[:top]
        assert found.partial_auc == pytest.approx(pairs.mean())


def test_the_machine_of_the_highest_negatives_is_certified():
    X, y = make_classification(400, 8, flip_y=0.1, random_state=0)
    for C in (0.1, 10.0):
        model = TauFPL(0.1, C=C, tol=1e-4).fit(X, y)
        w = model.coef_[0]
        scores = X @ w
        top = np.sort(scores[y == 0])[::-1][: int(np.ceil(0.1 * (y == 0).sum() - 1e-9))].mean()
        objective = 0.5 * w @ w + C * np.mean(np.maximum(1 - scores[y == 1] + top, 0) ** 2)
        assert model.objective_ == pytest.approx(objective, rel=1e-9) and model.dual_gap_ <= 1e-4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TauFPL(0.1, C=1e4, max_iter=1).fit(X, y)
    assert "stopped after 1 steps" in str(caught[0].message) and caught[0].filename == __file__
