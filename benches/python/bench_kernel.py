"""Pairwise kernel machines: certified over every pair, beside explicit duals and other libraries.

    python benches/python/bench_kernel.py grid      # 569 samples, 75,684 pairs: seven C, gap 1e-6
    python benches/python/bench_kernel.py dual      # 3,200 pairs: against the explicit dual by cvxopt
    python benches/python/bench_kernel.py large     # n = 4,000 and 10,000: gap 1e-4, beside SVC and others
    python benches/python/bench_kernel.py partial   # PartialAUCSVC: with the augmented Lagrangian, by planes alone
    python benches/python/bench_kernel.py neighbors # 100,000 x 20, k = 10: against scikit-learn's NearestNeighbors
    python benches/python/bench_kernel.py nystroem  # n = 200,000: kernel features before a linear model

Times are wall clock, with the CPU seconds of the process beside them.
"""

import argparse
import resource
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rocmax import AUCSVC, PartialAUCSVC, _core
from rocmax._runtime.settings import using


class Clock:
    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall, self.cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu

    def __str__(self):
        return f"{self.wall:8.2f} s  ({self.cpu:.2f} s CPU)"


def timed(model, X, y):
    with Clock() as clock:
        model.fit(X, y)
    return clock


def grid():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), 1 - y
    n_pairs = int(y.sum() * (1 - y).sum())
    with Clock() as all_C:
        for C_pair in 10.0 ** np.arange(-3, 4):
            model = AUCSVC(C_pair * n_pairs, tol=1e-6)
            clock = timed(model, X, y)
            print(
                f"C_pair {C_pair:<6g} {clock}  objective {model.objective_:<12.8g} "
                f"gap {model.dual_gap_:.1e}  {model.n_iter_} steps"
            )
    print(f"seven C over {n_pairs:,} pairs in {all_C}\n")


def dual():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [40, 80])
    X = rng.standard_normal((120, 5)) + 0.7 * y[:, None]
    for C_pair in (1e-3, 0.1, 10.0):
        models = [AUCSVC(C_pair * 3200, tol=1e-8, solver=solver) for solver in ("auto", "cvxopt")]
        models[0].fit(X, y)  # warm
        ours, theirs = (timed(model, X, y) for model in models)
        difference = models[0].objective_ / models[1].objective_ - 1
        print(
            f"3,200 pairs, C_pair {C_pair:g}: auto {ours}, cvxopt {theirs}: {theirs.wall / ours.wall:.0f} times; "
            f"objectives {models[0].objective_:.9g}, {difference:+.1e}; gaps {models[0].dual_gap_:.1e}, "
            f"{models[1].dual_gap_:.1e}"
        )


def large():
    for n, share in ((4_000, 0.02), (10_000, 0.5)):
        X, y = make_classification(
            2 * n, 20, n_informative=10, n_redundant=4, weights=[1 - share], flip_y=0.01, random_state=0
        )
        X = StandardScaler().fit_transform(X)
        train, test = slice(0, n), slice(n, None)
        print(f"n = {n:,}, {y[train].mean():.1%} positive, {int(y[train].sum() * (1 - y[train]).sum()):,} pairs, rbf")
        models = {f"AUCSVC(C={C:g})": AUCSVC(C, tol=1e-4) for C in (100.0, 1_000.0, 1e4, 1e5)}
        models |= {f"SVC(C={C:g})": SVC(C=C) for C in (1.0, 100.0)}
        models["AUCSVC(C=1e3, float32)"] = AUCSVC(1e3, tol=1e-4, kernel_dtype="float32")
        models |= peers() if n <= 4_000 else {}
        for name, model in models.items():
            clock = timed(model, X[train], y[train])
            certificate = f"  gap {model.dual_gap_:.1e}, {model.n_iter_} steps" if isinstance(model, AUCSVC) else ""
            score = model.decision_function if hasattr(model, "decision_function") else model.predict
            print(f"  {name:24} {clock}  test AUC {roc_auc_score(y[test], score(X[test])):.4f}{certificate}")
        print(f"  peak memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB\n")


def partial():
    rng = np.random.default_rng(0)
    X, y = make_classification(4_000, 20, n_informative=10, n_redundant=4, weights=[0.9], random_state=0)
    tables = {"4,000 x 20, rbf": (StandardScaler().fit_transform(X), y, "rbf")}
    y = (rng.random(2_000) < 0.1).astype(int)
    X = rng.standard_normal((2_000, 8_000))
    X[:, :400] += 0.15 * y[:, None]
    tables["2,000 x 8,000 of noise, X X' as precomputed kernel"] = X @ X.T, y, "precomputed"
    for name, (X, y, kernel) in tables.items():
        print(f"{name}, {y.mean():.1%} positive")
        for fpr_range, surrogate in (((0.0, 1.0), "tight"), ((0.0, 0.05), "tight"), ((0.02, 0.05), "ramp")):
            for C in (10.0, 100.0, 1000.0):
                model = PartialAUCSVC(fpr_range, surrogate=surrogate, C=C, kernel=kernel)
                clock, (steps, objective) = timed(model, X, y), (model.n_iter_, model.objective_)
                with using(kernel_steps=(0, np.inf)):
                    planes = timed(model, X, y)
                print(
                    f"  {fpr_range} {surrogate:5} C={C:<5g} {clock}, {steps} steps; planes alone {planes}, "
                    f"{model.n_iter_} steps: {planes.cpu / clock.cpu:.1f} times; objective "
                    f"{objective / model.objective_:.4f} of theirs",
                    flush=True,
                )


def peers():
    """Other pairwise kernel machines, as far as they are installed."""
    found = {}
    try:
        from sksurv.svm import FastKernelSurvivalSVM
    except ImportError:
        print("  (scikit-survival is not installed)")
    else:

        class Survival:
            """Ranks by predicted risk: positives have their event at time 1, negatives are censored at time 2."""

            def fit(self, X, y):
                event = np.array([(bool(label), 2.0 - label) for label in y], dtype=[("event", bool), ("time", float)])
                self.model = FastKernelSurvivalSVM(kernel="rbf", gamma=1 / X.shape[1], random_state=0).fit(X, event)

            def predict(self, X):
                return self.model.predict(X)

        found["FastKernelSurvivalSVM"] = Survival()
    return found


def neighbors():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100_000, 20)), rng.random(100_000) < 0.5
    rows, columns = np.flatnonzero(y), np.flatnonzero(~y)
    with Clock() as ours:
        found = _core.PairList.neighbors(_core.Problem(y), (X, False), 10, False, 2).rows()
    with Clock() as theirs:
        expected = [
            NearestNeighbors(n_neighbors=10, n_jobs=2).fit(b).kneighbors(a, return_distance=False)
            for a, b in ((X[y], X[~y]), (X[~y], X[y]))
        ]
    both = [np.repeat(rows, 10), columns[expected[0]].ravel()], [rows[expected[1]].ravel(), np.repeat(columns, 10)]
    same = np.array_equal(found, np.unique(np.hstack(both).T, axis=0))
    print(f"100,000 x 20, k = 10 of the other class: ours {ours}, NearestNeighbors {theirs}, equal: {same}")


def nystroem():
    X, y = make_classification(
        250_000, 20, n_informative=10, n_redundant=4, n_clusters_per_class=8, weights=[0.9], random_state=0
    )
    X = StandardScaler().fit_transform(X)
    train, test = slice(0, 200_000), slice(200_000, None)
    features = Nystroem(n_components=300, random_state=0)
    models = {
        "linear PartialAUCSVC": PartialAUCSVC(C=100.0),
        "Nystroem + PartialAUCSVC": make_pipeline(features, PartialAUCSVC(C=1e4, tol=1e-2)),
        "Nystroem + LogisticRegression": make_pipeline(features, LogisticRegression(C=10.0, max_iter=1000)),
    }
    for name, model in models.items():
        clock = timed(model, X[train], y[train])
        print(
            f"n = 200,000: {name:30} {clock}  test AUC {roc_auc_score(y[test], model.decision_function(X[test])):.4f}"
        )


if __name__ == "__main__":
    parts = {f.__name__: f for f in (grid, dual, large, partial, neighbors, nystroem)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(parts), help=", ".join(parts))
    warnings.simplefilter("ignore")
    for part in parser.parse_args().parts:
        print(f"== {part}")
        parts[part]()
