"""The ranking kernel against numpy.partition and numpy.sort, side by side in one run.

One million scores, 1 % positive. On a narrow range the kernel reads the top of the negatives, as numpy.partition
does; on the full range it needs all of them, as numpy.sort does. Medians of alternating calls.

Run: python benches/python/bench_oracle.py [--n 1000000] [--repeats 15]
"""

import argparse
import math
import statistics
import time

import numpy as np

from rocmax import _core


def seconds(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    n, rng = arguments.n, np.random.default_rng(0)
    y = np.zeros(n, dtype=bool)
    y[rng.choice(n, n // 100, replace=False)] = True
    scores = rng.standard_normal(n) + y
    negatives = scores[~y]
    top = math.ceil(0.05 * len(negatives))
    coef = np.empty(n)
    print(f"{n:,} scores, median of {arguments.repeats}; ratios to the first column")
    rows = (
        ("[0, 0.05], numpy.partition", (0.0, 0.05), lambda: np.partition(negatives, len(negatives) - top)),
        ("[0, 1], numpy.sort", (0.0, 1.0), lambda: np.sort(scores)),
    )
    for name, fpr_range, reference in rows:
        oracle = _core.Oracle.tight(_core.Problem(y), *fpr_range)
        calls = [reference, *(lambda k=k: oracle.evaluate(scores, coef, k) for k in (1, 2))]  # noqa: B023
        times: list[list[float]] = [[], [], []]
        for _ in range(arguments.repeats):
            for call, taken in zip(calls, times, strict=True):
                taken.append(seconds(call))
        base, one, two = (statistics.median(taken) for taken in times)
        print(
            f"{name:<28}{base * 1e3:8.2f} ms   one thread {one * 1e3:8.2f} ms ({one / base:.2f} x)"
            f"   two threads {two * 1e3:8.2f} ms ({two / base:.2f} x)"
        )


if __name__ == "__main__":
    main()
