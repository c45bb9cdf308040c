"""PartialAUCSVC as a user meets it."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference_risks as reference
from estimator_checks import AT_ZERO
from profiles import cases
from rocmax import AUCSVC, PartialAUCSVC
from rocmax._runtime.settings import using
from rocmax.estimators import _training
from rocmax.exceptions import PositiveClassWarning, ZeroModelWarning
from rocmax.metrics import tpr_at_fpr_score


@parametrize_with_checks(
    [
        PartialAUCSVC(),
        PartialAUCSVC((0.1, 0.5), surrogate="ramp"),
        *cases([], [PartialAUCSVC((0.0, 0.3), surrogate="tight")]),
    ],
    expected_failed_checks=lambda model: AT_ZERO if model.fpr_range[0] > 0 else {},
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def imbalanced():
    X, y = make_classification(3000, 12, n_informative=6, weights=[0.93], class_sep=1.2, flip_y=0.02, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.02, 0.1)])
def test_fitted_attributes_are_true(imbalanced, surrogate, fpr_range):
    X, y = imbalanced
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroModelWarning)
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0).fit(X, y)
    w = model.coef_[0]
    risk = getattr(reference, surrogate)(y, X @ w, fpr_range)
    assert model.objective_ == pytest.approx(0.5 * w @ w + 10.0 * risk, rel=1e-9)
    assert 0.0 <= model.dual_gap_ <= model.tol_
    assert model.coef_.shape == (1, X.shape[1]) and model.intercept_.shape == (1,)
    np.testing.assert_allclose(model.decision_function(X), X @ w + model.intercept_[0])
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) >= model.threshold_).astype(int))
    assert len(model.history_["bound"]) == model.n_iter_
    assert model.history_["step"][0] in ("start", "descent")
    assert set(model.history_["step"]) <= {"start", "descent", "plane", "newton", "augmented"}
    assert np.all(np.isfinite(w)) and np.any(w)


def test_auto_is_tight_on_the_full_range_and_ramp_elsewhere(imbalanced):
    assert PartialAUCSVC().fit(*imbalanced).surrogate_ == "tight"
    assert PartialAUCSVC((0.0, 0.1)).fit(*imbalanced).surrogate_ == "ramp"


def test_a_narrow_range_is_ranked_better_than_by_logistic_regression():
    X, y = make_classification(
        6000, 10, n_informative=5, n_clusters_per_class=3, weights=[0.9], class_sep=1.5, random_state=3
    )
    X = StandardScaler().fit_transform(X)
    fpr_range = (0.0, 0.05)
    ours = PartialAUCSVC(fpr_range, C=100.0).fit(X, y).decision_function(X)
    theirs = LogisticRegression().fit(X, y).decision_function(X)
    assert reference.ranked_partial_auc(y, ours, fpr_range) > reference.ranked_partial_auc(y, theirs, fpr_range) + 0.01


def test_storage_does_not_matter(imbalanced):
    X, y = imbalanced
    fits = [
        PartialAUCSVC((0.0, 0.1), C=10.0, tol=1e-5).fit(store(X), y)
        for store in (np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sp.coo_matrix, np.float32)
    ]
    for fit in fits[1:]:
        assert fit.objective_ == pytest.approx(fits[0].objective_, rel=2e-3)


def test_threads_do_not_change_a_bit():
    X, y = make_classification(70_000, 5, weights=[0.9], random_state=1)
    fits = [PartialAUCSVC((0.0, 0.1), C=10.0, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()
    assert fits[0].dual_gap_ == fits[1].dual_gap_


def test_rows_may_come_in_any_order(imbalanced):
    X, y = imbalanced
    order = np.random.default_rng(0).permutation(len(y))
    one, other = (
        PartialAUCSVC((0.0, 0.2), surrogate="tight", C=5.0, tol=1e-7).fit(A, b)
        for A, b in ((X, y), (X[order], y[order]))
    )
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-6)


def test_labels_of_any_kind(imbalanced):
    X, y = imbalanced
    plain = PartialAUCSVC().fit(X, y)
    with pytest.warns(PositiveClassWarning, match=r"is used as the positive class, 'good'.* y == 'good' .*'bad'"):
        named = PartialAUCSVC().fit(X, np.array(["bad", "good"])[y])
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    np.testing.assert_array_equal(named.classes_, ["bad", "good"])
    assert set(named.predict(X)) <= {"bad", "good"}


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge"])
def test_the_zero_model_is_reported_and_not_returned(surrogate):
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 10 == 0).astype(int)
    X = rng.standard_normal((4000, 5)) + 0.6 * y[:, None]
    with pytest.warns(ZeroModelWarning, match=rf"{surrogate} .*\(0, 0.05\).*ramp"):
        model = PartialAUCSVC((0.0, 0.05), surrogate=surrogate, C=10.0).fit(X, y)
    assert model.dual_gap_ <= model.tol_
    assert model.objective_ == pytest.approx(10.0, rel=1e-3)
    assert reference.ranked_partial_auc(y, X @ model.coef_[0], (0.0, 0.05)) > 0.15


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.02, 0.1)])
def test_a_small_C_leaves_the_zero_model_for_every_surrogate(imbalanced, surrogate, fpr_range):
    # 1/2 |w|^2 + C R(Xw) >= C (1 - epsilon) for all w as C vanishes.
    with pytest.warns(ZeroModelWarning, match=f"zero model .* {surrogate} surrogate"):
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=1e-6).fit(*imbalanced)
    assert model.objective_ == pytest.approx(1e-6, rel=2e-3) and model.dual_gap_ <= model.tol_
    assert np.any(model.coef_)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.3, 1.0])
def test_predict_honours_a_target_rate(imbalanced, rate):
    X, y = imbalanced
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    for given in (None, weight):
        predicted = PartialAUCSVC((0.0, 0.1), threshold=("fpr", rate)).fit(X, y, given).predict(X)
        of = np.ones(len(y)) if given is None else given
        found = np.average(predicted[y == 0], weights=of[y == 0])
        # As many as may pass do: one more negative would exceed the rate, or no further positive be won.
        assert found <= rate + 1e-12
        assert (
            np.average(predicted[y == 1], weights=of[y == 1])
            >= tpr_at_fpr_score(
                y, PartialAUCSVC((0.0, 0.1)).fit(X, y, given).decision_function(X), fpr=rate, sample_weight=given
            )
            - 1e-12
        )


def test_not_converged_is_said_with_the_gap(imbalanced):
    with pytest.warns(ConvergenceWarning, match=r"after 2 steps \(max_iter=2\) at a relative gap of"):
        model = PartialAUCSVC(C=50.0, max_iter=2).fit(*imbalanced)
    assert model.dual_gap_ > model.tol_ and model.n_iter_ == 2


@pytest.mark.parametrize(
    ("threshold", "check"),
    [
        ("eer", lambda fpr, tpr: abs(fpr - (1 - tpr)) < 0.02),
        (("fpr", 0.05), lambda fpr, tpr: 0.04 < fpr <= 0.05),
        (("fpr", 0.0), lambda fpr, tpr: fpr == 0.0),
        ("youden", lambda fpr, tpr: tpr - fpr > 0.6),
        (("cost", 1e9), lambda fpr, tpr: fpr == 0.0),
        (("cost", 1e-9), lambda fpr, tpr: tpr == 1.0),
        ("midpoint", lambda fpr, tpr: True),
    ],
)
def test_thresholds(imbalanced, threshold, check):
    X, y = imbalanced
    predicted = PartialAUCSVC(threshold=threshold).fit(X, y).predict(X)
    assert check(predicted[y == 0].mean(), predicted[y == 1].mean())


def test_midpoint_separates_what_is_separable():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    model = PartialAUCSVC(C=100.0, threshold="midpoint").fit(X, [0, 0, 1, 1])
    assert model.intercept_[0] + 2.0 * model.coef_[0, 0] == pytest.approx(model.threshold_)


def test_it_lives_in_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PartialAUCSVC((0.0, 0.1)))
    search = GridSearchCV(pipeline, {"partialaucsvc__C": [1.0, 10.0]}, scoring="roc_auc", cv=3).fit(X, y)
    assert search.best_score_ > 0.98
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    assert clone(pipeline).get_params()["partialaucsvc__fpr_range"] == (0.0, 0.1)


def test_steps_are_reported(imbalanced, capsys):
    seen = []
    model = PartialAUCSVC(verbose=2).fit(*imbalanced, callback=seen.append)
    assert len(seen) == model.n_iter_ and seen[-1].gap <= model.tol_
    assert capsys.readouterr().out.count("objective") == model.n_iter_ + 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"surrogate": "tight"},
        {"surrogate": "naive"},
        {"surrogate": "ramp"},
        {"surrogate": "hinge"},
        {"surrogate": "tight", "structure": 1.0},
        {"surrogate": "tight", "kernel": "rbf", "structure": 1.0},
        {"surrogate": "ramp", "kernel": "rbf"},
    ],
)
def test_a_warm_start_goes_on_from_the_last_model(imbalanced, parameters):
    X, y = (array[:600] for array in imbalanced)
    cold = PartialAUCSVC((0.05, 0.3), C=10.0, **parameters).fit(X, y)
    warm = clone(cold).set_params(warm_start=True).fit(X, y)
    assert warm.n_iter_ == cold.n_iter_ and warm.objective_ == cold.objective_  # nothing to begin with yet
    assert warm.fit(X, y).history_["objective"][0] <= cold.objective_ * (1 + 1e-9)
    # Another C, other features or samples, another kernel: from there or anew, but never worse than promised.
    for changed in ({"C": 12.0}, {"kernel": "poly"}, {"kernel": "linear"}):
        assert warm.set_params(**changed).fit(X, y).dual_gap_ <= warm.tol_
    assert warm.fit(X[:500, :7], y[:500]).coef_.shape == (1, 7)


def test_a_warm_start_saves_steps(imbalanced):
    options = {"surrogate": "tight", "C": 10.0, "tol": 1e-5}
    cold = PartialAUCSVC((0.0, 0.2), **options).fit(*imbalanced)
    warm = PartialAUCSVC((0.0, 0.2), warm_start=True, **options).fit(*imbalanced).set_params(C=10.1).fit(*imbalanced)
    assert warm.n_iter_ < cold.n_iter_


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_more_cuts_than_features(C):
    # In two dimensions any four cuts are dependent; their Gram matrix once failed to factorise.
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.random(300) < 0.2
        X = rng.normal(size=(300, 2)) + np.outer(y, [1.0, 0.0])
        model = PartialAUCSVC((0, 0.05), C=C).fit(X, y)
        assert model.dual_gap_ <= model.tol_


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3), (0.1, 0.3)])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_any_tolerance_gives_a_model(fpr_range):
    X, y = make_classification(200, 5, random_state=0)
    for tol in (0.5, 1.0, 2.0):
        model = PartialAUCSVC(fpr_range, surrogate="tight", tol=tol).fit(X, y)
        assert np.isfinite(model.coef_).all() and model.dual_gap_ <= tol


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_where_nothing_can_be_learnt_a_few_steps_say_so(surrogate, weighted):
    # The objective and its bound are equal from the first step on: nothing is left to gain, and nothing is gained.
    X, y = np.ones((30, 3)), np.arange(30) % 3 == 0
    weight = np.linspace(0.1, 1.0, 30) if weighted else None
    model = PartialAUCSVC((0.3, 0.7), surrogate=surrogate, C=1.0).fit(X, y, weight)
    assert model.n_iter_ < 10 and model.objective_ == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_structure_that_drowns_the_identity_is_refused(kernel):
    rng = np.random.default_rng(0)
    X, y = 1e150 * rng.standard_normal((20, 30)), np.arange(20) % 2
    if kernel == "poly":
        X = 1e8 + X / 1e150
    with pytest.raises(ValueError, match=r"structure: .* scale the features, lower structure"):
        PartialAUCSVC(kernel=kernel, structure=0.5).fit(X, y)


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp", None])
@pytest.mark.filterwarnings("error")
def test_features_too_large_to_square_are_refused(surrogate):
    # Squares that are not finite once kept the quadratic program busy for ever.
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.arange(60) % 5 == 0
    with pytest.raises(ValueError, match=r"must be finite, got (inf|NaN).*; scale the features, .* lower C") as refused:
        model = PartialAUCSVC((0.0, 0.3), surrogate=surrogate) if surrogate else AUCSVC(kernel="linear")
        model.fit(1e160 * X, y)
    assert str(refused.value).count("scale the features") == 1


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.02, 0.05), (0.9, 1.0)])
@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.filterwarnings("ignore")
def test_extreme_scales_and_few_samples_end_with_a_model_or_an_error_that_says_what_to_do(fpr_range, surrogate):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 20))
        y = np.arange(n) < max(1, n // 4)
        X = rng.standard_normal((n, int(rng.integers(1, 40))))
        X = (X + 1e8) if seed % 3 == 0 else X * 10.0 ** (150 if seed % 3 == 1 else -150)
        weight = [None, rng.random(n), 10.0 ** rng.integers(-6, 7, n), 1e-100 * rng.random(n)][seed % 4]
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0 ** rng.integers(-3, 5), max_iter=100)
        try:
            model.fit(X, y, weight)
        except ValueError as refused:
            assert "scale" in str(refused), refused
        else:
            assert np.isfinite(model.decision_function(X)).all() and np.isfinite(model.objective_)


@pytest.mark.parametrize(("surrogate", "low"), [("hinge", 0.02), ("ramp", 0.02), ("tight", 0.0)])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_begin_at_what_a_sample_gives(surrogate, low, storage, weighted, monkeypatch):
    rng = np.random.default_rng(5)
    y = np.repeat([1, 0], [400, 3600])
    X = rng.normal(size=(4000, 5)) + np.outer(y, [2.0, 1.0, 0.0, 0.0, 0.0])
    weight = rng.integers(0, 3, len(y)).astype(float) if weighted else None
    model = PartialAUCSVC((low, 0.2), surrogate=surrogate, C=10.0)
    expected = model.fit(storage(X), y, weight).objective_
    sizes = []
    fit = _training.Training.fit
    monkeypatch.setattr(
        _training.Training, "fit", lambda self, *a, **k: sizes.append(self.problem.n_samples) or fit(self, *a, **k)
    )
    with using(sample_rows=(100, 500), sample_rows_per_feature=20):
        assert model.fit(storage(X), y, weight).objective_ == pytest.approx(expected, rel=5e-3)
    assert model.dual_gap_ <= model.tol_
    assert sizes[0] == 4000 and sizes[1:] == [500]


@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.1), (0.02, 0.1)])
@pytest.mark.parametrize("max_iter", [1, 2, 5, 7, 2000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_steps_are_counted_and_limited(imbalanced, fpr_range, max_iter, dtype):
    X, y = imbalanced[0].astype(dtype), imbalanced[1]
    for sample_rows in (100, 10_000):  # with the top negatives alone in between, and without
        steps = []
        model = PartialAUCSVC(fpr_range, surrogate="tight", C=1e4, max_iter=max_iter)
        with using(sample_rows=(sample_rows, 20_000)):
            model.fit(X, y, callback=steps.append)
        assert len(model.history_["step"]) <= model.n_iter_ == len(steps) <= max_iter
        assert (model.dual_gap_ <= model.tol_) == (max_iter == 2000)
