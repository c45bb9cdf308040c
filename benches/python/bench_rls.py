"""What AUC-RLS costs, as ratios to one BLAS or LAPACK call on the same matrix, timed in turn.

- kernel, n = 2,000: 50 alphas with leave-pair-out of all pairs against one scipy.linalg.eigh of the kernel matrix;
- linear, 100,000 x 50 dense: one fit against one X.T @ X;
- Reuters, 12,902 x 13,417 sparse, 25 topics at once by conjugate gradients: seconds and iterations.

Run: python benches/python/bench_rls.py [DATA_FOLDER]  (for Reuters: reuters21578_modapte_counts.npz)
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import scipy.linalg
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import rbf_kernel

from rocmax import AUCRLS, AUCRLSCV

sys.path.append(str(Path(__file__).parents[1] / "papers"))  # where the reader of Reuters is
from pahikkala_2008 import load


def in_turn(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return the median wall and processor seconds of each call; the calls alternate, so that noise hits all alike."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    return {name: tuple(np.median(times, axis=0)) for name, times in spent.items()}


def report(title: str, calls: dict[str, Callable[[], object]], rounds: int) -> None:
    times = in_turn(calls, rounds)
    (base, (wall, cpu)), (ours, (our_wall, our_cpu)) = times.items()
    print(title)
    print(f"  {base:28}{wall:9.4f} s wall {cpu:9.4f} s processor")
    print(f"  {ours:28}{our_wall:9.4f} s wall {our_cpu:9.4f} s processor")
    print(f"  ratio {our_wall / wall:27.2f}   wall {our_cpu / cpu:9.2f}   processor   (bar: 3)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)

    for share in (0.5, 0.05):
        X = rng.normal(size=(2000, 10))
        y = (X[:, 0] + rng.normal(size=2000) > np.quantile(X[:, 0], 1 - share) + 0.3).astype(int)
        K = rbf_kernel(X, gamma=0.05)
        grid = AUCRLSCV(50, kernel="precomputed")
        title = f"kernel, n = 2,000, {y.sum()} positives, 50 alphas, all {y.sum() * (1 - y).sum():,} pairs"
        calls = {"eigh(K)": partial(scipy.linalg.eigh, K), "AUCRLSCV": partial(grid.fit, K, y)}
        report(title, calls, options.rounds)

    X = rng.normal(size=(100_000, 50))
    y = (rng.random(100_000) < 0.02).astype(int)
    fit = {"X.T @ X": lambda: X.T @ X, "AUCRLS": lambda: AUCRLS().fit(X, y)}
    report("linear, 100,000 x 50, 2 % positive", fit, 5 * options.rounds)

    if options.folder is not None:
        counts, Y = load(options.folder)
        X_text = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
        print(f"Reuters, {X_text.shape[0]:,} x {X_text.shape[1]:,}, {X_text.nnz:,} entries, 25 topics at once")
        scale = Y.sum(axis=0).mean() * len(Y)
        for alpha in scale * np.array([1e-1, 1e-2, 1e-3]):
            began = time.perf_counter()
            model = AUCRLS(alpha, tol=1e-6).fit(X_text, Y)
            print(f"  alpha {alpha:9.3g}: {time.perf_counter() - began:6.2f} s, {model.n_iter_} iterations at most")


if __name__ == "__main__":
    main()
