"""Linear fits against scikit-learn's LogisticRegression and dlib's rank trainer, side by side in one run.

Processor times are medians; every line also gives its ratio to LogisticRegression() on the same arrays. "middle" is
the grid of tables of 1,000 to 30,000 rows and 30 to 1,000 columns, with the median and the worst ratio of each range.

Run: python benches/python/bench_fit.py [--data FOLDER] [--only middle dense sparse wide covtype path scale]
"quick" is a part of "middle".
dlib is measured where it is installed (package dlib-bin); covtype needs --data, a folder with covtype.npz.
"""

import argparse
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from passes import Counts
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tables import tables
from threadpoolctl import threadpool_limits

from rocmax import PartialAUCSVC, partial_auc_path

# The grid of the middle: rows of a test, part of the tables, sparse tables, ranges and surrogates, C.
MIDDLE_TEST = 5_000
MIDDLE_QUICK = [(1_000, 100), (4_000, 30), (4_000, 300), (10_000, 100)]
MIDDLE_SPARSE = [(*size, share) for size in ((4_000, 300), (10_000, 1_000)) for share in (0.15, 0.05, 0.4)]
MIDDLE_RANGES = [((0.0, 1.0), "tight"), ((0.0, 0.05), "tight"), ((0.0, 0.05), "ramp"), ((0.02, 0.05), "ramp")]
MIDDLE_CS, MIDDLE_CS_QUICK = (0.1, 1.0, 10.0, 100.0, 1000.0), (1.0, 100.0)


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


def normals(n, d, nonzero, seed=0):
    """Return normal features, some of them 0, and 10 % positives moved along one direction, for training and a test."""
    rng = np.random.default_rng([n, d, seed])
    y = np.arange(n + MIDDLE_TEST) % 10 == 0
    towards = rng.standard_normal(d)
    X = rng.standard_normal((len(y), d)) + np.outer(y, 1.5 / np.linalg.norm(towards) / np.sqrt(nonzero) * towards)
    if nonzero < 1.0:
        X = sp.csr_array(X * (rng.random(X.shape) < nonzero))
    return X[:n], y[:n], X[n:], y[n:]


def halves(X, y, most):
    """Return standardised features for training, and others for a test."""
    X = StandardScaler().fit_transform(X)
    rows = np.random.default_rng(0).permutation(len(X))
    n = min(most, len(X) // 2)
    return X[rows[:n]], y[rows[:n]], X[rows[n : 2 * n]], y[rows[n : 2 * n]]


def middle(folder, quick):
    """Yield the name and the arrays of each table of the grid."""
    sizes = MIDDLE_QUICK if quick else list(product((1_000, 4_000, 10_000, 30_000), (30, 100, 300, 1_000)))
    for n, d in sizes:
        yield f"normals {n:,} x {d:,}", normals(n, d, 1.0)
    for n, d, nonzero in MIDDLE_SPARSE[: 1 if quick else None]:
        yield f"sparse {n:,} x {d:,}, {nonzero:.0%}", normals(n, d, nonzero)
    X, digit = load_digits(return_X_y=True)
    yield "digits, 8", halves(X, digit == 8, len(X))
    if folder is not None and (folder / "spambase.csv.gz").exists():
        for name, X, y in tables(folder, ("spambase", "ijcnn1")):
            yield name, halves(np.asarray(X, dtype=float), y == 1, 20_000)


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


def run_middle(repeats, folder, quick=False):
    """Print every fit of the grid, for each range the median and the worst of time and passes, and a table of times."""
    lines = []
    for name, (X, y, X_test, y_test) in middle(folder, quick):
        reference, logistic = timed(lambda: LogisticRegression(max_iter=1000).fit(X, y), repeats)  # noqa: B023
        its_passes = 2.1 * logistic.n_iter_[0] + 2.0  # a step of lbfgs is 1.05 evaluations of two products
        print(f"\n{name}: LogisticRegression() {reference:.3f} s, {its_passes:.0f} passes")
        for (fpr_range, surrogate), C in product(MIDDLE_RANGES, MIDDLE_CS_QUICK if quick else MIDDLE_CS):
            model, counts = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C), Counts(n_samples=len(y))
            seconds, model = timed(lambda: model.fit(X, y), repeats)  # noqa: B023
            with ExitStack() as stack:
                counts.watch(stack)
                model.fit(X, y)
            kind = f"[{fpr_range[0]:g}, {fpr_range[1]:g}] {surrogate}"
            found = model.dual_gap_, model.score(X_test, y_test), model.objective_
            lines.append((kind, name.partition(" x ")[0], seconds / reference, counts.passes / its_passes, *found))
            print(f"  {kind:<18}{C:>7g}{lines[-1][2]:>8.2f} x time{lines[-1][3]:>8.2f} x passes{model.n_iter_:>6} steps"
                  f"{found[0]:>10.1e} gap{found[1]:>8.4f} test pAUC{found[2]:>12.5g}", flush=True)  # fmt: skip
    print(f"\n{'range':<20}{'fits':>5}{'time / logistic, median':>25}{'worst':>7}{'passes, median':>16}{'worst':>7}"
          f"{'largest gap':>13}{'mean test pAUC':>16}")  # fmt: skip
    for kind in dict.fromkeys(line[0] for line in lines):
        values = np.array([line[2:] for line in lines if line[0] == kind])
        (time_, passes), (of_time, of_passes) = np.median(values[:, :2], axis=0), values[:, :2].max(axis=0)
        print(f"{kind:<20}{len(values):>5}{time_:>25.2f}{of_time:>7.1f}{passes:>16.2f}{of_passes:>7.1f}"
              f"{values[:, 2].max():>13.1e}{values[:, 3].mean():>16.4f}")  # fmt: skip
    kinds = dict.fromkeys(line[0] for line in lines)
    print("\n".join(["", " | ".join(["| tables", *kinds]) + " |", "|---" * (1 + len(kinds)) + "|"]))
    for tables_ in [*dict.fromkeys(line[1] for line in lines), "all"]:
        of_kinds = [[line[2] for line in lines if line[0] == kind and tables_ in (line[1], "all")] for kind in kinds]
        cells = [f"{np.median(times):.1f} / {max(times):.1f}" for times in of_kinds]
        print(" | ".join([f"| {tables_}", *cells]) + " |")


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


def fit_of_size(n, repeats, fpr_range, surrogate):
    """Return seconds, steps, and peak memory beside X in bytes a row, in a process that did nothing before."""
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 50 == 0).astype(int)
    X = rng.standard_normal((n, 20)) + y[:, None]
    with threadpool_limits(1, user_api="blas"):
        model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=10.0).fit(X[:1000], y[:1000])
        before = resident(reset=True)
        model.fit(X, y)
        added = (resident() - before) / n
        took, _ = timed(lambda: model.fit(X, y), repeats)
    return took, model.n_iter_, added


def run_scale(repeats, _):
    sizes = (10_000, 100_000, 1_000_000)
    for fpr_range, surrogate in MIDDLE_RANGES:
        print(f"\ncost over n: [{fpr_range[0]:g}, {fpr_range[1]:g}], C = 10, {surrogate}, 20 features")
        seconds = []
        for n in sizes:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                took, steps, added = fresh.submit(fit_of_size, n, repeats, fpr_range, surrogate).result()
            seconds.append(took)
            print(
                f"  n = {n:>9,}: {took:8.3f} s, {steps} steps, peak memory beside X {added:.0f} bytes a row", flush=True
            )
        print(f"  slope in log-log: {np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}")


PARTS = {
    "middle": run_middle,
    "quick": partial(run_middle, quick=True),
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
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=[part for part in PARTS if part != "quick"])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    # One thread in the BLAS for everybody: its threads spin and make small products slower, not faster.
    with threadpool_limits(1, user_api="blas"):
        for part in arguments.only:
            PARTS[part](arguments.repeats, arguments.data)


if __name__ == "__main__":
    main()
