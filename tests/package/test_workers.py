"""Fits and measures in worker processes: the same numbers, and no hang after a fork."""

import multiprocessing
import os

import joblib
import numpy as np
import pytest

from rocmax import AUCSVC, PartialAUCSVC
from rocmax.metrics import Bootstrap, infer


def _boosted(library):
    from rocmax.boosting import PartialAUCBoostingClassifier

    X = np.random.default_rng(0).standard_normal((300, 3))
    y = X[:, 0] + X[:, 1] > 0.5
    model = PartialAUCBoostingClassifier((0.0, 0.2), n_estimators=5, library=library, random_state=0, n_jobs=2)
    return model.fit(X, y).decision_function(X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_boosting_ends_in_a_process_that_was_forked_after_boosting(library):
    """OpenMP would wait there for threads that the fork did not copy."""
    pytest.importorskip(library)
    expected = _boosted(library)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(_boosted, (library,)).get(60)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def _measured(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + rng.standard_normal(200) > 0.5
    interval = infer(y, X[:, 0], method=Bootstrap(50), random_state=0, n_jobs=2)
    fitted = [model.fit(X, y).decision_function(X) for model in (PartialAUCSVC((0.0, 0.3)), AUCSVC(kernel="rbf"))]
    return np.concatenate([interval.confidence_interval, *fitted])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_and_measures_are_the_same_in_workers(backend):
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_measured)(seed) for seed in (0, 1))
    for seed, part in enumerate(found):
        np.testing.assert_array_equal(part, _measured(seed))
