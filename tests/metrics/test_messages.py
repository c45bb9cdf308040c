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
from rocmax.metrics import AUC, Bootstrap, Measure, PartialAUC, Venkatraman

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
S, T = RNG.normal(size=(2, 40)) + Y
CLASSES, COLUMNS = np.arange(40) % 3, RNG.normal(size=(40, 3))
RANGE = pd.Series([0.0, 0.5], index=[5, 6])


@pytest.mark.parametrize(
    "call",
    [
        lambda measure: metrics.infer(Y, S, measure),
        lambda measure: metrics.compare(Y, {"a": S, "b": T}, measure),
        lambda measure: metrics.cross_validated_auc(Y, S, measure, fold=np.arange(40) // 20),
        lambda measure: metrics.ROCAccumulator().update(Y, S).result(measure),
    ],
)
def test_a_range_may_be_a_series_of_any_index(call):
    found = call(PartialAUC(RANGE))
    assert found == call(PartialAUC((0.0, 0.5)))
    assert found.measure.fpr_range == (0.0, 0.5)


def test_integers_of_128_bits_are_integers():
    wide = [pl.Series(values.tolist(), dtype=pl.Int128) for values in (Y, np.arange(40))]
    assert metrics.infer(*wide) == metrics.infer(Y, np.arange(40))
    assert metrics.roc_auc_score(*wide) == metrics.roc_auc_score(Y, np.arange(40))
    frame = pl.DataFrame({"a": wide[1], "b": S})
    assert metrics.compare(Y, frame).estimates["a"] == metrics.roc_auc_score(Y, np.arange(40))
    with pytest.raises(ValueError, match=rf"y_score holds -{2**100}, beyond the integers"):
        metrics.infer(Y, pl.Series([-(2**100)] * 40, dtype=pl.Int128))
    with pytest.raises(ValueError, match="y_true has no label at index 0, got None"):
        metrics.infer(pl.Series([None, *Y[1:].tolist()], dtype=pl.Int128), S)


@pytest.mark.parametrize("dtype", [np.int64, object])
def test_a_negative_integer_keeps_its_sign(dtype):
    with pytest.raises(ValueError, match=rf"y_score holds -{2**60 + 1}, beyond"):
        metrics.infer(Y, np.array([-(2**60) - 1, *range(39)], dtype=dtype))


def test_memory_views_are_arrays_until_released():
    views = [memoryview(values.copy()) for values in (Y, S, np.ones(40))]
    assert metrics.infer(views[0], views[1], sample_weight=views[2]).estimate == roc_auc_score(Y, S)
    views[1].release()
    with pytest.raises(ValueError, match="y_score is a memoryview, not an array: pass list"):
        metrics.infer(Y, views[1])


CALLS = {
    "infer": lambda **what: metrics.infer(Y, S, **what),
    "compare": lambda **what: metrics.compare(Y, {"a": S, "b": T}, **what),
    "unpaired": lambda **what: metrics.compare({"a": Y, "b": Y}, {"a": S, "b": T}, **what),
    "venkatraman": lambda **what: metrics.compare(Y, {"a": S, "b": T}, method="venkatraman", **what),
    "classes": lambda **what: metrics.compare(CLASSES, {"a": COLUMNS, "b": -COLUMNS}, AUC(multi_class="ovr"), **what),
    "operating_point": lambda **what: metrics.operating_point(Y, S, **what),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weight_kind", "rubbish"),
        ("random_state", "rubbish"),
    ],
)
@pytest.mark.parametrize("call", CALLS)
def test_options_are_checked_where_they_are_not_used(call, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        CALLS[call](**{name: value})


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (Bootstrap, {"stratified": 5}, "stratified must be True or False, got 5"),
        (Bootstrap, {"stratified": "yes"}, "stratified must be True or False, got 'yes'"),
        (Bootstrap, {"n_resamples": -3}, "n_resamples must be .* got -3"),
        (Venkatraman, {"n_resamples": 1.5}, "n_resamples must be .* got 1.5"),
        (PartialAUC, {"normalize": "rubbish"}, "normalize must be .* got 'rubbish'"),
        (AUC, {"labels": 5}, "labels go with multi_class"),
    ],
)
def test_a_value_checks_its_options(value, options, message):
    with pytest.raises(ValueError, match=message):
        value(**options)


def test_a_check_draws_nothing():
    rng = np.random.default_rng(3)
    CALLS["compare"](random_state=rng)
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
    found = metrics.infer(Y, S, Measure.of(FUNCTIONS[name]), random_state=0, sample_weight=weight, method=Bootstrap(5))
    assert found.estimate == pytest.approx(metrics.roc_auc_score(Y, S, sample_weight=weight))


def two(truth, ranking, k=10):
    assert k == 10
    return roc_auc_score(truth, ranking)


def weighable(truth, ranking, sample_weight=None):
    return roc_auc_score(truth, ranking, sample_weight=sample_weight)


@pytest.mark.parametrize(
    "found",
    [
        lambda **options: metrics.infer(Y, S, **options).replicates,
        lambda **options: metrics.compare(Y, {"a": S, "b": T}, **options).confidence_interval,
        lambda **options: metrics.compare(Y, np.c_[S, T, S - T], **options).covariance,
    ],
    ids=["interval", "comparison", "models"],
)
def test_a_function_need_not_take_weights(found):
    options = {"method": Bootstrap(12), "random_state": 0}
    own = found(measure=Measure.of(lambda truth, ranking: roc_auc_score(truth, ranking)), **options)
    for function in (two, weighable):
        np.testing.assert_array_equal(own, found(measure=Measure.of(function), **options))


def test_weights_need_a_function_that_takes_them():
    def plain(truth, ranking):
        return roc_auc_score(truth, ranking)

    measure = Measure.of(plain)
    said = r"sample_weight needs a measure that takes weights, got .*plain.* of \(truth, ranking\): add a third"
    calls = [
        lambda weight: metrics.infer(Y, S, measure, sample_weight=weight),
        lambda weight: metrics.compare(Y, {"a": S, "b": T}, measure, sample_weight=weight),
        lambda weight: measure(Y, S, weight),
    ]
    for call in calls:
        for weight in (np.ones(40), 1 + np.arange(40) % 3):
            with pytest.raises(ValueError, match=said):
                call(weight)
    model = LogisticRegression().fit(S[:, None], Y)
    assert measure.scorer()(model, S[:, None], Y) == metrics.roc_auc_score(Y, S)


@pytest.mark.parametrize("function", [lambda a: 0.5, lambda a, b, *, weight: 0.5])
def test_a_function_that_cannot_be_called_so_is_named(function):
    with pytest.raises(ValueError, match=r"Measure.of takes a function that can be called as f\(y_true, y_score\)"):
        Measure.of(function)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (two, r"measure must be a Measure such as .*Measure.of\(function\), .* got <function two"),
        (AUC, r"measure must be a Measure such as PartialAUC\(\(0, 0.1\)\) .*, got <class .*AUC'>"),
        ("tpr_at_fpr", r"measure='tpr_at_fpr' needs an option: pass TPRAtFPR\(\.\.\.\)"),
        ("lorenz", "measure must be .* or one of 'auc', .*, got 'lorenz'"),
        (None, "measure must be .* or one of 'auc', .*, got None"),
    ],
)
def test_what_is_no_measure_is_named(measure, message):
    for call in (
        lambda: metrics.infer(Y, S, measure),
        lambda: metrics.compare(Y, np.c_[S, T], measure),
        lambda: metrics.cross_validated_auc(Y, S, measure, fold=np.arange(40) // 20),
        lambda: metrics.ROCAccumulator().update(Y, S).result(measure),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_functions_of_scikit_learn_are_taken():
    found = metrics.infer(Y, S, Measure.of(average_precision_score), random_state=0, method=Bootstrap(20))
    assert found.estimate == average_precision_score(Y, S)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e308, -1.0])
@pytest.mark.parametrize("kind", ["frequency", "sampling"])
def test_bad_weights_are_named_before_any_sum(kind, value):
    weight = np.ones(40)
    weight[3] = value
    for call in ("infer", "compare", "classes", "operating_point"):
        with warnings.catch_warnings(), pytest.raises(ValueError, match=r"sample_weight must be (finite|non-negative)"):
            warnings.simplefilter("error")
            CALLS[call](sample_weight=weight, weight_kind=kind)
    with pytest.raises(ValueError, match=r"sample_weight\['b'\] must be (finite|non-negative)"):
        CALLS["unpaired"](sample_weight={"a": None, "b": weight}, weight_kind=kind)


def test_scores_whose_squares_overflow_are_refused_without_a_warning():
    what = {"measure": "scored_auc", "method": Bootstrap(5), "random_state": 0}
    scores = np.where(np.arange(40) % 3, S, 1e200)
    for call in (
        lambda: metrics.infer(Y, scores, **what),
        lambda: metrics.compare(Y, {"a": S, "b": scores}, **what),
    ):
        with pytest.raises(ValueError, match="squared scores overflow"):
            call()


def test_two_models_of_one_name_are_refused():
    """A table of them could not tell which is which, and estimates by name would hold one."""
    y, s = np.arange(20) % 2, np.random.default_rng(0).normal(size=(20, 2))
    for scores in (pd.DataFrame(s, columns=["a", "a"]), {1: s[:, 0], "1": s[:, 1]}):
        for call in (metrics.infer, metrics.compare):
            with pytest.raises(ValueError, match=r"y_score has two models of the name '[1a]'; rename one of them"):
                call(y, scores)
