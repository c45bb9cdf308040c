"""Dask arrays on two workers, processes of their own: measures and models are those of the same arrays in memory.

Boosted trees rank as well, and LightGBM refuses.
"""

import gc

import dask
import numpy as np
import pytest
from sklearn.base import clone

from profiles import cases
from rocmax import PartialAUCSVC, metrics
from rocmax._selection import standings
from rocmax.boosting import PartialAUCObjective, partial_auc_metric
from rocmax.designs import Chunks

da = pytest.importorskip("dask.array")
RANGE = (0.0, 0.1)


@pytest.fixture(scope="module", autouse=True)
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


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
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.roc_auc_score(lazy[0], lazy[1][:100])


@pytest.mark.filterwarnings("ignore")
def test_models():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 7)) * (rng.random((400, 7)) < 0.5)
    y = (X @ np.arange(7) + 3.0 * rng.standard_normal(400) > 8.0).astype(int)
    whole = rng.integers(0, 4, len(y)).astype(float)
    stored = da.from_array(X, chunks=(200, -1)).persist()
    for surrogate, weight in (("tight", None), ("ramp", whole)):  # the others: tests/training/test_designs.py
        model = PartialAUCSVC((0.05, 0.3), surrogate=surrogate, C=10.0, tol=0.1)
        expected = clone(model).fit(X, y, weight).objective_
        found = model.fit(stored, da.from_array(y), None if weight is None else da.from_array(weight))
        assert found.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_blocks_on_workers_give_the_bits_of_blocks_in_memory(client):
    """Also where a worker is lost, and within a task, which must not wait for the thread that it occupies.

    After a fit no block is held.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = (X.sum(axis=1) + rng.standard_normal(600) > 1.0).astype(int)
    blocks = da.from_array(X, chunks=(100, -1))
    with dask.config.set(scheduler="sync"):
        expected = PartialAUCSVC((0.0, 0.3), C=10.0).fit(blocks.persist(), y).coef_
    held = blocks.persist()
    np.testing.assert_array_equal(PartialAUCSVC((0.0, 0.3), C=10.0).fit(held, y).coef_, expected)
    gc.collect()
    assert held.__dict__["_rocmax"]() is None
    chunks = Chunks.of(held)
    assert sorted(place for places, _ in chunks._holders for place in places) == list(range(6))
    within = client.submit(lambda: Chunks.of(held).total(np.add, [0.0] * 6)).result()
    np.testing.assert_array_equal(within, X.reshape(6, 100, 5).sum(axis=0))
    client.restart_workers([chunks._holders[0][1]._address])
    np.testing.assert_array_equal(PartialAUCSVC((0.0, 0.3), C=10.0).fit(held, y).coef_, expected)


def table(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * rng.standard_normal(n) > 2.0).astype(int)
    return X, y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by_label", cases([True], [False, True]))
def test_two_dask_workers_rank_as_well_as_one(client, by_label):
    """To within the standard error, also if one worker has no positives; log loss alone differs by as much."""
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("pyarrow")  # which xgboost.dask imports
    from xgboost import dask as dxgb

    (X, y), (Z, z) = table(0, 6000), table(1, 6000)
    objective = PartialAUCObjective(RANGE)
    params = {"max_depth": 3, "learning_rate": 0.2, "base_score": 0.0, "disable_default_eval_metric": True}
    one = xgb.train(params, xgb.DMatrix(X, y), 30, obj=objective.xgboost)
    order = np.argsort(y, kind="stable") if by_label else np.random.default_rng(3).permutation(len(y))
    rows = da.from_array(X[order], chunks=(3000, -1)), da.from_array(y[order], chunks=3000)
    both = dxgb.train(client, params, dxgb.DaskDMatrix(client, *rows), 30, obj=objective.xgboost)["booster"]
    scores = [booster.predict(xgb.DMatrix(Z), output_margin=True).astype(float) for booster in (one, both)]
    mine, theirs = standings(z == 1, scores, RANGE)
    assert abs(mine.partial_auc - theirs.partial_auc) <= (1 + by_label) * mine.standard_error


@pytest.mark.filterwarnings("ignore")
def test_early_stopping_sees_the_rows_of_all_workers(client):
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("pyarrow")  # which xgboost.dask imports
    from xgboost import dask as dxgb

    (X, y), (Z, z) = table(0, 4000), table(1, 2000)
    metric = partial_auc_metric(RANGE, library="xgboost")
    model = dxgb.DaskXGBClassifier(objective=PartialAUCObjective(RANGE), eval_metric=metric, n_estimators=20)
    model.client = client
    parts = [da.from_array(of, chunks=(1000, -1)[: of.ndim]) for of in (X, y, Z, z)]
    model.fit(*parts[:2], eval_set=[tuple(parts[2:])], verbose=False)
    found = model.evals_result()["validation_0"]
    last = next(values[-1] for name, values in found.items() if "auc" in name)
    scores = model.get_booster().predict(xgb.DMatrix(Z), output_margin=True)
    assert last == pytest.approx(metric(z, scores), abs=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_lightgbm_on_dask_is_refused_in_one_line(client):
    from dask import delayed

    lightgbm = pytest.importorskip("lightgbm")
    workers = list(client.scheduler_info()["workers"])

    def spread(values):
        """Return an array with a part on each worker, which LightGBM leaves there."""
        parts = zip(np.array_split(values, len(workers)), workers, strict=True)
        placed = [(part, client.scatter(part, workers=[worker])) for part, worker in parts]
        return da.concatenate([da.from_delayed(delayed(at), part.shape, dtype=part.dtype) for part, at in placed])

    X, y = table(2, 1000)
    objective = PartialAUCObjective(RANGE)
    model = lightgbm.DaskLGBMClassifier(objective=objective, n_estimators=2, client=client, verbose=-1)
    with pytest.raises(Exception, match="LightGBM's dask classes give it those of one"):
        model.fit(spread(X), spread(y))
