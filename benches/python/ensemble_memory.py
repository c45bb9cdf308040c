"""Memory and time of PartialAUCEnsembleClassifier on many rows.

Each size in a process of its own: columns of normal numbers, of which a third makes the classes by products of two;
4 % of the rows are positive. Printed: what the fit takes at its peak beyond what is held before it (X, y and the
imported packages), in bytes and in bytes a row, its seconds, and the families kept and left out. Linux only.

Run: python benches/python/ensemble_memory.py [--rows 100000 1000000] [--columns 10] [--jobs 2] [--limit SECONDS]
"""

import argparse
import multiprocessing
import resource
import time
import warnings
from pathlib import Path

import numpy as np

from rocmax import PartialAUCEnsembleClassifier


def measure(n: int, columns: int, jobs: int, limit: float | None) -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns))
    third = max(2, columns // 3)
    score = (X[:, :third] * np.roll(X[:, :third], 1, axis=1)).sum(axis=1) + rng.normal(size=n)
    y = score > np.quantile(score, 0.96)
    before, began, used = held(), time.perf_counter(), time.process_time()
    model = PartialAUCEnsembleClassifier((0.0, 0.05), time_limit=limit, random_state=0, n_jobs=jobs, verbose=1).fit(
        X, y
    )
    taken, seconds, processor = peak() - before, time.perf_counter() - began, time.process_time() - used
    others = [row["family"] for row in model.leaderboard_ if not row["kept"]]
    print(
        f"{n:,} rows of {columns} columns: {taken / 2**20:,.0f} MB ({taken / n:,.0f} bytes a row, {8 * columns} of X), "
        f"{seconds:.0f} s, {processor:.0f} s of processor time; {', '.join(model.families_)} kept, "
        f"{', '.join(others) or 'none'} left out",
        flush=True,
    )


def held() -> int:
    """Return the bytes that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    """Return the most bytes that this process has held."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, help="seconds")
    arguments = parser.parse_args()
    for n in arguments.rows:
        child = multiprocessing.get_context("spawn").Process(
            target=measure, args=(n, arguments.columns, arguments.jobs, arguments.limit)
        )
        child.start()
        child.join()


if __name__ == "__main__":
    main()
