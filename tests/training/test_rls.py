"""AUC-RLS and RLS against their definitions, and their cross-validation against retraining."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference_rls as reference
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLS, RLSCV, PartialAUCSVC, PartialAUCSVCCV
from rocmax.exceptions import PositiveClassWarning
from rocmax.papers import TwoNormSVC

CASES = json.loads((Path(__file__).parents[1] / "cases" / "auc_rls.json").read_text())["cases"]


@parametrize_with_checks(
    [
        AUCRLS(),
        AUCRLS(kernel="rbf"),
        RLS(),
        RLS(kernel="poly", coef0=1.0),
        AUCRLSCV(5),
        AUCRLSCV(5, cv="leave-one-out", kernel="rbf"),
        RLSCV(5, cv=3),
    ]
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def sample(n=23, d=4, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:4] = [0, 1, 0, 1]
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['kernel']}-{len(c['y'])}-{c['lam']}")
def test_conformance(case):
    X, y = np.array(case["X"]), np.array(case["y"])
    model = AUCRLS(case["lam"], kernel=case["kernel"], gamma=case["gamma"]).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_[0], case["dual_coef"], rtol=1e-9, atol=1e-9)
    raw = model.decision_function(X) - model.intercept_
    np.testing.assert_allclose(raw, case["train_scores"], rtol=1e-9, atol=1e-9)
    expected = np.array(case["leave_pair_out"])
    pairs, scores = model.leave_pair_out(X, y)
    at = {tuple(pair): row for pair, row in zip(pairs, scores, strict=True)}
    np.testing.assert_allclose([at[i, j] for i, j in expected[:, :2].astype(int)], expected[:, 2:], rtol=0, atol=1e-8)
    cv = AUCRLSCV([case["lam"]], kernel=case["kernel"], gamma=case["gamma"]).fit(X, y)
    assert cv.leave_pair_out_auc_ == pytest.approx(case["leave_pair_out_auc"], abs=1e-12)


@pytest.mark.parametrize("model", [AUCRLS, RLS])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("storage", ["dense", "float32", "csr", "csc", "cg", "precomputed", "rbf", "poly"])
def test_fit_is_the_least_squares_solution(model, weighted, alpha, d, storage):
    X, y = sample(d=d)
    X = X.astype(np.float32).astype(np.float64)  # so that the float32 copy holds the same numbers
    w = np.random.default_rng(1).integers(0, 4, len(y)) / 2 if weighted else None
    kernel = storage if storage in ("rbf", "poly", "precomputed") else "linear"
    phi = reference.features(X, "linear" if kernel == "precomputed" else kernel, gamma=0.3)
    options = {"gamma": 0.3, "coef0": 1.0} if kernel in ("rbf", "poly") else {}
    if storage == "cg":
        options |= {"solver": "cg", "tol": 1e-13}
    given_X = {
        "float32": lambda: X.astype(np.float32),
        "csr": lambda: sp.csr_array(X),
        "csc": lambda: sp.csc_matrix(X),
        "cg": lambda: sp.csr_array(X),
        "precomputed": lambda: X @ X.T,
    }.get(storage, lambda: X)()
    est = model(alpha, kernel=kernel, **options).fit(given_X, y, w)
    coef = reference.fit(phi, y, alpha, w, pairwise=model is AUCRLS)
    expected = phi @ coef
    raw = est.decision_function(given_X) - est.intercept_
    tol = 1e-5 if storage in ("float32", "cg") else 1e-7
    np.testing.assert_allclose(raw, expected, atol=tol * np.abs(expected).max())
    if kernel == "linear":
        np.testing.assert_allclose(est.coef_[0], coef, atol=tol * np.abs(coef).max())
    if storage != "float32":
        from_dual = phi @ (phi.T @ est.dual_coef_[0])
        np.testing.assert_allclose(from_dual, expected, atol=tol * np.abs(expected).max())


@pytest.mark.parametrize("model", [AUCRLS(2.0), AUCRLS(2.0, kernel="rbf", gamma=0.5), RLS(2.0)])
def test_weights_are_repetition(model):
    for seed in range(20):  # the threshold too, where the classes overlap
        X, y = sample(seed=seed)
        w = np.random.default_rng(seed).integers(0, 4, len(y))
        w[:2] = 1
        weighted = model.fit(X, y, sample_weight=w).decision_function(X)
        repeated = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).decision_function(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-10)


def test_a_far_origin_changes_nothing():
    X, y = sample(400, 6)
    near, far = AUCRLS(3.0).fit(X, y), AUCRLS(3.0).fit(X + 1e6, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_labels", [3, 30])
@pytest.mark.parametrize("model", [AUCRLS, RLS])
def test_labels_share_the_work_and_agree_with_one_by_one(kernel, n_labels, model):
    X, _ = sample(60, 5, seed=3)
    rng = np.random.default_rng(4)
    Y = (X @ rng.normal(size=(5, n_labels)) + rng.normal(size=(60, n_labels)) > 1.5).astype(int)
    Y[:2], Y[2:4] = 1, 0
    w = rng.uniform(0.5, 2.0, 60)
    together = model(0.7, kernel=kernel).fit(X, Y, w)
    single = [model(0.7, kernel=kernel).fit(X, y, w) for y in Y.T]
    assert together.predict(X).shape == Y.shape and together.dual_coef_.shape == (n_labels, 60)
    for k, one in enumerate(single):
        np.testing.assert_allclose(together.dual_coef_[k], one.dual_coef_[0], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(together.decision_function(X)[:, k], one.decision_function(X), atol=1e-8)
    sparse_y = model(0.7, kernel=kernel).fit(X, sp.csr_array(Y), w)
    np.testing.assert_array_equal(sparse_y.dual_coef_, together.dual_coef_)


@pytest.mark.parametrize("alpha", [1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("copies", [1, 2])
def test_many_labels_at_a_small_alpha(alpha, copies):
    X, _ = sample(30, 50, seed=1)
    rng = np.random.default_rng(2)
    Y = (X @ rng.normal(size=(50, 24)) + rng.normal(size=(30, 24)) > 1).astype(int)
    Y[:2], Y[2:4] = 1, 0
    X, Y = np.repeat(X, copies, axis=0), np.repeat(Y, copies, axis=0)  # copies: the kernel matrix is singular
    together = AUCRLS(alpha).fit(X, Y)
    for k, y in enumerate(Y.T):
        one = AUCRLS(alpha).fit(X, y)
        np.testing.assert_allclose(together.coef_[k], one.coef_[0], rtol=0, atol=1e-9 * np.abs(one.coef_).max())
        np.testing.assert_allclose(together.decision_function(X)[:, k], one.decision_function(X), atol=1e-8)


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            splitter = StratifiedKFold(cv) if isinstance(cv, int) else cv
            folds = [test for _, test in splitter.split(X, y)]
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


def test_alpha_zero_where_it_is_well_posed():
    X, y = sample(30, 4)
    np.testing.assert_allclose(AUCRLS(0).fit(X, y).coef_[0], reference.fit(X, y, 0.0), rtol=1e-9)
    for kernel, d in (("rbf", 4), ("linear", 50)):  # every pair is fitted exactly, with the least norm
        X, y = sample(20, d)
        phi = reference.features(X, kernel, gamma=1.0)
        model = AUCRLS(0, kernel=kernel, gamma=1.0).fit(X, y)
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores[y == 1][:, None] - scores[y == 0], 2.0, atol=1e-7)
        np.testing.assert_allclose(model.dual_coef_[0] @ phi, reference.fit(phi, y, 0.0), atol=1e-7)
    assert np.isfinite(RLS(0).fit(*sample(30, 4)).coef_).all()


@pytest.mark.parametrize("model", [AUCRLS, RLS])
def test_alpha_zero_where_it_is_not(model):
    X, y = sample(30, 4)
    constant, twin = np.column_stack([X, np.zeros(30)]), np.column_stack([X, X[:, 0] + X[:, 1]])
    doubled, labels = np.vstack([X, X]), np.append(y, y)
    for options, data, target in (
        ({}, constant, y),
        ({}, twin, y),
        ({"kernel": "rbf"}, doubled, labels),
        ({"kernel": "precomputed"}, X @ X.T, y),
    ):
        with pytest.raises(ValueError, match=r"alpha=0 is ill-posed here.*rank.*use alpha > 0"):
            model(0, **options).fit(data, target)
        assert np.isfinite(model(1e-3, **options).fit(data, target).decision_function(data)).all()
    with pytest.raises(ValueError, match="needs alpha > 0"):
        model(0, solver="cg").fit(sp.csr_array(X), y)


def test_singular_kernels_and_duplicates_with_a_tiny_alpha():
    X, y = sample(40, 2)
    X = np.vstack([X, X[:10]])
    y = np.append(y, y[:10])
    K = X @ X.T
    for alpha in (1e-14, 1e-9, 1.0):
        by_kernel = AUCRLS(alpha, kernel="precomputed").fit(K, y).decision_function(K)
        by_features = AUCRLS(alpha).fit(X, y).decision_function(X)
        np.testing.assert_allclose(by_kernel, by_features, atol=1e-6)


def test_conjugate_gradients_take_all_labels_at_once():
    rng = np.random.default_rng(0)
    X = sp.random_array((2300, 2100), density=0.01, rng=rng, format="csr")
    Y = (X @ rng.normal(size=(2100, 3)) > 0.7).astype(int)
    products = AUCRLS(1e3, tol=1e-10).fit(X, Y)
    assert products.n_iter_ > 1  # chosen by shape
    dense = AUCRLS(1e3, solver="direct").fit(X, Y)
    np.testing.assert_allclose(products.coef_, dense.coef_, rtol=1e-6, atol=1e-8 * np.abs(dense.coef_).max())
    with pytest.warns(ConvergenceWarning, match="relative residual"):
        AUCRLS(1e3, max_iter=2).fit(X, Y)
    as_array = AUCRLS(10.0, solver="cg").fit(X.toarray()[:, :50], Y)
    np.testing.assert_allclose(as_array.coef_, AUCRLS(10.0).fit(X.toarray()[:, :50], Y).coef_, rtol=1e-5, atol=1e-8)


def test_callable_kernel_and_frames():
    pd = pytest.importorskip("pandas")
    X, y = sample()
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = np.where(y == 1, "sick", "well")
    with pytest.warns(PositiveClassWarning, match="'well', is taken for the positive class"):
        model = AUCRLS().fit(frame, labels)
    assert list(model.feature_names_in_) == list("abcd") and set(model.predict(frame)) <= {"sick", "well"}
    np.testing.assert_allclose(model.decision_function(frame), -AUCRLS().fit(X, y).decision_function(X), atol=1e-6)
    dot = AUCRLS(kernel=np.dot).fit(X, y)
    np.testing.assert_allclose(dot.decision_function(X), AUCRLS().fit(X, y).decision_function(X), atol=1e-7)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_samples_that_are_all_equal_tie(value):
    X, y = np.full((8, 2), value), np.array([0, 1] * 4)
    for kernel in ("linear", "rbf"):
        model = AUCRLSCV([1e-3, 1.0], kernel=kernel, gamma=1.0).fit(X, y)
        np.testing.assert_array_equal(model.cv_auc_, 0.5)
        assert np.ptp(model.decision_function(X)) == 0.0


@pytest.mark.parametrize("cv", ["leave-pair-out", "leave-one-out", 3])
def test_features_too_small_to_square_are_refused(cv):
    X, y = sample()
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="scale the features"):
        RLSCV(5, cv=cv).fit(1e-156 * X, y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [1e160, 1e200, 1e300])
@pytest.mark.parametrize(
    "model",
    [AUCRLS(), RLS(), AUCRLS(kernel="poly"), AUCRLS(solver="cg"), RLS(solver="cg"), RLSCV(5, cv=3), AUCRLSCV(5)],
)
@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
def test_features_too_large_to_square_are_refused(kind, scale, model):
    X, y = sample()
    for factor in (scale, np.array([scale, 1.0, 1.0, 1.0])):
        with pytest.raises(ValueError, match="scale the features"):
            model.fit(kind(X * factor), y)
        if isinstance(model, AUCRLS | RLS):
            with pytest.raises(ValueError, match="scale the features"):
                model.leave_pair_out(kind(X * factor), y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_entries_of_a_sparse_matrix_may_be_given_in_parts_and_in_any_order(kernel):
    X, y = sample()
    i, j = np.indices(X.shape).reshape(2, -1)
    order = np.random.default_rng(0).permutation(2 * X.size)
    parts, columns = np.append(0.3 * X.ravel(), 0.7 * X.ravel())[order], np.append(j, j)[order]
    rows = np.append(i, i)[order]
    by_row = np.argsort(rows, kind="stable")
    given = sp.csr_array(
        (parts[by_row], columns[by_row], np.searchsorted(rows[by_row], np.arange(len(y) + 1))), shape=X.shape
    )
    before = given.data.copy()
    # To the last digit of the parts a fit may take other steps: it is as close as its accuracy.
    partial = PartialAUCSVC((0.0, 0.9), C=100.0, surrogate="tight", kernel=kernel, tol=1e-13)
    for model in (AUCRLS(kernel=kernel), AUCSVC(kernel=kernel), partial):
        expected = model.fit(sp.csr_array(X), y).decision_function(X)
        np.testing.assert_allclose(model.fit(given, y).decision_function(given), expected, atol=1e-6)
    np.testing.assert_array_equal(given.data, before)


def test_sparse_labels():
    X, y = sample()
    expected = AUCRLS().fit(X, y).decision_function(X)
    np.testing.assert_array_equal(AUCRLS().fit(X, sp.coo_array(y)).decision_function(X), expected)
    np.testing.assert_array_equal(AUCRLSCV([1.0]).fit(X, sp.csr_array(y)).decision_function(X), expected)
    for model in (PartialAUCSVC(), AUCSVC(), TwoNormSVC(), PartialAUCSVCCV()):
        with pytest.raises(TypeError, match="Sparse data was passed for y, but dense data is required"):
            model.fit(X, sp.coo_array(y))
