"""The default C of the support vector machines, and what false positive rate a threshold keeps on rows held out.

Sets are those of table4.py with at most 150 columns, prepared as there, one a file (its first two-class problem), of
at most 4,000 rows and with at least 20 positives. In the order of their names every other one tunes, from the first on:
a default is chosen on these alone. The others report what it is worth.

Printed, on test thirds: mean measures by C, and how far below the best C of each set and split they lie on average
(`behind`), beside scikit-learn's machine with its own defaults: LogisticRegression for the linear ones, SVC for those
of kernels. Then, for threshold=("fpr", b) of models trained on [0, b], the false positive rates on the test thirds.

Run: python benches/python/defaults.py DATA_FOLDER [--splits 2]
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from table4 import LEFT_OUT, preparation, read

from rocmax import AUCSVC, PartialAUCSVC, partial_auc_path
from rocmax.metrics import partial_auc_score
from rocmax.papers import TwoNormSVC

CS = np.array([0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 10_000.0])
RANGES = (0.0, 0.05), (0.02, 0.05), (0.0, 0.2), (0.0, 1.0)
MOST_ROWS, KERNEL_ROWS, MOST_COLUMNS, LEAST_POSITIVES = 4000, 1000, 150, 20
# Text and fingerprints: too wide to say anything of tables.
WIDE = ("dud", "hiv", "reuters", "tox21", "mrmc")

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def sets(folder: Path) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield the sets, by name."""
    names = sorted(file.name.split(".")[0] for file in folder.glob("*.[cn][sp][vz]*"))
    for name in names:
        if name.startswith(WIDE) or name in LEFT_OUT:
            continue
        _, X, y = next(iter(read(folder, [name])))
        if X.shape[1] <= MOST_COLUMNS and min(np.bincount(y)) >= LEAST_POSITIVES:
            yield name, X, y


def parts(X: Any, y: np.ndarray, most: int, seed: int) -> Parts:
    """Return training rows and the test third, scaled, of at most so many rows."""
    if len(y) > most:
        X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=seed)
    A, B, a, b = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
    scale = preparation(X).fit(A)
    return scale.transform(A), scale.transform(B), a, b


def linear(fpr_range: tuple[float, float], data: Parts) -> list[float]:
    """Return the measure of each C on the test rows, and of LogisticRegression()."""
    A, B, a, b = data
    path = partial_auc_path(A, a, fpr_range, Cs=CS, tol=5e-3, max_iter=100)
    scores = [*(B @ path.coefs.T).T, LogisticRegression(max_iter=1000).fit(A, a).decision_function(B)]
    return [float(partial_auc_score(b, s, fpr_range=fpr_range)) for s in scores]


def kernel(machine: type, data: Parts) -> list[float]:
    """Return the AUC of each C on the test rows, and of SVC()."""
    A, B, a, b = data
    models = [*(machine(C).fit(A, a) for C in CS), SVC().fit(A, a)]
    return [float(partial_auc_score(b, model.decision_function(B))) for model in models]


def show(what: str, values: list[np.ndarray]) -> None:
    """Print the means over the sets of each half, values of shape (n_splits, n_Cs + 1) for each set."""
    for half, name in enumerate(("tuning", "report")):
        mine = np.array([v.mean(axis=0) for v in values[half::2]])
        behind = np.array([(v[:, :-1].max(axis=1, keepdims=True) - v).mean(axis=0) for v in values[half::2]])
        for label, rows in (("mean", mine), ("behind", behind)):
            numbers = "".join(f"{number:>8.3f}" for number in rows.mean(axis=0))
            print(f"{what:<26}{name:<8}{label:<8}{numbers}", flush=True)


def held_out_rates(rate: float, found: list[tuple[int, float, float]]) -> None:
    """Print the rates on test rows by the number of training negatives."""
    for low, high in ((0, 200), (200, 1000), (1000, 10**9)):
        rows = np.array([row[1:] for row in found if low <= row[0] < high])
        if len(rows):
            kept, moved = rows.T
            print(f"('fpr', {rate:g}) {low:>6} to {high:<11} {len(rows):>4} fits: training {kept.mean():.3f}", end="")
            print(f", held out mean {moved.mean():.3f}, half between {np.quantile(moved, 0.25):.3f} and ", end="")
            print(f"{np.quantile(moved, 0.75):.3f}, largest {moved.max():.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    every = list(sets(arguments.folder))
    seeds = range(arguments.splits)
    print("tuning:", ", ".join(name for name, *_ in every[::2]))
    print("report:", ", ".join(name for name, *_ in every[1::2]))
    print(f"{'':<42}{''.join(f'{C:>8.3g}' for C in CS)}    peer")
    for fpr_range in RANGES:
        data = ([parts(X, y, MOST_ROWS, seed) for seed in seeds] for _, X, y in every)
        show(f"PartialAUCSVC {fpr_range}", [np.array([linear(fpr_range, one) for one in some]) for some in data])
    for machine in (AUCSVC, TwoNormSVC):
        data = ([parts(X, y, KERNEL_ROWS, seed) for seed in seeds] for _, X, y in every)
        show(machine.__name__, [np.array([kernel(machine, one) for one in some]) for some in data])
    for rate in (0.05, 0.1):
        found = []
        for _, X, y in every:
            for seed in seeds:
                A, B, a, b = parts(X, y, MOST_ROWS, seed)
                model = PartialAUCSVC((0.0, rate), threshold=("fpr", rate)).fit(A, a)
                rates = [model.predict(Z)[labels == 0].mean() for Z, labels in ((A, a), (B, b))]
                found.append((int((a == 0).sum()), *rates))
        held_out_rates(rate, found)


if __name__ == "__main__":
    main()
