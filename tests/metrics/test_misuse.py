"""Bad input to the measures: an error that names the argument, the value and the way out; no silent number."""

import inspect
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from rocmax import metrics

Y = np.arange(30) % 3 == 0
S = np.random.default_rng(0).normal(size=30) + Y


def spoiled(value, index=4):
    return np.where(np.arange(30) == index, value, S)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.compare_auc(Y, S, spoiled(np.nan)), "score_b must be finite, got nan at index 4"),
        (lambda: metrics.compare_auc(Y, spoiled(np.inf), S), "score_a must be finite, got inf at index 4"),
        (lambda: metrics.compare_auc(Y, S, spoiled(np.nan), method="bootstrap"), "score_b must be finite"),
        (lambda: metrics.compare_auc(Y, S, spoiled(np.nan), y_true_b=Y), "score_b must be finite, got nan at index 4"),
        (lambda: metrics.compare_auc(Y, S, S, y_true_b=np.zeros(30)), "y_true_b has one class only: all 30 labels are"),
        (lambda: metrics.compare_auc(Y, S, S, y_true_b=Y[1:]), "score_b has 30 samples, y_true_b has 29"),
        (lambda: metrics.auc_inference(Y, [S, S]), "y_score has 2 samples, y_true has 30; .* pass its transpose"),
        (lambda: metrics.auc_inference(Y, np.empty((30, 0))), r"y_score must have shape .*, got \(30, 0\)"),
        (lambda: metrics.auc_inference(Y, np.ma.masked_less(S, 0)), "y_score has .* masked values; leave those"),
        (
            lambda: metrics.sroc_curve(Y.astype(int), S, pos_label=7),
            "pos_label=7 does not occur in y_true; it holds 0, 1",
        ),
        (
            lambda: metrics.auc_inference(Y, S, groups=[None, *range(29)]),
            "groups has no name for the sample at index 0",
        ),
        (lambda: metrics.auc_inference(Y, S, groups=spoiled(np.nan)), "groups has no name for the sample at index 4"),
        (lambda: metrics.auc_inference(Y, S, groups=range(3)), r"groups must have shape \(30,\), got \(3,\)"),
        (lambda: metrics.cross_validated_auc(Y, S, fold=Y * 1), "fold 0 holds one class only"),
        (lambda: metrics.margin_auc_score(Y, S, margin="wide"), "margin must be a finite number .* got 'wide'"),
        (
            lambda: metrics.auc_inference(Y, S, metric="margin_auc"),
            "margin goes with metric='margin_auc', got margin=None",
        ),
        (lambda: metrics.auc_inference(Y, S, margin=0.5), "margin goes with metric='margin_auc', got margin=0.5"),
        (lambda: metrics.sroc_curve(Y, S, n_points=10**9), "n_points must be an integer from 2 to"),
        (lambda: metrics.tpr_at_fpr_scorer("low"), r"fpr must be a number in \[0, 1\], got 'low'"),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=[0.1]), r"fpr must be a number in \[0, 1\], got \[0.1\]"),
        (lambda: metrics.partial_auc_score(Y, S, fpr_range={0, 0.5}), "fpr_range must be a pair of numbers"),
        (lambda: metrics.partial_auc_scorer(("0", ".1")), "fpr_range must be a pair of numbers"),
        (
            lambda: metrics.partial_auc_scorer((0, 0.1), tpr_range=(0.9, 1), method="ranked"),
            "give fpr_range or tpr_range",
        ),
        (lambda: metrics.partial_auc_scorer((0, 0.1), method="rank"), "method must be one of"),
        (lambda: metrics.partial_auc_scorer((0, 0.1), method="ranked", normalize=None), "method='ranked' is a mean"),
        (lambda: metrics.partial_auc_score(Y, S, normalize=np.array(["width", "x"])), "normalize must be one of"),
        (lambda: metrics.auc_inference(Y, S, confidence_level="95"), "confidence_level must be a number .* got '95'"),
        (lambda: metrics.compare_models(Y, np.c_[S, S], contrast=["a", "b"]), "contrast must be finite numbers of"),
        (lambda: metrics.auc_power(0.7, n_pos="many", n_neg=3), "n_pos must be a number of at least 1, got 'many'"),
        (
            lambda: metrics.auc_inference(np.ones(30), S, metric="tpr_at_fpr", fpr=0.2, method="score"),
            "y_true has one class only: all 30 labels are 1.0",
        ),
        (
            lambda: metrics.auc_inference(np.arange(30) < 1, S, method="bootstrap"),
            "y_true has 1 positive sample: .* drawn again",
        ),
        (
            lambda: metrics.auc_inference(np.arange(30) < 1, S, method="delong"),
            "y_true has 1 positive .* two .*method='score' or 'newcombe'",
        ),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=10**400), r"fpr must be a number in \[0, 1\], got 1000\d+\.\.\.$"),
        (
            lambda: metrics.partial_auc_score(Y, S, fpr_range=(0, 10**400)),
            "fpr_range must satisfy 0 <= low < high <= 1",
        ),
        (lambda: metrics.auc_inference(Y, S, confidence_level=-(10**5000)), "confidence_level must be .* got <int>"),
        (lambda: metrics.auc_power(Fraction(10**400), n_pos=3, n_neg=3), "auc must be a number in"),
        (lambda: metrics.margin_auc_score(Y, S, margin=10**400), "margin must be a finite number"),
        (lambda: metrics.partial_auc_score(Y, [10**400, *S[1:]]), "y_score holds numbers beyond those of float64"),
        (lambda: metrics.partial_auc_score(Y, [[1], *S[1:]]), "y_score is no array: .*inhomogeneous"),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=S.reshape(5, 6)), r"fpr must be .*, got array\(\[\[.*\.\.\.$"),
        (
            lambda: metrics.auc_inference(Y, S, method="bootstrap", stratified=1),
            "stratified must be True or False, got 1",
        ),
        (lambda: metrics.roc_curve(Y, S, drop_intermediate=S), "drop_intermediate must be True or False"),
        (lambda: metrics.compare_auc(Y, S, S, y_true_b=Y, method="obuchowski"), "method='obuchowski' needs paired"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize(
    "measure",
    [
        metrics.partial_auc_score,
        metrics.scored_auc_score,
        metrics.auc_inference,
        lambda y, s, sample_weight: metrics.compare_auc(y, s, -s, sample_weight=sample_weight),
        lambda y, s, sample_weight: metrics.auc_inference(y, s, sample_weight=sample_weight, method="newcombe"),
        lambda y, s, sample_weight: metrics.auc_inference(y, s, sample_weight=sample_weight, method="bootstrap"),
    ],
)
def test_weights_beyond_the_numbers_are_refused(measure, scale):
    with pytest.raises(ValueError, match=r"sample_weight must be of a size|a variance needs two"):
        measure(Y, S, sample_weight=np.full(30, scale))


def test_ranked_weights_are_whole_and_finite():
    for bad, message in ((np.inf, "sample_weight must be finite, got inf at index 4"), (0.5, "whole numbers")):
        with pytest.raises(ValueError, match=message):
            metrics.partial_auc_score(Y, S, method="ranked", sample_weight=np.where(np.arange(30) == 4, bad, 1.0))


@pytest.mark.parametrize(
    "options",
    [{"method": "delong"}, {"method": "bootstrap", "n_resamples": 20}, {"fpr_range": (0, 0.9), "method": "delong"}],
)
@pytest.mark.filterwarnings("ignore:there are")
def test_an_interval_without_width_is_said(options):
    with pytest.warns(UserWarning, match="an interval has no width"):
        found = metrics.auc_inference([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], **options)
    assert found.confidence_interval == (1.0, 1.0)


@pytest.mark.filterwarnings("ignore:there are 2")
def test_a_difference_without_variance_is_said():
    with pytest.warns(UserWarning, match="the difference of 1 has a variance of 0"):
        found = metrics.compare_auc([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0])
    assert found.pvalue == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.auc_inference([], []), "y_true is empty"),
        (lambda: metrics.auc_inference([1, 1], [1.0, 2.0], metric="partial_auc", fpr_range=(0, 0.1)), "one class only"),
        (
            lambda: metrics.auc_inference([0, 1, 0, 1], [-1e308, 1e308, 0, 1], metric="scored_auc"),
            "too large for a var",
        ),
        (
            lambda: metrics.compare_auc([0, 1, 0, 1], [-1e308, 1e308, 0, 1], [1, 2, 3, 4], metric="scored_auc"),
            "too large for a variance",
        ),
        (lambda: metrics.sroc_curve([0, 1, 0], [-1e308, 1e308, 3]), "y_score must differ by less than 1.8e308"),
        (lambda: metrics.sroc_curve([0, 1, 0], [-1e308, 1e308, 3], n_points=3), "y_score must differ by less than"),
        (lambda: metrics.ROCAccumulator().update(np.array(["a", 1, True], object), [1, 2, 3]), "y_true mixes types"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")
def test_numbers_beyond_and_nothing_at_all_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_pooled_bins_of_one_class_have_no_error():
    assert metrics.ROCAccumulator(max_bins=2).update([1, 1, 1], [1, 2, 3]).error_bound == 0.0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([2**60, 2**60 + 1], r"y_score holds 1152921504606846977, beyond the integers .*; pass ranks instead"),
        ([2**70, 2**70 + 1], "y_score holds 1180591620717411303425, beyond the integers"),
        (np.array([2**60, 2.5], dtype=object), "y_score holds 1152921504606846976, beyond"),
        (np.array([1, 1 + np.finfo(np.longdouble).eps], dtype=np.longdouble), "that float64 does not tell apart"),
    ],
)
def test_scores_that_float64_would_tie_are_refused(scores, message):
    if isinstance(scores, np.ndarray) and scores.dtype.itemsize == 8 and scores.dtype != object:
        pytest.skip("long double is float64 here")
    with pytest.raises(ValueError, match=message):
        metrics.partial_auc_score([0, 1], scores)
    with pytest.raises(ValueError, match=r"sample_weight holds .*; scale them"):
        metrics.partial_auc_score([0, 1], [1, 2], sample_weight=[2**60, 1])
    assert metrics.partial_auc_score([0, 1], np.array([0.1, 0.3], dtype=np.longdouble)) == 1.0
    assert metrics.partial_auc_score([0, 1], np.array([1, 2**53], dtype=object)) == 1.0


def test_dask_input_is_checked_as_arrays_are():
    da = pytest.importorskip("dask.array")
    y, s = da.from_array(Y, chunks=10), da.from_array(S, chunks=10)
    with pytest.raises(ValueError, match="whole numbers with method='ranked'"):
        metrics.partial_auc_score(y, s, method="ranked", sample_weight=da.full(30, 0.5, chunks=10))
    with pytest.raises(ValueError, match=r"max_fpr must be a number in \(0, 1\], got 2"):
        metrics.roc_auc_score(y, s, max_fpr=2)


@pytest.mark.parametrize("missing", [np.nan, None, np.datetime64("NaT"), "NA"])
@pytest.mark.parametrize("pos_label", [1, None])
def test_a_missing_label_is_no_class(missing, pos_label):
    if isinstance(missing, str):
        missing = pytest.importorskip("pandas").NA
    y = np.array([missing if k == 4 else int(positive) for k, positive in enumerate(Y)], dtype=object)
    with pytest.raises(ValueError, match=r"y_true has no label at index 4, got .*; leave such samples out"):
        metrics.partial_auc_score(y, S, pos_label=pos_label)
    with pytest.raises(ValueError, match="y_true has no label at index 4"):
        metrics.ROCAccumulator(pos_label=pos_label).update(y, S)
    with pytest.raises(ValueError, match="y_true has no label at index 4, got nan"):
        metrics.partial_auc_score(np.where(np.arange(30) == 4, np.nan, Y), S, pos_label=1)
    with pytest.raises(ValueError, match="y_true has 30 masked values"):
        metrics.ROCAccumulator().update(np.ma.masked_array(Y, mask=True), S)


OF_ANY_MEASURE = {
    metrics.auc_inference: (Y, S),
    metrics.compare_auc: (Y, S, S[::-1]),
    metrics.compare_models: (Y, np.c_[S, S[::-1]]),
    metrics.ROCAccumulator().update(Y, S).result: (),
    partial(metrics.mrmc_analysis, reader=np.arange(30) // 15, modality=np.arange(30) % 2, case=np.arange(30) % 15): (
        Y,
        S,
    ),
}


@pytest.mark.parametrize(
    "function", OF_ANY_MEASURE, ids=lambda function: getattr(function, "__name__", "mrmc_analysis")
)
def test_options_of_a_measure_are_those_of_every_function_that_takes_one(function):
    named = inspect.signature(function).parameters
    assert {name: named[name].default for name in ("fpr_range", "margin", "normalize", "alpha")} == {
        "fpr_range": None,
        "margin": None,
        "normalize": "width",
        "alpha": None,
    }
    assert "options" not in named
    given = OF_ANY_MEASURE[function]
    with pytest.raises(TypeError, match="unexpected keyword argument 'fpr_rnage'"):
        function(*given, fpr_rnage=(0.0, 0.1))
    with pytest.raises(ValueError, match=r"^alpha goes with metric='rie' or 'bedroc', got alpha=3 and metric='auc'$"):
        function(*given, alpha=3)
    with pytest.raises(ValueError, match="margin goes with a metric that is named"):
        function(*given, metric=metrics.Measure("auc"), margin=0.1)
