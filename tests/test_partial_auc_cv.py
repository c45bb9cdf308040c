"""Paths over C and models chosen by validation."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rocmax import PartialAUCSVC, PartialAUCSVCCV, partial_auc_path
from rocmax.exceptions import ZeroModelWarning
from rocmax.metrics import partial_auc_score

CS = [0.1, 1.0, 10.0, 100.0]


@parametrize_with_checks([PartialAUCSVCCV((0.0, 0.5), Cs=[0.1, 10.0], cv=2)])
@pytest.mark.filterwarnings("ignore::rocmax.exceptions.ZeroModelWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1500, 10, n_informative=5, weights=[0.85], class_sep=1.0, random_state=0)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("surrogate", ["tight", "naive", "hinge", "ramp"])
@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.2), (0.05, 0.3)])
def test_a_path_is_as_good_as_single_fits(data, surrogate, fpr_range):
    path = partial_auc_path(*data, fpr_range, Cs=CS[::-1], surrogate=surrogate)
    np.testing.assert_array_equal(path.Cs, CS)
    assert np.all(path.dual_gaps <= 1e-3)
    for k, C in enumerate(CS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroModelWarning)
            single = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C).fit(*data)
        # Convex risks have one minimum; for the others the path only has to do about as well.
        convex = surrogate in ("tight", "naive") or (surrogate == "hinge" and fpr_range[0] == 0)
        assert path.objectives[k] <= single.objective_ * (1.0011 if convex else 1.05)


def test_a_path_costs_fewer_steps_than_its_parts(data):
    path = partial_auc_path(*data, (0.0, 0.2), surrogate="tight", Cs=CS)
    single = [PartialAUCSVC((0.0, 0.2), surrogate="tight", C=C).fit(*data).n_iter_ for C in CS]
    assert path.n_iters.sum() < sum(single)


@pytest.mark.parametrize("selection", ["best", "one-standard-error"])
def test_the_choice_can_be_repeated_by_hand(data, selection):
    X, y = data
    folds = StratifiedKFold(4)
    model = PartialAUCSVCCV((0.0, 0.2), Cs=CS, cv=folds, selection=selection).fit(X, y)
    assert set(model.scores_) == {"tight", "ramp", "auc"}
    assert all(scores.shape == (4, len(CS)) for scores in model.scores_.values())
    means = {name: scores.mean(axis=0) for name, scores in model.scores_.items()}
    best = max(means, key=lambda name: means[name].max())
    assert model.surrogate_ == best
    scores = model.scores_[best]
    peak = int(np.argmax(means[best]))
    slack = scores[:, peak].std(ddof=1) / 2 if selection == "one-standard-error" else 0.0
    assert CS[int(np.argmax(means[best] >= means[best][peak] - slack))] == model.C_
    train, test = next(iter(folds.split(X, y)))
    one = partial_auc_path(X[train], y[train], (0.0, 0.2), Cs=CS, surrogate="tight")
    expected = [partial_auc_score(y[test], X[test] @ w, fpr_range=(0.0, 0.2)) for w in one.coefs]
    np.testing.assert_allclose(model.scores_["tight"][0], expected, atol=1e-12)
    assert model.dual_gap_ <= model.tol


def test_threads_do_not_change_the_choice(data):
    one, two = (PartialAUCSVCCV((0.0, 0.2), Cs=CS, n_jobs=jobs).fit(*data) for jobs in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes() and one.C_ == two.C_


def test_any_scorer_and_sparse_features(data):
    X, y = data
    for scoring in ("roc_auc", "balanced_accuracy", get_scorer("average_precision")):
        model = PartialAUCSVCCV((0.0, 0.3), Cs=[1.0, 10.0], cv=3, scoring=scoring).fit(sp.csr_array(X), y)
        assert 0.5 < model.scores_["tight"].mean() <= 1.0


def test_the_full_range_has_one_candidate(data):
    assert set(clone(PartialAUCSVCCV(Cs=[1.0], cv=2)).fit(*data).scores_) == {"tight"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, "Cs must hold at least one"),
        ({"Cs": 1.0}, "Cs must be a sequence .*got 1.0"),
        ({"Cs": [1.0, -1.0]}, "Cs must be .*got -1.0"),
        ({"selection": "1se"}, "selection must be one of .*got '1se'"),
        ({"cv": StratifiedShuffleSplit(1, train_size=0.9, test_size=1, random_state=0)}, "test_size|one class"),
    ],
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCSVCCV(**parameters).fit(*data)
