"""AUC-RLS and RLS held out: scores, folds and choices are those of retraining."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, PredefinedSplit

import reference_rls as reference
from reference_rls import sample
from rocmax import AUCRLS, AUCRLSCV, RLS, RLSCV
from rocmax.estimators._folds import dealt


@pytest.mark.parametrize("model", [AUCRLS, RLS])
@pytest.mark.parametrize("n, d, kernel", [(12, 3, "linear"), (12, 30, "linear"), (12, 3, "rbf"), (4, 2, "linear")])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_pair_out_scores_are_those_of_retraining(model, n, d, kernel, alpha, weighted):
    X, y = sample(n, d, seed=n + d)
    w = np.where(np.arange(n) % 3 == 0, 2.0, 0.5) if weighted else None
    phi = reference.features(X, kernel, gamma=0.4)
    pairs, scores = model(alpha, kernel=kernel, gamma=0.4).leave_pair_out(X, y, sample_weight=w)
    assert list(map(tuple, pairs)) == reference.pairs(y)
    pairwise = model is AUCRLS
    expected = np.array([reference.held_out(phi, y, alpha, pair, w, pairwise=pairwise) for pair in pairs])
    np.testing.assert_allclose(scores, expected, rtol=1e-8, atol=1e-8)
    cv_model = {AUCRLS: AUCRLSCV, RLS: RLSCV}[model]([alpha], kernel=kernel, gamma=0.4).fit(X, y, w)
    won = (expected[:, 0] > expected[:, 1]) + 0.5 * (expected[:, 0] == expected[:, 1])
    pair_weight = np.ones(len(pairs)) if w is None else w[pairs].prod(axis=1)
    assert cv_model.leave_pair_out_auc_ == pytest.approx(np.average(won, weights=pair_weight), abs=1e-12)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@settings(max_examples=40, deadline=None)
@example(9, 1, "rbf", -1.0, 1, True)
@given(
    st.integers(4, 14),
    st.integers(1, 8),
    st.sampled_from(["linear", "rbf"]),
    st.floats(-3, 4),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_leave_pair_out_auc_is_that_of_retraining(n, d, kernel, log_alpha, seed, rounded):
    X, y = sample(n, d, seed=seed)
    if rounded:  # duplicates, within and across the classes
        X = np.round(X / 2)
    alpha = 10.0**log_alpha
    model = AUCRLSCV([alpha], kernel=kernel, gamma=0.4).fit(X, y)
    if len(np.unique(X, axis=0)) == 1:  # all tie; in the reference what rounds differs
        assert model.leave_pair_out_auc_ == 0.5
        return
    phi = reference.features(X, kernel, gamma=0.4)
    f = np.array([reference.held_out(phi, y, alpha, pair) for pair in reference.pairs(y)])
    gap = (f[:, 0] - f[:, 1]) / max(np.abs(f).max(), 1e-8)
    low, high = np.mean(gap > 1e-6), np.mean(gap > -1e-6)
    assert low - 1e-12 <= model.leave_pair_out_auc_ <= high + 1e-12


def test_equal_inputs_tie():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, -1.0], [1.0, 2.0], [2.0, 2.0]])
    y = np.array([1, 0, 1, 0, 0])
    for kernel in ("linear", "rbf"):
        pairs, scores = AUCRLS(0.5, kernel=kernel, gamma=0.4).leave_pair_out(X, y)
        gap = scores[:, 0] - scores[:, 1]
        assert abs(gap[0]) < 1e-10 and tuple(pairs[0]) == (0, 1)
        auc = AUCRLSCV([0.5], kernel=kernel, gamma=0.4).fit(X, y).leave_pair_out_auc_
        assert auc == pytest.approx((0.5 + (gap[1:] > 0).sum()) / len(gap), abs=1e-12)


@pytest.mark.parametrize("model", [AUCRLSCV, RLSCV])
@pytest.mark.parametrize("kernel, d", [("linear", 3), ("linear", 40), ("rbf", 3)])
@pytest.mark.parametrize("cv", ["leave-one-out", 2, 3, 10, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_folds_are_those_of_retraining(model, kernel, d, cv, weighted):
    X, y = sample(26, d, seed=8)
    w = np.random.default_rng(3).uniform(0.5, 2.0, len(y)) if weighted else None
    alphas = np.array([0.01, 1.0, 100.0])
    est = model(alphas, cv=cv, kernel=kernel, gamma=0.4).fit(X, y, w)
    phi = reference.features(X, kernel, gamma=0.4)
    if cv == "leave-one-out":
        folds = list(np.arange(len(y))[:, None])
    else:
        number = dealt(np.arange(len(y)), y, cv, 0) if isinstance(cv, int) else None
        folds = [np.flatnonzero(number == k) for k in range(cv)] if number is not None else [t for _, t in cv.split(X)]
    for alpha, auc in zip(alphas, est.cv_auc_, strict=True):
        scores = np.empty(len(y))
        for fold in folds:
            scores[fold] = reference.held_out(phi, y, alpha, fold, w, pairwise=model is AUCRLSCV, centred=True)
        assert auc == pytest.approx(roc_auc_score(y, scores, sample_weight=w), abs=1e-12)
    assert not hasattr(est, "leave_pair_out_auc_")


@pytest.mark.parametrize("model", [AUCRLSCV, RLSCV])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_samples_of_weight_zero_are_as_if_left_out_whatever_splits(model, kernel):
    X, y = sample(30, 3, seed=2)
    w = np.where(np.arange(30) % 4 == 3, 0.0, 1.0)
    kept, fold = w > 0, np.arange(30) % 3
    rows = [np.flatnonzero(fold != k) for k in range(3)], [np.flatnonzero(fold == k) for k in range(3)]
    masks = [(fold[kept] != k, fold[kept] == k) for k in range(3)]
    given = (X @ X.T, (X @ X.T)[np.ix_(kept, kept)]) if kernel == "precomputed" else (X, X[kept])
    for cv, of_kept in [
        (PredefinedSplit(fold), masks),
        (list(zip(*rows, strict=True)), masks),
        (iter(list(zip(*rows, strict=True))), masks),
        (3, 3),
        ("leave-one-out", "leave-one-out"),
        ("leave-pair-out", "leave-pair-out"),
    ]:
        labels = np.where(kept, y, 1 - y)  # what is left out may be of any class
        with_zeros = model([0.1, 1.0, 10.0], cv=cv, kernel=kernel, gamma=0.4).fit(given[0], labels, w)
        without = model([0.1, 1.0, 10.0], cv=of_kept, kernel=kernel, gamma=0.4).fit(given[1], y[kept])
        np.testing.assert_allclose(with_zeros.cv_auc_, without.cv_auc_, atol=1e-12)
        np.testing.assert_allclose(with_zeros.dual_coef_[0][kept], without.dual_coef_[0], rtol=1e-6, atol=1e-9)


def test_folds_given_once_serve_every_label():
    X, y = sample(30, 3, seed=2)
    Y = np.column_stack([y, X[:, 0] > 0]).astype(int)
    halves = [(np.arange(0, 30, 2), np.arange(1, 30, 2)), (np.arange(1, 30, 2), np.arange(0, 30, 2))]
    once, twice = AUCRLSCV(5, cv=iter(halves)).fit(X, Y), AUCRLSCV(5, cv=halves).fit(X, Y)
    np.testing.assert_array_equal(once.cv_auc_, twice.cv_auc_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_grid_choice_and_final_fit(kernel):
    X, y = sample(80, 6, seed=5)
    model = AUCRLSCV(kernel=kernel).fit(X, y)
    assert model.alphas_.shape == model.cv_auc_.shape == (50,)
    assert model.leave_pair_out_auc_ == model.cv_auc_.max()
    assert model.alpha_ == model.alphas_[model.cv_auc_ == model.cv_auc_.max()].max()
    one = AUCRLS(model.alpha_, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), one.decision_function(X), rtol=1e-9, atol=1e-12)


def test_interval_is_delong_over_held_out_pairs():
    X, y = sample(40, 3, seed=6)
    model = AUCRLSCV([2.0], confidence_level=0.9).fit(X, y)
    _, scores = AUCRLS(2.0).leave_pair_out(X, y)
    won = (scores[:, 0] > scores[:, 1]).reshape(y.sum(), -1).astype(float)
    m, n = won.shape
    error = np.sqrt(won.mean(axis=1).var(ddof=1) / m + won.mean(axis=0).var(ddof=1) / n)
    expected = won.mean() + np.array([-1, 1]) * 1.6448536269514722 * error
    np.testing.assert_allclose(model.leave_pair_out_interval_, np.clip(expected, 0, 1), rtol=1e-10)


def test_leave_pair_out_of_many_pairs_says_ahead_what_it_costs(monkeypatch):
    X, y = sample(60, 5)
    pairs = y.sum() * (1 - y).sum()
    monkeypatch.setattr("rocmax.estimators._rls_cv._A_MINUTE", pairs * 5 * 4 / 3)
    with pytest.warns(UserWarning, match=f"{pairs} pairs at 4 alphas takes 2e[+]04 .* some 3 minutes; cv=10"):
        AUCRLSCV(alphas=4).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AUCRLSCV(alphas=1).fit(X, y)
        AUCRLSCV(alphas=4, cv=5).fit(X, y)


def test_many_labels_each_choose_their_alpha():
    X, _ = sample(50, 4, seed=7)
    rng = np.random.default_rng(0)
    Y = (X[:, :3] + rng.normal(size=(50, 3)) > 0.8).astype(int)
    for options in ({"kernel": "rbf"}, {}, {"cv": 5}):
        model = AUCRLSCV(8, **options).fit(X, Y)
        assert model.alpha_.shape == (3,) and model.cv_auc_.shape == (3, 8)
        for k in range(3):
            one = AUCRLSCV(8, **options).fit(X, Y[:, k])
            assert one.alpha_ == pytest.approx(model.alpha_[k]) and one.cv_auc_.max() == model.cv_auc_[k].max()
            np.testing.assert_allclose(one.dual_coef_[0], model.dual_coef_[k], rtol=1e-7, atol=1e-9)


def test_same_result_for_any_number_of_jobs():
    X, y = sample(900, 5, seed=9, share=0.3)
    for kernel in ("linear", "rbf"):
        one, many = (AUCRLSCV(3, kernel=kernel, n_jobs=jobs).fit(X, y) for jobs in (1, 4))
        np.testing.assert_array_equal(one.cv_auc_, many.cv_auc_)
        np.testing.assert_array_equal(one.leave_pair_out_interval_, many.leave_pair_out_interval_)


def test_extreme_alphas():
    X, y = sample(30, 3, seed=10)
    far = AUCRLSCV([1e9, 1e12, 1e15, 1e30], kernel="linear").fit(X, y)
    assert np.ptp(far.cv_auc_) == 0.0 and far.cv_auc_[0] > 0.5
    # Interpolation: the held-out scores stay those of retraining where 1 - leverage is tiny.
    phi = reference.features(X, "rbf", gamma=2.0)
    pairs, scores = AUCRLS(1e-8, kernel="rbf", gamma=2.0).leave_pair_out(X, y)
    expected = np.array([reference.held_out(phi, y, 1e-8, pair) for pair in pairs])
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("model, cross_validated", [(AUCRLS, AUCRLSCV), (RLS, RLSCV)])
@pytest.mark.parametrize("kernel, d", [("linear", 4), ("linear", 40), ("rbf", 4)])
@pytest.mark.parametrize("log_alpha", [-320, -300, -30, -14, -8, 100])
def test_held_out_scores_of_any_alpha_are_those_of_retraining(model, cross_validated, kernel, d, log_alpha):
    X, y = sample(23, d)
    if kernel == "linear" and d == 4:
        X = np.column_stack([X, X[:, 0]])  # K, and X'LX, of a lower rank
    alpha = 10.0**log_alpha
    phi = reference.features(X, kernel, gamma=0.4)
    pairs, scores = model(alpha, kernel=kernel, gamma=0.4).leave_pair_out(X, y)
    near = min(alpha, 1e8)  # beyond, scores are as 1 / alpha; the reference is 0 there
    expected = np.array([reference.held_out(phi, y, near, pair, pairwise=model is AUCRLS) for pair in pairs])
    atol = 1e-7 if alpha < 1 else 1e-5 * np.abs(expected).max()
    np.testing.assert_allclose(scores * (alpha / near), expected, rtol=1e-3 if alpha > near else 1e-6, atol=atol)
    auc = cross_validated([alpha], kernel=kernel, gamma=0.4).fit(X, y).leave_pair_out_auc_
    assert auc == pytest.approx(np.mean(expected[:, 0] > expected[:, 1]), abs=1e-12)
