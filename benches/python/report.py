"""The report of many rows: seconds to write it and its size, in a process of its own.

Exits with 1 above ten seconds or five megabytes.

Run: python benches/python/report.py [--rows 5e6] [--models 2] [--range 0 0.05]
"""

import argparse
import io
import time

import numpy as np

from rocmax.display import write_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--range", nargs=2, type=float, default=(0.0, 0.05))
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    n = int(arguments.rows)
    y = rng.random(n) < 0.02
    scores = {f"model {k}": rng.normal(size=n) + (1.5 - k / arguments.models) * y for k in range(arguments.models)}
    page = io.BytesIO()
    start, spent = time.perf_counter(), time.process_time()
    write_report(page, y, scores, fpr_range=tuple(arguments.range))
    seconds, size = time.perf_counter() - start, len(page.getvalue())
    spent = time.process_time() - spent
    print(f"{n:,} rows, {arguments.models} models: {seconds:.1f} s ({spent:.1f} s of all cores), {size / 1e6:.2f} MB")
    raise SystemExit(seconds > 10 or size > 5e6)


if __name__ == "__main__":
    main()
