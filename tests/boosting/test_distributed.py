"""The objective on several workers: sums over histograms, two real dask workers, and LightGBM's refusal."""

import threading

import numpy as np
import pytest

from rocmax._selection import standings
from rocmax.boosting import PartialAUCObjective, partial_auc_metric
from rocmax.boosting import _distributed as distributed
from rocmax.risks import PairLoss

RANGE = (0.0, 0.1)


class Together:
    """The collective of threads that each act as a process."""

    class Op:
        MAX, SUM = np.max, np.sum

    def __init__(self, n):
        self._n, self._given, self._barrier, self._own = n, [None] * n, threading.Barrier(n), threading.local()

    def run(self, function, *parts):
        found = [None] * self._n

        def work(rank):
            self._own.rank = rank
            found[rank] = function(self, *(part[rank] for part in parts))

        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(self._n)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        return found

    def get_rank(self):
        return self._own.rank

    def get_world_size(self):
        return self._n

    def allreduce(self, data, op):
        self._given[self.get_rank()] = data
        self._barrier.wait()
        found = op(np.array(self._given), axis=0)
        self._barrier.wait()
        return found


@pytest.mark.parametrize("loss", ["smoothed_hinge", "squared_hinge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_histograms_give_the_derivatives_of_all_rows(loss, weighted):
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.random(n) < 0.2
    scores = rng.standard_normal(n) + y
    weight = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    objective = PartialAUCObjective(RANGE, blend=1.0, loss=loss)
    expected = objective(y, scores, weight)
    pair_loss = PairLoss(loss, "fpr", 0.0, 0.4)

    def of_part(together, y, scores, weight):
        found = np.zeros(len(y)), np.zeros(len(y))
        distributed.add_pair_loss(together, found, 1.0, pair_loss, y, weight, scores)
        return found

    # One of the parts has no positives, one no rows at all.
    order = np.argsort(y, kind="stable")
    parts = [np.split(of[order], [1000, 2000, 2000]) for of in (y, scores, weight)]
    found = Together(4).run(of_part, *parts)
    for k, values in enumerate(expected):
        together = np.concatenate([part[k] for part in found])
        assert together.sum() == pytest.approx(values.sum(), rel=1e-3, abs=1e-9)
        np.testing.assert_allclose(together, np.maximum(values, 0.0)[order] if k else values[order], atol=2e-3)


def test_the_metric_gathers_the_rows_of_all(monkeypatch):
    rng = np.random.default_rng(1)
    y, scores = rng.random(500) < 0.3, rng.standard_normal(500)
    metric = partial_auc_metric(RANGE, library="xgboost")
    expected = metric(y, scores)
    together = Together(2)
    monkeypatch.setattr("rocmax.boosting._metric.collective", lambda: together)
    found = together.run(lambda _, y, s: metric(y, s), np.split(y, [120]), np.split(scores, [120]))
    assert found == [pytest.approx(expected, abs=1e-12)] * 2


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("xgboost"), pytest.importorskip("pyarrow")  # which xgboost.dask imports
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def table(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * rng.standard_normal(n) > 2.0).astype(int)
    return X, y


@pytest.mark.xdist_group("workers")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by_label", [False, True])
def test_two_dask_workers_rank_as_well_as_one(cluster, by_label):
    """To within the standard error, also if one worker has no positives; log loss alone differs by as much."""
    import dask.array as da
    import xgboost as xgb
    from xgboost import dask as dxgb

    (X, y), (Z, z) = table(0, 6000), table(1, 6000)
    objective = PartialAUCObjective(RANGE)
    params = {"max_depth": 3, "learning_rate": 0.2, "base_score": 0.0, "disable_default_eval_metric": True}
    one = xgb.train(params, xgb.DMatrix(X, y), 30, obj=objective.xgboost)
    order = np.argsort(y, kind="stable") if by_label else np.random.default_rng(3).permutation(len(y))
    rows = da.from_array(X[order], chunks=(3000, -1)), da.from_array(y[order], chunks=3000)
    both = dxgb.train(cluster, params, dxgb.DaskDMatrix(cluster, *rows), 30, obj=objective.xgboost)["booster"]
    scores = [booster.predict(xgb.DMatrix(Z), output_margin=True).astype(float) for booster in (one, both)]
    mine, theirs = standings(z == 1, scores, RANGE)
    assert abs(mine.partial_auc - theirs.partial_auc) <= (1 + by_label) * mine.standard_error


@pytest.mark.xdist_group("workers")
@pytest.mark.filterwarnings("ignore")
def test_early_stopping_sees_the_rows_of_all_workers(cluster):
    import dask.array as da
    import xgboost as xgb
    from xgboost import dask as dxgb

    (X, y), (Z, z) = table(0, 4000), table(1, 2000)
    metric = partial_auc_metric(RANGE, library="xgboost")
    model = dxgb.DaskXGBClassifier(objective=PartialAUCObjective(RANGE), eval_metric=metric, n_estimators=20)
    model.client = cluster
    parts = [da.from_array(of, chunks=(1000, -1)[: of.ndim]) for of in (X, y, Z, z)]
    model.fit(*parts[:2], eval_set=[tuple(parts[2:])], verbose=False)
    found = model.evals_result()["validation_0"]
    last = next(values[-1] for name, values in found.items() if "auc" in name)
    scores = model.get_booster().predict(xgb.DMatrix(Z), output_margin=True)
    assert last == pytest.approx(metric(z, scores), abs=1e-4)


@pytest.mark.xdist_group("workers")
@pytest.mark.filterwarnings("ignore")
def test_lightgbm_on_dask_is_refused_in_one_line(cluster):
    import dask.array as da
    from dask import delayed

    lightgbm = pytest.importorskip("lightgbm")
    workers = list(cluster.scheduler_info()["workers"])

    def spread(values):
        """Return an array with a part on each worker, which LightGBM leaves there."""
        parts = zip(np.array_split(values, len(workers)), workers, strict=True)
        placed = [(part, cluster.scatter(part, workers=[worker])) for part, worker in parts]
        return da.concatenate([da.from_delayed(delayed(at), part.shape, dtype=part.dtype) for part, at in placed])

    X, y = table(2, 1000)
    objective = PartialAUCObjective(RANGE)
    model = lightgbm.DaskLGBMClassifier(objective=objective, n_estimators=2, client=cluster, verbose=-1)
    with pytest.raises(Exception, match="LightGBM's dask classes give it those of one"):
        model.fit(spread(X), spread(y))
