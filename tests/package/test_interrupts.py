"""Ctrl-C ends every long call within a second, wherever in it it comes."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import fresh
from profiles import cases
from rocmax._runtime.threads import checkpoint, interruptible

pytestmark = pytest.mark.xdist_group("clock")  # one after another: what is timed does not race with itself

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import rocmax
from rocmax import metrics as m

n = int(sys.argv[1])
rng = np.random.default_rng(0)
y = np.zeros(n, dtype=bool)
y[::3] = True
s = rng.standard_normal(n) + y
{setup}
if "X" in globals():
    rocmax.AUCRLSCV(alphas=2).fit(X[:60], y[:60])  # what is imported late is imported now

def clocks():
    return np.array([time.perf_counter(), time.process_time()])

def interrupt():
    global began
    began = clocks()
    os.kill(os.getpid(), signal.SIGINT)

late = []
for delay in [float(x) for x in sys.argv[2].split(",")]:
    try:
        threading.Timer(delay, interrupt).start()
        while True:
            {call}
    except KeyboardInterrupt:
        # On a crowded machine the work that was left says more than the time.
        late.append(min(clocks() - began))
print(*(f"{x:.2f}" for x in late))
"""
MATRIX = "scores = rng.standard_normal((n, 40)); w = rng.random(n)"
FEATURES = "X = rng.standard_normal((n, 20)) + y[:, None]; import rocmax.papers"
LONG = {
    "venkatraman": (2_000_000, "", "m.compare(y, {'a': s, 'b': -s}, method=m.Venkatraman(2), n_jobs=1)"),
    "venkatraman unpaired": (
        2_000_000,
        "",
        "m.compare({'a': y, 'b': y}, {'a': s, 'b': -s}, method=m.Venkatraman(2), n_jobs=1)",
    ),
    "weighted": (
        5_000_000,
        "w = rng.random(n)",
        "m.partial_auc_score(y, s, fpr_range=(0, 0.5), sample_weight=w, n_jobs=1)",
    ),
    "a matrix of models": (
        500_000,
        MATRIX,
        "m.partial_auc_score(y, scores, fpr_range=(0, 0.5), sample_weight=w, n_jobs=1)",
    ),
    "few samples, many models, many resamples": (
        200,
        "scores = rng.standard_normal((n, 2000))",
        "m.infer(y, scores, method=m.Bootstrap(600), n_jobs=1)",
    ),
    "bootstrap of rates": (
        3_000_000,
        "",
        "m.infer(y, s, m.TPRAtFPR(0.1), method=m.Bootstrap(9), n_jobs=1)",
    ),
    "spectrum": (
        1500,
        "X = rng.standard_normal((n, 5)) + y[:, None]",
        "rocmax.AUCRLSCV(kernel='rbf').fit(X, y)",
    ),
    "factor": (3000, "X = rng.standard_normal((n, 5)) + y[:, None]", "rocmax.AUCRLS(kernel='rbf').fit(X, y)"),
    "pairs": (
        1000,
        "X = rng.standard_normal((n, 5)) + y[:, None]",
        "rocmax.AUCRLS(kernel='rbf').leave_pair_out(X, y, pairs=[[0, 1]])",
    ),
    "features": (
        2500,
        "X = rng.standard_normal((n, 2000)) + y[:, None]",
        "rocmax.AUCRLSCV(alphas=3).fit(X, y)",
    ),
    "structure": (
        1500,
        "X = rng.standard_normal((n, 5)) + y[:, None]",
        "rocmax.AUCSVC(kernel='rbf', structure=1.0, tol=0.1).fit(X, y)",
    ),
    "squared slacks": (1500, "X = rng.standard_normal((n, 5))", "rocmax.papers.TwoNormSVC(1e4).fit(X, y)"),
    "scores of trees": (
        500_000,
        "X = rng.standard_normal((n, 20)) + y[:, None]; trees = rocmax.PartialAUCBoostingClassifier((0, 0.5),"
        " objective='log_loss', n_estimators=200, early_stopping_rounds=200, n_jobs=1).fit(X[:500], y[:500])",
        "trees.decision_function(X)",
    ),
    "boosted pairs": (
        100_000,
        FEATURES,
        "rocmax.papers.RankBoost(10**6, n_jobs=1).fit(X, y)",
    ),
    "boosted range": (
        100_000,
        FEATURES,
        "rocmax.papers.PAUCBoost((0, 0.5), 10**6, n_jobs=1).fit(X, y)",
    ),
    "ensemble": (
        60_000,
        FEATURES,
        "rocmax.PartialAUCEnsembleClassifier(families=['lightgbm', 'extra_trees', 'landmarks'], n_jobs=1).fit(X, y)",
    ),
    "tree": (100_000, FEATURES, "rocmax.papers.AUCSplitTree(n_jobs=1).fit(X, y)"),
    "greedy": (100_000, FEATURES, "rocmax.papers.GreedyPAUC(n_jobs=1).fit(X, y)"),
}
QUICK = ["venkatraman", "a matrix of models", "spectrum", "squared slacks", "scores of trees"]


@pytest.mark.parametrize("name", cases(QUICK, list(LONG)))
def test_an_interrupt_is_never_late(name):
    n, setup, call = LONG[name]
    delays = cases([0.5], [0.3 + 0.37 * k for k in range(12)])
    arguments = [str(cases(n, 5 * n if n > 10_000 else n)), ",".join(map(str, delays))]
    script = textwrap.dedent(SCRIPT).replace("{setup}", setup).replace("{call}", call)
    found = fresh.run(script, arguments)
    assert found.returncode == 0, found.stderr
    late = [float(x) for x in found.stdout.split()]
    assert len(late) == len(delays) and max(late) < 1.0, f"{name}: {late}"


def test_a_watched_call_returns_raises_and_keeps_its_arguments():
    assert interruptible(1 << 20, divmod, 7, 2) == (3, 1)
    assert interruptible(1, sorted, [2, 1], reverse=True) == [2, 1]
    with pytest.raises(ZeroDivisionError):
        interruptible(1 << 20, divmod, 1, 0)


@pytest.mark.skipif(os.name != "posix", reason="no shell here starts jobs that ignore SIGINT")
def test_the_suite_hears_ctrl_c_where_it_is_started_with_sigint_ignored():
    script = "import os, runpy, signal, sys; runpy.run_path(sys.argv[1]); os.kill(os.getpid(), signal.SIGINT)"
    found = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parents[1] / "conftest.py")],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        check=False,
    )
    assert found.stderr.strip().endswith("KeyboardInterrupt"), found


REFITS = """
import os, random, signal, sys, threading, time, warnings
from sklearn.base import clone
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from refits import ESTIMATORS, data, scores

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setswitchinterval(1e-5)  # so that the timer's thread runs within a fit of a millisecond
name, times, rng = sys.argv[2], int(sys.argv[3]), random.Random(0)
both = [data(name, seed) for seed in (0, 1)]
expected = [scores(clone(ESTIMATORS[name]).fit(*one), one[0]) for one in both]
model, took, interrupted = clone(ESTIMATORS[name]), float("inf"), 0
for _ in range(5):  # the shortest: other processes may have had the processor in some
    began = time.perf_counter()
    model.fit(*both[0])
    took = min(took, time.perf_counter() - began)
for k in range(100 * times):
    if k >= times and interrupted > 1:
        break
    timer = threading.Timer(1.2 * took * rng.random(), os.kill, (os.getpid(), signal.SIGINT))
    done = False
    try:
        try:
            timer.start()
            model.fit(*both[k % 2])
            done = True
        finally:
            timer.join()  # so that the signal comes within the outer try
    except KeyboardInterrupt:
        interrupted += not done
    timer.join()
    now = next(k for k, (X, _) in enumerate(both) if X.shape[1] == model.n_features_in_)
    assert scores(model, both[now][0]) == expected[now] and (not done or now == k % 2)
print("interrupted" if interrupted > 1 else interrupted)
"""


@pytest.mark.parametrize("name", ["LightGBM", "XGBoost", "PartialAUCSVC, kernel", "AUCRLSCV"])
def test_models_are_whole_whenever_a_refit_is_interrupted(name):
    arguments = [str(Path(__file__).parents[1] / "support"), name, str(cases(15, 1000))]
    found = fresh.run(REFITS, arguments)
    assert (found.returncode, found.stdout) == (0, "interrupted\n"), found.stderr[-2000:]


@pytest.mark.skipif(not hasattr(signal, "siginterrupt"), reason="calls do not go on after signals here")
@pytest.mark.parametrize("restart", [False, True])
def test_abandoned_work_ends_at_its_next_checkpoint(restart, request):
    """Also where calls go on after a signal, as Polars has it once it was used."""
    signal.siginterrupt(signal.SIGINT, not restart)
    request.addfinalizer(lambda: signal.siginterrupt(signal.SIGINT, True))
    ended = threading.Event()

    def work():
        try:
            while True:
                checkpoint()
                time.sleep(0.01)
        finally:
            ended.set()

    main = threading.main_thread().ident
    threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(1 << 20, work)
    assert ended.wait(5.0)
