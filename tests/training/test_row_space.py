"""The row space of wide features gives the choice, the models and the proofs of the features themselves."""

import numpy as np
import pytest
import scipy.sparse as sp

from rocmax import PartialAUCSVCCV
from rocmax._runtime.settings import using
from rocmax.designs import RowSpace
from rocmax.metrics import partial_auc_score

KINDS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "sparse": sp.csr_array,
    "equal rows": lambda X: np.repeat(X[::3], 3, axis=0),
    "off centre": lambda X: X + 1e4,
    "rank 5": lambda X: X[:, :5] @ np.random.default_rng(1).standard_normal((5, X.shape[1])),
}


def wide(n=150, d=560):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 4 == 0).astype(int)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[:, :40] += 0.5 * y[:, None]
    return X, y


@pytest.fixture
def unreduced(monkeypatch):
    """Return a function that fits on the features themselves."""

    def fit(model, *args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(RowSpace, "of", classmethod(lambda *_: None))
            return model.fit(*args, **kwargs)

    return fit


def dense_factor(design):
    """The rows of a factor with the zeros that its blocks leave out."""
    F = np.zeros((design.n_samples, design.dim), design._blocks[0][1].dtype)
    for rows, block in design._blocks:
        F[design._order[rows], : block.shape[1]] = block
    return F


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_factor_keeps_inner_products_scores_and_lengths(kind, n_threads):
    X = KINDS[kind](wide()[0])
    dense = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
    Z = dense - dense.mean(axis=0)
    space = RowSpace.of(X, n_threads)
    design = space.design(np.arange(150))
    F = dense_factor(design)
    rank = np.linalg.matrix_rank(Z, rtol=1e-6)
    assert F.shape == (150, rank) and F.dtype == X.dtype
    rounding = 1e-5 if kind == "float32" else 1e-8
    gram = Z @ Z.T
    np.testing.assert_allclose(F.astype(float) @ F.T, gram, atol=rounding * gram.max())
    v = F.T @ np.random.default_rng(2).standard_normal(150)  # as all models are
    w = space.vector(v)
    np.testing.assert_allclose(Z @ w, F @ v, atol=rounding * np.abs(F @ v).max())
    assert w @ w == pytest.approx(v @ v, rel=1e-6)
    assert np.array_equal(F, dense_factor(RowSpace.of(X, 3 - n_threads).design(np.arange(150))))


@pytest.mark.parametrize("kind", ["dense", "float32", "rank 5"])
def test_products_are_those_of_the_factor(kind):
    rng = np.random.default_rng(4)
    space = RowSpace.of(KINDS[kind](wide()[0]), 1)
    design = space.design(rng.permutation(150)[:140])
    rows = rng.permutation(140)[:133]
    for some in (design, design.rows(rows)):
        F = dense_factor(some)
        assert F.shape == (some.n_samples, some.dim)
        v, coefs = rng.standard_normal(some.dim), rng.standard_normal((2, some.n_samples))
        few = coefs * (np.arange(some.n_samples) % 9 == 0)
        rounding = 1e-3 if kind == "float32" else 1e-10
        np.testing.assert_allclose(some.scores(v), F @ v, atol=rounding)
        np.testing.assert_allclose(some.adjoint(coefs), coefs @ F, atol=rounding)
        np.testing.assert_allclose(some.adjoint(few), few @ F, atol=rounding)
    assert np.array_equal(dense_factor(design.rows(rows)), dense_factor(design)[rows])


def test_only_wide_features_are_reduced_whatever_memory_is_free():
    X, _ = wide()
    assert RowSpace.of(X, 1).rank == 149
    assert RowSpace.of(X[:, :299], 1) is None
    assert RowSpace.of(sp.csr_array(X * (np.arange(560) < 60)), 1) is None
    assert RowSpace.of(np.ones((5, 40)), 1) is None  # rank 0
    with using(memory=1):
        assert RowSpace.of(X, 1).rank == 149


AUTO = (0.0, 0.2), "auto", [0.01, 1.0, 100.0]
TIGHT, RAMP = ((0.0, 1.0), "tight", [0.01, 1.0]), ((0.1, 0.3), "ramp", [1.0])


@pytest.mark.parametrize(
    ("kind", "weighted", "fpr_range", "surrogate", "Cs"),
    [
        ("dense", False, *AUTO),
        ("dense", True, *TIGHT),
        ("dense", True, *RAMP),
        ("float32", False, *TIGHT),
        ("float32", False, *RAMP),
        ("sparse", True, *AUTO),
        ("off centre", False, *TIGHT),
    ],
)
def test_the_choice_is_that_of_the_features(unreduced, kind, weighted, fpr_range, surrogate, Cs):
    X, y = wide()
    X = KINDS[kind](X)
    weight = np.random.default_rng(3).integers(0, 3, len(y)) + 0.5 * (y == 1) if weighted else None
    model = PartialAUCSVCCV(fpr_range, surrogate=surrogate, Cs=Cs, cv=3)
    whole = unreduced(PartialAUCSVCCV(**model.get_params()), X, y, weight)
    model.fit(X, y, weight)
    assert (model.surrogate_, model.C_) == (whole.surrogate_, whole.C_)
    # Models within the tolerance of one another may order a few pairs of a fold otherwise.
    for name, scores in model.scores_.items():
        np.testing.assert_allclose(scores, whole.scores_[name], atol=0.05)
    assert model.dual_gap_ <= model.tol_
    assert model.coef_.shape == (1, X.shape[1])
    if model.surrogate_ != "ramp":  # which has several minima
        assert model.objective_ == pytest.approx(whole.objective_, rel=2 * model.tol_)
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=0.05)
    if model.surrogate_ in ("tight", "auc"):
        found = model.certificate().verify(X, y, weight)
        assert found <= model.tol_ and found == pytest.approx(model.dual_gap_, abs=1e-9)


def test_a_scorer_receives_models_of_the_features():
    X, y = wide()

    def scorer(model, X_test, y_test):
        assert model.coef_.shape == (1, X.shape[1])
        return partial_auc_score(y_test, model.decision_function(X_test), fpr_range=(0.0, 0.2))

    own = PartialAUCSVCCV((0.0, 0.2), Cs=[0.1, 10.0], cv=3, scoring=scorer).fit(X, y)
    model = PartialAUCSVCCV((0.0, 0.2), Cs=[0.1, 10.0], cv=3).fit(X, y)
    for name, scores in model.scores_.items():
        np.testing.assert_allclose(own.scores_[name], scores, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse", "off centre"])
def test_a_scorer_of_predictions_receives_the_threshold_of_the_features(unreduced, kind):
    X, y = wide()
    model = PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=[0.01, 0.1], cv=3, scoring="balanced_accuracy", tol=1e-6)
    found = model.fit(KINDS[kind](X), y).scores_["tight"]
    np.testing.assert_allclose(found, unreduced(model, KINDS[kind](X), y).scores_["tight"], atol=0.02)
    assert found.mean() > 0.6


def test_results_do_not_depend_on_the_number_of_threads():
    X, y = wide()
    one, two = (PartialAUCSVCCV((0.0, 0.2), Cs=[0.1, 10.0], cv=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert all(np.array_equal(scores, two.scores_[name]) for name, scores in one.scores_.items())
