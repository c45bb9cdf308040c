"""TwoNormSVC, and the machine for partial AUC in kernel spaces and under the structure metric."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference_risks as reference
from estimator_checks import AT_ZERO
from profiles import cases
from rocmax import AUCSVC, PartialAUCSVC
from rocmax.exceptions import FeatureScaleWarning, ZeroModelWarning
from rocmax.papers import TwoNormSVC


@pytest.fixture(scope="module")
def noisy():
    return make_classification(150, 5, flip_y=0.3, weights=[0.7], random_state=0)


# Of weights and of copies the models are within `tol` of each other, at C = 1 the same.
@parametrize_with_checks(
    [TwoNormSVC(), PartialAUCSVC((0.0, 0.3), kernel="rbf", C=1.0), *cases([], [PartialAUCSVC(structure=1.0)])],
    expected_failed_checks=lambda model: {} if isinstance(model, TwoNormSVC) or model.structure else AT_ZERO,
)
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.PositiveClassWarning")
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.FeatureScaleWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_training_auc_is_one_in_its_own_space(noisy, C, kernel):
    X, y = noisy
    samples = pairwise_kernels(X, metric="rbf", gamma=0.1) if kernel == "precomputed" else X
    model = TwoNormSVC(C, kernel=kernel).fit(samples, y)
    own = model.decision_function_in_feature_space(samples)
    assert roc_auc_score(y, own) == 1.0
    assert roc_auc_score(y, model.decision_function_in_feature_space(samples, np.arange(len(y)))) == 1.0
    rest = model.decision_function_in_feature_space(samples, np.full(len(y), -1))
    np.testing.assert_array_equal(rest, model.decision_function(samples))
    np.testing.assert_allclose(own - rest, model.dual_coef_[0] / (2 * C), rtol=1e-6, atol=1e-9)


def test_it_is_the_squared_hinge_machine(noisy):
    """KKT: al_i = 2 C xi_i; y_i f'(x_i) = 1 on the support, at least 1 elsewhere; the signed al sum to zero."""
    X, y = noisy
    C, sign = 0.7, 2 * y - 1
    model = TwoNormSVC(C, tol=1e-8).fit(X, y)
    al = model.dual_coef_[0] * sign
    assert np.all(al >= 0) and model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-8)
    slack = np.maximum(0.0, 1.0 - sign * model.decision_function(X))
    np.testing.assert_allclose(al, 2 * C * slack, atol=1e-5)
    own = sign * model.decision_function_in_feature_space(X)
    assert own.min() >= 1 - 1e-5
    np.testing.assert_allclose(own[model.support_], 1.0, atol=1e-5)
    dual = al.sum() - 0.5 * model.dual_coef_[0] @ (model.decision_function(X) - model.intercept_) - al @ al / (4 * C)
    assert model.objective_ == pytest.approx(dual, rel=1e-5)


@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [("sigmoid", {"gamma": 5.0}), ("poly", {"coef0": -1.0}), (lambda A, B: -(A @ B.T), {}), ("precomputed", {})],
)
def test_a_kernel_that_is_not_positive_semidefinite_is_refused(noisy, kernel, parameters):
    X, y = noisy
    samples = X @ X.T - 0.5 * np.eye(len(y)) if kernel == "precomputed" else X
    with pytest.raises(
        ValueError, match="kernel must be positive semidefinite, got one whose matrix over the training"
    ):
        TwoNormSVC(kernel=kernel, **parameters).fit(samples, y)


def test_a_semidefinite_kernel_in_single_precision_is_taken(noisy):
    X, y = noisy
    model = TwoNormSVC(kernel=lambda A, B: (A @ B.T).astype(np.float32)).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), TwoNormSVC(kernel="linear").fit(X, y).decision_function(X), atol=1e-2
    )


def poly(scale):
    return lambda A, B: scale * (1.0 + A @ B.T) ** 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scale", [1e30, 1e200])
@pytest.mark.parametrize(
    "model",
    [
        PartialAUCSVC((0.0, 0.3), C=1000.0),
        PartialAUCSVC((0.0, 0.3), C=1e-3, surrogate="tight"),
        AUCSVC(kernel_dtype="float32"),
        AUCSVC(1.0, pairs="neighbors"),
        AUCSVC(1.0, structure=1.0),
        TwoNormSVC(),
    ],
)
def test_a_kernel_too_large_is_named_or_fits(noisy, model, scale):
    X, y = noisy
    try:
        fitted = clone(model).set_params(kernel=poly(scale)).fit(X, y)
    except ValueError as error:
        assert re.search("(kernel.*(scale|divide)|scale the .* kernel)", str(error)), error
    else:
        assert np.isfinite(fitted.decision_function(X)).all()
        assert roc_auc_score(y, fitted.decision_function(X)) > 0.5


def test_copies_stand_for_copies(noisy):
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 0])
    model = TwoNormSVC().fit(X, y)
    assert roc_auc_score(y, model.decision_function_in_feature_space(X)) == 1.0
    own = model.decision_function_in_feature_space([[0.0], [0.0], [0.0], [5.0]])
    plain = model.decision_function([[0.0], [0.0], [0.0], [5.0]])
    np.testing.assert_allclose(own - plain, [*model.dual_coef_[0][:2] / 2, 0.0, 0.0])
    dense = model.decision_function_in_feature_space(X)
    np.testing.assert_allclose(TwoNormSVC().fit(sp.csr_array(X), y).decision_function_in_feature_space(X), dense)
    with pytest.raises(ValueError, match=r"train_index must hold one whole number for each of the 4 rows.*\[0, 1\]"):
        model.decision_function_in_feature_space(X, [0, 1])
    with pytest.raises(ValueError, match="train_index must hold -1 or training rows, 0 to 3, got 4"):
        model.decision_function_in_feature_space(X, [0, 1, 2, 4])


@pytest.mark.parametrize("surrogate", ["tight", "hinge", "ramp"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("structure", [0.0, 2.0])
def test_partial_auc_in_kernel_spaces(noisy, surrogate, kernel, structure):
    """The objective, recomputed from the definition over k and Sigma, and the scores of new samples."""
    X, y = noisy
    gram = X @ X.T if kernel == "linear" else pairwise_kernels(X, metric="rbf", gamma=0.2)
    given = {"C": 50.0, "structure": structure, "tol": 1e-4, "surrogate": surrogate}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroModelWarning)
        model = PartialAUCSVC((0.05, 0.4), kernel=kernel, gamma=0.2, **given).fit(X, y)
        dual = PartialAUCSVC((0.05, 0.4), kernel="precomputed", **given).fit(gram, y)
    for found, samples in ((model, X), (dual, gram)):
        scores = found.decision_function(samples) - found.intercept_[0]
        w2 = found.coef_[0] @ found.coef_[0] if hasattr(found, "coef_") else found.dual_coef_[0] @ scores
        covariance = sum(np.var(scores[y == label]) for label in (0, 1))
        risk = getattr(reference, surrogate)(y, scores, (0.05, 0.4))
        assert found.objective_ == pytest.approx(0.5 * w2 + structure / 2 * covariance + 50.0 * risk, rel=1e-6)
        assert found.dual_gap_ <= 1e-4
    if surrogate == "tight":
        assert model.objective_ == pytest.approx(dual.objective_, rel=2e-4)
    assert hasattr(model, "coef_") == (kernel == "linear") and not hasattr(dual, "coef_")


def test_partial_auc_on_the_full_range_is_the_pairwise_machine(noisy):
    X, y = noisy
    ours = PartialAUCSVC(kernel="rbf", C=30.0, structure=0.5, tol=1e-8).fit(X, y)
    theirs = AUCSVC(30.0, structure=0.5, tol=1e-8).fit(X, y)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-7)
    np.testing.assert_allclose(
        ours.decision_function(X) - ours.intercept_, theirs.decision_function(X) - theirs.intercept_, atol=2e-3
    )


def test_features_that_drown_the_tolerance_end_with_a_warning():
    X, y = np.random.default_rng(0).standard_normal((5, 30)), np.array([0, 1, 1, 0, 1])
    X[:, 0] *= 1e10
    with pytest.warns(ConvergenceWarning, match="Solver terminated early"), pytest.warns(FeatureScaleWarning):
        TwoNormSVC(C=1e-8, kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="kernel, or X, is too large for C=1"), pytest.warns(FeatureScaleWarning):
        TwoNormSVC(kernel="linear").fit(X, y)
