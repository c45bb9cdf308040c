"""Fits on a file larger than the memory they may use: time, resident memory, and the same model as in memory.

A file of float64 features is written to a temporary folder, a few blocks at a time. A process of its own maps it, fits
and prints how long that took and the peak of its resident memory, sampled every few milliseconds: anonymous pages,
which are its own, and all pages, those of the file among them, which the system may take back at any time.

Before that, the processor time of fits on dask arrays of 100,000 x 20 relative to that of fits on the array itself.
With --workers only that is printed, of 400,000 rows: in this process, and on two worker processes, whose time and that
of this process are added, less what the cluster takes while it does nothing. The workers made the blocks, or received
them: those may lie at any address, and each fit copies them.

Run: python benches/python/bench_storage.py [--gigabytes 4] [--folder FOLDER] [--features 64] [--workers]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

ROWS = 50_000
FITS = [((0.0, 1.0), "tight"), ((0.0, 0.05), "tight"), ((0.0, 0.05), "naive"), ((0.02, 0.05), "ramp")]


def block(number, n_features):
    """Rows of the file: 2 % positive, shifted along every feature."""
    rng = np.random.default_rng(number)
    y = rng.random(ROWS) < 0.02
    return rng.standard_normal((ROWS, n_features)) + 0.4 * y[:, None], y


def write(path, n_blocks, n_features):
    with path.open("wb") as file:
        for number in range(n_blocks):
            file.write(block(number, n_features)[0].data)


def resident():
    """Return the anonymous and all resident pages of this process, in bytes."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return tuple(1024 * int(status[key].split()[0]) for key in ("RssAnon", "VmRSS"))


class Peak:
    """The highest resident memory while it is entered."""

    def __enter__(self):
        self.before, self.highest, self._stop = resident(), resident(), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.005):
            self.highest = tuple(map(max, self.highest, resident()))

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def fit(path, n_blocks, n_features, fpr_range, surrogate):
    """Fit on the file and print what it took, as JSON."""
    from rocmax import PartialAUCSVC

    X = np.memmap(path, dtype=np.float64, mode="r", shape=(n_blocks * ROWS, n_features))
    y = np.concatenate([block(number, n_features)[1] for number in range(n_blocks)])
    began = time.perf_counter()
    with Peak() as peak:
        model = PartialAUCSVC(tuple(fpr_range), surrogate=surrogate, C=10.0, tol=1e-2).fit(X, y)
    found = {
        "seconds": time.perf_counter() - began,
        "before": peak.before,
        "highest": peak.highest,
        "steps": model.n_iter_,
        "gap": model.dual_gap_,
        "objective": model.objective_,
    }
    print(json.dumps(found))


def rows(n_blocks=2, n_features=20):
    parts = (block(number, n_features) for number in range(n_blocks))
    X, y = (np.concatenate(every) for every in zip(*parts, strict=True))
    return X + 0.2 * y[:, None], y  # so that "tight" finds more than the zero model


def print_ratios(kinds, y, clock, fits, repeats):
    """Print the least processor time of some fits on each kind of array, relative to the first kind's."""
    from rocmax import PartialAUCSVC

    n, d = next(iter(kinds.values())).shape
    print(f"{n:,} x {d}, C=10: processor seconds, and relative to the array")
    print(f"{'':<26}" + "".join(f"{name:>22}" for name in kinds))
    for fpr_range, surrogate in fits:
        model, seconds = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0), []
        for features in kinds.values():
            times = []
            for _ in range(repeats):
                with threadpool_limits(1, user_api="blas"):
                    began = clock()
                    model.fit(features, y)
                    times.append(clock() - began)
            seconds.append(min(times))
        print(
            f"{str(list(fpr_range)) + ' ' + surrogate:<26}"
            + "".join(f"{took:>14.3f} ({took / seconds[0]:>4.2f} x)" for took in seconds),
            flush=True,
        )
    print()


def dask_ratios():
    import dask.array as da

    X, y = rows()
    parts = da.from_array(X, chunks=(10_000, -1))
    kinds = {"array": X, "persisted": parts.persist(), "made at each pass": parts.map_blocks(np.copy)}
    print_ratios(kinds, y, time.process_time, FITS, repeats=5)


def worker_ratios(n_features):
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    X, y = rows(8, n_features)
    parts = da.from_array(X, chunks=(ROWS, -1))
    kinds = {"array": X, "one process": parts.persist()}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        kinds |= {"two workers": parts.map_blocks(np.copy).persist(), "sent to them": parts.persist()}
        wait(list(kinds.values())[-2:])
        own, seconds = time.process_time, 4

        def spent():
            return own() + sum(client.run(own).values())

        began = spent()
        time.sleep(seconds)
        idle = (spent() - began) / seconds
        print(f"while nothing is done: {idle:.2f} processor seconds a second")
        print_ratios(kinds, y, lambda: spent() - idle * time.perf_counter(), FITS, repeats=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--folder", type=Path, help="where to make the temporary folder")
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        fit(**json.loads(arguments.fit))
        return
    if arguments.workers:
        worker_ratios(arguments.features)
        return
    dask_ratios()
    n_features = arguments.features
    n_blocks = max(1, round(arguments.gigabytes * 1e9 / (8 * n_features * ROWS)))
    size = 8 * n_features * ROWS * n_blocks
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "features.bin"
        if shutil.disk_usage(folder).free < 1.1 * size:
            raise SystemExit(f"{folder} has no room for {size / 1e9:.1f} GB")
        write(path, n_blocks, n_features)
        print(f"{n_blocks * ROWS:,} x {n_features} float64, {size / 1e9:.2f} GB")
        heads = ("seconds", 9), ("steps", 7), ("gap", 10), ("own MB", 9), ("all MB", 9), ("added MB", 10)
        print(f"{'C=10, tol=1e-2':<26}" + "".join(f"{head:>{width}}" for head, width in heads))
        for fpr_range, surrogate in FITS:
            job = {"path": str(path), "n_blocks": n_blocks, "n_features": n_features}
            job |= {"fpr_range": fpr_range, "surrogate": surrogate}
            run = subprocess.run(
                [sys.executable, __file__, "--fit", json.dumps(job)], check=True, capture_output=True, text=True
            )
            found = json.loads(run.stdout.splitlines()[-1])
            own, every = (pages / 1e6 for pages in found["highest"])
            print(
                f"{str(list(fpr_range)) + ' ' + surrogate:<26}{found['seconds']:>9.1f}{found['steps']:>7}"
                f"{found['gap']:>10.1e}{own:>9.0f}{every:>9.0f}{every - found['before'][1] / 1e6:>10.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
