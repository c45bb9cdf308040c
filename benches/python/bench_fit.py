"""Linear fits against scikit-learn's LogisticRegression and dlib's rank trainer, side by side in one run.

Processor times are medians; every line also gives its ratio to LogisticRegression() on the same arrays.

Run: python benches/python/bench_fit.py [--data FOLDER] [--only dense sparse wide covtype path scale]
dlib is measured where it is installed (package dlib-bin); covtype needs --data, a folder with covtype.npz.
"""

import argparse
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCSVC, partial_auc_path


def dense(n=200_000):
    X, y = make_classification(
        n_samples=n, n_features=50, n_informative=15, n_redundant=10, n_clusters_per_class=2, weights=[0.9822],
        flip_y=0.004, class_sep=2.0, random_state=0,
    )  # fmt: skip
    half = n // 2
    return StandardScaler().fit_transform(X[:half]), y[:half]


def sparse(n=50_000, d=20_000, per_row=60):
    rng = np.random.default_rng(0)
    columns = np.minimum((d * rng.random((n, per_row)) ** 3).astype(np.int64), d - 1)
    X = sp.csr_array((np.ones(n * per_row), columns.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
    X.sum_duplicates()
    signal = X @ (rng.standard_normal(d) / np.sqrt(per_row)) + 0.5 * rng.standard_normal(n)
    return X, (signal > np.quantile(signal, 0.99)).astype(int)


def wide(n=2_000, d=8_000):
    """Return counts of rare things, such as words: more features than samples, and separable."""
    rng = np.random.default_rng(0)
    present = rng.random((n, d)) < np.minimum(0.5, 12.0 / (1.0 + np.arange(d)))
    X = sp.csr_array(present * rng.integers(1, 4, (n, d)).astype(np.float32))
    signal = X[:, :300] @ rng.standard_normal(300) + 3.0 * rng.standard_normal(n)
    return StandardScaler(with_mean=False).fit_transform(X), (signal > np.quantile(signal, 0.95)).astype(int)


def noise(n=2_000, d=8_000):
    """Return normal noise with 5 % informative columns, each shifted by a little in the positive class."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.1
    X = rng.standard_normal((n, d))
    X[:, : d // 20] += 0.15 * y[:, None]
    return X, y.astype(int)


def covtype(folder):
    data = np.load(folder / "covtype.npz")
    codes = [np.eye(size)[data[key].astype(int) - 1] for key, size in (("wilderness", 4), ("soil", 40))]
    X = np.hstack([data["X_num"].astype(np.float64), *codes])
    rows = np.random.default_rng(0).permutation(len(X))[:387_000]
    return StandardScaler().fit_transform(X[rows]), data["y"][rows]


def timed(call, repeats):
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = call()
        times.append(time.process_time() - began)
    return statistics.median(times), result


class Table:
    def __init__(self, name, X, y, repeats):
        self.X, self.y, self.repeats = X, y, repeats
        print(f"\n{name}: {X.shape[0]:,} x {X.shape[1]:,}, {np.mean(y):.1%} positive")
        self.reference, _ = timed(lambda: LogisticRegression().fit(X, y), repeats)
        print(f"{'':<46}{'seconds':>9}{'x logistic':>12}{'objective':>12}{'gap':>10}{'steps':>7}")
        self.line("LogisticRegression()", self.reference)

    def line(self, name, seconds, objective="", gap="", steps=""):
        ratio = seconds / self.reference
        print(f"{name:<46}{seconds:>9.3f}{ratio:>12.2f}{objective:>12}{gap:>10}{steps:>7}", flush=True)

    def fit(self, fpr_range, C, tol, surrogate="tight"):
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C, tol=tol)
        seconds, model = timed(lambda: model.fit(self.X, self.y), self.repeats)
        name = f"PartialAUCSVC [{fpr_range[0]:g}, {fpr_range[1]:g}] {surrogate} C={C:g} tol={tol:g}"
        self.line(name, seconds, f"{model.objective_:.4f}", f"{model.dual_gap_:.1e}", str(model.n_iter_))

    def dlib(self, C, epsilon):
        try:
            import dlib
        except ImportError:
            print("dlib is not installed: its lines are left out")
            return
        data = dlib.ranking_pair()
        for row in self.X[self.y == 1]:
            data.relevant.append(dlib.vector(row))
        for row in self.X[self.y == 0]:
            data.nonrelevant.append(dlib.vector(row))
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = C, epsilon
        seconds, _ = timed(lambda: trainer.train(data), 1)
        self.line(f"dlib svm_rank_trainer c={C:g} epsilon={epsilon:g}", seconds)


def run_dense(repeats, _):
    table = Table("dense", *dense(), repeats)
    for tol in (1e-3, 1e-5):
        table.fit((0.0, 1.0), 100.0, tol)
        table.dlib(100.0, tol)
    for surrogate in ("tight", "ramp"):
        for fpr_range in ((0.0, 0.05), (0.02, 0.05)):
            for C in (10.0, 100.0, 1000.0):
                table.fit(fpr_range, C, 1e-3, surrogate)


def run_sparse(repeats, _):
    table = Table("sparse", *sparse(), repeats)
    for fpr_range in ((0.0, 1.0), (0.0, 0.05)):
        table.fit(fpr_range, 100.0, 1e-3)
    for fpr_range in ((0.0, 0.05), (0.02, 0.05)):
        table.fit(fpr_range, 100.0, 1e-3, "ramp")


def run_wide(repeats, _):
    for name, made in (("wide, sparse", wide()), ("wide, dense", noise())):
        table = Table(name, *made, repeats)
        for fpr_range, surrogate in (((0.0, 1.0), "tight"), ((0.0, 0.05), "tight"), ((0.02, 0.05), "ramp")):
            for C in (1.0, 100.0):
                table.fit(fpr_range, C, 1e-3, surrogate)


def run_covtype(repeats, folder):
    if folder is None:
        print("\ncovtype: left out, give --data FOLDER")
        return
    table = Table("covtype", *covtype(folder), repeats)
    for surrogate in ("tight", "ramp"):
        table.fit((0.0, 0.05), 10.0, 1e-3, surrogate)


def run_path(repeats, _):
    X, y = dense()
    Cs = np.logspace(-2, 4, 10)
    for fpr_range in ((0.0, 1.0), (0.0, 0.05)):
        single = [
            timed(lambda C=C: PartialAUCSVC(fpr_range, surrogate="tight", C=C).fit(X, y), 1)[0]  # noqa: B023
            for C in Cs
        ]
        path, _ = timed(lambda: partial_auc_path(X, y, fpr_range, Cs=Cs, surrogate="tight"), repeats)  # noqa: B023
        print(
            f"\npath of ten C on {fpr_range}: {path:.2f} s, {path / max(single):.2f} x the slowest single fit "
            f"({max(single):.2f} s), {path / sum(single):.2f} x all ten ({sum(single):.2f} s)",
            flush=True,
        )


def resident(reset=False):
    """Return the most memory resident so far, in bytes, or start that anew from what is resident now (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def fit_of_size(n, repeats):
    """Return seconds, steps, and peak memory beside X in bytes a row, in a process that did nothing before."""
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 50 == 0).astype(int)
    X = rng.standard_normal((n, 20)) + y[:, None]
    with threadpool_limits(1, user_api="blas"):
        PartialAUCSVC((0.0, 0.05), surrogate="tight", C=10.0).fit(X[:1000], y[:1000])
        before = resident(reset=True)
        took, model = timed(lambda: PartialAUCSVC((0.0, 0.05), surrogate="tight", C=10.0).fit(X, y), repeats)
    return took, model.n_iter_, (resident() - before) / n


def run_scale(repeats, _):
    print("\ncost over n: [0, 0.05], C = 10, tight, 20 features")
    sizes, seconds = (10_000, 100_000, 1_000_000), []
    for n in sizes:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            took, steps, added = fresh.submit(fit_of_size, n, repeats).result()
        seconds.append(took)
        print(f"  n = {n:>9,}: {took:8.3f} s, {steps} steps, peak memory beside X {added:.0f} bytes a row", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"  slope in log-log: {slope:.2f}")


PARTS = {
    "dense": run_dense,
    "sparse": run_sparse,
    "wide": run_wide,
    "covtype": run_covtype,
    "path": run_path,
    "scale": run_scale,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    # One thread in the BLAS for everybody: its threads spin and make small products slower, not faster.
    with threadpool_limits(1, user_api="blas"):
        for part in arguments.only:
            PARTS[part](arguments.repeats, arguments.data)


if __name__ == "__main__":
    main()
