"""Wang, Chen and Xue (2010): the XOR problem of Figure 3 and Table 2, and Table 3 on its 18 tasks.

SVM (scikit-learn's), AUC-SVM and SAUC-SVM, the latter two over the pairs of the k nearest samples of the other class or
over all of them. The paper chooses C, lambda and sigma by five-fold cross-validation over 7 x 7 x 21 values; here by
three folds over 0.01, 1 and 100 and the Gaussian widths 1/2, 2 and 8 of standardised features. C is per pair in the
paper: ours is C times the number of pairs. Which pairs: the two steps of Rakotomamonjy (2004), whose numbers of pairs
are the paper's (Table 2: 145, 370, 585 for k = 5 to 15; every sample with its k nearest would make three times that).

`--parts toy` (Figure 3, Table 2): test AUC, pairs and training time by k, a fifth of each of the four distributions of
Table 1 for training; 10 samples, where the paper shows one. A class is 100 + 100 and 200 + 200 points.

`--parts table` (Table 3): halves drawn 10 times, k = 10 and all pairs, linear and Gaussian kernels. Automobile: above 0
against the rest; arrhythmia: normal against the rest; Diabetes is pima; glass and tae: each class against the rest. The
paper's "Import" cannot be told from Automobile and is left out. Missing cells become medians.

Table 4 (training times at k = 10) is printed from the same rows.

`--parts neighbors` (Figure 4): the tasks of Table 3 by k, where the figure has four of them; its rows go on with those
of the table. `--parts structure` (the sweep of lambda, 4.2.2): the tasks with k = 10, C = 1 and lambda from 0 and 1e-5
to 1e5; sigma = 8 of standardised features, where the paper has 256 of features of a scale that it does not state.

Run: python benches/papers/wang_chen_xue.py --data FOLDER [--quick] [--parts toy table neighbors structure]
"""

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from common import Row, draw, parser, prepared, read, run, summary, there
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from rocmax import AUCSVC
from rocmax.metrics import roc_auc_score

FILES = ["automobile", "arrhythmia", "bupa", "pima", "glass", "hepatitis", "ionosphere", "spectf", "tae", "wdbc"]
COMPARED = [("sauc 10", "auc 10"), ("sauc all", "auc all"), ("sauc 10", "auc all"), ("auc all", "auc 10")]
COMPARED += [("auc all", "svm -"), ("sauc 10", "svm -"), ("sauc all", "svm -")]
KS = ("5", "10", "15", "20", "25", "30", "all")
LAMBDAS = (0.0, *(10.0**k for k in range(-5, 6)))
POWERS, WIDTHS = (0.01, 1.0, 100.0), (0.5, 2.0, 8.0)


def xor(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the toy problem's features and labels, and which of the four distributions each point is of."""
    parts = []
    for centre, sign, n in (((0.8, 0), 1, 100), ((-0.8, 0), 1, 100), ((0, 0.8), -1, 200), ((0, -0.8), -1, 200)):
        parts.append(rng.multivariate_normal(centre, [[0.15, 0.1 * sign], [0.1 * sign, 0.15]], n))
    group = np.repeat(np.arange(4), [100, 100, 200, 200])
    return np.concatenate(parts), (group < 2).astype(int), group


def choices(method: str, kernel: str) -> Iterator[tuple[float, float, float]]:
    """Yield (C, lambda, sigma)."""
    yield from product(POWERS, POWERS if method == "sauc" else (0.0,), WIDTHS if kernel == "rbf" else (1.0,))


def fitted(method: str, kernel: str, k: str, chosen: tuple[float, float, float], X: np.ndarray, y: np.ndarray) -> Any:
    """Return a model and the number of its pairs."""
    C, structure, sigma = chosen
    shape = {"kernel": kernel, "gamma": 1 / (2 * sigma**2)}
    if method == "svm":
        return SVC(C=C, **shape).fit(X, y), 0
    shape |= {"structure": structure, "tol": 1e-3, "n_jobs": 1}
    if k == "all":
        n_pairs = int((y == 1).sum() * (y == 0).sum())
        return AUCSVC(C * n_pairs, **shape).fit(X, y), n_pairs
    near = shape | {"pairs": "neighbors", "n_neighbors": int(k)}
    n_pairs = AUCSVC(1e-3, **near | {"tol": 0.5, "structure": 0.0}).fit(X, y).n_pairs_
    return AUCSVC(C * n_pairs, **near).fit(X, y), n_pairs


def measured(job: Row, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Row:
    """Choose on the training rows, fit them all, and measure on the test rows."""
    A, B = prepared(X, train, test)
    a, kind = y[train], (job["method"], job["kernel"], job["k"])
    folds = list(StratifiedKFold(min(3, *np.bincount(a)), shuffle=True, random_state=0).split(A, a))
    folds = folds[: 2 if job["quick"] else None]
    means = {}
    for chosen in list(choices(*kind[:2]))[:: 3 if job["quick"] else 1]:
        models = [fitted(*kind, chosen, A[rows], a[rows])[0] for rows, _ in folds]
        scores = [model.decision_function(A[rows]) for model, (_, rows) in zip(models, folds, strict=True)]
        means[chosen] = np.mean([roc_auc_score(a[rows], s) for s, (_, rows) in zip(scores, folds, strict=True)])
    chosen = max(means, key=lambda parameters: means[parameters])
    began = time.perf_counter()
    model, n_pairs = fitted(*kind, chosen, A, a)
    seconds = time.perf_counter() - began
    auc = roc_auc_score(y[test], model.decision_function(B))
    return {"auc": auc, "pairs": n_pairs, "seconds": seconds} | dict(
        zip(("C", "structure", "sigma"), chosen, strict=True)
    )


def on_toy(job: Row) -> Row:
    X, y, group = xor(np.random.default_rng(job["trial"]))
    train, test = train_test_split(np.arange(len(y)), train_size=0.2, stratify=group, random_state=job["trial"])
    return measured(job, X, y, train, test)


def task(job: Row) -> Any:
    """Return the features and labels of a task, and the rows of its halves."""
    ((_, X, y),) = [found for found in read(Path(job["data"]), [job["set"].split(" ")[0]]) if found[0] == job["set"]]
    return X, y, *train_test_split(np.arange(len(y)), train_size=0.5, stratify=y, random_state=job["trial"])


def on_task(job: Row) -> Row:
    return measured(job, *task(job))


def by_structure(job: Row) -> Row:
    """Measure SAUC-SVM at one lambda, all else fixed."""
    X, y, train, test = task(job)
    A, B = prepared(X, train, test)
    model, _ = fitted("sauc", job["kernel"], "10", (1.0, job["structure"], 8.0), A, y[train])
    return {"auc": roc_auc_score(y[test], model.decision_function(B))}


def by_neighbors(found: pd.DataFrame) -> None:
    """Print Figure 4: means over the tasks by k, and on how many of them its claims hold."""
    means = found.groupby(["kernel", "set", "method", "k"], sort=False)["auc"].mean().unstack("k")
    ks = [k for k in KS if k in means]
    means = means[[*ks, "-"]]
    print(f"by k\n{means.groupby(['kernel', 'method'], sort=False).mean().round(4).to_string()}")
    for kernel, own in means.groupby(level="kernel", sort=False):
        auc, sauc = (own.xs(method, level="method")[ks] for method in ("auc", "sauc"))
        svm = own.xs("svm", level="method")["-"]
        print(
            f"{kernel}: SAUC-SVM above AUC-SVM at every k on {int((sauc > auc).all(axis=1).sum())} of {len(auc)} tasks,"
            f" gain by k {(sauc - auc).mean().round(4).tolist()}; with all pairs rather than the"
            f" {ks[0]} nearest AUC-SVM is better on {int((auc['all'] > auc[ks[0]]).sum())}, SAUC-SVM on"
            f" {int((sauc['all'] > sauc[ks[0]]).sum())}; with all pairs AUC-SVM is above the SVM on"
            f" {int((auc['all'] > svm).sum())}, SAUC-SVM on {int((sauc['all'] > svm).sum())}"
        )


def tested(found: pd.DataFrame) -> None:
    """Print how often structure is better or worse by more than a hundredth, the paper's rule, and by tests."""
    whole = found.assign(method=found["method"].str.cat(found["k"], " "))
    means = whole.groupby(["kernel", "set", "method"], sort=False)["auc"].mean().unstack()
    for kernel, own in means.groupby(level="kernel", sort=False):
        for ours, theirs in COMPARED:
            gain = own[ours] - own[theirs]
            p = wilcoxon(gain).pvalue if gain.any() else 1.0
            print(
                f"{kernel}: {ours} over {theirs}: mean {gain.mean():+.4f} +-{gain.sem():.4f} over the tasks, Wilcoxon"
                f" p {p:.3f}; better by 0.01 on {int((gain > 0.01).sum())} of {len(gain)}, worse on"
                f" {int((gain < -0.01).sum())}"
            )


def main() -> None:
    options = parser(__doc__)
    parts = ["toy", "table", "neighbors", "structure"]
    options.add_argument("--parts", nargs="+", default=parts, choices=parts)
    given = options.parse_args()
    trials = range(given.splits or (1 if given.quick else 10))
    for part in given.parts:
        ks = KS if part in ("toy", "neighbors") and not given.quick else KS[1::5]
        kinds: list[Row] = [{"method": method, "k": k} for method, k in [("svm", "-"), *product(("auc", "sauc"), ks)]]
        base: Row = {"quick": given.quick}
        names = ["xor"]
        if part != "toy":
            base |= {"data": str(given.data)}
            files = given.sets or there(given.data, FILES[7:9] if given.quick else FILES)
            names = [name for file in files for name, _, _ in read(given.data, [file])]
        if part == "structure":
            kinds = [{"structure": structure} for structure in LAMBDAS[:: 4 if given.quick else 1]]
        jobs = [
            base | {"set": name, "kernel": kernel} | kind | {"trial": trial}
            for trial in trials
            for kernel in (("rbf",) if part == "toy" else ("linear", "rbf"))
            for name in names
            for kind in kinds
        ]
        file = given.out / f"wang_chen_xue_{'table' if part == 'neighbors' else part}.csv"
        work = {"toy": on_toy, "structure": by_structure}.get(part, on_task)
        found = run(jobs, work, file, given.jobs)
        if part == "structure":
            means = found.groupby(["kernel", "set", "structure"], sort=False)["auc"].mean().unstack()
            print(f"by lambda\n{means.round(4).to_string()}")
            print(f"best lambda\n{means.idxmax(axis=1).groupby(level='kernel').value_counts().to_string()}")
            continue
        if part == "neighbors":
            by_neighbors(found)
            continue
        by = ["kernel", "set", "k", "method"]
        print(f"AUC, means over {len(trials)} samples +- standard errors\n{summary(found, by, 'auc').to_string()}")
        if part == "toy":
            draw(found, "kernel", "k", "method", "auc", file.with_suffix(".svg"))
            print(found.groupby(["k", "method"], sort=False)[["pairs", "seconds"]].mean().round(3).to_string())
            continue
        means = found.groupby(["kernel", "k", "method"])["auc"].mean()
        print(f"averages over the {len(names)} tasks\n{means.round(4).to_string()}")
        seconds = found[found["k"].isin(["10", "-"])].groupby(["set", "kernel", "method"], sort=False)["seconds"]
        print(f"Table 4, seconds\n{seconds.mean().unstack(['kernel', 'method']).round(4).to_string()}")
        tested(found)


if __name__ == "__main__":
    main()
