"""Landmarks: the features of a kernel's subset, models of them, and the choice of width, C and surrogate."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimator_checks import AT_ZERO
from rocmax import PartialAUCSVC, PartialAUCSVCCV
from rocmax._runtime.settings import using
from rocmax.designs import LandmarkDesign, Landmarks, as_design
from rocmax.designs._kernel import Kernel
from rocmax.designs._spaces import first_of_both, ranks
from rocmax.estimators._folds import thinned

N_SAMPLES = 300


@pytest.fixture(scope="module")
def data():
    return make_moons(N_SAMPLES, noise=0.25, random_state=0)


def machine(n_landmarks=40, **options):
    given = {"kernel": "rbf", "gamma": 1.0, "surrogate": "tight", "C": 1e3, "random_state": 0}
    return PartialAUCSVC((0.0, 0.2), n_landmarks=n_landmarks, **(given | options))


WEIGHTED = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


@parametrize_with_checks(
    [
        PartialAUCSVC((0.0, 0.3), kernel="rbf", n_landmarks=15, random_state=0),
        PartialAUCSVCCV(
            (0.0, 0.5), Cs=[10.0], surrogate="tight", kernel="rbf", gamma="scale", n_landmarks=9, random_state=0, cv=2
        ),
    ],
    expected_failed_checks=lambda _: (
        AT_ZERO | dict.fromkeys(WEIGHTED, "landmarks are drawn from repeated rows as well")
    ),
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid"])
def test_inner_products_of_features_are_those_of_the_kernel_at_landmarks(data, name):
    X, _ = data
    kernel = Kernel.resolve(name, 0.5, 2, 1.0, X)
    landmarks = Landmarks(kernel, X[:30])
    features = landmarks.features(X)
    assert features.shape == (N_SAMPLES, landmarks.dim) and landmarks.dim <= 30
    if name == "sigmoid":  # has negative eigenvalues, which are left out
        assert landmarks.dim < 20
        return
    np.testing.assert_allclose(features[:30] @ features.T, kernel(X[:30], X), atol=1e-5)
    assert np.all((features**2).sum(axis=1) <= np.diag(kernel(X, X)) * (1 + 1e-6))


@pytest.mark.parametrize("storage", ["dense", "float32", "sparse", "memmap"])
def test_features_made_anew_are_those_that_are_kept(data, storage, tmp_path):
    X, _ = data
    stored = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_array(X)}.get(storage)
    if stored is None:
        stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
        stored[:] = X
    landmarks = Landmarks(Kernel.resolve("rbf", 1.0, 3, 0.0, X), stored[:30])
    with using(landmark_block=8 * 30 * 70):  # several blocks
        check_products(as_design(landmarks.features(stored)), LandmarkDesign(landmarks, stored))


def check_products(kept, anew):
    rng = np.random.default_rng(1)
    w, coefs = rng.normal(size=kept.dim), rng.normal(size=(2, N_SAMPLES))
    assert (anew.n_samples, anew.dim) == (kept.n_samples, kept.dim)
    np.testing.assert_allclose(anew.scores(w), kept.scores(w), rtol=1e-6, atol=1e-6)
    for a in (coefs, coefs * (rng.random(coefs.shape) < 0.05), np.zeros_like(coefs)):
        np.testing.assert_allclose(anew.adjoint(a), kept.adjoint(a), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(anew.inner(coefs, coefs), kept.inner(coefs, coefs))
    some = rng.permutation(N_SAMPLES)[:50]
    np.testing.assert_allclose(anew.rows(some).scores(w), kept.scores(w)[some], rtol=1e-6, atol=1e-6)


def test_all_samples_as_landmarks_are_the_kernel_machine(data):
    exact = machine(None, tol=1e-6).fit(*data)
    for n in (N_SAMPLES, 10 * N_SAMPLES):
        model = machine(n, tol=1e-6).fit(*data)
        assert len(model.landmarks_) == N_SAMPLES
        assert model.objective_ == pytest.approx(exact.objective_, rel=1e-5)
        np.testing.assert_allclose(model.decision_function(data[0]), exact.decision_function(data[0]), atol=0.05)
    few = machine(30).fit(*data)
    assert few.objective_ >= exact.objective_ and few.dual_gap_ <= few.tol_
    assert few.score(*data) > exact.score(*data) - 0.02


def test_the_objective_is_that_of_the_coefficients(data):
    X, y = data
    model = machine(surrogate="ramp", structure=0.0).fit(X, y)
    gram = rbf_kernel(model.landmarks_, gamma=1.0)
    c, s = model.dual_coef_[0], rbf_kernel(X, model.landmarks_, gamma=1.0) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X) - model.intercept_, s, atol=1e-6)
    top = np.sort(s[y == 0])[::-1][: int(np.ceil(0.2 * (y == 0).sum()))]
    loss = np.clip(1.0 - s[y == 1][:, None] + top, 0.0, 1.0).mean()
    assert model.objective_ == pytest.approx(0.5 * c @ gram @ c + 1e3 * loss, rel=1e-6)


@pytest.mark.parametrize("surrogate", ["tight", "ramp"])
def test_features_that_do_not_fit_in_memory_give_the_same_model(data, surrogate):
    kept = machine(surrogate=surrogate, tol=1e-3).fit(*data)
    with using(memory=100_000):
        anew = machine(surrogate=surrogate, tol=1e-3).fit(*data)
    assert anew.objective_ == pytest.approx(kept.objective_, rel=3e-3)
    assert anew.dual_gap_ <= anew.tol_


def test_many_features_are_kept_in_single_precision_with_a_right_certificate(data):
    expected = machine().fit(*data)
    with using(double_features=0):
        found = machine().fit(*data)
    assert found.dual_gap_ <= found.tol_
    assert found.objective_ == pytest.approx(expected.objective_, rel=2e-3)


def test_memory_decides_what_is_kept(data):
    landmarks = Landmarks(Kernel.resolve("rbf", 1.0, 3, 0.0, data[0]), data[0][:30])
    size = landmarks.size(N_SAMPLES)
    assert size == 8 * N_SAMPLES * landmarks.dim
    for memory, fits in ((3 * size, False), (4 * size, True)):
        with using(memory=memory):
            assert landmarks.fit(N_SAMPLES) == fits
    with using(memory=1000), pytest.raises(MemoryError, match=r"the features of 40 landmarks needs .* fewer"):
        machine().fit(*data)


def test_structure_and_weights_count(data):
    X, y = data
    weight = np.arange(N_SAMPLES) % 3
    model = machine(N_SAMPLES, structure=2.0, tol=1e-6).fit(X, y, weight)
    rows = np.repeat(np.arange(N_SAMPLES), weight)
    exact = machine(None, structure=2.0, tol=1e-6).fit(X[rows], y[rows])
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    assert len(model.landmarks_) == np.count_nonzero(weight)


def test_a_warm_start_keeps_the_landmarks(data):
    model = machine(tol=1e-5, random_state=None, warm_start=True).fit(*data)
    points, cold = model.landmarks_, model.n_iter_
    model.fit(*data)
    assert model.landmarks_ is points and model.n_iter_ < cold
    model.set_params(gamma=2.0).fit(*data)
    assert model.landmarks_ is points
    assert model.objective_ == pytest.approx(machine(tol=1e-5, gamma=2.0).fit(*data).objective_, rel=0.05)
    model.set_params(n_landmarks=20).fit(*data)
    assert len(model.landmarks_) == 20
    model.set_params(kernel="linear", n_landmarks=None).fit(*data)
    assert not hasattr(model, "landmarks_") and not hasattr(model, "dual_coef_")


def test_models_are_pickled_cloned_and_repeatable(data):
    X, y = data
    model = machine().fit(sp.csr_array(X), y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    repeated = clone(model).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(repeated.dual_coef_, model.dual_coef_)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(np.sort(other.landmarks_), np.sort(again.landmarks_.toarray()))


def test_models_are_saved_by_skops(data, tmp_path):
    skops = pytest.importorskip("skops.io")
    model = machine().fit(*data)
    skops.dump(model, tmp_path / "model")
    trusted = skops.get_untrusted_types(file=tmp_path / "model")
    assert all(name.startswith("rocmax.") for name in trusted)
    again = skops.load(tmp_path / "model", trusted=trusted)
    np.testing.assert_array_equal(again.decision_function(data[0]), model.decision_function(data[0]))


def test_landmarks_are_of_both_classes_and_count_for_something():
    rng = np.random.default_rng(0)
    positive, weight = rng.random(1000) < 0.05, (rng.random(1000) < 0.7).astype(float)
    place = ranks(positive, weight, 3)
    for n in (1, 2, 30, 200, 600, 5000):
        rows = first_of_both(positive, place, n)
        assert len(rows) == min(n, np.count_nonzero(weight)) == len(np.unique(rows))
        assert np.all(weight[rows] > 0) and np.all(np.diff(rows) > 0)
        assert positive[rows].sum() >= min(n // 3, (positive & (weight > 0)).sum())
    smaller, larger = (set(first_of_both(positive, place, n)) for n in (30, 60))
    assert smaller < larger


def test_thinned_folds_are_parts_of_the_folds():
    positive = np.arange(100) % 10 == 0
    place = ranks(positive, None, 0)
    folds = [(np.arange(0, 60), np.arange(60, 100)), (np.arange(40, 100), np.arange(0, 40))]
    some, found = thinned(folds, positive, place, 20, 10)
    assert len(some) < 60
    for (train, test), (train_all, test_all) in zip(found, folds, strict=True):
        assert len(train) == 20 and len(test) == 10
        assert set(some[train]) <= set(train_all) and set(some[test]) <= set(test_all)
        assert positive[some[train]].sum() == 6 and positive[some[test]].sum() == 3
    some, found = thinned(folds, positive, place, 1000, 1000)
    np.testing.assert_array_equal(some[found[1][0]], folds[1][0])


@pytest.mark.parametrize("options", [{}, {"surrogate": "ramp", "scoring": "roc_auc"}])
def test_width_C_and_surrogate_are_chosen_by_validation(data, options):
    X, y = data
    model = PartialAUCSVCCV(
        (0.0, 0.2), Cs=[1.0, 1e3], kernel="rbf", gamma=[1.0, 1e3], n_landmarks=40, random_state=0, cv=3, **options
    ).fit(X, y)
    assert model.gamma_ == 1.0 and model.C_ in (1.0, 1e3)
    assert set(model.scores_) == ({"ramp"} if "surrogate" in options else {"logistic", "auc", "tight"})
    assert all(scores.shape == (3, 2) for scores in model.scores_.values())
    single = PartialAUCSVC(
        (0.0, 0.2), surrogate="ramp", C=model.C_, kernel="rbf", gamma=1.0, n_landmarks=40, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(single.landmarks_, model.landmarks_)
    if model.surrogate_ == "ramp":
        assert model.objective_ == pytest.approx(single.objective_, rel=1e-3)
    assert model.score(X, y) > 0.9
    model.set_params(kernel="linear", gamma="auto", n_landmarks=None).fit(X, y)
    assert not hasattr(model, "gamma_") and model.coef_.shape == (1, 2)


def test_few_rows_choose(data, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "rocmax.estimators._partial_cv.thinned", lambda *given: seen.append(thinned(*given)) or seen[-1]
    )
    weight = np.arange(N_SAMPLES) % 2 + 0.5
    model = PartialAUCSVCCV((0.0, 0.2), kernel="rbf", Cs=[1e3], gamma="scale", n_landmarks=20, random_state=0, cv=3)
    with using(landmark_values=10, landmark_rows=60, landmark_scored=30):
        model.fit(*data, weight)
    assert len(seen) == 1 and {len(train) for train, _ in seen[0][1]} == {60}
    assert len(model.landmarks_) == 20 and model.dual_gap_ <= model.tol_


def test_callable_kernels_have_no_width(data):
    model = PartialAUCSVCCV((0.0, 0.2), kernel=rbf_kernel, Cs=[100.0], n_landmarks=30, random_state=0, cv=2).fit(*data)
    assert model.score(*data) > 0.8


def test_dask_is_refused(data):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="dask input needs kernel='linear'"):
        machine().fit(da.from_array(data[0]), data[1])
