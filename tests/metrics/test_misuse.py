"""Bad input to the measures: an error that names the argument, the value and the way out; no silent number."""

import dataclasses
import inspect
from fractions import Fraction

import numpy as np
import pytest

from rocmax import metrics
from rocmax.metrics import AUC, Bootstrap, MarginAUC, PartialAUC, TPRAtFPR
from rocmax.metrics.measures import MEASURES

Y = np.arange(30) % 3 == 0
S = np.random.default_rng(0).normal(size=30) + Y


def spoiled(value, index=4):
    return np.where(np.arange(30) == index, value, S)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metrics.compare(Y, {"a": S, "b": spoiled(np.nan)}),
            r"y_score\['b'\] must be finite, got nan at index 4",
        ),
        (
            lambda: metrics.compare(Y, {"a": spoiled(np.inf), "b": S}),
            r"y_score\['a'\] must be finite, got inf at index 4",
        ),
        (
            lambda: metrics.compare(Y, {"a": S, "b": spoiled(np.nan)}, method="bootstrap"),
            r"y_score\['b'\] must be finite",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": Y}, {"a": S, "b": spoiled(np.nan)}),
            r"y_score\['b'\] must be finite, got nan at index 4",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": np.zeros(30)}, {"a": S, "b": S}),
            r"y_true\['b'\] has one class only: all 30 labels are",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": Y[1:]}, {"a": S, "b": S}),
            r"y_score\['b'\] has 30 samples, y_true\['b'\] has 29",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": Y}, {"a": S, "c": S}),
            r"y_score must be a mapping with the names of y_true, \['a', 'b'\], got",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": Y}, {"a": S, "b": S}, sample_weight=np.ones(30)),
            "sample_weight must be a mapping with the names of y_true",
        ),
        (
            lambda: metrics.compare({"a": Y, "b": Y}, {"a": S, "b": S}, groups=Y),
            "groups and plans take paired models: one y_true for all of them",
        ),
        (lambda: metrics.compare(Y, S), "y_score must hold two models or more, got 1"),
        (lambda: metrics.compare(Y, {}), "y_score is empty: there is no model"),
        (lambda: metrics.infer(Y, [S, S]), "y_score has 2 samples, y_true has 30; .* pass its transpose"),
        (lambda: metrics.infer(Y, np.empty((30, 0))), r"y_score must have shape .*, got \(30, 0\)"),
        (lambda: metrics.infer(Y, np.ma.masked_less(S, 0)), "y_score has .* masked values; pass missing='drop'"),
        (
            lambda: metrics.sroc_curve(Y.astype(int), S, pos_label=7),
            "pos_label=7 does not occur in y_true; it holds 0, 1",
        ),
        (
            lambda: metrics.infer(Y, S, groups=[None, *range(29)]),
            "groups has no name for the sample at index 0",
        ),
        (lambda: metrics.infer(Y, S, groups=spoiled(np.nan)), "groups has no name for the sample at index 4"),
        (lambda: metrics.infer(Y, S, groups=range(3)), r"groups must have shape \(30,\), got \(3,\)"),
        (lambda: metrics.cross_validated_auc(Y, S, fold=Y * 1), "fold 0 lacks a class"),
        (lambda: metrics.margin_auc_score(Y, S, margin="wide"), "margin must be a finite number .* got 'wide'"),
        (lambda: MarginAUC("wide"), "margin must be a number that is finite, got 'wide'"),
        (lambda: metrics.infer(Y, S, "margin_auc"), r"measure='margin_auc' needs an option: pass MarginAUC\(\.\.\.\)"),
        (lambda: metrics.sroc_curve(Y, S, n_points=10**9), "n_points must be an integer from 2 to"),
        (lambda: TPRAtFPR("low"), r"fpr must be a number in \[0, 1\), got 'low'"),
        (lambda: TPRAtFPR(np.False_), r"fpr must be a number in \[0, 1\), got "),
        (lambda: metrics.EnrichmentFactor(True), r"fraction must be a number in \(0, 1\], got True"),
        (lambda: metrics.LogAUC(0.1, True), "must be a number in .*, got True"),
        (lambda: PartialAUC((0, True)), r"fpr_range must satisfy 0 <= low < high <= 1, got \(0, True\)"),
        (lambda: metrics.operating_point(Y, S, threshold=("fpr", False)), r"got \('fpr', False\)"),
        (lambda: TPRAtFPR(1.0), r"fpr must be a number in \[0, 1\), got 1.0"),
        (lambda: PartialAUC((0, 0)), r"fpr_range must satisfy 0 <= low < high <= 1, got \(0, 0\)"),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=[0.1]), r"fpr must be a number in \[0, 1\], got \[0.1\]"),
        (lambda: metrics.partial_auc_score(Y, S, fpr_range={0, 0.5}), "fpr_range must be a pair of numbers"),
        (lambda: PartialAUC(("0", ".1")), "fpr_range must be a pair of numbers"),
        (
            lambda: PartialAUC((0, 0.1), tpr_range=(0.9, 1), normalize="mcclish"),
            "normalize='mcclish' needs a single range",
        ),
        (lambda: metrics.partial_auc_score(Y, S, fpr_range=(0, 0.1), method="rank"), "method must be one of"),
        (lambda: metrics.partial_auc_score(Y, S, method="ranked", normalize=None), "method='ranked' is a mean"),
        (lambda: metrics.partial_auc_score(Y, S, normalize=np.array(["width", "x"])), "normalize must be one of"),
        (lambda: metrics.infer(Y, S, confidence_level="95"), "confidence_level must be a number .* got '95'"),
        (lambda: metrics.compare(Y, np.c_[S, S]).contrast(["a", "b"]), "rows must be finite numbers of"),
        (lambda: metrics.auc_power(0.7, n_pos="many", n_neg=3), "n_pos must be a number from 1 to 1e15, got 'many'"),
        (
            lambda: metrics.infer(np.ones(30), S, TPRAtFPR(0.2), method="score"),
            "y_true has one class only: all 30 labels are 1.0",
        ),
        (
            lambda: metrics.infer(np.arange(30) < 1, S, method="bootstrap"),
            "y_true has 1 positive sample: .* a bootstrap of one",
        ),
        (
            lambda: metrics.infer(np.arange(30) < 1, S, method="delong"),
            "y_true has 1 positive .* two; infer.*method='score'",
        ),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=10**400), r"fpr must be a number in \[0, 1\], got 1000\d+\.\.\.$"),
        (
            lambda: metrics.partial_auc_score(Y, S, fpr_range=(0, 10**400)),
            "fpr_range must satisfy 0 <= low < high <= 1",
        ),
        (lambda: metrics.infer(Y, S, confidence_level=-(10**5000)), "confidence_level must be .* got <int>"),
        (lambda: metrics.auc_power(Fraction(10**400), n_pos=3, n_neg=3), "auc must be a number in"),
        (lambda: metrics.margin_auc_score(Y, S, margin=10**400), "margin must be a finite number"),
        (lambda: metrics.partial_auc_score(Y, [10**400, *S[1:]]), "y_score holds numbers beyond those of float64"),
        (lambda: metrics.partial_auc_score(Y, [[1], *S[1:]]), "y_score is not an array: .*inhomogeneous"),
        (lambda: metrics.tpr_at_fpr_score(Y, S, fpr=S.reshape(5, 6)), r"fpr must be .*, got array\(\[\[.*\.\.\.$"),
        (
            lambda: Bootstrap(stratified=1),
            "stratified must be True or False, got 1",
        ),
        (lambda: metrics.roc_curve(Y, S, drop_intermediate=S), "drop_intermediate must be True or False"),
        (
            lambda: metrics.compare({"a": Y, "b": Y}, {"a": S, "b": S}, method="obuchowski"),
            "method='obuchowski' needs paired",
        ),
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
        metrics.infer,
        lambda y, s, sample_weight: metrics.compare(y, {"a": s, "b": -s}, sample_weight=sample_weight),
        lambda y, s, sample_weight: metrics.infer(y, s, sample_weight=sample_weight, method="newcombe"),
        lambda y, s, sample_weight: metrics.infer(y, s, sample_weight=sample_weight, method="bootstrap"),
        lambda y, s, sample_weight: AUC(multi_class="ovr")(np.arange(30) % 3, np.c_[s, s, s], sample_weight),
    ],
)
def test_weights_beyond_the_numbers_are_refused(measure, scale):
    with pytest.raises(ValueError, match=r"sample_weight must be scaled|a variance needs two") as refused:
        measure(Y, S, sample_weight=np.full(30, scale))
    assert scale < 1e308 or "got weights too large to sum" in str(refused.value)


def test_ranked_weights_are_whole_and_finite():
    for bad, message in ((np.inf, "sample_weight must be finite, got inf at index 4"), (0.5, "whole numbers")):
        with pytest.raises(ValueError, match=message):
            metrics.partial_auc_score(Y, S, method="ranked", sample_weight=np.where(np.arange(30) == 4, bad, 1.0))


@pytest.mark.parametrize(
    "options",
    [{"method": "delong"}, {"measure": PartialAUC((0, 0.9)), "method": "delong"}],
)
@pytest.mark.filterwarnings("ignore:.* undercovers here")
def test_an_interval_without_width_is_said(options):
    with pytest.warns(UserWarning, match="the interval has zero width"):
        found = metrics.infer([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], **options)
    assert found.confidence_interval == (1.0, 1.0)


@pytest.mark.filterwarnings("ignore:.* undercovers here")
def test_a_difference_without_variance_is_said():
    with pytest.warns(UserWarning, match="the joint test's statistic is infinite"):
        found = metrics.compare([0, 0, 1, 1], {"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, 3.0, 2.0, 1.0]})
    assert found.pvalue > 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.infer([], []), "y_true is empty"),
        (lambda: metrics.infer([1, 1], [1.0, 2.0], PartialAUC((0, 0.1))), "one class only"),
        (
            lambda: metrics.infer([0, 1, 0, 1], [-1e308, 1e308, 0, 1], "scored_auc"),
            "too large for a var",
        ),
        (
            lambda: metrics.compare([0, 1, 0, 1], {"a": [-1e308, 1e308, 0, 1], "b": [1, 2, 3, 4]}, "scored_auc"),
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
    assert metrics.ROCAccumulator(max_error=0.1).update([1, 1, 1], [1, 2, 3]).error_bound == 0.0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([2**60, 2**60 + 1], r"y_score holds 1152921504606846977, beyond the integers .*; pass ranks instead"),
        ([2**70, 2**70 + 1], "y_score holds 1180591620717411303425, beyond the integers"),
        (np.array([2**60, 2.5], dtype=object), "y_score holds 1152921504606846976, beyond"),
        (np.array([1, 1 + np.finfo(np.longdouble).eps], dtype=np.longdouble), "that float64 cannot represent"),
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
    with pytest.raises(ValueError, match="The 'max_fpr' parameter of roc_auc_score must be"):
        metrics.roc_auc_score(y, s, max_fpr=2)


@pytest.mark.parametrize("missing", [np.nan, None, np.datetime64("NaT"), "NA"])
@pytest.mark.parametrize("pos_label", [1, None])
def test_a_missing_label_is_no_class(missing, pos_label):
    if isinstance(missing, str):
        missing = pytest.importorskip("pandas").NA
    y = np.array([missing if k == 4 else int(positive) for k, positive in enumerate(Y)], dtype=object)
    with pytest.raises(ValueError, match=r"y_true has no label at index 4, got .*; pass missing='drop' to"):
        metrics.partial_auc_score(y, S, pos_label=pos_label)
    with pytest.raises(ValueError, match="y_true has no label at index 4"):
        metrics.ROCAccumulator(pos_label=pos_label).update(y, S)
    with pytest.raises(ValueError, match="y_true has no label at index 4, got nan"):
        metrics.partial_auc_score(np.where(np.arange(30) == 4, np.nan, Y), S, pos_label=1)
    with pytest.raises(ValueError, match="y_true has 30 masked values"):
        metrics.ROCAccumulator().update(np.ma.masked_array(Y, mask=True), S)


@pytest.mark.parametrize(
    "function",
    [
        metrics.infer,
        metrics.compare,
        metrics.cross_validated_auc,
        metrics.mrmc_analysis,
        metrics.ROCAccumulator.result,
    ],
)
def test_every_function_of_any_measure_takes_it_by_one_name(function):
    named = inspect.signature(function).parameters
    assert (named["measure"].default, named["measure"].kind) == ("auc", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    options = {field.name for measure in MEASURES for field in dataclasses.fields(measure)}
    assert options & set(named) <= {"margin"}  # of MarginAUC, and of a test


def test_options_of_a_measure_that_are_misspelt_are_named():
    for call in (lambda: PartialAUC(fpr_rnage=(0.0, 0.1)), lambda: metrics.infer(Y, S, fpr_rnage=(0.0, 0.1))):
        with pytest.raises(TypeError, match="unexpected keyword argument 'fpr_rnage'"):
            call()
