"""The AUC of many classes over the folds of a cross-validation."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from profiles import cases
from rocmax.metrics import AUC, PartialAUC, cross_validated_auc, infer

WAYS = [("ovr", "macro"), ("ovr", "weighted"), ("ovo", "macro"), ("ovo", "weighted")]


def drawn(rng, n=300, n_folds=3, n_classes=3):
    y = rng.choice(n_classes, n, p=[0.5, 0.3, 0.2][:n_classes] if n_classes == 3 else None)
    return y, rng.normal(size=(n, n_classes)) + 1.2 * np.eye(n_classes)[y], rng.integers(n_folds, size=n)


@pytest.mark.parametrize(("multi_class", "average"), WAYS)
def test_estimate_is_the_mean_of_those_of_the_folds(multi_class, average):
    y, s, fold = drawn(np.random.default_rng(0))
    s = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
    expected = [roc_auc_score(y[fold == k], s[fold == k], multi_class=multi_class, average=average) for k in range(3)]
    measure = AUC(multi_class=multi_class, average=average)
    found = cross_validated_auc(y, s, measure, fold=fold)
    assert found.estimate == pytest.approx(np.mean(expected), abs=1e-12)
    assert (found.measure, found.n_folds) == (measure, 3)


@pytest.mark.parametrize(("multi_class", "average"), WAYS)
@pytest.mark.parametrize(("measure", "options"), [(AUC, {}), (PartialAUC, {"fpr_range": (0, 0.3)})])
def test_two_classes_are_a_binary_measure(multi_class, average, measure, options):
    rng = np.random.default_rng(1)
    y, fold = rng.integers(2, size=120), np.arange(120) % 4
    s = np.round(rng.normal(size=120) + y, 1)
    # Read from either column the area is one: at all rates, and over a range the first column's is of other samples.
    columns = np.column_stack([-s, s])
    found = cross_validated_auc(y, columns, measure(**options, multi_class=multi_class, average=average), fold=fold)
    binary = [cross_validated_auc(y == k, columns[:, k], measure(**options), fold=fold) for k in (0, 1)]
    if not options:
        assert found.estimate == pytest.approx(binary[1].estimate, abs=1e-15)
        # Shares of the classes change nothing where both have one value.
        assert found.variance == pytest.approx(binary[1].variance, rel=1e-12)
        assert binary[0].variance == pytest.approx(binary[1].variance, rel=1e-12)
    each = cross_validated_auc(y, columns, measure(**options, multi_class="ovr", average=None), fold=fold)
    np.testing.assert_allclose(each.variance, [one.variance for one in binary], rtol=1e-12)
    np.testing.assert_allclose(each.estimate, [one.estimate for one in binary], rtol=1e-12)


def test_each_class_against_the_rest_is_a_binary_measure():
    y, s, fold = drawn(np.random.default_rng(2))
    found = cross_validated_auc(y, s, AUC(multi_class="ovr", average=None), fold=fold)
    for k in range(3):
        one = cross_validated_auc(y == k, s[:, k], fold=fold)
        assert found.estimate[k] == pytest.approx(one.estimate, abs=1e-14)
        assert found.variance[k] == pytest.approx(one.variance, rel=1e-12)
    # One fold: all but the factors n / (n - 1) of DeLong's.
    whole = cross_validated_auc(y, s, AUC(multi_class="ovo"), fold=np.zeros(300))
    assert whole.variance == pytest.approx(infer(y, s, AUC(multi_class="ovo"), method="delong").variance, rel=0.02)


@pytest.mark.parametrize(("multi_class", "average"), WAYS)
def test_variance_is_a_bootstraps(multi_class, average):
    """Samples drawn again within their folds: the spread of the mean over the folds."""
    rng = np.random.default_rng(3)
    y, s, fold = drawn(rng, n=240)
    found = cross_validated_auc(y, s, AUC(multi_class=multi_class, average=average), fold=fold)
    drawn_again = []
    for _ in range(cases(100, 400)):
        rows = np.concatenate([rng.choice(np.flatnonzero(fold == k), (fold == k).sum()) for k in range(3)])
        again = cross_validated_auc(y[rows], s[rows], AUC(multi_class=multi_class, average=average), fold=fold[rows])
        drawn_again.append(again.estimate)
    assert found.standard_error == pytest.approx(np.std(drawn_again), rel=0.15)


def test_bad_folds_are_named():
    y, s, fold = drawn(np.random.default_rng(0))
    with pytest.raises(ValueError, match="fold 1 lacks a class; use fewer folds, or stratify them"):
        cross_validated_auc(y, s, AUC(multi_class="ovr"), fold=np.where(y == 2, 0, fold))
    with pytest.raises(ValueError, match="labels must be distinct"):
        cross_validated_auc(y, s, AUC(multi_class="ovr", labels=[None, None]), fold=fold)
    with pytest.raises(ValueError, match="it takes no pos_label"):
        cross_validated_auc(y, s, AUC(multi_class="ovr"), fold=fold, pos_label=1)
    with pytest.raises(ValueError, match="average=None goes with multi_class='ovr'"):
        cross_validated_auc(y, s, AUC(multi_class="ovo", average=None), fold=fold)


@pytest.mark.parametrize(("per_fold", "shift"), [(2, 0.0), (3, 1.0), (2, 3.0)])
def test_means_of_the_true_areas_of_few_positives_are_covered(per_fold, shift):
    """Nearest means as models: intervals missed 15 to 40 % with 2 to 10 positives a fold."""
    rng, held = np.random.default_rng(4), []
    y, fold = np.arange(20 * per_fold) % 4 == 0, np.arange(20 * per_fold) // 4 % 5
    for _ in range(100):
        X = rng.normal(size=(len(y), 10))
        X[:, 0] += shift * y
        s, true = np.empty(len(y)), []
        for k in range(5):
            kept = fold != k
            w = X[kept & y].mean(axis=0) - X[kept & ~y].mean(axis=0)
            s[~kept] = X[~kept] @ w
            true.append(stats.norm.cdf(shift * w[0] / np.sqrt(2) / np.linalg.norm(w)))
        low, high = cross_validated_auc(y, s, fold=fold, n_jobs=1).confidence_interval
        held.append(low <= np.mean(true) <= high)
    assert np.mean(held) > 0.92


def test_folds_of_one_positive_are_refused():
    y, fold = np.arange(40) % 8 == 0, np.arange(40) // 8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cross_validated_auc(y, np.arange(40) % 7, fold=fold)
    assert found.no_interval == "a fold has one sample of a class, an interval needs two"
    assert np.isnan(found.confidence_interval.low)
