"""Measures of samples that come in parts: exact, or within the bound that is reported."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from rocmax import metrics
from rocmax.metrics import ROCAccumulator


def draw(n, seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + y, digits), rng.random(n)


@pytest.mark.filterwarnings("ignore:there are")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.booleans(), st.booleans())
def test_parts_in_any_order_give_the_whole(seed, n_parts, weighted, merged):
    y, s, w = draw(60, seed)
    y[:4] = [True, True, False, False]
    w = w if weighted else None
    cuts = np.sort(np.random.default_rng(seed).integers(0, 60, n_parts - 1))
    total = ROCAccumulator()
    for rows in np.split(np.random.default_rng(seed + 1).permutation(60), cuts):
        weight = None if w is None else w[rows]
        if merged:
            part = ROCAccumulator().update(y[rows], s[rows], sample_weight=weight)
            total.merge(pickle.loads(pickle.dumps(part)))
        else:
            total.update(y[rows], s[rows], sample_weight=weight)
    assert total.error_bound == 0.0
    for options in ({}, {"metric": "partial_auc", "fpr_range": (0.1, 0.4)}, {"metric": "scored_auc"}):
        expected = metrics.auc_inference(y, s, sample_weight=w, **options)
        found = total.result(**options)
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
        assert found.variance == pytest.approx(expected.variance, abs=1e-12)
    expected = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    for ours, theirs in zip(total.curve(), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("max_bins", [2, 20, 500])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_the_bound_holds(max_bins, scale):
    y, s, _ = draw(20_000, digits=9)
    total, other = ROCAccumulator(max_bins=max_bins), ROCAccumulator(max_bins=max_bins)
    for k in range(10):
        (total if k % 2 else other).update(y[k::10], s[k::10] * scale)
    total.merge(other)
    assert total.n_bins <= max_bins
    exact = metrics.roc_auc_score(y, s)
    assert 0 < abs(total.result().estimate - exact) <= total.error_bound
    area = metrics.partial_auc_score(y, s, fpr_range=(0.0, 0.2), normalize=None)
    pooled = total.result(metric="partial_auc", fpr_range=(0.0, 0.2), normalize=None)
    assert abs(pooled.estimate - area) <= total.error_bound
    if max_bins == 500:
        assert total.error_bound < 0.005
    with pytest.raises(ValueError, match="max_bins has pooled some"):
        total.result(metric="scored_auc")


def test_bins_tell_probabilities_near_one_apart():
    rng = np.random.default_rng(5)
    y = rng.random(20_000) < 0.3
    log_odds = 10 * (rng.normal(size=20_000) + y)
    for scores in (1 / (1 + np.exp(-log_odds)), (1 / (1 + np.exp(-log_odds))).astype(np.float32)):
        total = ROCAccumulator(max_bins=1000).update(y, scores)
        assert total.n_bins <= 1000 and total.error_bound < 2e-3
        assert abs(total.result().estimate - metrics.roc_auc_score(y, scores)) <= total.error_bound


@pytest.mark.filterwarnings("ignore:there are", "ignore:an interval has no width")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 40), st.booleans())
def test_bins_of_probabilities_hold_when_other_scores_follow(seed, max_bins, follow):
    rng = np.random.default_rng(seed)
    y = np.r_[True, False, rng.random(298) < 0.4]
    near = 2.0 ** -rng.integers(1, 60, 300) * rng.choice([1.0, 1.5], 300)
    s = np.where(rng.random(300) < 0.5, near, 1.0 - near)
    if follow:
        s[200:] = rng.choice([-0.5, 0.5, 1.0, 1.5, 2.0], 100)
    total = ROCAccumulator(max_bins=max_bins)
    for rows in np.split(np.arange(300), 6):
        total.update(y[rows], s[rows])
    assert total.n_bins <= max_bins
    assert abs(total.result(method="newcombe").estimate - metrics.roc_auc_score(y, s)) <= total.error_bound + 1e-15
    low, high = total._bins[:2]
    assert (high[:-1] < low[1:]).all()


def test_bad_parts_are_named_and_not_taken_in():
    total = ROCAccumulator().update([1, 1], [0.5, 0.7])
    bad = [
        (([0, 1], [0.1, np.nan]), {}, "y_score must be finite, got nan at index 1"),
        (([0, 0], [0.1, np.inf]), {}, "y_score must be finite, got inf at index 1"),
        (([0, 2], [0.1, 0.2]), {}, r"y_true must be 0/1 or -1/1, got \[0, 2\]"),
        (([0, 1], [0.1]), {}, r"y_score must have shape \(2,\), got \(1,\)"),
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1, -2]}, "sample_weight must be non-negative"),
    ]
    for arguments, options, message in bad:
        with pytest.raises(ValueError, match=message):
            total.update(*arguments, **options)
    with pytest.raises(ValueError, match="one class only in all"):
        total.result()
    with pytest.raises(ValueError, match="max_bins must be an integer above 1"):
        ROCAccumulator(max_bins=1)
    with pytest.raises(TypeError, match="other must be a ROCAccumulator"):
        total.merge(3)
    assert total.update([[0], [0]], [0.1, 0.6]).result().estimate == 0.75


def test_dask_arrays_on_two_workers():
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    y, s, w = draw(5_000, digits=2)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        lazy = [da.from_array(a, chunks=700) for a in (y, s, w)]
        for measure, options in [
            (metrics.roc_auc_score, {}),
            (metrics.roc_auc_score, {"max_fpr": 0.2}),
            (metrics.partial_auc_score, {"fpr_range": (0.1, 0.3)}),
            (metrics.tpr_at_fpr_score, {"fpr": 0.2}),
            (metrics.scored_auc_score, {}),
        ]:
            for weights in ((None, None), (w, lazy[2])):
                expected = measure(y, s, sample_weight=weights[0], **options)
                found = measure(*lazy[:2], sample_weight=weights[1], **options)
                assert found == pytest.approx(expected, abs=1e-12)
        expected, found = metrics.auc_inference(y, s), metrics.auc_inference(*lazy[:2])
        assert found.variance == pytest.approx(expected.variance, abs=1e-12)
        with pytest.raises(ValueError, match="y_score has shape"):
            metrics.roc_auc_score(lazy[0], lazy[1][:100])


def test_dask_arrays_of_any_labels_and_shapes():
    da = pytest.importorskip("dask.array")
    y, s, w = draw(600, digits=1)
    y = y.astype(int)
    columns = np.stack([s, -s, np.roll(s, 7)], axis=1)
    expected = metrics.partial_auc_score(y, s, fpr_range=(0.1, 0.3))
    lazy_s = da.from_array(s, chunks=70)
    for names in (y + 1, 2 * y, np.array(["healthy", "ill"])[y], np.array(["a", "b"], dtype=object)[y], y[:, None]):
        lazy_y = da.from_array(names, chunks=(100, 1)[: names.ndim])
        label = None if names.ndim == 2 else names[np.argmax(y)]
        assert metrics.partial_auc_score(lazy_y, lazy_s, fpr_range=(0.1, 0.3), pos_label=label) == expected
        assert metrics.roc_auc_score(lazy_y, lazy_s) == metrics.roc_auc_score(y, s)
    lazy_y, many = da.from_array(y, chunks=100), da.from_array(columns, chunks=(90, 2))
    np.testing.assert_array_equal(metrics.roc_auc_score(lazy_y, many), metrics.roc_auc_score(y, columns))
    assert metrics.roc_auc_score(lazy_y[:, None], lazy_s[:, None]) == metrics.roc_auc_score(y, s)
    options = {"margin": [0.2, 0.5], "sample_weight": w}
    found, theirs = metrics.margin_auc_score(lazy_y, many, **options), metrics.margin_auc_score(y, columns, **options)
    np.testing.assert_allclose(found, theirs, atol=1e-12)
    found, theirs = metrics.auc_inference(lazy_y, many), metrics.auc_inference(y, columns)
    np.testing.assert_allclose(found.variance, theirs.variance, atol=1e-15)
    np.testing.assert_allclose(found.confidence_interval, theirs.confidence_interval, atol=1e-14)
    for ours, theirs in zip(metrics.roc_curve(lazy_y, lazy_s), metrics.roc_curve(y, s), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Partitions of unknown sizes.
    few = metrics.roc_auc_score(y[s > 0], s[s > 0])
    lazy_y = lazy_y.rechunk(70)
    assert metrics.roc_auc_score(lazy_y[lazy_s > 0], lazy_s[lazy_s > 0]) == few


def test_dask_arrays_that_cannot_be_measured():
    da = pytest.importorskip("dask.array")
    y, s, _ = draw(600, digits=1)
    y = y.astype(int)
    lazy_y, lazy_s = da.from_array(y, chunks=100), da.from_array(s, chunks=70)
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(metrics.roc_auc_score(lazy_y * 0, lazy_s))
    with pytest.raises(ValueError, match="y_true must have two classes, got 3: 0, 1, 2"):
        metrics.roc_auc_score(lazy_y + (lazy_s > 1), lazy_s)
    with pytest.raises(ValueError, match="partitions of unknown sizes"):
        metrics.roc_auc_score(lazy_y[lazy_y > 0], lazy_s[lazy_s > 0])
    with pytest.raises(ValueError, match="y_true must be one-dimensional"):
        metrics.roc_auc_score(da.stack([lazy_y, lazy_y], axis=1), lazy_s)
