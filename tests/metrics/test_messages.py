"""Input of unusual containers, options that a call does not use, and functions of users by how they can be called."""

import functools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from rocmax import metrics

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
S, T = RNG.normal(size=(2, 40)) + Y
CLASSES, COLUMNS = np.arange(40) % 3, RNG.normal(size=(40, 3))
RANGE = pd.Series([0.0, 0.5], index=[5, 6])


@pytest.mark.parametrize(
    "call",
    [
        lambda **what: metrics.auc_inference(Y, S, **what),
        lambda **what: metrics.compare_auc(Y, S, T, **what),
        lambda **what: metrics.compare_models(Y, np.c_[S, T], **what),
        lambda **what: metrics.cross_validated_auc(Y, S, fold=np.arange(40) // 20, **what),
        lambda **what: metrics.ROCAccumulator().update(Y, S).result(**what),
    ],
)
def test_a_range_may_be_a_series_of_any_index(call):
    found = call(fpr_range=RANGE)
    assert found == call(fpr_range=(0.0, 0.5))
    assert found.fpr_range == (0.0, 0.5)


def test_integers_of_128_bits_are_integers():
    wide = [pl.Series(values.tolist(), dtype=pl.Int128) for values in (Y, np.arange(40))]
    assert metrics.auc_inference(*wide) == metrics.auc_inference(Y, np.arange(40))
    assert metrics.roc_auc_score(*wide) == metrics.roc_auc_score(Y, np.arange(40))
    frame = pl.DataFrame({"a": wide[1], "b": S})
    assert metrics.compare_models(Y, frame).estimates[0] == metrics.roc_auc_score(Y, np.arange(40))
    with pytest.raises(ValueError, match=rf"y_score holds -{2**100}, beyond the integers"):
        metrics.auc_inference(Y, pl.Series([-(2**100)] * 40, dtype=pl.Int128))
    with pytest.raises(ValueError, match="y_true has no label at index 0, got None"):
        metrics.auc_inference(pl.Series([None, *Y[1:].tolist()], dtype=pl.Int128), S)


@pytest.mark.parametrize("dtype", [np.int64, object])
def test_a_negative_integer_keeps_its_sign(dtype):
    with pytest.raises(ValueError, match=rf"y_score holds -{2**60 + 1}, beyond"):
        metrics.auc_inference(Y, np.array([-(2**60) - 1, *range(39)], dtype=dtype))


def test_memory_views_are_arrays_and_a_released_one_is_named():
    views = [memoryview(values.copy()) for values in (Y, S, np.ones(40))]
    assert metrics.auc_inference(views[0], views[1], sample_weight=views[2]).estimate == roc_auc_score(Y, S)
    views[1].release()
    with pytest.raises(ValueError, match=r"y_score is no array.*released"):
        metrics.auc_inference(Y, views[1])


CALLS = {
    "auc_inference": lambda **what: metrics.auc_inference(Y, S, **what),
    "compare_auc": lambda **what: metrics.compare_auc(Y, S, T, **what),
    "unpaired": lambda **what: metrics.compare_auc(Y, S, T, y_true_b=Y, **what),
    "venkatraman": lambda **what: metrics.compare_auc(Y, S, T, method="venkatraman", **what),
    "classes": lambda **what: metrics.compare_auc(CLASSES, COLUMNS, -COLUMNS, multi_class="ovr", **what),
    "compare_models": lambda **what: metrics.compare_models(Y, np.c_[S, T], **what),
    "operating_point": lambda **what: metrics.operating_point(Y, S, **what),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stratified", 5),
        ("stratified", "yes"),
        ("n_resamples", -3),
        ("n_resamples", 1.5),
        ("weight_kind", "rubbish"),
        ("normalize", "rubbish"),
        ("random_state", "rubbish"),
    ],
)
@pytest.mark.parametrize("call", CALLS)
def test_options_are_checked_where_they_are_not_used(call, name, value):
    if (call, name) == ("operating_point", "normalize"):
        return
    with pytest.raises(ValueError, match=f"{name} must be"):
        CALLS[call](**{name: value})


def test_labels_without_several_classes_are_named():
    for call in ("auc_inference", "compare_auc"):
        with pytest.raises(ValueError, match="labels go with multi_class"):
            CALLS[call](labels=5)


def test_a_check_draws_nothing():
    rng = np.random.default_rng(3)
    CALLS["compare_auc"](random_state=rng)
    assert rng.integers(2**30) == np.random.default_rng(3).integers(2**30)


class Called:
    def __call__(self, truth, ranking, mass):
        return roc_auc_score(truth, ranking, sample_weight=mass)


FUNCTIONS = {
    "three": lambda a, b, c: roc_auc_score(a, b, sample_weight=c),
    "by name": lambda a, b, *, sample_weight: roc_auc_score(a, b, sample_weight=sample_weight),
    "any names": lambda a, b, **more: roc_auc_score(a, b, **more),
    "any number": lambda *all_three: roc_auc_score(*all_three[:2], sample_weight=all_three[2]),
    "another before": lambda a, b, k=None, sample_weight=None: roc_auc_score(
        a, b, sample_weight=sample_weight, max_fpr=k
    ),
    "partial": functools.partial(roc_auc_score, max_fpr=None),
    "object": Called(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_taken_by_what_it_can_be_called_with(name):
    weight = np.arange(40.0) % 3
    found = metrics.auc_inference(Y, S, metric=FUNCTIONS[name], n_resamples=20, random_state=0, sample_weight=weight)
    assert found.estimate == pytest.approx(metrics.roc_auc_score(Y, S, sample_weight=weight))


def two(truth, ranking, k=10):
    assert k == 10
    return roc_auc_score(truth, ranking)


def weighable(truth, ranking, sample_weight=None):
    return roc_auc_score(truth, ranking, sample_weight=sample_weight)


@pytest.mark.parametrize("method", ["interval", "comparison", "models", "classes"])
def test_a_function_need_not_take_weights(method):
    def found(metric):
        options = {"metric": metric, "method": "bootstrap", "n_resamples": 30, "random_state": 0}
        return {
            "interval": lambda: metrics.auc_inference(Y, S, **options).confidence_interval,
            "comparison": lambda: metrics.compare_auc(Y, S, T, **options).confidence_interval,
            "models": lambda: metrics.compare_models(Y, np.c_[S, T, S - T], **options).covariance.ravel(),
            "classes": lambda: (
                metrics.auc_inference(CLASSES, COLUMNS, multi_class="ovo", **options).confidence_interval
            ),
        }[method]()

    own = found(lambda truth, ranking: roc_auc_score(truth, ranking))
    np.testing.assert_array_equal(own, found(two))
    np.testing.assert_array_equal(own, found(weighable))
    np.testing.assert_allclose(own, found("auc") if method == "classes" else found(metrics.Measure(two)), atol=1e-12)


def test_weights_need_a_function_that_takes_them():
    def plain(truth, ranking):
        return roc_auc_score(truth, ranking)

    said = r"sample_weight needs a metric that takes weights, got .*plain.* of \(truth, ranking\): add a third"
    calls = [
        lambda weight: metrics.auc_inference(Y, S, metric=plain, sample_weight=weight),
        lambda weight: metrics.compare_auc(Y, S, T, metric=plain, sample_weight=weight),
        lambda weight: metrics.compare_models(Y, np.c_[S, T], metric=plain, sample_weight=weight),
        lambda weight: metrics.Measure(plain)(Y, S, weight),
    ]
    for call in calls:
        for weight in (np.ones(40), 1 + np.arange(40) % 3):
            with pytest.raises(ValueError, match=said):
                call(weight)
    scorer = metrics.Measure(plain).scorer()
    model = LogisticRegression().fit(S[:, None], Y)
    assert scorer(model, S[:, None], Y) == metrics.roc_auc_score(Y, S)


@pytest.mark.parametrize("function", [lambda a: 0.5, lambda a, b, *, weight: 0.5])
def test_a_function_that_cannot_be_called_so_is_named(function):
    with pytest.raises(ValueError, match="metric must be a function that can be called as"):
        metrics.auc_inference(Y, S, metric=function)


def test_functions_of_scikit_learn_are_taken():
    found = metrics.auc_inference(Y, S, metric=average_precision_score, n_resamples=20, random_state=0)
    assert found.estimate == average_precision_score(Y, S)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e308, -1.0])
@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_bad_weights_are_named_before_any_sum(kind, value):
    weight = np.ones(40)
    weight[3] = value
    for call in ("auc_inference", "compare_auc", "classes", "compare_models", "operating_point"):
        with warnings.catch_warnings(), pytest.raises(ValueError, match=r"sample_weight must be (finite|non-negative)"):
            warnings.simplefilter("error")
            CALLS[call](sample_weight=weight, weight_kind=kind)
    with pytest.raises(ValueError, match=r"sample_weight_b must be (finite|non-negative)"):
        CALLS["unpaired"](sample_weight_b=weight, weight_kind=kind)


@pytest.mark.parametrize("call", ["auc_inference", "compare_auc"])
def test_scores_whose_squares_overflow_are_refused_without_a_warning(call):
    what = {"metric": "scored_auc", "method": "bootstrap", "n_resamples": 5, "random_state": 0}
    scores = np.where(np.arange(40) % 3, S, 1e200)
    with pytest.raises(ValueError, match="their squares overflow"):
        metrics.auc_inference(Y, scores, **what) if call == "auc_inference" else metrics.compare_auc(
            Y, S, scores, **what
        )
