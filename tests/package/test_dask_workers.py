"""Dask arrays on two workers, processes of their own: measures and models are those of the same arrays in memory."""

import numpy as np
import pytest
from sklearn.base import clone

from rocmax import PartialAUCSVC, metrics

da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.xdist_group("workers")  # which are started once


@pytest.fixture(scope="module", autouse=True)
def _workers():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield


def test_measures():
    rng = np.random.default_rng(0)
    y = rng.random(5_000) < 0.3
    s, w = np.round(rng.normal(size=5_000) + y, 2), rng.random(5_000)
    lazy = [da.from_array(a, chunks=1700) for a in (y, s, w)]
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
    expected, found = metrics.infer(y, s), metrics.infer(*lazy[:2])
    assert found.variance == pytest.approx(expected.variance, abs=1e-12)
    with pytest.raises(ValueError, match="y_score has shape"):
        metrics.roc_auc_score(lazy[0], lazy[1][:100])


@pytest.mark.filterwarnings("ignore")
def test_models():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 7)) * (rng.random((400, 7)) < 0.5)
    y = (X @ np.arange(7) + 3.0 * rng.standard_normal(400) > 8.0).astype(int)
    whole = rng.integers(0, 4, len(y)).astype(float)
    stored = da.from_array(X, chunks=(200, -1)).persist()
    for surrogate, weight in (("tight", None), ("naive", None), ("ramp", None), ("tight", whole)):
        model = PartialAUCSVC((0.05, 0.3), surrogate=surrogate, C=10.0, tol=0.1)
        expected = clone(model).fit(X, y, weight).objective_
        found = model.fit(stored, da.from_array(y), None if weight is None else da.from_array(weight))
        assert found.objective_ == pytest.approx(expected, rel=1e-6)
