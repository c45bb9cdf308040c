"""Narasimhan and Agarwal (2016): Table 4 with every row, Figures 4-9 and Table 5's question on what data there is.

`--parts table4` (default): ranked partial AUC on [0.02, 0.05] of test thirds, over five random splits, 2/3 train. As in
the paper, C is the best of 1e-5, ..., 1e4 by a held-out 30 % of the training rows (of at most 50,000 of them; the paper
does not say how large its share was), then all training rows are fitted; pAUCBoost takes 100 rounds on letter and 25
elsewhere, the greedy heuristic 100 steps. "tight" and "dc" are the paper's SVM_pAUC, "full" its SVM_AUC; "ramp" and
"cv" (PartialAUCSVCCV) are this library's; "tau_fpl", tau = 0.05, stands in for ASVM, whose formulation the paper does
not restate and which its Table 4 leaves out. AGD-SBCD is not reproduced. The times of Figures 6 and 7, training and
validation, are in the same rows, taken on one thread with `--jobs` processes at once.

`--parts fractions`: Figures 4 and 5, test partial AUC on [0, 0.05] and [0, 0.1] by the fraction of the training rows,
on substitutes (hiva, dud_cdk2_cox2_fxa_fp2, mammography): yeast PPI and the chemo set cannot be had.

`--parts steps`: Figures 8 and 9, steps of the tight surrogate at tol 1e-3 by the range and by C.

`--parts tpr`: Table 5's question on the same substitutes, the true positive rate at a false positive rate of 0.1 of
models for [0, 0.1], [0.05, 0.1] and the whole range.

The paper does not say which classes are positive. Here they are A-M of letter and class 2 of covtype; `--sets
covtype_rest` takes all others of covtype for the positive ones. cod-rna, KDD Cup 2006 and 2008 cannot be had.

Run: python benches/papers/narasimhan_agarwal_2016.py --data FOLDER [--quick] [--parts table4 fractions steps tpr]
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from common import Row, draw, load, parser, prepared, run, summary, there
from sklearn.model_selection import train_test_split

from rocmax import PartialAUCSVC, PartialAUCSVCCV
from rocmax.baselines import GreedyPAUC, PAUCBoost, TauFPL
from rocmax.metrics import partial_auc_score, tpr_at_fpr_score

SETS = ["a9a", "covtype", "ijcnn1", "letter"]
SUBSTITUTES = ["hiva", "dud_cdk2_cox2_fxa_fp2", "mammography"]
METHODS = ["tight", "dc", "full", "pauc_boost", "greedy", "tau_fpl", "ramp", "cv"]
PAPER = {  # Table 4
    "tight": {"a9a": 0.2739, "covtype": 0.2467, "ijcnn1": 0.6131, "letter": 0.5208},
    "dc": {"a9a": 0.3650, "covtype": 0.2410, "ijcnn1": 0.6798, "letter": 0.5182},
    "full": {"a9a": 0.4338, "covtype": 0.2987, "ijcnn1": 0.4750, "letter": 0.4455},
    "pauc_boost": {"a9a": 0.4012, "covtype": 0.4485, "ijcnn1": 0.4913, "letter": 0.4954},
    "greedy": {"a9a": 0.3417, "covtype": 0.2386, "ijcnn1": 0.1201, "letter": 0.2888},
}
CS, VALIDATED = np.logspace(-5, 4, 10), 50_000


def make(method: str, C: float, fpr_range: tuple[float, float], name: str) -> Any:
    surrogates = {"tight": "tight", "dc": "hinge", "full": "tight", "ramp": "ramp"}
    if method in surrogates:
        own = (0.0, 1.0) if method == "full" else fpr_range
        return PartialAUCSVC(own, surrogate=surrogates[method], C=C, n_jobs=1)
    if method == "tau_fpl":
        return TauFPL(fpr_range[1], C=C)
    if method == "cv":
        return PartialAUCSVCCV(fpr_range, Cs=C, cv=3, n_jobs=1)
    rounds = 100 if name in ("letter", *SUBSTITUTES) else 25
    return GreedyPAUC(fpr_range, n_jobs=1) if method == "greedy" else PAUCBoost(fpr_range, rounds, n_jobs=1)


def fitted(method: str, X: np.ndarray, y: np.ndarray, fpr_range: tuple[float, float], name: str, quick: bool) -> Row:
    """Return a model with the C that held-out rows choose, and the times that it took."""
    Cs, C, began = CS[::3] if quick else CS, np.nan, time.perf_counter()
    if method == "cv":
        C = Cs[Cs > 1e-3]
    elif method in ("tight", "dc", "full", "ramp", "tau_fpl"):
        some = np.random.default_rng(0).permutation(len(y))[:VALIDATED]
        A, B, a, b = train_test_split(X[some], y[some], test_size=0.3, stratify=y[some], random_state=0)
        scores = [make(method, c, fpr_range, name).fit(A, a).decision_function(B) for c in Cs]
        C = Cs[np.argmax(partial_auc_score(b, np.column_stack(scores), fpr_range, method="ranked"))]
    middle = time.perf_counter()
    model = make(method, C, fpr_range, name).fit(X, y)
    times = {"validation_seconds": middle - began, "training_seconds": time.perf_counter() - middle}
    return {"model": model, "C": np.nan if method == "cv" else C} | times


def measured(job: Row) -> Row:
    """One fit: of a method, on a part of the training rows of one split of a set."""
    X, y = load(Path(job["data"]), job["set"].removesuffix("_rest"), job["rows"])
    y = 1 - y if job["set"].endswith("_rest") else y
    rows = np.arange(len(y))
    train, test = train_test_split(rows, test_size=1 / 3, stratify=y, random_state=job["split"])
    if job["fraction"] < 1:
        train, _ = train_test_split(train, train_size=job["fraction"], stratify=y[train], random_state=job["split"])
    A, B = prepared(X, train, test)
    fpr_range = (job["low"], job["high"])
    found = fitted(job["method"], A, y[train], fpr_range, job["set"], job["quick"])
    model = found.pop("model")
    scores = model.decision_function(B)
    found |= {f"seconds_{k}": found.pop(f"{k}_seconds") for k in ("training", "validation")}
    return found | {
        "partial_auc": partial_auc_score(y[test], scores, fpr_range, method="ranked"),
        "tpr_at_0.1": tpr_at_fpr_score(y[test], scores, 0.1),
    }


def stepped(job: Row) -> Row:
    """Steps of one fit of the tight surrogate."""
    X, y = load(Path(job["data"]), job["set"], job["rows"])
    A, _ = prepared(X, np.arange(len(y)), np.arange(1))
    began = time.perf_counter()
    model = PartialAUCSVC((job["low"], job["high"]), surrogate="tight", C=job["C"], n_jobs=1).fit(A, y)
    return {"steps": model.n_iter_, "gap": model.dual_gap_, "seconds": time.perf_counter() - began}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", default=["table4"], choices=["table4", "fractions", "steps", "tpr"])
    options.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    given = options.parse_args()
    rows = given.rows or (1500 if given.quick else None)
    base = {"data": str(given.data), "rows": rows, "quick": given.quick}
    splits = given.splits or (2 if given.quick else 5)
    for part in given.parts:
        defaults = SETS if part in ("table4", "steps") else SUBSTITUTES
        sets = given.sets or there(given.data, defaults)
        file = given.out / f"narasimhan_agarwal_2016_{part}.csv"
        if part == "steps":
            ranges = [(0.0, high) for high in (0.01, 0.05, 0.1, 0.3, 1.0)] + [(0.02, 0.05)]
            jobs = [
                base | {"set": name, "low": low, "high": high, "C": C}
                for name in sets
                for low, high in ranges
                for C in (1.0, 10.0, 100.0)
            ]
            found = run(jobs, stepped, file, given.jobs)
            print(found.pivot_table("steps", ["set", "low", "high"], "C"))
            continue
        ranges = {"table4": [(0.02, 0.05)], "fractions": [(0.0, 0.05), (0.0, 0.1)]}
        fractions = (0.1, 0.25, 0.5, 1.0) if part == "fractions" else (1.0,)
        jobs = [
            base | {"set": name, "split": k, "method": m, "fraction": share, "low": low, "high": high}
            for low, high in ranges.get(part, [(0.0, 0.1), (0.05, 0.1), (0.0, 1.0)])
            for share in fractions
            for name in sets
            for k in range(splits)
            for m in given.methods
        ]
        found = run(jobs, measured, file, given.jobs)
        keys = ["set", "low", "high", "fraction", "method"]
        value = "tpr_at_0.1" if part == "tpr" else "partial_auc"
        print(f"{value}, means over {splits} splits +- standard errors")
        print(summary(found, keys, value).to_string())
        if part == "fractions":
            for (low, high), own in found.groupby(["low", "high"]):
                draw(own, "set", "fraction", "method", value, file.with_name(f"{file.stem}_{low:g}_{high:g}.png"))
        if part == "table4":
            draw(found, "set", "method", "low", "seconds_training", file.with_name(f"{file.stem}_seconds.png"))
            print("\nthe paper's Table 4")
            print("\n".join(f"{m:<12}{'  '.join(f'{k} {v:.4f}' for k, v in PAPER[m].items())}" for m in PAPER))
            seconds = found.groupby(["set", "method"], sort=False)[["seconds_training", "seconds_validation"]].mean()
            print("\n", seconds.round(2).to_string(), sep="")


if __name__ == "__main__":
    main()
