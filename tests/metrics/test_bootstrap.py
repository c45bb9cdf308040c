"""What the bootstrap draws: with weights, and with ties."""

import numpy as np
import pytest

from rocmax import metrics

RNG = np.random.default_rng(8)
Y = np.arange(60) < 20
S, OTHER = (np.round(RNG.normal(size=60) + Y, 0) for _ in range(2))
W = RNG.integers(0, 5, 60)
MEASURES = [
    {},
    {"metric": "partial_auc", "fpr_range": (0.05, 0.3)},
    {"metric": "partial_auc", "tpr_range": (0.5, 0.9)},
    {"metric": "scored_auc"},
]
BOOTSTRAP = {"method": "bootstrap", "random_state": 3}


@pytest.mark.parametrize("what", MEASURES)
@pytest.mark.parametrize("stratified", [True, False])
def test_weights_that_count_are_repetitions(what, stratified):
    rows = np.repeat(np.arange(60), W)
    options = {**BOOTSTRAP, "n_resamples": 8000, "stratified": stratified, **what}
    weighted = metrics.auc_inference(Y, S, sample_weight=W, **options)
    repeated = metrics.auc_inference(Y[rows], S[rows], **options)
    assert (weighted.n_pos, weighted.n_neg) == (repeated.n_pos, repeated.n_neg)
    # Six standard errors of the ratio of two deviations of 8,000 replicates.
    assert weighted.standard_error == pytest.approx(repeated.standard_error, rel=0.05)
    for ends in zip(weighted.confidence_interval, repeated.confidence_interval, strict=True):
        assert ends[0] == pytest.approx(ends[1], abs=0.15 * repeated.standard_error)


def test_weights_that_count_are_repetitions_in_comparisons():
    rows = np.repeat(np.arange(60), W)
    options = {**BOOTSTRAP, "n_resamples": 8000}
    weighted = metrics.compare_auc(Y, S, OTHER, sample_weight=W, **options)
    repeated = metrics.compare_auc(Y[rows], S[rows], OTHER[rows], **options)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=0.1 * repeated.covariance.max())
    weighted = metrics.compare_auc(Y, S, OTHER, y_true_b=Y, sample_weight=W, sample_weight_b=W, **options)
    assert np.diag(weighted.covariance) == pytest.approx(np.diag(repeated.covariance), rel=0.1)


def test_many_equal_samples_are_as_sure_as_delong_says():
    for scale in (1e3, 1e9, 2.0**45):
        how = {"sample_weight": scale * W, "weight_kind": "frequency"}
        boot = metrics.auc_inference(Y, S, n_resamples=4000, **how, **BOOTSTRAP)
        delong = metrics.auc_inference(Y, S, **how)
        assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.07)


def test_sampling_weights_go_with_their_samples():
    options = {**BOOTSTRAP, "weight_kind": "sampling", "n_resamples": 200}
    found = metrics.auc_inference(Y, S, sample_weight=W, **options)
    scaled = metrics.auc_inference(Y, S, sample_weight=1024.0 * W, **options)
    np.testing.assert_array_equal(found.replicates, scaled.replicates)


@pytest.mark.filterwarnings("ignore:there are:rocmax.exceptions.CoverageWarning")
@pytest.mark.parametrize(
    "what", [*MEASURES, {"metric": "tpr_at_fpr", "fpr": 0.2}, {"metric": "fpr_at_tpr", "tpr": 0.8}]
)
def test_accelerated_intervals_know_no_scale_of_sampling_weights(what):
    s, w = S + 0.1 * OTHER, W + 0.5
    options = {**BOOTSTRAP, "weight_kind": "sampling", "n_resamples": 400, "bootstrap_interval": "bca", **what}
    found = metrics.auc_inference(Y, s, sample_weight=w, **options).confidence_interval
    scaled = metrics.auc_inference(Y, s, sample_weight=1024.0 * w, **options).confidence_interval
    assert list(found) == pytest.approx(list(scaled), abs=1e-12)
    equal = metrics.auc_inference(Y, s, sample_weight=np.full(60, 8.0), **options).confidence_interval
    plain = metrics.auc_inference(Y, s, **options).confidence_interval
    assert list(equal) == pytest.approx(list(plain), abs=1e-12)


def test_weights_below_a_sample_are_refused():
    with pytest.raises(ValueError, match=r"0.5 positive sample: a variance needs two.*weight_kind='sampling'"):
        metrics.auc_inference(Y, S, sample_weight=np.full(60, 1 / 40), **BOOTSTRAP)
    with pytest.raises(ValueError, match=r"0.5 positive sample: a variance needs two.*weight_kind='sampling'"):
        metrics.auc_inference(Y, S, sample_weight=np.full(60, 1 / 40))


@pytest.mark.parametrize("what", MEASURES)
def test_the_order_of_tied_rows_changes_nothing(what):
    order = RNG.permutation(60)
    options = {**BOOTSTRAP, "n_resamples": 50, **what}
    columns = np.stack([S, OTHER], axis=1)
    calls = [
        lambda rows: metrics.auc_inference(Y[rows], columns[rows], **options).replicates,
        lambda rows: metrics.auc_inference(Y[rows], S[rows], sample_weight=W[rows], **options).replicates,
        lambda rows: (
            metrics.auc_inference(Y[rows], S[rows], sample_weight=W[rows], weight_kind="sampling", **options).replicates
        ),
        lambda rows: metrics.compare_auc(Y[rows], S[rows], OTHER[rows], **options).covariance,
    ]
    for call in calls:
        np.testing.assert_array_equal(call(slice(None)), call(order))


@pytest.mark.parametrize("method", ["bootstrap", "logit-delong", "newcombe", "score"])
def test_labels_are_named_whatever_the_method(method):
    with pytest.raises(ValueError, match="y_true is empty"):
        metrics.auc_inference([], [], method=method)
    with pytest.raises(ValueError, match="y_true must have two classes, got 3"):
        metrics.auc_inference([0, 1, 0, 2], [1.0, 2.0, 3.0, 4.0], method=method)
