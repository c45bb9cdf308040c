"""Narasimhan and Agarwal (2016): Table 4 with every row, Figures 4-9 and Table 5's question on what data there is.

`--parts table4` (default): ranked partial AUC on [0.02, 0.05] of test thirds, over five random splits, 2/3 train. C is
1e-4, 1e-2, 1, 100 or 10,000, chosen by a held-out 30 % of at most 20,000 training rows (the paper takes every power of
ten from 1e-5 and does not say how many rows it holds out), then all training rows are fitted. "tight" and "dc" are the
paper's SVM_pAUC, "full" its SVM_AUC; pAUCBoost takes 100 rounds on letter and 25 elsewhere, the greedy heuristic 100
steps, as there. Beside the paper: "ramp" and "cv" (PartialAUCSVCCV) are this library's; "agd_sbcd" is a later method,
see agd_sbcd.py; "tau_fpl", tau = 0.05, stands in for ASVM, whose formulation the paper does not restate and which its
Table 4 leaves out; "splines" is the ramp on cubic splines of the features of more than five values: pAUCBoost's own
functions of a feature are such splines, and ours are stumps. Errors of the gains: t-test over splits, corrected as they
share rows. "delong" of the rows is the standard error of a split's partial AUC over test sets. The times of Figures 6
and 7, training and validation, are in the same rows: processor seconds of one thread, with `--jobs` processes at once.

`--parts fractions`: Figures 4 and 5, test partial AUC on [0, 0.05] and [0, 0.1] by the fraction of the training rows
(a tenth, half and all; the paper shows more), on substitutes (hiva, dud_cdk2_cox2_fxa_fp2, mammography): yeast PPI and
the chemo set cannot be had.

`--parts steps`: Figures 8 and 9, steps of the tight surrogate at tol 1e-3 by the end of the range, by C and by its
start, on mammography (for KDD Cup 2008) and letter.

`--parts tpr`: Table 5's question on the same substitutes, the true positive rate at a false positive rate of 0.1 of
models for [0, 0.1], [0.05, 0.1] and the whole range.

The paper does not say which classes are positive. Here they are A-M of letter and class 2 of covtype; the sets
"covtype_rest" and, only by `--sets`, "letter_rest" take all others for the positive ones. cod-rna, KDD Cup 2006 and
2008 cannot be had.

Run: python benches/papers/narasimhan_agarwal_2016.py --data FOLDER [--quick] [--parts table4 fractions steps tpr]
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from agd_sbcd import AGDSBCD
from common import Row, draw, gains, load, parser, plots, prepared, run, summary, there
from sklearn.compose import make_column_transformer
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from rocmax import PartialAUCSVC, PartialAUCSVCCV
from rocmax.metrics import PartialAUC, infer, partial_auc_score, tpr_at_fpr_score
from rocmax.papers import GreedyPAUC, PAUCBoost, TauFPL

SETS = ["letter", "ijcnn1", "a9a", "covtype", "covtype_rest"]
SUBSTITUTES = ["hiva", "dud_cdk2_cox2_fxa_fp2", "mammography"]
METHODS = ["tight", "dc", "full", "pauc_boost", "greedy", "tau_fpl", "ramp", "cv", "agd_sbcd", "splines"]
WITH_C = ["tight", "dc", "full", "tau_fpl", "ramp", "agd_sbcd", "splines"]
STARTED = ["tight", "full", "pauc_boost", "greedy", "tau_fpl", "ramp"]  # of Figures 4 and 5
PAPER = {  # Table 4
    "tight": {"a9a": 0.2739, "covtype": 0.2467, "ijcnn1": 0.6131, "letter": 0.5208},
    "dc": {"a9a": 0.3650, "covtype": 0.2410, "ijcnn1": 0.6798, "letter": 0.5182},
    "full": {"a9a": 0.4338, "covtype": 0.2987, "ijcnn1": 0.4750, "letter": 0.4455},
    "pauc_boost": {"a9a": 0.4012, "covtype": 0.4485, "ijcnn1": 0.4913, "letter": 0.4954},
    "greedy": {"a9a": 0.3417, "covtype": 0.2386, "ijcnn1": 0.1201, "letter": 0.2888},
}
CS, VALIDATED = np.logspace(-4, 4, 5), 20_000


def several_valued(X: np.ndarray) -> list[int]:
    """Return the columns of more than five values."""
    return [k for k in range(X.shape[1]) if len(np.unique(X[:, k])) > 5]


def make(method: str, C: float, fpr_range: tuple[float, float], name: str, quick: bool) -> Any:
    surrogates = {"tight": "tight", "dc": "hinge", "full": "tight", "ramp": "ramp"}
    if method in surrogates:
        own = (0.0, 1.0) if method == "full" else fpr_range
        return PartialAUCSVC(own, surrogate=surrogates[method], C=C, n_jobs=1)
    if method == "tau_fpl":
        return TauFPL(fpr_range[1], C=C)
    if method == "agd_sbcd":
        return AGDSBCD(fpr_range, C, outer=10 if quick else 100)
    if method == "splines":
        smooth = SplineTransformer(5, knots="quantile", extrapolation="linear")
        curved = make_column_transformer((smooth, several_valued), remainder="passthrough")
        return make_pipeline(curved, StandardScaler(), PartialAUCSVC(fpr_range, surrogate="ramp", C=C, n_jobs=1))
    rounds = 100 if name in ("letter", *SUBSTITUTES) else 25
    return GreedyPAUC(fpr_range, n_jobs=1) if method == "greedy" else PAUCBoost(fpr_range, rounds, n_jobs=1)


def fitted(method: str, X: np.ndarray, y: np.ndarray, fpr_range: tuple[float, float], name: str, quick: bool) -> Row:
    """Return a model with the C that held-out rows choose, and the times that it took."""
    Cs, C, began = CS[::3] if quick else CS, np.nan, time.process_time()
    n = min(len(y), VALIDATED)
    held_out = StratifiedShuffleSplit(1, train_size=int(0.7 * n), test_size=int(0.3 * n), random_state=0)
    if method in WITH_C:
        ((fitting, rest),) = held_out.split(X, y)
        models = [make(method, c, fpr_range, name, quick).fit(X[fitting], y[fitting]) for c in Cs]
        scores = np.column_stack([model.decision_function(X[rest]) for model in models])
        C = Cs[np.argmax(partial_auc_score(y[rest], scores, fpr_range, method="ranked"))]
    middle = time.process_time()
    model = (
        PartialAUCSVCCV(fpr_range, Cs=Cs[Cs > 1e-3], cv=held_out, n_jobs=1).fit(X, y)
        if method == "cv"
        else make(method, C, fpr_range, name, quick).fit(X, y)
    )
    times = {"validation_seconds": middle - began, "training_seconds": time.process_time() - middle}
    return {"model": model, "C": C} | times


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
        "delong": infer(y[test], scores, PartialAUC(fpr_range)).standard_error,
        "tpr_at_0.1": tpr_at_fpr_score(y[test], scores, 0.1),
    }


def stepped(job: Row) -> Row:
    """Steps of one fit of the tight surrogate."""
    X, y = load(Path(job["data"]), job["set"], job["rows"])
    A, _ = prepared(X, np.arange(len(y)), np.arange(1))
    began = time.perf_counter()
    model = PartialAUCSVC((job["low"], job["high"]), surrogate="tight", C=job["C"], n_jobs=1).fit(A, y)
    return {"steps": model.n_iter_, "gap": model.dual_gap_, "seconds": time.perf_counter() - began}


def steps(given: argparse.Namespace, base: Row) -> None:
    """Figures 8 and 9: by the end of the range and C, and by the length of the range and its start."""
    lengths = (0.01, 0.03, 0.1, 0.3)
    ranges = {(0.0, high): "0" for high in (*lengths, 1.0)}
    ranges |= {(low, round(low + length, 2)): f"{low:g}" for low in (0.1, 0.3) for length in lengths}
    jobs = [
        base | {"set": name, "low": low, "high": high, "C": C}
        for name in given.sets or there(given.data, ["mammography", "letter"])
        for low, high in ranges
        for C in ((1.0, 10.0, 100.0) if low == 0 else (10.0,))
    ]
    file = given.out / "narasimhan_agarwal_2016_steps.csv"
    found = run(jobs, stepped, file, given.jobs)
    print(found.pivot_table("steps", ["set", "low", "high"], "C"))
    found["length"] = found["high"] - found["low"]
    by_start = found[found["C"] == 10.0].sort_values("length")
    draw(found[found["low"] == 0.0], "set", "high", "C", "steps", file.with_name(f"{file.stem}_C.svg"), log=True)
    draw(by_start, "set", "length", "low", "steps", file.with_name(f"{file.stem}_start.svg"), log=True)


def measured_part(given: argparse.Namespace, base: Row, part: str) -> pd.DataFrame:
    """Run a part whose rows are :func:`measured`'s, and print its means."""
    splits = given.splits or (1 if given.quick else 5 if part == "table4" else 3)
    ranges = {"table4": [(0.02, 0.05)], "fractions": [(0.0, 0.05), (0.0, 0.1)]}
    methods = {"table4": METHODS, "fractions": STARTED, "tpr": ["tight", "ramp"]}[part]
    jobs = [
        base | {"set": name, "split": k, "method": m, "fraction": share, "low": low, "high": high}
        for k in range(splits)
        for name in given.sets or there(given.data, SETS if part == "table4" else SUBSTITUTES)
        for low, high in ranges.get(part, [(0.0, 0.1), (0.05, 0.1), (0.0, 1.0)])
        for share in ((0.1, 0.5, 1.0) if part == "fractions" and not given.quick else (1.0,))
        for m in given.methods or methods
    ]
    found = run(jobs, measured, given.out / f"narasimhan_agarwal_2016_{part}.csv", given.jobs)
    value = "tpr_at_0.1" if part == "tpr" else "partial_auc"
    print(f"{value}, means over at most {splits} splits +- standard errors")
    print(summary(found, ["set", "low", "high", "fraction", "method"], value).to_string())
    return found


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--parts", nargs="+", default=["table4"], choices=["table4", "fractions", "steps", "tpr"])
    options.add_argument("--methods", nargs="+", choices=METHODS, help="default: those of the part")
    given = options.parse_args()
    base = {"data": str(given.data), "rows": given.rows or (1500 if given.quick else None), "quick": given.quick}
    for part in given.parts:
        if part == "steps":
            steps(given, base)
            continue
        found = measured_part(given, base, part)
        file = given.out / f"narasimhan_agarwal_2016_{part}.csv"
        if part == "fractions":
            for (low, high), own in found.groupby(["low", "high"]):
                plot = file.with_name(f"{file.stem}_{low:g}_{high:g}.svg")
                draw(own.sort_values("fraction"), "set", "fraction", "method", "partial_auc", plot)
        if part == "table4":
            if "tight" in set(found["method"]):
                print(f"\ngains over tight\n{gains(found, 'tight', ['set'], 'partial_auc', 0.5).T.to_string()}")
            print("\nthe paper's Table 4")
            print("\n".join(f"{m:<12}{'  '.join(f'{k} {v:.4f}' for k, v in PAPER[m].items())}" for m in PAPER))
            seconds = found.groupby(["set", "method"], sort=False)[["seconds_training", "seconds_validation"]].mean()
            print("\n", seconds.round(2).to_string(), sep="")
            bars(seconds, file.with_name(f"{file.stem}_seconds.svg"))


def bars(seconds: pd.DataFrame, file: Path) -> None:
    """Draw Figures 6 and 7."""
    pyplot = plots()
    names = list(seconds.index.unique("set"))
    figure, axes = pyplot.subplots(1, len(names), figsize=(3 * len(names), 3), squeeze=False, layout="constrained")
    for name, ax in zip(names, axes[0], strict=True):
        seconds.loc[name].plot.barh(ax=ax, legend=False, logx=True, title=name, xlabel="s", ylabel="")
        ax.set_xlim(left=0.01)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    main()
