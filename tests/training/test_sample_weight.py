"""Sample weights of the machines for partial AUC: whole ones are repetitions, zero leaves a sample out."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut
from sklearn.preprocessing import StandardScaler

from rocmax import AUCRLS, AUCRLSCV, RLS, PartialAUCSVC, PartialAUCSVCCV, _core, partial_auc_path
from rocmax.metrics import partial_auc_score
from rocmax.papers import RankBoost
from rocmax.risks import ramp, tight

N_SAMPLES = 300
SURROGATES = ["tight", "naive", "hinge", "ramp"]
RANGES = [(0.0, 1.0), (0.0, 0.2), (0.03, 0.23)]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(N_SAMPLES, 8, n_informative=5, weights=[0.8], class_sep=1.0, flip_y=0.05, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(0).integers(0, 4, N_SAMPLES)


def fit(fpr_range, surrogate, X, y, weight=None, **parameters):
    return PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0, tol=1e-10, **parameters).fit(X, y, weight)


def assert_same(one, other, X):
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-10)
    # Models of one objective to 1e-10 are as close as its root; where scores nearly tie, the threshold may jump.
    scores = [model.decision_function(X) - model.intercept_ for model in (one, other)]
    np.testing.assert_allclose(*scores, atol=3e-4)


@pytest.mark.parametrize(
    "laid_out",
    [lambda w: np.repeat(w, 2)[::2], lambda w: np.frombuffer(b"." + w.tobytes(), dtype=np.float64, offset=1)],
    ids=["strided", "misaligned"],
)
@pytest.mark.parametrize(
    "model",
    [PartialAUCSVC((0.0, 0.2)), PartialAUCSVCCV((0.0, 0.2), Cs=[1.0]), AUCRLS(), RLS(), AUCRLSCV(3, cv=3), RankBoost()],
    ids=lambda model: type(model).__name__,
)
def test_weights_may_lie_anywhere(data, model, laid_out):
    X, y = data
    weight = np.random.default_rng(1).random(N_SAMPLES)
    expected = sklearn.base.clone(model).fit(X, y, weight).decision_function(X)
    np.testing.assert_array_equal(model.fit(X, y, laid_out(weight)).decision_function(X), expected)


def is_convex(surrogate, fpr_range):
    return surrogate in ("tight", "naive") or (surrogate == "hinge" and fpr_range[0] == 0)


@pytest.mark.parametrize("parameters", [{}, {"structure": 1.0}, {"kernel": "rbf"}, {"kernel": "rbf", "structure": 1.0}])
@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_whole_weights_are_repetitions(data, counts, surrogate, fpr_range, parameters):
    (X, y), rows = data, np.repeat(np.arange(N_SAMPLES), counts)
    weighted = fit(fpr_range, surrogate, X, y, counts, **parameters)
    repeated = fit(fpr_range, surrogate, X[rows], y[rows], **parameters)
    if is_convex(surrogate, fpr_range):
        assert_same(weighted, repeated, X)
        return
    # Of several stationary points either may be found; what is minimised is the same.
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=0.05)
    if "kernel" not in parameters:
        objective = weighted.objective_
        again = weighted.set_params(warm_start=True).fit(X[rows], y[rows])
        assert again.history_["objective"][0] == pytest.approx(objective, rel=1e-10)
        assert again.objective_ == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_weight_zero_leaves_out(data, surrogate, fpr_range):
    X, y = data
    weight = 0.5 + np.random.default_rng(1).random(N_SAMPLES)
    weight[::3] = 0.0
    kept = weight > 0
    y = y.copy()
    y[0] = 7  # no class of this sample's
    left, removed = fit(fpr_range, surrogate, X, y, weight), fit(fpr_range, surrogate, X[kept], y[kept], weight[kept])
    if is_convex(surrogate, fpr_range) or fpr_range[0] == 0:
        assert_same(left, removed, X)
    else:  # rounding decides between stationary points
        assert left.objective_ == pytest.approx(removed.objective_, rel=0.01)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_ones_are_no_weights(data, surrogate):
    X, y = data
    one, other = (fit((0.02, 0.3), surrogate, X, y, weight) for weight in (None, np.ones(N_SAMPLES)))
    assert one.coef_.tobytes() == other.coef_.tobytes() and one.intercept_ == other.intercept_


@pytest.mark.parametrize("fpr_range", RANGES)
def test_fractions_do_not_depend_on_their_unit(data, fpr_range):
    X, y = data
    weight = 0.1 + np.random.default_rng(2).random(N_SAMPLES)
    assert_same(fit(fpr_range, "tight", X, y, weight), fit(fpr_range, "tight", X, y, 1e-3 * weight), X)


def test_the_range_ends_at_shares_of_the_weight():
    y = np.array([True, False, False, False, False])
    scores = np.array([0.0, 4.0, 3.0, 2.0, 1.0])
    weight = np.array([1.5, 0.5, 1.0, 1.5, 1.0])
    problem = _core.Problem(y, weight)
    assert problem.ranks(0.25, 0.5) == (1.0, 2.0)
    # Between 1 and 2 lie half of the second negative and half of the third.
    expected = 0.5 * min(1.0, 1.0 + 3.0) + 0.5 * min(1.0, 1.0 + 2.0)
    assert ramp(problem, (0.25, 0.5), 1).whole(scores).value == pytest.approx(expected)
    assert tight(problem, (0.0, 0.5), 1)(scores).value == pytest.approx((0.5 * 5 + 1.0 * 4 + 0.5 * 3) / 2.0)


@pytest.mark.parametrize("rule", ["midpoint", "eer", "youden", ("fpr", 0.1), ("cost", 2.0)])
def test_thresholds_weigh(rule):
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = np.round(rng.standard_normal((60, 1)), 1)
        y, weight = (rng.random(60) < 0.4).astype(int), rng.integers(0, 4, 60)
        rows = np.repeat(np.arange(60), weight)
        weighted, repeated = AUCRLS(threshold=rule).fit(X, y, weight), AUCRLS(threshold=rule).fit(X[rows], y[rows])
        assert weighted.intercept_ == pytest.approx(repeated.intercept_)


@pytest.mark.parametrize("surrogate", ["tight", "naive"])
def test_paths_take_weights(data, counts, surrogate):
    (X, y), rows = data, np.repeat(np.arange(N_SAMPLES), counts)
    options = {"Cs": [0.1, 10.0], "surrogate": surrogate, "tol": 1e-10}
    weighted = partial_auc_path(X, y, (0.0, 0.2), sample_weight=counts, **options)
    repeated = partial_auc_path(X[rows], y[rows], (0.0, 0.2), **options)
    np.testing.assert_allclose(weighted.objectives, repeated.objectives, rtol=1e-10)
    np.testing.assert_allclose(weighted.partial_aucs, repeated.partial_aucs, rtol=1e-6)


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_validation_weighs(data, counts, scoring, monkeypatch):
    monkeypatch.setattr("rocmax.estimators._partial_cv._MOST_STEPS", 2000)
    (X, y), rows = data, np.repeat(np.arange(N_SAMPLES), counts)
    groups = np.arange(N_SAMPLES) % 3
    fits = []
    for index, weight in ((np.arange(N_SAMPLES), counts), (rows, None)):
        folds = list(LeaveOneGroupOut().split(X[index], groups=groups[index]))
        model = PartialAUCSVCCV((0.0, 0.3), Cs=[0.1, 10.0], cv=folds, scoring=scoring, surrogate="tight", tol=1e-9)
        fits.append(model.fit(X[index], y[index], weight))
    for name in fits[0].scores_:
        np.testing.assert_allclose(fits[0].scores_[name], fits[1].scores_[name], atol=1e-9)
    assert fits[0].C_ == fits[1].C_ and fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-9)


def test_metadata_is_routed(data, counts):
    X, y = data
    groups, seen = np.arange(N_SAMPLES) // 10, []

    def score(y_true, y_score, sample_weight=None):
        seen.append(sample_weight)
        return roc_auc_score(y_true, y_score, sample_weight=sample_weight)

    options = {"Cs": [1.0], "cv": GroupKFold(3), "surrogate": "tight"}
    PartialAUCSVCCV((0.0, 0.3), **options).fit(X, y, groups=groups)
    with pytest.raises(TypeError, match=r"'other'.*enable_metadata_routing"):
        PartialAUCSVCCV((0.0, 0.3), **options).fit(X, y, other=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        own = PartialAUCSVCCV((0.0, 0.3), **options).fit(X, y, counts, groups=groups)
        for (train, test), found in zip(GroupKFold(3).split(X, y, groups), own.scores_["tight"], strict=True):
            model = PartialAUCSVC((0.0, 0.3), surrogate="tight", C=1.0).fit(X[train], y[train], counts[train])
            expected = partial_auc_score(
                y[test], model.decision_function(X[test]), fpr_range=(0.0, 0.3), sample_weight=counts[test]
            )
            assert found[0] == pytest.approx(expected, abs=1e-12)
        scorer = make_scorer(score, response_method="decision_function")
        for requested in (True, False):
            seen.clear()
            scoring = scorer.set_score_request(sample_weight=requested)
            model = PartialAUCSVCCV((0.0, 0.3), scoring=scoring, **options)
            model.fit(X, y, sample_weight=counts, groups=groups)
            assert len(seen) == 3 and all((weight is not None) == requested for weight in seen)
        search = GridSearchCV(
            PartialAUCSVC((0.0, 0.3)).set_fit_request(sample_weight=True),
            {"C": [1.0]},
            cv=3,
            scoring=scorer.set_score_request(sample_weight=False),
        )
        assert search.fit(X, y, sample_weight=counts).best_score_ > 0.5


def test_sparse_features_have_the_same_scale(data, counts):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    assert_same(
        fit((0.0, 0.3), "tight", X, y, counts, kernel="rbf"),
        fit((0.0, 0.3), "tight", sp.csr_array(X), y, counts, kernel="rbf"),
        X,
    )


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.05), (0.02, 0.05)])
@pytest.mark.parametrize("name", ["tight", "naive"])
def test_weights_at_size(name, fpr_range):
    """Where samples tell the top of the order, against repetition; weights and scores depend on each other."""
    n, rng = 200_000, np.random.default_rng(0)
    y, scores = rng.random(n) < 0.05, rng.standard_normal(n)
    weight = np.minimum(rng.poisson(np.exp(-scores)), 50).astype(float)
    rows = np.repeat(np.arange(n), weight.astype(int))
    weighted = getattr(_core.Oracle, name)(_core.Problem(y, weight), *fpr_range)
    repeated = getattr(_core.Oracle, name)(_core.Problem(y[rows]), *fpr_range)
    coefs = [np.empty(n) for _ in range(2)]
    found = [weighted.evaluate(scores, coef, n_threads) for coef, n_threads in zip(coefs, (1, 2), strict=True)]
    assert found[0] == found[1] and coefs[0].tobytes() == coefs[1].tobytes()
    of_repeated = np.empty(len(rows))
    np.testing.assert_allclose(found[0], repeated.evaluate(scores[rows], of_repeated, 2), rtol=1e-10)
    np.testing.assert_allclose(coefs[0], np.bincount(rows, of_repeated, n), atol=1e-12)
