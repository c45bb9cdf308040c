"""Wide features are multiplied in single precision first; models, gaps and proofs are those of the features."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from rocmax import PartialAUCSVC, PartialAUCSVCCV, partial_auc_path
from rocmax._runtime.settings import using
from rocmax.designs import SubsetDesign, as_design
from rocmax.designs._linear import DenseDesign
from rocmax.metrics import partial_auc_score

NEVER = 1 << 60
PROBLEMS = [((0.0, 1.0), "tight"), ((0.0, 0.2), "tight"), ((0.1, 0.3), "naive"), ((0.1, 0.3), "ramp")]


def wide(n=150, d=700):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 4 == 0).astype(int)
    X = rng.standard_normal((n, d)) + 1e4
    X[:, :40] += 0.5 * y[:, None]
    return X, y


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(("fpr_range", "surrogate"), PROBLEMS)
def test_the_gap_and_the_proof_are_those_of_the_features(fpr_range, surrogate, C):
    X, y = wide()
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if C == 1.0 else None
    model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C)
    with using(small_single=NEVER):
        double = PartialAUCSVC(**model.get_params()).fit(X, y, weight)
    with using(small_single=0):
        model.fit(X, y, weight)
    assert not np.array_equal(model.coef_, double.coef_)
    assert model.dual_gap_ <= model.tol_
    assert model.objective_ == pytest.approx(double.objective_, rel=(5e-2 if surrogate == "ramp" else 1e-3))
    assert model.certificate().verify(X, y, weight) <= model.tol_
    steps = model.history_
    assert steps["objective"][-1] == pytest.approx(model.objective_, rel=1e-6)
    assert steps["bound"][-1] == pytest.approx(model.certificate().bound, rel=1e-6)


@pytest.mark.parametrize(("fpr_range", "surrogate"), PROBLEMS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_goes_on_where_single_precision_does_not_suffice(fpr_range, surrogate):
    X, y = wide()
    with using(small_single=0):
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0, tol=1e-7).fit(X, y)
        few = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0, tol=1e-7, max_iter=model.n_iter_ - 1)
        few.fit(X, y)
    assert model.dual_gap_ <= model.tol_
    assert model.certificate().verify(X, y) <= 1.1 * model.tol_
    assert len(model.history_["step"]) == model.n_iter_
    assert few.n_iter_ == len(few.history_["step"]) <= few.max_iter


def test_a_path_has_the_gaps_of_the_features():
    X, y = wide()
    with using(small_single=0):
        path = partial_auc_path(X, y, (0.0, 0.2), surrogate="tight", Cs=[0.01, 1.0, 100.0])
    for k, C in enumerate(path.Cs):
        double = PartialAUCSVC((0.0, 0.2), surrogate="tight", C=C).fit(X, y)
        assert path.objectives[k] == pytest.approx(double.objective_, rel=1.1e-3)
    assert np.all(path.dual_gaps <= 1e-3)


def test_the_layout_does_not_matter():
    X, y = wide()
    with using(small_single=0):
        fits = [PartialAUCSVC((0.0, 0.2), n_jobs=n).fit(some, y) for n, some in ((1, X), (2, np.asfortranarray(X)))]
    assert np.array_equal(fits[0].coef_, fits[1].coef_)


def test_only_arrays_of_few_samples_have_a_single_precision_whatever_memory_is_free(tmp_path):
    X, _ = wide()
    stored = np.memmap(tmp_path / "X", dtype=np.float64, shape=X.shape, mode="w+")
    assert as_design(X).single() is None  # a small one
    with using(small_single=0):
        centred = (X - X.mean(axis=0)).astype(np.float32)
        single, longest = as_design(X).single()
        assert np.array_equal(single._X, centred)
        assert longest == pytest.approx((centred**2).sum(axis=1).max(), rel=1e-5)
        for other in (X[:, :25], X.astype(np.float32), sp.csr_array(X), stored):
            assert as_design(other).single() is None
        with using(memory=1):
            assert np.array_equal(as_design(X).single()[0]._X, centred)
        some = np.arange(149, 0, -2)
        for found, length in (as_design(X[:, :50]).single(some), SubsetDesign(as_design(X[:, :50]), some).single()):
            assert np.array_equal(found._X, centred[some, :50])
            assert length == pytest.approx((centred[some, :50] ** 2).sum(axis=1).max(), rel=1e-5)
        assert as_design(X[:, :30]).single(some) is None


def test_folds_of_as_many_features_as_samples_are_multiplied_in_single_precision(monkeypatch):
    X, y = wide(1200, 1400)
    rows, single, folds = [], DenseDesign.single, StratifiedKFold(3)

    def spied(self, some=None, /):
        rows.append(None if some is None else len(some))
        return single(self, some)

    monkeypatch.setattr(DenseDesign, "single", spied)
    fits = [
        PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=[1e-3, 1e-2], cv=folds, n_jobs=n).fit(X, y) for n in (1, 2)
    ]
    assert rows == 2 * [800, 800, 800, None]
    assert np.array_equal(fits[0].scores_["tight"], fits[1].scores_["tight"])
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    for (train, test), found in zip(folds.split(X, y), fits[0].scores_["tight"], strict=True):
        path = partial_auc_path(X[train], y[train], (0.0, 0.2), surrogate="tight", Cs=[1e-3, 1e-2])
        expected = [partial_auc_score(y[test], X[test] @ w, fpr_range=(0.0, 0.2)) for w in path.coefs]
        np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize(("scale", "C"), [(1.0, 1e8), (1e5, 1.0), (1e30, 1e-57)])
def test_single_precision_is_not_used_where_it_hides_margins(scale, C):
    X, y = wide()
    fits = []
    for least in (0, NEVER):
        with using(small_single=least):
            fits.append(PartialAUCSVC((0.0, 0.2), surrogate="tight", C=C).fit(scale * X, y))
    assert np.array_equal(fits[0].coef_, fits[1].coef_)


@cache
def scores_of_folds(scale, offset):
    X, y = wide(1200, 1400)
    X = scale * (X - 1e4) + offset
    model = PartialAUCSVCCV((0.0, 0.2), surrogate="tight", Cs=[1e-2 / scale**2, 1.0 / scale**2], cv=StratifiedKFold(3))
    return model.fit(X, y).scores_["tight"]


@pytest.mark.parametrize(("scale", "offset"), [(1e-40, 0.0), (1e-30, 0.0), (1e15, 0.0), (1e30, 0.0), (1.0, 1e6)])
def test_units_and_offsets_do_not_change_the_scores_of_folds(scale, offset):
    np.testing.assert_allclose(scores_of_folds(scale, offset), scores_of_folds(1.0, 0.0), atol=0.005)
