"""Measures of dask arrays: those of the same arrays in memory, on every scheduler."""

import tracemalloc

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from rocmax import metrics
from rocmax._checks.arrays import in_memory
from rocmax.display import ROCDisplay, SROCDisplay
from rocmax.metrics import Bootstrap, ROCAccumulator, Venkatraman

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def draw(n, seed=0, digits=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + y, digits), rng.random(n)


def test_dask_arrays_of_any_labels_and_shapes():
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
    found, theirs = metrics.infer(lazy_y, many), metrics.infer(y, columns)
    np.testing.assert_allclose(found.variance, theirs.variance, atol=1e-15)
    np.testing.assert_allclose(found.confidence_interval, theirs.confidence_interval, atol=1e-14)
    for ours, theirs in zip(metrics.roc_curve(lazy_y, lazy_s), metrics.roc_curve(y, s), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Partitions of unknown sizes.
    few = metrics.roc_auc_score(y[s > 0], s[s > 0])
    lazy_y = lazy_y.rechunk(70)
    assert metrics.roc_auc_score(lazy_y[lazy_s > 0], lazy_s[lazy_s > 0]) == few


def test_dask_arrays_that_cannot_be_measured():
    y, s, _ = draw(600, digits=1)
    y = y.astype(int)
    lazy_y, lazy_s = da.from_array(y, chunks=100), da.from_array(s, chunks=70)
    with pytest.warns(UndefinedMetricWarning, match="Only one class"):
        assert np.isnan(metrics.roc_auc_score(lazy_y * 0, lazy_s))
    with pytest.raises(ValueError, match=r"y_true, y_score must have as many samples, got \[600, 599\]"):
        metrics.ROCAccumulator().update(lazy_y, lazy_s[1:])
    with pytest.raises(ValueError, match="y_true must have two classes, got 3: 0, 1, 2"):
        metrics.partial_auc_score(lazy_y + (lazy_s > 1), lazy_s)
    with pytest.raises(ValueError, match="multi_class must be in"):  # scikit-learn's error
        metrics.roc_auc_score(lazy_y + (lazy_s > 1), lazy_s)
    with pytest.raises(ValueError, match=r"y_score has \d+ samples, y_true has \d+; they must agree"):
        metrics.partial_auc_score(lazy_y[lazy_s > 1], lazy_s[lazy_s > 0])
    with pytest.raises(ValueError, match="partitions of unknown sizes"):
        ROCAccumulator().update(lazy_y[lazy_y > 0], lazy_s[lazy_s > 0])
    with pytest.raises(ValueError, match="y_true must be one-dimensional"):
        metrics.partial_auc_score(da.stack([lazy_y, lazy_y], axis=1), lazy_s)


Y, S, W = draw(3_000, digits=2)
OTHER = np.random.default_rng(1).normal(size=3_000) + Y
FOLD = np.arange(3_000) % 5
GROUPS = np.arange(3_000) // 3
CALLS = {
    "roc_auc_score": lambda y, s, w, other, of: metrics.roc_auc_score(y, s, sample_weight=w),
    "max_fpr": lambda y, s, w, other, of: metrics.roc_auc_score(y, s, max_fpr=0.2),
    "partial": lambda y, s, w, other, of: metrics.partial_auc_score(y, s, fpr_range=(0.1, 0.3), sample_weight=w),
    "ranked": lambda y, s, w, other, of: metrics.partial_auc_score(y, s, fpr_range=(0.1, 0.3), method="ranked"),
    "tpr": lambda y, s, w, other, of: metrics.tpr_at_fpr_score(y, s, fpr=0.1, sample_weight=w),
    "fpr": lambda y, s, w, other, of: metrics.fpr_at_tpr_score(y, s, tpr=0.9),
    "scored": lambda y, s, w, other, of: metrics.scored_auc_score(y, s, sample_weight=w),
    "margins": lambda y, s, w, other, of: metrics.margin_auc_score(y, s, margin=[0.1, 0.5], sample_weight=w),
    "sroc": lambda y, s, w, other, of: metrics.sroc_curve(y, s, n_points=9),
    "roc": lambda y, s, w, other, of: metrics.roc_curve(y, s, sample_weight=w),
    "point": lambda y, s, w, other, of: metrics.operating_point(y, s),
    "inference": lambda y, s, w, other, of: metrics.infer(y, s, sample_weight=w, weight_kind="frequency"),
    "sampling": lambda y, s, w, other, of: metrics.infer(y, s, sample_weight=w, weight_kind="sampling"),
    "bootstrap": lambda y, s, w, other, of: (
        metrics.infer(y, s, method=Bootstrap(20), random_state=0).confidence_interval
    ),
    "grouped": lambda y, s, w, other, of: metrics.infer(y, s, groups=of(GROUPS)),
    "paired": lambda y, s, w, other, of: (
        metrics.compare(y, {"a": s, "b": other}, sample_weight=w, weight_kind="frequency").pvalue
    ),
    "unpaired": lambda y, s, w, other, of: (
        metrics.compare(
            {"a": y, "b": y}, {"a": s, "b": other}, weight_kind="frequency", sample_weight={"a": None, "b": w}
        ).pvalue
    ),
    "permutations": lambda y, s, w, other, of: (
        metrics.compare(y, {"a": s, "b": other}, method=Venkatraman(20), random_state=0).pvalue
    ),
    "folds": lambda y, s, w, other, of: metrics.cross_validated_auc(y, s, fold=of(FOLD)),
    "models": lambda y, s, w, other, of: (
        metrics.compare(y, of(np.column_stack([S, OTHER])), sample_weight=w, weight_kind="frequency").pvalue
    ),
    "display": lambda y, s, w, other, of: [c.tpr for c in ROCDisplay.from_predictions(y, {"a": s, "b": other}).curves],
    "scored display": lambda y, s, w, other, of: SROCDisplay.from_predictions(y, s, sample_weight=w).curves[0].theta,
    "updates": lambda y, s, w, other, of: ROCAccumulator().update(y, s).result(),
}


def lazy(values):
    """Chunks of other sizes for each array; columns apart."""
    return da.from_array(values, chunks=(701 + 13 * values.ndim, 1)[: values.ndim])


@pytest.mark.parametrize("name", CALLS)
def test_every_function_gives_the_bits_of_arrays_in_memory(name):
    pytest.importorskip("matplotlib").use("Agg")
    expected = CALLS[name](Y, S, W, OTHER, lambda values: values)
    found = CALLS[name](*map(lazy, (Y, S, W, OTHER)), lazy)
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("scheduler", ["threads", "sync", "processes"])
def test_every_scheduler_gives_the_same(scheduler):
    with dask.config.set(scheduler=scheduler):
        assert metrics.roc_auc_score(lazy(Y), lazy(S)) == metrics.roc_auc_score(Y, S)
        found = ROCAccumulator(max_error=0.01).update(lazy(Y), lazy(S)).masses
        np.testing.assert_array_equal(found, ROCAccumulator(max_error=0.01).update(Y, S).masses)


def test_what_arrays_share_is_computed_once():
    blocks = []

    def rows(block):
        blocks.append(len(block))
        return block

    X = lazy(np.column_stack([Y, S, OTHER])).rechunk((700, 3)).map_blocks(rows, meta=np.empty((0, 0)))
    n_blocks = X.numblocks[0]
    blocks.clear()
    metrics.compare(X[:, 0], {"a": X[:, 1] - X[:, 1].mean(), "b": X[:, 2]})
    assert len(blocks) == n_blocks
    blocks.clear()
    metrics.infer(X[:, 0], {"a": X[:, 1] - X[:, 1].mean(), "b": X[:, 2]})
    assert len(blocks) == n_blocks
    blocks.clear()
    ROCAccumulator().update(X[:, 0], X[:, 1] - X[:, 1].mean())
    assert len(blocks) == n_blocks


def traced(n_parts, call):
    """Peak of the memory that a call asks for, on partitions of 50,000 scores."""
    y = da.random.RandomState(0).random_sample(50_000 * n_parts, chunks=50_000) < 0.3
    s = da.random.RandomState(1).random_sample(50_000 * n_parts, chunks=50_000)
    with dask.config.set(scheduler="sync"):
        call(y, s)
        tracemalloc.start()
        call(y, s)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def test_no_more_partitions_are_held_than_are_under_way():
    assert traced(20, metrics.roc_auc_score) < 9 * 20 * 50_000 + 2e6
    peaks = [traced(n, lambda y, s: ROCAccumulator(max_error=0.01).update(y, s)) for n in (5, 20)]
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.uint16, bool])
def test_labels_are_sent_as_bytes_and_mean_the_same(kind):
    labels = Y.astype(kind)
    found, scores = in_memory(y_true=lazy(labels), y_score=lazy(Y.astype(float)))
    assert found.dtype.itemsize == 1 and scores.dtype == np.float64
    np.testing.assert_array_equal(found, labels)


def test_labels_of_all_parts_are_counted_together():
    parts = [np.array(part) for part in ([0, 1, 1], [1, 2], [300, 1, 0])]
    y = da.concatenate([da.from_array(part) for part in parts])
    s = da.from_array(np.arange(8.0), chunks=3)
    with pytest.raises(ValueError, match="y_true must have two classes, got 4: 0, 1, 2, 300"):
        metrics.partial_auc_score(y, s)
    assert metrics.partial_auc_score(y, s, pos_label=300) == 5 / 7
    with pytest.raises(ValueError, match="pos_label=7 does not occur in y_true"):
        metrics.partial_auc_score(y, s, pos_label=7)
    total = ROCAccumulator().update([0, 1], [0.5, 0.6])
    with pytest.raises(ValueError, match=r"y_true must be 0/1 or -1/1, got \[1, 2, 300\]|\[1, 2\]"):
        total.update(y, s)
    assert total.masses.sum() == 2
    halves = da.concatenate([da.from_array(np.array(part)) for part in ([0, 1], [-1, 1])])
    with pytest.raises(ValueError, match="y_true must be 0/1 or -1/1 in all parts"):
        total.update(halves, s[:4].rechunk(2))
    assert total.masses.sum() == 2


def test_bad_values_in_one_partition_are_named():
    s = S.copy()
    s[2000] = np.nan
    with pytest.raises(ValueError, match="y_score must be finite, got nan at index 2000"):
        metrics.infer(lazy(Y), lazy(s))
    masked = da.ma.masked_where(lazy(S) > 3, lazy(S))
    with pytest.raises(ValueError, match=r"y_score has \d+ masked values; leave those samples out"):
        metrics.partial_auc_score(lazy(Y), masked)
    with pytest.raises(ValueError, match="y_score must be a dask array of one or two dimensions"):
        metrics.partial_auc_score(Y, da.ones((3_000, 2, 2)))
    with pytest.raises(ValueError, match="sample_weight must have shape"):
        metrics.partial_auc_score(lazy(Y), lazy(S), sample_weight=lazy(W[:100]))
