"""The objective on several workers: sums over histograms. tests/package/test_dask_workers.py has real workers."""

import threading

import numpy as np
import pytest

from rocmax.boosting import PartialAUCObjective, _objective as distributed, partial_auc_metric
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
    monkeypatch.setattr("rocmax.boosting._objective.collective", lambda: together)
    found = together.run(lambda _, y, s: metric(y, s), np.split(y, [120]), np.split(scores, [120]))
    assert found == [pytest.approx(expected, abs=1e-12)] * 2
