"""Which method goes with which measure: one table for arrays in memory and for data in parts."""

import warnings

import numpy as np
import pytest
from scipy import special, stats

from rocmax import metrics
from rocmax.metrics._methods import METHODS

Y = np.arange(40) % 3 == 0
S = np.random.default_rng(2).normal(size=40) + Y
MEASURES = {
    "auc": {},
    "partial_auc": {"fpr_range": (0.0, 0.4)},
    "scored_auc": {},
    "margin_auc": {"margin": 0.2},
    "tpr_at_fpr": {"fpr": 0.2},
    "fpr_at_tpr": {"tpr": 0.6},
}


@pytest.mark.filterwarnings("ignore:there are 4:rocmax.exceptions.CoverageWarning")  # effective ones
@pytest.mark.parametrize("metric", MEASURES)
@pytest.mark.parametrize("method", METHODS)
def test_what_the_table_allows_gives_an_interval_and_the_rest_an_error(method, metric):
    options = {"metric": metric, "method": method, **MEASURES[metric]}
    terms = METHODS[method]
    held = metrics.ROCAccumulator().update(Y, S)
    if metric not in terms.metrics:
        for call in (lambda: metrics.auc_inference(Y, S, **options), lambda: held.result(**options)):
            with pytest.raises(ValueError, match=f"method='{method}' needs metric="):
                call()
        return
    found = metrics.auc_inference(Y, S, random_state=0, **options)
    assert found.confidence_interval.low < found.estimate < found.confidence_interval.high
    if terms.in_parts:
        parts = held.result(**options)
        assert list(parts.confidence_interval) == pytest.approx(list(found.confidence_interval), abs=1e-10)
    else:
        with pytest.raises(ValueError, match=r"data in parts .* take method='delong'"):
            held.result(**options)
    for allowed, more in (
        (terms.sampling, {"weight_kind": "sampling", "sample_weight": np.arange(1.0, 41)}),
        (terms.groups, {"groups": np.arange(40) // 2}),
    ):
        if allowed:
            assert metrics.auc_inference(Y, S, random_state=0, **options, **more).variance > 0
        else:
            with pytest.raises(ValueError, match=r"needs weight_kind='frequency'|groups need method='delong' or"):
                metrics.auc_inference(Y, S, **options, **more)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "partial_auc", "fpr_range": (0.0, 0.1)}, "2.6 negatives in the range: .*'delong' hold"),
        ({"metric": "partial_auc", "tpr_range": (0.9, 1.0), "method": "bootstrap"}, "1.4 positives in the range"),
        ({"metric": "tpr_at_fpr", "fpr": 0.9, "method": "logit-delong"}, "2.6 negatives beyond the threshold"),
        ({"metric": "fpr_at_tpr", "tpr": 0.9}, "1.4 positives beyond the threshold"),
    ],
)
def test_few_samples_that_decide_are_said(options, said):
    with pytest.warns(UserWarning, match=f"there are {said}"):
        metrics.auc_inference(Y, S, **{"method": "delong", **options})
    few = np.arange(40) < 3
    for what in ({"metric": "partial_auc", "fpr_range": (0.1, 0.6)}, {}, {"metric": "margin_auc", "margin": 0.1}):
        with pytest.warns(
            UserWarning, match="there are 3 positives: intervals of method='delong' .*; method='"
        ) as said:
            metrics.auc_inference(few, S, method="delong", **what)
        remedy = str(said[0].message).split("method='")[2].split("'")[0]
        assert metrics.auc_inference(few, S, **what).method == remedy
    for method in ("wu", "bootstrap"):
        with pytest.warns(UserWarning, match="there are 3 negatives: intervals of method="):
            metrics.auc_inference(~few, S, metric="scored_auc", method=method)


def test_advice_of_sampling_weights_can_be_taken():
    weighted = {"sample_weight": 1.0 + np.arange(40) % 3, "weight_kind": "sampling"}
    part = {"metric": "partial_auc", "fpr_range": (0.0, 0.1)}
    for method in ("delong", "bootstrap"):
        with pytest.warns(
            UserWarning, match=r"there are 2\.\d* negatives in the range: .*; method='logit-delong'"
        ) as said:
            metrics.auc_inference(Y, S, method=method, random_state=0, **part, **weighted)
        assert said[0].message.instead == "logit-delong"
    with pytest.warns(UserWarning, match="negatives in the range: .* than they say$") as said:
        metrics.auc_inference(Y, S, **part, **weighted)
    assert said[0].message.instead is None
    with pytest.warns(UserWarning, match="negatives in the range: .*; method='bootstrap' promises less") as said:
        metrics.compare_auc(Y, S, -S, method="delong", **part, **weighted)
    metrics.compare_auc(Y, S, -S, method=said[0].message.instead, random_state=0, **part, **weighted)


@pytest.mark.filterwarnings("ignore:there are 4:rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize("metric", MEASURES)
def test_the_default_is_the_method_that_covers(metric):
    what = {"metric": metric, **MEASURES[metric]}
    part = metric in ("partial_auc", "tpr_at_fpr", "fpr_at_tpr")
    held = metrics.ROCAccumulator(pos_label="b").update(np.where(Y, "b", "a"), S).result(**what)
    assert (held.method, held.pos_label) == ("score" if part else "logit-delong", "b")
    for columns in (S, np.c_[S, -S]):
        found = metrics.auc_inference(Y, columns, **what)
        again = metrics.auc_inference(Y, columns, method=found.method, **what)
        assert found.method == held.method
        np.testing.assert_array_equal(found.confidence_interval, again.confidence_interval)
    for more in ({"groups": np.arange(40) // 2}, {"sample_weight": np.arange(1.0, 41), "weight_kind": "sampling"}):
        assert metrics.auc_inference(Y, S, **what, **more).method == "logit-delong" or not part
    if not part:
        delong = metrics.auc_inference(Y, S, method="delong", **what)
        assert (found.estimate[0], found.variance[0]) == pytest.approx((delong.estimate, delong.variance), abs=1e-12)


@pytest.mark.filterwarnings("ignore:.*beyond the data", "ignore:there are only")
def test_few_samples_of_a_class_need_no_other_method():
    for y in (np.arange(40) < 1, np.arange(40) < 2, np.arange(40) >= 2):
        for metric, what in MEASURES.items():
            if metric == "scored_auc" and y.sum() == 1:
                continue
            low, high = metrics.auc_inference(y, S, metric=metric, **what).confidence_interval
            assert low < high
            parts = metrics.ROCAccumulator().update(y, S).result(metric=metric, **what).confidence_interval
            assert list(parts) == pytest.approx([low, high], abs=1e-9)


def test_the_range_means_the_partial_auc():
    y, t, fold = Y, np.roll(S, 1), np.arange(40) % 4
    for what in ({"fpr_range": (0.1, 0.6)}, {"tpr_range": (0.3, 1.0), "normalize": "mcclish"}):
        named = {"metric": "partial_auc", **what}
        assert metrics.auc_inference(y, S, **what) == metrics.auc_inference(y, S, **named)
        found, expected = (metrics.compare_auc(y, S, t, **options) for options in (what, named))
        assert (found.pvalue, found.estimate_a) == (expected.pvalue, expected.estimate_a)
        several = metrics.compare_models(y, np.c_[S, t], **what)
        assert several.estimates[0] == pytest.approx(found.estimate_a, abs=1e-12)
        areas = [metrics.partial_auc_score(y[fold == k], S[fold == k], **what) for k in range(4)]
        assert metrics.cross_validated_auc(y, S, fold=fold, **what).estimate == pytest.approx(np.mean(areas), abs=1e-12)
    whole = metrics.auc_inference(y, S, metric="partial_auc", tpr_range=(0.0, 1.0))
    assert whole == metrics.auc_inference(y, S)


@pytest.mark.parametrize(
    ("what", "y", "method"),
    [
        ({}, Y, "delong"),
        ({"fpr_range": (0.0, 0.4)}, Y, "delong"),
        ({"fpr_range": (0.0, 0.1)}, Y, "bootstrap"),
        ({"metric": "fpr_at_tpr", "tpr": 0.9}, Y, "bootstrap"),
        ({"metric": "tpr_at_fpr", "fpr": 0.3}, Y, "delong"),
    ],
)
def test_the_default_of_comparisons(what, y, method):
    options = {"n_resamples": 100, "random_state": 0, **what}
    t = np.roll(S, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.compare_auc(y, S, t, **options).method == method
        assert metrics.compare_auc(y, S, t, y_true_b=y, **options).method == method
        assert metrics.compare_models(y, np.c_[S, t], **options).method == method
    few = np.arange(40) < 3
    with pytest.warns(UserWarning, match="there are .* positives.*: the interval and the p-value of method="):
        metrics.compare_auc(few, S, t, **options)
    with pytest.warns(UserWarning, match="there are .* positives.*: the interval and the p-value of method="):
        metrics.compare_models(few, np.c_[S, t], **options)


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_there_are_enough_or_the_method_bears_it():
    metrics.auc_inference(Y, S, metric="partial_auc", fpr_range=(0.0, 0.2), method="delong")
    metrics.auc_inference(Y, S, metric="partial_auc", fpr_range=(0.0, 0.05), method="score")
    metrics.auc_inference(Y[:12], S[:12])
    options = {"metric": "partial_auc", "fpr_range": (0.0, 0.2), "weight_kind": "sampling"}
    metrics.auc_inference(Y, S, sample_weight=np.full(40, 1e-3), **options)


@pytest.mark.parametrize("metric", ["auc", "partial_auc", "scored_auc"])
@pytest.mark.parametrize("scale", [1e-3, 1024.0])
def test_intervals_know_no_scale_of_sampling_weights(metric, scale):
    y, s, w = Y, S, np.random.default_rng(1).random(40)
    method = {"auc": "logit-delong", "partial_auc": "logit-delong", "scored_auc": "wu"}[metric]
    options = {"metric": metric, "method": method, "weight_kind": "sampling"}
    found, scaled = (metrics.auc_inference(y, s, sample_weight=c * w, **options) for c in (1.0, scale))
    assert list(scaled.confidence_interval) == pytest.approx(list(found.confidence_interval), rel=1e-9)
    assert scaled.n_pos == pytest.approx(scale * found.n_pos, rel=1e-12)
    equal = metrics.auc_inference(y, s, sample_weight=np.full(40, scale), **options).confidence_interval
    plain = metrics.auc_inference(y, s, metric=metric, method=method).confidence_interval
    assert list(equal) == pytest.approx(list(plain), rel=1e-9)
    options = {"metric": metric, "weight_kind": "sampling", "y_true_b": y}
    found, scaled = (
        metrics.compare_auc(y, s, -s, sample_weight=c * w, sample_weight_b=c * w, **options) for c in (1.0, scale)
    )
    assert (scaled.df, scaled.pvalue) == pytest.approx((found.df, found.pvalue), rel=1e-9)


def test_few_groups_are_few_samples():
    y, s, groups = Y, S, np.arange(40) // 5
    found = metrics.auc_inference(y, s, groups=groups, method="logit-delong")
    reach = stats.t(7).ppf(0.975) * found.standard_error / (found.estimate * (1 - found.estimate))
    ends = special.expit(special.logit(found.estimate) + np.array([-reach, reach]))
    assert list(found.confidence_interval) == pytest.approx(list(ends), abs=1e-12)
    assert (found.n_pos, found.n_neg) == (14, 26)
