"""AUCSVC: known optima, multipliers of pairs, agreement of its two solvers."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimator_checks import AT_ZERO
from profiles import cases
from rocmax import AUCRLS, AUCSVC, PartialAUCSVC
from rocmax._runtime.settings import using
from rocmax.designs._kernel import _gamma
from rocmax.exceptions import ZeroModelWarning

CASES = json.loads((Path(__file__).parents[1] / "cases" / "pair_machines.json").read_text())["cases"]


def parameters(case):
    n_pairs = sum(case["y"]) * (len(case["y"]) - sum(case["y"]))
    return {
        "C": case["C_pair"] * n_pairs / case["rho"],
        "kernel": case["kernel"],
        "gamma": case["gamma"],
        "structure": case["structure"],
    }


def every_pair(y):
    rows, columns = np.flatnonzero(y), np.flatnonzero(np.logical_not(y))
    return np.repeat(rows, len(columns)), np.tile(columns, len(rows))


def gaussian(seed, n=40, d=3, shift=1.0, share=0.4):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    return rng.standard_normal((n, d)) + shift * y[:, None], y


@parametrize_with_checks(
    [AUCSVC(), AUCSVC(kernel="linear"), *cases([], [AUCSVC(structure=0.5)])],
    expected_failed_checks=lambda model: AT_ZERO if model.kernel == "rbf" and not model.structure else {},
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["auto", "cvxopt"])
@pytest.mark.parametrize("case", CASES)
def test_known_optima(case, solver):
    X, y = np.array(case["X"]), np.array(case["y"])
    model = AUCSVC(**parameters(case), solver=solver, tol=1e-9).fit(X, y)
    rho = case["rho"]  # a unit of the scores
    assert rho**2 * model.objective_ == pytest.approx(case["primal"], rel=1e-6)
    assert model.dual_gap_ <= 1e-9
    scores = rho * (model.decision_function(X) - model.intercept_)
    np.testing.assert_allclose(scores, case["train_scores"], rtol=0, atol=1e-4)
    test_scores = rho * (model.decision_function(np.array(case["X_test"])) - model.intercept_)
    np.testing.assert_allclose(test_scores, case["test_scores"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_precomputed_and_callables_are_the_same_machine(case):
    X, y, Z = (np.array(case[name]) for name in ("X", "y", "X_test"))
    given = parameters(case) | {"tol": 1e-9}
    expected = AUCSVC(**given).fit(X, y).decision_function(Z)

    def values(A, B):
        extra = {"gamma": case["gamma"]} if case["kernel"] == "rbf" else {}
        return pairwise_kernels(A, B, metric=case["kernel"], **extra)

    def of_rows(x, z):
        return x @ z if case["kernel"] == "linear" else np.exp(-case["gamma"] * ((x - z) @ (x - z)))

    for kernel in (values, of_rows):
        found = AUCSVC(**given | {"kernel": kernel}).fit(X, y).decision_function(Z)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    for kind in (np.asarray, sp.csr_matrix):
        model = AUCSVC(**given | {"kernel": "precomputed"}).fit(kind(values(X, X)), y)
        np.testing.assert_allclose(model.decision_function(kind(values(Z, X))), expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(50))
def test_both_solvers_agree(seed):
    rng = np.random.default_rng(seed)
    X, y = gaussian(seed, n=int(rng.integers(12, 40)), shift=float(rng.choice([0.3, 1.0, 6.0])))
    C = float(rng.choice([1e-3, 1e-1, 1.0, 1000.0])) * y.sum() * (1 - y).sum()
    given = {
        "C": C,
        "kernel": str(rng.choice(["linear", "rbf", "poly"])),
        "structure": float(rng.choice([0.0, 0.0, 2.0])),
        "tol": 1e-7,
    }
    auto, reference = (AUCSVC(**given, solver=solver).fit(X, y) for solver in ("auto", "cvxopt"))
    assert auto.objective_ == pytest.approx(reference.objective_, rel=1e-6)
    assert max(auto.dual_gap_, reference.dual_gap_) <= 1e-7


@pytest.mark.parametrize("structure", [0.0, 3.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C", [1.0, 30.0, 3e3])
@pytest.mark.parametrize("solver", ["auto", "cvxopt"])
def test_pair_multipliers_are_feasible_optimal_and_make_the_model(structure, kernel, C, solver):
    X, y = gaussian(3)
    model = AUCSVC(C, kernel=kernel, structure=structure, solver=solver, tol=1e-9).fit(X, y)
    i, j = every_pair(y)
    cap = C / len(i)
    al = model.pair_dual(i, j)
    assert al.min() >= 0 and al.max() <= cap * (1 + 1e-12)
    scores = model.decision_function(X)
    slack = 1.0 - scores[i] + scores[j]
    # Proposition 3.2.1: what complementarity leaves is the gap.
    left = (cap - al) @ np.maximum(slack, 0) + al @ np.maximum(-slack, 0)
    assert left <= 1e-6 * model.objective_
    assert np.all(slack[al < 1e-3 * cap] <= 1e-3) and np.all(slack[al > (1 - 1e-3) * cap] >= -1e-3)
    # The model is sum_ij al_ij (phi(x_i) - phi(x_j)), under the metric of the structure.
    coefs = np.bincount(i, al, len(y)) - np.bincount(j, al, len(y))
    for label in (0, 1):
        members = y == label
        coefs[members] -= structure * (scores[members] - scores[members].mean()) / members.sum()
    gram = X @ X.T if kernel == "linear" else pairwise_kernels(X, metric="rbf", gamma=1 / X.var() / X.shape[1])
    np.testing.assert_allclose(gram @ coefs + model.intercept_, scores, atol=2e-4)
    if solver == "cvxopt":
        pairs = model.support_pairs_
        assert np.all(model.pair_dual(pairs[:, 0], pairs[:, 1]) > 0)
        assert (al > 0).sum() == len(pairs)
    assert np.ndim(model.pair_dual(i[0], j[0])) == 0
    assert model.pair_dual(i[:1, None], j[None, :3]).shape == (1, 3)


def test_breast_cancer_is_certified_at_every_C():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    n_pairs = y.sum() * (1 - y).sum()
    for C_pair in 10.0 ** np.arange(-3, 4):
        model = AUCSVC(C_pair * n_pairs, tol=1e-6).fit(X, y)
        assert model.dual_gap_ <= 1e-6
    assert roc_auc_score(y, model.decision_function(X)) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_structure_is_the_plain_machine(kernel):
    X, y = gaussian(6)
    plain, none = (AUCSVC(5.0, kernel=kernel, tol=1e-9, structure=s).fit(X, y) for s in (0.0, 1e-12))
    np.testing.assert_allclose(plain.decision_function(X), none.decision_function(X), atol=1e-6)
    assert none.objective_ == pytest.approx(plain.objective_, rel=1e-8)


def test_structure_is_the_sum_of_class_covariances():
    """The linear machine on whitened features, Sigma taken from the differences of all pairs, is the structured one."""
    X, y = gaussian(7)
    i, j = every_pair(y)
    sigma = np.cov((X[i] - X[j]).T, bias=True)
    np.testing.assert_allclose(sigma, sum(np.cov(X[y == label].T, bias=True) for label in (0, 1)), rtol=1e-12)
    lam = 4.0
    root = np.linalg.cholesky(np.linalg.inv(np.eye(3) + lam * sigma))
    white = AUCSVC(10.0, kernel="linear", tol=1e-9).fit(X @ root, y)
    for kernel in ("linear", lambda A, B: A @ B.T):
        model = AUCSVC(10.0, kernel=kernel, structure=lam, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), white.decision_function(X @ root), atol=1e-4)
        assert model.objective_ == pytest.approx(white.objective_, rel=1e-8)


def test_separable_data_give_the_direction_of_the_hard_margin_machine():
    X, y = gaussian(8, n=60, shift=8.0)
    ours = AUCSVC(1e6, kernel="linear", tol=1e-10).fit(X, y)
    theirs = SVC(C=1e6, kernel="linear", tol=1e-10).fit(X, y).coef_[0]
    w = X.T @ ours.dual_coef_[0]
    assert w @ theirs / np.linalg.norm(w) / np.linalg.norm(theirs) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("model", [AUCRLS, PartialAUCSVC], ids=repr)
def test_offsets_of_features_do_not_drown_distances(model, offset):
    """Dense or sparse, in training or in prediction: a shift of columns without zeros leaves distances unchanged."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    X = np.round(rng.normal(size=(60, 6)) + y[:, None], 2)
    X[:, 3:] *= rng.random((60, 3)) < 0.3
    moved = X + offset * (np.arange(6) < 3)
    expected = model(kernel="rbf", gamma=0.3).fit(X, y).decision_function(X)
    for trained in (moved, sp.csr_matrix(moved)):
        fitted = model(kernel="rbf", gamma=0.3).fit(trained, y)
        for rows in (moved, sp.csr_matrix(moved)):
            np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=1e-3 * np.ptp(expected))


def test_float32_and_sparse_samples_change_little():
    X, y = gaussian(9, n=80)
    expected = AUCSVC(50.0, tol=1e-8).fit(X, y).objective_
    assert AUCSVC(50.0, tol=1e-8).fit(sp.csr_array(X), y).objective_ == pytest.approx(expected, rel=1e-7)
    assert AUCSVC(50.0, tol=1e-6, kernel_dtype="float32").fit(X, y).objective_ == pytest.approx(expected, rel=1e-5)
    assert AUCSVC(50.0, tol=1e-6).fit(X.astype(np.float32), y).objective_ == pytest.approx(expected, rel=1e-5)


def test_threads_do_not_change_a_bit():
    X, y = gaussian(10, n=200)
    fits = [AUCSVC(50.0, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert fits[0].dual_coef_.tobytes() == fits[1].dual_coef_.tobytes()


@pytest.mark.parametrize("pairs", ["all", "neighbors"])
def test_a_C_too_small_is_said(pairs):
    with pytest.warns(ZeroModelWarning, match=r"within tol=0.001 of optimal for the .* surrogate .*: raise C"):
        model = AUCSVC(1e-6, pairs=pairs).fit(*gaussian(11))
    found, coefs = of_pairs(model, gaussian(11)[1])
    assert found.sum() == pytest.approx(1e-6, rel=1e-3)
    np.testing.assert_allclose(coefs, model.dual_coef_[0], atol=1e-18)
    assert roc_auc_score(gaussian(11)[1], model.decision_function(gaussian(11)[0])) > 0.7


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_multipliers_make_the_model_at_the_default_tol(kernel):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = gaussian(seed, n=int(rng.integers(20, 150)), d=int(rng.integers(1, 20)), shift=rng.uniform(0, 3))
        C, structure = 10.0 ** rng.uniform(-2, 4), float(rng.choice([0.0, 0.0, 0.3]))
        model = AUCSVC(C, kernel=kernel, pairs=["all", "neighbors"][seed % 2], structure=structure).fit(X, y)
        coefs, scores = of_pairs(model, y)[1], model.decision_function(X)
        for members in (y == 0, y == 1):
            coefs[members] -= structure * (scores[members] - scores[members].mean()) / members.sum()
        gram = X @ X.T if kernel == "linear" else pairwise_kernels(X, metric="rbf", gamma=1 / X.var() / X.shape[1])
        apart, length = (c @ gram @ c for c in (coefs - model.dual_coef_[0], model.dual_coef_[0]))
        assert apart <= 1e-12 * length, (seed, C)
        assert model.dual_gap_ <= model.tol_
        assert model.history_["objective"][-1] == pytest.approx(model.objective_, rel=1e-8)


def test_a_search_slices_precomputed_kernels():
    X, y = gaussian(12, n=60)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    grid = {"C": [1.0, 10.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroModelWarning)
        found = GridSearchCV(AUCSVC(kernel="precomputed"), grid, scoring="roc_auc", cv=3).fit(K, y)
        direct = GridSearchCV(AUCSVC(gamma=0.3), grid, scoring="roc_auc", cv=3).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], direct.cv_results_["mean_test_score"])


def test_what_cannot_fit_is_refused_with_its_size():
    X, y = gaussian(15, n=600)
    with using(memory=10**6):
        with pytest.raises(MemoryError, match=r"the kernel matrix of 600 samples in float64 needs 0.0 GB .*float32"):
            AUCSVC().fit(X, y)
        with pytest.raises(MemoryError, match=r"solver='cvxopt' on [0-9,]+ pairs needs .* GB .*solver='auto'"):
            AUCSVC(kernel="linear", solver="cvxopt").fit(*gaussian(15, n=60))


def of_pairs(model, y):
    """Return the multipliers of all pairs, and what they make the coefficients of the samples."""
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    found = model.pair_dual(pos[:, None], neg)
    coefs = np.zeros(len(y))
    coefs[pos], coefs[neg] = found.sum(axis=1), -found.sum(axis=0)
    return found, coefs


@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"structure": 0.5}], ids=str)
def test_whole_weights_are_repetitions(options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y, weight = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(int), rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    one, other = (AUCSVC(10.0, tol=1e-8, **options).fit(*data) for data in ((X, y, weight), (X[rows], y[rows])))
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)
    (found, coefs), (repeated, _) = of_pairs(one, y), of_pairs(other, y[rows])
    assert found.sum() == pytest.approx(repeated.sum(), rel=1e-6)
    if "structure" not in options:
        np.testing.assert_allclose(coefs, one.dual_coef_[0], atol=1e-9)


def test_multipliers_of_weighted_pairs_make_the_coefficients():
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal((80, 2)), 1)  # ties
    y = (X[:, 0] + rng.standard_normal(80) > 0.5).astype(int)
    weight = rng.random(80) * (rng.random(80) < 0.9) * 10.0 ** rng.integers(-3, 3, 80)
    model = AUCSVC(10.0, tol=1e-9).fit(X, y, weight)
    found, coefs = of_pairs(model, y)
    np.testing.assert_allclose(coefs, model.dual_coef_[0], atol=1e-9)
    share = np.outer(*(weight[y == label] / weight[y == label].sum() for label in (1, 0)))
    assert found.min() >= 0 and (found <= 10.0 * share * (1 + 1e-9)).all()
    with pytest.raises(ValueError, match="sample_weight needs pairs='all' and solver='auto', got pairs='neighbors'"):
        AUCSVC(pairs="neighbors").fit(X, y, weight)


@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"structure": 0.5}], ids=str)
def test_a_warm_start_saves_steps(options):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 4))
    y = (X[:, 0] + rng.standard_normal(150) > 0.5).astype(int)
    model = AUCSVC(100.0, tol=1e-6, warm_start=True, **options).fit(X, y)
    steps, objective = model.n_iter_, model.objective_
    model.fit(X, y)
    assert model.n_iter_ < steps and model.objective_ == pytest.approx(objective, rel=2e-6)
    assert set(model.history_) == {"objective", "bound", "partial_auc", "step"}
    assert model.fit(X[:100], y[:100]).dual_gap_ <= 1e-6


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "linear"}, {"structure": 0.5}, {"kernel_dtype": "float32"}], ids=str
)
def test_it_is_the_partial_machine_on_the_full_range(options):
    X, y = gaussian(16, n=80)
    options = {"kernel": "rbf", "tol": 1e-6} | options
    pairwise, partial = AUCSVC(**options).fit(X, y), PartialAUCSVC(**options).fit(X, y)
    assert pairwise.C_ == partial.C_ == (100.0 if options["kernel"] == "linear" else 300.0)
    assert pairwise.objective_ == pytest.approx(partial.objective_, rel=2e-6)
    np.testing.assert_allclose(pairwise.decision_function(X), partial.decision_function(X), atol=0.01)
    shared = {"C", "tol", "max_iter", "threshold", "kernel_dtype", "structure", "warm_start"}
    assert all(pairwise.get_params()[name] == partial.get_params()[name] for name in shared)


@pytest.mark.parametrize("n", [3, 7, 10, 100, 1001])
def test_the_gamma_of_equal_entries_is_1(n):
    """Not one over the squares of rounding errors, 1e33."""
    X = np.full((n, 3), 0.1)
    for stored in (X, X.astype(np.float32), sp.csr_array(X)):
        for weight in (None, np.full(n, 0.7)):
            assert _gamma("scale", stored, weight) == 1.0
