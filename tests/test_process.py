"""What the process around a call may do: interrupt it, fork, run it from many threads, pickle its results."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from rocmax import PartialAUCSVC, _core
from rocmax.metrics import partial_auc_score, roc_auc_score

INTERRUPTED = """
    import os, signal, threading, time
    import numpy as np
    {setup}
    began = []
    def clocks():
        return np.array([time.perf_counter(), time.process_time()])
    def interrupt():
        began.append(clocks())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Timer({delay}, interrupt).start()
    try:
        {call}
        raise SystemExit("it ended before it was interrupted")
    except KeyboardInterrupt:
        elapsed, worked = clocks() - began[0]
    # A second is promised, hundredths are usual. On a crowded machine the work that was left says more than the time.
    assert min(elapsed, worked) < 0.5, f"it took {{elapsed:.2f}} s to stop, {{worked:.2f}} s of them at work"
    {after}
    print("stopped")
"""

METRIC = {
    "setup": """
    from rocmax.metrics import {name}
    rng = np.random.default_rng(0)
    y = np.zeros(25_000_000, dtype=bool)
    y[::3] = True
    s = rng.random(len(y))
    """,
    "call": "while True: {name}(y, s{arguments})",
    "after": "assert 0 < {name}(y[:1000], s[:1000]{arguments}) < 1",
    "delay": 0.4,
}

FIT = {
    "setup": """
    from rocmax import PartialAUCSVC
    rng = np.random.default_rng(0)
    y = (rng.random(400_000) < 0.1).astype(int)
    X = rng.standard_normal((len(y), 20)) + 0.3 * y[:, None]
    model = PartialAUCSVC((0.0, 0.1), C=1e4, tol=1e-12, max_iter=10**6)
    """,
    "call": "model.fit(X, y)",
    "after": "PartialAUCSVC((0.0, 0.1), C=1.0).fit(X[:2000], y[:2000])",
    "delay": 1.0,
}


@pytest.mark.parametrize(
    "parts",
    [
        {k: v.format(name="roc_auc_score", arguments="") if isinstance(v, str) else v for k, v in METRIC.items()},
        {
            k: v.format(name="partial_auc_score", arguments=", fpr_range=(0.0, 0.5)") if isinstance(v, str) else v
            for k, v in METRIC.items()
        },
        FIT,
    ],
    ids=["auc", "partial auc", "fit"],
)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_stops_a_long_call_at_once(parts, n_threads):
    script = textwrap.dedent(INTERRUPTED)
    for name, part in parts.items():
        indent = " " * 4 if name == "call" else ""
        body = textwrap.dedent(str(part)).strip()
        script = script.replace("{" + name + "}", textwrap.indent(body, indent).strip())
    script = script.replace("{{", "{").replace("}}", "}")
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads)}
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment, check=False
    )
    assert found.stdout.strip() == "stopped", found.stdout + found.stderr


def _auc_of_large(seed: int) -> float:
    rng = np.random.default_rng(seed)
    y = rng.random(200_000) < 0.3
    return roc_auc_score(y, rng.random(len(y)) + y)


def test_a_fork_after_use_does_not_hang():
    here = _auc_of_large(0)  # starts the pool of this process
    with multiprocessing.get_context("fork").Pool(2) as pool:
        there = pool.map_async(_auc_of_large, [0, 0, 0, 0]).get(timeout=60)
    assert there == [here] * 4


def test_many_threads_share_one_oracle():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.1
    oracle = _core.Oracle.tight(_core.Problem(y), 0.0, 0.1)
    inputs = [rng.standard_normal(len(y)) for _ in range(4)]
    alone = [oracle.evaluate(s, np.empty(len(y)), 1) for s in inputs]
    together: dict[int, tuple[float, float]] = {}

    def call(i: int) -> None:
        together[i] = oracle.evaluate(inputs[i], np.empty(len(y)), 2)

    workers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [together[i] for i in range(4)] == alone


def test_the_interpreter_is_free_while_the_core_works():
    rng = np.random.default_rng(0)
    y = rng.random(5_000_000) < 0.3
    s = rng.random(len(y))
    worker = threading.Thread(target=partial_auc_score, args=(y, s))
    ticks = 0
    worker.start()
    while worker.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 5


def test_a_signal_without_an_exception_changes_nothing():
    seen = []
    previous = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    rng = np.random.default_rng(0)
    y = rng.random(3_000_000) < 0.3
    s = rng.random(len(y))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        interrupted = partial_auc_score(y, s, fpr_range=(0.0, 1.0))
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert seen and interrupted == partial_auc_score(y, s, fpr_range=(0.0, 1.0))


@pytest.mark.parametrize("bad", ["contiguous", "dtype", "length", "finite"])
def test_the_boundary_refuses_what_it_cannot_read(bad):
    oracle = _core.Oracle.tight(_core.Problem(np.array([True, False, True])), 0.0, 1.0)
    scores = {
        "contiguous": np.zeros(6)[::2],
        "dtype": np.zeros(3, dtype=np.int64),
        "length": np.zeros(4),
        "finite": np.array([0.0, np.nan, 1.0]),
    }[bad]
    with pytest.raises((TypeError, ValueError)):
        oracle.evaluate(scores, np.empty(3), 1)


def test_a_model_crosses_processes():
    X = np.random.default_rng(0).standard_normal((200, 3))
    y = (X[:, 0] > 0.5).astype(int)
    model = PartialAUCSVC(max_iter=500).fit(X, y)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(model.decision_function, (X,)), model.decision_function(X))
