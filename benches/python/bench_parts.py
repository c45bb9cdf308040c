"""Scores in parts: dask arrays beside the same arrays computed first, and accumulators beside one call.

Every figure of dask is of a process of its own, twice the same call: the time of the second, and by how much the
client's own pages grew at their highest.

Run: python benches/python/bench_parts.py [--scores 2e7] [--partition 1e6]
"""

import argparse
import json
import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
from bench_storage import Peak

from rocmax import metrics
from rocmax.metrics import ROCAccumulator

CALLS = {
    "roc_auc_score": metrics.roc_auc_score,
    "partial_auc_score": lambda y, s: metrics.partial_auc_score(y, s, fpr_range=(0, 0.1)),
    "infer": metrics.infer,
    "compare": lambda y, s: metrics.compare(y, {"a": s, "b": s}),
}


def measure(name: str, scheduler: str, way: str, n: int, rows: int) -> None:
    """Call twice and print what the second call took, as JSON."""
    import dask
    import dask.array as da

    y = (da.random.RandomState(0).random_sample(n, chunks=rows) < 0.3).astype(np.int64)
    s = da.random.RandomState(1).normal(size=n, chunks=rows) + y
    with ExitStack() as stack:
        if scheduler == "cluster":
            from distributed import Client, LocalCluster

            options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
            stack.enter_context(Client(stack.enter_context(LocalCluster(**options))))
        found = {}
        for _ in range(2):
            with Peak() as peak:
                start = time.perf_counter()
                CALLS[name](*(dask.compute(y, s) if way == "computed" else (y, s)))
                found["seconds"] = time.perf_counter() - start
            found["megabytes"] = (peak.highest[0] - peak.before[0]) / 1e6
    print(json.dumps(found))


def of_dask(n: int, rows: int) -> None:
    print(f"{n:,} scores in partitions of {rows:,}: seconds (added MB) computed first, as dask arrays, ratio of times")
    for scheduler in ("threads", "cluster"):
        for name in CALLS:
            found = {}
            for way in ("computed", "dask"):
                job = json.dumps({"name": name, "scheduler": scheduler, "way": way, "n": n, "rows": rows})
                run = subprocess.run(
                    [sys.executable, __file__, "--job", job], check=True, capture_output=True, text=True
                )
                found[way] = json.loads(run.stdout.splitlines()[-1])
            shown = "  ".join(f"{one['seconds']:6.2f} ({one['megabytes']:4.0f})" for one in found.values())
            ratio = found["dask"]["seconds"] / found["computed"]["seconds"]
            print(f"{scheduler:<8} {name:<18} {shown}  {ratio:.2f}", flush=True)


def of_updates() -> None:
    print("updates of 256 scores: seconds in all, exact, with max_error=5e-4, and of one call")
    rng = np.random.default_rng(0)
    for n in (300_000, 3_000_000):
        y, s = rng.random(n) < 0.3, rng.normal(size=n)
        times = []
        for max_error, size in ((None, 256), (5e-4, 256), (None, n)):
            start = time.perf_counter()
            total = ROCAccumulator(max_error=max_error)
            for k in range(0, n, size):
                total.update(y[k : k + size], s[k : k + size])
            total.result()
            times.append(time.perf_counter() - start)
        print(f"{n:>9,}  " + "  ".join(f"{value:.2f}" for value in times), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", type=float, default=2e7)
    parser.add_argument("--partition", type=float, default=1e6)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        measure(**json.loads(arguments.job))
    else:
        of_updates()
        of_dask(int(arguments.scores), int(arguments.partition))
