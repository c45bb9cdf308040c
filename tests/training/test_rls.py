"""AUC-RLS and RLS against their definitions, and their cross-validation against retraining."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference_rls as reference
from estimator_checks import AT_ZERO
from profiles import cases
from reference_rls import sample
from rocmax import AUCRLS, AUCRLSCV, AUCSVC, RLS, RLSCV, PartialAUCSVC
from rocmax.exceptions import PositiveClassWarning

CASES = json.loads((Path(__file__).parents[1] / "cases" / "auc_rls.json").read_text())["cases"]


# One of each class; with and without a kernel, both kinds of folds.
@parametrize_with_checks(
    [
        AUCRLS(),
        RLS(kernel="poly", coef0=1.0),
        AUCRLSCV(5, cv="leave-one-out", kernel="rbf"),
        RLSCV(5, cv=3),
        *cases([], [AUCRLS(kernel="rbf"), RLS(), AUCRLSCV(5)]),
    ],
    expected_failed_checks=lambda model: (
        AT_ZERO if isinstance(model, RLSCV) or (model.kernel != "linear" and not isinstance(model, AUCRLSCV)) else {}
    ),
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
@pytest.mark.filterwarnings("ignore:up to .* rows of a fold also occur:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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
    with pytest.warns(PositiveClassWarning, match="is used as the positive class, 'well'"):
        model = AUCRLS().fit(frame, labels)
    assert list(model.feature_names_in_) == list("abcd") and set(model.predict(frame)) <= {"sick", "well"}
    np.testing.assert_allclose(model.decision_function(frame), -AUCRLS().fit(X, y).decision_function(X), atol=1e-6)
    dot = AUCRLS(kernel=np.dot).fit(X, y)
    np.testing.assert_allclose(dot.decision_function(X), AUCRLS().fit(X, y).decision_function(X), atol=1e-7)


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
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
