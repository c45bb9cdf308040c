"""Calls in several threads at once leave nothing of the process changed, and may be the first ones."""

import subprocess
import sys

from profiles import cases

# Fits in threads, time and again; folds run in threads of their own. Prints what is left of the process's settings.
_SCRIPT = """
import threading, warnings
import numpy as np
from threadpoolctl import threadpool_info
from rocmax import AUCRLSCV, AUCSVC, PartialAUCSVC, PartialAUCSVCCV

rng = np.random.default_rng(0)
y = (np.arange(120) % 4 == 0).astype(int)
X = rng.normal(size=(120, 4)) + y[:, None]

def state():
    blas = [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"]
    return list(warnings.filters), sorted(blas)

def mean_of_positives(model, X, y):
    return model.decision_function(X)[y == 1].mean()

def fits(times=2):
    for number in range(times):
        scoring = mean_of_positives if number else None
        PartialAUCSVCCV((0.0, 0.2), Cs=[1.0], cv=2, n_jobs=2, scoring=scoring).fit(X, y)
        PartialAUCSVC((0.0, 0.2), kernel="rbf").fit(X, y).predict(X)
        AUCSVC(10.0).fit(X, y).decision_function(X)
        AUCRLSCV(5, cv=3).fit(X, y, np.ones(120)).predict(X)

fits(1)  # what is imported late may add filters
before = state()
threads = [threading.Thread(target=fits) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("same" if state() == before else ("changed", before, state()))
"""


def test_the_filters_and_threads_of_the_process_are_as_before():
    command, times = [sys.executable, "-c", _SCRIPT], cases(1, 10)
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(times)]
    assert [run.communicate(timeout=200)[0] for run in runs] == ["same\n"] * times


# Names are looked up, modules imported and pools made at their first use: here by many threads at once.
_FIRST_USE = """
import sys, threading
import numpy as np
import rocmax

sys.setswitchinterval(1e-6)
rng = np.random.default_rng(0)
y = rng.random(140_000) < 0.3  # enough for the pool
s = rng.random(len(y)) + 0.2 * y
X = rng.normal(size=(200, 3)) + y[:200, None]
CALLS = [
    lambda: rocmax.metrics.roc_auc_score(y, s),
    lambda: rocmax.metrics.partial_auc_score(y, s, fpr_range=(0.0, 0.3), n_jobs=2),
    lambda: rocmax.metrics.compare(y, {"a": s, "b": -s}).statistic,
    lambda: rocmax.metrics.ROCAccumulator().update(y, s).result().estimate,
    lambda: rocmax.PartialAUCSVC((0.0, 0.3)).fit(X, y[:200]).coef_.sum(),
    lambda: rocmax.AUCRLS().fit(X, y[:200]).coef_.sum(),
]
found, ready = {}, threading.Barrier(12)

def use(k):
    ready.wait()
    found[k] = CALLS[k % 6]()

threads = [threading.Thread(target=use, args=(k,)) for k in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert [found[k] for k in range(6)] == [found[k] for k in range(6, 12)] == [call() for call in CALLS]
print("same")
"""


def test_many_threads_may_be_the_first_to_use_a_name():
    found = subprocess.run([sys.executable, "-c", _FIRST_USE], capture_output=True, text=True, timeout=120)
    assert found.stdout == "same\n", found.stderr
