"""Which method goes with which measure: one table for arrays in memory and for data in parts."""

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
        metrics.auc_inference(Y, S, **options)
    with pytest.warns(UserWarning, match="there are 3 positives: intervals of method='delong'"):
        metrics.auc_inference(np.arange(40) < 3, S, metric="partial_auc", fpr_range=(0.1, 0.6))


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_there_are_enough_or_the_method_bears_it():
    metrics.auc_inference(Y, S, metric="partial_auc", fpr_range=(0.0, 0.2))
    metrics.auc_inference(Y, S, metric="partial_auc", fpr_range=(0.0, 0.02), method="score")
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
